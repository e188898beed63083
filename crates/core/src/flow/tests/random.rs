//! Random small applications: the work-list against walks that are really walked.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::budget::WorkBudget;
use crate::flow::reach::{Item, Op, Pair, Reach, items, overwrites, replaces};
use crate::flow::values::{OperationId, Values};
use crate::generate::random::Random;

const VARIABLES: [&str; 3] = ["x", "y", "z"];
const COLUMNS: [&str; 2] = ["a", "b"];

fn source(random: &mut Random, with_variables: bool) -> Source {
    if with_variables && random.chance(1, 2) {
        Source::Variable(VARIABLES[random.below(3)].to_string())
    } else {
        Source::Element(Element::column("t", COLUMNS[random.below(2)]))
    }
}

fn operation(random: &mut Random, with_variables: bool, host: bool) -> Operation {
    let verb = if host { Verb::Assign } else { [Verb::Select, Verb::Select, Verb::Update][random.below(3)] };
    let mut operation = Operation { certain: random.chance(3, 4), ..Operation::new(verb) };
    operation.values = (0..1 + random.below(2)).map(|_| source(random, with_variables)).collect();
    if host {
        operation.values.retain(|source| matches!(source, Source::Variable(_)));
    }
    match verb {
        Verb::Update => operation.writes = vec![Element::column("t", COLUMNS[random.below(2)])],
        _ if with_variables => operation.defines = vec![VARIABLES[random.below(3)].to_string()],
        _ => {}
    }
    operation
}

fn procedure(random: &mut Random, with_variables: bool) -> Procedure {
    let count = 2 + random.below(4);
    let mut nodes = Vec::new();
    for at in 0..count {
        let host = with_variables && random.chance(1, 4);
        nodes.push(Node {
            name: format!("T{at}"),
            is_transaction: !host,
            operations: (0..1 + random.below(2)).map(|_| operation(random, with_variables, host)).collect(),
            successors: (0..count).filter(|_| random.chance(1, 2)).collect(),
            may_end: random.chance(1, 4),
            line: 0,
        });
    }
    Procedure { name: format!("p{}", random.below(1000)), nodes }
}

/// All walks from a node on which no node comes twice, but for the first, which may also be the last. If nothing
/// replaces a fact on some way, then there is such a way.
fn walks(procedure: &Procedure, from: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut open = vec![vec![from]];
    while let Some(walk) = open.pop() {
        for next in &procedure.nodes[walk[walk.len() - 1]].successors {
            let longer = [walk.as_slice(), &[*next]].concat();
            if !walk[1..].contains(next) {
                found.push(longer.clone());
            }
            if !walk.contains(next) {
                open.push(longer);
            }
        }
    }
    found
}

/// XactPair by walking: what was accessed and not replaced since.
fn walked_pairs(procedure: &Procedure) -> BTreeSet<Pair> {
    let mut pairs = BTreeSet::new();
    let reached = ways::reached(procedure);
    let transactions = || (0..procedure.nodes.len()).filter(|at| reached[*at] && procedure.nodes[*at].is_transaction);
    for walk in transactions().flat_map(|from| walks(procedure, from)) {
        let (first, last) = (walk[0], walk[walk.len() - 1]);
        for (first_op, item) in items(&procedure.nodes[first]) {
            let survives = !walk[1..walk.len() - 1].iter().any(|node| replaces(&procedure.nodes[*node], &item));
            let own = first_op == Op::Use && replaces(&procedure.nodes[first], &item);
            if survives && !own && procedure.nodes[last].is_transaction {
                let ops = last_ops(&procedure.nodes[last], &item);
                let pair = |last_op| Pair { first, first_op, last, last_op, item: item.clone() };
                pairs.extend(ops.into_iter().map(pair));
            }
        }
    }
    pairs
}

fn last_ops(node: &Node, item: &Item) -> BTreeSet<Op> {
    let mut ops = BTreeSet::new();
    let mut fresh = false;
    for operation in &node.operations {
        match item {
            Item::Element(element) => {
                ops.extend(operation.reads().any(|it| it == element).then_some(Op::Read));
                ops.extend(operation.writes.contains(element).then_some(Op::Write));
            }
            Item::Variable(name) => {
                ops.extend((!fresh && operation.uses().any(|it| it == name)).then_some(Op::Use));
                ops.extend(operation.defines.contains(name).then_some(Op::Define));
            }
        }
        fresh |= overwrites(operation, item);
    }
    ops
}

/// What each variable's value was read by, and whether the node that read it has been left.
type Memory = BTreeMap<String, BTreeSet<(OperationId, bool)>>;

/// Chains by walking: every configuration (node, memory) that a run can be in, each choice taken both ways.
fn walked_chains(procedure: &Procedure) -> BTreeSet<(OperationId, usize)> {
    let mut found = BTreeSet::new();
    let mut seen: BTreeSet<(usize, Memory)> = BTreeSet::new();
    let mut open = vec![(0, Memory::new())];
    while let Some((node, memory)) = open.pop() {
        if !seen.insert((node, memory.clone())) {
            continue;
        }
        let mut memories = BTreeSet::from([memory]);
        for (at, operation) in procedure.nodes[node].operations.iter().enumerate() {
            let id = OperationId { node, at };
            let mut next = BTreeSet::new();
            for memory in memories {
                if !operation.certain {
                    next.insert(memory.clone());
                }
                next.insert(step(procedure, id, operation, memory, &mut found));
            }
            memories = next;
        }
        let left = |memory: Memory| -> Memory {
            memory.into_iter().map(|(name, all)| (name, all.into_iter().map(|(id, _)| (id, true)).collect())).collect()
        };
        let memories: Vec<Memory> = memories.into_iter().map(left).collect();
        for next in &procedure.nodes[node].successors {
            open.extend(memories.iter().map(|memory| (*next, memory.clone())));
        }
    }
    found
}

fn step(
    procedure: &Procedure,
    id: OperationId,
    operation: &Operation,
    mut memory: Memory,
    found: &mut BTreeSet<(OperationId, usize)>,
) -> Memory {
    let used: BTreeSet<(OperationId, bool)> =
        operation.uses().filter_map(|name| memory.get(name)).flatten().copied().collect();
    if procedure.nodes[id.node].is_transaction {
        found.extend(used.iter().filter(|(_, left)| *left).map(|(from, _)| (*from, id.node)));
    }
    let mut value = used;
    if operation.reads().next().is_some() {
        value.insert((id, false));
    }
    for name in &operation.defines {
        memory.insert(name.clone(), value.clone());
    }
    memory
}

#[test]
fn reaching_accesses_are_those_that_walks_find() {
    let mut pairs = 0;
    for case in 0..600 {
        let procedure = procedure(&mut Random::new(8, &[1, case]), case % 2 == 0);
        let found = Reach::of(&procedure).pairs(&procedure, &WorkBudget::unlimited());
        assert_eq!(found, walked_pairs(&procedure), "case {case}\n{procedure}");
        pairs += found.len();
    }
    assert!(pairs > 5_000, "{pairs}");
}

#[test]
fn chains_are_those_that_runs_find() {
    let mut count = 0;
    for case in 0..1_200 {
        let procedure = procedure(&mut Random::new(8, &[2, case]), true);
        let values = Values::within(&procedure, &WorkBudget::unlimited());
        let transactions = (0..procedure.nodes.len()).filter(|node| procedure.nodes[*node].is_transaction);
        let chains = transactions.flat_map(|node| values.chains_into(node));
        let reached = ways::reached(&procedure);
        let ends = chains.map(|chain| (chain.start, chain.end().node));
        let found: BTreeSet<(OperationId, usize)> = ends.filter(|(start, _)| reached[start.node]).collect();
        assert_eq!(found, walked_chains(&procedure), "case {case}\n{procedure}");
        count += found.len();
    }
    assert!(count > 1_000, "{count}");
}

#[test]
fn replacing_hides_schedules_but_never_the_last_one() {
    let (mut empty, mut hidden) = (0, 0);
    for case in 0..600 {
        let random = &mut Random::new(8, &[3, case]);
        let application = Application { procedures: vec![procedure(random, false), procedure(random, false)] };
        let mut forgetful = application.clone();
        let nodes = forgetful.procedures.iter_mut().flat_map(|procedure| &mut procedure.nodes);
        nodes.flat_map(|node| &mut node.operations).for_each(|operation| operation.certain = false);
        let (with, without) = (schedules(&application).len(), schedules(&forgetful).len());
        assert!(with <= without && (with == 0) == (without == 0), "case {case}: {with}, {without}\n{application}");
        empty += usize::from(with == 0);
        hidden += usize::from(with < without);
    }
    assert!(empty > 20 && hidden > 20, "{empty} {hidden}");
}

#[test]
fn every_schedule_is_legal_and_its_paths_are_ways() {
    let mut count = 0;
    for case in 0..300 {
        let random = &mut Random::new(8, &[4, case]);
        let application = Application { procedures: vec![procedure(random, true), procedure(random, true)] };
        for schedule in schedules(&application) {
            let nodes = &application.procedures[schedule.first.procedure].nodes;
            for Reason { approach, path, .. } in &schedule.reasons {
                let all = [approach.as_slice(), &path[1..]].concat();
                assert!(all.windows(2).all(|step| nodes[step[0]].successors.contains(&step[1])), "case {case} {all:?}");
                assert_eq!((approach[0], approach.last()), (0, Some(&schedule.first.node)), "case {case}");
                assert_eq!((path[0], path.last()), (schedule.first.node, Some(&schedule.last.node)), "case {case}");
                assert!(path.len() > 1, "case {case}");
            }
            assert_eq!(schedule.explain(&application).len(), schedule.reasons.len());
            count += 1;
        }
        let funnel = Funnel::of(&application);
        assert!(funnel.w4 <= funnel.w3 && funnel.w3 <= funnel.w2 && funnel.w2 <= funnel.all, "case {case} {funnel:?}");
    }
    assert!(count > 1_000, "{count}");
}

/// All ways from a node to an end, in a graph without circles.
fn ways_to_the_end(procedure: &Procedure, from: usize) -> Vec<Vec<usize>> {
    let node = &procedure.nodes[from];
    let rest = node.successors.iter().flat_map(|next| ways_to_the_end(procedure, *next));
    let ends = (node.may_end || node.successors.is_empty()).then(Vec::new);
    rest.chain(ends).map(|rest| [&[from], rest.as_slice()].concat()).collect()
}

#[test]
fn decisions_are_those_that_make_a_difference_to_ways() {
    let mut count = 0;
    for case in 0..600 {
        let mut procedure = procedure(&mut Random::new(8, &[5, case]), false);
        for (at, node) in procedure.nodes.iter_mut().enumerate() {
            node.successors.retain(|next| *next > at);
        }
        let reached = ways::reached(&procedure);
        for (node, found) in ways::decided_by(&procedure, &WorkBudget::unlimited()).into_iter().enumerate() {
            let inevitable = |from: usize| ways_to_the_end(&procedure, from).iter().all(|way| way.contains(&node));
            let decides = |branch: &usize| {
                let next = &procedure.nodes[*branch];
                let ends = next.may_end || next.successors.is_empty();
                next.successors.iter().any(|next| inevitable(*next))
                    && (ends || next.successors.iter().any(|next| !inevitable(*next)))
            };
            let found: Vec<usize> = found.into_iter().filter(|branch| reached[*branch]).collect();
            let expect =
                (0..procedure.nodes.len()).filter(|branch| reached[*branch]).filter(decides).collect::<Vec<_>>();
            assert_eq!(found, expect, "case {case}, {node}\n{procedure}");
            count += found.len();
        }
    }
    assert!(count > 500, "{count}");
}

//! Ways through the control-flow graph of a procedure, shortest first.
//!
//! A way must pass some nodes in order. So the search runs over pairs of a node and how many of them have been passed,
//! guided by how many steps are left at least (A\*): no step is made that cannot lead to an end.
//!
//! A branch that constants decide is followed as they say, so `FOR i IN 1..10` goes round ten times. Other loops are
//! unrolled [a few times](Limits::rounds); what that leaves out is a [`PathCut`].

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::constants::KnownValues;
use crate::program::access::ProcedureAccess;
use crate::program::code::OperationKind;
use crate::program::ir::{Expr, ExprKind};

/// A node that a way has to pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pass {
    /// The node; one behind the last is the end.
    pub node: usize,
    /// Nodes that must not be passed between the node before (or the start) and this one.
    pub avoiding: BTreeSet<usize>,
    /// The tables whose focus rows it has to touch.
    pub meets: BTreeSet<String>,
}

/// A way through a procedure, from its start to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The nodes. The last one is a RETURN, a SIGNAL, or the end, which is one behind the last node.
    pub nodes: Vec<usize>,
    /// For each node that it has to pass, where in `nodes` it does.
    pub passed: Vec<usize>,
}

/// The ways that were found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ways {
    /// Shortest first; those that end with a failure of the call last.
    pub ways: Vec<Way>,
    /// The bounds that left paths out; none if these are all.
    pub cuts: BTreeSet<PathCut>,
}

impl Ways {
    /// True if no path was left out.
    pub fn is_complete(&self) -> bool {
        self.cuts.is_empty()
    }
}

/// A bound that left paths out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathCut {
    /// The loop that this node leads back to goes round more often than it is unrolled.
    Rounds(usize),
    /// The loop over the rows of a query that this node leads back to goes round more often than it is unrolled.
    Rows(usize),
    /// There are more paths, or longer ones, than are looked at.
    Count,
}

/// How far is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often a way may go from the end of the same loop back to its start.
    pub rounds: usize,
    /// How many ways of one procedure are looked at, and how many combinations of ways.
    pub ways: usize,
    /// How often the solver may ask itself whether to go on, for one combination of ways.
    pub budget: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rounds: 3, ways: 12, budget: 20_000 }
    }
}

/// How many steps a failure of the call counts: it is the last thing to try.
const FAILURE_COST: usize = 10_000;
/// How many steps are looked at: loops within loops have more ways than anybody wants to see.
const STEPS_MAX: usize = 50_000;
/// The length of the longest path: loops that constants end are unrolled up to here.
const LENGTH_MAX: usize = 600;

/// The ways that pass these nodes in order.
pub fn ways(access: &ProcedureAccess, passes: &[Pass], limits: &Limits) -> Ways {
    let graph = Graph { access, passes };
    Search { left: graph.left(), graph, steps: Vec::new(), open: BinaryHeap::new(), cuts: BTreeSet::new() }.run(limits)
}

/// A node, and how many nodes have been passed once it is.
type Position = (usize, usize);

#[derive(Clone, Copy)]
struct Graph<'a> {
    access: &'a ProcedureAccess,
    passes: &'a [Pass],
}

impl Graph<'_> {
    fn end(&self) -> usize {
        self.access.nodes.len()
    }

    /// What it costs to end here; `None` if that is not possible.
    fn ending(&self, (node, passed): Position) -> Option<usize> {
        if passed < self.passes.len() {
            return None;
        }
        match self.access.nodes.get(node).map(|node| &node.operation.kind) {
            None | Some(OperationKind::Return(_)) => Some(0),
            Some(OperationKind::Raise(_)) => Some(FAILURE_COST),
            Some(_) => None,
        }
    }

    /// What arriving at a node can mean: that it is the one to be passed next, or not.
    fn arrivals(&self, node: usize, passed: usize) -> impl Iterator<Item = Position> {
        let next = self.passes.get(passed);
        let counts = next.is_some_and(|pass| pass.node == node).then_some((node, passed + 1));
        let is_free = next.is_none_or(|pass| !pass.avoiding.contains(&node));
        counts.into_iter().chain(is_free.then_some((node, passed)))
    }

    fn successors(&self, (node, passed): Position) -> Vec<Position> {
        let next = self.access.nodes.get(node).map(|node| node.successors.as_slice()).unwrap_or_default();
        next.iter().flat_map(|node| self.arrivals(*node, passed)).collect()
    }

    /// How many steps are left at least, by how many nodes have been passed and by node.
    fn left(&self) -> Vec<Vec<Option<usize>>> {
        let mut left = vec![vec![None; self.end() + 1]; self.passes.len() + 1];
        let mut changed = true;
        while changed {
            changed = false;
            for position in (0..=self.passes.len()).flat_map(|passed| (0..=self.end()).map(move |node| (node, passed)))
            {
                let onward = self.successors(position).into_iter().filter_map(|(node, passed)| left[passed][node]);
                let least = onward.map(|steps: usize| steps + 1).chain(self.ending(position)).min();
                let known = &mut left[position.1][position.0];
                if least.is_some_and(|least| known.is_none_or(|known| least < known)) {
                    *known = least;
                    changed = true;
                }
            }
        }
        left
    }
}

/// A step of a way, and the one before.
struct Step {
    position: Position,
    before: Option<usize>,
    length: usize,
    /// The values that are known before the node.
    known: KnownValues,
}

struct Search<'a> {
    graph: Graph<'a>,
    left: Vec<Vec<Option<usize>>>,
    steps: Vec<Step>,
    /// The last steps of unfinished ways: the least whole length first, then the one that was met first.
    open: BinaryHeap<Reverse<(usize, usize)>>,
    cuts: BTreeSet<PathCut>,
}

impl Search<'_> {
    fn run(mut self, limits: &Limits) -> Ways {
        let start: Vec<Position> = self.graph.arrivals(0, 0).collect();
        start.into_iter().for_each(|position| self.push(position, None, KnownValues::default()));
        let mut ways = Vec::new();
        while let Some(Reverse((_, at))) = self.open.pop() {
            if ways.len() >= limits.ways || self.steps.len() > STEPS_MAX {
                self.cuts.insert(PathCut::Count);
                break;
            }
            let position = self.steps[at].position;
            if self.graph.ending(position).is_some() {
                ways.push(self.way(at));
                continue;
            }
            self.go_on(at, limits);
        }
        Ways { ways, cuts: self.cuts }
    }

    /// Makes the next steps of a path: one, if constants decide where it goes.
    fn go_on(&mut self, at: usize, limits: &Limits) {
        let (position, known) = (self.steps[at].position, self.steps[at].known.clone());
        let operation = self.graph.access.nodes.get(position.0).map(|node| &node.operation);
        let decided = operation.and_then(|operation| known.decides(operation));
        let after = operation.map(|operation| known.after(operation)).unwrap_or_default();
        for next in self.graph.successors(position) {
            let is_refuted = decided.is_some_and(|truth| truth != (next.0 == position.0 + 1));
            if !is_refuted && self.leads_on(next) {
                match self.cut(at, next.0, limits) {
                    Some(cut) => _ = self.cuts.insert(cut),
                    None => self.push(next, Some(at), after.clone()),
                }
            }
        }
    }

    /// The bound that forbids to go on from a step to a node.
    fn cut(&self, at: usize, to: usize, limits: &Limits) -> Option<PathCut> {
        let from = self.steps[at].position.0;
        if self.steps[at].length >= LENGTH_MAX {
            return Some(PathCut::Count);
        }
        if to > from || self.rounds(at, from, to) < limits.rounds {
            return None;
        }
        let is_by_rows = (to..=from).filter(|node| self.is_exit(*node, to, from)).all(|node| self.asks_for_row(node));
        Some(if is_by_rows { PathCut::Rows(from) } else { PathCut::Rounds(from) })
    }

    /// True if a loop can be left at a node: a branch that leads out of it.
    fn is_exit(&self, node: usize, first: usize, last: usize) -> bool {
        let nodes = &self.graph.access.nodes;
        matches!(nodes[node].operation.kind, OperationKind::Unless(..))
            && nodes[node].successors.iter().any(|next| !(first..=last).contains(next))
    }

    /// True if a branch depends on nothing but whether there was one more row.
    fn asks_for_row(&self, node: usize) -> bool {
        match &self.graph.access.nodes[node].operation.kind {
            OperationKind::Unless(condition, _) => is_about_rows(condition),
            _ => false,
        }
    }

    fn leads_on(&self, (node, passed): Position) -> bool {
        self.left[passed][node].is_some()
    }

    fn push(&mut self, position: Position, before: Option<usize>, known: KnownValues) {
        let Some(left) = self.left[position.1][position.0] else { return };
        let length = before.map_or(0, |before| self.steps[before].length + 1);
        self.steps.push(Step { position, before, length, known });
        self.open.push(Reverse((length + left, self.steps.len() - 1)));
    }

    /// The steps that lead to this one, the last one first.
    fn back(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |at| self.steps[*at].before)
    }

    /// How often the path to this step has gone back along an edge, but for rounds that only constants could have ended.
    fn rounds(&self, at: usize, from: usize, to: usize) -> usize {
        let (mut rounds, mut is_past, mut is_open, mut later) = (0, false, false, None);
        for step in self.back(at).map(|at| &self.steps[at]) {
            let node = step.position.0;
            if later == Some(to) && node == from {
                rounds += usize::from(is_past && is_open);
                (is_past, is_open) = (true, false);
            }
            if (to..=from).contains(&node) && self.is_exit(node, to, from) {
                is_open |= step.known.decides(&self.graph.access.nodes[node].operation).is_none();
            }
            later = Some(node);
        }
        rounds + usize::from(is_past && is_open)
    }

    fn way(&self, at: usize) -> Way {
        let mut steps: Vec<usize> = self.back(at).collect();
        steps.reverse();
        let passed = |at: usize| self.steps[at].position.1;
        let counts =
            |index: &usize| passed(steps[*index]) > index.checked_sub(1).map_or(0, |before| passed(steps[before]));
        Way {
            nodes: steps.iter().map(|at| self.steps[*at].position.0).collect(),
            passed: (0..steps.len()).filter(counts).collect(),
        }
    }
}

/// True if a condition mentions `FOUND()` and no variable.
fn is_about_rows(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Found => true,
        ExprKind::Not(inner) => is_about_rows(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::access::nodes::of_procedure;
    use crate::program::schema::Schema;
    use crate::program::{Language, Program};

    /// The ways through a body, each as its nodes.
    fn check(body: &str, passes: &[Pass], rounds: usize, expect: &[&str], complete: bool) {
        let program = Program::parse(&format!("CREATE PROCEDURE p(c INT) BEGIN {body} END;")).unwrap();
        let (access, _) = of_procedure(&program.procedures[0], &Schema::default(), Language::Any);
        let found = ways(&access, passes, &Limits { rounds, ways: 4, ..Limits::default() });
        let show = |way: &Way| way.nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(found.ways.iter().map(show).collect::<Vec<_>>(), expect, "{body}");
        assert_eq!(found.is_complete(), complete, "{body}");
        for way in &found.ways {
            assert_eq!(way.passed.len(), passes.len());
            assert!(way.passed.is_sorted_by(|a, b| a < b));
            assert!(way.passed.iter().zip(passes).all(|(at, pass)| way.nodes[*at] == pass.node));
        }
    }

    fn pass(node: usize) -> Pass {
        Pass { node, ..Pass::default() }
    }

    #[test]
    fn shorter_ways_come_first() {
        // 0 unless c = 1, to 3; 1 a; 2 to 4; 3 b; 4 COMMIT; end
        let body = "IF c = 1 THEN a; ELSE b; END IF; COMMIT;";
        check(body, &[], 1, &["0 3 4 5", "0 1 2 4 5"], true);
        check(body, &[pass(1)], 1, &["0 1 2 4 5"], true);
        check(body, &[pass(3), pass(1)], 1, &[], true);
        check(body, &[pass(0), pass(5)], 1, &["0 3 4 5", "0 1 2 4 5"], true);
        check("", &[], 1, &["0"], true);
    }

    #[test]
    fn loops_are_unrolled_so_often() {
        // 0 unless c > 0, to 3; 1 a; 2 to 0; end
        let body = "WHILE c > 0 DO a; END WHILE;";
        check(body, &[], 2, &["0 3", "0 1 2 0 3", "0 1 2 0 1 2 0 3"], false);
        check(body, &[pass(1), pass(1)], 2, &["0 1 2 0 1 2 0 3"], false);
        check("LOOP a; END LOOP;", &[], 2, &[], true);
    }

    /// A loop that constants end is unrolled to its end, whatever the bound.
    #[test]
    fn loops_with_constant_bounds_are_unrolled_fully() {
        // 0 c := 0; 1 unless c < 5, to 5; 2 a; 3 c := c + 1; 4 to 1; end
        let round = " 1 2 3 4".repeat(5);
        let body = "SET c = 0; WHILE c < 5 DO a; SET c = c + 1; END WHILE;";
        check(body, &[], 2, &[&format!("0{round} 1 5")], true);
        // In each of two rounds, a branch that only a run decides.
        let body = "SET c = 0; WHILE c < 2 DO SET c = c + 1; IF FOUND() THEN a; END IF; END WHILE;";
        let expect = [
            "0 1 2 3 6 1 2 3 6 1 7",
            "0 1 2 3 4 5 6 1 2 3 6 1 7",
            "0 1 2 3 6 1 2 3 4 5 6 1 7",
            "0 1 2 3 4 5 6 1 2 3 4 5 6 1 7",
        ];
        check(body, &[], 1, &expect, true);
    }

    #[test]
    fn failures_come_last() {
        // 0 unless c > 0, to 3; 1 SIGNAL; 2 to 3; 3 a; 4 b; end
        check("IF c > 0 THEN SIGNAL 'no'; END IF; a; b;", &[], 1, &["0 3 4 5", "0 1"], true);
    }

    #[test]
    fn what_is_to_be_avoided_is() {
        // 0 a; 1 unless c > 0, to 4; 2 COMMIT; 3 to 4; 4 b; 5 COMMIT
        let body = "a; IF c > 0 THEN COMMIT; END IF; b; COMMIT;";
        check(body, &[pass(0), pass(5)], 1, &["0 1 4 5 6", "0 1 2 3 4 5 6"], true);
        let avoiding = Pass { avoiding: [2].into(), ..pass(5) };
        check(body, &[pass(0), avoiding], 1, &["0 1 4 5 6"], true);
    }
}

//! Random statements, transactions and deliveries: every node always shows the fold of what it knows, and all nodes show
//! the ledger once everything has been delivered.
//!
//! The reference is as simple as the definition: all effects ever written, in a list, each with those who know it; a state
//! is computed from the beginning, every time.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use txloom_core::case::{Event, SessionName};
use txloom_core::engine::SessionId;

use crate::engines::embedded::run::run;
use crate::engines::replicas::schema::Schema;
use crate::engines::replicas::tools::Tools;
use crate::engines::replicas::world::World;

const NODES: usize = 3;
const LEDGER: usize = NODES;
const KEYS: i64 = 4;

/// One thing that happens.
#[derive(Debug, Clone)]
enum Op {
    /// A statement of a session, which is at the node of the same number.
    Do(usize, Statement),
    Begin(usize),
    Commit(usize),
    Rollback(usize),
    Partition(usize),
    Heal,
    Deliver(usize, usize),
    DeliverOne(usize, usize, usize),
}

#[derive(Debug, Clone, Copy)]
enum Statement {
    Insert(i64, i64),
    SetV(i64, i64),
    AddToAll(i64),
    SetBoth(i64, i64),
    Delete(i64),
    Move(i64, i64),
}

impl Statement {
    fn sql(self) -> String {
        match self {
            Statement::Insert(key, value) => format!("INSERT INTO t VALUES ({key}, {value}, {value})"),
            Statement::SetV(key, value) => format!("UPDATE t SET v = {value} WHERE id = {key}"),
            Statement::AddToAll(value) => format!("UPDATE t SET w = w + {value}"),
            Statement::SetBoth(key, value) => format!("UPDATE t SET v = {value}, w = w WHERE id = {key}"),
            Statement::Delete(key) => format!("DELETE FROM t WHERE id = {key}"),
            Statement::Move(from, to) => format!("UPDATE t SET id = {to} WHERE id = {from}"),
        }
    }
}

// ---- the reference ------------------------------------------------------------------------------------------------

type State = BTreeMap<i64, (i64, i64)>;

#[derive(Debug, Clone, Copy)]
enum Simple {
    Insert(i64, i64, i64),
    V(i64, i64),
    W(i64, i64),
    Delete(i64),
}

struct Write {
    node: usize,
    number: usize,
    session: Option<usize>,
    known: BTreeSet<usize>,
    effects: Vec<Simple>,
}

#[derive(Default)]
struct Reference {
    writes: Vec<Write>,
    counts: [usize; NODES],
    open: [bool; NODES],
    cut: Option<usize>,
}

impl Reference {
    fn state(&self, node: usize) -> State {
        let mut state = State::from([(1, (1, 1)), (2, (2, 2))]);
        for effect in self.writes.iter().filter(|write| write.known.contains(&node)).flat_map(|write| &write.effects) {
            match *effect {
                Simple::Insert(key, v, w) => drop(state.insert(key, (v, w))),
                Simple::V(key, v) => state.get_mut(&key).into_iter().for_each(|row| row.0 = v),
                Simple::W(key, w) => state.get_mut(&key).into_iter().for_each(|row| row.1 = w),
                Simple::Delete(key) => drop(state.remove(&key)),
            }
        }
        state
    }

    /// What a statement does at a node; `None` if it fails.
    fn effects(&self, node: usize, statement: Statement) -> Option<Vec<Simple>> {
        let state = self.state(node);
        let has = |key: i64| state.contains_key(&key);
        Some(match statement {
            Statement::Insert(key, _) if has(key) => return None,
            Statement::Insert(key, value) => vec![Simple::Insert(key, value, value)],
            Statement::AddToAll(value) => state.iter().map(|(key, row)| Simple::W(*key, row.1 + value)).collect(),
            Statement::SetV(key, _) | Statement::SetBoth(key, _) | Statement::Delete(key) if !has(key) => Vec::new(),
            Statement::SetV(key, value) => vec![Simple::V(key, value)],
            Statement::SetBoth(key, value) => vec![Simple::V(key, value), Simple::W(key, state[&key].1)],
            Statement::Delete(key) => vec![Simple::Delete(key)],
            Statement::Move(from, _) if !has(from) => Vec::new(),
            Statement::Move(from, to) if from == to => Vec::new(),
            Statement::Move(_, to) if has(to) => return None,
            Statement::Move(from, to) => vec![Simple::Delete(from), Simple::Insert(to, state[&from].0, state[&from].1)],
        })
    }

    fn connected(&self, a: usize, b: usize) -> bool {
        self.cut.is_none_or(|cut| (a == cut) == (b == cut))
    }

    fn perform(&mut self, op: &Op) {
        match *op {
            Op::Do(node, statement) => {
                let Some(effects) = self.effects(node, statement) else { return };
                self.counts[node] += 1;
                let mut known: BTreeSet<usize> = (0..NODES).filter(|other| self.connected(node, *other)).collect();
                let session = self.open[node].then_some(node);
                known.extend(session.is_none().then_some(LEDGER));
                self.writes.push(Write { node, number: self.counts[node], session, known, effects });
            }
            Op::Begin(session) => self.open[session] = true,
            Op::Commit(session) => {
                self.open[session] = false;
                for write in self.writes.iter_mut().filter(|write| write.session == Some(session)) {
                    write.session = None;
                    write.known.insert(LEDGER);
                }
            }
            Op::Rollback(session) => {
                self.open[session] = false;
                self.writes.retain(|write| write.session != Some(session));
            }
            Op::Partition(alone) => {
                self.cut = Some(alone);
                self.exchange();
            }
            Op::Heal => {
                self.cut = None;
                self.exchange();
            }
            Op::Deliver(from, to) => self.deliver(|write| write.known.contains(&from), to),
            Op::DeliverOne(from, to, number) => self.deliver(|write| write.node == from && write.number == number, to),
        }
    }

    fn exchange(&mut self) {
        let cut = self.cut;
        let connected = |a: usize, b: usize| cut.is_none_or(|cut| (a == cut) == (b == cut));
        for write in &mut self.writes {
            let nodes: Vec<usize> = write.known.iter().copied().filter(|node| *node != LEDGER).collect();
            write.known.extend((0..NODES).filter(|node| nodes.iter().any(|other| connected(*node, *other))));
        }
    }

    fn deliver(&mut self, is_meant: impl Fn(&Write) -> bool, to: usize) {
        for write in self.writes.iter_mut().filter(|write| is_meant(write)) {
            write.known.insert(to);
        }
    }
}

// ---- the replicas -------------------------------------------------------------------------------------------------

fn world() -> World {
    let tools = Tools::default();
    let origin = tools.connect().unwrap();
    origin
        .execute_batch("CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT); INSERT INTO t VALUES (1,1,1), (2,2,2)")
        .unwrap();
    let schema = Schema::read(&origin).unwrap().unwrap();
    let mut world = World::new(tools, origin, schema, NODES).unwrap();
    let name = SessionName::new("a").unwrap();
    (0..NODES).for_each(|session| world.join(SessionId(session), name.clone(), None).unwrap());
    world
}

fn perform(world: &mut World, op: &Op, counts: &[usize; NODES]) {
    let number = |node: usize| u32::try_from(node + 1).unwrap();
    let mut send = |session: usize, sql: &str| drop(world.execute(SessionId(session), sql).unwrap());
    let event = match *op {
        Op::Do(session, statement) => return send(session, &statement.sql()),
        Op::Begin(session) => return send(session, "BEGIN"),
        Op::Commit(session) => return send(session, "COMMIT"),
        Op::Rollback(session) => return send(session, "ROLLBACK"),
        Op::Partition(alone) => {
            let others = (0..NODES).filter(|node| *node != alone).map(number).collect();
            Event::Partition(vec![vec![number(alone)], others])
        }
        Op::Heal => Event::Heal,
        Op::Deliver(from, to) => Event::Deliver { from: number(from), to: number(to), write: None },
        Op::DeliverOne(from, _, write) if write == 0 || write > counts[from] => return,
        Op::DeliverOne(from, to, write) => {
            Event::Deliver { from: number(from), to: number(to), write: Some(u32::try_from(write).unwrap()) }
        }
    };
    world.happen(&event).unwrap().unwrap();
}

fn shown(world: &World, node: usize) -> State {
    let result = run(&world.node(node).connection, "SELECT id, v, w FROM t").unwrap();
    let number =
        |cell: &Option<Vec<u8>>| std::str::from_utf8(&cell.as_ref().unwrap()[1..]).unwrap().parse::<i64>().unwrap();
    result.rows.iter().map(|row| (number(&row[0]), (number(&row[1]), number(&row[2])))).collect()
}

fn statement() -> impl Strategy<Value = Statement> {
    let (key, value) = (|| 1..=KEYS, || 1i64..100);
    prop_oneof![
        3 => (key(), value()).prop_map(|(key, value)| Statement::Insert(key, value)),
        4 => (key(), value()).prop_map(|(key, value)| Statement::SetV(key, value)),
        2 => value().prop_map(Statement::AddToAll),
        2 => (key(), value()).prop_map(|(key, value)| Statement::SetBoth(key, value)),
        3 => key().prop_map(Statement::Delete),
        2 => (key(), key()).prop_map(|(from, to)| Statement::Move(from, to)),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let node = || 0..NODES;
    prop_oneof![
        12 => (node(), statement()).prop_map(|(node, statement)| Op::Do(node, statement)),
        2 => node().prop_map(Op::Begin),
        1 => node().prop_map(Op::Commit),
        1 => node().prop_map(Op::Rollback),
        2 => node().prop_map(Op::Partition),
        1 => Just(Op::Heal),
        1 => (node(), node()).prop_map(|(from, to)| Op::Deliver(from, to)),
        3 => (node(), node(), 1usize..8).prop_map(|(from, to, number)| Op::DeliverOne(from, to, number)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn nodes_show_what_they_know_and_converge(ops in prop::collection::vec(op(), 1..60)) {
        let (mut world, mut reference) = (world(), Reference::default());
        for op in &ops {
            perform(&mut world, op, &reference.counts);
            reference.perform(op);
            for node in 0..=LEDGER {
                prop_assert_eq!(shown(&world, node), reference.state(node), "node {} after {:?}", node + 1, op);
            }
        }
        for op in (0..NODES).map(Op::Commit).chain([Op::Heal]) {
            perform(&mut world, &op, &reference.counts);
        }
        for node in 0..NODES {
            prop_assert_eq!(shown(&world, node), shown(&world, LEDGER), "node {} does not converge", node + 1);
        }
        prop_assert!(world.remembers_nothing(), "when all is quiet, the log is empty");
    }
}

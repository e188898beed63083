//! Why a history violates a level, told so that somebody who was not there can check it by hand.
//!
//! ```text
//!   Let:      T1 (process 0, line 2): append x 1, read y []
//!             T2 (process 1, line 4): append y 1, read x []
//!   Then:     T1 found y empty, and T2 appended 1 to it: T1 is before T2 (rw)
//!             T2 found x empty, and T1 appended 1 to it: T2 is before T1 (rw)
//!   However:  then T1 is before itself: T1 → T2 → T1
//! ```
//!
//! A [`Story`] is data: the explanation in words, and the same as a small graph to draw. Every edge names the operations
//! that prove it; what rests on a choice of version order says so.

mod odd;
mod words;

use super::check::Reason;
use super::check::graph::{Edge, EdgeKind};
use super::check::orders::Orders;
use super::check::walk::Cycle;
use super::facts::{Facts, INITIAL, Node, Version};
use super::{History, KeyId, Op, Scalar, TxnId};
use crate::finding::Explanation;
use crate::level::formal::Order;
use words::Words;

/// A violation, told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Story {
    /// In words.
    pub explanation: Explanation,
    /// The transactions, as they are named.
    pub nodes: Vec<StoryNode>,
    /// The edges of the cycle, in its order; none if a single read is to blame.
    pub edges: Vec<StoryEdge>,
}

/// A transaction of a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryNode {
    /// Its name: `T12`.
    pub name: String,
    /// What it did.
    pub what: String,
    /// Where it stands in the input.
    pub line: u32,
}

/// Who is before whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryEdge {
    /// The position of the earlier one in [`Story::nodes`].
    pub from: usize,
    /// The position of the later one.
    pub to: usize,
    /// Why, in a word.
    pub kind: EdgeKind,
    /// Of which key, where one is concerned.
    pub key: Option<String>,
}

impl EdgeKind {
    /// The usual short name.
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Ww => "ww",
            EdgeKind::Wr => "wr",
            EdgeKind::Rw => "rw",
            EdgeKind::Session => "so",
            EdgeKind::Time => "rt",
            EdgeKind::Implied(_) | EdgeKind::Vanished => "co",
        }
    }
}

/// Tells why. `session` is what a session is called where the history comes from (`process`, `session`).
pub fn tell(history: &History, facts: &Facts, reason: &Reason, session: &str) -> Story {
    let words = Words { history, session };
    match reason {
        Reason::Odd(oddity) => odd::tell(&words, oddity),
        Reason::Cycle { cycle, others } => Teller { words, facts }.cycle(cycle, *others),
    }
}

/// The transactions that a reason speaks of.
pub fn concerned(facts: &Facts, reason: &Reason) -> Vec<TxnId> {
    let mut ids: Vec<TxnId> = match reason {
        Reason::Odd(oddity) => std::iter::once(oddity.transaction).chain(oddity.writer).collect(),
        Reason::Cycle { cycle, .. } => nodes(cycle).into_iter().filter_map(|node| facts.transaction(node)).collect(),
    };
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The nodes of a cycle, in its order, then those that only make an edge plausible.
fn nodes(cycle: &Cycle) -> Vec<Node> {
    let mut nodes: Vec<Node> = cycle.iter().map(|(node, _)| *node).collect();
    for (_, edge) in cycle.iter().filter(|(_, edge)| edge.kind.is_implied()) {
        if !nodes.contains(&edge.high) {
            nodes.push(edge.high);
        }
    }
    nodes
}

struct Teller<'a> {
    words: Words<'a>,
    facts: &'a Facts,
}

impl Teller<'_> {
    fn cycle(&self, cycle: &Cycle, others: usize) -> Story {
        let mut cycle = cycle.clone();
        let first = (0..cycle.len()).min_by_key(|at| cycle[*at].0).unwrap_or(0);
        cycle.rotate_left(first);
        let nodes = nodes(&cycle);
        let place = |node: Node| nodes.iter().position(|other| *other == node).unwrap_or(0);
        let told: Vec<StoryNode> = nodes.iter().map(|node| self.node(*node)).collect();
        let lets = told.iter().zip(&nodes).map(|(told, node)| self.introduce(told, *node)).collect();
        let thens = cycle.iter().map(|(from, edge)| self.edge(*from, edge)).collect();
        let edges = cycle.iter().map(|(from, edge)| StoryEdge {
            from: place(*from),
            to: place(edge.to),
            kind: edge.kind,
            key: has_key(edge.kind).then(|| self.words.history.key_name(edge.key).to_string()),
        });
        let mut path: Vec<String> = cycle.iter().map(|(node, _)| self.name(*node)).collect();
        path.extend(path.first().cloned());
        let mut however = vec![format!("then {} is before itself: {}", path[0], path.join(" → "))];
        if others > 0 {
            let cycles = if others == 1 { "1 cycle".to_string() } else { format!("{others} cycles") };
            however.push(format!(
                "and it is so under every order of the writes whose order nobody observed: {cycles} like this one leave none"
            ));
        }
        Story { explanation: Explanation { lets, thens, however }, nodes: told, edges: edges.collect() }
    }

    fn name(&self, node: Node) -> String {
        self.facts.transaction(node).map_or_else(|| "T0".to_string(), |id| self.words.name(id))
    }

    fn node(&self, node: Node) -> StoryNode {
        match self.facts.transaction(node) {
            Some(id) => self.words.node(id),
            None => StoryNode { name: "T0".to_string(), what: "wrote everything initial".to_string(), line: 0 },
        }
    }

    fn introduce(&self, told: &StoryNode, node: Node) -> String {
        match self.facts.transaction(node) {
            Some(id) => self.words.introduce(id),
            None => format!("{}: {}", told.name, told.what),
        }
    }

    /// The evidence of an edge, and what it proves.
    fn edge(&self, from: Node, edge: &Edge) -> String {
        let (earlier, later) = (self.name(from), self.name(edge.to));
        let evidence = match edge.kind {
            EdgeKind::Ww => self.ww(&earlier, &later, edge),
            EdgeKind::Wr => self.wr(&earlier, &later, edge),
            EdgeKind::Rw => self.rw(&earlier, &later, from, edge),
            EdgeKind::Session => self.session(&earlier, &later, from),
            EdgeKind::Time => format!("{earlier} had ended when {later} began"),
            EdgeKind::Implied(_) | EdgeKind::Vanished => self.implied(&earlier, &later, from, edge),
        };
        format!("{evidence}: {earlier} is before {later} ({})", edge.kind.name())
    }

    fn ww(&self, earlier: &str, later: &str, edge: &Edge) -> String {
        let (low, high) = (self.value(edge.key, edge.low), self.value(edge.key, edge.high));
        let key = self.key(edge.key);
        let facts = &self.facts.keys[edge.key.0 as usize];
        let is_seen = (edge.high as usize) < facts.chain.len();
        match self.is_list(edge.key) {
            _ if edge.low == 0 => {
                format!("{later} wrote {} to {key}, which comes behind the initial value", show(&high))
            }
            true if is_seen => format!(
                "{earlier} appended {} to {key}, and {later} appended {} behind it, as lists that were read show",
                show(&low),
                show(&high)
            ),
            true => format!(
                "{earlier} appended {} to {key}, and {later} appended {}{}",
                show(&low),
                show(&high),
                if Orders::is_choice(facts, edge.low, edge.high) {
                    ", say behind it"
                } else {
                    ", which came later: no list shows it"
                }
            ),
            false => format!(
                "{earlier} wrote {} to {key}, and {later} wrote {} to it{}",
                show(&low),
                show(&high),
                if Orders::is_choice(facts, edge.low, edge.high) { ", say later" } else { " later" }
            ),
        }
    }

    fn wr(&self, earlier: &str, later: &str, edge: &Edge) -> String {
        let value = self.value(edge.key, edge.low);
        let value = show(&value);
        let key = self.key(edge.key);
        let read = self.facts.transaction(edge.to).and_then(|id| self.words.history.ops(id).get(edge.high as usize));
        match read {
            Some(Op::ReadList(id, list)) => {
                let list = self.words.list(self.words.history.list(*id, *list));
                format!("{earlier} appended {value} to {key}, and {later} read {key} as {list}")
            }
            _ => format!("{earlier} wrote {value} to {key}, and {later} read {key} as {value}"),
        }
    }

    fn rw(&self, earlier: &str, later: &str, from: Node, edge: &Edge) -> String {
        let written = self.value(edge.key, edge.high);
        let written = show(&written);
        let key = self.key(edge.key);
        let facts = &self.facts.keys[edge.key.0 as usize];
        let say = if Orders::is_choice(facts, edge.low, edge.high) { ", say" } else { "" };
        if self.is_list(edge.key) {
            let read = match self.read_of(from, edge.key, edge.low) {
                Some(list) if edge.low > 0 => format!("{earlier} read {key} as {list}"),
                _ => return format!("{earlier} found {key} empty, and {later} appended {written} to it"),
            };
            return format!("{read}, and {later} appended {written}{say} behind that");
        }
        match self.value(edge.key, edge.low) {
            Some(value) => format!("{earlier} read {key} as {value}, and {later} wrote {written} to it{say} later"),
            None => format!("{earlier} found {key} as it was initially, and {later} wrote {written} to it"),
        }
    }

    fn session(&self, earlier: &str, later: &str, from: Node) -> String {
        let session = self.facts.transaction(from).and_then(|id| self.words.session_of(id));
        let session = session.unwrap_or_else(|| format!("one {}", self.words.session));
        format!("{earlier} comes before {later} in {session}")
    }

    fn implied(&self, earlier: &str, later: &str, from: Node, edge: &Edge) -> String {
        let reader = self.name(edge.high);
        let key = self.key(edge.key);
        let what = match self.value(edge.key, edge.low) {
            Some(_) if self.is_list(edge.key) => {
                let list = self.read_of(edge.high, edge.key, edge.low).unwrap_or_default();
                format!("{reader} read {key} as {list}, of which {later} appended the last element")
            }
            None if self.is_list(edge.key) => format!("{reader} found {key} empty"),
            Some(value) => format!("{reader} read {key} as {value}, which {later} wrote"),
            None => format!("{reader} found {key} as it was initially"),
        };
        let from_earlier = |read: &&super::facts::Read| read.reader == edge.high && self.facts.writer_of(read) == from;
        let why = match self.facts.reads.iter().find(from_earlier) {
            Some(read) => format!("it read {} from {earlier}", self.key(read.key)),
            None if edge.kind == EdgeKind::Implied(Order::Session) && self.is_one_session(from, edge.high) => {
                self.session(earlier, "it", from)
            }
            None if edge.kind == EdgeKind::Implied(Order::RealTime) && self.had_ended(from, edge.high) => {
                format!("{earlier} had ended when it began")
            }
            None => format!("{earlier} comes before it, through what was read and in which order"),
        };
        format!("{what}; it must have seen {earlier} ({why}), which writes {key}, too")
    }

    fn is_one_session(&self, one: Node, other: Node) -> bool {
        let session = |node: Node| self.facts.transaction(node).map(|id| self.words.history.transaction(id).session);
        session(one) == session(other)
    }

    /// Whether one had ended when the other began.
    fn had_ended(&self, one: Node, other: Node) -> bool {
        let transaction = |node: Node| self.facts.transaction(node).map(|id| self.words.history.transaction(id));
        let ended = transaction(one).and_then(|one| one.ended);
        let began = transaction(other).and_then(|other| other.began);
        ended.zip(began).is_some_and(|(ended, began)| ended < began)
    }

    fn key(&self, key: KeyId) -> String {
        self.words.key(key)
    }

    fn is_list(&self, key: KeyId) -> bool {
        let facts = &self.facts.keys[key.0 as usize];
        facts.chain.len() > 1 || {
            let writers = facts.loose.iter().filter_map(|node| self.facts.transaction(*node));
            let mut ops = writers.flat_map(|id| self.words.history.ops(id)).filter(|op| op.key() == key);
            ops.any(|op| matches!(op, Op::Append(..)))
        }
    }

    /// The list that a node read, if that was a version of the key.
    fn read_of(&self, node: Node, key: KeyId, version: Version) -> Option<String> {
        let read =
            self.facts.reads.iter().find(|read| read.reader == node && read.key == key && read.version == version)?;
        match self.words.history.ops(self.facts.transaction(node)?).get(read.op as usize)? {
            Op::ReadList(key, list) => Some(self.words.list(self.words.history.list(*key, *list))),
            _ => None,
        }
    }

    /// The value of a version; `None` for the initial one.
    fn value(&self, key: KeyId, version: Version) -> Option<String> {
        version_value(self.words.history, self.facts, key, version).map(|value| self.words.history.show(value))
    }
}

/// The value that a version is.
pub fn version_value(history: &History, facts: &Facts, key: KeyId, version: Version) -> Option<Scalar> {
    let of_key = &facts.keys[key.0 as usize];
    let at = version as usize;
    if at == 0 {
        return None;
    }
    if at < of_key.chain.len() {
        return history.spine(key).get(at - 1).copied();
    }
    let loose = at - of_key.chain.len();
    let writer = *of_key.loose.get(loose)?;
    if writer == INITIAL {
        return None;
    }
    // A transaction may have appended several elements that nobody read: they stand in its own order.
    let nth = of_key.loose[..loose].iter().filter(|other| **other == writer).count();
    let ops = history.ops(facts.transaction(writer)?).iter().filter(|op| op.key() == key);
    let writes = ops.filter_map(|op| match op {
        Op::Append(_, value) if !history.spine(key).contains(value) => Some((false, *value)),
        Op::Write(_, value) => Some((true, *value)),
        _ => None,
    });
    let writes: Vec<(bool, Scalar)> = writes.collect();
    match writes.last() {
        Some((true, value)) => Some(*value),
        _ => writes.get(nth).map(|(_, value)| *value),
    }
}

fn show(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("the initial value")
}

fn has_key(kind: EdgeKind) -> bool {
    !matches!(kind, EdgeKind::Session | EdgeKind::Time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::check::{Checker, Verdict};
    use crate::history::micro::micro;
    use crate::level::formal::Requirement;

    #[track_caller]
    fn check(text: &str, level: &str, expect: &str) {
        let history = micro(text).unwrap();
        let checker = Checker::new(&history).unwrap();
        let verdict = checker.check(Requirement::parse(level).unwrap(), &|| false);
        let Verdict::Violated(reason) = verdict else { panic!("{text}: {level} is not violated") };
        let story = tell(&history, &checker.facts, &reason, "session");
        assert_eq!(story.explanation.to_string().trim_end(), expect.trim_start().trim_end(), "{text}");
    }

    #[test]
    fn write_skew() {
        check(
            "wx1 ry_ / wy1 rx_",
            "serializable",
            "
Let:
  T1 (session 0, line 1): write x 1, read y initial
  T2 (session 1, line 2): write y 1, read x initial
Then:
  T1 found y as it was initially, and T2 wrote 1 to it: T1 is before T2 (rw)
  T2 found x as it was initially, and T1 wrote 1 to it: T2 is before T1 (rw)
However:
  then T1 is before itself: T1 → T2 → T1
A contradiction.",
        );
    }

    #[test]
    fn lists_and_sessions() {
        check(
            "ax1 | rx / rx1",
            "strong session serializable",
            "
Let:
  T1 (session 0, line 1): append x 1
  T2 (session 0, line 1): read x []
Then:
  T1 comes before T2 in session 0: T1 is before T2 (so)
  T2 found x empty, and T1 appended 1 to it: T2 is before T1 (rw)
However:
  then T1 is before itself: T1 → T2 → T1
A contradiction.",
        );
    }

    #[test]
    fn what_a_session_must_have_seen() {
        check(
            "wx1 | rx_",
            "strong session causal",
            "
Let:
  T0: wrote everything initial
  T1 (session 0, line 1): write x 1
  T2 (session 0, line 1): read x initial
Then:
  T1 wrote 1 to x, which comes behind the initial value: T0 is before T1 (ww)
  T2 found x as it was initially; it must have seen T1 (T1 comes before it in session 0), which writes x, too: T1 is before \
  T0 (co)
However:
  then T0 is before itself: T0 → T1 → T0
A contradiction.",
        );
    }

    #[test]
    fn dirty_writes_and_dirty_reads() {
        check(
            "ax1 ay1 / ax2 ay2 / rx12 ry21",
            "read uncommitted",
            "
Let:
  T1 (session 0, line 1): append x 1, append y 1
  T2 (session 1, line 2): append x 2, append y 2
Then:
  T1 appended 1 to x, and T2 appended 2 behind it, as lists that were read show: T1 is before T2 (ww)
  T2 appended 2 to y, and T1 appended 1 behind it, as lists that were read show: T2 is before T1 (ww)
However:
  then T1 is before itself: T1 → T2 → T1
A contradiction.",
        );
        check(
            "wx1 ! / rx1",
            "read committed",
            "
Let:
  T1 (session 0, line 1): write x 1; rolled back
  T2 (session 1, line 2): read x 1
Then:
  T2 read x as 1, which T1 wrote
However:
  T1 was rolled back: nobody may see what it wrote
A contradiction.",
        );
    }

    #[test]
    fn every_order_of_blind_writes() {
        let history = micro("wx1 wy1 / wx2 wy2 / rx1 ry2 / rx2 ry1").unwrap();
        let checker = Checker::new(&history).unwrap();
        let verdict = checker.check(Requirement::parse("serializable").unwrap(), &|| false);
        let Verdict::Violated(reason) = verdict else { panic!("it is not violated") };
        let story = tell(&history, &checker.facts, &reason, "session");
        assert!(!story.edges.is_empty() && story.edges.iter().all(|edge| edge.from < story.nodes.len()));
        assert!(concerned(&checker.facts, &reason).len() >= 2);
    }
}

//! A schedule as a story: what A did, what B did in between, what A then did with it. Data first, text afterwards.
//!
//! ```text
//!   ⟨T1_A, T2_B, T2_A⟩ P0 (lost update)
//!     A: T1 reads flights.avail into avail
//!     B: T2 updates flights.avail
//!     A: T2 uses avail and writes flights.avail
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::input::{Application, Element, Node, TransactionId, Verb};
use super::patterns::{Pattern, Phenomenon};
use super::reach::Op;
use super::schedules::{Link, Reason, Schedule};
use super::values::Carrier;

/// One reason of a schedule, told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What may be seen.
    pub phenomenon: Phenomenon,
    /// What A does first.
    pub first: Act,
    /// What B does in between.
    pub between: Act,
    /// How a value gets from A's first transaction to its last, where it is not the same variable all the way: what
    /// carries it, and the node where that ends.
    pub carried: Vec<(Carrier, String)>,
    /// What A does last.
    pub last: Act,
}

/// What a transaction of a schedule does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The instance: `A` or `B`.
    pub instance: char,
    /// The transaction.
    pub transaction: TransactionId,
    /// Its name.
    pub name: String,
    /// What it does.
    pub deed: Deed,
    /// The line of the statement in the source; 0 if it has none.
    pub line: usize,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// The element is read.
    Reads(Element),
    /// The element is written, by statements of these kinds.
    Writes(Element, BTreeSet<Verb>),
    /// The element is read and remembered: in this variable, or else in a decision.
    Remembers(Element, Option<String>),
    /// A variable is used whose value comes from the element, as the transaction of that name read it.
    Relies(String, Element, String),
    /// A variable is defined whose value comes from the element, as the transaction of that name read it.
    Derives(String, Element, String),
    /// A variable is used, and these are written in the transaction.
    Uses(String, BTreeSet<Element>),
    /// The transaction runs, or does one thing and not another, because of a decision; it writes these.
    Follows(BTreeSet<Element>),
    /// A variable gets a new value.
    Redefines(String),
}

impl Schedule {
    /// `⟨T1_A, T2_B, T2_A⟩`. A name that several procedures use is written with its procedure: `⟨booking.T1_A, …⟩`.
    pub fn label(&self, application: &Application) -> String {
        let name = |id| name(application, id);
        format!("⟨{}_A, {}_B, {}_A⟩", name(self.first), name(self.between), name(self.last))
    }

    /// All that may be seen, each once.
    pub fn phenomena(&self) -> BTreeSet<Phenomenon> {
        self.reasons.iter().map(|reason| reason.phenomenon).collect()
    }

    /// The stories of all reasons.
    pub fn explain(&self, application: &Application) -> Vec<Explanation> {
        self.reasons.iter().map(|reason| self.story(reason, application)).collect()
    }

    fn story(&self, reason: &Reason, application: &Application) -> Explanation {
        let act = |instance, transaction, (deed, line)| Act {
            instance,
            transaction,
            name: name(application, transaction),
            deed,
            line,
        };
        Explanation {
            phenomenon: reason.phenomenon,
            first: act('A', self.first, self.first_deed(reason, application)),
            between: act(
                'B',
                self.between,
                element_deed(reason.pattern.between, reason, application.node(self.between)),
            ),
            carried: self.carried(reason, application),
            last: act('A', self.last, last_deed(reason, application.node(self.last))),
        }
    }

    fn first_deed(&self, reason: &Reason, application: &Application) -> (Deed, usize) {
        let node = application.node(self.first);
        let Link::Variable { name, chain } = &reason.link else {
            return element_deed(reason.pattern.first, reason, node);
        };
        let element = reason.element.clone();
        if let (true, Some(name)) = (reason.pattern.first == Op::Use || chain.start.node != self.first.node, name) {
            let reader = application.procedures[self.first.procedure].nodes[chain.start.node].name.clone();
            let deed = if reason.pattern.first == Op::Use { Deed::Relies } else { Deed::Derives };
            return (deed(name.clone(), element, reader), node.line);
        }
        let line = node.operations.get(chain.start.at).map_or(node.line, |operation| operation.line);
        let variable = match chain.hops.first().map(|hop| &hop.carrier) {
            Some(Carrier::Variable(variable)) => Some(variable.clone()),
            Some(Carrier::Decision) => None,
            None => name.clone(),
        };
        (Deed::Remembers(element, variable), line)
    }

    /// What lies between the ends of a chain; nothing if one variable goes from the one to the other.
    fn carried(&self, reason: &Reason, application: &Application) -> Vec<(Carrier, String)> {
        let Link::Variable { chain, .. } = &reason.link else { return Vec::new() };
        if reason.pattern.last != Op::Use || chain.start.node != self.first.node {
            return Vec::new();
        }
        let place = |node: usize| application.procedures[self.first.procedure].nodes[node].name.clone();
        let inner = chain.hops.len().saturating_sub(1);
        let behind = chain.hops[..inner].iter().skip_while(|hop| hop.is_local);
        behind.map(|hop| (hop.carrier.clone(), place(hop.to.node))).collect()
    }
}

/// The name of a transaction, with its procedure if the name alone is not enough.
fn name(application: &Application, id: TransactionId) -> String {
    let name = &application.node(id).name;
    let named = |node: &Node| node.name == *name;
    let bearers = application.procedures.iter().filter(|procedure| procedure.nodes.iter().any(named)).count();
    if bearers > 1 { format!("{}.{name}", application.procedures[id.procedure].name) } else { name.clone() }
}

/// Reads or writes of the element, with the line of the first.
fn element_deed(op: Op, reason: &Reason, node: &Node) -> (Deed, usize) {
    let element = &reason.element;
    let matching = |write: bool| {
        node.operations
            .iter()
            .filter(move |it| if write { it.writes.contains(element) } else { it.reads().any(|read| read == element) })
    };
    let is_write = op == Op::Write;
    let line = matching(is_write).map(|operation| operation.line).next().unwrap_or(node.line);
    if is_write {
        let verbs = matching(true).map(|operation| operation.verb).collect();
        (Deed::Writes(element.clone(), verbs), line)
    } else {
        (Deed::Reads(element.clone()), line)
    }
}

fn last_deed(reason: &Reason, node: &Node) -> (Deed, usize) {
    let Link::Variable { name, chain } = &reason.link else { return element_deed(reason.pattern.last, reason, node) };
    let writes = || node.operations.iter().flat_map(|operation| &operation.writes).cloned().collect();
    let line = |at: usize| node.operations.get(at).map_or(node.line, |operation| operation.line);
    match (reason.pattern.last, name) {
        (Op::Define, Some(name)) => {
            let at = node.operations.iter().position(|operation| operation.defines.contains(name));
            (Deed::Redefines(name.clone()), line(at.unwrap_or(0)))
        }
        (_, Some(name)) => (Deed::Uses(name.clone(), writes()), line(chain.end().at)),
        (_, None) => (Deed::Follows(writes()), line(chain.end().at)),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.phenomenon)?;
        writeln!(f, "  {}", self.first)?;
        writeln!(f, "  {}", self.between)?;
        for (carrier, place) in &self.carried {
            match carrier {
                Carrier::Variable(variable) => writeln!(f, "  A: {place} takes {variable}")?,
                Carrier::Decision => writeln!(f, "  A: {place} runs because of that")?,
            }
        }
        write!(f, "  {}", self.last)
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.instance, self.name, self.deed)
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Deed::Reads(element) => write!(f, "reads {element}"),
            Deed::Writes(element, verbs) => write!(f, "{} {element}", doing(verbs)),
            Deed::Remembers(element, Some(variable)) => write!(f, "reads {element} into {variable}"),
            Deed::Remembers(element, None) => write!(f, "reads {element} and decides"),
            Deed::Relies(variable, element, reader) => write!(f, "uses {variable}, which {reader} read from {element}"),
            Deed::Derives(variable, element, reader) => {
                write!(f, "defines {variable} by what {reader} read from {element}")
            }
            Deed::Uses(variable, writes) => write!(f, "uses {variable}{}", and_writes(writes)),
            Deed::Follows(writes) => write!(f, "follows the decision{}", and_writes(writes)),
            Deed::Redefines(variable) => write!(f, "reads {variable} anew"),
        }
    }
}

fn doing(verbs: &BTreeSet<Verb>) -> String {
    let word = |verb: &Verb| match verb {
        Verb::Insert => "inserts",
        Verb::Delete => "deletes",
        _ => "updates",
    };
    verbs.iter().map(word).collect::<Vec<_>>().join(" and ")
}

fn and_writes(writes: &BTreeSet<Element>) -> String {
    let names: Vec<String> = writes.iter().map(Element::to_string).collect();
    if names.is_empty() { String::new() } else { format!(" and writes {}", names.join(", ")) }
}

/// Schedules that go wrong in the same way on the same data: one change settles all of them, as a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What they have in common: pattern, element and phenomenon of each reason.
    pub shape: BTreeSet<(Pattern, Element, Phenomenon)>,
    /// The schedules, as positions in the list that was grouped; at least one.
    pub members: Vec<usize>,
}

/// Puts schedules of the same shape together, in the order of their first members.
pub fn groups(schedules: &[Schedule]) -> Vec<Group> {
    let shape = |schedule: &Schedule| -> BTreeSet<_> {
        let reasons = schedule.reasons.iter();
        reasons.map(|reason| (*reason.pattern, reason.element.clone(), reason.phenomenon)).collect()
    };
    let mut places = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (at, schedule) in schedules.iter().enumerate() {
        let shape = shape(schedule);
        let place = *places.entry(shape.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.members.push(at),
            None => groups.push(Group { shape, members: vec![at] }),
        }
    }
    groups
}

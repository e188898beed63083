//! Events: what happens to the network or to the server, at a certain place of a run.
//!
//! ```text
//!   -- @partition 1|2,3             a line of its own, at its place in the line order
//!   -- @schedule a [deliver 1>2] b  or in brackets, between the turns of an explicit schedule
//! ```
//!
//! The second form is for cases with calls: a line stands before or after a whole call, a bracket also in its middle.

use std::collections::BTreeSet;
use std::fmt;

use super::SessionName;
use crate::suggest;

/// A positioned event. Prints as its directive, without the `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Groups of nodes that can talk to each other, e.g. `1|2`. No node stands in two of them.
    Partition(Vec<Vec<u32>>),
    /// All nodes can talk again.
    Heal,
    /// What one node knows reaches another, e.g. `1>2`.
    Deliver {
        /// Whose knowledge.
        from: u32,
        /// Whom it reaches.
        to: u32,
        /// Only the effects of one write statement, e.g. `1>2 #3`: the third that sessions executed at the node `from`.
        write: Option<u32>,
    },
    /// From now on, the statements of a session are answered by another node, e.g. `route a 2`.
    Route {
        /// The session.
        session: SessionName,
        /// The node.
        node: u32,
    },
    /// The server is killed with SIGKILL and started again.
    Kill,
}

/// The words that events begin with.
pub(super) const WORDS: &[&str] = &["partition", "heal", "deliver", "route", "kill"];

impl Event {
    /// Reads an event as it is printed; the error says what is expected there.
    pub fn parse(text: &str) -> Result<Event, String> {
        let text = text.trim();
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (word, value) = (&text[..end], text[end..].trim());
        match word {
            "partition" => partition(value),
            "deliver" => deliver(value),
            "route" => route(value),
            "heal" | "kill" if !value.is_empty() => Err(format!("nothing may follow @{word}")),
            "heal" => Ok(Event::Heal),
            "kill" => Ok(Event::Kill),
            _ => {
                let hint = suggest::hint(word, WORDS.iter().copied());
                Err(format!("`{text}` is not an event{hint} (events: {})", WORDS.join(", ")))
            }
        }
    }
}

fn partition(value: &str) -> Result<Event, String> {
    let group = |text: &str| text.split(',').map(|node| node.trim().parse()).collect::<Result<Vec<u32>, _>>();
    let groups: Option<Vec<Vec<u32>>> = value.split('|').map(|text| group(text).ok()).collect();
    let usage = "expected groups of nodes, such as `@partition 1|2,3`";
    let groups = groups.filter(|groups| groups.len() > 1).ok_or(usage)?;
    let mut seen = BTreeSet::new();
    match groups.iter().flatten().find(|node| !seen.insert(**node)) {
        Some(node) => Err(format!("{usage}; node {node} stands there twice")),
        None => Ok(Event::Partition(groups)),
    }
}

fn deliver(value: &str) -> Result<Event, String> {
    let usage = || "expected two nodes, such as `@deliver 1>2` or `@deliver 1>2 #3`".to_string();
    let (nodes, write) = match value.split_once('#') {
        Some((nodes, number)) => {
            let number = number.trim().parse().ok().filter(|number| *number > 0);
            (nodes, Some(number.ok_or_else(usage)?))
        }
        None => (value, None),
    };
    let (from, to) = nodes.split_once('>').ok_or_else(usage)?;
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) => Ok(Event::Deliver { from, to, write }),
        _ => Err(usage()),
    }
}

fn route(value: &str) -> Result<Event, String> {
    let mut words = value.split_whitespace();
    let session = words.next().and_then(SessionName::new);
    let node = words.next().and_then(|word| word.parse().ok());
    match (session, node, words.next()) {
        (Some(session), Some(node), None) => Ok(Event::Route { session, node }),
        _ => Err("expected a session and the number of a node, such as `@route a 2`".to_string()),
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Partition(groups) => {
                let join = |group: &Vec<u32>| group.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
                write!(f, "partition {}", groups.iter().map(join).collect::<Vec<_>>().join("|"))
            }
            Event::Heal => f.write_str("heal"),
            Event::Deliver { from, to, write } => {
                write!(f, "deliver {from}>{to}")?;
                write.iter().try_for_each(|number| write!(f, " #{number}"))
            }
            Event::Route { session, node } => write!(f, "route {session} {node}"),
            Event::Kill => f.write_str("kill"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_print_as_they_are_read() {
        for text in ["partition 1|2", "partition 1|2,3|4", "heal", "deliver 1>2", "deliver 2>1 #3", "route a 2", "kill"]
        {
            assert_eq!(Event::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Event::parse(" partition  1 | 2 , 3 ").unwrap().to_string(), "partition 1|2,3");
        assert_eq!(Event::parse("deliver 1 > 2 # 3").unwrap().to_string(), "deliver 1>2 #3");
    }

    #[test]
    fn what_is_no_event_is_refused_with_what_would_be_one() {
        for (text, expect) in [
            ("partition 1", "groups of nodes"),
            ("partition 1|x", "groups of nodes"),
            ("partition 1|2,1", "node 1 stands there twice"),
            ("deliver 1", "two nodes"),
            ("deliver 1>2 #0", "two nodes"),
            ("deliver 1>2 #x", "two nodes"),
            ("route a", "a session and the number of a node"),
            ("route a 2 3", "a session and the number of a node"),
            ("heal 1", "nothing may follow @heal"),
            ("hael", "did you mean heal?"),
            ("", "events: partition, heal, deliver, route, kill"),
        ] {
            let error = Event::parse(text).expect_err(text);
            assert!(error.contains(expect), "{text}: {error}");
        }
    }
}

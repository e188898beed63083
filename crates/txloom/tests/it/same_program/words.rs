//! All sequences of statements that a procedure may send, and whether two procedures have the same.
//!
//! The graph of a procedure is a machine that says a letter at each statement, and nothing at assignments and branches.
//! Both are followed at once, each in all places where it may be after the same letters; where one can go on (or end) as
//! the other cannot, the letters so far and those tell the difference. There are finitely many such pairs of sets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use txloom_core::flow::program::Given;
use txloom_core::program::access::{Access, Node, Reach, TableAccess};
use txloom_core::program::code::OperationKind;

/// Where a procedure may be: a position, and what is known of the transaction.
type Spot = (usize, Transaction);

/// What is known of the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Transaction {
    /// There is none.
    None,
    /// It has begun, and done nothing yet.
    Begun,
    /// It has done something.
    Open,
    /// It was one statement, and ends.
    Single,
}

/// What a statement does to rows; nothing, if it touches no table.
pub(super) fn letter(access: &Access) -> Option<String> {
    let tables: Vec<String> = access.tables.iter().map(table).collect();
    (!tables.is_empty()).then(|| tables.join(" and "))
}

/// `Update accounts by id: reads balance; tests id; writes balance`
fn table(access: &TableAccess) -> String {
    let names = |what: &str, columns: &BTreeSet<String>| match columns.is_empty() {
        true => String::new(),
        false => format!("; {what} {}", columns.iter().cloned().collect::<Vec<_>>().join(", ")),
    };
    let reach = match &access.reach {
        Reach::Nothing => String::new(),
        Reach::Scan => " by scan".to_string(),
        Reach::Key(key) => {
            let columns: BTreeSet<&str> = key.columns.iter().map(|(column, _)| column.as_str()).collect();
            format!(" by key {}", columns.into_iter().collect::<Vec<_>>().join(", "))
        }
    };
    let lock = access.lock.map(|lock| format!("; locks {lock:?}")).unwrap_or_default();
    let (reads, tests, writes) =
        (names("reads", &access.reads), names("tests", &access.tests), names("writes", &access.writes));
    format!("{:?} {}{reach}{reads}{tests}{writes}{lock}", access.effect, access.table)
}

struct Machine<'a> {
    nodes: &'a [Node],
    /// Whether a statement outside of START TRANSACTION … COMMIT is a transaction of its own.
    autocommit: bool,
}

impl<'a> Machine<'a> {
    fn of(given: Given<'a>) -> Machine<'a> {
        Machine { nodes: &given.access.nodes, autocommit: given.autocommit }
    }

    /// Behind everything: the call has ended, well or not.
    fn end(&self) -> usize {
        self.nodes.len() + 1
    }

    /// A letter with where it leads, or nothing with that; from the end, nothing.
    fn steps(&self, (at, transaction): Spot) -> Vec<(Option<String>, Spot)> {
        let is_open = transaction == Transaction::Open;
        let word = |word: &str| Some(word.to_string());
        if transaction == Transaction::Single {
            return vec![(word("COMMIT"), (at, Transaction::None))];
        }
        let Some(node) = self.nodes.get(at) else {
            let ends = (word("COMMIT").filter(|_| is_open), (self.end(), Transaction::None));
            return if at == self.end() { Vec::new() } else { vec![ends] };
        };
        let to = |letter: Option<String>, transaction: Transaction| {
            node.successors.iter().map(|next| (letter.clone(), (*next, transaction))).collect::<Vec<_>>()
        };
        match &node.operation.kind {
            OperationKind::Send(_) | OperationKind::Open(..) => match letter(&node.access) {
                Some(letter) if self.autocommit && transaction == Transaction::None => {
                    to(Some(letter), Transaction::Single)
                }
                Some(letter) => to(Some(letter), Transaction::Open),
                None => to(None, transaction),
            },
            OperationKind::Begin => to(word("COMMIT").filter(|_| is_open), Transaction::Begun),
            OperationKind::Commit => to(word("COMMIT").filter(|_| is_open), Transaction::None),
            OperationKind::Rollback => to(word("ROLLBACK").filter(|_| is_open), Transaction::None),
            OperationKind::Isolation(level) => to(word(&level.to_string()), transaction),
            OperationKind::Return(_) => vec![(None, (self.nodes.len(), transaction))],
            OperationKind::Raise(_) if is_open => vec![(word("ROLLBACK"), (at, Transaction::None))],
            OperationKind::Raise(_) => vec![(word("FAIL"), (self.end(), Transaction::None))],
            _ => to(None, transaction),
        }
    }

    /// All spots that are reached without a letter.
    fn closed(&self, spots: BTreeSet<Spot>) -> BTreeSet<Spot> {
        let mut open: Vec<Spot> = spots.iter().copied().collect();
        let mut closed = spots;
        while let Some(spot) = open.pop() {
            let silent = self.steps(spot).into_iter().filter(|(letter, _)| letter.is_none());
            open.extend(silent.map(|(_, next)| next).filter(|next| closed.insert(*next)));
        }
        closed
    }

    /// What may come next.
    fn next(&self, spots: &BTreeSet<Spot>) -> BTreeMap<String, BTreeSet<Spot>> {
        let mut next: BTreeMap<String, BTreeSet<Spot>> = BTreeMap::new();
        for (letter, to) in spots.iter().flat_map(|spot| self.steps(*spot)) {
            if let Some(letter) = letter {
                next.entry(letter).or_default().insert(to);
            }
        }
        next.into_iter().map(|(letter, spots)| (letter, self.closed(spots))).collect()
    }

    fn may_end(&self, spots: &BTreeSet<Spot>) -> bool {
        spots.iter().any(|(at, _)| *at == self.end())
    }
}

/// After which letters one of the two goes on as the other cannot, if there are such.
pub(super) fn difference(ours: Given<'_>, theirs: Given<'_>) -> Option<String> {
    let (ours, theirs) = (Machine::of(ours), Machine::of(theirs));
    let start = BTreeSet::from([(0, Transaction::None)]);
    let first = (ours.closed(start.clone()), theirs.closed(start));
    let mut seen = BTreeSet::from([first.clone()]);
    let mut open: VecDeque<(Vec<String>, _)> = VecDeque::from([(Vec::new(), first)]);
    while let Some((word, (our_spots, their_spots))) = open.pop_front() {
        let (our_next, mut their_next) = (ours.next(&our_spots), theirs.next(&their_spots));
        let ends = (ours.may_end(&our_spots), theirs.may_end(&their_spots));
        if ends.0 != ends.1 || !our_next.keys().eq(their_next.keys()) {
            return Some(told(&word, ends, &our_next, &their_next));
        }
        for (letter, our_spots) in our_next {
            let their_spots = their_next.remove(&letter).unwrap_or_default();
            let pair = (our_spots, their_spots);
            if seen.insert(pair.clone()) {
                let mut longer = word.clone();
                longer.push(letter);
                open.push_back((longer, pair));
            }
        }
    }
    None
}

fn told<T>(word: &[String], ends: (bool, bool), ours: &BTreeMap<String, T>, theirs: &BTreeMap<String, T>) -> String {
    let only = |these: &BTreeMap<String, T>, those: &BTreeMap<String, T>| {
        these.keys().filter(|letter| !those.contains_key(*letter)).map(|one| format!("\n    {one}")).collect::<String>()
    };
    let word: String = word.iter().map(|letter| format!("\n    {letter}")).collect();
    let (ours, theirs) = (only(ours, theirs), only(theirs, ours));
    format!("after{word}\n  only the first goes on with{ours}\n  only the second with{theirs}\n  may end: {ends:?}")
}

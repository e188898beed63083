//! The smallest visibility that contains what is wanted, and keeps the axioms.
//!
//! Clauses are Horn clauses, so there is one: whatever is derived holds in every visibility that contains what is
//! wanted. If something is derived that is forbidden, or against the order, there is none at all.
//!
//! Facts are derived one from the other: a new one is tried in the place of each `vis` in each body. Where calls stay on
//! their nodes, that a call sees its own earlier statements is not stored, but known.

use std::collections::VecDeque;
use std::rc::Rc;

use super::axioms::{Atom, Axioms, Clause, Relation, STICKY};

/// The statements of an execution, in the order in which they are executed.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// For each, its call.
    pub call: Vec<u32>,
    /// For each, its transaction; numbers are unique over all calls.
    pub transaction: Vec<u32>,
    /// For each, the position at which its transaction ends.
    pub end: Vec<usize>,
    /// For each, the level of its transaction.
    pub level: Vec<&'static Axioms>,
}

impl Frame {
    /// How many statements there are.
    pub fn len(&self) -> usize {
        self.call.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.call.is_empty()
    }

    /// Whether it is known without asking that `to` sees `from`: both belong to one call, which stays on its node.
    fn is_own(&self, from: usize, to: usize) -> bool {
        from < to && self.call[from] == self.call[to] && self.level[to].sticky
    }

    /// Whether a relation, other than visibility, holds.
    fn holds(&self, relation: Relation, from: usize, to: usize) -> bool {
        match relation {
            Relation::SameCall => self.call[from] == self.call[to],
            Relation::SameTransaction => self.transaction[from] == self.transaction[to],
            Relation::OtherTransaction => self.transaction[from] != self.transaction[to],
            Relation::Before => from < to,
            Relation::EndsBefore => self.end[from] < self.end[to],
            Relation::Sees => false,
        }
    }
}

/// Who sees whom, closed under the axioms.
#[derive(Debug, Clone)]
pub struct Visibility<'f> {
    frame: &'f Frame,
    rules: Rc<[Rule]>,
    /// By position of who sees, then of who is seen; without a call's own where it stays on its node.
    seen: Bits,
    forbidden: Bits,
}

/// A clause, and for whom it holds: it is the level of who sees that counts.
#[derive(Debug)]
struct Rule {
    clause: &'static Clause,
    /// The levels that keep it; `None` if all do.
    levels: Option<Vec<&'static Axioms>>,
}

impl Rule {
    /// What somebody keeps to.
    fn all(frame: &Frame) -> Rc<[Rule]> {
        let mut levels: Vec<&'static Axioms> = Vec::new();
        for level in &frame.level {
            if !levels.iter().any(|known| known.name == level.name) {
                levels.push(level);
            }
        }
        // All transactions stay on their nodes, or none.
        let sticky = if levels.iter().any(|level| level.sticky) { STICKY } else { &[] };
        let mut rules: Vec<Rule> = sticky.iter().map(|clause| Rule { clause, levels: None }).collect();
        for clause in levels.iter().flat_map(|level| level.clauses) {
            let keeps = |level: &&&Axioms| level.clauses.contains(clause);
            let of: Vec<&'static Axioms> = levels.iter().filter(keeps).copied().collect();
            if !rules.iter().any(|rule| rule.clause == clause) {
                rules.push(Rule { clause, levels: (of.len() < levels.len()).then_some(of) });
            }
        }
        rules.into()
    }

    fn holds_for(&self, level: &Axioms) -> bool {
        self.levels.as_ref().is_none_or(|levels| levels.iter().any(|one| one.name == level.name))
    }
}

/// A square of truth values.
#[derive(Debug, Clone)]
struct Bits {
    width: usize,
    words: Vec<u64>,
}

impl Bits {
    fn new(width: usize) -> Bits {
        Bits { width, words: vec![0; (width * width).div_ceil(64)] }
    }

    fn get(&self, row: usize, column: usize) -> bool {
        let at = row * self.width + column;
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    /// Whether it was not set before.
    fn set(&mut self, row: usize, column: usize) -> bool {
        let at = row * self.width + column;
        let is_new = !self.get(row, column);
        self.words[at / 64] |= 1 << (at % 64);
        is_new
    }
}

impl<'f> Visibility<'f> {
    /// What is seen in any case, unless something of that is forbidden: pairs of who would be seen, and by whom.
    pub fn new(frame: &'f Frame, forbidden: &[(usize, usize)]) -> Option<Visibility<'f>> {
        let width = frame.len();
        let rules = Rule::all(frame);
        let (seen, forbidden_bits) = (Bits::new(width), Bits::new(width));
        let mut visibility = Visibility { frame, rules: Rc::clone(&rules), seen, forbidden: forbidden_bits };
        for (from, to) in forbidden {
            visibility.forbidden.set(*to, *from);
        }
        let pairs = || (0..width).flat_map(|from| (0..width).map(move |to| (from, to)));
        if forbidden.iter().any(|(from, to)| frame.is_own(*from, *to)) {
            return None;
        }
        let mut facts = VecDeque::new();
        let is_basic = |rule: &&Rule| !rule.clause.body.iter().any(|atom| atom.relation == Relation::Sees);
        for rule in rules.iter().filter(is_basic) {
            for (from, to) in pairs() {
                let holds =
                    |atom: &Atom| frame.holds(atom.relation, pick(atom.from, from, to), pick(atom.to, from, to));
                if rule.clause.body.iter().all(holds) && rule.holds_for(frame.level[to]) {
                    visibility.learn(from, to, &mut facts)?;
                }
            }
        }
        // What a call sees of its own earlier transactions has consequences for what else it sees.
        facts.extend(
            pairs().filter(|(from, to)| frame.is_own(*from, *to) && frame.transaction[*from] != frame.transaction[*to]),
        );
        visibility.close(facts)?;
        Some(visibility)
    }

    /// Adds that `to` sees `from`, with all that follows. `None` if that is not possible; the visibility is of no use
    /// then.
    pub fn add(&mut self, from: usize, to: usize) -> Option<()> {
        let mut facts = VecDeque::new();
        self.learn(from, to, &mut facts)?;
        self.close(facts)
    }

    /// Whether `to` sees `from`.
    pub fn sees(&self, from: usize, to: usize) -> bool {
        self.frame.is_own(from, to) || self.seen.get(to, from)
    }

    /// Whether nobody said that `to` must not see `from`.
    pub fn may_see(&self, from: usize, to: usize) -> bool {
        from < to && !self.forbidden.get(to, from)
    }

    fn learn(&mut self, from: usize, to: usize, facts: &mut VecDeque<(usize, usize)>) -> Option<()> {
        if self.frame.is_own(from, to) {
            return Some(());
        }
        if !self.may_see(from, to) {
            return None;
        }
        if self.seen.set(to, from) {
            facts.push_back((from, to));
        }
        Some(())
    }

    fn close(&mut self, mut facts: VecDeque<(usize, usize)>) -> Option<()> {
        let rules = Rc::clone(&self.rules);
        while let Some(fact) = facts.pop_front() {
            for rule in rules.iter() {
                for (at, atom) in rule.clause.body.iter().enumerate() {
                    if atom.relation == Relation::Sees {
                        self.apply(rule, at, fact, &mut facts)?;
                    }
                }
            }
        }
        Some(())
    }

    /// Derives what follows by a clause if the atom at that position of its body is this fact.
    fn apply(
        &mut self,
        rule: &Rule,
        at: usize,
        (from, to): (usize, usize),
        facts: &mut VecDeque<(usize, usize)>,
    ) -> Option<()> {
        let clause = rule.clause;
        let bound = clause.body[at];
        for value in 0..self.frame.len() {
            let of = |variable: u8| match variable {
                one if one == bound.from => from,
                one if one == bound.to => to,
                _ => value,
            };
            let holds = |(other, atom): (usize, &Atom)| {
                let (from, to) = (of(atom.from), of(atom.to));
                other == at
                    || match atom.relation {
                        Relation::Sees => self.sees(from, to),
                        relation => self.frame.holds(relation, from, to),
                    }
            };
            let head = (of(clause.head.0), of(clause.head.1));
            if clause.body.iter().enumerate().all(holds) && rule.holds_for(self.frame.level[head.1]) {
                self.learn(head.0, head.1, facts)?;
            }
        }
        Some(())
    }
}

/// The value of one of the first two variables.
fn pick(variable: u8, first: usize, second: usize) -> usize {
    if variable == 0 { first } else { second }
}

#[cfg(test)]
mod tests {
    use super::super::axioms::LEVELS;
    use super::*;

    /// An execution: for each statement its call and its transaction; the levels of the transactions.
    fn frame(statements: &[(u32, u32)], level: &'static Axioms) -> Frame {
        let end = |transaction: u32| statements.iter().rposition(|(_, other)| *other == transaction).unwrap();
        Frame {
            call: statements.iter().map(|(call, _)| *call).collect(),
            transaction: statements.iter().map(|(_, transaction)| *transaction).collect(),
            end: statements.iter().map(|(_, transaction)| end(*transaction)).collect(),
            level: vec![level; statements.len()],
        }
    }

    /// Every way to give calls and transactions to that many statements: each transaction is of one call, and does not
    /// overlap with others of that call.
    fn frames(count: usize) -> Vec<Vec<(u32, u32)>> {
        let mut all: Vec<Vec<(u32, u32)>> = vec![Vec::new()];
        for _ in 0..count {
            let next = |one: &Vec<(u32, u32)>| {
                let calls = one.iter().map(|(call, _)| call + 1).max().unwrap_or(0);
                let transactions = one.iter().map(|(_, transaction)| transaction + 1).max().unwrap_or(0);
                let mut choices = Vec::new();
                for call in 0..=calls.min(2) {
                    let last = one.iter().rev().find(|(other, _)| *other == call);
                    choices.extend(last.copied());
                    choices.push((call, transactions));
                }
                choices.into_iter().map(|choice| [one.as_slice(), &[choice]].concat()).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(next).collect();
        }
        all
    }

    /// Whether a relation keeps all clauses, by their definition.
    fn keeps(frame: &Frame, relation: &[(usize, usize)]) -> bool {
        let n = frame.len();
        let sticky = if frame.level[0].sticky { STICKY } else { &[] };
        let clauses = sticky.iter().chain(frame.level[0].clauses);
        clauses.into_iter().all(|clause| {
            (0..n * n * n).all(|code| {
                let of = |variable: u8| code / n.pow(variable.into()) % n;
                let holds = |atom: &Atom| match atom.relation {
                    Relation::Sees => relation.contains(&(of(atom.from), of(atom.to))),
                    other => frame.holds(other, of(atom.from), of(atom.to)),
                };
                !clause.body.iter().all(holds) || relation.contains(&(of(clause.head.0), of(clause.head.1)))
            })
        })
    }

    /// A number that depends on all of its arguments, for choices that look random.
    fn mix(seed: usize) -> usize {
        (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5555_5555).rotate_left(23).wrapping_mul(0x2545_F491_4F6C_DD1D)
            >> 7
    }

    type Pairs = Vec<(usize, usize)>;

    /// The smallest of all relations that keep the axioms, contain what is wanted and nothing that is forbidden.
    fn smallest(frame: &Frame, pairs: &Pairs, wanted: &[(usize, usize)], forbidden: (usize, usize)) -> Option<Pairs> {
        let all = (0..1_usize << pairs.len()).map(|bits| {
            let is_in = |(at, _): &(usize, &(usize, usize))| bits >> at & 1 == 1;
            pairs.iter().enumerate().filter(is_in).map(|(_, pair)| *pair).collect::<Pairs>()
        });
        let contains = |relation: &Pairs| wanted.iter().all(|pair| relation.contains(pair));
        all.filter(|relation| contains(relation) && !relation.contains(&forbidden) && keeps(frame, relation))
            .min_by_key(Vec::len)
    }

    #[test]
    fn closures_are_what_the_definitions_say() {
        let (mut possible, mut impossible) = (0, 0);
        for (count, step, tries) in [(3, 1, 9), (4, 2, 6), (5, 31, 3)] {
            let pairs: Pairs = (0..count).flat_map(|to| (0..to).map(move |from| (from, to))).collect();
            for (number, statements) in frames(count).iter().enumerate().step_by(step) {
                let is_foreign = |(from, to): &&(usize, usize)| statements[*from].0 != statements[*to].0;
                let foreign: Pairs = pairs.iter().filter(is_foreign).copied().collect();
                if foreign.is_empty() {
                    continue;
                }
                let levels = LEVELS.iter().flat_map(|level| [level, level.staying()]);
                for (level, salt) in levels.flat_map(|level| (0..tries).map(move |salt| (level, salt))) {
                    let frame = frame(statements, level);
                    let seed = |at: usize| mix(number * 131 + level.name.len() * 17 + salt * 5 + at);
                    let chosen = |at: usize| foreign[seed(at) % foreign.len()];
                    let (wanted, forbidden) = (&[chosen(1), chosen(2)][salt % 2..], chosen(3));
                    let found = Visibility::new(&frame, &[forbidden]).and_then(|mut found| {
                        wanted.iter().try_for_each(|(from, to)| found.add(*from, *to))?;
                        Some(pairs.iter().filter(|(from, to)| found.sees(*from, *to)).copied().collect::<Pairs>())
                    });
                    let expect = smallest(&frame, &pairs, wanted, forbidden);
                    assert_eq!(found, expect, "{} {statements:?} {wanted:?} {forbidden:?}", level.name);
                    possible += usize::from(found.is_some());
                    impossible += usize::from(found.is_none());
                }
            }
        }
        assert!(possible > 500 && impossible > 500, "{possible}, {impossible}");
    }

    #[test]
    fn the_level_of_who_sees_counts() {
        let committed = &LEVELS[3];
        assert_eq!(committed.name, "read committed");
        // w1 of A, r of B, w2 of A: B must not see half of A, if B is at read committed.
        let statements = [(0, 0), (1, 1), (0, 0)];
        for (reader, expect) in [(committed, false), (&LEVELS[0], true)] {
            let mut frame = frame(&statements, &LEVELS[0]);
            frame.level[1] = reader;
            let found = Visibility::new(&frame, &[]).and_then(|mut found| found.add(0, 1));
            assert_eq!(found.is_some(), expect, "{}", reader.name);
        }
    }
}

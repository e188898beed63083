//! The ledger: which violations are new, which have been seen, and which of them are worth a reduction.
//!
//! Two violations are the same finding if their *reduced* cases have the same fingerprint; before they are reduced, the
//! statements that have nothing to do with it tell them apart. But a reduction takes hundreds of runs, and a bug that
//! shows in every tenth case would be reduced for the whole of the hunt. So, for each kind of violation at each level:
//!
//! * the first nine are reduced, and as long as reductions bring something new, every violation is;
//! * after [`REPEATS_MAX`] reductions in a row that ended at something already seen, or after [`FINDINGS_MAX`] findings,
//!   only those violations are reduced whose number (the how-manieth of its kind and level it is) has one significant
//!   digit: 10, 20, … 100, 200, … The others are taken for repetitions.
//!
//! Every violation is counted, and what is decided depends on nothing but the order in which they come.

use std::collections::BTreeMap;

use txloom_core::finding::{Finding, Fingerprint};

/// After so many reductions in a row that bring nothing new, a kind counts as seen.
const REPEATS_MAX: u32 = 5;

/// After so many findings of one kind at one level, there is no point in showing all of them.
const FINDINGS_MAX: u32 = 10;

/// What was seen so far.
#[derive(Default)]
pub(super) struct Ledger {
    kinds: BTreeMap<(String, String), Kind>,
    seen: BTreeMap<Fingerprint, Entry>,
    /// How often each finding was seen again, by its position.
    repeats: Vec<u64>,
}

/// What a fingerprint stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// A finding, by its position.
    Found(usize),
    /// A known behaviour, by its id.
    Known(String),
}

/// Violations of one kind at one level.
#[derive(Default)]
struct Kind {
    violations: u64,
    findings: u32,
    repeats_in_a_row: u32,
}

impl Ledger {
    /// Notes a violation that has not been reduced: is a reduction worth its while?
    pub(super) fn is_worth_reducing(&mut self, finding: &Finding) -> bool {
        let kind = self.kind(finding);
        kind.violations += 1;
        let is_open = kind.repeats_in_a_row < REPEATS_MAX && kind.findings < FINDINGS_MAX;
        is_open || has_one_significant_digit(kind.violations)
    }

    /// What this has been seen to be, by its fingerprint; it is then one more of the same.
    pub(super) fn again(&mut self, fingerprint: &Fingerprint) -> Option<Entry> {
        let entry = self.seen.get(fingerprint).cloned()?;
        if let Entry::Found(position) = &entry {
            self.repeats[*position] += 1;
        }
        Some(entry)
    }

    /// Notes that a reduction ended at something that had been seen.
    pub(super) fn note_repeat(&mut self, finding: &Finding) {
        self.kind(finding).repeats_in_a_row += 1;
    }

    /// Notes something new, under all its fingerprints: before and after the reduction. `known` is the id of the known
    /// behaviour that it is. Gives its position among the findings.
    pub(super) fn note_new(&mut self, finding: &Finding, known: Option<String>, before: Fingerprint) -> Entry {
        let kind = self.kind(finding);
        kind.repeats_in_a_row = 0;
        kind.findings += 1;
        let entry = known.map_or(Entry::Found(self.repeats.len()), Entry::Known);
        if matches!(entry, Entry::Found(_)) {
            self.repeats.push(0);
        }
        self.seen.insert(before, entry.clone());
        self.seen.insert(finding.fingerprint.clone(), entry.clone());
        entry
    }

    /// How often the finding at a position was seen again.
    pub(super) fn repeats(&self, position: usize) -> u64 {
        self.repeats.get(position).copied().unwrap_or(0)
    }

    fn kind(&mut self, finding: &Finding) -> &mut Kind {
        self.kinds.entry((finding.fingerprint.kind().to_string(), finding.level.clone())).or_default()
    }
}

fn has_one_significant_digit(number: u64) -> bool {
    let mut rest = number;
    while rest >= 10 && rest.is_multiple_of(10) {
        rest /= 10;
    }
    rest < 10
}

#[cfg(test)]
mod tests {
    use txloom_core::case::Case;
    use txloom_core::finding::{Explanation, Violation};

    use super::*;
    use crate::report::fixtures::{Play, ok};

    fn finding(shape: &str) -> Finding {
        let violation = Violation {
            sentence: String::new(),
            explanation: Explanation::default(),
            fingerprint: Fingerprint::new("test", &[shape.to_string()]),
        };
        Finding::new("test", violation, Case::default(), Play::new("a").done("a", "SELECT 1", ok()).end())
    }

    /// What becomes of violations, by the shapes of what they reduce to: reduced and new, reduced and seen, not reduced.
    fn fates(shapes: impl Iterator<Item = String>) -> String {
        let mut ledger = Ledger::default();
        let mut fate = |shape: String| {
            let finding = finding(&shape);
            if !ledger.is_worth_reducing(&finding) {
                '.'
            } else if ledger.again(&finding.fingerprint).is_some() {
                ledger.note_repeat(&finding);
                'r'
            } else {
                ledger.note_new(&finding, None, Fingerprint::new("before", &[shape]));
                'N'
            }
        };
        shapes.map(&mut fate).collect()
    }

    #[test]
    fn what_is_only_repeated_is_reduced_now_and_then() {
        let same = std::iter::repeat_n("x".to_string(), 30);
        assert_eq!(fates(same), "Nrrrrrrrrr.........r.........r");
        let all_new = (0..30).map(|number| format!("x{number}"));
        assert_eq!(fates(all_new), "NNNNNNNNNN.........N.........N");
        let late = (0..32).map(|number| if number == 19 { "late".to_string() } else { "x".to_string() });
        assert_eq!(
            fates(late),
            "Nrrrrrrrrr.........Nrrrrr....r..",
            "something new makes every violation worth it again"
        );
    }

    #[test]
    fn repetitions_are_counted() {
        let mut ledger = Ledger::default();
        let new = finding("x");
        assert_eq!(ledger.note_new(&new, None, Fingerprint::new("before", &[])), Entry::Found(0));
        assert_eq!(ledger.again(&Fingerprint::new("before", &[])), Some(Entry::Found(0)));
        assert_eq!(ledger.again(&new.fingerprint), Some(Entry::Found(0)));
        assert_eq!(ledger.repeats(0), 2);
        let known = finding("y");
        let entry = ledger.note_new(&known, Some("id".to_string()), known.fingerprint.clone());
        assert_eq!(entry, Entry::Known("id".to_string()));
        assert_eq!(ledger.again(&known.fingerprint), Some(entry));
    }

    #[test]
    fn round_numbers() {
        let round: Vec<u64> = (1..=300).filter(|number| has_one_significant_digit(*number)).collect();
        assert_eq!(round[..12], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30]);
        assert_eq!(round[18..], [100, 200, 300]);
    }
}

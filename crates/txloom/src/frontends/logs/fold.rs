//! Loops: what a transaction does several times in a row.
//!
//! An order of five lines is the same procedure as one of three. So a part of the sequence of templates that follows
//! itself is taken once, the shortest parts first, until nothing repeats itself any more:
//!
//! ```text
//!   a b c b c b c d        a b c d      with a loop over b c
//!   a b b a b b            a b          with a loop over a b, and inside one over b
//! ```
//!
//! Every statement keeps its position in the folded sequence. A part that was done once is the same as one that was done
//! twice: the loop shows only in the transactions that went round.

use std::ops::Range;

/// Longer parts are not looked for.
const PART_MAX: usize = 24;
/// A transaction with more statements is folded only as far as its consecutive repetitions go, one pass.
const LONG: usize = 4_000;

/// A folded sequence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Folded {
    /// The templates, each part once.
    pub(super) sequence: Vec<u32>,
    /// The position in `sequence` of each statement.
    pub(super) positions: Vec<u32>,
    /// The parts that were done several times.
    pub(super) loops: Vec<Range<usize>>,
}

/// Folds the templates of a transaction.
pub(super) fn fold(templates: &[u32]) -> Folded {
    let mut folded = Folded {
        sequence: templates.to_vec(),
        positions: (0..u32::try_from(templates.len()).unwrap_or(u32::MAX)).collect(),
        loops: Vec::new(),
    };
    let longest = if templates.len() > LONG { 1 } else { PART_MAX.min(templates.len() / 2) };
    let mut part = 1;
    while part <= longest {
        // Shorter parts may have become neighbours.
        part = if folded.pass(part) && part > 1 { 1 } else { part + 1 };
    }
    folded
}

impl Folded {
    /// Folds all parts of this length; whether there was one.
    fn pass(&mut self, part: usize) -> bool {
        let length = self.sequence.len();
        let mut kept: Vec<u32> = Vec::with_capacity(length);
        let mut moved: Vec<u32> = Vec::with_capacity(length);
        let mut loops = Vec::new();
        let mut at = 0;
        while at < length {
            let repeats = kept.len() >= part
                && at + part <= length
                && kept[kept.len() - part..] == self.sequence[at..at + part]
                && !self.splits(at..at + part);
            if repeats {
                let start = kept.len() - part;
                moved.extend((start..kept.len()).map(|to| to as u32));
                loops.push(start..kept.len());
                at += part;
            } else {
                moved.push(kept.len() as u32);
                kept.push(self.sequence[at]);
                at += 1;
            }
        }
        if loops.is_empty() {
            return false;
        }
        for range in &mut self.loops {
            let start = moved[range.start] as usize;
            *range = start..start + range.len();
        }
        self.loops.extend(loops);
        self.loops.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        self.loops.dedup();
        for position in &mut self.positions {
            *position = moved[*position as usize];
        }
        self.sequence = kept;
        true
    }

    /// Whether a range has one end inside a loop and the other outside.
    fn splits(&self, range: Range<usize>) -> bool {
        self.loops.iter().any(|other| crosses(other, &range))
    }
}

/// Whether two ranges overlap and neither holds the other.
pub(super) fn crosses(a: &Range<usize>, b: &Range<usize>) -> bool {
    let overlap = a.start < b.end && b.start < a.end;
    let nested = (a.start <= b.start && b.end <= a.end) || (b.start <= a.start && a.end <= b.end);
    overlap && !nested
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, sequence: &str, loops: &[(usize, usize)]) {
        let templates: Vec<u32> = text.bytes().map(u32::from).collect();
        let folded = fold(&templates);
        let shown: String = folded.sequence.iter().filter_map(|it| char::from_u32(*it)).collect();
        let found: Vec<(usize, usize)> = folded.loops.iter().map(|range| (range.start, range.end)).collect();
        assert_eq!((shown.as_str(), found.as_slice()), (sequence, loops), "{text}");
        assert_eq!(folded.positions.len(), templates.len());
        for (template, position) in templates.iter().zip(&folded.positions) {
            assert_eq!(folded.sequence[*position as usize], *template, "{text}");
        }
    }

    #[test]
    fn what_repeats_itself_is_taken_once() {
        check("abcd", "abcd", &[]);
        check("", "", &[]);
        check("aaa", "a", &[(0, 1)]);
        check("abcbcbcd", "abcd", &[(1, 3)]);
        check("abbabb", "ab", &[(0, 2), (1, 2)]);
        check("aba", "aba", &[]);
        check("abab", "ab", &[(0, 2)]);
        check("abcabcdd", "abcd", &[(0, 3), (3, 4)]);
    }
}

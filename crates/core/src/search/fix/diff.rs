//! What changed in a file, as a unified diff.
//!
//! Lines at both ends that are the same are put aside; of what is left, the longest common subsequence stays. That takes
//! as many steps as there are pairs of lines, which is nothing for what people change by hand.

/// So many lines around each change are shown.
const CONTEXT: usize = 2;
/// With more pairs of lines than that, everything between the first and the last change is told as changed.
const PAIRS_MAX: usize = 4_000_000;

/// A line of both, of the old or of the new text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Both,
    Old,
    New,
}

/// The changes from one text to another; empty if there are none.
pub fn unified(name: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let lines = compare(&old, &new);
    let mut text = String::new();
    let mut at = 0;
    while let Some(hunk) = next_hunk(&lines, at) {
        if text.is_empty() {
            text = format!("--- {name}\n+++ {name}\n");
        }
        at = hunk.end;
        text += &show(&lines, hunk);
    }
    text
}

/// All lines, in order.
fn compare<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Of, &'t str)> {
    let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (a, b) = (&old_rest[..old_rest.len() - after], &new_rest[..new_rest.len() - after]);
    let mut lines: Vec<(Of, &str)> = old[..before].iter().map(|line| (Of::Both, *line)).collect();
    if a.len().saturating_mul(b.len()) > PAIRS_MAX {
        lines.extend(a.iter().map(|line| (Of::Old, *line)).chain(b.iter().map(|line| (Of::New, *line))));
    } else {
        lines.extend(middle(a, b));
    }
    lines.extend(old[old.len() - after..].iter().map(|line| (Of::Both, *line)));
    lines
}

fn middle<'t>(a: &[&'t str], b: &[&'t str]) -> Vec<(Of, &'t str)> {
    // How many lines the rests have in common.
    let mut common = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            lines.push((Of::Both, a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || (i < a.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push((Of::Old, a[i]));
            i += 1;
        } else {
            lines.push((Of::New, b[j]));
            j += 1;
        }
    }
    lines
}

/// The next changes that are near each other, with the lines around them.
fn next_hunk(lines: &[(Of, &str)], from: usize) -> Option<std::ops::Range<usize>> {
    let is_change = |at: &usize| lines[*at].0 != Of::Both;
    let first = (from..lines.len()).find(is_change)?;
    let mut last = first;
    while let Some(next) = (last + 1..lines.len().min(last + 2 * CONTEXT + 2)).find(is_change) {
        last = next;
    }
    Some(first.saturating_sub(CONTEXT).max(from)..(last + 1 + CONTEXT).min(lines.len()))
}

fn show(lines: &[(Of, &str)], hunk: std::ops::Range<usize>) -> String {
    let count =
        |range: std::ops::Range<usize>, without: Of| lines[range].iter().filter(|(of, _)| *of != without).count();
    let (old, new) = (count(0..hunk.start, Of::New) + 1, count(0..hunk.start, Of::Old) + 1);
    let (olds, news) = (count(hunk.clone(), Of::New), count(hunk.clone(), Of::Old));
    let mut text = format!("@@ -{old},{olds} +{new},{news} @@\n");
    for (of, line) in &lines[hunk] {
        let sign = match of {
            Of::Both => ' ',
            Of::Old => '-',
            Of::New => '+',
        };
        text += &format!("{sign}{line}\n");
    }
    text
}

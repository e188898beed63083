//! The last lines on the screen: what was not covered, and the conclusion.

use txloom_core::conclusion::{Conclusion, ConclusionKind, Gap};

use super::line::{Line, Role};
use super::page::Page;

/// The number of gaps that are listed; JSON has all of them.
const GAPS_SHOWN: usize = 10;

/// The gaps one by one, if the sentence does not name the only one; then the sentence.
pub(crate) fn write(page: &mut Page, conclusion: &Conclusion) {
    page.gap();
    if conclusion.gaps.len() > 1 {
        page.heading("Not covered");
        conclusion.gaps.iter().take(GAPS_SHOWN).for_each(|gap| page.paragraph(&gap_line(gap), 2, 2));
        if let Some(more) = conclusion.gaps.len().checked_sub(GAPS_SHOWN).filter(|more| *more > 0) {
            let words = format!("… and {more} more (--format json lists all of them)");
            page.paragraph(&Line::new(Role::Faint, words), 2, 2);
        }
        page.gap();
    }
    let (role, mark) = match conclusion.kind() {
        ConclusionKind::NothingChecked => (Role::Plain, "– "),
        ConclusionKind::Holds => (Role::Good, "✓ "),
        ConclusionKind::Violated => (Role::Bad, "✗ "),
        ConclusionKind::Unknown => (Role::Wait, "? "),
        ConclusionKind::Interrupted => (Role::Wait, "! "),
    };
    page.paragraph(&Line::new(role, mark).with(Role::Strong, conclusion.sentence()), 0, 2);
}

fn gap_line(gap: &Gap) -> Line {
    let times = if gap.count > 1 { format!(" (×{})", gap.count) } else { String::new() };
    Line::plain(format!("{gap}{times}"))
}

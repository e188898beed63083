//! How large a case is.

use std::fmt;

use crate::case::{Case, Entry, Item, Line, SessionName};
use crate::reduce::rows;
use crate::sql::StatementKind;

/// How large a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Sessions.
    pub sessions: usize,
    /// Items of all sessions.
    pub items: usize,
    /// Those of them that do not merely begin or end a transaction.
    pub statements: usize,
    /// Statements of the setup.
    pub setup: usize,
    /// Rows that the setup inserts, as far as they are written as VALUES.
    pub rows: usize,
    /// Switches from one session to another, in the first schedule or in line order.
    pub switches: usize,
    /// Characters of all items and of the setup.
    pub characters: usize,
}

impl Size {
    /// Measures a case.
    pub fn of(case: &Case) -> Size {
        let sessions = case.sessions();
        let switches = match case.schedules().first() {
            Some(schedule) => schedule.switch_count(),
            None => {
                let names: Vec<&SessionName> = case.entries.iter().filter_map(step_session).collect();
                names.windows(2).filter(|pair| pair[0] != pair[1]).count()
            }
        };
        let setup = case.setup();
        let items = || sessions.iter().flat_map(|session| &session.items);
        let rows = |sql: &String| rows::Values::of(sql).map_or(0, |values| values.rows.len());
        let setup_characters = setup.iter().map(|sql| sql.chars().count());
        Size {
            sessions: sessions.len(),
            items: items().count(),
            statements: items().filter(|item| !is_boundary(item)).count(),
            rows: setup.iter().map(rows).sum(),
            setup: setup.len(),
            switches,
            characters: items().map(|item| item.to_string().chars().count()).chain(setup_characters).sum(),
        }
    }
}

/// The session that takes a turn in a line.
pub(super) fn step_session(entry: &Entry) -> Option<&SessionName> {
    match &entry.line {
        Line::Step(name, ..) => Some(name),
        _ => None,
    }
}

/// Whether an item begins or ends a transaction.
fn is_boundary(item: &Item) -> bool {
    let Item::Sql(sql) = item else { return false };
    let kind = StatementKind::of(sql.as_str());
    matches!(kind, StatementKind::Begin | StatementKind::Commit | StatementKind::Rollback)
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        write!(
            f,
            "{}, {}, {}, {}, {}, {}",
            count(self.sessions, "session"),
            count(self.items, "item"),
            count(self.setup, "setup statement"),
            count(self.rows, "row"),
            if self.switches == 1 { "1 switch".to_string() } else { format!("{} switches", self.switches) },
            count(self.characters, "character"),
        )
    }
}

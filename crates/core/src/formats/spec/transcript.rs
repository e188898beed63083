//! The transcript of an isolation test, line by line as PostgreSQL's own runner prints it.
//!
//! ```text
//! Parsed test spec with 2 sessions
//!
//! starting permutation: w1 w2 c1 r2
//! step w1: UPDATE t SET v = 2;
//! step w2: UPDATE t SET v = 3; <waiting ...>
//! step c1: COMMIT;
//! step w2: <... completed>
//! s2: NOTICE:  two rows were looked at
//! step r2: SELECT v FROM t;
//! v
//! -
//! 3
//! (1 row)
//!
//! ```
//!
//! Result tables are those of libpq's `PQprint`: a column in which every value looks like a number is aligned to the
//! right, NULL is empty, widths are counted in bytes, and a result without columns is not shown at all.

use crate::outcome::{Row, StatementResult};

/// An error or a notice, by the fields that are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// `ERROR`, `NOTICE`, …
    pub severity: String,
    /// The main text.
    pub message: String,
    /// More about it.
    pub detail: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A message from one session to those that listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The channel.
    pub channel: String,
    /// The text; may be empty.
    pub payload: String,
    /// Who sent it: the name of a session, or `PID 42` if it was none.
    pub sender: String,
}

/// A transcript that is being written.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    bytes: Vec<u8>,
}

impl Transcript {
    /// What has been written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Writes a line of our own words.
    pub(super) fn line(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(b'\n');
    }

    /// The head of a permutation.
    pub(super) fn starting<'a>(&mut self, steps: impl Iterator<Item = &'a str>) {
        self.bytes.extend_from_slice(b"\nstarting permutation:");
        for step in steps {
            self.bytes.push(b' ');
            self.bytes.extend_from_slice(step.as_bytes());
        }
        self.bytes.push(b'\n');
    }

    /// An error in answer to a step: only its main text, since the rest may hold numbers that change from run to run.
    pub(super) fn error(&mut self, report: &Report) {
        self.line(&format!("{}:  {}", report.severity, report.message));
    }

    /// A notice, when it is read.
    pub(super) fn notice(&mut self, session: &str, report: &Report) {
        self.bytes.extend_from_slice(format!("{session}: {}", full_text(report)).as_bytes());
    }

    /// A notification.
    pub(super) fn notification(&mut self, session: &str, notification: &Notification) {
        let Notification { channel, payload, sender } = notification;
        self.line(&format!("{session}: NOTIFY \"{channel}\" with payload \"{payload}\" from {sender}"));
    }

    /// A result, as a table.
    pub(super) fn table(&mut self, result: &StatementResult) {
        if result.columns.is_empty() {
            return;
        }
        let columns: Vec<TableColumn> = (0..result.columns.len()).map(|at| TableColumn::new(result, at)).collect();
        let names = result.columns.iter().map(|column| Some(column.name.as_bytes()));
        self.row(&columns, names);
        let rule: Vec<String> = columns.iter().map(|column| "-".repeat(column.width)).collect();
        self.line(&rule.join("+"));
        for row in &result.rows {
            self.row(&columns, row.iter().map(Option::as_deref));
        }
        let count = result.rows.len();
        self.line(&format!("({count} row{})\n", if count == 1 { "" } else { "s" }));
    }

    fn row<'a>(&mut self, columns: &[TableColumn], cells: impl Iterator<Item = Option<&'a [u8]>>) {
        for (at, (column, cell)) in columns.iter().zip(cells).enumerate() {
            if at > 0 {
                self.bytes.push(b'|');
            }
            let cell = cell.unwrap_or_default();
            let padding = vec![b' '; column.width.saturating_sub(cell.len())];
            let (first, second) = if column.is_numeric { (&padding[..], cell) } else { (cell, &padding[..]) };
            self.bytes.extend_from_slice(first);
            self.bytes.extend_from_slice(second);
        }
        self.bytes.push(b'\n');
    }
}

/// An error or a notice with everything that libpq shows of it by default.
pub(super) fn full_text(report: &Report) -> String {
    let mut text = format!("{}:  {}\n", report.severity, report.message);
    for (label, value) in [("DETAIL", &report.detail), ("HINT", &report.hint)] {
        if let Some(value) = value {
            text.push_str(&format!("{label}:  {value}\n"));
        }
    }
    text
}

/// How a column of a table is set.
struct TableColumn {
    width: usize,
    is_numeric: bool,
}

impl TableColumn {
    fn new(result: &StatementResult, at: usize) -> TableColumn {
        let cells = || result.rows.iter().filter_map(|row: &Row| row.get(at)?.as_deref());
        let widest = cells().map(<[u8]>::len).max().unwrap_or(0);
        TableColumn {
            width: widest.max(result.columns[at].name.len()),
            is_numeric: cells().filter(|cell| !cell.is_empty()).all(looks_numeric),
        }
    }
}

/// libpq's idea of a number. (`1-2` and `12-23-2008` are numbers to it.)
fn looks_numeric(cell: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b".Ee -".contains(byte);
    let begins_with_e = cell.first().is_some_and(|byte| b"Ee".contains(byte));
    cell.iter().all(is_part) && !begins_with_e && cell.last().is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Column;

    fn check(columns: &[&str], rows: &[&[Option<&str>]], expect: &str) {
        let column = |name: &&str| Column { name: name.to_string(), type_name: String::new() };
        let cell = |cell: &Option<&str>| cell.map(|text| text.as_bytes().to_vec());
        let result = StatementResult {
            columns: columns.iter().map(column).collect(),
            rows: rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
            ..StatementResult::default()
        };
        let mut transcript = Transcript::default();
        transcript.table(&result);
        assert_eq!(String::from_utf8(transcript.take()).unwrap(), expect);
    }

    #[test]
    fn tables_are_set_as_libpq_sets_them() {
        check(
            &["id", "v"],
            &[&[Some("1"), Some("ab")], &[Some("-12.5e3"), None]],
            "     id|v \n-------+--\n      1|ab\n-12.5e3|  \n(2 rows)\n\n",
        );
        check(&["n"], &[], "n\n-\n(0 rows)\n\n");
        check(&[], &[&[], &[]], "");
        check(&["?column?"], &[&[Some("12-23-2008")]], "  ?column?\n----------\n12-23-2008\n(1 row)\n\n");
        check(&["e"], &[&[Some("E1")], &[Some("2")]], "e \n--\nE1\n2 \n(2 rows)\n\n");
        check(&["e"], &[&[Some("1.")]], "e \n--\n1.\n(1 row)\n\n");
        check(&["é"], &[&[Some("x\ty")]], "é \n---\nx\ty\n(1 row)\n\n");
    }
}

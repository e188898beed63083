//! What was found in a log, in numbers.

use super::lines::Place;

/// What was found in a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// The format, in words.
    pub format: String,
    /// The bytes and lines of the file.
    pub bytes: u64,
    /// The lines of the file.
    pub lines: usize,
    /// The sessions that sent something.
    pub sessions: u64,
    /// The statements in the file; a statement of several rows counts for each row.
    pub statements: u64,
    /// … of them, those that begin, end or configure transactions.
    pub control: u64,
    /// … those that drivers and tools send on their own: settings, catalogues, pings.
    pub noise: u64,
    /// … those that change the schema.
    pub definitions: u64,
    /// … those that failed, or came in a transaction that had failed.
    pub failed: u64,
    /// … those of transactions whose beginning or end is not in the file, or that were rolled back; and those that are
    /// damaged.
    pub dropped: u64,
    /// … those of committed transactions.
    pub committed: u64,
    /// … of these, those that could be read and resolved.
    pub understood: u64,
    /// The committed transactions.
    pub transactions: u64,
    /// Those that were rolled back, or failed.
    pub rolled_back: u64,
    /// Those whose beginning is not in the file.
    pub cut: u64,
    /// Those whose end is not in the file.
    pub unfinished: u64,
    /// The different statements.
    pub templates: usize,
    /// The different shapes of transactions.
    pub shapes: usize,
    /// The transactions that the procedures stand for.
    pub covered: u64,
    /// Each procedure with the number of its transactions.
    pub procedures: Vec<(String, u64)>,
    /// Messages with bytes that are no UTF-8.
    pub not_text: u64,
    /// Lines that were longer than may be.
    pub cut_lines: u64,
    /// Lines that could not be read.
    pub unread: u64,
    /// The first of them: their numbers, and how they begin.
    pub unread_at: Vec<(usize, String)>,
}

impl Survey {
    /// So many unread lines are named.
    const NAMED: usize = 5;
    /// So many of their bytes are shown.
    const SHOWN: usize = 120;

    pub(super) fn unread(&mut self, place: Place, line: &[u8]) {
        self.unread += 1;
        if self.unread_at.len() < Survey::NAMED {
            let shown = String::from_utf8_lossy(&line[..line.len().min(Survey::SHOWN)]);
            let shown = shown.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            self.unread_at.push((place.line, shown));
        }
    }

    /// The share of the committed transactions that the procedures stand for.
    pub fn coverage(&self) -> f64 {
        if self.transactions == 0 { 1.0 } else { self.covered as f64 / self.transactions as f64 }
    }
}

//! The table of programs with known truth: its text form.

use std::fmt;

use txloom_core::case::{self, Item, Line};

/// A server with one of its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The target.
    pub target: &'static str,
    /// The level.
    pub level: &'static str,
}

impl Cell {
    /// All cells, in the order of the table.
    pub const ALL: [Cell; 5] = [
        Cell { target: "postgres", level: "read committed" },
        Cell { target: "postgres", level: "repeatable read" },
        Cell { target: "postgres", level: "serializable" },
        Cell { target: "mariadb", level: "read committed" },
        Cell { target: "mariadb", level: "repeatable read" },
    ];
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.target, self.level)
    }
}

/// The truth about a program in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// Some interleaving leaves what no serial order leaves.
    Broken,
    /// None does.
    Safe,
}

/// A program with its truth.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The line of the table, from 1.
    pub line: usize,
    /// The program's file, beside the table.
    pub file: String,
    /// Another file with tables.
    pub schema: Option<String>,
    /// The entry whose rows and calls are tried instead.
    pub like: Option<String>,
    /// The rows to begin with.
    pub rows: Vec<String>,
    /// Sets of calls that are made at the same time.
    pub calls: Vec<Vec<Item>>,
    /// The truth of each cell; `None` if the program is not for that server.
    pub truth: [Option<Truth>; Cell::ALL.len()],
}

/// A part of the table that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the table of programs with known truth: {message}")]
pub struct TruthError {
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub message: String,
}

/// Reads the table.
pub fn read(text: &str) -> Result<Vec<Entry>, TruthError> {
    let mut entries: Vec<Entry> = Vec::new();
    for (line, written) in (1..).zip(text.lines()) {
        let wrong = |message: String| TruthError { line, message };
        let content = written.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if !written.starts_with(' ') {
            let file = content.to_string();
            let (schema, like) = (None, None);
            entries.push(Entry { line, file, schema, like, rows: vec![], calls: vec![], truth: [None; 5] });
            continue;
        }
        let entry = entries.last_mut().ok_or_else(|| wrong("a field comes before the first file".to_string()))?;
        let (field, value) = content.split_once(' ').unwrap_or((content, ""));
        let value = value.trim();
        match field {
            "rows" => entry.rows.push(value.to_string()),
            "calls" => entry.calls.push(calls(value).map_err(wrong)?),
            "schema" => entry.schema = Some(value.to_string()),
            "like" => entry.like = Some(value.to_string()),
            "truth" => entry.truth = truth(value).map_err(wrong)?,
            _ => return Err(wrong(format!("`{field}` is none of rows, calls, schema, like, truth"))),
        }
    }
    Ok(entries)
}

/// Reads calls in the notation of cases.
fn calls(text: &str) -> Result<Vec<Item>, String> {
    let lines: Vec<String> = text.split(" + ").map(|call| format!("/*a*/ -- call {call}")).collect();
    let read = case::parse(&format!("-- @case 1\n{}", lines.join("\n"))).map_err(|error| error.to_string())?;
    let items = read.entries.into_iter().filter_map(|entry| match entry.line {
        Line::Step(_, item, _) => Some(item),
        _ => None,
    });
    Ok(items.collect())
}

fn truth(text: &str) -> Result<[Option<Truth>; 5], String> {
    let words = text.split_whitespace().filter(|word| *word != "|");
    let cells = words.map(|word| match word {
        "broken" => Ok(Some(Truth::Broken)),
        "safe" => Ok(Some(Truth::Safe)),
        "-" => Ok(None),
        _ => Err(format!("`{word}` is none of broken, safe, -")),
    });
    let cells = cells.collect::<Result<Vec<_>, String>>()?;
    cells.try_into().map_err(|cells: Vec<_>| format!("{} cells; there are {}", cells.len(), Cell::ALL.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_calls_rows_and_a_truth_for_each_cell() {
        let text = "# why\na.sql\n  rows   INSERT INTO t VALUES (1)\n  calls  p(x=1) + p(x=2)\n  truth  broken safe - | \
                    safe broken\n\nb.py\n  like a.sql\n";
        let entries = read(text).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].calls[0].iter().map(ToString::to_string).collect::<Vec<_>>(), ["p(x=1)", "p(x=2)"]);
        let (broken, safe) = (Some(Truth::Broken), Some(Truth::Safe));
        assert_eq!(entries[0].truth, [broken, safe, None, safe, broken]);
        assert_eq!(entries[1].like.as_deref(), Some("a.sql"));
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert!(message("a.sql\n  truth  broken").contains("line 2"));
        assert!(message("a.sql\n  row x").contains("none of rows"));
        assert!(message("  rows x").contains("before the first file"));
    }
}

//! The text format in which DT² and Troc record their bugs.
//!
//! ```text
//! CREATE TABLE t (c1 INT PRIMARY KEY)       the setup
//! INSERT INTO t VALUES (1)
//!
//! RR                                        Troc: the level (RU, RC, RR, SER); DT² has none
//! BEGIN                                     the first transaction
//! UPDATE t SET c1 = 2
//! COMMIT
//!
//! RR                                        the second, and so on
//! BEGIN
//! DELETE FROM t
//! COMMIT
//!
//! 1-1-2-2-1-2                               the schedule
//! END
//!
//! Error: Inconsistent query result          remarks
//! ```
//!
//! Blank lines separate the blocks. A statement is a line; where lines end with semicolons, it goes on until one does.
//! The transactions become the sessions `t1`, `t2`, …, and the schedule the order of the lines. Remarks become prose.

use crate::case::{Case, Entry, Item, Line, SessionName, Sql};
use crate::formats::spec::SpecError;
use crate::level::LevelName;

/// What is wrong with the text, and where.
pub type TrocError = SpecError;

/// A line of the file with its number, from 1.
#[derive(Clone, Copy)]
struct Numbered<'a> {
    number: usize,
    text: &'a str,
}

/// A transaction.
struct Transaction {
    level: Option<LevelName>,
    statements: Vec<Sql>,
}

/// Reads a case of DT² or Troc.
pub fn parse(text: &str) -> Result<Case, TrocError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<Numbered<'_>> =
        text.lines().enumerate().map(|(at, text)| Numbered { number: at + 1, text: text.trim_end() }).collect();
    let end = lines.iter().position(|line| line.text.trim() == "END").unwrap_or(lines.len());
    let remarks = lines.get(end + 1..).unwrap_or_default();
    let mut blocks: Vec<&[Numbered<'_>]> =
        lines[..end].split(|line| line.text.trim().is_empty()).filter(|block| !block.is_empty()).collect();
    let last = blocks.last().copied();
    let schedule = last.filter(|block| block.len() == 1 && is_schedule(block[0].text)).map(|block| block[0]);
    if schedule.is_some() {
        blocks.pop();
    }
    let Some((setup, transactions)) = blocks.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        let message = "expected a setup and at least one transaction, separated by blank lines";
        return Err(error(lines.first().copied(), message.to_string()));
    };
    let setup = statements(setup)?;
    let transactions = transactions.iter().map(|block| transaction(block)).collect::<Result<Vec<_>, _>>()?;
    let order = match schedule {
        Some(line) => order(line, &transactions)?,
        None => Vec::new(),
    };
    Ok(build(setup, transactions, &order, remarks))
}

/// Whether a text whose name says nothing is probably of this format: a schedule, then `END`.
pub(super) fn looks_like(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    while let Some(line) = lines.next() {
        if is_schedule(line) && lines.peek() == Some(&"END") {
            return true;
        }
    }
    false
}

/// `1-1-2-2-1-2`.
fn is_schedule(line: &str) -> bool {
    line.trim().split('-').all(|turn| !turn.trim().is_empty() && turn.trim().bytes().all(|byte| byte.is_ascii_digit()))
}

fn transaction(block: &[Numbered<'_>]) -> Result<Transaction, TrocError> {
    let level = block.first().and_then(|line| level(line.text));
    let rest = if level.is_some() { &block[1..] } else { block };
    Ok(Transaction { level, statements: statements(rest)? })
}

/// A line that is a level and nothing else. (No statement is.)
fn level(line: &str) -> Option<LevelName> {
    LevelName::parse(line.trim().trim_end_matches(';'))
}

fn statements(block: &[Numbered<'_>]) -> Result<Vec<Sql>, TrocError> {
    let ends = |line: &Numbered<'_>| line.text.trim_end().ends_with(';');
    // Only where the last line has its semicolon are the others trusted to have theirs.
    let with_semicolons = block.last().is_some_and(ends);
    let mut statements = Vec::new();
    let mut start = 0;
    for at in 0..block.len() {
        if with_semicolons && !ends(&block[at]) && !is_whole_without_semicolon(&block[at]) {
            continue;
        }
        let text: Vec<&str> = block[start..=at].iter().map(|line| line.text).collect();
        statements.push(Sql::new(&text.join("\n")).map_err(|why| error(Some(block[start]), why))?);
        start = at + 1;
    }
    Ok(statements)
}

/// People forget the semicolon after these above all.
fn is_whole_without_semicolon(line: &Numbered<'_>) -> bool {
    ["BEGIN", "COMMIT", "ROLLBACK", "START TRANSACTION"].iter().any(|word| line.text.trim().eq_ignore_ascii_case(word))
}

/// The transactions, from 0, in the order of the schedule.
fn order(line: Numbered<'_>, transactions: &[Transaction]) -> Result<Vec<usize>, TrocError> {
    let mut taken = vec![0; transactions.len()];
    let mut order = Vec::new();
    for turn in line.text.split('-').map(str::trim) {
        let number = turn.parse::<usize>().ok().filter(|number| (1..=transactions.len()).contains(number));
        let Some(at) = number.map(|number| number - 1) else {
            let count = transactions.len();
            let message = format!("the schedule names transaction {turn}, but there are {count}");
            return Err(error(Some(line), message));
        };
        taken[at] += 1;
        let have = transactions[at].statements.len();
        if taken[at] > have {
            let message = format!("the schedule asks for more than the {have} statements of transaction {turn}");
            return Err(error(Some(line), message));
        }
        order.push(at);
    }
    Ok(order)
}

fn build(setup: Vec<Sql>, transactions: Vec<Transaction>, order: &[usize], remarks: &[Numbered<'_>]) -> Case {
    let name = |at: usize| SessionName::new(&format!("t{}", at + 1)).expect("t and a number is a session's name");
    let mut entries: Vec<Entry> = Vec::new();
    let levels: Vec<Option<LevelName>> = transactions.iter().map(|transaction| transaction.level.clone()).collect();
    match levels.first() {
        Some(Some(level)) if levels.iter().all(|other| other.as_ref() == Some(level)) => {
            entries.push(Line::Isolation(None, level.clone()).into());
        }
        _ => {
            let own = levels.iter().enumerate().filter_map(|(at, level)| Some((name(at), level.clone()?)));
            entries.extend(own.map(|(name, level)| Line::Isolation(Some(name), level).into()));
        }
    }
    entries.extend(setup.into_iter().map(|sql| Line::Init(sql, Vec::new()).into()));
    let mut left: Vec<_> = transactions.into_iter().map(|transaction| transaction.statements.into_iter()).collect();
    let step = |at: usize, sql: Sql| Entry::from(Line::Step(name(at), Item::Sql(sql), Vec::new()));
    for at in order {
        entries.extend(left[*at].next().map(|sql| step(*at, sql)));
    }
    // What the schedule does not ask for comes last.
    for (at, rest) in left.into_iter().enumerate() {
        entries.extend(rest.map(|sql| step(at, sql)));
    }
    let remarks = remarks.iter().map(|line| line.text.trim()).filter(|line| !line.is_empty());
    if let Some(first) = entries.first_mut() {
        first.prose.extend(remarks.map(|line| format!(" {line}")));
    }
    Case { entries, ..Case::default() }
}

fn error(line: Option<Numbered<'_>>, message: String) -> TrocError {
    let Numbered { number, text } = line.unwrap_or(Numbered { number: 1, text: "" });
    TrocError { line: number, column: 1, message, text: text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::print::print;

    fn check(text: &str, expect: &str) {
        let case = parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(print(&case), format!("-- @case 1\n{expect}"));
        assert_eq!(parse(&text.replace('\n', "\r\n")), Ok(case), "with other line ends");
    }

    #[test]
    fn a_case_of_dt2_is_read() {
        check(
            "CREATE TABLE t(a INT);\nINSERT INTO t\n  VALUES (1);\n\nBEGIN;\nDELETE FROM t;\nCOMMIT;\n\nBEGIN;\nSELECT * \
             FROM t;\nCOMMIT;\n\n1-2-1-2-1-2\nEND",
            "/*init*/ CREATE TABLE t(a INT);\n/*init*/ INSERT INTO t\n  VALUES (1);\n/*t1*/ BEGIN;\n/*t2*/ BEGIN;\n\
             /*t1*/ DELETE FROM t;\n/*t2*/ SELECT * FROM t;\n/*t1*/ COMMIT;\n/*t2*/ COMMIT;\n",
        );
    }

    #[test]
    fn a_case_of_troc_is_read() {
        check(
            "CREATE TABLE t(a INT)\n\nRR\nBEGIN\nCOMMIT\n\nSER\nBEGIN\nCOMMIT\n\n1-2-2\nEND\n\nError: wrong\n\nDuplicate...",
            "-- Error: wrong\n-- Duplicate...\n-- @isolation t1 repeatable read\n-- @isolation t2 serializable\n\
             /*init*/ CREATE TABLE t(a INT);\n/*t1*/ BEGIN;\n/*t2*/ BEGIN;\n/*t2*/ COMMIT;\n/*t1*/ COMMIT;\n",
        );
        check(
            "CREATE TABLE t(a INT)\n\nRC\nSELECT 1\n\nRC\nSELECT 2\n",
            "-- @isolation read committed\n/*init*/ CREATE TABLE t(a INT);\n/*t1*/ SELECT 1;\n/*t2*/ SELECT 2;\n",
        );
    }

    #[test]
    fn errors_name_their_line() {
        let check = |text: &str, line: usize, message: &str| {
            let error = parse(text).unwrap_err();
            assert!(error.line == line && error.message.contains(message), "{error}");
        };
        check("", 1, "expected a setup");
        check("CREATE TABLE t(a INT)\n\n1-1\nEND", 1, "expected a setup");
        check("CREATE TABLE t(a INT)\n\nBEGIN\n\n1-3\nEND", 5, "names transaction 3, but there are 1");
        check("CREATE TABLE t(a INT)\n\nBEGIN\n\n1-1\nEND", 5, "more than the 1 statements");
        check("CREATE TABLE t(a INT)\n\n;\n\n1\nEND", 3, "the step is empty");
    }
}

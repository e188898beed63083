//! `EXEC SQL …;` in a C file: found, cut out, and understood.
//!
//! ```text
//!   if (x) EXEC SQL UPDATE t SET a = :s.b WHERE k = :k;      the file
//!   if (x) EXEC                                       ;      what the reader of C sees
//!                   UPDATE t SET a = :s_b WHERE k = :k       what is sent; `s_b` is s.b
//! ```
//!
//! Everything keeps its place and its length, so that every position is one of the file.

use std::collections::BTreeMap;

use super::parse::kind_of;

/// What stands for a statement in the text that is left.
pub(super) const STAND_IN: &str = "EXEC";

/// A statement that stands in a C file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Embedded {
    pub(super) kind: Kind,
    /// What is done if there is no row.
    pub(super) not_found: Action,
}

/// A text of SQL, with what its marks mean.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Sql {
    /// As long as in the file.
    pub(super) text: String,
    pub(super) start: usize,
    /// The expression of C for each mark.
    pub(super) marks: BTreeMap<String, String>,
    /// Where the INTO stood, which is blank.
    pub(super) gap: Option<(usize, usize)>,
}

/// A variable of C that takes a value, and the one that says whether it is NULL.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    pub(super) expression: String,
    pub(super) indicator: Option<String>,
}

/// What a statement does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Nothing,
    /// Sent as it is.
    Send(Sql),
    /// A query for one row.
    Into(Sql, Vec<Target>),
    /// A cursor gets its query.
    Declare(Sql),
    Open(String, Vec<String>),
    Fetch(String, Vec<Target>),
    Close(String),
    /// A text becomes a statement.
    Prepare(String, Source),
    /// A statement that was prepared.
    Execute(String, Vec<String>, Vec<Target>),
    Immediate(Source),
    /// One of `COMMIT`, `ROLLBACK`, `BEGIN`, `SET TRANSACTION …`.
    Control(String),
    AutoCommit(bool),
}

/// Where the text of a statement comes from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    Variable(String),
    Constant(Sql),
}

/// What `WHENEVER` says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Action {
    #[default]
    Continue,
    GoTo(String),
    Break,
    NextRound,
    Stop,
    Call(String),
}

/// A file without its embedded statements, and these by where they began.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub(super) text: String,
    pub(super) statements: BTreeMap<usize, Embedded>,
    /// The query of each cursor, or the prepared statement that it is for.
    pub(super) cursors: BTreeMap<String, Sql>,
}

/// Cuts a file.
pub(super) fn cut(source: &str) -> Cut {
    let mut left = source.as_bytes().to_vec();
    let mut result = Cut::default();
    let mut not_found = Action::Continue;
    let mut depth = 0usize;
    let mut at = 0;
    while at < source.len() {
        let width = match skipped(source, at) {
            Some(width) => width,
            None => {
                match source.as_bytes()[at] {
                    b'{' => depth += 1,
                    b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                match statement_at(source, at) {
                    Some((start, end)) => {
                        let kind = kind_of(source, start, end, &mut result.cursors, &mut not_found);
                        let stays = depth > 0 && kind != Kind::Nothing;
                        blank(&mut left[at..end], stays);
                        if stays {
                            result.statements.insert(at, Embedded { kind, not_found: not_found.clone() });
                        }
                        end - at
                    }
                    None => source[at..].chars().next().map_or(1, char::len_utf8),
                }
            }
        };
        at += width;
    }
    result.text = String::from_utf8_lossy(&left).into_owned();
    result
}

/// How long the comment, string or directive is that begins here.
fn skipped(source: &str, at: usize) -> Option<usize> {
    let rest = &source[at..];
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(rest.get(2..).and_then(|inner| inner.find("*/")).map_or(rest.len(), |end| end + 4));
    }
    let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c))?;
    Some(quoted(rest, quote))
}

/// How long the string is that begins a text; it ends with its line at the latest.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == '\n' && !is_escaped {
            return at;
        }
        if c == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    rest.len()
}

/// Where the SQL of an `EXEC SQL` begins that stands here, and the end of it all, `;` included.
fn statement_at(source: &str, at: usize) -> Option<(usize, usize)> {
    let rest = source.get(at..)?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = rest.get(..4)?.eq_ignore_ascii_case("exec") && !source[..at].ends_with(is_word);
    let after = rest.get(4..).filter(|_| starts)?;
    let spaces = after.len() - after.trim_start().len();
    let word = after.get(spaces..spaces + 3).filter(|_| spaces > 0)?;
    let behind = after.get(spaces + 3..)?;
    if !word.eq_ignore_ascii_case("sql") || behind.starts_with(is_word) {
        return None;
    }
    let start = at + 4 + spaces + 3;
    let start = start + behind.len() - behind.trim_start().len();
    Some((start, end_of(source, start)))
}

/// Behind the `;` that ends a statement; quotes and comments hide others.
fn end_of(source: &str, start: usize) -> usize {
    let mut at = start;
    while at < source.len() {
        let rest = &source[at..];
        if rest.starts_with(';') {
            return at + 1;
        }
        let hidden =
            if rest.starts_with("--") { Some(rest.find('\n').unwrap_or(rest.len())) } else { skipped_in_sql(rest) };
        at += hidden.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
    }
    source.len()
}

pub(super) fn skipped_in_sql(rest: &str) -> Option<usize> {
    if rest.starts_with("/*") {
        return Some(rest.get(2..).and_then(|inner| inner.find("*/")).map_or(rest.len(), |end| end + 4));
    }
    let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c))?;
    Some(rest[1..].find(quote).map_or(rest.len(), |end| end + 2))
}

/// Leaves a name and a `;`, or nothing; lines stay lines.
fn blank(bytes: &mut [u8], stays: bool) {
    let last = bytes.len().saturating_sub(1);
    for (at, byte) in bytes.iter_mut().enumerate() {
        let is_kept = *byte == b'\n' || (stays && (at < STAND_IN.len() || (at == last && *byte == b';')));
        if !is_kept {
            *byte = b' ';
        }
    }
    if stays {
        bytes[..STAND_IN.len()].copy_from_slice(STAND_IN.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_lengths_stay() {
        let source = "void f() {\n  /* EXEC SQL no; */\n  if (x) EXEC SQL\n    UPDATE t SET a = :s.b:ind\n    WHERE k = ';' ;\n}\n";
        let cut = cut(source);
        assert_eq!(cut.text.len(), source.len());
        assert_eq!(cut.text.matches('\n').count(), source.matches('\n').count());
        let (at, one) = cut.statements.iter().next().expect("one is there");
        assert_eq!((&cut.text[*at..*at + 4], &source[*at..*at + 8]), ("EXEC", "EXEC SQL"));
        let Kind::Send(sql) = &one.kind else { panic!("{one:?}") };
        assert_eq!(sql.text, "UPDATE t SET a = :s_b    \n    WHERE k = ';'");
        assert!(source[sql.start..].starts_with("UPDATE"));
        assert_eq!(sql.marks.get("s_b").map(String::as_str), Some("s.b"));
    }

    #[test]
    fn statements_are_told_apart() {
        let of = |text: &str| {
            let cut = cut(&format!("int f() {{ EXEC SQL {text}; }}"));
            cut.statements.into_values().next().map(|one| one.kind)
        };
        let target = |name: &str| Target { expression: name.to_string(), indicator: None };
        assert_eq!(of("BEGIN DECLARE SECTION"), None);
        assert_eq!(of("COMMIT WORK RELEASE"), Some(Kind::Control("COMMIT".to_string())));
        assert_eq!(of("OPEN c"), Some(Kind::Open("c".to_string(), Vec::new())));
        assert_eq!(of("FETCH NEXT FROM c INTO :a"), Some(Kind::Fetch("c".to_string(), vec![target("a")])));
        assert_eq!(
            of("FETCH c INTO :p->x, :y[1]"),
            Some(Kind::Fetch("c".into(), vec![target("p->x"), target("y[1]")]))
        );
        let Some(Kind::Into(sql, targets)) = of("AT db SELECT a, b INTO :x:n, :y FROM t WHERE k = :k") else {
            panic!()
        };
        assert_eq!(sql.text, "SELECT a, b               FROM t WHERE k = :k");
        assert_eq!(targets[0].indicator.as_deref(), Some("n"));
        assert!(matches!(of("INSERT INTO t VALUES (:a)"), Some(Kind::Send(_))));
        let text = "PREPARE s FROM \"DELETE FROM t\"";
        let Some(Kind::Prepare(_, Source::Constant(sql))) = of(text) else { panic!() };
        assert_eq!(sql.text, "DELETE FROM t");
    }

    #[test]
    fn half_a_statement_is_no_reason_to_stop() {
        for text in
            ["EXEC SQL", "EXEC SQL ", "{ EXEC SQL SELECT", "{ EXEC SQL :", "{ EXEC SQL FETCH c INTO :", "\"", "/*"]
        {
            assert_eq!(cut(text).text.len(), text.len(), "{text}");
        }
    }
}

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

fn skipped_in_sql(rest: &str) -> Option<usize> {
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

/// The words of a statement, in upper case, with their places in it.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = rest.len() - rest.trim_start_matches(is_word).len();
        if length > 0 {
            // A host variable is none, whatever it is called.
            if !text[..at].ends_with([':', '.', '>']) {
                words.push((at, rest[..length].to_uppercase()));
            }
            at += length;
        } else {
            at += skipped_in_sql(rest).unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
        }
    }
    words
}

/// Verbs of statements that do nothing to rows.
const NOTHING: &[&str] = &[
    "INCLUDE",
    "CONNECT",
    "DISCONNECT",
    "TYPE",
    "VAR",
    "DEALLOCATE",
    "ALLOCATE",
    "DESCRIBE",
    "GET",
    "CONTEXT",
    "DEFINE",
    "UNDEF",
    "IFDEF",
    "IFNDEF",
    "ELSE",
    "ELIF",
    "ENDIF",
    "ENABLE",
    "FREE",
    "LISTEN",
    "NOTIFY",
];

fn kind_of(
    source: &str,
    mut start: usize,
    end: usize,
    cursors: &mut BTreeMap<String, Sql>,
    not_found: &mut Action,
) -> Kind {
    let last = if source[..end].ends_with(';') { end - 1 } else { end };
    // `AT connection`
    if let [(_, at), (_, _), (next, _), ..] = words(&source[start..last]).as_slice()
        && at == "AT"
    {
        start += next;
    }
    let text = &source[start..last];
    let all = words(text);
    let said: Vec<&str> = all.iter().map(|(_, word)| word.as_str()).collect();
    let name_at = |at: usize| all.get(at).map(|(from, word)| text[*from..*from + word.len()].to_lowercase());
    match said.as_slice() {
        ["BEGIN" | "END", "DECLARE", ..] => Kind::Nothing,
        ["WHENEVER", rest @ ..] => {
            if let ["NOT", "FOUND", ..] = rest {
                *not_found = action(text, &all[3..]);
            }
            Kind::Nothing
        }
        [verb, ..] if NOTHING.contains(verb) => Kind::Nothing,
        ["DECLARE", _, rest @ ..] if rest.contains(&"FOR") && rest.contains(&"CURSOR") => {
            let from = all.iter().find(|(_, word)| word == "FOR").map_or(0, |(at, _)| at + 3);
            let sql = sql(text, from, start);
            cursors.insert(name_at(1).unwrap_or_default(), sql.clone());
            Kind::Declare(sql)
        }
        ["DECLARE", ..] => Kind::Nothing,
        ["OPEN", ..] => Kind::Open(name_at(1).unwrap_or_else(|| variable_name(text)), used(text, &all)),
        ["FETCH", ..] => fetch(text, &all),
        ["CLOSE", ..] => Kind::Close(name_at(1).unwrap_or_else(|| variable_name(text))),
        ["PREPARE", ..] => {
            let from = all.iter().find(|(_, word)| word == "FROM").map_or(text.len(), |(at, _)| at + 4);
            Kind::Prepare(name_at(1).unwrap_or_default(), source_of(text, from, start))
        }
        ["EXECUTE", "IMMEDIATE", ..] => Kind::Immediate(source_of(text, all[1].0 + "IMMEDIATE".len(), start)),
        ["EXECUTE", ..] => {
            Kind::Execute(name_at(1).unwrap_or_default(), used(text, &all), targets_behind(text, &all, "INTO"))
        }
        ["SET", "AUTOCOMMIT", rest @ ..] => Kind::AutoCommit(rest.contains(&"ON")),
        ["COMMIT", ..] => Kind::Control("COMMIT".to_string()),
        ["ROLLBACK", rest @ ..] if !rest.contains(&"TO") => Kind::Control("ROLLBACK".to_string()),
        ["BEGIN", ..] | ["START", "TRANSACTION", ..] => Kind::Control("BEGIN".to_string()),
        ["SET", "TRANSACTION", ..] => Kind::Control(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        ["SET", "CONNECTION", ..] => Kind::Nothing,
        _ => query_or_write(text, &all, start),
    }
}

/// `SELECT … INTO :a, :b FROM …`, or anything else that is sent.
fn query_or_write(text: &str, all: &[(usize, String)], start: usize) -> Kind {
    let verb = all.first().map(|(_, word)| word.as_str()).unwrap_or_default();
    let is_insert = verb == "INSERT";
    let mut intos = all.iter().filter(|(_, word)| word == "INTO");
    let into = intos.find(|(at, _)| !is_insert && text[at + 4..].trim_start().starts_with(':'));
    let Some((at, _)) = into else { return Kind::Send(sql(text, 0, start)) };
    let end = targets_end(text, at + 4);
    let mut without: Vec<u8> = text.as_bytes().to_vec();
    without[*at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    let targets = targets(&text[at + 4..end]);
    Kind::Into(sql(&String::from_utf8_lossy(&without), 0, start), targets)
}

fn fetch(text: &str, all: &[(usize, String)]) -> Kind {
    let into = all.iter().position(|(_, word)| word == "INTO").unwrap_or(all.len());
    let name = all.get(into.saturating_sub(1)).filter(|_| into > 1);
    let name = name.map(|(at, word)| text[*at..*at + word.len()].to_lowercase()).unwrap_or_else(|| variable_name(text));
    Kind::Fetch(name, targets_behind(text, all, "INTO"))
}

/// `OPEN :cursor`
fn variable_name(text: &str) -> String {
    text.split(':').nth(1).map(|rest| rest.split_whitespace().next().unwrap_or("").to_lowercase()).unwrap_or_default()
}

fn targets_behind(text: &str, all: &[(usize, String)], word: &str) -> Vec<Target> {
    let from = all.iter().find(|(_, one)| one == word).map(|(at, _)| at + word.len());
    from.map(|from| targets(&text[from..targets_end(text, from)])).unwrap_or_default()
}

/// `USING :a, :b`
fn used(text: &str, all: &[(usize, String)]) -> Vec<String> {
    targets_behind(text, all, "USING").into_iter().map(|target| target.expression).collect()
}

fn source_of(text: &str, from: usize, start: usize) -> Source {
    let said = text[from..].trim_start();
    let at = text.len() - said.len();
    if let Some(quote) = said.chars().next().filter(|c| ['"', '\''].contains(c)) {
        let inner = said[1..].split(quote).next().unwrap_or("");
        let text = inner.to_string();
        return Source::Constant(Sql { text, start: start + at + 1, marks: BTreeMap::new() });
    }
    match said.strip_prefix(':') {
        Some(variable) => Source::Variable(variable.trim().to_string()),
        None => Source::Constant(sql(text, at, start)),
    }
}

fn action(text: &str, words: &[(usize, String)]) -> Action {
    let said: Vec<&str> = words.iter().map(|(_, word)| word.as_str()).collect();
    let rest = |at: usize| words.get(at).map(|(from, _)| text[*from..].trim()).unwrap_or_default().to_string();
    let label = |at: usize| rest(at).trim_start_matches(':').to_string();
    match said.as_slice() {
        ["GOTO", ..] => Action::GoTo(if words.len() > 1 { label(1) } else { variable_name(text) }),
        ["GO", "TO", ..] => Action::GoTo(if words.len() > 2 { label(2) } else { variable_name(text) }),
        ["DO", "BREAK", ..] => Action::Break,
        ["DO", "CONTINUE", ..] => Action::NextRound,
        ["DO" | "CALL", ..] => Action::Call(rest(1)),
        ["STOP", ..] => Action::Stop,
        _ => Action::Continue,
    }
}

/// Where a list of host variables ends.
fn targets_end(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text[at..].trim_start();
        let start = text.len() - rest.len();
        if !rest.starts_with(':') {
            return at;
        }
        at = start + host_length(rest);
        let next = text[at..].trim_start();
        let next_at = text.len() - next.len();
        if next.get(..9).is_some_and(|word| word.eq_ignore_ascii_case("indicator")) {
            at = next_at + 9;
            continue;
        }
        if next.starts_with(',') {
            at = next_at + 1;
        } else if !next.starts_with(':') {
            return at;
        }
    }
}

/// How long the host variable is that begins a text: `:a`, `:a.b`, `:a->b`, `:a[i]`.
fn host_length(rest: &str) -> usize {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = |from: usize| rest[from..].len() - rest[from..].trim_start_matches(is_word).len();
    let mut at = 1 + word(1);
    loop {
        let tail = &rest[at..];
        let step = if let Some(inner) = tail.strip_prefix("->") {
            2 + inner.len() - inner.trim_start_matches(is_word).len()
        } else if tail.starts_with('.') && tail[1..].starts_with(is_word) {
            1 + word(at + 1)
        } else if tail.starts_with('[') {
            tail.find(']').map_or(0, |end| end + 1)
        } else {
            0
        };
        if step == 0 {
            return at;
        }
        at += step;
    }
}

/// `:a:ind, :b INDICATOR :ind2, :c`
fn targets(text: &str) -> Vec<Target> {
    let mut all: Vec<Target> = Vec::new();
    for one in text.split(',') {
        let mut hosts = Vec::new();
        let mut rest = one;
        while let Some(at) = rest.find(':') {
            let length = host_length(&rest[at..]);
            hosts.push(rest[at + 1..at + length].to_string());
            rest = &rest[at + length..];
        }
        let mut hosts = hosts.into_iter();
        if let Some(expression) = hosts.next() {
            all.push(Target { expression, indicator: hosts.next() });
        }
    }
    all
}

/// A text of SQL from there on; its host variables become marks of the same length.
fn sql(text: &str, from: usize, start: usize) -> Sql {
    let lead = text[from..].len() - text[from..].trim_start().len();
    let from = from + lead;
    let text = text[from..].trim_end();
    let mut result = Sql { text: String::with_capacity(text.len()), start: start + from, marks: BTreeMap::new() };
    let mut at = 0;
    let mut was_host = false;
    while at < text.len() {
        let rest = &text[at..];
        let is_host = rest.starts_with(':') && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if is_host && !text[..at].ends_with(':') {
            let length = host_length(rest);
            if was_host {
                // An indicator says whether the value before is NULL; it is no value itself.
                result.text.push_str(&" ".repeat(length));
            } else {
                let expression = &rest[1..length];
                let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
                let mark: String = expression.chars().map(plain).collect();
                result.text.push(':');
                result.text.push_str(&mark);
                result.marks.insert(mark, expression.to_string());
            }
            at += length;
            was_host = !was_host;
            continue;
        }
        let is_word = rest.get(..9).is_some_and(|word| word.eq_ignore_ascii_case("indicator"));
        if was_host && is_word {
            result.text.push_str(&" ".repeat(9));
            at += 9;
            continue;
        }
        let width = skipped_in_sql(rest).unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
        was_host &= rest.starts_with(char::is_whitespace);
        result.text.push_str(&rest[..width]);
        at += width;
    }
    result
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

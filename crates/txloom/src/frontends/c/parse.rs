//! What an embedded statement does: its words, its host variables, where its values go.

use std::collections::BTreeMap;

use super::embedded::{Action, Kind, Source, Sql, Target, skipped_in_sql};

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

/// What the statement between these places does; a declared cursor and `WHENEVER` are remembered.
pub(super) fn kind_of(
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
    let sql = sql(&String::from_utf8_lossy(&without), 0, start);
    Kind::Into(Sql { gap: Some((*at, end)), ..sql }, targets)
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
        return Source::Constant(Sql { text, start: start + at + 1, marks: BTreeMap::new(), gap: None });
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
    let mut result =
        Sql { text: String::with_capacity(text.len()), start: start + from, marks: BTreeMap::new(), gap: None };
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

//! A statement as a template: its text with slots for literals and parameters, found in one pass over its bytes.
//!
//! ```text
//!   UPDATE items SET stock = 5 WHERE id IN (1, 2, 3)   /* web */
//!   UPDATE items SET stock = ∎ WHERE id IN (∎…)
//! ```
//!
//! Two statements have the same template if their tokens are the same but for literals: white space, comments and the
//! case of words do not count. **Every** literal is a slot, also in LIMIT and in the columns of a SELECT: one that never
//! changes becomes a constant again when all occurrences are known. Exceptions, which belong to the text: the NULL, TRUE
//! or FALSE behind IS, what follows INTERVAL, and the strings of `SET`.
//!
//! A list behind IN that holds nothing but literals is *one* slot, however long it is. An INSERT of several rows is
//! several statements of one row: the loop that it stands for.

use std::ops::Range;

pub(super) use super::token::Quoting;
use super::token::{Kind, Token, Tokens, is_word};
use super::value::{hash_of, mix};

/// Where a value stands in a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its bytes; for a list, what is between the parentheses.
    pub(super) range: Range<usize>,
    /// The bound parameter, from 1; 0 for a literal.
    pub(super) parameter: u16,
    /// Whether it is a list of values.
    pub(super) is_list: bool,
}

/// A statement of one row.
#[derive(Debug, Clone, Default)]
pub(super) struct Scanned {
    /// The same for all statements of the same template.
    pub(super) hash: u64,
    /// The values, in order.
    pub(super) slots: Vec<Slot>,
    /// The bytes of the statement, without a semicolon.
    pub(super) range: Range<usize>,
    /// The bytes of other rows, which do not belong to it.
    pub(super) others: Vec<Range<usize>>,
}

/// Scans statements; keeps its memory.
pub(super) struct Scanner {
    tokens: Tokens,
    found: Vec<Scanned>,
}

impl Scanner {
    pub(super) fn new(quoting: Quoting) -> Scanner {
        Scanner { tokens: Tokens::new(quoting), found: Vec::new() }
    }

    /// The statements of a message, in order. Several that were sent together are told apart; empty ones are none.
    pub(super) fn scan(&mut self, text: &[u8]) -> &[Scanned] {
        self.tokens.read(text);
        self.found.clear();
        for statement in self.tokens.tokens.split(|token| token.kind == Kind::Symbol(b';')) {
            scan(text, statement, &mut self.found);
        }
        &self.found
    }
}

/// The statement of some tokens; one for each row of an INSERT.
fn scan(text: &[u8], tokens: &[Token], found: &mut Vec<Scanned>) {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
    let range = first.start as usize..last.end as usize;
    let rows = rows(text, tokens);
    let (head, tail) = match (rows.first(), rows.last()) {
        (Some(first), Some(last)) => (..first.start, last.end..),
        _ => (..tokens.len(), tokens.len()..),
    };
    let keeps = is_word(text, tokens.first(), b"SET");
    let mut before = Emitted { text, keeps, hash: 0x7478_6c6f, slots: Vec::new() };
    before.emit(tokens, 0..head.end);
    if rows.is_empty() {
        found.push(Scanned { hash: before.hash, slots: before.slots, range, others: Vec::new() });
        return;
    }
    for (at, row) in rows.iter().enumerate() {
        let mut one = before.clone();
        one.emit(tokens, row.clone());
        one.emit(tokens, tail.start..tokens.len());
        let bytes = |row: &Range<usize>| tokens[row.start].start as usize..tokens[row.end - 1].end as usize;
        let others = rows.iter().enumerate().filter(|(other, _)| *other != at);
        // A comma goes with the row behind it, or with the first.
        let gap = |(other, row): (usize, &Range<usize>)| match other {
            0 => bytes(row).start..tokens[rows[1].start].start as usize,
            _ if at == 0 || other > at => tokens[rows[other - 1].end - 1].end as usize..bytes(row).end,
            _ => bytes(row).start..tokens[rows[other + 1].start].start as usize,
        };
        let others = others.map(gap).collect();
        found.push(Scanned { hash: one.hash, slots: one.slots, range: range.clone(), others });
    }
}

/// The tokens of a template, as a hash and slots.
#[derive(Clone)]
struct Emitted<'a> {
    text: &'a [u8],
    /// Whether literals belong to the text.
    keeps: bool,
    hash: u64,
    slots: Vec<Slot>,
}

const SLOT: u64 = 0x5107;
const LIST: u64 = 0x1157;

impl Emitted<'_> {
    fn emit(&mut self, tokens: &[Token], range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let token = tokens[at];
            let bytes = &self.text[token.start as usize..token.end as usize];
            match token.kind {
                Kind::Parameter(number) => self.slot(token, number),
                Kind::Literal | Kind::Number if self.is_value(tokens, at) => self.slot(token, 0),
                Kind::Word if is_constant(bytes) && self.is_value(tokens, at) => self.slot(token, 0),
                Kind::Word => {
                    self.hash = mix(self.hash, word_hash(bytes));
                    if let Some(list) = self.list(tokens, at, range.end) {
                        self.hash = mix(self.hash, LIST);
                        let inside = tokens[at + 1].end as usize..tokens[list].start as usize;
                        self.slots.push(Slot { range: inside, parameter: 0, is_list: true });
                        at = list;
                    }
                }
                Kind::Symbol(byte) => self.hash = mix(self.hash, u64::from(byte)),
                Kind::Name | Kind::Literal | Kind::Number => self.hash = mix(self.hash, hash_of(bytes)),
            }
            at += 1;
        }
    }

    fn slot(&mut self, token: Token, parameter: u16) {
        self.hash = mix(self.hash, SLOT);
        self.slots.push(Slot { range: token.start as usize..token.end as usize, parameter, is_list: false });
    }

    /// Whether a literal is a value that may differ from one statement to the next.
    fn is_value(&self, tokens: &[Token], at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let is = |word: &[u8]| is_word(self.text, before, word);
        let is_test = is(b"IS") || (is(b"NOT") && at > 1 && is_word(self.text, tokens.get(at - 2), b"IS"));
        let is_word = tokens[at].kind == Kind::Word;
        !(self.keeps || is(b"INTERVAL") || (is_word && is_test))
    }

    /// The closing parenthesis of a list of literals behind IN that has no parameters in it.
    fn list(&self, tokens: &[Token], at: usize, end: usize) -> Option<usize> {
        let is_open = tokens.get(at + 1).is_some_and(|token| token.kind == Kind::Symbol(b'('));
        if !is_word(self.text, tokens.get(at), b"IN") || !is_open {
            return None;
        }
        let mut expects_value = true;
        for (position, token) in tokens.iter().enumerate().take(end).skip(at + 2) {
            let bytes = &self.text[token.start as usize..token.end as usize];
            match token.kind {
                Kind::Literal | Kind::Number if expects_value => {}
                Kind::Parameter(_) if expects_value => {}
                Kind::Word if expects_value && is_constant(bytes) => {}
                Kind::Symbol(b',') if !expects_value => {}
                Kind::Symbol(b')') if !expects_value => return Some(position),
                _ => return None,
            }
            expects_value = !expects_value;
        }
        None
    }
}

/// The rows of `INSERT … VALUES (…), (…)`, as ranges of tokens; none if there is only one.
fn rows(text: &[u8], tokens: &[Token]) -> Vec<Range<usize>> {
    let inserts = is_word(text, tokens.first(), b"INSERT") || is_word(text, tokens.first(), b"REPLACE");
    if !inserts {
        return Vec::new();
    }
    let is_values = |token: &Token| is_word(text, Some(token), b"VALUES") || is_word(text, Some(token), b"VALUE");
    let Some(values) = tokens.iter().position(is_values) else { return Vec::new() };
    let mut rows = Vec::new();
    let mut at = values + 1;
    while tokens.get(at).is_some_and(|token| token.kind == Kind::Symbol(b'(')) {
        let mut depth = 0_usize;
        let close = tokens[at..].iter().position(|token| {
            depth += usize::from(token.kind == Kind::Symbol(b'('));
            depth -= usize::from(token.kind == Kind::Symbol(b')'));
            depth == 0
        });
        let Some(close) = close else { return Vec::new() };
        rows.push(at..at + close + 1);
        at += close + 1;
        match tokens.get(at).map(|token| token.kind) {
            Some(Kind::Symbol(b',')) => at += 1,
            _ => break,
        }
    }
    if rows.len() > 1 { rows } else { Vec::new() }
}

fn is_constant(word: &[u8]) -> bool {
    [&b"NULL"[..], b"TRUE", b"FALSE"].iter().any(|constant| word.eq_ignore_ascii_case(constant))
}

/// The hash of a word, in any case.
fn word_hash(word: &[u8]) -> u64 {
    let mut hash = word.len() as u64;
    for chunk in word.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        bytes.make_ascii_lowercase();
        hash = mix(hash, u64::from_le_bytes(bytes));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each statement with its slots in brackets, other rows left out.
    fn show(text: &str, quoting: Quoting) -> Vec<String> {
        let mut scanner = Scanner::new(quoting);
        let shown = scanner.scan(text.as_bytes()).iter().map(|one| {
            let mut shown = String::new();
            for (at, c) in text.char_indices().filter(|(at, _)| one.range.contains(at)) {
                let hidden = one.others.iter().any(|other| other.contains(&at));
                if hidden {
                    continue;
                }
                if one.slots.iter().any(|slot| slot.range.start == at) {
                    shown.push('[');
                }
                shown.push(c);
                if one.slots.iter().any(|slot| slot.range.end == at + c.len_utf8()) {
                    shown.push(']');
                }
            }
            shown
        });
        shown.collect()
    }

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(show(text, Quoting::Postgres), expect);
    }

    #[test]
    fn literals_are_slots() {
        check("SELECT a FROM t WHERE b = 'x''y' AND c=-1.5", &["SELECT a FROM t WHERE b = ['x''y'] AND c=[-1.5]"]);
        check("SELECT a-1 FROM t1 LIMIT 10", &["SELECT a-[1] FROM t1 LIMIT [10]"]);
        check("UPDATE t SET a = NULL WHERE b IS NOT NULL", &["UPDATE t SET a = [NULL] WHERE b IS NOT NULL"]);
        check("SELECT DATE '2020-01-01', E'it\\'s', $1::int", &["SELECT [DATE '2020-01-01'], [E'it\\'s'], [$1]::int"]);
        check("SELECT now() - INTERVAL '1 day', $$a;b$$", &["SELECT now() - INTERVAL '1 day', [$$a;b$$]"]);
        check("SET a = '1'", &["SET a = '1'"]);
    }

    #[test]
    fn lists_are_one_slot() {
        check(
            "SELECT 1 FROM t WHERE a IN (1, 2,3) AND b IN (c)",
            &["SELECT [1] FROM t WHERE a IN ([1, 2,3]) AND b IN (c)"],
        );
        check("SELECT 1 FROM t WHERE a IN ($1, $2)", &["SELECT [1] FROM t WHERE a IN ([$1, $2])"]);
    }

    #[test]
    fn rows_are_statements() {
        check(
            "INSERT INTO t (a) VALUES (1), (f(2)) ,(3) RETURNING a",
            &[
                "INSERT INTO t (a) VALUES ([1]) RETURNING a",
                "INSERT INTO t (a) VALUES (f([2])) RETURNING a",
                "INSERT INTO t (a) VALUES ([3]) RETURNING a",
            ],
        );
    }

    #[test]
    fn statements_are_told_apart() {
        check("BEGIN; -- x;\nSELECT ';' /* ; */;;", &["BEGIN", "SELECT [';']"]);
        let mysql = "SELECT 'it\\'s; ', \"a;\" # x;\n; SELECT `a;`";
        assert_eq!(show(mysql, Quoting::MySql), ["SELECT ['it\\'s; '], [\"a;\"]", "SELECT `a;`"]);
    }

    #[test]
    fn templates_are_the_same_but_for_literals() {
        let hash = |text: &str| Scanner::new(Quoting::Postgres).scan(text.as_bytes())[0].hash;
        let same = [
            ("select a from t where b=1", "SELECT  a\n\tFROM t WHERE b = 'x' -- why"),
            ("SELECT 1 FROM t WHERE a IN (1)", "SELECT 1 FROM t WHERE a IN (2, 3)"),
            ("DELETE FROM t WHERE a = $1", "DELETE FROM t WHERE a = -7"),
            ("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2), (3)"),
        ];
        for (a, b) in same {
            assert_eq!(hash(a), hash(b), "{a} / {b}");
        }
        let different =
            [("SELECT a FROM t", "SELECT b FROM t"), ("a IS NULL", "a IS TRUE"), ("a b", "ab"), ("\"A\"", "\"a\"")];
        for (a, b) in different {
            assert_ne!(hash(a), hash(b), "{a} / {b}");
        }
    }

    #[test]
    fn nothing_breaks_it() {
        for text in [
            "'",
            "E'\\",
            "$",
            "$$",
            "$a$ x",
            "/*",
            "/",
            "\"",
            "-",
            "IN (",
            "INSERT INTO t VALUES (1), (",
            "\u{e9}",
            "VALUES",
        ] {
            for quoting in [Quoting::Postgres, Quoting::MySql] {
                Scanner::new(quoting).scan(text.as_bytes());
            }
        }
    }
}

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

use super::value::{hash_of, mix};

/// Which strings and comments there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// `"a"` is a name, `'\'` a string, `$$ … $$` another.
    Postgres,
    /// `"a"` is a string, `'\''` too; `#` begins a comment.
    MySql,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Name,
    Literal,
    Number,
    Parameter(u16),
    Symbol(u8),
}

#[derive(Debug, Clone, Copy)]
struct Token {
    kind: Kind,
    start: u32,
    end: u32,
}

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
    quoting: Quoting,
    tokens: Vec<Token>,
    found: Vec<Scanned>,
}

impl Scanner {
    pub(super) fn new(quoting: Quoting) -> Scanner {
        Scanner { quoting, tokens: Vec::new(), found: Vec::new() }
    }

    /// The statements of a message, in order. Several that were sent together are told apart; empty ones are none.
    pub(super) fn scan(&mut self, text: &[u8]) -> &[Scanned] {
        self.tokens.clear();
        self.tokenize(text);
        self.found.clear();
        let tokens = std::mem::take(&mut self.tokens);
        for statement in tokens.split(|token| token.kind == Kind::Symbol(b';')) {
            self.statement(text, statement);
        }
        self.tokens = tokens;
        &self.found
    }

    fn statement(&mut self, text: &[u8], tokens: &[Token]) {
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
            self.found.push(Scanned { hash: before.hash, slots: before.slots, range, others: Vec::new() });
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
            self.found.push(Scanned { hash: one.hash, slots: one.slots, range: range.clone(), others });
        }
    }

    fn tokenize(&mut self, text: &[u8]) {
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            let (kind, end) = match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => (None, at + 1),
                b'-' if text.get(at + 1) == Some(&b'-') => (None, line_end(text, at)),
                b'#' if self.quoting == Quoting::MySql => (None, line_end(text, at)),
                b'/' if text.get(at + 1) == Some(&b'*') => (None, comment_end(text, at)),
                b'\'' => (Some(Kind::Literal), self.quoted_end(text, at)),
                b'"' if self.quoting == Quoting::MySql => (Some(Kind::Literal), self.quoted_end(text, at)),
                b'"' | b'`' => (Some(Kind::Name), self.quoted_end(text, at)),
                b'$' => dollar(text, at),
                b'0'..=b'9' => (Some(Kind::Number), number_end(text, at)),
                b'.' if text.get(at + 1).is_some_and(u8::is_ascii_digit) && !self.follows_name(at) => {
                    (Some(Kind::Number), number_end(text, at))
                }
                byte if is_word_byte(*byte) => (Some(Kind::Word), word_end(text, at)),
                byte => (Some(Kind::Symbol(*byte)), at + 1),
            };
            if let Some(kind) = kind {
                self.push(text, kind, at, end);
            }
            at = end;
        }
    }

    /// A string grows together with the prefix or type name before it, and a number with its sign.
    fn push(&mut self, text: &[u8], kind: Kind, start: usize, end: usize) {
        let mut token = Token { kind, start: start as u32, end: end as u32 };
        let before = self.tokens.last().copied();
        let joins = match (kind, before.map(|before| before.kind)) {
            (Kind::Literal, Some(Kind::Word)) => before.is_some_and(|word| introduces(text, word, start)),
            (Kind::Number, Some(Kind::Symbol(b'-'))) => {
                is_sign(text, self.tokens.len().checked_sub(2).map(|at| self.tokens[at]))
            }
            _ => false,
        };
        if let Some(before) = before.filter(|_| joins) {
            token.start = before.start;
            self.tokens.pop();
        }
        self.tokens.push(token);
    }

    fn follows_name(&self, at: usize) -> bool {
        self.tokens.last().is_some_and(|token| token.end as usize == at)
    }

    /// The end of a string or quoted name; without an end, that of the text.
    fn quoted_end(&self, text: &[u8], start: usize) -> usize {
        let quote = text[start];
        let is_escaping = || match self.quoting {
            Quoting::MySql => quote != b'`',
            Quoting::Postgres => {
                quote == b'\''
                    && start > 0
                    && matches!(text[start - 1], b'E' | b'e')
                    && !(start > 1 && is_word_byte(text[start - 2]))
            }
        };
        let escapes = is_escaping();
        let mut at = start + 1;
        while let Some(byte) = text.get(at) {
            match *byte {
                b'\\' if escapes => at += 2,
                byte if byte == quote && text.get(at + 1) == Some(&quote) => at += 2,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        text.len()
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

fn is_word(text: &[u8], token: Option<&Token>, word: &[u8]) -> bool {
    token.is_some_and(|token| {
        token.kind == Kind::Word && text[token.start as usize..token.end as usize].eq_ignore_ascii_case(word)
    })
}

fn is_constant(word: &[u8]) -> bool {
    [&b"NULL"[..], b"TRUE", b"FALSE"].iter().any(|constant| word.eq_ignore_ascii_case(constant))
}

/// Whether a word before a string belongs to it: `E'…'`, `_utf8'…'`, `DATE '…'`.
fn introduces(text: &[u8], word: Token, start: usize) -> bool {
    let bytes = &text[word.start as usize..word.end as usize];
    let is_near = word.end as usize == start;
    let is_prefix = bytes.len() == 1 && b"eEnNxXbB".contains(&bytes[0]) || bytes.first() == Some(&b'_');
    let types = [&b"DATE"[..], b"TIME", b"TIMESTAMP", b"TIMESTAMPTZ"];
    (is_near && is_prefix) || types.iter().any(|name| bytes.eq_ignore_ascii_case(name))
}

/// Whether a minus behind this token is a sign: it follows an operator, a comma, or a word of the language.
fn is_sign(text: &[u8], before: Option<Token>) -> bool {
    let Some(before) = before else { return true };
    let words = [
        &b"SELECT"[..],
        b"AND",
        b"OR",
        b"NOT",
        b"THEN",
        b"ELSE",
        b"WHEN",
        b"BETWEEN",
        b"WHERE",
        b"LIMIT",
        b"BY",
        b"SET",
    ];
    match before.kind {
        Kind::Symbol(byte) => byte != b')' && byte != b']',
        Kind::Word => words.iter().any(|word| is_word(text, Some(&before), word)),
        _ => false,
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'@' || byte >= 0x80
}

fn word_end(text: &[u8], start: usize) -> usize {
    let rest = text[start..].iter().position(|byte| !is_word_byte(*byte) && *byte != b'$');
    rest.map_or(text.len(), |length| start + length)
}

fn number_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = text.get(at) {
        let is_exponent_sign = (*byte == b'-' || *byte == b'+')
            && at > start
            && matches!(text[at - 1], b'e' | b'E')
            && !text[start..].starts_with(b"0x");
        if !byte.is_ascii_alphanumeric() && *byte != b'.' && !is_exponent_sign {
            break;
        }
        at += 1;
    }
    at
}

fn line_end(text: &[u8], start: usize) -> usize {
    text[start..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |length| start + length)
}

fn comment_end(text: &[u8], start: usize) -> usize {
    let inside = &text[start + 2..];
    inside.windows(2).position(|pair| pair == b"*/").map_or(text.len(), |length| start + length + 4)
}

/// `$1`, `$tag$ … $tag$`, or a dollar.
fn dollar(text: &[u8], start: usize) -> (Option<Kind>, usize) {
    let digits = text[start + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 {
        let number = std::str::from_utf8(&text[start + 1..start + 1 + digits]).ok().and_then(|text| text.parse().ok());
        return (Some(number.map_or(Kind::Symbol(b'$'), Kind::Parameter)), start + 1 + digits);
    }
    let tag = text[start + 1..].iter().take_while(|byte| is_word_byte(**byte)).count();
    if text.get(start + 1 + tag) != Some(&b'$') {
        return (Some(Kind::Symbol(b'$')), start + 1);
    }
    let tag = &text[start..start + tag + 2];
    let inside = &text[start + tag.len()..];
    let end = inside.windows(tag.len()).position(|window| window == tag);
    (Some(Kind::Literal), end.map_or(text.len(), |end| start + end + 2 * tag.len()))
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

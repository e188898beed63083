//! A file of SQL as statements, whatever tool wrote it.
//!
//! Before anything is parsed, what only clients understand is replaced by blanks, byte by byte, so that every place in
//! the text stays where it is:
//!
//! ```text
//!   DELIMITER //                    ⎵⎵⎵⎵⎵⎵⎵⎵⎵⎵⎵⎵         the client's own commands; psql's \connect as well
//!   END //                          END ;⎵               a delimiter becomes a semicolon that surely ends a statement
//!   /*!50003 CREATE PROCEDURE … */  ⎵⎵⎵⎵⎵⎵⎵⎵⎵CREATE …    MySQL's comments that are none
//!   # why                           ⎵⎵⎵⎵⎵                (MySQL)
//!   'it\'s'                         'it''s'              (MySQL)
//!   COPY t FROM stdin; … \.         COPY t FROM stdin;   data
//! ```
//!
//! Then the tokens are cut at semicolons. Those inside the body of a routine do not count: a body that is a string is
//! one token anyway; otherwise its BEGIN and CASE are counted against its ENDs. A body whose END is missing ends where
//! the next routine begins, so that one mistake costs one routine.

use std::ops::Range;
use std::rc::Rc;

use crate::program::ir::Span;
use crate::program::located::Language;
use crate::sql::{self, Token};

/// A file, cleaned of what only clients understand.
pub(crate) struct Source {
    text: String,
    /// Where a client's own delimiter stood: the end of a statement, whatever it looks like.
    ends: Vec<usize>,
    /// Where semicolons end nothing, because another delimiter is in force.
    quiet: Vec<Range<usize>>,
    /// The first byte of each line.
    lines: Rc<[usize]>,
    /// The language, if it shows.
    pub(crate) language: Language,
}

/// A statement of a file.
#[derive(Debug, Clone)]
pub(crate) struct Unit<'a> {
    /// Its text, cleaned.
    pub(crate) text: &'a str,
    /// Where it stands.
    pub(crate) span: Span,
    /// Its tokens; their spans are places in the file.
    pub(crate) tokens: Vec<Token<'a>>,
}

impl Unit<'_> {
    fn word(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_word(word))
    }

    /// Whether it creates a procedure or function (or a trigger or event, which have bodies, too).
    pub(crate) fn is_routine(&self) -> bool {
        begins_routine(&self.tokens)
    }

    pub(crate) fn is_create_table(&self) -> bool {
        self.word(0, "CREATE") && (1..4).any(|at| self.word(at, "TABLE"))
    }

    /// A range of the file, which lies inside.
    pub(crate) fn span_of(&self, range: &Range<usize>) -> Span {
        let before = &self.text[..range.start.saturating_sub(self.span.start).min(self.text.len())];
        Span { start: range.start, end: range.end, line: self.span.line + before.matches('\n').count() }
    }
}

impl Source {
    pub(crate) fn new(text: &str) -> Source {
        let language = language(text);
        let mut cleaner = Cleaner { text, output: text.as_bytes().to_vec(), at: 0, language, ..Cleaner::default() };
        cleaner.run();
        let quiet = cleaner.quiet_ranges();
        let text = String::from_utf8(cleaner.output).unwrap_or_else(|_| text.to_string());
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Source { text, ends: cleaner.ends, quiet, lines, language }
    }

    /// The cleaned text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The first byte of each line.
    pub(crate) fn line_starts(&self) -> Rc<[usize]> {
        self.lines.clone()
    }

    /// A range of the file.
    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        Span { start, end, line: self.lines.partition_point(|line| *line <= start) }
    }

    /// The statements.
    pub(crate) fn units(&self) -> Vec<Unit<'_>> {
        let tokens = sql::tokens(&self.text);
        let mut units = Vec::new();
        let mut start = 0;
        let mut depth = Depth::default();
        for at in 0..tokens.len() {
            let token = &tokens[at];
            let is_hard = token.is_symbol(";") && self.ends.binary_search(&token.span.start).is_ok();
            let is_quiet = self.is_quiet(token.span.start);
            let restarts = at > start && !is_quiet && begins_routine(&tokens[at..]) && self.begins_line(token);
            if restarts {
                self.push(&mut units, &tokens[start..at]);
                (start, depth) = (at, Depth::default());
            }
            if begins_routine(&tokens[start..]) {
                depth.count(&tokens, at);
            }
            if is_hard || (token.is_symbol(";") && !is_quiet && depth.open == 0) {
                self.push(&mut units, &tokens[start..at]);
                (start, depth) = (at + 1, Depth::default());
            }
        }
        self.push(&mut units, &tokens[start..]);
        units
    }

    /// True where semicolons end nothing; the ranges are in the order of the file.
    fn is_quiet(&self, at: usize) -> bool {
        let behind = self.quiet.partition_point(|range| range.start <= at);
        self.quiet[..behind].last().is_some_and(|range| range.contains(&at))
    }

    fn begins_line(&self, token: &Token<'_>) -> bool {
        self.lines.binary_search(&token.span.start).is_ok()
    }

    fn push<'a>(&'a self, units: &mut Vec<Unit<'a>>, tokens: &[Token<'a>]) {
        // A client's delimiter after a semicolon leaves a statement of semicolons.
        let trimmed = tokens.iter().rposition(|token| !token.is_symbol(";")).map_or(&[][..], |last| &tokens[..=last]);
        let (Some(first), Some(last)) = (trimmed.first(), trimmed.last()) else { return };
        let span = self.span(first.span.start, last.span.end);
        units.push(Unit { text: &self.text[span.start..span.end], span, tokens: trimmed.to_vec() });
    }
}

/// How deep inside the blocks of a routine.
#[derive(Default)]
struct Depth {
    open: usize,
}

impl Depth {
    fn count(&mut self, tokens: &[Token<'_>], at: usize) {
        let is = |at: Option<usize>, words: &[&str]| {
            at.and_then(|at| tokens.get(at)).is_some_and(|token| words.iter().any(|word| token.is_word(word)))
        };
        let before = at.checked_sub(1);
        let begins = is(Some(at), &["BEGIN"]) && !is(Some(at + 1), &["WORK"]);
        if begins || (is(Some(at), &["CASE"]) && !is(before, &["END"])) {
            self.open += 1;
        }
        if is(Some(at), &["END"]) && !is(Some(at + 1), &["IF", "WHILE", "LOOP", "REPEAT", "FOR"]) {
            self.open = self.open.saturating_sub(1);
        }
    }
}

/// `CREATE [OR REPLACE] [DEFINER = …] PROCEDURE` and the like.
fn begins_routine(tokens: &[Token<'_>]) -> bool {
    const HEAD_MAX: usize = 14;
    if !tokens.first().is_some_and(|token| token.is_word("CREATE")) {
        return false;
    }
    for token in &tokens[1..tokens.len().min(HEAD_MAX)] {
        if ["PROCEDURE", "FUNCTION", "TRIGGER", "EVENT"].iter().any(|word| token.is_word(word)) {
            return true;
        }
        if token.is_symbol("(") || token.is_symbol(";") || token.is_word("TABLE") || token.is_word("VIEW") {
            return false;
        }
    }
    false
}

/// What the text gives away about its language; the first sign that is there decides.
fn language(text: &str) -> Language {
    let lower = text.to_lowercase();
    let signs: &[(Language, &[&str])] = &[
        (Language::Postgres, &["plpgsql", "pg_catalog", "pg_dump"]),
        (Language::MySql, &["delimiter ", "engine=", "engine =", "auto_increment", "`", "mysqldump", "handler for"]),
        (Language::Sqlite, &["autoincrement", "pragma ", "sqlite_sequence"]),
        (Language::Postgres, &["$$", "bigserial", " serial", "::", "character varying", "returning "]),
    ];
    let sign = signs.iter().find(|(_, words)| words.iter().any(|word| lower.contains(word)));
    sign.map_or(Language::Any, |(language, _)| *language)
}

/// Replaces what only clients understand, in place.
#[derive(Default)]
struct Cleaner<'a> {
    text: &'a str,
    output: Vec<u8>,
    at: usize,
    language: Language,
    /// The delimiter in force, if it is no semicolon, and since where.
    delimiter: Option<(String, usize)>,
    ends: Vec<usize>,
    quiet: Vec<Range<usize>>,
    /// Inside MySQL's comment that is none.
    versioned: bool,
}

impl Cleaner<'_> {
    fn run(&mut self) {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let at_line = self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n';
            if let Some(length) = at_line.then(|| self.command(rest)).flatten().filter(|length| *length > 0) {
                self.at += length;
                continue;
            }
            let length = match rest.as_bytes()[0] {
                _ if self.delimits(rest) => self.delimiter.as_ref().map_or(1, |(delimiter, _)| delimiter.len()),
                b'\'' | b'"' | b'`' => self.quoted(rest),
                b'$' => dollar_length(rest),
                b'-' if rest.starts_with("--") => line_length(rest),
                b'#' if self.language == Language::MySql => {
                    self.blank(0..line_length(rest));
                    line_length(rest)
                }
                b'/' if rest.starts_with("/*!") => self.versioned(rest),
                b'/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
                b'*' if self.versioned && rest.starts_with("*/") => {
                    self.versioned = false;
                    self.blank(0..2);
                    2
                }
                _ => rest.chars().next().map_or(1, char::len_utf8),
            };
            self.at += length;
        }
    }

    /// Replaces bytes, counted from here, by blanks; line breaks stay.
    fn blank(&mut self, range: Range<usize>) {
        for byte in &mut self.output[self.at + range.start..self.at + range.end] {
            *byte = if *byte == b'\n' { b'\n' } else { b' ' };
        }
    }

    /// A line for the client: DELIMITER, and psql's commands; what follows `COPY … FROM stdin` is data. Gives how much
    /// that is.
    fn command(&mut self, rest: &str) -> Option<usize> {
        let line = &rest[..line_length(rest)];
        let word = line.split_whitespace().next().unwrap_or("");
        if word.eq_ignore_ascii_case("DELIMITER") {
            self.set_delimiter(line.trim()[word.len()..].trim());
            self.blank(0..line.len());
        } else if line.starts_with('\\') {
            self.blank(0..line.len());
        } else if word.eq_ignore_ascii_case("COPY") && line.to_lowercase().contains("from stdin") {
            let end = rest[line.len()..].find("\n\\.").map_or(rest.len(), |end| line.len() + end + 3);
            self.blank(line.len()..end);
            return Some(end);
        } else {
            return None;
        }
        Some(line.len())
    }

    fn set_delimiter(&mut self, delimiter: &str) {
        if let Some((_, since)) = self.delimiter.take() {
            self.quiet.push(since..self.at);
        }
        if delimiter != ";" && !delimiter.is_empty() {
            self.delimiter = Some((delimiter.to_string(), self.at));
        }
    }

    fn quiet_ranges(&mut self) -> Vec<Range<usize>> {
        self.set_delimiter(";");
        std::mem::take(&mut self.quiet)
    }

    /// Replaces the client's delimiter by a semicolon.
    fn delimits(&mut self, rest: &str) -> bool {
        let Some((delimiter, _)) = &self.delimiter else { return false };
        if !rest.starts_with(delimiter.as_str()) {
            return false;
        }
        self.blank(0..delimiter.len());
        self.output[self.at] = b';';
        self.ends.push(self.at);
        true
    }

    /// The length of a string or quoted name. MySQL's `\'` becomes `''`, which is as long.
    fn quoted(&mut self, rest: &str) -> usize {
        let bytes = rest.as_bytes();
        let quote = bytes[0];
        let mut at = 1;
        while at < bytes.len() {
            if bytes[at] == b'\\' && self.language == Language::MySql && quote != b'`' {
                if bytes.get(at + 1) == Some(&quote) {
                    self.output[self.at + at] = quote;
                }
                at += 2;
            } else if bytes[at] == quote && bytes.get(at + 1) == Some(&quote) {
                at += 2;
            } else if bytes[at] == quote {
                return at + 1;
            } else {
                at += 1;
            }
        }
        bytes.len()
    }

    /// `/*!50003`: what follows is meant.
    fn versioned(&mut self, rest: &str) -> usize {
        let digits = rest[3..].bytes().take_while(u8::is_ascii_digit).count();
        self.versioned = true;
        self.blank(0..3 + digits);
        3 + digits
    }
}

/// Without its line break.
fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// A dollar-quoted string is passed over as a whole, whatever is in it.
fn dollar_length(rest: &str) -> usize {
    let is_tag = |c: char| c.is_alphanumeric() || c == '_';
    let tag_end = rest[1..].find(|c| !is_tag(c)).map_or(rest.len(), |end| end + 1);
    if !rest[tag_end..].starts_with('$') || rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return 1;
    }
    let tag = &rest[..=tag_end];
    rest[tag.len()..].find(tag).map_or(rest.len(), |end| end + 2 * tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let source = Source::new(text);
        assert_eq!(source.text().len(), text.len(), "every place stays where it is");
        let units: Vec<String> = source.units().iter().map(|unit| sql::one_line(unit.text)).collect();
        assert_eq!(units, expect, "{text}");
        for unit in source.units() {
            let lines = text[..unit.span.start].matches('\n').count() + 1;
            assert_eq!(unit.span.line, lines);
        }
    }

    #[test]
    fn statements_end_at_semicolons() {
        check("SELECT 1; ;SELECT ';' -- ;\n;", &["SELECT 1", "SELECT ';'"]);
        check(
            "CREATE TABLE t (a INT);\n\nINSERT INTO t VALUES (1)",
            &["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"],
        );
    }

    #[test]
    fn bodies_keep_their_semicolons() {
        let body = "CREATE PROCEDURE p() BEGIN IF a THEN BEGIN x; END; END IF; CASE a WHEN 1 THEN y; END CASE; \
                    SELECT CASE WHEN b THEN 1 END; END";
        check(&format!("{body}; SELECT 2;"), &[body, "SELECT 2"]);
        check(
            "CREATE FUNCTION f() AS $$ BEGIN x; END $$; SELECT 2",
            &["CREATE FUNCTION f() AS $$ BEGIN x; END $$", "SELECT 2"],
        );
    }

    #[test]
    fn a_missing_end_costs_one_routine() {
        check(
            "CREATE PROCEDURE p() BEGIN x;\nCREATE PROCEDURE q() BEGIN END;",
            &["CREATE PROCEDURE p() BEGIN x", "CREATE PROCEDURE q() BEGIN END"],
        );
    }

    #[test]
    fn what_clients_say_is_left_out() {
        check(
            "DELIMITER //\nCREATE PROCEDURE p() BEGIN x; END //\nDELIMITER ;\nSELECT 1;",
            &["CREATE PROCEDURE p() BEGIN x; END", "SELECT 1"],
        );
        check("delimiter $$\nSELECT 'it\\'s' # no\n$$\nSELECT 2$$", &["SELECT 'it''s'", "SELECT 2"]);
        check(
            "/*!50003 CREATE*/ /*!50020 DEFINER=`r`@`%`*/ /*!50003 PROCEDURE p() BEGIN END */;",
            &["CREATE DEFINER=`r`@`%` PROCEDURE p() BEGIN END"],
        );
        check("\\connect x\nCOPY t (a) FROM stdin;\n1;2\n\\.\n\nSELECT 1;", &["COPY t (a) FROM stdin", "SELECT 1"]);
    }

    #[test]
    fn nothing_breaks_it() {
        for text in
            ["'", "$$", "$a$ é", "/*!", "/*!1 é", "DELIMITER", "delimiter é\né\né", "COPY t FROM stdin;", "\\", "é"]
        {
            let source = Source::new(text);
            source.units();
        }
    }
}

//! Literals as a log writes them, and what they say: MySQL's `"it's"`, `'it\'s'` and PostgreSQL's `E'it\'s'` are one text.

use txloom_core::sql::{self, TokenKind};

use super::token::Quoting;

/// The text that a string says; `None` if the literal is no string, or has no end.
pub(super) fn text(raw: &str, quoting: Quoting) -> Option<String> {
    let plain = raw.strip_prefix(['E', 'e']).unwrap_or(raw);
    let escapes = quoting == Quoting::MySql || plain.len() < raw.len();
    let quote = plain.chars().next().filter(|c| *c == '\'' || (*c == '"' && quoting == Quoting::MySql))?;
    let mut chars = plain[1..].chars();
    let mut said = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' if escapes => said.push(escaped(chars.next()?)),
            c if c == quote && chars.as_str().is_empty() => return Some(said),
            c if c == quote => said.push(chars.next().filter(|next| *next == quote)?),
            c => said.push(c),
        }
    }
    None
}

/// What stands behind a backslash. (Of PostgreSQL's codes of several digits, the digits stay.)
fn escaped(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        c => c,
    }
}

/// The literal as every database reads it; `None` if there is no such way to write it.
pub(super) fn portable(raw: &str, quoting: Quoting) -> Option<String> {
    match text(raw, quoting) {
        Some(said) if said.contains(['\\', '\0']) => None,
        Some(said) => Some(format!("'{}'", said.replace('\'', "''"))),
        None => (sql::is_finished(raw) && !raw.contains('\\') && !has_variables(raw)).then(|| raw.to_string()),
    }
}

fn has_variables(text: &str) -> bool {
    sql::tokens(text).iter().any(|token| token.kind == TokenKind::Variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_say_the_same_in_every_quoting() {
        for (raw, quoting, expect) in [
            ("'it''s'", Quoting::Postgres, Some("it's")),
            ("E'it\\'s\\n'", Quoting::Postgres, Some("it's\n")),
            ("'C:\\x'", Quoting::Postgres, Some("C:\\x")),
            ("'it\\'s'", Quoting::MySql, Some("it's")),
            ("\"it's \"\"\"", Quoting::MySql, Some("it's \"")),
            ("'C:\\\\x'", Quoting::MySql, Some("C:\\x")),
            ("''", Quoting::MySql, Some("")),
            ("'a", Quoting::MySql, None),
            ("'a\\'", Quoting::MySql, None),
            ("'a'b'", Quoting::MySql, None),
            ("\"a\"", Quoting::Postgres, None),
            ("12", Quoting::Postgres, None),
            ("'", Quoting::Postgres, None),
        ] {
            assert_eq!(text(raw, quoting).as_deref(), expect, "{raw}");
        }
    }

    #[test]
    fn literals_are_written_so_that_all_understand_them() {
        for (raw, quoting, expect) in [
            ("'it\\'s'", Quoting::MySql, Some("'it''s'")),
            ("\"a\"", Quoting::MySql, Some("'a'")),
            ("'C:\\\\x'", Quoting::MySql, None),
            ("DATE '2026-01-01'", Quoting::Postgres, Some("DATE '2026-01-01'")),
            ("TIME '10:00:00'", Quoting::Postgres, Some("TIME '10:00:00'")),
            ("TRUE", Quoting::MySql, Some("TRUE")),
            ("'a", Quoting::Postgres, None),
        ] {
            assert_eq!(portable(raw, quoting).as_deref(), expect, "{raw}");
        }
    }
}

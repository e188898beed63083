//! PostgreSQL's `log_line_prefix`, found out from the lines themselves.
//!
//! The prefix is whatever somebody configured. Two things of it matter: where it ends (before `LOG:`, `ERROR:`, …) and
//! what tells sessions apart, the process (`%p`) or the session (`%c`). In the wild that looks like
//!
//! ```text
//!   2024-05-01 10:00:00.123 UTC [4242] LOG:                                 %m [%p]            the default
//!   2024-05-01 10:00:00 UTC [4242]: [3-1] user=u,db=d,app=a,client=h LOG:   %t [%p]: [%l-1] …  pgBadger's
//!   2024-05-01 10:00:00 UTC:10.0.0.1(5000):u@d:[4242]:LOG:                  RDS
//!   66321c3f.1092 2024-05-01 10:00:00 UTC LOG:                              %c %t
//!   pid=4242 LOG:   4242 1714557600.123 LOG:                                and so on
//! ```

use super::message::{Severity, find};

/// No prefix is longer.
const PREFIX_MAX: usize = 512;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// The first line of a message.
    Message(Severity),
    /// What a message says besides.
    Detail,
    /// The statement that led to a message.
    Statement,
    /// HINT, CONTEXT, QUERY, LOCATION.
    Aside,
}

/// A line that begins something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split<'a> {
    pub(super) prefix: &'a [u8],
    pub(super) label: Label,
    /// Where the text begins.
    pub(super) text: usize,
}

/// Cuts a line behind its label; `None` for a line without one.
pub(super) fn split(line: &[u8]) -> Option<Split<'_>> {
    let window = &line[..line.len().min(PREFIX_MAX)];
    let mut from = 0;
    while let Some(colon) = window[from..].iter().position(|byte| *byte == b':').map(|at| from + at) {
        let before = &window[..colon];
        let letters = before.iter().rev().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).count();
        let word = &before[colon - letters..];
        if let Some(label) = label(word).filter(|_| line.get(colon + 1) == Some(&b' ')) {
            let gap = if line.get(colon + 2) == Some(&b' ') { 2 } else { 1 };
            return Some(Split { prefix: &before[..colon - letters], label, text: colon + 1 + gap });
        }
        from = colon + 1;
    }
    None
}

fn label(word: &[u8]) -> Option<Label> {
    match word {
        b"DETAIL" => Some(Label::Detail),
        b"STATEMENT" => Some(Label::Statement),
        b"HINT" | b"CONTEXT" | b"QUERY" | b"LOCATION" => Some(Label::Aside),
        word => Severity::parse(word).map(Label::Message),
    }
}

/// How the prefix tells sessions apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `%c`: two hexadecimal numbers with a point between them.
    SessionId,
    /// `[%p]`: the first number that stands alone in brackets.
    Bracket,
    /// `pid=%p` and the like.
    Named,
    /// The first number that stands alone.
    Field,
}

impl Style {
    /// The best one comes first.
    const ALL: [Style; 4] = [Style::SessionId, Style::Bracket, Style::Named, Style::Field];

    /// The first style that tells the session of each of these prefixes.
    pub(super) fn detect<'a>(prefixes: impl Iterator<Item = &'a [u8]> + Clone) -> Option<Style> {
        Style::ALL.into_iter().find(|style| prefixes.clone().all(|prefix| style.session(prefix).is_some()))
    }

    /// What the prefix calls the session.
    pub(super) fn session(self, prefix: &[u8]) -> Option<&[u8]> {
        match self {
            Style::SessionId => {
                words(prefix, |byte| byte.is_ascii_hexdigit() || byte == b'.').find(|it| is_session_id(it))
            }
            Style::Bracket => {
                let inner = prefix.split(|byte| *byte == b'[').skip(1);
                inner.filter_map(|rest| Some(&rest[..find(rest, b"]")?])).find(|inner| is_number(inner))
            }
            Style::Named => [&b"pid="[..], b"pid:", b"PID=", b"process=", b"p="].iter().find_map(|name| {
                let rest = &prefix[find(prefix, name)? + name.len()..];
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                (digits > 0).then(|| &rest[..digits])
            }),
            Style::Field => {
                prefix.split(|byte| b" \t:,;|()[]".contains(byte)).find(|field| is_number(field) && field.len() > 2)
            }
        }
    }
}

fn words(text: &[u8], accept: fn(u8) -> bool) -> impl Iterator<Item = &[u8]> {
    text.split(move |byte| !accept(*byte))
}

/// `66321c3f.1092`: the time when it began, and its process.
fn is_session_id(word: &[u8]) -> bool {
    let mut parts = word.split(|byte| *byte == b'.');
    let (Some(time), Some(process), None) = (parts.next(), parts.next(), parts.next()) else { return false };
    time.len() == 8 && (1..=8).contains(&process.len())
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.len() <= 10 && text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_the_wild_tell_their_sessions() {
        for (line, style, session) in [
            ("2024-05-01 10:00:00.123 UTC [4242] LOG:  statement: x", Style::Bracket, "4242"),
            ("2024-05-01 10:00:00 UTC [4242]: [3-1] user=u,db=d,client=h LOG:  x", Style::Bracket, "4242"),
            ("[2013-07-19 04:00:00 SGT] [2147] [192.0.2.7] ERROR:  x", Style::Bracket, "2147"),
            ("2017-12-22 22:14:10 UTC:192.0.2.1(51017):u@d:[2035]:LOG:  x", Style::Bracket, "2035"),
            ("66321c3f.1092 2024-05-01 10:00:00 UTC LOG:  x", Style::SessionId, "66321c3f.1092"),
            ("< 2024-05-01 10:00:00.1 UTC u d 66321c3f.1092 > LOG:  x", Style::SessionId, "66321c3f.1092"),
            ("user=u,pid=77,db=d LOG:  x", Style::Named, "77"),
            ("4242 1714557600.123 LOG:  x", Style::Field, "4242"),
            ("May  1 10:00:00 host postgres[4242]: [5-1] LOG:  x", Style::Bracket, "4242"),
        ] {
            let split = split(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
            let found = Style::detect(std::iter::once(split.prefix));
            assert_eq!(found, Some(style), "{line}");
            let told = found.and_then(|style| style.session(split.prefix)).unwrap_or_default();
            assert_eq!(String::from_utf8_lossy(told), session, "{line}");
        }
    }

    #[test]
    fn what_is_no_message_has_no_label() {
        for line in ["\tLOG: x", "", "LOG", "x LOGO:  y", "time: 10:00", "2024-05-01 catalog: x"] {
            let found = split(line.as_bytes()).filter(|split| !split.prefix.starts_with(b"\t"));
            assert!(found.is_none(), "{line}");
        }
        assert_eq!(Style::detect(std::iter::once(&b"db=d,user=u "[..])), None);
    }
}

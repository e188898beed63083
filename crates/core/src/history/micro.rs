//! A history on a line or two, for tests and for thinking.
//!
//! ```text
//!   wx1 ry_ | rx1          one session, two transactions: x := 1, y is initial; then x is 1
//!   wy2 !                  another session; its transaction was rolled back (`?`: nobody knows)
//!   @1-4 ax1 rx12          began at 1, ended at 4 (`@1-`: at some time); appends 1 to the list x, reads [1, 2]
//! ```
//!
//! Keys are single letters, values numbers; elements of lists have one digit each. Sessions are separated by `/` or line
//! breaks. A history in which anything is appended is one of lists.

use std::collections::BTreeMap;

use super::build::{Builder, Head};
use super::{History, Op, Scalar, Status};

/// Reads a history; `None` if the text is none.
pub fn micro(text: &str) -> Option<History> {
    let is_list = text.split_whitespace().any(|word| word.starts_with('a'));
    let mut builder = Builder::default();
    for (session, line) in text.split(['/', '\n']).filter(|line| !line.trim().is_empty()).enumerate() {
        for transaction in line.split('|') {
            add(&mut builder, session as u32, transaction, is_list)?;
        }
    }
    Some(builder.finish())
}

fn add(builder: &mut Builder, session: u32, text: &str, is_list: bool) -> Option<()> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let status = match words.last() {
        Some(&"!") => Status::Aborted,
        Some(&"?") => Status::Unknown,
        _ => Status::Committed,
    };
    let times = words.first().and_then(|word| word.strip_prefix('@')).and_then(|word| word.split_once('-'));
    let time = |text: &str| text.parse::<u64>().ok();
    let (began, ended) = times.map_or((None, None), |(began, ended)| (time(began), time(ended)));
    builder.begin(Head { session, status, began, ended, line: session + 1 });
    words.iter().filter(|word| !word.starts_with(['@', '!', '?'])).try_for_each(|word| op(builder, word, is_list))
}

fn op(builder: &mut Builder, word: &str, is_list: bool) -> Option<()> {
    let mut letters = word.chars();
    let (what, name) = (letters.next()?, letters.next()?);
    let rest = letters.as_str();
    let key = builder.key(&name.to_string());
    match (what, is_list) {
        ('w', false) => builder.push(Op::Write(key, Scalar(rest.parse().ok()?))),
        ('r', false) if rest == "_" => builder.push(Op::Read(key, None)),
        ('r', false) => builder.push(Op::Read(key, Some(Scalar(rest.parse().ok()?)))),
        ('a', true) => builder.push(Op::Append(key, Scalar(rest.parse().ok()?))),
        ('r', true) => {
            let elements: Option<Vec<Scalar>> = rest.chars().map(|c| Some(Scalar(c.to_digit(10)?.into()))).collect();
            builder.push_list(key, &elements?);
        }
        _ => return None,
    }
    Some(())
}

/// A history in this notation; sessions in order of their numbers. What it cannot say (long names, long lists) it says
/// in full, and is then not read back.
pub fn print(history: &History) -> String {
    let mut sessions: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (id, transaction) in history.transactions() {
        let mut words = Vec::new();
        if let Some(began) = transaction.began {
            let ended = transaction.ended.map_or_else(String::new, |ended| ended.to_string());
            words.push(format!("@{began}-{ended}"));
        }
        words.extend(history.ops(id).iter().map(|op| print_op(history, op)));
        match transaction.status {
            Status::Committed => {}
            Status::Aborted => words.push("!".to_string()),
            Status::Unknown => words.push("?".to_string()),
        }
        sessions.entry(transaction.session).or_default().push(words.join(" "));
    }
    sessions.into_values().map(|session| session.join(" | ")).collect::<Vec<_>>().join("\n")
}

/// One operation.
pub fn print_op(history: &History, op: &Op) -> String {
    let name = history.key_name(op.key());
    match op {
        Op::Write(_, value) => format!("w{name}{}", history.show(*value)),
        Op::Append(_, value) => format!("a{name}{}", history.show(*value)),
        Op::Read(_, None) => format!("r{name}_"),
        Op::Read(_, Some(value)) => format!("r{name}{}", history.show(*value)),
        Op::ReadList(key, list) => {
            let elements: Vec<String> = history.list(*key, *list).iter().map(|value| history.show(*value)).collect();
            let gap = if elements.iter().all(|element| element.len() == 1) { "" } else { "," };
            format!("r{name}{}", elements.join(gap))
        }
        Op::Unread(_) => format!("r{name}?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{KeyId, TxnId};

    #[test]
    fn sessions_transactions_and_ends_are_read() {
        let history = micro("wx1 ry_ | rx1 / @3-7 wy2 !").unwrap();
        let sessions: Vec<u32> = history.transactions().map(|(_, transaction)| transaction.session).collect();
        assert_eq!(sessions, [0, 0, 1]);
        let last = history.transaction(TxnId(2));
        assert_eq!((last.status, last.began, last.ended), (Status::Aborted, Some(3), Some(7)));
        assert_eq!(history.ops(TxnId(0))[1], Op::Read(KeyId(1), None));
        assert!(micro("zx1").is_none() && micro("wxy").is_none());
    }

    #[test]
    fn what_was_read_is_printed_back() {
        for text in ["wx1 ry_ | rx1\n@3-7 wy2 !", "ax1 rx1\nax2 rx12 ?\nrx"] {
            assert_eq!(print(&micro(text).unwrap()), text);
        }
    }

    #[test]
    fn what_is_appended_makes_lists() {
        let history = micro("ax1 / ax2 rx12 / rx").unwrap();
        assert_eq!(history.spine(KeyId(0)), [Scalar(1), Scalar(2)]);
    }
}

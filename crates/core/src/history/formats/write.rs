//! Histories as files.

use std::collections::BTreeMap;

use super::super::{History, Op, TxnId};
use super::{Format, awdit, binary, dbcop, elle, plume};

/// Writes a history in a format; the error says what the format cannot hold.
///
/// What was read comes back in content, not byte for byte: remarks, blanks and times are gone.
pub fn write(history: &History, format: Format) -> Result<Vec<u8>, String> {
    match format {
        Format::Edn | Format::Json | Format::JsonLines => Ok(elle::write(history, format).into_bytes()),
        Format::Plume => plume::write(history).map(String::into_bytes),
        Format::Awdit => awdit::write(history).map(String::into_bytes),
        Format::DbcopText => dbcop::write_text(history).map(String::into_bytes),
        Format::DbcopJson => dbcop::write_json(history).map(String::into_bytes),
        Format::Binary => Ok(binary::write(history, Format::Binary)),
    }
}

/// Refuses what a format of plain names and whole numbers cannot hold: names with other characters, values that are texts.
pub(super) fn check_plain(history: &History, tool: &str, is_part: impl Fn(char) -> bool) -> Result<(), String> {
    let is_plain = |name: &String| !name.is_empty() && name.chars().all(&is_part);
    if let Some(name) = history.keys.iter().find(|name| !is_plain(name)) {
        return Err(format!("{tool}'s format cannot hold the name of the key `{name}`"));
    }
    let value = |op: &Op| match op {
        Op::Write(_, value) | Op::Read(_, Some(value)) => history.text(*value),
        _ => None,
    };
    match history.transactions().flat_map(|(id, _)| history.ops(id)).find_map(value) {
        Some(text) => Err(format!("{tool}'s format has whole numbers only, and `{text}` is none")),
        None => Ok(()),
    }
}

/// The transactions by session, in the order in which sessions are first mentioned.
pub(super) fn sessions(history: &History) -> Vec<Vec<TxnId>> {
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    let mut sessions: Vec<Vec<TxnId>> = Vec::new();
    for (id, transaction) in history.transactions() {
        let place = *places.entry(transaction.session).or_insert(sessions.len());
        if place == sessions.len() {
            sessions.push(Vec::new());
        }
        sessions[place].push(id);
    }
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::build::{Builder, Head};
    use crate::history::{Scalar, Status};

    /// One transaction that writes a value to a key.
    fn history(key: &str, value: Option<i64>) -> History {
        let mut builder = Builder::default();
        let (key, text) = (builder.key(key), builder.text("gone"));
        builder.begin(Head { session: 0, status: Status::Committed, began: None, ended: None, line: 1 });
        builder.push(Op::Write(key, value.map_or(text, Scalar)));
        builder.finish()
    }

    #[test]
    fn nothing_is_written_that_could_not_be_read_back() {
        let check = |key: &str, value: Option<i64>, expected: &[Format]| {
            let plain = [Format::Plume, Format::Awdit, Format::DbcopText, Format::DbcopJson];
            let is_held = |format: &Format| write(&history(key, value), *format).is_ok();
            assert_eq!(plain.into_iter().filter(is_held).collect::<Vec<_>>(), expected, "{key} {value:?}");
        };
        check("x_1", Some(1), &[Format::Plume, Format::Awdit, Format::DbcopText, Format::DbcopJson]);
        check("t/1", Some(1), &[Format::Plume, Format::Awdit, Format::DbcopJson]);
        check("a b", Some(1), &[Format::DbcopJson]);
        check("a,b", Some(1), &[Format::Awdit, Format::DbcopJson]);
        check("\"", Some(1), &[Format::Plume, Format::Awdit]);
        check("x", None, &[]);
    }
}

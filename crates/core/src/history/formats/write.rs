//! Histories as files.

use std::collections::BTreeMap;

use super::super::{History, TxnId};
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

//! From text to entries.

use toml::de::DeTable;

use super::pattern::Moment;
use super::{Entry, KnownError};
use crate::case::Guard;
use crate::oracle;
use crate::suggest;
use crate::toml_text::{Reader, Value, entries, found};

/// What an entry says.
const KEYS: &[&str] = &["id", "what", "source", "oracle", "differs", "on", "against", "trace"];

/// Reads a file: a list of tables `[[known]]`.
pub(super) fn read(text: &str, file: &str) -> Result<Vec<Entry>, KnownError> {
    let (mut reader, table) = Reader::open(text, file)?;
    let mut known: Vec<Entry> = Vec::new();
    for (key, value) in entries(&table) {
        let list = value.get_ref().as_array().filter(|_| key.get_ref() == "known");
        let Some(list) = list else {
            let name = key.get_ref();
            reader.complain(key.span(), format!("expected entries, each below a line [[known]], found {name}"));
            continue;
        };
        for value in list.iter() {
            let Some(entry) = entry(&mut reader, value) else { continue };
            if known.iter().any(|before| before.id == entry.id) {
                reader.complain(value.span(), format!("there is an entry {} already", entry.id));
            }
            known.push(entry);
        }
    }
    reader.finish(known)
}

fn entry<'i>(reader: &mut Reader<'i>, value: &Value<'i>) -> Option<Entry> {
    let Some(table) = value.get_ref().as_table() else {
        reader.complain(value.span(), format!("expected an entry, below a line [[known]], found {}", found(value)));
        return None;
    };
    for (key, _) in entries(table).iter().filter(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        let hint = suggest::hint(key.get_ref(), KEYS.iter().copied());
        reader.complain(key.span(), format!("unknown key {}{hint} (keys: {})", key.get_ref(), KEYS.join(", ")));
    }
    let mut fields = Fields { reader, table, whole: value };
    let id = fields.text("id", "the public id of the behaviour");
    let what = fields.text("what", "what happens, in one sentence");
    let source = fields.text("source", "where it is described");
    let oracle = fields.oracle();
    let differs = fields.texts("differs", "what differs, such as [\"rows\"]");
    let on = fields.required("on", "the targets that show it").and_then(|value| fields.guard(value));
    let against = table.get("against").map(|value| fields.guard(value));
    let trace = fields.trace();
    Some(Entry {
        id: id?,
        what: what?,
        source: source?,
        oracle: oracle?,
        differs: differs?,
        on: on?,
        against: against.map_or(Some(None), |guard| guard.map(Some))?,
        trace: trace?,
    })
}

/// The fields of one entry.
struct Fields<'r, 't, 'i> {
    reader: &'r mut Reader<'i>,
    table: &'t DeTable<'i>,
    whole: &'t Value<'i>,
}

impl<'t, 'i> Fields<'_, 't, 'i> {
    fn required(&mut self, key: &str, what: &str) -> Option<&'t Value<'i>> {
        let value = self.table.get(key);
        if value.is_none() {
            self.reader.complain(self.whole.span(), format!("this entry lacks {key}: {what}"));
        }
        value
    }

    fn text(&mut self, key: &str, what: &str) -> Option<String> {
        let value = self.required(key, what)?;
        self.reader.string(value, what).map(str::to_string)
    }

    fn oracle(&mut self) -> Option<String> {
        let name = self.text("oracle", "the oracle that finds it")?;
        if !oracle::NAMES.contains(&name.as_str()) {
            let place = self.table.get("oracle").map_or(self.whole.span(), Value::span);
            let hint = suggest::hint(&name, oracle::NAMES.iter().copied());
            self.reader.complain(place, format!("unknown oracle {name}{hint} (oracles: {})", oracle::NAMES.join(", ")));
        }
        Some(name)
    }

    /// A list of texts; a missing one is empty.
    fn texts(&mut self, key: &str, what: &str) -> Option<Vec<String>> {
        let Some(value) = self.table.get(key) else { return Some(Vec::new()) };
        let Some(list) = value.get_ref().as_array().filter(|list| !list.is_empty()) else {
            self.reader.complain(value.span(), format!("expected a list: {what}"));
            return None;
        };
        list.iter().map(|value| self.reader.string(value, what).map(str::to_string)).collect()
    }

    fn guard(&mut self, value: &Value<'_>) -> Option<Guard> {
        let text = self.reader.string(value, "targets, such as \"mariadb<10.8 read committed\"")?;
        match Guard::parse(text) {
            Ok(Guard::Anomaly) => self.reader.complain(value.span(), "expected targets, found `anomaly`"),
            Ok(guard) => return Some(guard),
            Err(error) => self.reader.complain(value.span(), format!("`{}`: {}", error.part.trim(), error.message)),
        }
        None
    }

    fn trace(&mut self) -> Option<Vec<Moment>> {
        let what = "what occurs in the run, such as [\"a UPDATE t\", \"b DELETE t waits for a\"]";
        let value = self.required("trace", what)?;
        let Some(list) = value.get_ref().as_array().filter(|list| !list.is_empty()) else {
            self.reader.complain(value.span(), format!("expected a list: {what}"));
            return None;
        };
        let moments: Vec<Option<Moment>> = list.iter().map(|value| self.moment(value)).collect();
        moments.into_iter().collect()
    }

    fn moment(&mut self, value: &Value<'_>) -> Option<Moment> {
        let text = self.reader.string(value, "a moment, such as \"a UPDATE t\"")?;
        match Moment::parse(text) {
            Ok(moment) if moment.compares() && !self.table.contains_key("against") => {
                let message = "this compares with another run: say with `against` on which targets that is";
                self.reader.complain(value.span(), message);
                None
            }
            Ok(moment) => Some(moment),
            Err(message) => {
                self.reader.complain(value.span(), format!("`{text}`: {message}"));
                None
            }
        }
    }
}

//! From a TOML file to sample values, with everything that is wrong with it.

use toml::de::{DeTable, DeValue};

use super::samples::{Group, Samples, TableSamples, Values};
use super::schema::{Check, Column, Kind, Operand, Schema, Table};
use crate::suggest;
use crate::toml_text::{FileError, Key, Reader, Value as TomlValue, entries, found, integer};
use crate::value::{Number, Value};

/// What a group may say.
const KEYS: &[&str] = &["values", "range", "null", "percent"];
/// More rows than that are a slip.
const ROWS_MAX: i64 = 100_000;

/// Reads sample values for a schema; `file` is its name in messages.
pub fn read(text: &str, file: &str, schema: &Schema) -> Result<Samples, FileError> {
    let (mut reader, table) = Reader::open(text, file)?;
    let mut samples = Samples::default();
    for (key, value) in entries(&table) {
        let name = key.get_ref().as_ref();
        if name == "rows" && value.get_ref().as_table().is_none() {
            samples.rows = rows(&mut reader, value);
            continue;
        }
        let Some(found) = schema.table(name) else {
            let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
            let hint = suggest::hint(name, names.iter().copied());
            reader.complain(key.span(), format!("there is no table {name}{hint} (tables: {})", names.join(", ")));
            continue;
        };
        let read = section(&mut reader, found, value);
        samples.tables.insert(name.to_string(), read);
    }
    reader.finish(samples)
}

fn rows(reader: &mut Reader<'_>, value: &TomlValue<'_>) -> Option<usize> {
    let rows = integer(value).filter(|rows| (0..=ROWS_MAX).contains(rows));
    if rows.is_none() {
        let message = format!("expected a number of rows from 0 to {ROWS_MAX}, found {}", found(value));
        reader.complain(value.span(), message);
    }
    rows.and_then(|rows| usize::try_from(rows).ok())
}

/// What the file says about a table.
fn section(reader: &mut Reader<'_>, table: &Table, value: &TomlValue<'_>) -> TableSamples {
    let mut samples = TableSamples::default();
    let Some(section) = value.get_ref().as_table() else {
        let name = &table.name;
        let message = format!("{name} is a table: write [{name}] and its columns below, not {}", found(value));
        reader.complain(value.span(), message);
        return samples;
    };
    for (key, value) in entries(section) {
        let name = key.get_ref().as_ref();
        if name == "rows" && matches!(value.get_ref(), DeValue::Integer(_)) {
            samples.rows = rows(reader, value);
        } else if let Some(column) = column(reader, table, key) {
            let groups = groups(reader, &Place { table, column }, value);
            samples.columns.insert(name.to_string(), groups);
        }
    }
    samples
}

/// The column that a key names, if values can be given for it.
fn column<'t>(reader: &mut Reader<'_>, table: &'t Table, key: &Key<'_>) -> Option<&'t Column> {
    let name = key.get_ref().as_ref();
    let Some(position) = table.position(name) else {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let hint = suggest::hint(name, names.iter().copied().chain(["rows"]));
        let message = format!("{} has no column {name}{hint} (columns: {})", table.name, names.join(", "));
        reader.complain(key.span(), message);
        return None;
    };
    let refers = table.foreign_keys.iter().find(|it| it.columns.iter().any(|column| column == name));
    if let Some(foreign) = refers {
        let at = foreign.columns.iter().position(|column| column == name).unwrap_or(0);
        let there = format!("{}.{}", foreign.table, foreign.referred.get(at).map_or("?", String::as_str));
        let message = format!("{}.{name} takes its values from {there}: give the sample values there", table.name);
        reader.complain(key.span(), message);
        return None;
    }
    Some(&table.columns[position])
}

/// The column whose groups are read.
struct Place<'t> {
    table: &'t Table,
    column: &'t Column,
}

impl Place<'_> {
    fn name(&self) -> String {
        format!("{}.{}", self.table.name, self.column.name)
    }
}

/// The groups of a column: a list is one group, a table has one in each entry.
fn groups(reader: &mut Reader<'_>, place: &Place<'_>, value: &TomlValue<'_>) -> Vec<Group> {
    let Some(table) = value.get_ref().as_table() else {
        let values = list(reader, place, value);
        let values = values.into_iter().map(Values::List);
        return values.map(|values| Group { name: "values".to_string(), weight: 1, values }).collect();
    };
    let mut read = Vec::new();
    for (key, value) in entries(table) {
        let name = key.get_ref().to_string();
        let group = match value.get_ref().as_table() {
            Some(table) => group(reader, place, table, value),
            None => list(reader, place, value).map(|values| (Values::List(values), None)),
        };
        read.extend(group.map(|(values, percent)| (name, values, percent)));
    }
    if table.is_empty() {
        reader.complain(value.span(), format!("{} needs at least one group of values", place.name()));
    }
    let percents: Vec<Option<u64>> = read.iter().map(|(_, _, percent)| *percent).collect();
    let weights = weights(&percents);
    let given: u64 = percents.iter().flatten().sum();
    let is_short = percents.iter().all(Option::is_some) && given < 100;
    // With a group that could not be read, nobody knows the sum.
    if percents.len() == table.len() && !table.is_empty() && (given > 100 || is_short) {
        let message = format!("the groups of {} add up to {given} percent, not to 100", place.name());
        reader.complain(value.span(), message);
    }
    let group = |((name, values, _), weight)| Group { name, weight, values };
    read.into_iter().zip(weights).map(group).collect()
}

/// Groups without a percentage share what the others leave.
fn weights(percents: &[Option<u64>]) -> Vec<u64> {
    let given: u64 = percents.iter().flatten().sum();
    let open = percents.iter().filter(|percent| percent.is_none()).count() as u64;
    let rest = 100u64.saturating_sub(given);
    percents.iter().map(|percent| percent.map_or(rest, |percent| percent * open.max(1))).collect()
}

/// `{ values = […] | range = [a, b] | null = true, percent = n }`
fn group(
    reader: &mut Reader<'_>,
    place: &Place<'_>,
    table: &DeTable<'_>,
    whole: &TomlValue<'_>,
) -> Option<(Values, Option<u64>)> {
    let (mut values, mut percent) = (None, None);
    let mut complained = false;
    for (key, value) in entries(table) {
        let read = match key.get_ref().as_ref() {
            "values" => list(reader, place, value).map(Values::List),
            "range" => range(reader, place, value),
            "null" => null(reader, place, value),
            "percent" => {
                percent = percentage(reader, value);
                continue;
            }
            name => {
                let hint = suggest::hint(name, KEYS.iter().copied());
                let message = format!("unknown key {name} in a group{hint} (keys: {})", KEYS.join(", "));
                reader.complain(key.span(), message);
                None
            }
        };
        complained |= read.is_none();
        if read.is_some() && values.is_some() {
            reader.complain(key.span(), "a group has either values, or a range, or null");
        }
        values = values.or(read);
    }
    if values.is_none() && !complained {
        reader.complain(whole.span(), "a group needs values = […], range = [least, greatest] or null = true");
    }
    Some((values?, percent))
}

fn percentage(reader: &mut Reader<'_>, value: &TomlValue<'_>) -> Option<u64> {
    let percent = integer(value).filter(|percent| (0..=100).contains(percent));
    if percent.is_none() {
        reader.complain(value.span(), format!("expected a percentage from 0 to 100, found {}", found(value)));
    }
    percent.map(i64::unsigned_abs)
}

fn null(reader: &mut Reader<'_>, place: &Place<'_>, value: &TomlValue<'_>) -> Option<Values> {
    match value.get_ref() {
        DeValue::Boolean(true) if place.column.nullable => Some(Values::List(vec![Value::Null])),
        DeValue::Boolean(true) => {
            reader.complain(value.span(), format!("{} is NOT NULL", place.name()));
            None
        }
        _ => {
            reader.complain(value.span(), format!("expected null = true, found {}", found(value)));
            None
        }
    }
}

fn range(reader: &mut Reader<'_>, place: &Place<'_>, value: &TomlValue<'_>) -> Option<Values> {
    let ends: Option<Vec<i64>> = value.get_ref().as_array().and_then(|ends| ends.iter().map(integer).collect());
    match (ends.as_deref(), &place.column.kind) {
        (Some([low, high]), Kind::Integer | Kind::Decimal) if low <= high => {
            [low, high].iter().for_each(|end| check(reader, place, &Value::int(**end), value));
            Some(Values::Range(*low, *high))
        }
        (_, Kind::Integer | Kind::Decimal) => {
            let message = "expected range = [least, greatest], two whole numbers in this order";
            reader.complain(value.span(), format!("{message}, found {}", found(value)));
            None
        }
        _ => {
            reader.complain(value.span(), format!("{} has no numbers: give values = […]", place.name()));
            None
        }
    }
}

/// A list of values of the column's kind.
fn list(reader: &mut Reader<'_>, place: &Place<'_>, value: &TomlValue<'_>) -> Option<Vec<Value>> {
    let Some(items) = value.get_ref().as_array().filter(|items| !items.is_empty()) else {
        let message = format!("expected a list of values of {}, found {}", place.name(), found(value));
        reader.complain(value.span(), message);
        return None;
    };
    let mut values = Vec::new();
    for item in items.iter() {
        match convert(&place.column.kind, item) {
            Some(value) => {
                check(reader, place, &value, item);
                values.push(value);
            }
            None => {
                let expected = describe(&place.column.kind);
                let message = format!("{} has {expected}, found {}", place.name(), found(item));
                reader.complain(item.span(), message);
            }
        }
    }
    (values.len() == items.len()).then_some(values)
}

/// Complains about a value that a check of the column refuses for certain.
fn check(reader: &mut Reader<'_>, place: &Place<'_>, value: &Value, at: &TomlValue<'_>) {
    let refuses = |check: &&Check| match &check.with {
        Operand::Constant(constant) => check.column == place.column.name && !check.comparison.holds(value, constant),
        Operand::Column(_) => false,
    };
    if let Some(check) = place.table.checks.iter().find(refuses) {
        reader.complain(at.span(), format!("{value} is no value of {}: CHECK ({check}) refuses it", place.name()));
    }
}

fn convert(kind: &Kind, value: &TomlValue<'_>) -> Option<Value> {
    let text = value.get_ref().as_str();
    match (kind, value.get_ref()) {
        (Kind::Integer, _) => integer(value).map(Value::int),
        (Kind::Decimal, DeValue::Integer(_)) => integer(value).map(Value::int),
        (Kind::Decimal, DeValue::Float(number)) => Number::parse(number.as_str()).map(Value::Number),
        (Kind::Decimal, _) => text.and_then(Number::parse).map(Value::Number),
        (Kind::Text(limit), _) => {
            text.filter(|text| limit.is_none_or(|limit| text.chars().count() <= limit)).map(Value::text)
        }
        (Kind::Boolean, DeValue::Boolean(flag)) => Some(Value::Bool(*flag)),
        (Kind::Date | Kind::Time | Kind::Timestamp, DeValue::Datetime(moment)) => {
            Some(Value::Text(moment.to_string().replace('T', " ")))
        }
        (Kind::Date | Kind::Time | Kind::Timestamp, _) => text.map(Value::text),
        (Kind::Bytes, _) => text.and_then(bytes).map(Value::Bytes),
        (Kind::OneOf(all), _) => all.iter().find(|it| written(it, value)).cloned(),
        _ => None,
    }
}

/// Whether one of a few values is what stands there.
fn written(value: &Value, found: &TomlValue<'_>) -> bool {
    match value {
        Value::Text(text) => found.get_ref().as_str() == Some(text),
        Value::Number(number) => integer(found).is_some_and(|it| Number::from(it) == *number),
        _ => false,
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    if digits.len().is_multiple_of(2) { digits.chunks(2).map(pair).collect() } else { None }
}

fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Integer => "whole numbers".to_string(),
        Kind::Decimal => "numbers".to_string(),
        Kind::Text(None) => "texts, in quotes".to_string(),
        Kind::Text(Some(limit)) => format!("texts of at most {limit} characters, in quotes"),
        Kind::Boolean => "true and false".to_string(),
        Kind::Date => "days, as 2024-01-31".to_string(),
        Kind::Time => "times, as 23:59:00".to_string(),
        Kind::Timestamp => "days with a time, as 2024-01-31 23:59:00".to_string(),
        Kind::Bytes => "bytes, as hexadecimal digits in quotes".to_string(),
        Kind::OneOf(all) => {
            let all: Vec<String> = all.iter().map(Value::to_string).collect();
            format!("only the values {}", all.join(", "))
        }
    }
}

//! The values that a column may get: those of a file, or, by its type, a few ordinary ones and those at its edges.

use super::samples::{Group, Samples, Values};
use super::schema::{Check, Column, Comparison, Kind, Operand, Table};
use crate::generate::random::Random;
use crate::value::{Number, Value};

/// How many ordinary values a column has that nobody gave values for: few, so that transactions meet.
const ORDINARY: usize = 10;
/// How many values of a range are looked through if those that were drawn do not fit.
const TRIED_MAX: usize = 200;

/// The values of one column, and which of them have yet to appear.
#[derive(Debug, Clone)]
pub(super) struct Domain {
    groups: Vec<Group>,
    /// Values that each deserve a row, the next one last: one of each group first, then the others.
    wanted: Vec<Value>,
    /// Whether every row needs another value: then values are taken in order.
    in_order: bool,
}

impl Domain {
    /// The values of a column of a table with so many rows.
    pub(super) fn of(table: &Table, column: &Column, samples: &Samples, rows: usize) -> Domain {
        let in_order = table.keys.iter().any(|key| key.len() == 1 && key[0] == column.name);
        let given = samples.groups_of(&table.name, &column.name).filter(|groups| !groups.is_empty());
        let groups = given.map_or_else(|| by_type(table, column, rows, in_order), <[Group]>::to_vec);
        let wanted = if in_order && given.is_none() { Vec::new() } else { wanted(&groups) };
        Domain { groups, wanted, in_order }
    }

    /// The next value that has yet to appear.
    pub(super) fn next_wanted(&self) -> Option<&Value> {
        self.wanted.last()
    }

    /// A value has appeared.
    pub(super) fn appeared(&mut self, value: &Value) {
        self.wanted.retain(|it| it != value);
    }

    /// Values to try, the best first: what has yet to appear, some by chance, then the rest.
    pub(super) fn candidates(&self, random: &mut Random) -> Vec<Value> {
        let mut candidates: Vec<Value> = self.next_wanted().cloned().into_iter().collect();
        if !self.in_order {
            let weights: Vec<u64> = self.groups.iter().map(|group| group.weight).collect();
            let draws = random.weighted(&weights).map(|at| draw(&self.groups[at].values, random));
            candidates.extend(draws.flatten());
        }
        let mut rest: Vec<Value> = self.groups.iter().flat_map(|group| group.values.some(TRIED_MAX)).collect();
        if !self.in_order {
            random.shuffle(&mut rest);
        }
        candidates.extend(rest);
        let mut seen = std::collections::BTreeSet::new();
        candidates.retain(|value| seen.insert(value.clone()));
        candidates
    }
}

/// One of each group, then the second of each, and so on; the first of them stands last.
fn wanted(groups: &[Group]) -> Vec<Value> {
    let notable: Vec<Vec<Value>> = groups.iter().map(|group| group.values.notable()).collect();
    let longest = notable.iter().map(Vec::len).max().unwrap_or(0);
    let mut wanted: Vec<Value> = Vec::new();
    for at in 0..longest {
        for value in notable.iter().filter_map(|values| values.get(at)) {
            if !wanted.contains(value) {
                wanted.push(value.clone());
            }
        }
    }
    wanted.reverse();
    wanted
}

fn draw(values: &Values, random: &mut Random) -> Option<Value> {
    match values {
        Values::List(list) => random.pick(list).cloned(),
        Values::Range(low, high) => Some(Value::int(random.between(*low, *high))),
    }
}

/// Groups for a column that nobody gave values for: `edges` of what its checks allow, and `usual`.
fn by_type(table: &Table, column: &Column, rows: usize, in_order: bool) -> Vec<Group> {
    let count = if in_order { rows + ORDINARY } else { ORDINARY };
    let group = |name: &str, weight, values| Group { name: name.to_string(), weight, values };
    let mut groups = match &column.kind {
        Kind::Integer | Kind::Decimal => numbers(table, column, count as i64, in_order),
        Kind::OneOf(values) => vec![group("usual", 9, Values::List(values.clone()))],
        kind => {
            let values: Vec<Value> = (0..count).filter_map(|at| nth(kind, at)).collect();
            vec![group("usual", 9, Values::List(values))]
        }
    };
    groups.extend(constants(table, column).map(|value| group("constant", 0, Values::List(vec![value]))));
    if column.nullable && !in_order {
        groups.push(group("null", 1, Values::List(vec![Value::Null])));
    }
    groups.retain(|group| !matches!(&group.values, Values::List(values) if values.is_empty()));
    groups
}

/// Texts, days and so on that the column's checks name: the only ones that meet an equality.
fn constants<'t>(table: &'t Table, column: &'t Column) -> impl Iterator<Item = Value> + 't {
    table.checks.iter().filter(|check| check.column == column.name).filter_map(|check| match &check.with {
        Operand::Constant(value) if check.comparison != Comparison::NotEqual => Some(value.clone()),
        _ => None,
    })
}

fn numbers(table: &Table, column: &Column, count: i64, in_order: bool) -> Vec<Group> {
    let (low, high) = bounds(&table.checks, &column.name);
    // Ordinary numbers are small and positive, as far as the bounds allow.
    let start = low.unwrap_or(i64::MIN).max(high.map_or(1, |high| high.saturating_sub(count - 1).min(1)));
    let end = high.unwrap_or(i64::MAX).min(start.saturating_add(count - 1));
    let mut groups = Vec::new();
    if start <= end {
        groups.push(Group { name: "usual".to_string(), weight: 8, values: Values::Range(start, end) });
    }
    let edges: Vec<Value> = [low, high].into_iter().flatten().map(Value::int).collect();
    let edges = if edges.is_empty() { vec![Value::int(0)] } else { edges };
    if !in_order {
        groups.push(Group { name: "edges".to_string(), weight: 1, values: Values::List(edges) });
    }
    groups
}

/// The least and the greatest whole number that the checks of a column allow, where they say.
fn bounds(checks: &[Check], column: &str) -> (Option<i64>, Option<i64>) {
    let (mut low, mut high) = (None::<i64>, None::<i64>);
    for check in checks.iter().filter(|check| check.column == column) {
        let Operand::Constant(Value::Number(number)) = &check.with else { continue };
        let Some((floor, exact)) = floor(number) else { continue };
        let above = floor.saturating_add(1);
        let ceiling = if exact { floor } else { above };
        let (least, most) = match check.comparison {
            Comparison::Equal => (Some(ceiling), Some(floor)),
            Comparison::Less => (None, Some(if exact { floor.saturating_sub(1) } else { floor })),
            Comparison::LessEqual => (None, Some(floor)),
            Comparison::Greater => (Some(above), None),
            Comparison::GreaterEqual => (Some(ceiling), None),
            Comparison::NotEqual => (None, None),
        };
        low = low.max(least);
        high = match (high, most) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    (low, high)
}

/// The greatest whole number that is not above it, and whether it is the same; `None` if it is too great.
fn floor(number: &Number) -> Option<(i64, bool)> {
    let text = number.to_text();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole: i64 = if whole == "-0" { 0 } else { whole.parse().ok()? };
    let below = !fraction.is_empty() && text.starts_with('-');
    Some((if below { whole.checked_sub(1)? } else { whole }, fraction.is_empty()))
}

/// The values of a type, numbered: `a`, `b`, …, `z`, `ba`, …; days, minutes, bytes. `None` behind the last one.
pub(super) fn nth(kind: &Kind, at: usize) -> Option<Value> {
    match kind {
        Kind::Integer | Kind::Decimal => Some(Value::int(i64::try_from(at).ok()? + 1)),
        Kind::Text(limit) => {
            let text = letters(at);
            limit.is_none_or(|limit| text.len() <= limit).then_some(Value::Text(text))
        }
        Kind::Boolean => [false, true].get(at).map(|flag| Value::Bool(*flag)),
        Kind::Date => day(at).map(Value::Text),
        Kind::Time => (at < 24 * 60).then(|| Value::Text(time(at))),
        Kind::Timestamp => day(at / 24).map(|day| Value::Text(format!("{day} {}", time(at % 24 * 60)))),
        // Every system takes a string for bytes, but not the same notation of others.
        Kind::Bytes => Some(Value::Text(letters(at))),
        Kind::OneOf(values) => values.get(at).cloned(),
    }
}

/// A value that is none of those that are taken, another one for each number.
pub fn fresh(kind: &Kind, taken: &[Value], number: usize) -> Option<Value> {
    /// Tables have few rows, so a value is soon found.
    const TRIED: usize = 1_000;
    let mut free = (0..TRIED).filter_map(|at| nth(kind, at)).filter(|value| !taken.contains(value));
    free.nth(number)
}

fn letters(mut at: usize) -> String {
    let mut text = Vec::new();
    loop {
        text.push(char::from(b'a' + (at % 26) as u8));
        at /= 26;
        if at == 0 {
            return text.into_iter().rev().collect();
        }
    }
}

/// A day from 2024 on; months of 28 days are enough.
fn day(at: usize) -> Option<String> {
    let (year, month, day) = (2024 + at / (12 * 28), at / 28 % 12 + 1, at % 28 + 1);
    (year <= 9999).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn time(minute: usize) -> String {
    format!("{:02}:{:02}:00", minute / 60 % 24, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_whole_numbers_within_the_checks() {
        let bound = |comparison, text: &str| {
            let with = Operand::Constant(Value::Number(Number::parse(text).unwrap()));
            bounds(&[Check { column: "a".to_string(), comparison, with }], "a")
        };
        assert_eq!(bound(Comparison::GreaterEqual, "0"), (Some(0), None));
        assert_eq!(bound(Comparison::Greater, "0"), (Some(1), None));
        assert_eq!(bound(Comparison::GreaterEqual, "-0.5"), (Some(0), None));
        assert_eq!(bound(Comparison::Greater, "2.5"), (Some(3), None));
        assert_eq!(bound(Comparison::Less, "2.5"), (None, Some(2)));
        assert_eq!(bound(Comparison::Less, "2"), (None, Some(1)));
        assert_eq!(bound(Comparison::LessEqual, "-2.5"), (None, Some(-3)));
        assert_eq!(bound(Comparison::Equal, "7"), (Some(7), Some(7)));
    }

    #[test]
    fn values_of_a_type_are_distinct() {
        for kind in [Kind::Text(Some(2)), Kind::Date, Kind::Time, Kind::Timestamp, Kind::Bytes, Kind::Integer] {
            let values: std::collections::BTreeSet<Value> = (0..600).filter_map(|at| nth(&kind, at)).collect();
            assert_eq!(values.len(), (0..600).filter_map(|at| nth(&kind, at)).count(), "{kind:?}");
            assert!(values.len() >= 256, "{kind:?}");
        }
        assert_eq!(nth(&Kind::Boolean, 2), None);
        assert_eq!(nth(&Kind::Text(Some(1)), 26), None);
    }
}

//! The variables of a running call. They have numbers, which are given out once, when the procedure is made ready; by
//! name they are asked for only when the call is over.

use std::collections::BTreeMap;

use crate::value::Value;

/// The variables of a call, by name: those that were given a value. What `FOUND()` and `ROW_COUNT()` are stands under
/// these names, which no variable can have, if anything has been counted.
pub type Variables = BTreeMap<String, Value>;

/// The number of a variable, or of a cursor.
pub(super) type Slot = usize;

/// The numbers of names, from 0 in the order in which they are mentioned.
#[derive(Debug, Default)]
pub(super) struct Slots {
    numbers: BTreeMap<String, Slot>,
}

impl Slots {
    /// The number of a name, be it a new one.
    pub(super) fn of(&mut self, name: &str) -> Slot {
        match self.numbers.get(name) {
            Some(slot) => *slot,
            None => {
                let slot = self.numbers.len();
                self.numbers.insert(name.to_string(), slot);
                slot
            }
        }
    }

    /// How many names there are.
    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// The name of a number that was given out.
    pub(super) fn name(&self, slot: Slot) -> &str {
        self.numbers.iter().find(|(_, its)| **its == slot).map_or("", |(name, _)| name)
    }
}

/// The values of variables, by number.
#[derive(Debug)]
pub(super) struct Frame {
    /// `None` for one that was not given a value; whoever asks finds NULL.
    values: Vec<Option<Value>>,
    /// How many rows the last statement, FETCH or loop over rows had.
    rows: Option<usize>,
}

impl Frame {
    pub(super) fn new(slots: &Slots) -> Frame {
        Frame { values: vec![None; slots.count()], rows: None }
    }

    pub(super) fn value(&self, slot: Slot) -> &Value {
        self.values.get(slot).and_then(Option::as_ref).unwrap_or(&Value::Null)
    }

    pub(super) fn set(&mut self, slot: Slot, value: Value) {
        self.values[slot] = Some(value);
    }

    /// Remembers how many rows there were, for `FOUND()` and `ROW_COUNT()`.
    pub(super) fn count(&mut self, rows: usize) {
        self.rows = Some(rows);
    }

    /// What `ROW_COUNT()` is; `FOUND()` is whether there are any.
    pub(super) fn row_count(&self) -> i64 {
        i64::try_from(self.rows.unwrap_or(0)).unwrap_or(i64::MAX)
    }

    /// The variables by name.
    pub(super) fn variables(&self, slots: &Slots) -> Variables {
        let value = |slot: Slot| self.values.get(slot).cloned().flatten();
        let named = |(name, slot): (&String, &Slot)| Some((name.clone(), value(*slot)?));
        let mut variables: Variables = slots.numbers.iter().filter_map(named).collect();
        if self.rows.is_some() {
            variables.insert("FOUND()".to_string(), Value::Bool(self.row_count() > 0));
            variables.insert("ROW_COUNT()".to_string(), Value::int(self.row_count()));
        }
        variables
    }
}

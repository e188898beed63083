//! Keys that are used once.
//!
//! Whoever follows rows through a run (which statement saw which version of which row?) knows a row by its key. A key
//! that is deleted and inserted again is two rows with one name: whoever does not find it cannot say whether it looked
//! before the first birth, or between the death of one and the birth of the other. So where tables have
//! [keys that are used once](super::schema::Table::keys_once),
//!
//! * no statement changes a key;
//! * INSERT takes the next number of a counter that all statements of a group share, above all keys at the start;
//! * INSERT … SELECT adds a constant to the key of its source: 10000, 20000, 40000, each so large that no sum of the
//!   others reaches it. Rows that are copied twice have two of these in their keys, and no two rows the same ones;
//! * a statement that may insert a row *or* find it there (an upsert) asks for a key at the start only in tables from
//!   which no statement of the group deletes, and the other way round.

use crate::value::Value;

use super::maker::Maker;
use super::schema::Table;

/// The first new key: more than there are at the start.
const FIRST: i64 = 1_000;
/// What the first INSERT … SELECT of a group adds to the keys of its source.
const COPY: i64 = 10_000;
/// How many INSERT … SELECT a group has at most. Each of them may double a table.
const COPIES_MAX: u32 = 3;
/// No key is greater.
pub(super) const KEY_MAX: i64 = COPY << (COPIES_MAX + 1);

/// What a group of transactions has done with keys.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The last key that was handed out.
    last: i64,
    /// How many INSERT … SELECT there are.
    copies: u32,
    /// The keys of each table that statements insert.
    born: Vec<Vec<i64>>,
    /// What happens to the keys of each table.
    fates: Vec<Fate>,
}

/// What statements do to the keys of a table that exist at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Fate {
    /// Neither of both, so far.
    #[default]
    Open,
    /// They delete some.
    Deleted,
    /// They insert some, should they not exist.
    Upserted,
}

impl Keys {
    pub(super) fn of(tables: &[Table]) -> Keys {
        let keys = |table: &Table| 2 * table.rows.len() as i64;
        let last = tables.iter().map(keys).fold(FIRST - 1, i64::max);
        Keys { last, copies: 0, born: vec![Vec::new(); tables.len()], fates: vec![Fate::Open; tables.len()] }
    }
}

impl Maker<'_> {
    /// A key that no row has had and that no other statement inserts.
    pub(super) fn new_key(&mut self, table: usize) -> Value {
        self.keys.last += 1;
        self.keys.born[table].push(self.keys.last);
        Value::int(self.keys.last)
    }

    /// A key that some statement inserts; `None` if there is none yet.
    pub(super) fn born_key(&mut self, table: usize) -> Option<Value> {
        self.random.pick(&self.keys.born[table]).copied().map(Value::int)
    }

    /// What one more INSERT … SELECT adds to keys; `None` if there are enough of them.
    pub(super) fn copied_key(&mut self) -> Option<i64> {
        (self.keys.copies < COPIES_MAX).then(|| {
            self.keys.copies += 1;
            COPY << (self.keys.copies - 1)
        })
    }

    /// Whether a statement may delete from the table. From then on, none inserts what may have been there.
    pub(super) fn may_delete(&mut self, table: usize) -> bool {
        self.take(table, Fate::Deleted)
    }

    /// Whether a statement may insert a key that exists at the start. From then on, none deletes from the table.
    pub(super) fn may_upsert(&mut self, table: usize) -> bool {
        self.take(table, Fate::Upserted)
    }

    fn take(&mut self, table: usize, fate: Fate) -> bool {
        let free = !self.schema.tables[table].keys_once || [Fate::Open, fate].contains(&self.keys.fates[table]);
        if free {
            self.keys.fates[table] = fate;
        }
        free
    }
}

//! Statements, as SQL text.
//!
//! What is generated is what all targets accept, and mean alike:
//!
//! * a grouped query selects only what it groups by, and aggregates; LIMIT stands only where the order is total; sums
//!   are not of floating-point numbers: results are functions of the data;
//! * a query that locks rows has one table and no groups;
//! * an UPDATE that changes a key by calculation concerns one row: for several, engines that check row by row may or
//!   may not stumble over a key that is about to move away;
//! * an UPDATE with several assignments calculates only from columns that it does not assign: some engines see the
//!   new value, some the old one.

mod select;
mod insert;
mod copy;
mod update;

pub(super) use select::AGGREGATE_KINDS;

use crate::dialect::Construct;
use crate::generate::expression::Expression;
use crate::generate::expression::print::print;
use crate::generate::features;
use crate::generate::maker::Maker;

impl Maker<'_> {
    /// A statement that reads or changes rows; `None` where the model asks for a savepoint instead.
    pub(super) fn statement(&mut self, savepoints: bool) -> Option<String> {
        self.begin_statement();
        let language = self.language;
        let either = |one, other| language.has(one) || language.has(other);
        let allowed = |word: &str| match word {
            "select_share" => language.has(Construct::ForShare),
            "select_update" => language.has(Construct::ForUpdate),
            "insert_ignore" => either(Construct::InsertIgnore, Construct::OnConflictDoNothing),
            "upsert" => either(Construct::OnConflictDoUpdate, Construct::OnDuplicateKeyUpdate),
            "replace" => language.has(Construct::Replace),
            "savepoint" => savepoints,
            _ => true,
        };
        let word = self.model.word(&features::STATEMENT, &mut self.random, allowed);
        Some(match word {
            Some("savepoint") => return None,
            Some("select_share") => self.locking_select(Construct::ForShare),
            Some("select_update") => self.locking_select(Construct::ForUpdate),
            Some("insert") => self.insert(),
            Some("insert_select") => self.insert_select(),
            Some("insert_ignore") => self.insert_ignore(),
            Some("upsert") => self.upsert(),
            Some("replace") => self.replace(),
            Some("update") => self.update(),
            Some("delete") => self.delete(),
            _ if self.is_deep() => self.deep_select(),
            _ => self.select(),
        })
    }

    /// ` WHERE …`, or nothing.
    fn where_clause(&self, predicate: Option<&Expression>) -> String {
        predicate.map_or(String::new(), |predicate| format!(" WHERE {}", print(predicate, self.language)))
    }

    /// ` ORDER BY` the whole primary key: a total order; `None` if the table has no key.
    fn total_order(&mut self, table: usize) -> Option<String> {
        let definition = &self.schema.tables[table];
        // What a deep query returns may be called like a column, too.
        let qualifier = if self.is_deep() { format!("{}.", definition.name) } else { String::new() };
        let keys: Vec<String> = definition.key_columns().map(|column| format!("{qualifier}{}", column.name)).collect();
        let direction = if self.random.chance(1, 3) { " DESC" } else { "" };
        (!keys.is_empty()).then(|| format!(" ORDER BY {}{direction}", keys.join(", ")))
    }
}

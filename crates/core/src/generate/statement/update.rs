//! Changes of rows: UPDATE and DELETE.

use crate::dialect::Construct;
use crate::generate::expression::Expression;
use crate::generate::expression::print::print;
use crate::generate::features;
use crate::generate::maker::{Maker, Scope};
use crate::generate::predicate::contradiction::{self, Verdict};
use crate::generate::values;
use crate::value::Value;

impl Maker<'_> {
    /// `UPDATE … SET … WHERE …`.
    pub(super) fn update(&mut self) -> String {
        let table = self.table();
        let scope = Scope::writing(table);
        let mut assignments: Vec<String> = Vec::new();
        let mut moves_key = false;
        for (count, column) in self.updated_columns(table).into_iter().enumerate() {
            let (value, computed) = self.assigned(table, column, count == 0);
            // Deep statements do not fail for two rows with one value, either.
            moves_key |= (computed || self.is_deep()) && self.is_unique(table, column);
            assignments.push(format!("{} = {value}", self.schema.tables[table].columns[column].name));
        }
        let predicate = match moves_key {
            true => self.key_equality(&scope.sources[0]),
            false => self.predicate(&scope),
        };
        let condition = self.where_clause(predicate.as_ref());
        let limit = self.limited_write(table);
        format!("UPDATE {} SET {}{condition}{limit}", self.schema.tables[table].name, assignments.join(", "))
    }

    /// `DELETE FROM … WHERE …`.
    pub(super) fn delete(&mut self) -> String {
        let table = self.table();
        if !self.may_delete(table) {
            return self.update();
        }
        let scope = Scope::writing(table);
        let mut predicate = self.predicate(&scope);
        // A condition of many parts is true of many rows, and what is deleted cannot be looked at again.
        if self.is_deep() && self.random.chance(1, 2) {
            let parts = [self.key_range(&scope.sources[0]), predicate.clone()];
            let both = Expression::And(parts.into_iter().flatten().collect());
            if contradiction::check(&both) == Verdict::Open {
                predicate = Some(both);
            }
        }
        let condition = self.where_clause(predicate.as_ref());
        let limit = self.limited_write(table);
        format!("DELETE FROM {}{condition}{limit}", self.schema.tables[table].name)
    }

    /// ` ORDER BY key LIMIT n`, where engines have it.
    fn limited_write(&mut self, table: usize) -> String {
        let wanted = self.has(Construct::LimitedWrite) && self.model.flag(&features::LIMITED_WRITE, &mut self.random);
        match wanted.then(|| self.total_order(table)).flatten() {
            Some(order) => format!("{order} LIMIT {}", self.random.between(1, 3)),
            None => String::new(),
        }
    }

    /// The columns that an UPDATE sets: some of the key, or some of the others.
    fn updated_columns(&mut self, table: usize) -> Vec<usize> {
        let definition = &self.schema.tables[table];
        let key = self.model.flag(&features::UPDATE_KEY, &mut self.random) && !definition.keys_once;
        let all = 0..definition.columns.len();
        let mut columns: Vec<usize> = all.clone().filter(|at| definition.primary_key.contains(at) == key).collect();
        if columns.is_empty() && !definition.keys_once {
            columns = all.collect();
        }
        self.random.shuffle(&mut columns);
        columns.truncate(self.model.count(&features::UPDATE_COLUMNS, &mut self.random).max(1));
        columns
    }

    /// What a column is set to, and whether it is computed from what is there. Only the first assignment of a
    /// statement speaks of other columns: when the later ones are made, some engines have already changed them.
    fn assigned(&mut self, table: usize, column: usize, first: bool) -> (String, bool) {
        let definition = &self.schema.tables[table].columns[column];
        // What is computed from a reference refers to nothing.
        let refers = self.schema.tables[table].foreign_keys.iter().any(|key| key.columns.contains(&column));
        let has_default = self.has(Construct::DefaultKeyword) && !definition.auto_increment;
        let allowed = |word: &str| match word {
            "arithmetic" => !refers,
            "expression" => first && !refers,
            "null" => !definition.not_null,
            "default" => has_default && (definition.default.is_some() || !definition.not_null),
            _ => true,
        };
        let scope = Scope::writing(table).storing(table);
        match self.model.word(&features::UPDATE_VALUE, &mut self.random, allowed) {
            Some("arithmetic") => {
                if let Some(moved) = self.moved(&scope.sources[0], column) {
                    return (print(&moved, self.language), true);
                }
            }
            Some("expression") => {
                let mut value = self.stored_expression(table, column, &scope);
                if self.is_deep() && value == Expression::Column(self.column_use(&scope.sources[0], column)) {
                    value = Expression::Constant(definition.kind, self.stored(table, column));
                }
                return (print(&value, self.language), !matches!(value, Expression::Constant(..)));
            }
            Some("null") => return (values::literal(definition.kind, &Value::Null, self.language), false),
            Some("default") => return ("DEFAULT".to_string(), false),
            _ => {}
        }
        let value = self.stored(table, column);
        (values::literal(definition.kind, &value, self.language), false)
    }
}

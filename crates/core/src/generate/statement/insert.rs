//! New rows: INSERT in all its variants.

use crate::dialect::Construct;
use crate::generate::expression::extent::{Extent, STEP};
use crate::generate::expression::print::print;
use crate::generate::expression::{Expression, Operator};
use crate::generate::maker::{Maker, Scope, Source};
use crate::generate::schema::{Column, Kind};
use crate::generate::{features, values};
use crate::value::Value;

/// How often an expression is drawn that must fit into a column.
const DRAWS_MAX: usize = 4;

/// What an INSERT does to a row whose key exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clash {
    /// It fails.
    Fails,
    /// It leaves the row out.
    LeavesOut,
    /// It updates the one that exists.
    Updates,
    /// It deletes the one that exists.
    Replaces,
}

impl Maker<'_> {
    /// `INSERT INTO … VALUES …`.
    pub(super) fn insert(&mut self) -> String {
        let table = self.table();
        let rows = self.rows(table, Clash::Fails);
        format!("INSERT INTO {rows}")
    }

    /// An INSERT that leaves out what violates a key.
    pub(super) fn insert_ignore(&mut self) -> String {
        let table = self.table();
        let rows = self.rows(table, Clash::LeavesOut);
        match (self.language.spelling(Construct::OnConflictDoNothing), self.language.spelling(Construct::InsertIgnore))
        {
            (Some(end), Some(_)) if self.random.chance(1, 2) => format!("INSERT INTO {rows} {end}"),
            (_, Some(beginning)) => format!("{beginning} {rows}"),
            (Some(end), None) => format!("INSERT INTO {rows} {end}"),
            (None, None) => format!("INSERT INTO {rows}"),
        }
    }

    /// An INSERT that replaces rows with the same key.
    pub(super) fn replace(&mut self) -> String {
        let table = self.table();
        let rows = self.rows(table, Clash::Replaces);
        format!("{} {rows}", self.language.spelling(Construct::Replace).unwrap_or("INSERT INTO"))
    }

    /// An INSERT that updates the row with the same key instead.
    pub(super) fn upsert(&mut self) -> String {
        let table = self.table();
        let rows = self.rows(table, Clash::Updates);
        let definition = &self.schema.tables[table];
        let keys: Vec<&str> = definition.key_columns().map(|column| column.name.as_str()).collect();
        let targets: Vec<usize> =
            (0..definition.columns.len()).filter(|at| !definition.primary_key.contains(at)).collect();
        let Some(column) = self.random.pick(&targets).copied().filter(|_| !keys.is_empty()) else {
            return format!("INSERT INTO {rows}");
        };
        let name = &definition.columns[column].name;
        if let Some(on_duplicate) = self.language.spelling(Construct::OnDuplicateKeyUpdate) {
            return format!("INSERT INTO {rows} {on_duplicate} {name} = {}", self.upserted(table, column, false));
        }
        let on_conflict = self.language.spelling(Construct::OnConflictDoUpdate).unwrap_or("ON CONFLICT");
        let value = self.upserted(table, column, true);
        format!("INSERT INTO {rows} {on_conflict} ({}) DO UPDATE SET {name} = {value}", keys.join(", "))
    }

    /// What an upsert gives to a column of a row that exists.
    fn upserted(&mut self, table: usize, column: usize, excluded: bool) -> String {
        let definition = &self.schema.tables[table];
        match self.random.below(3) {
            0 if excluded => return format!("excluded.{}", definition.columns[column].name),
            0 | 1 => {
                let source = Source { table, qualifier: Some(definition.name.clone()), nullable: false };
                if let Some(moved) = self.moved(&source, column) {
                    return print(&moved, self.language);
                }
            }
            _ => {}
        }
        let value = self.stored(table, column);
        values::literal(definition.columns[column].kind, &value, self.language)
    }

    /// A number column, a little larger or smaller.
    pub(super) fn moved(&mut self, source: &Source, column: usize) -> Option<Expression> {
        let column = self.column_use(source, column);
        let (kind, extent) = (column.kind, column.extent);
        let operator = if self.random.chance(2, 3) { Operator::Add } else { Operator::Subtract };
        let step = Expression::Constant(kind, Value::int(self.random.between(1, STEP)));
        let moved = Expression::Arithmetic(operator, Box::new([Expression::Column(column), step]));
        (kind.is_number() && Extent::of(&moved).is_safe() && Extent::of(&moved).fits(kind, &extent)).then_some(moved)
    }

    /// A constant that is stored in a column: what a foreign key refers to, mostly, and
    /// else a new value or (outside of keys) one that exists.
    pub(super) fn stored(&mut self, table: usize, column: usize) -> Value {
        let keys = &self.schema.tables[table].foreign_keys;
        let reference = keys.iter().find_map(|key| Some((key.table, key.columns.iter().position(|c| *c == column)?)));
        if let Some((target, at)) = reference
            && self.model.flag(&features::REFERENCE_EXISTS, &mut self.random)
            && let Some(row) = self.row(target)
        {
            return row[self.schema.tables[target].primary_key[at]].clone();
        }
        let unique = self.is_unique(table, column);
        if unique { self.unused(table, column) } else { self.constant(table, column) }
    }

    /// `t (columns) VALUES (…), (…)`. Where rows may clash, the key is among the columns, and no two rows have the same.
    fn rows(&mut self, table: usize, clash: Clash) -> String {
        let whole = matches!(clash, Clash::Updates | Clash::Replaces);
        let columns = self.insert_columns(table, whole);
        let count = self.model.count(&features::INSERT_ROWS, &mut self.random).max(1);
        let primary_key = &self.schema.tables[table].primary_key;
        let mut rows: Vec<Vec<Value>> = Vec::new();
        for _ in 0..count {
            let row = self.new_row(table, clash);
            let same_key = |other: &Vec<Value>| {
                primary_key.iter().all(|at| values::folded(&other[*at]) == values::folded(&row[*at]))
            };
            if rows.is_empty() || primary_key.is_empty() || !rows.iter().any(same_key) {
                rows.push(row);
            }
        }
        let tuples: Vec<String> = rows.iter().map(|row| self.tuple(table, &columns, row, whole)).collect();
        format!("{} VALUES {}", self.insert_target(table, &columns), tuples.join(", "))
    }

    pub(super) fn insert_target(&self, table: usize, columns: &[usize]) -> String {
        let definition = &self.schema.tables[table];
        let names: Vec<&str> = columns.iter().map(|at| definition.columns[*at].name.as_str()).collect();
        format!("{} ({})", definition.name, names.join(", "))
    }

    fn tuple(&mut self, table: usize, columns: &[usize], row: &[Value], whole: bool) -> String {
        let mut texts = Vec::new();
        for at in columns {
            let definition = &self.schema.tables[table].columns[*at];
            // The default of a key would be the same in every row.
            let key = self.schema.tables[table].primary_key.contains(at) && (whole || !definition.auto_increment);
            let may = !key && self.has(Construct::DefaultKeyword) && self.can_be_left_out(definition);
            let default = may && self.model.flag(&features::INSERT_DEFAULT, &mut self.random);
            texts.push(match default {
                true => "DEFAULT".to_string(),
                false => values::literal(definition.kind, &row[*at], self.language),
            });
        }
        format!("({})", texts.join(", "))
    }

    /// Whether the server finds a value for the column by itself.
    fn can_be_left_out(&self, column: &Column) -> bool {
        // What the server hands out depends on more than the data.
        match column.auto_increment {
            true => !self.demands.reorderable,
            false => !column.not_null || column.default.is_some(),
        }
    }

    /// The columns that an INSERT names.
    pub(super) fn insert_columns(&mut self, table: usize, whole: bool) -> Vec<usize> {
        let definition = &self.schema.tables[table];
        let partial = self.model.flag(&features::INSERT_PARTIAL, &mut self.random);
        let mut columns = Vec::new();
        for (at, column) in definition.columns.iter().enumerate() {
            let key = definition.primary_key.contains(&at);
            let optional = self.can_be_left_out(column) && !(key && (whole || !column.auto_increment));
            let left_out = match column.auto_increment {
                true => optional && self.model.flag(&features::INSERT_HANDED_OUT, &mut self.random),
                false => optional && partial && self.random.chance(1, 2),
            };
            if !left_out {
                columns.push(at);
            }
        }
        if columns.is_empty() { (0..definition.columns.len()).collect() } else { columns }
    }

    /// A row with a new key, a contested one, or one that exists.
    fn new_row(&mut self, table: usize, clash: Clash) -> Vec<Value> {
        let definition = &self.schema.tables[table];
        let mut row: Vec<Value> = (0..definition.columns.len()).map(|at| self.stored(table, at)).collect();
        let word = self.model.word(&features::INSERT_KEY, &mut self.random, |_| true);
        if let (true, [key]) = (definition.keys_once, &definition.primary_key[..]) {
            row[*key] = self.key_used_once(table, *key, clash, word == Some("existing"));
            return row;
        }
        let key: Option<Vec<Value>> = match word {
            Some("contested") => self.contested_key(table),
            Some("existing") => {
                self.row(table).map(|row| definition.primary_key.iter().map(|at| row[*at].clone()).collect())
            }
            _ => Some(definition.primary_key.iter().map(|at| self.unused(table, *at)).collect()),
        };
        for (at, value) in definition.primary_key.iter().zip(key.unwrap_or_default()) {
            row[*at] = value;
        }
        row
    }

    /// A new key; or one that exists at the start, for statements that do not insert it again.
    fn key_used_once(&mut self, table: usize, key: usize, clash: Clash, existing: bool) -> Value {
        let existing = existing && matches!(clash, Clash::LeavesOut | Clash::Updates) && self.may_upsert(table);
        let row = if existing { self.row(table) } else { None };
        row.map_or_else(|| self.new_key(table), |row| row[key].clone())
    }

    /// `INSERT INTO … SELECT …`.
    pub(super) fn insert_select(&mut self) -> String {
        let table = self.table();
        if self.schema.tables[table].keys_once {
            return self.copy(table);
        }
        let definition = &self.schema.tables[table];
        // Which row gets which number would depend on the order in which they are read.
        if definition.columns.iter().any(|column| column.auto_increment) {
            return self.insert();
        }
        let columns = self.insert_columns(table, true);
        let from = self.table();
        let scope = Scope::of(from).storing(table);
        let mut list = Vec::new();
        for at in &columns {
            let value = self.stored_expression(table, *at, &scope);
            list.push(print(&value, self.language));
        }
        let predicate = self.predicate(&Scope { written: Some(table), ..Scope::of(from) });
        let condition = self.where_clause(predicate.as_ref());
        let target = self.insert_target(table, &columns);
        format!("INSERT INTO {target} SELECT {} FROM {}{condition}", list.join(", "), self.schema.tables[from].name)
    }

    /// An expression that fits into a column; a constant, if that is hard to find.
    pub(super) fn stored_expression(&mut self, table: usize, column: usize, scope: &Scope) -> Expression {
        let kind = self.schema.tables[table].columns[column].kind;
        let computable = !matches!(kind, Kind::Bytes | Kind::Boolean);
        if computable && self.pick_column(scope, |other| other == kind).is_some() {
            for _ in 0..DRAWS_MAX {
                let depth = self.model.count(&features::EXPRESSION_DEPTH, &mut self.random);
                let value = self.anchored(kind, scope, depth);
                if Extent::of(&value).fits(kind, &self.extent(table, column)) {
                    return self.not_null(value, table, column);
                }
            }
        }
        Expression::Constant(kind, self.stored(table, column))
    }

    /// What is not NULL, for a column that refuses it. Deep statements are too dear to fail for that; others may.
    fn not_null(&mut self, value: Expression, table: usize, column: usize) -> Expression {
        let refused = self.schema.tables[table].columns[column].not_null && self.has(Construct::Coalesce);
        if !self.is_deep() || !refused || value.is_not_null() {
            return value;
        }
        let otherwise = Expression::Constant(value.kind(), self.stored(table, column));
        Expression::Call(Construct::Coalesce, vec![value, otherwise])
    }
}

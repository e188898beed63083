//! Making a schema: tables in topological order, each with what the model asks for.

use super::check::Check;
use super::keys::Attribute;
use super::types::{self, Type};
use super::{Column, ForeignKey, Kind, Schema, Table, keys, rows};
use crate::dialect::Construct;
use crate::generate::Demands;
use crate::generate::expression::extent;
use crate::generate::features;
use crate::generate::language::Language;
use crate::generate::model::{Candidate, Model};
use crate::generate::random::Random;
use crate::generate::values;

/// A schema with rows.
pub fn schema(model: &Model, language: &Language, demands: Demands, random: &mut Random) -> Schema {
    let mut schema = Schema::default();
    let count = model.count(&features::TABLES, random).max(1);
    let chosen = |feature, random: &mut Random| model.can(feature) && model.flag(feature, random);
    let versioned = chosen(&features::VERSION, random);
    let keys_once = chosen(&features::KEYS_ONCE, random);
    let mut shares = match chosen(&features::ROWS_TOGETHER, random) {
        true => shares(model.count(&features::ROWS, random), count),
        false => Vec::new(),
    };
    for _ in 0..count {
        let mut table = Draft { model, language, demands, earlier: &schema.tables }.table(random);
        table.versioned = versioned;
        table.keys_once = keys_once && can_be_used_once(&table);
        let rows = shares.pop().unwrap_or_else(|| model.count(&features::ROWS, random));
        rows::fill(&mut table, rows, &schema.tables, model, random);
        schema.tables.push(table);
    }
    schema
}

/// Rows for so many tables, as equal as they can be.
fn shares(rows: usize, tables: usize) -> Vec<usize> {
    (0..tables).map(|at| (rows + at) / tables).collect()
}

/// Whether there are enough keys for each to be used once, and whether they can be told apart by calculation.
fn can_be_used_once(table: &Table) -> bool {
    let [key] = table.primary_key[..] else { return false };
    let column = &table.columns[key];
    let wide = extent::integer_capacity(&column.type_text) >= i64::from(i32::MAX);
    column.kind == Kind::Integer && wide && !column.auto_increment && column.check.is_none()
}

/// What the parts of a table are made from.
struct Draft<'a> {
    model: &'a Model,
    language: &'a Language,
    demands: Demands,
    earlier: &'a [Table],
}

impl Draft<'_> {
    fn table(&self, random: &mut Random) -> Table {
        let mut table = Table {
            name: format!("t{}", self.earlier.len()),
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique_keys: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
            rows: Vec::new(),
            versioned: false,
            keys_once: false,
        };
        self.primary_key(&mut table, random);
        let mut attributes = Vec::new();
        for _ in 0..self.model.count(&features::FOREIGN_KEYS, random) {
            attributes.extend(self.foreign_key(&mut table, random));
        }
        let column_max = self.model.count(&features::COLUMNS, random);
        for count in 0..self.model.count(&features::ATTRIBUTES, random).max(1) {
            let size = self.model.count(&features::ATTRIBUTE_SIZE, random).max(1);
            // A table has something beside its keys, whatever they take.
            if count == 0 || table.columns.len() + size <= column_max {
                attributes.push(self.attribute(&mut table, size, random));
            }
        }
        keys::add(&mut table, &attributes, self.model, random);
        table
    }

    fn primary_key(&self, table: &mut Table, random: &mut Random) {
        let is_wanted = self.model.flag(&features::PRIMARY_KEY, random);
        if !is_wanted && self.language.has(Construct::Keyless) {
            return;
        }
        let size = self.model.count(&features::PRIMARY_KEY_SIZE, random).max(1);
        let key_type = types::of_key(self.model, self.language, random);
        for _ in 0..size {
            let column = self.column(table, key_type, true, random);
            table.primary_key.push(column);
        }
        // Numbers that the server hands out depend on the order in which transactions come.
        let may = size == 1
            && key_type.can_be_handed_out()
            && self.language.has(Construct::AutoIncrement)
            && !self.demands.reorderable;
        if may && self.model.flag(&features::AUTO_INCREMENT, random) {
            let column = &mut table.columns[0];
            // MySQL refuses a CHECK on such a column.
            (column.auto_increment, column.check, column.default) = (true, None, None);
        }
    }

    /// Columns like those of another table's primary key; `None` if there is nothing to refer to.
    fn foreign_key(&self, table: &mut Table, random: &mut Random) -> Option<Attribute> {
        if !self.language.has(Construct::ForeignKey) {
            return None;
        }
        let target = self.target(random)?;
        let not_null = self.model.flag(&features::NOT_NULL, random);
        let first = table.columns.len();
        for parent in self.earlier[target].key_columns() {
            let name = format!("c{}", table.columns.len());
            // Whatever the parent holds must be allowed here.
            let column = Column { name, not_null, default: None, auto_increment: false, check: None, ..parent.clone() };
            table.columns.push(column);
        }
        let columns: Vec<usize> = (first..table.columns.len()).collect();
        table.foreign_keys.push(ForeignKey { columns: columns.clone(), table: target });
        Some(Attribute { columns, in_keys: true })
    }

    /// One of the earlier tables that have a primary key.
    fn target(&self, random: &mut Random) -> Option<usize> {
        let choice = self.model.choice(&features::FOREIGN_KEY_TARGET);
        let position = |candidate| match candidate {
            Candidate::Number(number) => usize::try_from(number - 1).ok(),
            Candidate::Word(_) => None,
        };
        let has_key = |at: &usize| self.earlier.get(*at).is_some_and(|table| !table.primary_key.is_empty());
        let (targets, weights): (Vec<usize>, Vec<u64>) = choice
            .weights()
            .filter_map(|(candidate, weight)| Some((position(candidate).filter(has_key)?, weight)))
            .unzip();
        random.weighted(&weights).map(|at| targets[at])
    }

    /// An attribute: columns of one type.
    fn attribute(&self, table: &mut Table, size: usize, random: &mut Random) -> Attribute {
        let attribute_type = types::of_attribute(self.model, self.language, random);
        let columns = (0..size).map(|_| self.column(table, attribute_type, false, random)).collect();
        Attribute { columns, in_keys: attribute_type.can_be_key() }
    }

    fn column(&self, table: &mut Table, of: &Type, in_key: bool, random: &mut Random) -> usize {
        let (model, language) = (self.model, self.language);
        let name = format!("c{}", table.columns.len());
        let checked = model.flag(&features::CHECK, random) && language.has(Construct::Check);
        let mut column = Column {
            check: checked.then(|| Check::make(&name, of.kind, model, language, random)).flatten(),
            name,
            kind: of.kind,
            type_text: of.text(language),
            not_null: in_key || model.flag(&features::NOT_NULL, random),
            default: None,
            auto_increment: false,
            extremes: of.extremes(language),
        };
        if of.can_have_default() && model.flag(&features::DEFAULT, random) {
            column.default = Some(values::fresh(&column, model, random));
        }
        table.columns.push(column);
        table.columns.len() - 1
    }
}

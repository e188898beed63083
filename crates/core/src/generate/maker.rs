//! What all makers of statements share: the model that decides, the schema that they speak of, and the heat.
//!
//! **Heat.** Transactions collide when they touch the same rows. With a few rows in a few tables they often do, but
//! not often enough: so every group of transactions puts the tables, and the rows of each table, in an order of its
//! own, and statements choose by *rank* in it. Which ranks are likely is a feature of the model: uniform, or Zipf,
//! with which all sessions of a case prefer the same few rows. New keys are contested in the same way: each table has
//! a few keys that do not exist yet and that several sessions may try to insert.

use std::rc::Rc;

use crate::dialect::Construct;
use crate::value::Value;

use super::expression::ColumnUse;
use super::expression::extent::Extent;
use super::keys::{KEY_MAX, Keys};
use super::language::Language;
use super::model::Model;
use super::query::Budget;
use super::random::Random;
use super::schema::{Kind, Schema, Table};
use super::{Demands, features, values};

/// How many new keys of a table are contested.
const CONTESTED: usize = 3;
/// How often a value is drawn until it is one that can be used.
const DRAWS_MAX: usize = 8;

/// Makes the statements of one group of transactions.
pub(super) struct Maker<'a> {
    pub(super) model: &'a Model,
    pub(super) language: &'a Language,
    pub(super) schema: &'a Schema,
    pub(super) demands: Demands,
    pub(super) random: Random,
    /// What statements speak of: the tables of the schema, and behind them the queries in the FROM clauses of the
    /// statement that is being made.
    pub(super) relations: Vec<Relation>,
    /// The tables, hottest first.
    table_ranks: Vec<usize>,
    /// Keys of each table that no row has at the start.
    contested: Vec<Vec<Vec<Value>>>,
    /// The keys that are used once.
    pub(super) keys: Keys,
    /// How deep the statement that is being made may get.
    pub(super) budget: Budget,
    pub(super) tally: Tally,
}

/// A table of the schema, or a query that stands where a table may stand.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    /// Its columns and keys. Its rows are those at the start, or some that it might have.
    pub(super) table: Rc<Table>,
    /// What its columns can hold.
    pub(super) extents: Vec<Extent>,
    /// Its rows, hottest first.
    pub(super) ranks: Vec<usize>,
    /// Whether its columns are computed, so that their types are what an engine makes of them.
    pub(super) computed: bool,
    /// How many rows it has, at most, at the start.
    pub(super) size: usize,
}

impl Relation {
    fn of(table: &Table) -> Relation {
        let key = |at: &usize| table.keys_once && table.primary_key.contains(at);
        let extent = |at: usize| if key(&at) { Extent::bounded(KEY_MAX) } else { Extent::of_column(table, at) };
        Relation {
            table: Rc::new(table.clone()),
            extents: (0..table.columns.len()).map(extent).collect(),
            ranks: (0..table.rows.len()).collect(),
            computed: false,
            size: table.rows.len(),
        }
    }
}

/// What happened to predicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many predicates were drawn.
    pub predicates: usize,
    /// How many of them were drawn again because they contradicted themselves or said nothing.
    pub redrawn: usize,
    /// How many times drawing again was given up, and a key was asked for instead.
    pub given_up: usize,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.predicates += other.predicates;
        self.redrawn += other.redrawn;
        self.given_up += other.given_up;
    }
}

/// A table that a statement or subquery reads, and how it is spoken of.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Its position among the relations: for a table of the schema, its position there.
    pub(super) table: usize,
    /// What stands before its columns.
    pub(super) qualifier: Option<String>,
    /// Whether its columns may all be NULL: the other side of an outer join.
    pub(super) nullable: bool,
}

/// What an expression may refer to.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) sources: Vec<Source>,
    /// The table that the statement writes: not every engine lets subqueries read it.
    pub(super) written: Option<usize>,
    /// Whether the value is stored, so that it must be one that nobody could confuse with another.
    pub(super) stored: bool,
    /// How many queries deep.
    pub(super) level: usize,
    /// Whether conditions in it compare columns only, and nothing computed: conditions inside of values.
    pub(super) plain: bool,
    /// For how many rows a condition in it is evaluated, at most; `None` for as many as its sources have.
    pub(super) rows: Option<usize>,
}

impl Scope {
    /// One table, whose columns need no qualifier.
    pub(super) fn of(table: usize) -> Scope {
        let sources = vec![Source { table, qualifier: None, nullable: false }];
        Scope { sources, ..Scope::EMPTY }
    }

    /// Nothing.
    pub(super) const EMPTY: Scope =
        Scope { sources: Vec::new(), written: None, stored: false, level: 0, plain: false, rows: None };

    /// The same, but for expressions without subqueries.
    pub(super) fn flat(&self) -> Scope {
        Scope { level: usize::MAX, plain: true, ..self.clone() }
    }

    /// The same for a statement that writes the table.
    pub(super) fn writing(table: usize) -> Scope {
        Scope { written: Some(table), ..Scope::of(table) }
    }

    /// The same for values that are stored in a table.
    pub(super) fn storing(self, table: usize) -> Scope {
        Scope { written: Some(table), stored: true, ..self }
    }
}

/// Whether values of the kind have an order that is the same everywhere. (Texts are such that they have.)
pub(super) fn can_order(kind: Kind) -> bool {
    !matches!(kind, Kind::Bytes | Kind::Boolean)
}

/// Whether values of the kind are equal or not without doubt, so that rows can be grouped by them.
pub(super) fn can_group(kind: Kind) -> bool {
    !matches!(kind, Kind::Bytes | Kind::Boolean | Kind::Float)
}

impl<'a> Maker<'a> {
    pub(super) fn new(
        model: &'a Model,
        language: &'a Language,
        schema: &'a Schema,
        demands: Demands,
        random: Random,
    ) -> Maker<'a> {
        let mut maker = Maker {
            model,
            language,
            schema,
            demands,
            random,
            relations: schema.tables.iter().map(Relation::of).collect(),
            table_ranks: (0..schema.tables.len()).collect(),
            contested: Vec::new(),
            keys: Keys::of(&schema.tables),
            budget: Budget::of(model),
            tally: Tally::default(),
        };
        maker.random.shuffle(&mut maker.table_ranks);
        for relation in &mut maker.relations {
            maker.random.shuffle(&mut relation.ranks);
        }
        maker.contested = (0..schema.tables.len()).map(|table| maker.new_keys(table)).collect();
        maker
    }

    /// What stands at a position among the relations.
    pub(super) fn relation(&self, at: usize) -> Rc<Table> {
        Rc::clone(&self.relations[at].table)
    }

    /// The kind of a column.
    pub(super) fn kind_of(&self, source: &Source, column: usize) -> Kind {
        self.relations[source.table].table.columns[column].kind
    }

    pub(super) fn has(&self, construct: Construct) -> bool {
        self.language.has(construct)
    }

    /// Keys that no row has at the start; fewer if they are hard to find.
    fn new_keys(&mut self, table: usize) -> Vec<Vec<Value>> {
        let definition = &self.schema.tables[table];
        let mut keys = Vec::new();
        if definition.keys_once {
            return keys;
        }
        for _ in 0..CONTESTED * 2 {
            let key: Vec<Value> = definition.primary_key.iter().map(|at| self.fresh(table, *at)).collect();
            let taken = definition.rows.iter().any(|row| definition.primary_key.iter().map(|at| &row[*at]).eq(&key));
            if !taken && !keys.contains(&key) && keys.len() < CONTESTED {
                keys.push(key);
            }
        }
        keys
    }

    /// A table, by rank.
    pub(super) fn table(&mut self) -> usize {
        let rank = self.model.count(&features::TABLE_RANK, &mut self.random).saturating_sub(1);
        self.table_ranks[rank % self.table_ranks.len()]
    }

    /// A row of a relation as it is at the start, by rank; `None` if it is empty.
    pub(super) fn row(&mut self, table: usize) -> Option<Vec<Value>> {
        let rank = self.model.count(&features::ROW_RANK, &mut self.random).saturating_sub(1);
        let Relation { table, ranks, .. } = &self.relations[table];
        let at = ranks.get(rank % ranks.len().max(1))?;
        Some(table.rows[*at].clone())
    }

    /// A key that several sessions try to insert, or (where keys are used once) that one inserts; `None` if the table
    /// has no key.
    pub(super) fn contested_key(&mut self, table: usize) -> Option<Vec<Value>> {
        if self.schema.tables.get(table)?.keys_once {
            return self.born_key(table).map(|key| vec![key]);
        }
        self.random.pick(&self.contested[table]).filter(|key| !key.is_empty()).cloned()
    }

    pub(super) fn extent(&self, table: usize, column: usize) -> Extent {
        self.relations[table].extents[column]
    }

    /// A new value for a column, which keeps it tame if it is.
    pub(super) fn fresh(&mut self, table: usize, column: usize) -> Value {
        let relation = self.relation(table);
        let definition = &relation.columns[column];
        for _ in 0..DRAWS_MAX {
            let value = values::fresh(definition, self.model, &mut self.random);
            if Extent::of_value(&value).fits(definition.kind, &self.extent(table, column)) {
                return value;
            }
        }
        self.random.pick(&relation.rows).map_or(Value::Null, |row| row[column].clone())
    }

    /// A new value that no row has at the start, as far as that is easy to find: for keys.
    pub(super) fn unused(&mut self, table: usize, column: usize) -> Value {
        let rows = &self.schema.tables[table].rows;
        let mut value = Value::Null;
        for _ in 0..DRAWS_MAX {
            value = self.fresh(table, column);
            if !rows.iter().any(|row| row[column] == value) {
                break;
            }
        }
        value
    }

    /// Whether the column belongs to a key, so that values may not appear twice in it.
    pub(super) fn is_unique(&self, table: usize, column: usize) -> bool {
        let table = &self.schema.tables[table];
        table.primary_key.contains(&column) || table.unique_keys.iter().any(|key| key.contains(&column))
    }

    /// A value that a column has at the start; a new one if the table is empty.
    pub(super) fn existing(&mut self, table: usize, column: usize) -> Value {
        match self.row(table) {
            Some(row) => row[column].clone(),
            None => self.fresh(table, column),
        }
    }

    /// A constant to compare a column with: new, or one that exists.
    pub(super) fn constant(&mut self, table: usize, column: usize) -> Value {
        match self.model.word(&features::CONSTANT_SOURCE, &mut self.random, |_| true) {
            Some("existing") => self.existing(table, column),
            _ => self.fresh(table, column),
        }
    }

    /// The same, but not NULL; `None` if that is hard to find.
    pub(super) fn constant_not_null(&mut self, table: usize, column: usize) -> Option<Value> {
        (0..DRAWS_MAX).map(|_| self.constant(table, column)).find(|value| *value != Value::Null)
    }

    /// A column of a source, as an expression speaks of it.
    pub(super) fn column_use(&self, source: &Source, column: usize) -> ColumnUse {
        let Relation { table, extents, computed, .. } = &self.relations[source.table];
        let definition = &table.columns[column];
        ColumnUse {
            qualifier: source.qualifier.clone(),
            name: definition.name.clone(),
            kind: definition.kind,
            extent: extents[column],
            computed: *computed,
            not_null: !source.nullable && (definition.not_null || table.primary_key.contains(&column)),
        }
    }

    /// One of the columns in scope that are as wanted: its source and its position.
    pub(super) fn pick_column(&mut self, scope: &Scope, wanted: impl Fn(Kind) -> bool) -> Option<(Source, usize)> {
        let mut found = Vec::new();
        for (source, from) in scope.sources.iter().enumerate() {
            let columns = self.relations[from.table].table.columns.iter().enumerate();
            found.extend(columns.filter(|(_, column)| wanted(column.kind)).map(|(at, _)| (source, at)));
        }
        let (source, column) = *self.random.pick(&found)?;
        Some((scope.sources[source].clone(), column))
    }
}

//! What one statement of a session refers to and writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sqlparser::ast::{
    Assignment, AssignmentTarget, BinaryOperator, Delete, Expr, FromTable, Insert, OnConflictAction, OnInsert,
    OrderByExpr, Query, SetExpr, SqliteOnConflict, Statement, TableFactor, TableObject, TableWithJoins, Update, Visit,
    With,
};

use super::reads::{BeforeWrite, Beside};
use super::references::{Hidden, beside_locks, mentions_columns, names, tables, tables_of_with};
use super::schema::{Definition, Schema};
use super::text::{last_plain, plain};
use super::{Skip, Target, output, refuse, rows, versions};
use crate::graph::Uses;

const MANY: Skip = Skip("a write to several tables");

type Tables = BTreeMap<Arc<str>, Uses>;

/// What for a table is used.
type Flag = fn(&mut Uses) -> &mut bool;

const READ: Flag = |uses| &mut uses.read;
const WRITE: Flag = |uses| &mut uses.write;
const VALUE: Flag = |uses| &mut uses.value;

/// Makes a statement ready, which writes this version if it writes; also says what its reads are made of.
pub(super) fn target(statement: &mut Statement, schema: &Schema, version: i64) -> Result<(Target, Beside), Skip> {
    let maker = Maker { schema, version };
    match statement {
        Statement::Query(query) => {
            let with = query.with.clone();
            match query.body.as_mut() {
                SetExpr::Insert(write) | SetExpr::Update(write) | SetExpr::Delete(write) => {
                    maker.write(write, with.as_ref())
                }
                SetExpr::Merge(_) => Err(Skip("MERGE")),
                _ => maker.query(query),
            }
        }
        write => maker.write(write, None),
    }
}

struct Maker<'a> {
    schema: &'a Schema,
    version: i64,
}

impl Maker<'_> {
    fn query(&self, query: &mut Query) -> Result<(Target, Beside), Skip> {
        let locks = !query.locks.is_empty();
        let unlocked = if locks { beside_locks(query, self.schema)? } else { BTreeSet::new() };
        let mut uses = Tables::new();
        self.mark(&mut uses, &*query, &Hidden::new(), &[READ])?;
        let output = output::append(query, self.schema);
        Ok((
            Target { uses, written: None, version: None, locks, inserts: false, chooses: false, output },
            Beside { before: None, unlocked },
        ))
    }

    fn write(&self, statement: &mut Statement, with: Option<&With>) -> Result<(Target, Beside), Skip> {
        let mut uses = Tables::new();
        let roles: &[Flag] = if matches!(statement, Statement::Delete(_)) { &[READ] } else { &[READ, VALUE] };
        if let Some(with) = with {
            mark(&mut uses, tables_of_with(with, self.schema)?, roles);
        }
        let hidden = names(with);
        let (written, before) = match statement {
            Statement::Update(update) => self.update(update, &mut uses, &hidden)?,
            Statement::Delete(delete) => self.delete(delete, &mut uses, &hidden)?,
            Statement::Insert(insert) => (self.insert(insert, &mut uses, &hidden)?, None),
            Statement::Merge { .. } => return Err(Skip("MERGE")),
            _ => return Err(Skip("a statement that is neither a query nor a write")),
        };
        let version = (!matches!(statement, Statement::Delete(_))).then_some(self.version);
        let before = before.map(|before| BeforeWrite { with: with.cloned(), ..before });
        let beside = Beside { before, unlocked: BTreeSet::new() };
        let inserts = matches!(statement, Statement::Insert(_));
        let chooses = inserts && uses.get(&written).is_some_and(|one| one.write);
        Ok((Target { uses, written: Some(written), version, locks: false, inserts, chooses, output: None }, beside))
    }

    fn update(
        &self,
        update: &mut Update,
        uses: &mut Tables,
        hidden: &Hidden,
    ) -> Result<(Arc<str>, Option<BeforeWrite>), Skip> {
        if update.from.is_some() {
            return Err(MANY);
        }
        if update.or.is_some() {
            return Err(Skip("UPDATE OR"));
        }
        let (name, table, alias) = self.single(&update.table)?;
        versions::assign(&mut update.assignments, table, self.version)?;
        if computes_unique(&update.assignments, table) && !is_one_row(update.selection.as_ref(), table) {
            // Whether such values collide on the way depends on the order in which the rows are visited.
            return Err(Skip("a unique key that is computed for several rows"));
        }
        refuse_cut(update.limit.as_ref(), &update.order_by, table)?;
        *WRITE(uses.entry(name.clone()).or_default()) = true;
        self.mark(uses, &update.selection, hidden, &[READ])?;
        self.mark(uses, &update.order_by, hidden, &[READ])?;
        self.mark(uses, &update.returning, hidden, &[READ])?;
        self.mark(uses, &update.assignments, hidden, &[VALUE])?;
        if computed(&update.assignments, table, &alias) {
            *VALUE(uses.entry(name.clone()).or_default()) = true;
        }
        let before = BeforeWrite {
            with: None,
            from: update.table.clone(),
            table: name.clone(),
            selection: update.selection.clone(),
            order_by: update.order_by.clone(),
            limit: update.limit.clone(),
        };
        Ok((name, Some(before)))
    }

    fn delete(
        &self,
        delete: &Delete,
        uses: &mut Tables,
        hidden: &Hidden,
    ) -> Result<(Arc<str>, Option<BeforeWrite>), Skip> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let [from] = from.as_slice() else { return Err(MANY) };
        if !delete.tables.is_empty() || delete.using.is_some() {
            return Err(MANY);
        }
        let (name, table, _) = self.single(from)?;
        refuse_cut(delete.limit.as_ref(), &delete.order_by, table)?;
        *WRITE(uses.entry(name.clone()).or_default()) = true;
        self.mark(uses, &delete.selection, hidden, &[READ])?;
        self.mark(uses, &delete.order_by, hidden, &[READ])?;
        self.mark(uses, &delete.returning, hidden, &[READ])?;
        let before = BeforeWrite {
            with: None,
            from: from.clone(),
            table: name.clone(),
            selection: delete.selection.clone(),
            order_by: delete.order_by.clone(),
            limit: delete.limit.clone(),
        };
        Ok((name, Some(before)))
    }

    fn insert(&self, insert: &mut Insert, uses: &mut Tables, hidden: &Hidden) -> Result<Arc<str>, Skip> {
        let TableObject::TableName(name) = &insert.table else {
            return Err(Skip("an insert into something else than a table"));
        };
        let (name, table) = self.schema.written(name)?;
        let name = name.clone();
        if matches!(insert.or, Some(SqliteOnConflict::Rollback)) || insert.overwrite {
            return Err(Skip("an unusual INSERT"));
        }
        let chooses = insert.ignore || insert.replace_into || insert.on.is_some() || insert.or.is_some();
        if chooses {
            self.refuse_unordered_source(insert.source.as_deref(), hidden)?;
            *WRITE(uses.entry(name.clone()).or_default()) = true;
        }
        if let Some(source) = &insert.source {
            self.source(source, uses, hidden)?;
        }
        self.mark(uses, &insert.assignments, hidden, &[VALUE])?;
        self.mark(uses, &insert.returning, hidden, &[READ])?;
        versions::insert(insert, self.schema, table, self.version)?;
        let empty = Vec::new();
        let (assignments, selection) = match &insert.on {
            Some(OnInsert::DuplicateKeyUpdate(assignments)) => (assignments, None),
            Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
                OnConflictAction::DoUpdate(update) => (&update.assignments, update.selection.as_ref()),
                OnConflictAction::DoNothing => (&empty, None),
            },
            _ => (&empty, None),
        };
        self.mark(uses, assignments, hidden, &[VALUE])?;
        self.mark(uses, &selection.cloned(), hidden, &[READ])?;
        let alias = insert.table_alias.as_ref().map_or_else(|| name.to_string(), |alias| plain(&alias.alias));
        if computed(assignments, table, &alias) {
            *VALUE(uses.entry(name.clone()).or_default()) = true;
        }
        Ok(name)
    }

    /// The source of an INSERT: what is selected is written, what is only asked in its WHERE clause is read.
    fn source(&self, source: &Query, uses: &mut Tables, hidden: &Hidden) -> Result<(), Skip> {
        match source.body.as_ref() {
            SetExpr::Values(values) => self.mark(uses, values, hidden, &[VALUE]),
            SetExpr::Select(select) if select.selection.is_some() && source.with.is_none() => {
                self.mark(uses, &select.selection, hidden, &[READ])?;
                let mut rest = source.clone();
                if let SetExpr::Select(select) = rest.body.as_mut() {
                    select.selection = None;
                }
                self.mark(uses, &rest, hidden, &[READ, VALUE])
            }
            _ => self.mark(uses, source, hidden, &[READ, VALUE]),
        }
    }

    /// Which of several rows with one key is inserted depends on which comes first.
    fn refuse_unordered_source(&self, source: Option<&Query>, hidden: &Hidden) -> Result<(), Skip> {
        let is_certain = source.is_none_or(|source| {
            matches!(source.body.as_ref(), SetExpr::Values(_)) || rows::is_ordered(source, self.schema, hidden)
        });
        if is_certain { Ok(()) } else { Err(Skip("an upsert of rows in no certain order")) }
    }

    /// The only table of an UPDATE or DELETE, and the name that it goes by.
    fn single(&self, from: &TableWithJoins) -> Result<(Arc<str>, &Definition, String), Skip> {
        let TableFactor::Table { name, alias, args: None, .. } = &from.relation else { return Err(MANY) };
        if !from.joins.is_empty() {
            return Err(MANY);
        }
        let (table, definition) = self.schema.written(name)?;
        let alias = alias.as_ref().map_or_else(|| last_plain(name), |alias| plain(&alias.name));
        Ok((table.clone(), definition, alias))
    }

    fn mark(&self, uses: &mut Tables, parts: &impl Visit, hidden: &Hidden, flags: &[Flag]) -> Result<(), Skip> {
        mark(uses, tables(parts, self.schema, hidden)?, flags);
        Ok(())
    }
}

fn mark(uses: &mut Tables, tables: BTreeSet<Arc<str>>, flags: &[Flag]) {
    for table in tables {
        let uses = uses.entry(table).or_default();
        flags.iter().for_each(|flag| *flag(uses) = true);
    }
}

/// Whether what is assigned is computed from columns of the row itself.
fn computed(assignments: &[Assignment], table: &Definition, alias: &str) -> bool {
    assignments.iter().any(|assignment| mentions_columns(&assignment.value, table, alias))
}

/// Whether a column of a unique key is assigned something else than a constant.
fn computes_unique(assignments: &[Assignment], table: &Definition) -> bool {
    assignments.iter().any(|assignment| {
        let columns = match &assignment.target {
            AssignmentTarget::ColumnName(column) => std::slice::from_ref(column),
            AssignmentTarget::Tuple(columns) => columns,
        };
        columns.iter().any(|column| table.is_unique(&last_plain(column))) && !is_constant(&assignment.value)
    })
}

fn is_constant(expression: &Expr) -> bool {
    match expression {
        Expr::Value(_) | Expr::TypedString(_) => true,
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) => is_constant(expr),
        _ => false,
    }
}

/// Whether a condition demands one primary key, so that at most one row meets it.
fn is_one_row(condition: Option<&Expr>, table: &Definition) -> bool {
    table.key.iter().all(|key| condition.is_some_and(|condition| demands(condition, &plain(key))))
}

fn demands(condition: &Expr, key: &str) -> bool {
    match condition {
        Expr::Nested(inner) => demands(inner, key),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => demands(left, key) || demands(right, key),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
            let column = match left.as_ref() {
                Expr::Identifier(name) => Some(name),
                Expr::CompoundIdentifier(names) => names.last(),
                _ => None,
            };
            column.is_some_and(|column| plain(column) == key) && is_constant(right)
        }
        _ => false,
    }
}

/// A LIMIT must take the same rows whatever order they are stored in.
fn refuse_cut(limit: Option<&Expr>, order: &[OrderByExpr], table: &Definition) -> Result<(), Skip> {
    let is_ordered_by = |key: String| {
        order.iter().any(|order| match &order.expr {
            Expr::Identifier(name) => plain(name) == key,
            Expr::CompoundIdentifier(names) => names.last().is_some_and(|name| plain(name) == key),
            _ => false,
        })
    };
    let is_total = table.key.iter().map(plain).all(is_ordered_by);
    if limit.is_some() && !is_total { Err(refuse::NO_ORDER) } else { Ok(()) }
}

//! INSERT, UPDATE and DELETE.

use sqlparser::ast::{
    Assignment, AssignmentTarget, ConflictTarget, Delete, Expr, FromTable, Ident, Insert, ObjectName, OnConflictAction,
    OnInsert, SelectItem, SetExpr, TableObject, Update, UpdateTableFromKind,
};

use super::scope::{Kind, Output, Relation, Scope};
use super::{Analyzer, Assigned, EVERY, Effect, Place, Reach};
use crate::program::BinaryOp;
use crate::program::diagnostic::Diagnostic;
use crate::program::located::{last_plain, plain};
use crate::program::predicate::{ColumnRef, Element, Predicate, Term};

/// The name of the row that an upsert could not insert.
pub(super) const EXCLUDED: &str = "excluded";

impl Analyzer<'_> {
    pub(super) fn insert(&mut self, insert: &Insert) -> Vec<Output> {
        let TableObject::TableName(name) = &insert.table else { return self.not_a_table() };
        let chooses = insert.ignore || insert.replace_into || insert.or.is_some() || insert.on.is_some();
        let effect = if chooses { Effect::Upsert } else { Effect::Insert };
        let alias = insert.table_alias.as_ref().map(|alias| &alias.alias);
        let relation = self.relation(name, alias, effect);
        let Kind::Table { access, name } = relation.kind.clone() else { return self.not_a_table() };
        let columns = self.target_columns(insert, &name);
        let rows = self.rows(insert, &columns);
        for row in &rows {
            for (column, term) in row {
                let element = Element { table: name.clone(), column: column.clone() };
                self.read(term, &Place::Value(element));
                self.access.tables[access].assigned.push(Assigned { column: column.clone(), value: term.clone() });
            }
        }
        let every = self.columns_of(&name);
        self.access.tables[access].writes.extend(every.into_iter().chain(columns));
        if chooses {
            self.upsert(insert, relation.clone(), access, &rows);
        }
        self.scopes.push(Scope { relations: vec![relation] });
        let outputs = self.returning(insert.returning.as_deref());
        self.scopes.pop();
        outputs
    }

    pub(super) fn not_a_table(&mut self) -> Vec<Output> {
        let message = "a write to something else than a table is not analysed";
        self.diagnostics.push(Diagnostic::error(self.located.whole(), message).with_hint("write to the table itself"));
        Vec::new()
    }

    /// The columns that an INSERT names, or all.
    fn target_columns(&mut self, insert: &Insert, table: &str) -> Vec<String> {
        if insert.columns.is_empty() {
            let assigned = insert.assignments.iter().flat_map(targets).map(|(_, column)| plain(column));
            let assigned: Vec<String> = assigned.collect();
            return if assigned.is_empty() { self.columns_of(table) } else { assigned };
        }
        for column in insert.columns.iter().filter_map(|column| column.0.last()?.as_ident()) {
            let is_known = self.schema.table(table).is_none_or(|table| table.column(&plain(column)).is_some());
            if !is_known {
                let relation =
                    Relation { alias: table.to_string(), kind: Kind::Table { access: 0, name: table.into() } };
                self.scopes.push(Scope { relations: vec![relation] });
                self.resolve(None, column);
                self.scopes.pop();
            }
        }
        insert.columns.iter().map(last_plain).collect()
    }

    /// What is inserted, by column: every row of VALUES, or one that stands for all rows of a query.
    fn rows(&mut self, insert: &Insert, columns: &[String]) -> Vec<Vec<(String, Term)>> {
        let Some(source) = &insert.source else {
            let row: Vec<(String, Term)> =
                insert.assignments.iter().map(|one| (target_name(one), self.term(&one.value))).collect();
            return if row.is_empty() { Vec::new() } else { vec![row] };
        };
        let rows: Vec<Vec<Term>> = match source.body.as_ref() {
            SetExpr::Values(values) => {
                let row = |row: &Vec<Expr>| row.iter().map(|value| self.term(value)).collect();
                let rows: Vec<&Vec<Expr>> = values.rows.iter().map(|row| &row.content).collect();
                rows.into_iter().map(row).collect()
            }
            _ => {
                let row = self.query(source).iter().map(Output::seen_outside).collect();
                self.access.selection = self.answered.take();
                vec![row]
            }
        };
        if let Some(row) = rows.iter().find(|row| row.len() != columns.len() && !columns.contains(&EVERY.to_string())) {
            let message = format!("{} columns are to be filled with {} values", columns.len(), row.len());
            self.diagnostics.push(Diagnostic::error(self.located.whole(), message));
        }
        rows.into_iter().map(|row| columns.iter().cloned().zip(row).collect()).collect()
    }

    /// An INSERT that looks first whether the row is there, and may change it.
    fn upsert(&mut self, insert: &Insert, relation: Relation, access: usize, rows: &[Vec<(String, Term)>]) {
        let predicate = self.conflict(insert, access, rows);
        if predicate == Predicate::True {
            // The server numbers the rows: there is nothing to collide with.
            self.access.tables[access].reach = Reach::Nothing;
        }
        for column in predicate.columns() {
            self.access.tables[access].tests.insert(column.element.column.clone());
        }
        self.access.tables[access].predicate = predicate;
        let first = rows.first().cloned().unwrap_or_default();
        let alias = insert.insert_alias.as_ref().map_or(EXCLUDED.to_string(), |alias| last_plain(&alias.row_alias));
        let excluded = |alias: &str| Relation { alias: alias.to_string(), kind: Kind::Excluded(first.clone()) };
        let mut relations = vec![relation, excluded(EXCLUDED)];
        if alias != EXCLUDED {
            relations.push(excluded(&alias));
        }
        self.scopes.push(Scope { relations });
        let (assignments, selection) = match &insert.on {
            Some(OnInsert::DuplicateKeyUpdate(assignments)) => (assignments.as_slice(), None),
            Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
                OnConflictAction::DoUpdate(update) => (update.assignments.as_slice(), update.selection.as_ref()),
                OnConflictAction::DoNothing => (&[][..], None),
            },
            _ => (&[][..], None),
        };
        self.assign(assignments, None);
        if let Some(selection) = selection {
            let predicate = self.predicate(selection);
            self.test(&predicate);
        }
        self.scopes.pop();
    }

    /// Which rows may collide: those with the inserted values of a key.
    fn conflict(&self, insert: &Insert, access: usize, rows: &[Vec<(String, Term)>]) -> Predicate {
        let (table, span) = (&self.access.tables[access].table, self.access.tables[access].span);
        let named = match &insert.on {
            Some(OnInsert::OnConflict(conflict)) => match &conflict.conflict_target {
                Some(ConflictTarget::Columns(columns)) => Some(columns.iter().map(plain).collect::<Vec<_>>()),
                _ => None,
            },
            _ => None,
        };
        let value = |column: &String, row: &[(String, Term)]| {
            row.iter().find(|(name, _)| name == column).map(|(_, term)| term.clone())
        };
        let is_filled = |key: &&[String]| {
            key.iter().all(|column| !rows.is_empty() && rows.iter().all(|row| value(column, row).is_some()))
        };
        let keys: Vec<&[String]> = match (&named, self.schema.table(table)) {
            (Some(named), _) => vec![named],
            (None, Some(table)) => table.keys().collect(),
            (None, None) => Vec::new(),
        };
        let Some(key) = keys.into_iter().find(is_filled) else { return Predicate::True };
        let equal = key.iter().map(|column| {
            let element = Element { table: table.clone(), column: column.clone() };
            let term = Term::Column(ColumnRef { access, element, span });
            let mut list: Vec<Term> = rows.iter().filter_map(|row| value(column, row)).collect();
            match list.len() {
                1 => Predicate::Compare { op: BinaryOp::Equal, left: term, right: list.remove(0) },
                _ => Predicate::In { term, list },
            }
        });
        Predicate::all(equal)
    }

    pub(super) fn update(&mut self, update: &Update) -> Vec<Output> {
        let mut conditions = Vec::new();
        let mut from = vec![update.table.clone()];
        match &update.from {
            Some(UpdateTableFromKind::BeforeSet(more) | UpdateTableFromKind::AfterSet(more)) => {
                from.extend(more.iter().cloned());
            }
            None => {}
        }
        let before = self.enter(&from, &mut conditions);
        self.condition(update.selection.as_ref(), &mut conditions);
        let first = self.scopes.last().and_then(|scope| scope.relations.first()).cloned();
        let target = first.filter(|_| update.table.joins.is_empty());
        self.assign(&update.assignments, target.as_ref());
        self.restrict(&conditions, before);
        self.write_rows(&conditions, before, update.limit.is_some());
        self.order(&update.order_by, update.limit.is_some());
        let outputs = self.returning(update.returning.as_deref());
        self.scopes.pop();
        outputs
    }

    /// `SET a = x, b = y`. With a target, names without a qualifier are columns of it.
    pub(super) fn assign(&mut self, assignments: &[Assignment], target: Option<&Relation>) {
        for assignment in assignments {
            let columns = targets(assignment);
            let values: Vec<Term> = match (&assignment.value, columns.len()) {
                (value, 1) => vec![self.term(value)],
                (Expr::Tuple(values), _) => values.iter().map(|value| self.term(value)).collect(),
                (value, count) => vec![Term::Any(self.unknown(value)); count],
            };
            for ((qualifier, column), value) in columns.into_iter().zip(values) {
                let whole = self.scopes.clone();
                if let (Some(target), Some(scope), None) = (target, self.scopes.last_mut(), qualifier) {
                    scope.relations = vec![target.clone()];
                }
                let resolved = self.resolve(qualifier, column);
                self.scopes = whole;
                let Term::Column(column) = resolved else {
                    self.read(&value, &Place::Other);
                    continue;
                };
                self.read(&value, &Place::Value(column.element.clone()));
                let access = &mut self.access.tables[column.access];
                if access.effect == Effect::Read {
                    access.effect = Effect::Update;
                }
                access.writes.insert(column.element.column.clone());
                if access.effect == Effect::Update {
                    access.assigned.push(Assigned { column: column.element.column, value });
                }
            }
        }
    }

    pub(super) fn delete(&mut self, delete: &Delete) -> Vec<Output> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let mut conditions = Vec::new();
        let all: Vec<_> = from.iter().chain(delete.using.iter().flatten()).cloned().collect();
        let before = self.enter(&all, &mut conditions);
        self.condition(delete.selection.as_ref(), &mut conditions);
        self.restrict(&conditions, before);
        self.write_rows(&conditions, before, delete.limit.is_some());
        let named: Vec<String> = delete.tables.iter().map(last_plain).collect();
        let relations = self.scopes.last().map(|scope| scope.relations.clone()).unwrap_or_default();
        // `DELETE FROM a USING b` deletes from a; `DELETE a FROM a JOIN b` says from which.
        let targets = relations
            .iter()
            .enumerate()
            .filter(|(at, relation)| if named.is_empty() { *at == 0 } else { named.contains(&relation.alias) });
        for (_, relation) in targets {
            let Kind::Table { access, name } = &relation.kind else { return self.not_a_table() };
            let every = self.columns_of(name);
            self.access.tables[*access].effect = Effect::Delete;
            self.access.tables[*access].writes.extend(every);
        }
        self.order(&delete.order_by, delete.limit.is_some());
        let outputs = self.returning(delete.returning.as_deref());
        self.scopes.pop();
        outputs
    }

    fn returning(&mut self, items: Option<&[SelectItem]>) -> Vec<Output> {
        items.map(|items| self.project(items)).unwrap_or_default()
    }
}

/// The columns that an assignment writes, with their qualifiers.
fn targets(assignment: &Assignment) -> Vec<(Option<&Ident>, &Ident)> {
    let names: &[ObjectName] = match &assignment.target {
        AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
        AssignmentTarget::Tuple(names) => names,
    };
    let target = |name: &'_ ObjectName| -> Option<(Option<usize>, usize)> {
        let last = name.0.len().checked_sub(1)?;
        Some((last.checked_sub(1), last))
    };
    let parts = names.iter().filter_map(|name| {
        let (qualifier, column) = target(name)?;
        let qualifier = qualifier.and_then(|at| name.0[at].as_ident());
        Some((qualifier, name.0[column].as_ident()?))
    });
    parts.collect()
}

fn target_name(assignment: &Assignment) -> String {
    targets(assignment).first().map(|(_, column)| plain(column)).unwrap_or_default()
}

//! MERGE and TRUNCATE.

use sqlparser::ast::{
    Expr, Merge, MergeAction, MergeClause, MergeInsertExpr, MergeInsertKind, MergeUpdateKind, TableWithJoins, Truncate,
};

use super::scope::{Kind, Output, Relation};
use super::{Analyzer, Assigned, Effect, Place};
use crate::program::located::last_plain;
use crate::program::predicate::{Element, Term};

impl Analyzer<'_> {
    pub(super) fn truncate(&mut self, truncate: &Truncate) -> Vec<Output> {
        for target in &truncate.table_names {
            let relation = self.relation(&target.name, None, Effect::Delete);
            let Kind::Table { access, name } = relation.kind else { return self.not_a_table() };
            let every = self.columns_of(&name);
            self.access.tables[access].writes.extend(every);
        }
        Vec::new()
    }

    /// Rows of a table and rows of a source are compared; those that match are changed or removed, others inserted.
    pub(super) fn merge(&mut self, merge: &Merge) -> Vec<Output> {
        let from = [&merge.table, &merge.source].map(|one| TableWithJoins { relation: one.clone(), joins: Vec::new() });
        let mut conditions = Vec::new();
        let before = self.enter(&from, &mut conditions);
        self.condition(Some(&merge.on), &mut conditions);
        let target = self.scopes.last().and_then(|scope| scope.relations.first()).cloned();
        if let Some(target) = target {
            for clause in &merge.clauses {
                self.merge_clause(clause, &target);
            }
        }
        self.restrict(&conditions, before);
        self.scopes.pop();
        Vec::new()
    }

    fn merge_clause(&mut self, clause: &MergeClause, target: &Relation) {
        let Kind::Table { access, name } = &target.kind else { return drop(self.not_a_table()) };
        let mut asked: Vec<&Expr> = clause.predicate.iter().collect();
        match &clause.action {
            MergeAction::Update(update) => {
                asked.extend(update.update_predicate.iter().chain(&update.delete_predicate));
                match &update.kind {
                    MergeUpdateKind::Set(assignments) => self.assign(assignments, Some(target)),
                    MergeUpdateKind::Wildcard => self.all_change(*access, name, Effect::Update),
                }
                if update.delete_predicate.is_some() {
                    self.all_change(*access, name, Effect::Delete);
                }
            }
            MergeAction::Insert(insert) => {
                asked.extend(&insert.insert_predicate);
                self.all_change(*access, name, Effect::Upsert);
                self.merged_row(insert, *access, name);
            }
            MergeAction::Delete { .. } => self.all_change(*access, name, Effect::Delete),
            MergeAction::DoNothing { .. } => {}
        }
        for condition in asked {
            let predicate = self.predicate(condition);
            self.test(&predicate);
        }
    }

    /// All columns are written. Rows that may come as well as go or change are what an upsert leaves.
    fn all_change(&mut self, access: usize, table: &str, effect: Effect) {
        let every = self.columns_of(table);
        let access = &mut self.access.tables[access];
        access.writes.extend(every);
        access.effect = if access.effect == Effect::Read { effect } else { Effect::Upsert };
        access.assigned.clear();
    }

    fn merged_row(&mut self, insert: &MergeInsertExpr, access: usize, table: &str) {
        let MergeInsertKind::Values(values) = &insert.kind else { return };
        let named: Vec<String> = insert.columns.iter().map(last_plain).collect();
        let columns = if named.is_empty() { self.columns_of(table) } else { named };
        for row in &values.rows {
            let terms: Vec<Term> = row.content.iter().map(|value| self.term(value)).collect();
            for (column, value) in columns.iter().cloned().zip(terms) {
                self.read(&value, &Place::Value(Element { table: table.to_string(), column: column.clone() }));
                self.access.tables[access].assigned.push(Assigned { column, value });
            }
        }
    }
}

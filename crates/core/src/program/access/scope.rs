//! Which column a name is.

use std::collections::BTreeSet;

use sqlparser::ast::{Ident, ObjectName};

use super::{Analyzer, EVERY, OutputColumn};
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::Span;
use crate::program::located::{last_plain, plain};
use crate::program::predicate::{ColumnRef, Element, Term, Unknown};
use crate::program::schema::Table;
use crate::suggest;

/// What the names of one query can refer to.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub(super) relations: Vec<Relation>,
}

impl Scope {
    /// The scope of a constraint: its own table.
    pub(super) fn of_table(access: usize, table: &Table) -> Scope {
        let name = table.name.clone();
        Scope { relations: vec![Relation { alias: name.clone(), kind: Kind::Table { access, name } }] }
    }
}

/// Something in a FROM clause.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    /// The name that it goes by.
    pub(super) alias: String,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A table.
    Table { access: usize, name: String },
    /// A subquery, view or common table expression: its columns.
    Derived(Vec<Output>),
    /// The row that an upsert could not insert: its values.
    Excluded(Vec<(String, Term)>),
    /// A function or the like: any name may be a column of it.
    Unknown,
}

/// A column of a query's answer.
#[derive(Debug, Clone)]
pub(super) struct Output {
    pub(super) name: Option<String>,
    pub(super) term: Term,
}

impl Output {
    /// Any number of columns, of any name.
    pub(super) fn every() -> Output {
        Output { name: Some(EVERY.to_string()), term: Term::Any(Unknown::default()) }
    }

    pub(super) fn finish(self) -> OutputColumn {
        let is_copy = self.term.as_column().is_some();
        OutputColumn { name: self.name, origins: self.term.origins(), is_copy }
    }

    /// The same, seen from outside the query: the value has been read already.
    pub(super) fn seen_outside(&self) -> Term {
        Term::Any(Unknown { over: Vec::new(), origins: self.term.origins() })
    }
}

impl Analyzer<'_> {
    /// The column or variable that a name stands for.
    pub(super) fn resolve(&mut self, qualifier: Option<&Ident>, column: &Ident) -> Term {
        let (name, span) = (plain(column), self.located.name(column));
        let wanted = qualifier.map(plain);
        for depth in (0..self.scopes.len()).rev() {
            let is_wanted = |one: &&Relation| wanted.as_ref().is_none_or(|wanted| one.alias == *wanted);
            let candidates: Vec<&Relation> = self.scopes[depth].relations.iter().filter(is_wanted).collect();
            if let Some(found) = candidates.iter().find_map(|relation| self.known(relation, &name, span)) {
                return found;
            }
            // With a single candidate that nothing is known about, the name must be a column of it.
            if let Some(term) = candidates.iter().find_map(|relation| self.assumed(relation, &name, span)) {
                return term;
            }
            if wanted.is_some() && !candidates.is_empty() {
                break;
            }
        }
        self.unknown_column(wanted.as_deref(), &name, span)
    }

    /// The column of a relation whose columns are known.
    fn known(&self, relation: &Relation, name: &str, span: Span) -> Option<Term> {
        match &relation.kind {
            Kind::Table { access, name: table } => {
                self.schema.table(table)?.column(name)?;
                Some(column(*access, table, name, span))
            }
            Kind::Derived(outputs) => {
                outputs.iter().find(|output| output.name.as_deref() == Some(name)).map(Output::seen_outside)
            }
            Kind::Excluded(values) => values.iter().find(|(column, _)| column == name).map(|(_, term)| term.clone()),
            Kind::Unknown => None,
        }
    }

    /// The column of a relation of which nothing is known.
    fn assumed(&self, relation: &Relation, name: &str, span: Span) -> Option<Term> {
        match &relation.kind {
            Kind::Table { access, name: table } if self.schema.table(table).is_none() => {
                Some(column(*access, table, name, span))
            }
            Kind::Derived(outputs) if outputs.iter().any(|output| output.name.as_deref() == Some(EVERY)) => {
                Some(Term::Any(Unknown::default()))
            }
            Kind::Unknown => Some(Term::Any(Unknown::default())),
            _ => None,
        }
    }

    fn unknown_column(&mut self, qualifier: Option<&str>, name: &str, span: Span) -> Term {
        // Words that some dialects write without parentheses.
        let is_function = name.starts_with("current_") || ["localtime", "localtimestamp", "default"].contains(&name);
        let is_oracles = ["rownum", "rowid", "sysdate", "systimestamp"].contains(&name);
        let is_sequence = qualifier.is_some() && ["nextval", "currval"].contains(&name);
        if is_sequence || (qualifier.is_none() && (is_function || is_oracles || name.starts_with('@'))) {
            return Term::Any(Unknown::default());
        }
        let relations = || self.scopes.iter().rev().flat_map(|scope| &scope.relations);
        let is_known = |qualifier: &str| relations().any(|relation| relation.alias == qualifier);
        let diagnostic = match qualifier {
            Some(qualifier) if !is_known(qualifier) => {
                let hint = suggest::hint(qualifier, relations().map(|relation| relation.alias.as_str()));
                Diagnostic::error(span, format!("{qualifier} is no table of this statement")).with_hint(advice(&hint))
            }
            _ => {
                let tables: Vec<&str> = relations()
                    .filter(|relation| qualifier.is_none_or(|qualifier| relation.alias == qualifier))
                    .filter_map(Relation::table)
                    .collect();
                let columns = tables.iter().filter_map(|table| self.schema.table(table));
                let columns: BTreeSet<&str> =
                    columns.flat_map(|table| table.columns.iter().map(|column| column.name.as_str())).collect();
                let message = match tables.as_slice() {
                    [] => format!("the column {name} is of no table of this statement"),
                    [table] => format!("the table {table} has no column {name}"),
                    tables => format!("none of the tables {} has a column {name}", tables.join(", ")),
                };
                Diagnostic::error(span, message).with_hint(advice(&suggest::hint(name, columns)))
            }
        };
        self.diagnostics.push(diagnostic);
        Term::Any(Unknown::default())
    }

    /// A table by its name: known, a view, a common table expression, or unknown, which is said.
    pub(super) fn relation(&mut self, name: &ObjectName, alias: Option<&Ident>, effect: super::Effect) -> Relation {
        let table = last_plain(name);
        let alias = alias.map_or_else(|| table.clone(), plain);
        if let Some((_, outputs)) = self.ctes.iter().rev().find(|(cte, _)| *cte == table).filter(|_| name.0.len() == 1)
        {
            return Relation { alias, kind: Kind::Derived(outputs.clone()) };
        }
        let span = self.located.span(name);
        if let Some(view) = self.schema.views.get(&table).filter(|_| !self.views.contains(&table)) {
            self.views.push(table);
            let mut outputs = self.query(&view.query);
            self.views.pop();
            for (output, column) in outputs.iter_mut().zip(&view.columns) {
                output.name = Some(column.clone());
            }
            return Relation { alias, kind: Kind::Derived(outputs) };
        }
        // Oracle's table for queries that need none.
        if table == "dual" && self.schema.table(&table).is_none() {
            return Relation { alias, kind: Kind::Unknown };
        }
        if self.schema.table(&table).is_none() && !self.schema.tables.is_empty() {
            let names = self.schema.tables.keys().chain(self.schema.views.keys());
            let hint = suggest::hint(&table, names.map(String::as_str));
            let diagnostic = Diagnostic::error(span, format!("there is no table {table}"));
            self.diagnostics.push(diagnostic.with_hint(advice(&hint)));
        }
        let access = self.mention(&table, span, effect);
        Relation { alias, kind: Kind::Table { access, name: table } }
    }
}

impl Relation {
    fn table(&self) -> Option<&str> {
        if let Kind::Table { name, .. } = &self.kind { Some(name) } else { None }
    }
}

fn column(access: usize, table: &str, name: &str, span: Span) -> Term {
    let element = Element { table: table.to_string(), column: name.to_string() };
    Term::Column(ColumnRef { access, element, span })
}

/// `; did you mean x?` as a hint of its own.
pub(super) fn advice(hint: &str) -> &str {
    hint.trim_start_matches("; ")
}

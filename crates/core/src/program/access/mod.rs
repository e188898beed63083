//! What a SQL statement reads and writes, of which rows.
//!
//! ```text
//!   UPDATE accounts SET balance = balance - :amount WHERE id = :id
//!
//!   accounts: read {balance} test {id} by key; write {balance}       (id is the primary key)
//!   uses :amount for accounts.balance, :id to choose by accounts.id
//! ```
//!
//! The rules, which are those of CLOTHO (§3) and AGENDA (§4):
//!
//! * A condition *tests* its columns in **every** row of the table, also in those that do not match, and with them
//!   whether the row exists: an INSERT of a matching row changes the answer.
//! * A row that is found by its full primary key (or a unique key) with equality is the only one that is looked at.
//! * INSERT and DELETE write every column, and whether the row exists. So does an UPDATE of a key's columns.
//! * `SET x = x + 1` reads `x`.
//! * A host variable is *defined* by INTO or FETCH, from the columns that its value comes from; for `COUNT(*)` and
//!   EXISTS, which have none, these are the columns that decide which rows are counted.
//!
//! A table that is mentioned twice has two accesses. What cannot be resolved is a diagnostic, and counts as *any* value.
//! If no table is known at all, names are taken as they come.
//!
//! # The parts
//!
//! 1. `scope`: which column a name is
//! 2. `terms`, `advisory`: expressions → [`Term`] and [`Predicate`]; what locks beside rows
//! 3. `query`, `write`: clauses → accesses
//! 4. `reach`: by key or by scan
//! 5. [`Selection`]: conditions, columns, aggregates, order: enough to compute a plain query's answer
//! 6. [`nodes`]: the accesses of a whole procedure, with the definitions and uses of its host variables
//!
//! # Limits
//!
//! What constraints and triggers read and write on their own is not here: an INSERT looks up its keys and the rows that
//! it refers to, and a cascade writes; who needs that asks the schema. A cast is taken for the value that it casts.

mod scope;
mod terms;
mod advisory;
mod query;
mod write;
mod merge;
mod reach;
mod selection;
pub mod nodes;
mod print;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use sqlparser::ast::{Expr, Statement};

pub use crate::program::selection::{OrderTerm, Selection};
pub use nodes::{Node, ProcedureAccess};
pub(crate) use terms::constant;

use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{Span, SqlStatement, Variable};
use crate::program::located::{Language, Located};
use crate::program::predicate::{Element, Predicate, Term};
use crate::program::schema::{Schema, Table};
use scope::{Output, Scope};

/// The name that stands for every column of a table whose columns are not known.
pub const EVERY: &str = "*";

/// What a statement reads and writes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Access {
    /// Each mention of a table, in the order in which they are met.
    pub tables: Vec<TableAccess>,
    /// The columns that a query returns, or RETURNING does.
    pub outputs: Vec<OutputColumn>,
    /// Where the values of host variables go.
    pub uses: Vec<Use>,
    /// How rows are chosen and what becomes of them, for a statement that is one plain query or write; for an INSERT of a
    /// query's rows, of that query.
    pub selection: Option<Selection>,
}

/// What is done to one mention of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableAccess {
    /// The table's plain name.
    pub table: String,
    /// Where it is mentioned.
    pub span: Span,
    /// The columns that are read from the rows that are chosen.
    pub reads: BTreeSet<String>,
    /// The columns that decide which rows are chosen.
    pub tests: BTreeSet<String>,
    /// The columns that are written; all of them, if rows come or go.
    pub writes: BTreeSet<String>,
    /// What is done to the rows.
    pub effect: Effect,
    /// Which rows are looked at.
    pub reach: Reach,
    /// The lock that a query asks for.
    pub lock: Option<Lock>,
    /// The part of the statement's conditions that is about this table.
    pub predicate: Predicate,
    /// What is assigned to which column, by INSERT or UPDATE; one after the other for several rows.
    pub assigned: Vec<Assigned>,
}

impl TableAccess {
    /// Whether it looks at all rows, and so at whether they exist.
    pub fn is_scan(&self) -> bool {
        self.reach == Reach::Scan
    }

    /// Whether it looks at one row at most, found by the value of each column of a key.
    pub fn finds_one(&self) -> bool {
        matches!(&self.reach, Reach::Key(key) if key.columns.iter().all(|(_, values)| values.len() == 1))
    }

    /// Whether rows come or go: also if a part of their key changes.
    pub fn writes_existence(&self, schema: &Schema) -> bool {
        let changes_key = || {
            let key = schema.table(&self.table).map(|table| table.primary_key.as_slice()).unwrap_or_default();
            key.iter().any(|column| self.writes.contains(column))
        };
        match self.effect {
            Effect::Read => false,
            Effect::Update => changes_key(),
            Effect::Insert | Effect::Delete | Effect::Upsert => true,
        }
    }
}

/// What is done to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// They are read.
    Read,
    /// They are added.
    Insert,
    /// They are changed.
    Update,
    /// They are removed.
    Delete,
    /// They are added, or changed (or left alone) if they are there.
    Upsert,
}

/// Which rows are looked at.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// None: they are only added.
    Nothing,
    /// Those with these values of a key.
    Key(KeyReach),
    /// All.
    Scan,
}

/// A key with equality for each of its columns.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyReach {
    /// Whether it is the primary key.
    pub primary: bool,
    /// Its columns, each with the values that it must have one of.
    pub columns: Vec<(String, Vec<Term>)>,
}

/// A lock that a query asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// `FOR SHARE`, `LOCK IN SHARE MODE`.
    Share,
    /// `FOR UPDATE`.
    Update,
    /// An advisory lock that is held until it is released, whatever becomes of transactions.
    Session,
    /// The release of such a lock.
    Release,
}

/// An assignment to a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Assigned {
    /// The column.
    pub column: String,
    /// Its new value.
    pub value: Term,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputColumn {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What its value comes from.
    pub origins: BTreeSet<Element>,
    /// Whether it is a column as it is, not something computed.
    pub is_copy: bool,
}

/// Where the value of a host variable goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Use {
    /// The variable, where it is mentioned.
    pub variable: Variable,
    /// What for.
    pub place: Place,
}

/// What the value of a host variable is used for.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// To choose rows: these columns are compared with it.
    Test(BTreeSet<Element>),
    /// As a value, or a part of one, for this column.
    Value(Element),
    /// Anything else: it is returned, it limits how many rows there are, …
    Other,
}

/// The accesses of a statement, and what could not be resolved.
pub fn of_statement(
    statement: &SqlStatement,
    span: Span,
    schema: &Schema,
    language: Language,
) -> (Access, Vec<Diagnostic>) {
    let located = Located::statement(statement, span);
    match located.parse(language) {
        Err(complaint) => {
            let uses = statement.uses().cloned().map(|variable| Use { variable, place: Place::Other });
            (Access { uses: uses.collect(), ..Access::default() }, vec![complaint])
        }
        Ok(tree) => of_tree(&tree, &located, schema),
    }
}

pub(crate) fn of_tree(tree: &Statement, located: &Located, schema: &Schema) -> (Access, Vec<Diagnostic>) {
    let mut analyzer = Analyzer::new(schema, located);
    let outputs = analyzer.statement(tree);
    analyzer.access.outputs = outputs.into_iter().map(Output::finish).collect();
    reach::settle(&mut analyzer.access, schema);
    (analyzer.access, analyzer.diagnostics)
}

/// The condition of a CHECK.
pub(crate) fn check_predicate(table: &Table, check: &Expr, located: &Located) -> (Predicate, Vec<Diagnostic>) {
    let schema = Schema { tables: [(table.name.clone(), table.clone())].into(), ..Schema::default() };
    let mut analyzer = Analyzer::new(&schema, located);
    let scope = Scope::of_table(0, table);
    analyzer.scopes.push(scope);
    (analyzer.predicate(check), analyzer.diagnostics)
}

/// Walks the syntax tree of one statement.
struct Analyzer<'a> {
    schema: &'a Schema,
    located: &'a Located,
    access: Access,
    diagnostics: Vec<Diagnostic>,
    /// What names can refer to; the innermost query last.
    scopes: Vec<Scope>,
    /// Common table expressions, the innermost last.
    ctes: Vec<(String, Vec<Output>)>,
    /// The views that are being looked into: one that contains itself must not go on for ever.
    views: Vec<String>,
    /// How the query that ended last is answered.
    answered: Option<Selection>,
}

impl<'a> Analyzer<'a> {
    fn new(schema: &'a Schema, located: &'a Located) -> Analyzer<'a> {
        Analyzer {
            schema,
            located,
            access: Access::default(),
            diagnostics: Vec::new(),
            scopes: Vec::new(),
            ctes: Vec::new(),
            views: Vec::new(),
            answered: None,
        }
    }

    fn statement(&mut self, tree: &Statement) -> Vec<Output> {
        match tree {
            Statement::Query(query) => {
                let outputs = self.query(query);
                self.access.selection = self.answered.take();
                outputs
            }
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::Merge(merge) => self.merge(merge),
            Statement::Truncate(truncate) => self.truncate(truncate),
            Statement::Call(_) => {
                let message = "what CALL reads and writes is not analysed";
                self.diagnostics.push(Diagnostic::error(self.located.whole(), message));
                Vec::new()
            }
            // Settings, savepoints and the like touch no rows.
            _ => Vec::new(),
        }
    }

    /// A mention of a table, of which nothing is known yet.
    fn mention(&mut self, table: &str, span: Span, effect: Effect) -> usize {
        self.access.tables.push(TableAccess {
            table: table.to_string(),
            span,
            reads: BTreeSet::new(),
            tests: BTreeSet::new(),
            writes: BTreeSet::new(),
            effect,
            reach: if effect == Effect::Insert { Reach::Nothing } else { Reach::Scan },
            lock: None,
            predicate: Predicate::True,
            assigned: Vec::new(),
        });
        self.access.tables.len() - 1
    }

    /// Takes note that a value is read from chosen rows.
    fn read(&mut self, term: &Term, place: &Place) {
        for column in term.columns() {
            self.access.tables[column.access].reads.insert(column.element.column.clone());
        }
        self.record_uses(term, place);
    }

    fn record_uses(&mut self, term: &Term, place: &Place) {
        let uses = term.variables().into_iter().map(|one| Use { variable: one.clone(), place: place.clone() });
        self.access.uses.extend(uses.collect::<Vec<_>>());
    }

    /// Takes note that a condition chooses rows.
    fn test(&mut self, predicate: &Predicate) {
        let mut atoms = Vec::new();
        predicate.atoms(&mut |terms| atoms.push(terms.into_iter().cloned().collect::<Vec<Term>>()));
        for terms in atoms {
            let compared: BTreeSet<Element> = terms.iter().flat_map(Term::origins).collect();
            for column in terms.iter().flat_map(Term::columns) {
                self.access.tables[column.access].tests.insert(column.element.column.clone());
            }
            terms.iter().for_each(|term| self.record_uses(term, &Place::Test(compared.clone())));
        }
    }
}

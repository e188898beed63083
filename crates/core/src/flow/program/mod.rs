//! Programs as graphs of transactions: what [`crate::flow`] is asked about.
//!
//! A procedure is a flat list of operations with jumps; where its transactions begin and end is a matter of the way that
//! is taken. So positions are visited together with the state of the connection, and what was one position in two states
//! becomes two places:
//!
//! ```text
//!   0  SELECT … INTO :avail     closed ─begin─┐ T1
//!   1  COMMIT                                 ┘ end
//!   2  unless :avail > 0, to 5  closed            H      host code, between transactions
//!   3  UPDATE …                 closed ─begin─┐ T2
//!   4  COMMIT                                 ┘ end
//! ```
//!
//! * A transaction is everything between its beginnings and its ends. Those that share an end are one: a SELECT in either
//!   branch of an IF, and one COMMIT behind it.
//! * Statements that touch no table (`SELECT f(:x) INTO :y`) are host code that the server computes.
//! * The writes of a transaction that can only be rolled back are none.
//! * The rows of a cursor are variables of the host: OPEN reads them, FETCH takes them over.
//!
//! With [`Cut::EachQuery`], every statement is a transaction of its own, as in the paper's experiment with TPC-C: what is
//! found then is what the transactions, as they are, protect from.

mod graph;
mod operations;
#[cfg(test)]
mod tests;

use super::input::{Application, Element, Node, Procedure};
use crate::program::access::{self, ProcedureAccess};
use crate::program::schema::Schema;
use crate::program::{Variable, predicate};
use graph::{Graph, Unit};
use operations::Columns;

/// Where transactions end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cut {
    /// Where the program says so.
    #[default]
    AsWritten,
    /// Behind every query.
    EachQuery,
}

/// An application, and where in the program it comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flowing {
    /// What the analysis is given.
    pub application: Application,
    /// For each procedure, for each of its nodes, where it comes from.
    pub places: Vec<Vec<Place>>,
}

/// Where a node of the transaction graph comes from. All positions are those of [`ProcedureAccess::nodes`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// For each operation of the node, the position of its statement.
    pub operations: Vec<usize>,
    /// The positions in the node, in order.
    pub positions: Vec<usize>,
    /// Where the transaction begins.
    pub begins: Vec<usize>,
    /// Where it ends: at a COMMIT or ROLLBACK, or one behind the last position.
    pub ends: Vec<usize>,
}

/// One procedure, as the front-ends give it.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// Its graph.
    pub access: &'a ProcedureAccess,
    /// Whether a statement outside START TRANSACTION … COMMIT is a transaction of its own.
    pub autocommit: bool,
}

/// The application that procedures make together. Transactions are called T1, T2, … in the order of the source.
pub fn application(procedures: &[Given<'_>], schema: &Schema, cut: Cut) -> Flowing {
    let columns = Columns::of(procedures.iter().map(|given| given.access), schema);
    let mut flowing = Flowing::default();
    let mut count = 0;
    for given in procedures {
        let graph = Graph::of(given.access, given.autocommit, cut);
        let (mut nodes, mut places) = (Vec::new(), Vec::new());
        for unit in &graph.units {
            if unit.is_transaction {
                count += 1;
            }
            let (node, place) = build(unit, given.access, &columns, count);
            nodes.push(node);
            places.push(place);
        }
        flowing.application.procedures.push(Procedure { name: given.access.name.clone(), nodes });
        flowing.places.push(places);
    }
    flowing
}

fn build(unit: &Unit, access: &ProcedureAccess, columns: &Columns, number: usize) -> (Node, Place) {
    let (mut all, mut origins) = (Vec::new(), Vec::new());
    for position in &unit.positions {
        for mut operation in operations::of(&access.nodes[*position], columns) {
            operation.certain = unit.certain.contains(position);
            if unit.never_commits {
                operation.writes.clear();
            }
            all.push(operation);
            origins.push(*position);
        }
    }
    let line = unit.positions.first().map_or(0, |first| access.nodes[*first].operation.span.line);
    let name = if unit.is_transaction { format!("T{number}") } else { format!("H{line}") };
    let node = Node {
        name,
        is_transaction: unit.is_transaction,
        operations: all,
        successors: unit.successors.clone(),
        may_end: unit.may_end,
        line,
    };
    let place = Place {
        operations: origins,
        positions: unit.positions.clone(),
        begins: unit.begins.clone(),
        ends: unit.ends.clone(),
    };
    (node, place)
}

/// A row of `xact_parameter`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The transaction.
    pub transaction: String,
    /// The host variable.
    pub variable: String,
    /// Whether it is defined; else it is used.
    pub is_defined: bool,
    /// The column that it is defined from, or used for.
    pub element: Element,
}

fn parameters_of(transaction: &str, node: &access::Node) -> Vec<Parameter> {
    let row = |variable: &Variable, is_defined: bool, element: &predicate::Element| Parameter {
        transaction: transaction.to_string(),
        variable: variable.name.clone(),
        is_defined,
        element: Element::column(&element.table, &element.column),
    };
    let mut rows = Vec::new();
    for definition in &node.defines {
        rows.extend(definition.origins.iter().map(|element| row(&definition.variable, true, element)));
    }
    let mut uses: Vec<&access::Use> = node.uses.iter().collect();
    uses.sort_by_key(|used| used.variable.span.start);
    for used in uses {
        match &used.place {
            access::Place::Test(elements) => {
                rows.extend(elements.iter().map(|element| row(&used.variable, false, element)));
            }
            access::Place::Value(element) => rows.push(row(&used.variable, false, element)),
            access::Place::Other => {}
        }
    }
    rows
}

impl Flowing {
    /// AGENDA's table `xact_read_write` (the paper's Table 2): each transaction with the elements that it reads and
    /// writes, without repetition.
    pub fn read_write(&self) -> Vec<(String, char, Element)> {
        let mut rows = Vec::new();
        for node in self.transactions() {
            let mut add = |op: char, element: &Element| {
                let row = (node.name.clone(), op, element.clone());
                if !rows.contains(&row) {
                    rows.push(row);
                }
            };
            for operation in &node.operations {
                operation.reads().for_each(|element| add('R', element));
                operation.writes.iter().for_each(|element| add('W', element));
            }
        }
        rows
    }

    /// AGENDA's table `xact_parameter` (Table 3): each transaction with the host variables that it defines from, or uses
    /// for, columns.
    pub fn parameters(&self, procedures: &[Given<'_>]) -> Vec<Parameter> {
        let mut rows = Vec::new();
        for (procedure, (given, places)) in procedures.iter().zip(&self.places).enumerate() {
            for (node, place) in places.iter().enumerate() {
                let node = &self.application.procedures[procedure].nodes[node];
                for position in place.positions.iter().filter(|_| node.is_transaction) {
                    for row in parameters_of(&node.name, &given.access.nodes[*position]) {
                        if !rows.contains(&row) {
                            rows.push(row);
                        }
                    }
                }
            }
        }
        rows
    }

    fn transactions(&self) -> impl Iterator<Item = &Node> {
        let nodes = self.application.procedures.iter().flat_map(|procedure| &procedure.nodes);
        nodes.filter(|node| node.is_transaction)
    }
}

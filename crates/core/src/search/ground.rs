//! What is asked of the small database.

use std::collections::BTreeMap;

use crate::program::access::ProcedureAccess;
use crate::program::ir::Procedure;
use crate::program::schema::Schema;
use crate::value::Value;

/// Rows by table, each as values by column.
pub type Rows = BTreeMap<String, Vec<BTreeMap<String, Value>>>;

/// Some calls, and what they run on.
#[derive(Debug, Clone)]
pub struct Ground<'a> {
    /// The tables.
    pub schema: &'a Schema,
    /// The calls.
    pub calls: Vec<Called<'a>>,
    /// The rows at the start, if they are given: there are no others.
    pub initial: Option<&'a Rows>,
    /// Whether foreign keys are enforced.
    pub references: bool,
}

/// A procedure that is called.
#[derive(Debug, Clone, Copy)]
pub struct Called<'a> {
    /// What is called.
    pub procedure: &'a Procedure,
    /// Its graph.
    pub access: &'a ProcedureAccess,
}

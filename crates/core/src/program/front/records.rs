//! Records of PL/pgSQL: each field becomes a variable of its own.
//!
//! `FOR r IN SELECT id, balance FROM accounts LOOP … r.balance …` has the variables `r_id` and `r_balance`. Which fields a
//! RECORD has, the query says that fills it; a `table%ROWTYPE` has the columns of its table.

use super::body::Body;
use super::names::Binding;
use crate::program::access::{EVERY, OutputColumn};
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{Span, Variable};

impl Body<'_, '_> {
    /// The variable of a record's field; a field that nobody filled is said to be unknown.
    pub(super) fn field(&mut self, record: &str, field: &str, span: Span) -> String {
        if let Some(variable) = self.names.field(record, field) {
            return variable.to_string();
        }
        let message = format!("the field {field} of {record} is not known here");
        let hint = format!("name the columns of the query that fills {record}");
        self.diagnostics.push(Diagnostic::error(span, message).with_hint(hint));
        self.add_field(record, field)
    }

    fn add_field(&mut self, record: &str, field: &str) -> String {
        let variable = self.names.add_implicit(&format!("{record}_{field}"), "TEXT");
        let mut fields = match self.names.find(record) {
            Some(Binding::Record(fields)) => fields.clone(),
            _ => Vec::new(),
        };
        fields.push((field.to_string(), variable.clone()));
        self.names.rebind(record, Binding::Record(fields));
        variable
    }

    /// A record with the columns of a table.
    pub(super) fn declare_row(&mut self, record: &str, table: &str) {
        self.names.bind(record, Binding::Record(Vec::new()));
        let columns = self.schema.table(table).map(|table| table.columns.as_slice()).unwrap_or_default();
        for column in columns {
            self.add_field(record, &column.name);
        }
    }

    /// The variables that take the columns of a row.
    pub(super) fn record_variables(&mut self, record: &str, outputs: &[OutputColumn], span: Span) -> Vec<Variable> {
        let is_unknown = |output: &OutputColumn| output.name.as_deref() == Some(EVERY);
        if outputs.is_empty() || outputs.iter().any(is_unknown) {
            let message = format!("the columns that {record} takes are not known");
            self.diagnostics.push(Diagnostic::error(span, message).with_hint("name each column of the query"));
        }
        let mut variables: Vec<Variable> = Vec::new();
        for (at, output) in outputs.iter().enumerate() {
            let field = output.name.clone().filter(|name| name != EVERY).unwrap_or_else(|| format!("column{}", at + 1));
            let known = self.names.field(record, &field).map(str::to_string);
            // Two columns of one name are two variables, of which the first has the name.
            let known = known.filter(|known| variables.iter().all(|one| one.name != *known));
            let name = known.unwrap_or_else(|| self.add_field(record, &field));
            variables.push(Variable { name, span });
        }
        variables
    }
}

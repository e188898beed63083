//! What libraries do with rows beyond going through them one by one: all at once, one value, one statement for many.

use txloom_core::program::{Span, StatementKind};

use super::super::tree::Call;
use super::super::values::{Object, Value, any};
use super::Lowerer;
use super::database::{ColumnName, Wanted};

impl<'p> Lowerer<'p> {
    /// `executemany`: nobody knows how often.
    pub(super) fn send_many(&mut self, on: Value, mut arguments: Vec<Value>, span: Span) -> Value {
        let elements = arguments.get(1).cloned().unwrap_or(Value::Unknown(span));
        arguments.truncate(1);
        arguments.push(self.element(&elements, None, span));
        let before = self.state.clone();
        let at = self.at(span);
        let label = self.fresh("rounds");
        let body = self.block(|this| drop(this.send_from(on.clone(), arguments, Wanted::Count, None, span)));
        let after = std::mem::take(&mut self.state);
        self.join_quietly(vec![before, after], span);
        self.emit(StatementKind::While { label: Some(label), condition: any(at), body }, span);
        on
    }

    /// The rows that were not fetched yet, as a list whose elements are rows.
    pub(super) fn all_rows(&mut self, on: Value, span: Span) -> Value {
        match self.rows_of(on, span) {
            Value::Object(id) if matches!(self.state.objects.get(&id), Some(Object::Rows(_))) => {
                self.object(Object::Table(id))
            }
            rows => rows,
        }
    }

    pub(super) fn scalar(&mut self, on: Value, span: Span) -> Value {
        let rows = self.rows_of(on, span);
        if let Value::Object(id) = &rows
            && let Some(Object::Rows(cursor)) = self.state.objects.get(id).cloned()
        {
            // Nobody asks whether there was a row: without one, it is NULL.
            self.emit(StatementKind::Fetch { cursor, variables: Vec::new() }, span);
        }
        self.column(&rows, &ColumnName::Position(1), span)
    }

    pub(super) fn is_connection(&self, value: &Value) -> bool {
        matches!(value, Value::Object(id) if matches!(self.state.objects.get(id), Some(Object::Connection)))
    }

    /// `text(…).bindparams(x=1)`
    pub(super) fn prepare_named(&mut self, text: Value, call: &'p Call, wish: Option<String>, span: Span) -> Value {
        let statement = self.prepare(vec![text], false, wish, span);
        for (name, value) in &call.named {
            let value = self.value(value);
            self.bind_key(&statement, name.clone(), value, span);
        }
        statement
    }

    /// A statement that was put together before it is sent.
    pub(super) fn is_prepared(&self, value: &Value) -> bool {
        let Value::Object(id) = value else { return false };
        matches!(self.state.objects.get(id), Some(Object::Statement(statement)) if statement.text.is_some())
    }
}

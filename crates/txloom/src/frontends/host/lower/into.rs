//! `SELECT … INTO :a, :b`: a query for one row whose columns go to variables of the source.

use txloom_core::program::{self as ir, IntoClause, IntoRule, Span, StatementKind};

use super::super::tidy;
use super::super::tree::{Call, Expr, ExprKind};
use super::super::values::{Object, Sendable, Value, variable};
use super::super::vocabulary::Sort;
use super::Lowerer;
use super::operators::sort_of;

/// A variable that takes a column.
struct Taker<'p> {
    name: String,
    sort: Sort,
    /// Its variable of the source, or where its value goes afterwards.
    home: Result<usize, &'p Expr>,
}

impl<'p> Lowerer<'p> {
    /// Sends a query; the last argument of the call lists what takes its columns.
    pub(super) fn send_into(&mut self, arguments: Vec<Value>, call: &'p Call, span: Span) -> Value {
        let mut arguments = arguments.into_iter();
        let (text, from) = (arguments.next().unwrap_or(Value::Unset), arguments.next());
        let statement = self.object(Object::Statement(Sendable { name: "value".to_string(), ..Sendable::default() }));
        self.bind_all(&statement, from, span);
        let Value::Object(id) = statement else { return Value::Unset };
        let binds = match self.state.objects.get(&id) {
            Some(Object::Statement(statement)) => statement.binds.clone(),
            _ => Default::default(),
        };
        let Some(sql) = self.understood(text, &binds, span) else { return Value::Unset };
        let targets: &'p [Expr] = match call.arguments.last().map(|last| &last.kind) {
            Some(ExprKind::List(targets)) => targets,
            _ => &[],
        };
        let takers: Vec<Taker<'p>> = targets.iter().map(|target| self.taker(target, span)).collect();
        let at = self.at(span);
        let variables = takers.iter().map(|taker| ir::Variable { name: taker.name.clone(), span: at }).collect();
        let query = tidy::with_into(sql, IntoClause { variables, rule: IntoRule::Keep });
        self.emit(StatementKind::Sql(query), span);
        for taker in takers {
            self.take(taker, span);
        }
        Value::Unset
    }

    /// The variable for a target. Without a row it stays as it is, so that its value must be in it before.
    fn taker(&mut self, target: &'p Expr, span: Span) -> Taker<'p> {
        let slot = match &target.kind {
            ExprKind::Name(name) => self.find_slot(name),
            ExprKind::Field(of, name) => match self.value(of) {
                Value::Object(id) => self.record_field(id, name),
                _ => None,
            },
            _ => None,
        };
        match slot {
            Some(slot) => {
                self.settle(slot, span);
                let name = self.home_of(slot);
                let known = self.state.values.get(slot).map_or(Sort::Object, sort_of);
                let sort = if self.slots[slot].sort == Sort::Object { known } else { self.slots[slot].sort };
                Taker { name, sort, home: Ok(slot) }
            }
            None => Taker { name: self.temporary("column", "VARCHAR"), sort: Sort::Object, home: Err(target) },
        }
    }

    fn take(&mut self, taker: Taker<'p>, span: Span) {
        self.state.known.remove(&taker.name);
        let value = Value::Plain(variable(&taker.name, self.at(span)), taker.sort);
        match taker.home {
            Ok(slot) => {
                self.state.values.resize(self.slots.len(), Value::Unset);
                self.state.values[slot] = value;
            }
            Err(target) => drop(self.store(target, value, span)),
        }
    }

    /// The statement of a text, noted as found; nothing if nobody knows the text.
    fn understood(
        &mut self,
        text: Value,
        binds: &std::collections::BTreeMap<String, String>,
        span: Span,
    ) -> Option<ir::SqlStatement> {
        let Value::Text(template) = text else {
            self.unknown_statement(span);
            return None;
        };
        let sql = self.statement_of(&template, binds, span);
        self.note_site(&template, &sql, span);
        Some(sql)
    }
}

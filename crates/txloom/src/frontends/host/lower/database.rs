//! What the methods of a database library do, as the vocabulary tells.

use txloom_core::level::LevelName;
use txloom_core::program::{self as ir, BinaryOp, ExprKind, Span, StatementKind};
use txloom_core::value::Value as Constant;

use super::super::tree::{Call, ExprKind as TreeKind};
use super::super::values::{List, Object, Sendable, Value, any, truth, variable};
use super::super::vocabulary::{Act, Sort};
use super::Lowerer;
use super::expressions::source_name;

/// What is wanted of a statement that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Rows,
    Count,
    /// Rows if it is a query, otherwise a count.
    Either,
}

/// Which column of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ColumnName {
    /// From 1.
    Position(usize),
    Name(String),
}

/// The value for every mark that has none of its own.
pub(super) const REST: &str = "*";

impl<'p> Lowerer<'p> {
    pub(super) fn act(
        &mut self,
        act: Act,
        on: Value,
        call: &'p Call,
        arguments: Vec<Value>,
        wish: Option<String>,
        span: Span,
    ) -> Value {
        match act {
            Act::Connect => self.object(Object::Connection),
            Act::Create => {
                let name = wish.unwrap_or_else(|| "value".to_string());
                self.object(Object::Statement(Sendable { name, ..Sendable::default() }))
            }
            Act::PrepareWith if matches!(on, Value::Text(_)) => self.prepare_named(on, call, wish, span),
            Act::Prepare | Act::PrepareWith => self.prepare(arguments, act == Act::PrepareWith, wish, span),
            Act::Text => match on {
                Value::Unknown(_) => arguments.into_iter().next().unwrap_or(Value::Unknown(span)),
                on => on,
            },
            Act::Bind => {
                let value = arguments.get(1).cloned().unwrap_or(Value::Unknown(span));
                let value = match (value, self.world.vocabulary.setter_sort(&call.name)) {
                    (Value::Plain(expr, Sort::Object), sort) => Value::Plain(expr, sort),
                    (Value::Input(path, Sort::Object), sort) => Value::Input(path, sort),
                    (Value::Unknown(at), sort) if sort != Sort::Object => Value::Plain(any(self.at(at)), sort),
                    (value, _) => value,
                };
                self.bind_value(&on, arguments.first(), value, span);
                on
            }
            Act::BindNull => {
                self.bind_value(&on, arguments.first(), Value::Null, span);
                on
            }
            Act::BindAll => {
                let from = arguments.into_iter().next();
                self.bind_all(&on, from, span);
                on
            }
            Act::Query => self.send_from(on, arguments, Wanted::Rows, wish, span),
            Act::Update => self.send_from(on, arguments, Wanted::Count, wish, span),
            Act::Execute => self.send_from(on, arguments, Wanted::Either, wish, span),
            Act::Into => self.send_into(arguments, call, span),
            Act::Found => Value::Plain(ir::Expr { kind: ExprKind::Found, span: self.at(span) }, Sort::Bool),
            Act::Count => Value::Plain(ir::Expr { kind: ExprKind::RowCount, span: self.at(span) }, Sort::Whole),
            Act::ExecuteMany => self.send_many(on, arguments, span),
            Act::QueryScalar => {
                let sent = self.send_from(on, arguments, Wanted::Rows, wish, span);
                self.scalar(sent, span)
            }
            // What is kept is sent where it is kept; in which order is the same for each table.
            Act::AddBatch => {
                self.send_from(on, arguments, Wanted::Count, wish, span);
                Value::Unset
            }
            Act::ExecuteBatch => self.object(Object::List(List::default())),
            Act::ClearBatch | Act::Nothing => Value::Unknown(span),
            Act::ResultOf => self.answer(&on, |statement| statement.rows.as_deref().cloned(), span),
            Act::CountOf => self.answer(&on, |statement| statement.count.as_deref().cloned(), span),
            Act::Keys => self.object(Object::List(List::default())),
            Act::Next => self.next_row(on, span),
            Act::FetchOne => self.fetch_one(on, span),
            Act::Scalar => self.scalar(on, span),
            Act::ScalarOne => {
                let rows = self.rows_of(on, span);
                self.next_row(rows.clone(), span);
                self.column(&rows, &ColumnName::Position(1), span)
            }
            Act::FetchAll => self.all_rows(on, span),
            Act::Itself => on,
            Act::Get => self.get(&on, call, &arguments, span),
            Act::WasNull => self.was_null(span),
            Act::Close => Value::Unset,
            act => self.transact(act, on, call, &arguments, span),
        }
    }

    /// What begins, ends and configures transactions.
    fn transact(&mut self, act: Act, on: Value, call: &'p Call, arguments: &[Value], span: Span) -> Value {
        match act {
            Act::Begin => {
                self.ends_transactions = true;
                self.emit(StatementKind::Begin, span);
                on
            }
            Act::Transaction => {
                self.ends_transactions = true;
                if self.commits_itself {
                    self.emit(StatementKind::Begin, span);
                }
                if self.is_connection(&on) { on } else { self.object(Object::Connection) }
            }
            Act::End => {
                self.ends_transactions = true;
                let is_open = !matches!(
                    self.out.last().map(|last| &last.kind),
                    Some(StatementKind::Commit | StatementKind::Rollback)
                );
                if is_open {
                    self.emit(StatementKind::Commit, span);
                }
                Value::Unset
            }
            Act::Commit => {
                self.ends_transactions = true;
                self.emit(StatementKind::Commit, span);
                Value::Unset
            }
            Act::Rollback => self.rollback(arguments, span),
            Act::AutoCommit => self.auto_commit(arguments.first(), span),
            Act::Isolation => {
                self.isolation(call, arguments, span);
                on
            }
            Act::Savepoint => {
                self.emit_text("SAVEPOINT txloom_point", span);
                Value::Unknown(span)
            }
            _ => Value::Unknown(span),
        }
    }

    /// The first argument that is a text.
    fn take_text(&self, arguments: &mut Vec<Value>) -> Option<Value> {
        let at = arguments.iter().position(|argument| self.can_be_sql(argument))?;
        let rest = arguments.split_off(at + 1);
        let text = arguments.pop();
        *arguments = rest;
        match text {
            Some(Value::Object(id)) => match self.state.objects.get(&id) {
                Some(Object::Builder(text)) => Some(text.clone()),
                _ => None,
            },
            text => text,
        }
    }

    fn can_be_sql(&self, value: &Value) -> bool {
        match value {
            Value::Text(_) | Value::Plain(_, Sort::Text) | Value::Input(_, Sort::Text | Sort::SqlText) => true,
            Value::Object(id) => matches!(self.state.objects.get(id), Some(Object::Builder(_))),
            Value::Choice(_, options) => options.iter().all(|(_, option)| self.can_be_sql(option)),
            _ => false,
        }
    }

    pub(super) fn prepare(
        &mut self,
        mut arguments: Vec<Value>,
        binds: bool,
        wish: Option<String>,
        span: Span,
    ) -> Value {
        let text = self.take_text(&mut arguments).unwrap_or(Value::Unknown(span));
        let name = wish.unwrap_or_else(|| "value".to_string());
        let statement = Sendable { name, text: Some(Box::new(text)), ..Sendable::default() };
        let object = self.object(Object::Statement(statement));
        if binds {
            let spread = match arguments.as_slice() {
                [only] => self.list(only).and_then(|list| list.elements.clone()),
                _ => None,
            };
            for (at, value) in spread.unwrap_or(arguments).into_iter().enumerate() {
                self.bind_key(&object, (at + 1).to_string(), value, span);
            }
        }
        object
    }

    fn bind_value(&mut self, on: &Value, at: Option<&Value>, value: Value, span: Span) {
        let key = match at {
            Some(Value::Text(name)) => name.as_constant(),
            Some(position) => self.fold_value(position).map(|at| at.to_string()),
            None => None,
        };
        self.bind_key(on, key.unwrap_or_else(|| REST.to_string()), value, span);
    }

    /// A value of a statement has a variable of its own: it is what it was when it was bound.
    pub(super) fn bind_key(&mut self, on: &Value, key: String, value: Value, span: Span) {
        let Value::Object(id) = on else { return };
        let Some(Object::Statement(statement)) = self.state.objects.get(id) else { return };
        // One variable for all branches in which it is bound.
        let place = (*id, key.clone());
        let known = statement.binds.get(&key).or_else(|| self.bound.get(&place)).cloned();
        let wish = format!("{}_{}", statement.name, if key == REST { "any" } else { &key });
        let type_name = sql_type(super::operators::sort_of(&value));
        let expr = self.expr_of(value, span);
        let name = match known {
            Some(name) => name,
            None => self.temporary(&wish, type_name),
        };
        self.set(&name, expr, span);
        self.bound.insert(place, name.clone());
        if let Some(Object::Statement(statement)) = self.state.objects.get_mut(id) {
            statement.binds.insert(key, name);
        }
    }

    pub(super) fn bind_all(&mut self, on: &Value, from: Option<Value>, span: Span) {
        let Some(from) = from else { return };
        if let Some(elements) = self.list(&from).and_then(|list| list.elements.clone()) {
            for (at, value) in elements.into_iter().enumerate() {
                self.bind_key(on, (at + 1).to_string(), value, span);
            }
            return;
        }
        if let Value::Object(id) = from
            && let Some(Object::Record(record)) = self.state.objects.get(&id).cloned()
        {
            for (name, slot) in record.fields {
                let value = self.read(slot, span);
                self.bind_key(on, name, value, span);
            }
            return;
        }
        self.bind_key(on, REST.to_string(), Value::Unknown(span), span);
    }

    /// Sends the statement of an object, or a text that is an argument.
    pub(super) fn send_from(
        &mut self,
        on: Value,
        mut arguments: Vec<Value>,
        wanted: Wanted,
        wish: Option<String>,
        span: Span,
    ) -> Value {
        let said = self.take_text(&mut arguments);
        let prepared = arguments.first().filter(|first| said.is_none() && self.is_prepared(first)).cloned();
        let on = prepared.unwrap_or(on);
        let target = match &on {
            Value::Object(id) if matches!(self.state.objects.get(id), Some(Object::Statement(_))) => on,
            _ => {
                let name = "value".to_string();
                self.object(Object::Statement(Sendable { name, ..Sendable::default() }))
            }
        };
        if said.is_some() && !arguments.is_empty() {
            // Values that come with the text are of this text only.
            if let Value::Object(id) = &target
                && let Some(Object::Statement(statement)) = self.state.objects.get_mut(id)
            {
                statement.binds.clear();
                self.bound.retain(|(object, _), _| object != id);
            }
            self.bind_all(&target, arguments.into_iter().next(), span);
        }
        let Value::Object(id) = target else { return Value::Unknown(span) };
        let Some(Object::Statement(statement)) = self.state.objects.get(&id).cloned() else {
            return Value::Unknown(span);
        };
        let text = said.or(statement.text.map(|text| *text)).unwrap_or(Value::Unknown(span));
        let mut answers = self.send(text, &statement.binds, wanted, wish, span);
        if let Some(Object::Statement(statement)) = self.state.objects.get_mut(&id) {
            statement.rows = answers.rows.clone().map(Box::new);
            statement.count = answers.count.clone().map(Box::new);
        }
        let is_query = answers.rows.is_some();
        match wanted {
            Wanted::Rows => answers.rows.take().unwrap_or(Value::Unknown(span)),
            Wanted::Count => answers.count.take().unwrap_or(Value::Unknown(span)),
            Wanted::Either => self.executed(id, is_query, span),
        }
    }

    /// What a call says that sends anything: in Java, whether there are rows.
    fn executed(&mut self, id: usize, is_query: bool, span: Span) -> Value {
        if self.world.vocabulary.execute_gives_statement() {
            return Value::Object(id);
        }
        Value::Plain(truth(is_query, self.at(span)), Sort::Bool)
    }

    fn answer(&self, on: &Value, take: impl Fn(&Sendable) -> Option<Value>, span: Span) -> Value {
        match on {
            Value::Object(id) => match self.state.objects.get(id) {
                Some(Object::Statement(statement)) => take(statement).unwrap_or(Value::Unknown(span)),
                _ => Value::Unknown(span),
            },
            _ => Value::Unknown(span),
        }
    }

    /// The rows of something that has rows: themselves, or those of a statement.
    pub(super) fn rows_of(&mut self, on: Value, span: Span) -> Value {
        match &on {
            Value::Object(id) => match self.state.objects.get(id) {
                Some(Object::Statement(statement)) => {
                    statement.rows.as_deref().cloned().unwrap_or(Value::Unknown(span))
                }
                Some(Object::Table(rows)) => Value::Object(*rows),
                _ => on,
            },
            _ => on,
        }
    }

    /// Goes to the next row, and says whether there is one.
    pub(super) fn next_row(&mut self, on: Value, span: Span) -> Value {
        let at = self.at(span);
        let rows = self.rows_of(on, span);
        let Value::Object(id) = &rows else { return Value::Plain(any(at), Sort::Bool) };
        let cursor = match self.state.objects.get(id) {
            Some(Object::Rows(cursor)) => cursor.clone(),
            // Keys of new rows are there.
            Some(Object::List(_)) => return Value::Plain(truth(true, at), Sort::Bool),
            _ => return Value::Plain(any(at), Sort::Bool),
        };
        self.emit(StatementKind::Fetch { cursor: cursor.clone(), variables: Vec::new() }, span);
        let name = self.temporary(&format!("{cursor}_found"), "BOOLEAN");
        self.set(&name, ir::Expr { kind: ExprKind::Found, span: at }, span);
        Value::Plain(variable(&name, at), Sort::Bool)
    }

    pub(super) fn fetch_one(&mut self, on: Value, span: Span) -> Value {
        let rows = self.rows_of(on, span);
        match self.next_row(rows.clone(), span) {
            Value::Plain(ir::Expr { kind: ExprKind::Variable(found), .. }, _) => Value::Perhaps(found, Box::new(rows)),
            _ => Value::Unknown(span),
        }
    }

    fn get(&mut self, on: &Value, call: &Call, arguments: &[Value], span: Span) -> Value {
        let column = match arguments.first() {
            Some(Value::Text(name)) => name.as_constant().map(ColumnName::Name),
            Some(value) => self.fold_value(value).and_then(|at| usize::try_from(at).ok()).map(ColumnName::Position),
            None => None,
        };
        let sort = self.world.vocabulary.result_sort(&call.name);
        let value = match column {
            Some(column) => self.column(on, &column, span),
            None => Value::Unknown(span),
        };
        match value {
            Value::Plain(expr, known) => {
                if let ExprKind::Variable(name) = &expr.kind {
                    self.last_read = Some(name.clone());
                }
                Value::Plain(expr, if sort == Sort::Object { known } else { sort })
            }
            Value::Unknown(at) if sort != Sort::Object => Value::Plain(any(self.at(at)), sort),
            value => value,
        }
    }

    /// The column of the current row.
    pub(super) fn column(&mut self, of: &Value, column: &ColumnName, span: Span) -> Value {
        let rows = self.rows_of(of.clone(), span);
        let Value::Object(id) = &rows else { return Value::Unknown(span) };
        let Some(Object::Rows(cursor)) = self.state.objects.get(id) else { return Value::Unknown(span) };
        let cursor = cursor.clone();
        let Some(info) = self.cursors.get(&cursor) else { return Value::Unknown(span) };
        let found = match column {
            ColumnName::Position(at) => at.checked_sub(1).and_then(|at| info.columns.get(at)),
            ColumnName::Name(name) => {
                let plain = name.rsplit('.').next().unwrap_or(name).trim_matches(['"', '`']).to_lowercase();
                info.columns.iter().find(|(known, _)| known.as_deref() == Some(plain.as_str()))
            }
        };
        let variable_name = match found {
            Some((_, name)) => name.clone(),
            None if info.is_open => self.add_column(&cursor, column),
            None => {
                let what = match column {
                    ColumnName::Position(at) => format!("column {at}"),
                    ColumnName::Name(name) => format!("column {name}"),
                };
                self.warn(span, format!("the query has no {what}: any value"), "look at what the query selects");
                return Value::Unknown(span);
            }
        };
        Value::Plain(variable(&variable_name, self.at(span)), Sort::Object)
    }

    /// A column of a table that is not known.
    fn add_column(&mut self, cursor: &str, column: &ColumnName) -> String {
        let (name, wish) = match column {
            ColumnName::Position(at) => (None, format!("{cursor}_{at}")),
            ColumnName::Name(name) => (Some(name.to_lowercase()), format!("{cursor}_{name}")),
        };
        let variable = self.temporary(&wish, "VARCHAR");
        if let Some(info) = self.cursors.get_mut(cursor) {
            info.columns.push((name, variable.clone()));
        }
        variable
    }

    fn was_null(&mut self, span: Span) -> Value {
        let Some(name) = self.last_read.clone() else { return Value::Unknown(span) };
        let at = self.at(span);
        let operand = Box::new(variable(&name, at));
        Value::Plain(ir::Expr { kind: ExprKind::IsNull { operand, negated: false }, span: at }, Sort::Bool)
    }

    fn rollback(&mut self, arguments: &[Value], span: Span) -> Value {
        if arguments.is_empty() {
            self.ends_transactions = true;
            self.emit(StatementKind::Rollback, span);
        } else {
            self.emit_text("ROLLBACK TO SAVEPOINT txloom_point", span);
        }
        Value::Unset
    }

    fn emit_text(&mut self, text: &str, span: Span) {
        let at = self.at(span);
        let part = ir::SqlText { text: text.to_string(), lead: text.len(), span: Span { end: at.start, ..at } };
        let parts = vec![ir::SqlPart::Text(part)];
        self.emit(StatementKind::Sql(ir::SqlStatement { parts }), span);
    }

    /// `setAutoCommit(true)` ends the open transaction; if it comes first, each statement is a transaction.
    fn auto_commit(&mut self, argument: Option<&Value>, span: Span) -> Value {
        let is = |value: bool| {
            matches!(argument, Some(Value::Plain(ir::Expr { kind, .. }, _))
                if *kind == ExprKind::Literal(Constant::Bool(value)))
        };
        let ended =
            matches!(self.out.last().map(|last| &last.kind), Some(StatementKind::Commit | StatementKind::Rollback));
        if is(true) && self.ends_transactions && ended {
            // Nothing is open.
        } else if is(true) && self.ends_transactions {
            self.emit(StatementKind::Commit, span);
        } else if is(true) {
            self.commits_itself = true;
        } else if is(false) {
            self.ends_transactions = true;
            if self.commits_itself {
                self.emit(StatementKind::Begin, span);
            }
        }
        Value::Unset
    }

    /// The level is the first argument, or the one of that name: a constant of the library, or a text.
    fn isolation(&mut self, call: &'p Call, arguments: &[Value], span: Span) {
        let named = call.named.iter().find(|(name, _)| name == "isolation_level").map(|(_, value)| value);
        let Some(said) = call.arguments.first().or(named) else { return };
        let text = match (arguments.first(), &said.kind) {
            (Some(Value::Text(text)), _) => text.as_constant(),
            (_, TreeKind::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let word = text.unwrap_or_else(|| source_name(said));
        let word = word.rsplit('.').next().unwrap_or(&word).to_string();
        if word.eq_ignore_ascii_case("autocommit") || matches!(said.kind, TreeKind::Null) {
            let on = Value::Plain(truth(true, self.at(span)), Sort::Bool);
            self.auto_commit(Some(&on), span);
            return;
        }
        let level = self.world.vocabulary.level(&word).and_then(LevelName::parse);
        match level {
            Some(level) => self.emit(StatementKind::Isolation(level), span),
            None => self.warn(span, "the isolation level is not a constant", "name one of the library's constants"),
        }
    }

    /// A value as a whole number, if it is known.
    pub(super) fn fold_value(&self, value: &Value) -> Option<i64> {
        match value {
            Value::Plain(expr, _) => self.fold(expr),
            Value::Text(text) => text.as_constant()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// Whether a comparison holds, if that is known.
    pub(super) fn decided(&self, expr: &ir::Expr) -> Option<bool> {
        let ExprKind::Binary { op, left, right } = &expr.kind else { return None };
        let order = self.fold(left)?.cmp(&self.fold(right)?);
        match op {
            BinaryOp::Equal => Some(order.is_eq()),
            BinaryOp::NotEqual => Some(order.is_ne()),
            BinaryOp::Less => Some(order.is_lt()),
            BinaryOp::LessEqual => Some(order.is_le()),
            BinaryOp::Greater => Some(order.is_gt()),
            BinaryOp::GreaterEqual => Some(order.is_ge()),
            _ => None,
        }
    }

    pub(super) fn fold(&self, expr: &ir::Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Literal(Constant::Number(number)) => number.to_string().parse().ok(),
            ExprKind::Variable(name) => self.state.known.get(name).copied(),
            ExprKind::Negate(operand) => self.fold(operand)?.checked_neg(),
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.fold(left)?, self.fold(right)?);
                match op {
                    BinaryOp::Add => left.checked_add(right),
                    BinaryOp::Subtract => left.checked_sub(right),
                    BinaryOp::Multiply => left.checked_mul(right),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The SQL type for values of a sort.
pub(super) fn sql_type(sort: Sort) -> &'static str {
    match sort {
        Sort::Whole => "INT",
        Sort::Real => "DECIMAL",
        Sort::Bool => "BOOLEAN",
        Sort::Time => "TIMESTAMP",
        _ => "VARCHAR",
    }
}

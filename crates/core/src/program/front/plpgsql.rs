//! Bodies in PL/pgSQL.

use super::body::{Body, Computed, unless_found};
use super::control::{compare, leave_if, leave_unless, raise};
use super::holes::is_query;
use super::names::Binding;
use crate::program::access;
use crate::program::cursor::Parsed;
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{BinaryOp, Expr, ExprKind, Span, SqlStatement, Statement, StatementKind, Variable};
use crate::sql::TokenKind;
use crate::value::Value;

impl Body<'_, '_> {
    /// One statement, without its semicolon.
    pub(super) fn plpgsql_statement(&mut self) -> Parsed<Vec<Statement>> {
        if self.cursor.is_symbol("<") && self.symbol_at(1, "<") {
            return self.plpgsql_labelled();
        }
        let start = self.cursor.start();
        match self.keyword().as_str() {
            _ if self.is_plpgsql_assignment() => {
                let variable = self.target()?;
                self.cursor.accept_symbol(":");
                self.cursor.expect_symbol("=", "after the variable")?;
                Ok(vec![self.assign(variable, &[], start)?])
            }
            "declare" | "begin" => self.plpgsql_block(None),
            "if" => self.conditional(),
            "case" => self.case(),
            "loop" => self.endless_loop(None),
            "while" => self.while_loop(None, "LOOP", "LOOP"),
            "for" => self.plpgsql_for(None),
            "exit" => self.plpgsql_exit(StatementKind::Leave),
            "continue" => self.plpgsql_exit(StatementKind::Iterate),
            "return" => self.plpgsql_return(),
            "raise" => self.plpgsql_raise(),
            "perform" => {
                self.cursor.advance();
                self.send("SELECT ")
            }
            "get" => self.diagnostics_area(),
            "open" => self.plpgsql_open(),
            "fetch" => self.plpgsql_fetch(),
            "close" => {
                self.cursor.advance();
                let (name, _) = self.name("the name of a cursor")?;
                let cursor = self.plpgsql_cursor(&name).0;
                Ok(vec![Statement { kind: StatementKind::Close(cursor), span: self.cursor.span_from(start) }])
            }
            "commit" => self.transaction_end(StatementKind::Commit),
            "rollback" => self.transaction_end(StatementKind::Rollback),
            "set" => self.isolation().map_or_else(|| self.send(""), Ok),
            "null" => {
                self.cursor.advance();
                Ok(Vec::new())
            }
            "execute" => self.dynamic(),
            "foreach" | "move" | "assert" => self.unfollowed(),
            _ => self.send(""),
        }
    }

    fn unfollowed(&mut self) -> Parsed<Vec<Statement>> {
        let message = format!("{} is not understood", self.keyword().to_uppercase());
        Err(self.cursor.error_at(self.cursor.start(), message))
    }

    /// `x := …`, `x = …`, `r.f := …`
    fn is_plpgsql_assignment(&self) -> bool {
        let is_name =
            |at: usize| self.cursor.peek_at(at).is_some_and(|t| matches!(t.kind, TokenKind::Word | TokenKind::Quoted));
        let target = if is_name(0) && self.symbol_at(1, ".") && is_name(2) { 3 } else { 1 };
        let name = self.cursor.peek().map(|token| crate::sql::plain_name(token.text)).unwrap_or_default();
        let equals = self.symbol_at(target, "=") && self.names.find(&name).is_some();
        is_name(0) && (equals || (self.symbol_at(target, ":") && self.symbol_at(target + 1, "=")))
    }

    /// `<<label>>` before a loop or block.
    fn plpgsql_labelled(&mut self) -> Parsed<Vec<Statement>> {
        self.cursor.split(2);
        let (label, _) = self.name("a label")?;
        self.cursor.expect_symbol(">", "after the label")?;
        self.cursor.expect_symbol(">", "after the label")?;
        match self.keyword().as_str() {
            "declare" | "begin" => self.plpgsql_block(Some(label)),
            "loop" => self.endless_loop(Some(label)),
            "while" => self.while_loop(Some(label), "LOOP", "LOOP"),
            "for" => self.plpgsql_for(Some(label)),
            _ => Err(self.cursor.unexpected("a loop or a block after the label")),
        }
    }

    /// `[DECLARE …] BEGIN … [EXCEPTION …] END`
    pub(super) fn plpgsql_block(&mut self, label: Option<String>) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.leavable(label, start, |body| {
            let mut statements = Vec::new();
            if body.cursor.accept_word("DECLARE") {
                while !body.cursor.is_word("BEGIN") && body.cursor.peek().is_some() {
                    statements.extend(body.plpgsql_declaration()?);
                }
            }
            body.cursor.expect_word("BEGIN", "before the body")?;
            statements.extend(body.block(&["END", "EXCEPTION"])?);
            if body.cursor.is_word("EXCEPTION") {
                body.exception()?;
            }
            body.cursor.expect_word("END", "after the block")?;
            body.end_label();
            Ok(statements)
        })
    }

    /// Handlers are read, for their mistakes, and left out.
    fn exception(&mut self) -> Parsed<()> {
        let start = self.cursor.start();
        self.cursor.advance();
        let span = self.cursor.span_from(start);
        let hint = "here, an error of the database rolls back and ends the call";
        self.warn(span, "what is done after an error is not followed", hint);
        while self.cursor.accept_word("WHEN") {
            self.cursor.split(self.until(&["THEN"]));
            self.cursor.expect_word("THEN", "after the condition")?;
            self.block(&["WHEN", "END"])?;
        }
        Ok(())
    }

    fn plpgsql_declaration(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        let (name, span) = self.name("the name of a variable")?;
        let length = self.until(&[]);
        let tokens: Vec<String> = self.cursor.rest()[..length].iter().map(|token| token.text.to_lowercase()).collect();
        let has = |word: &str| tokens.iter().any(|token| token == word);
        if has("cursor") && (has("for") || has("is")) {
            self.cursor.split(self.until(&["FOR", "IS"]) + 1);
            let query = self.cursor.split(self.until(&[]));
            let query = self.holes(&query, "");
            let cursor = self.names.free(&name);
            self.names.bind(&name, Binding::Cursor(cursor, Some(query)));
        } else if tokens.first().is_some_and(|word| word == "refcursor") {
            let cursor = self.names.free(&name);
            self.names.bind(&name, Binding::Cursor(cursor, None));
            self.skip_rest();
        } else if tokens.first().is_some_and(|word| word == "record") {
            self.names.bind(&name, Binding::Record(Vec::new()));
            self.skip_rest();
        } else if has("rowtype") {
            let table = tokens.iter().rev().skip_while(|token| *token != "%").nth(1);
            self.declare_row(&name, &table.cloned().unwrap_or_default());
            self.skip_rest();
        } else if tokens.first().is_some_and(|word| word == "alias") {
            let of = tokens.get(2).and_then(|of| self.names.variable(of)).map(str::to_string);
            match of {
                Some(of) => self.names.bind(&name, Binding::Variable(of)),
                None => self.warn(span, "what this is an alias for is not known", "name the parameter"),
            }
            self.skip_rest();
        } else {
            self.cursor.accept_word("CONSTANT");
            let declared = self.declarations(vec![(name, span)], &["DEFAULT", ":", "=", "NOT", "COLLATE"], start)?;
            self.cursor.expect_symbol(";", "after the declaration")?;
            return Ok(declared);
        }
        self.cursor.expect_symbol(";", "after the declaration")?;
        Ok(Vec::new())
    }

    fn plpgsql_for(&mut self, label: Option<String>) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let mut targets = vec![self.name("what the loop assigns")?];
        while self.cursor.accept_symbol(",") {
            targets.push(self.name("what the loop assigns")?);
        }
        self.cursor.expect_word("IN", "after the variables")?;
        let length = self.until(&["LOOP"]);
        let dots = (1..length).find(|at| self.symbol_at(*at - 1, ".") && self.symbol_at(*at, "."));
        let is_dynamic = self.cursor.is_word("EXECUTE");
        let (name, span) = targets[0].clone();
        match dots {
            Some(dots) if !is_query(self.cursor.rest()) => self.counted_loop(label, &name, span, dots - 1, start),
            _ if is_dynamic => self.unknown_loop(label, length, start),
            _ => self.row_loop(label, &targets, length, start),
        }
    }

    /// A loop over rows that nobody knows: it may go round any number of times.
    fn unknown_loop(&mut self, label: Option<String>, length: usize, start: usize) -> Parsed<Vec<Statement>> {
        let (from, query) = (self.cursor.start(), self.cursor.split(length));
        let span = query.span(from, query.rest().last().map_or(from, |token| token.span.end));
        let diagnostic = Diagnostic::error(span, "dynamic SQL cannot be analysed");
        self.diagnostics.push(diagnostic.with_hint("write the statement out"));
        self.cursor.expect_word("LOOP", "after the query")?;
        let body = self.loop_body(label.as_deref(), "LOOP")?;
        let condition = Expr { kind: ExprKind::Any, span };
        let kind = StatementKind::While { label, condition, body };
        Ok(vec![Statement { kind, span: self.cursor.span_from(start) }])
    }

    /// `FOR i IN [REVERSE] low..high [BY step] LOOP`; `dots` is where the dots are.
    fn counted_loop(
        &mut self,
        label: Option<String>,
        name: &str,
        span: Span,
        dots: usize,
        start: usize,
    ) -> Parsed<Vec<Statement>> {
        let reverse = self.cursor.accept_word("REVERSE");
        let mut statements = Vec::new();
        let low = self.value_of(dots - usize::from(reverse), &mut statements)?;
        self.cursor.split(2);
        let high = self.value(&["LOOP", "BY"], &mut statements)?;
        let one = Expr { kind: ExprKind::Literal(Value::int(1)), span };
        let step = if self.cursor.accept_word("BY") { self.value(&["LOOP"], &mut statements)? } else { one };
        self.cursor.expect_word("LOOP", "after the range")?;
        let last = self.names.add_implicit(&format!("{name}_last"), "INT");
        let assign = |name: &str, value: Expr| {
            let variable = Variable { name: name.to_string(), span };
            Statement { kind: StatementKind::Assign { variable, value }, span }
        };
        let variable = |name: &str| Expr { kind: ExprKind::Variable(name.to_string()), span };
        let (forth, back, within) = match reverse {
            false => (BinaryOp::Add, BinaryOp::Subtract, BinaryOp::LessEqual),
            true => (BinaryOp::Subtract, BinaryOp::Add, BinaryOp::GreaterEqual),
        };
        self.names.enter();
        let counter = self.names.free(name);
        self.names.bind(name, Binding::Variable(counter.clone()));
        self.names.implicit.push((counter.clone(), "INT".to_string()));
        statements.push(assign(&last, high));
        statements.push(assign(&counter, compare(back, low, step.clone())));
        let mut body = vec![
            assign(&counter, compare(forth, variable(&counter), step)),
            leave_unless(compare(within, variable(&counter), variable(&last)), span),
        ];
        let inner = self.loop_body(label.as_deref(), "LOOP");
        self.names.leave();
        body.extend(inner?);
        let kind = StatementKind::Loop { label, body };
        statements.push(Statement { kind, span: self.cursor.span_from(start) });
        Ok(statements)
    }

    /// `FOR r IN query LOOP`, `FOR r IN cursor LOOP`
    fn row_loop(
        &mut self,
        label: Option<String>,
        targets: &[(String, Span)],
        length: usize,
        start: usize,
    ) -> Parsed<Vec<Statement>> {
        let tokens = self.cursor.split(length);
        let cursor = tokens.rest().first().map(|token| crate::sql::plain_name(token.text)).unwrap_or_default();
        let bound = match self.names.find(&cursor) {
            Some(Binding::Cursor(_, Some(query))) if !is_query(tokens.rest()) => Some(query.clone()),
            _ => None,
        };
        let query = bound.unwrap_or_else(|| self.holes(&tokens, ""));
        self.cursor.expect_word("LOOP", "after the query")?;
        let variables = self.row_variables(targets, &query)?;
        let body = self.loop_body(label.as_deref(), "LOOP")?;
        let kind = StatementKind::ForEach { label, variables, query, body };
        Ok(vec![Statement { kind, span: self.cursor.span_from(start) }])
    }

    /// The variables that take a row: those that are named, or the fields of a record.
    fn row_variables(&mut self, targets: &[(String, Span)], query: &SqlStatement) -> Parsed<Vec<Variable>> {
        if let [(name, span)] = targets
            && self.names.variable(name).is_none()
        {
            if self.names.find(name).is_none() {
                self.names.bind(name, Binding::Record(Vec::new()));
            }
            let outputs = access::of_statement(query, *span, self.schema, self.language).0.outputs;
            return Ok(self.record_variables(name, &outputs, *span));
        }
        let mut variables = Vec::new();
        for (name, span) in targets {
            match self.known(name) {
                Some(name) => variables.push(Variable { name, span: *span }),
                None => return Err(self.cursor.error_at(span.start, format!("the variable {name} is not declared"))),
            }
        }
        Ok(variables)
    }

    /// `EXIT [label] [WHEN …]` and `CONTINUE`.
    fn plpgsql_exit(&mut self, kind: fn(Option<String>) -> StatementKind) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let is_bare = self.cursor.is_symbol(";") || self.cursor.is_word("WHEN") || self.cursor.peek().is_none();
        if is_bare && !self.labels.iter().any(|label| label.is_loop) {
            return Err(self.cursor.unexpected("a loop around this"));
        }
        let label = if is_bare { None } else { Some(self.label_mention()?) };
        let mut statements = Vec::new();
        if self.cursor.accept_word("WHEN") {
            let condition = self.value(&[], &mut statements)?;
            let span = self.cursor.span_from(start);
            let mut leave = leave_if(condition, None, span);
            if let StatementKind::If { branches, .. } = &mut leave.kind {
                branches[0].body = vec![Statement { kind: kind(label), span }];
            }
            statements.push(leave);
        } else {
            statements.push(Statement { kind: kind(label), span: self.cursor.span_from(start) });
        }
        Ok(statements)
    }

    fn plpgsql_return(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        if self.cursor.accept_word("QUERY") {
            return if self.cursor.is_word("EXECUTE") { self.dynamic() } else { self.send("") };
        }
        if self.cursor.is_word("NEXT") {
            let message = "rows that are returned one by one are not followed";
            self.warn(self.cursor.span_from(start), message, "use RETURN QUERY");
            self.skip_rest();
            return Ok(Vec::new());
        }
        let mut statements = Vec::new();
        let outputs = if self.cursor.is_symbol(";") { Vec::new() } else { vec![self.value(&[], &mut statements)?] };
        statements.push(Statement { kind: StatementKind::Return(outputs), span: self.cursor.span_from(start) });
        Ok(statements)
    }

    /// `RAISE [EXCEPTION] 'format', …`; what is only a message to the client is left out.
    fn plpgsql_raise(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let quiet = ["DEBUG", "LOG", "INFO", "NOTICE", "WARNING"].iter().any(|level| self.cursor.is_word(level));
        self.cursor.accept_word("EXCEPTION");
        let format = self.cursor.peek().filter(|token| token.kind == TokenKind::String);
        let message = format.map_or("the program raises an exception".to_string(), |token| {
            token.text.trim_matches('\'').replace("''", "'")
        });
        self.skip_rest();
        Ok(if quiet { Vec::new() } else { vec![raise(&message, self.cursor.span_from(start))] })
    }

    /// The name of a cursor in the program, and its query; one that is not declared gets its own name.
    fn plpgsql_cursor(&mut self, name: &str) -> (String, Option<SqlStatement>) {
        match self.names.find(name) {
            Some(Binding::Cursor(cursor, query)) => (cursor.clone(), query.clone()),
            _ => (name.to_string(), None),
        }
    }

    /// `OPEN c`, `OPEN c FOR query`
    fn plpgsql_open(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let (name, span) = self.name("the name of a cursor")?;
        let (cursor, bound) = self.plpgsql_cursor(&name);
        let query = if self.cursor.accept_word("FOR") {
            if self.cursor.is_word("EXECUTE") {
                return self.dynamic();
            }
            let tokens = self.cursor.split(self.until(&[]));
            let query = self.holes(&tokens, "");
            self.names.rebind(&name, Binding::Cursor(cursor.clone(), Some(query.clone())));
            Some(query)
        } else {
            bound
        };
        let Some(query) = query else {
            return Err(self.cursor.error_at(span.start, format!("the cursor {name} has no query")));
        };
        if self.cursor.is_symbol("(") {
            self.skip_rest();
            self.diagnostics.push(Diagnostic::error(span, "arguments of a cursor are not followed"));
        }
        let kind = StatementKind::Open { cursor, query };
        Ok(vec![Statement { kind, span: self.cursor.span_from(start) }])
    }

    /// `FETCH [NEXT] [FROM | IN] c INTO …`; behind the last row, the targets become NULL.
    fn plpgsql_fetch(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        for word in ["NEXT", "FORWARD", "FROM", "IN"] {
            self.cursor.accept_word(word);
        }
        let (name, span) = self.name("the name of a cursor")?;
        let (cursor, query) = self.plpgsql_cursor(&name);
        self.cursor.expect_word("INTO", "after the cursor")?;
        let first = self.cursor.peek().map(|token| crate::sql::plain_name(token.text)).unwrap_or_default();
        let variables = match (self.names.find(&first), query) {
            (Some(Binding::Record(_)), Some(query)) => {
                self.cursor.advance();
                self.row_variables(&[(first, span)], &query)?
            }
            _ => {
                let mut variables = vec![self.target()?];
                while self.cursor.accept_symbol(",") {
                    variables.push(self.target()?);
                }
                variables
            }
        };
        let span = self.cursor.span_from(start);
        let null = |variable: &Variable| {
            let value = Expr { kind: ExprKind::Literal(Value::Null), span };
            Statement { kind: StatementKind::Assign { variable: variable.clone(), value }, span }
        };
        let cleared = unless_found(variables.iter().map(null).collect(), span);
        Ok(vec![Statement { kind: StatementKind::Fetch { cursor, variables }, span }, cleared])
    }

    /// Variables of one type, with an optional first value; `ends` are the words and signs behind the type.
    pub(super) fn declarations(
        &mut self,
        names: Vec<(String, Span)>,
        ends: &[&str],
        start: usize,
    ) -> Parsed<Vec<Statement>> {
        let type_name = self.type_name(ends)?;
        if self.cursor.accept_word("COLLATE") {
            self.cursor.advance();
        }
        if self.cursor.accept_word("NOT") {
            self.cursor.expect_word("NULL", "after NOT")?;
        }
        let colon = self.cursor.accept_symbol(":");
        let has_default = self.cursor.accept_word("DEFAULT") || self.cursor.accept_symbol("=");
        if colon && !has_default {
            return Err(self.cursor.unexpected("`=` after the colon"));
        }
        let first = if has_default { Some(self.computed(&[])?) } else { None };
        let span = self.cursor.span_from(start);
        let mut statements = Vec::new();
        for (source, place) in names {
            if self.names.is_declared_here(&source) {
                let message = format!("{source} is declared already; choose another name");
                return Err(self.cursor.error_at(place.start, message));
            }
            let variable = Variable { name: self.names.declare(&source), span: place };
            let default = match &first {
                Some(Computed::Local(value)) => Some(value.clone()),
                _ => None,
            };
            let kind = StatementKind::Declare { variable: variable.clone(), type_name: type_name.clone(), default };
            statements.push(Statement { kind, span });
            if let Some(Computed::Server(query, _)) = &first {
                statements.push(super::body::into((**query).clone(), variable, span));
            }
        }
        Ok(statements)
    }

    /// A type as text; `table.column%TYPE` is the type of that column.
    pub(super) fn type_name(&mut self, ends: &[&str]) -> Parsed<String> {
        let tokens = self.cursor.split(self.until(ends));
        let all = tokens.rest();
        let (Some(first), Some(last)) = (all.first(), all.last()) else {
            return Err(self.cursor.unexpected("a type"));
        };
        let text = crate::sql::one_line(&tokens.source()[first.span.start..last.span.end]);
        if let [.., table, _, column, percent, word] = all
            && percent.is_symbol("%")
            && word.is_word("TYPE")
        {
            let table = self.schema.table(&crate::sql::plain_name(table.text));
            let column = table.and_then(|table| table.column(&crate::sql::plain_name(column.text)));
            return Ok(column.map_or(text, |column| column.column_type.name.clone()));
        }
        Ok(text)
    }
}

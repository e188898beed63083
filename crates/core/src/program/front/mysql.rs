//! Bodies of MySQL's and MariaDB's stored procedures and functions.

use super::body::{Body, unless_found};
use super::control::raise;
use super::names::Binding;
use crate::program::cursor::Parsed;
use crate::program::diagnostic::Diagnostic;
use crate::program::ir::{Expr, ExprKind, Statement, StatementKind};
use crate::sql::TokenKind;
use crate::value::Value;

impl Body<'_, '_> {
    /// One statement, without its semicolon.
    pub(super) fn mysql_statement(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        if self.symbol_at(1, ":") && self.cursor.peek().is_some_and(|token| token.kind != TokenKind::Symbol) {
            return self.mysql_labelled();
        }
        let simple = |body: &Self, kind| Ok(vec![Statement { kind, span: body.cursor.span_from(start) }]);
        match self.keyword().as_str() {
            "begin" if self.word_at(1, "WORK") => {
                self.cursor.split(2);
                simple(self, StatementKind::Begin)
            }
            "start" if self.word_at(1, "TRANSACTION") && self.symbol_at(2, ";") => {
                self.cursor.split(2);
                simple(self, StatementKind::Begin)
            }
            "begin" => self.mysql_block(None),
            "declare" => self.mysql_declare(),
            "set" => self.mysql_set(),
            "if" => self.conditional(),
            "case" => self.case(),
            "while" => self.while_loop(None, "DO", "WHILE"),
            "loop" => self.endless_loop(None),
            "repeat" => self.repeat_loop(None),
            "leave" => {
                self.cursor.advance();
                let label = self.label_mention()?;
                simple(self, StatementKind::Leave(Some(label)))
            }
            "iterate" => {
                self.cursor.advance();
                let label = self.label_mention()?;
                simple(self, StatementKind::Iterate(Some(label)))
            }
            "open" => self.mysql_open(),
            "fetch" => self.mysql_fetch(),
            "close" => {
                self.cursor.advance();
                let (cursor, _) = self.mysql_cursor()?;
                simple(self, StatementKind::Close(cursor))
            }
            "commit" => self.transaction_end(StatementKind::Commit),
            "rollback" => self.transaction_end(StatementKind::Rollback),
            "signal" | "resignal" => self.mysql_signal(),
            "return" => self.mysql_return(),
            "get" => self.diagnostics_area(),
            "prepare" | "execute" | "deallocate" => self.dynamic(),
            _ => self.send(""),
        }
    }

    /// A statement whose text only the running program knows.
    pub(super) fn dynamic(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.skip_rest();
        let diagnostic = Diagnostic::error(self.cursor.span_from(start), "dynamic SQL cannot be analysed");
        self.diagnostics.push(diagnostic.with_hint("write the statement out"));
        Ok(Vec::new())
    }

    fn mysql_labelled(&mut self) -> Parsed<Vec<Statement>> {
        let (label, _) = self.name("a label")?;
        self.cursor.advance();
        match self.keyword().as_str() {
            "begin" => self.mysql_block(Some(label)),
            "while" => self.while_loop(Some(label), "DO", "WHILE"),
            "loop" => self.endless_loop(Some(label)),
            "repeat" => self.repeat_loop(Some(label)),
            _ => Err(self.cursor.unexpected("WHILE, LOOP, REPEAT or BEGIN after the label")),
        }
    }

    /// `BEGIN … END`
    pub(super) fn mysql_block(&mut self, label: Option<String>) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.expect_word("BEGIN", "before the body")?;
        self.leavable(label, start, |body| {
            let statements = body.block(&["END"])?;
            body.cursor.expect_word("END", "after the block")?;
            body.end_label();
            Ok(statements)
        })
    }

    fn mysql_declare(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        if self.word_at(1, "HANDLER") {
            return self.mysql_handler();
        }
        let mut names = vec![self.name("the name of a variable")?];
        if self.cursor.is_word("CURSOR") {
            let (name, _) = names.remove(0);
            self.cursor.split(1);
            self.cursor.expect_word("FOR", "before the query of the cursor")?;
            let query = self.cursor.split(self.until(&[]));
            let query = self.holes(&query, "");
            let cursor = self.names.free(&name);
            self.names.bind(&name, Binding::Cursor(cursor, Some(query)));
            return Ok(Vec::new());
        }
        if self.cursor.is_word("CONDITION") {
            self.skip_rest();
            return Ok(Vec::new());
        }
        while self.cursor.accept_symbol(",") {
            names.push(self.name("the name of a variable")?);
        }
        self.declarations(names, &["DEFAULT"], start)
    }

    /// `[CONTINUE | EXIT] HANDLER FOR condition, … statement`
    fn mysql_handler(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        let exits = self.cursor.is_word("EXIT");
        self.cursor.split(2);
        self.cursor.expect_word("FOR", "after HANDLER")?;
        let mut is_not_found = false;
        loop {
            is_not_found |= self.mysql_condition()?;
            if !self.cursor.accept_symbol(",") {
                break;
            }
        }
        let around = std::mem::take(&mut self.handlers);
        let statements = self.mysql_statement();
        self.handlers = around;
        let mut statements = statements?;
        let span = self.cursor.span_from(start);
        if is_not_found {
            if exits {
                let label = self.block_label();
                statements.push(Statement { kind: StatementKind::Leave(Some(label)), span });
            }
            self.handlers.push(statements);
        } else if !exits || !statements.iter().all(is_giving_up) {
            let hint = "here, an error of the database rolls back and ends the call";
            self.warn(span, "what this handler does after an error is not followed", hint);
        }
        Ok(Vec::new())
    }

    /// One condition of a handler; whether it means that no row was found.
    fn mysql_condition(&mut self) -> Parsed<bool> {
        if self.cursor.accept_word("NOT") {
            self.cursor.expect_word("FOUND", "after NOT")?;
            return Ok(true);
        }
        if self.cursor.accept_word("SQLSTATE") {
            self.cursor.accept_word("VALUE");
            let state = self.cursor.advance();
            return Ok(state.is_some_and(|token| token.text == "'02000'"));
        }
        let code = self.cursor.advance();
        Ok(code.is_some_and(|token| token.text == "1329"))
    }

    /// The label of the block around, which needs one now.
    fn block_label(&mut self) -> String {
        let fresh = self.names.free("block");
        let Some(label) = self.labels.iter_mut().rev().find(|label| !label.is_loop) else { return fresh };
        label.is_used = true;
        label.name.get_or_insert(fresh).clone()
    }

    fn mysql_set(&mut self) -> Parsed<Vec<Statement>> {
        if let Some(isolation) = self.isolation() {
            return Ok(isolation);
        }
        let start = self.cursor.start();
        let first = self.cursor.peek_at(1).map(|token| crate::sql::plain_name(token.text)).unwrap_or_default();
        let is_ours = self.names.find(&first).is_some() || (first.starts_with('@') && !first.starts_with("@@"));
        let is_assignment = self.symbol_at(2, "=") || self.symbol_at(2, ":");
        let settings = ["autocommit", "names", "session", "global", "sql_mode", "foreign_key_checks", "local"];
        if !is_ours && (!is_assignment || settings.contains(&first.as_str()) || first.starts_with("@@")) {
            return self.send("");
        }
        self.cursor.advance();
        let mut statements = Vec::new();
        loop {
            let variable = self.target()?;
            self.cursor.accept_symbol(":");
            self.cursor.expect_symbol("=", "after the variable")?;
            statements.push(self.assign(variable, &[","], start)?);
            if !self.cursor.accept_symbol(",") {
                return Ok(statements);
            }
        }
    }

    /// The name of a cursor in the program, and its query.
    fn mysql_cursor(&mut self) -> Parsed<(String, Option<crate::program::SqlStatement>)> {
        let at = self.cursor.start();
        let (name, _) = self.name("the name of a cursor")?;
        match self.names.find(&name) {
            Some(Binding::Cursor(cursor, query)) => Ok((cursor.clone(), query.clone())),
            _ => Err(self.cursor.error_at(at, format!("the cursor {name} is not declared"))),
        }
    }

    fn mysql_open(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let (cursor, query) = self.mysql_cursor()?;
        let span = self.cursor.span_from(start);
        let kind = query.map(|query| StatementKind::Open { cursor, query });
        Ok(kind.into_iter().map(|kind| Statement { kind, span }).collect())
    }

    /// `FETCH [[NEXT] FROM] c INTO a, b`
    fn mysql_fetch(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        self.cursor.accept_word("NEXT");
        self.cursor.accept_word("FROM");
        let (cursor, _) = self.mysql_cursor()?;
        self.cursor.expect_word("INTO", "after the cursor")?;
        let mut variables = vec![self.target()?];
        while self.cursor.accept_symbol(",") {
            variables.push(self.target()?);
        }
        let span = self.cursor.span_from(start);
        let fetch = Statement { kind: StatementKind::Fetch { cursor, variables }, span };
        let otherwise = self.not_found(span);
        Ok(vec![fetch, otherwise.unwrap_or_else(|| unless_found(vec![raise("no data", span)], span))])
    }

    /// `SIGNAL SQLSTATE '45000' [SET MESSAGE_TEXT = …]`
    fn mysql_signal(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let text = Value::text("the program signals an error");
        let mut message = Expr { kind: ExprKind::Literal(text), span: self.cursor.span_from(start) };
        self.cursor.split(self.until(&["SET"]));
        let mut statements = Vec::new();
        if self.cursor.accept_word("SET") {
            loop {
                let (item, _) = self.name("what is set")?;
                self.cursor.expect_symbol("=", "after it")?;
                let value = self.value(&[","], &mut statements)?;
                if item == "message_text" {
                    message = value;
                }
                if !self.cursor.accept_symbol(",") {
                    break;
                }
            }
        }
        statements.push(Statement { kind: StatementKind::Raise(message), span: self.cursor.span_from(start) });
        Ok(statements)
    }

    fn mysql_return(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let mut statements = Vec::new();
        let value = self.value(&[], &mut statements)?;
        statements.push(Statement { kind: StatementKind::Return(vec![value]), span: self.cursor.span_from(start) });
        Ok(statements)
    }
}

/// What a handler may do that amounts to: undo everything, and fail.
fn is_giving_up(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Rollback | StatementKind::Raise(_) | StatementKind::Assign { .. } => true,
        StatementKind::Sql(sql) => {
            let text = sql.to_string();
            let is_query = crate::sql::StatementKind::of(&text) == crate::sql::StatementKind::Query;
            is_query && !text.to_lowercase().contains("from")
        }
        _ => false,
    }
}

//! IF, CASE and loops, which the languages write almost alike.
//!
//! A condition that the server must compute is asked before the statement that needs it. So a WHILE with such a condition
//! becomes a LOOP that asks and leaves, and an ELSEIF an IF of its own inside the ELSE.

use super::body::{Body, Label};
use crate::program::cursor::Parsed;
use crate::program::ir::{BinaryOp, Branch, Expr, ExprKind, Span, Statement, StatementKind};
use crate::value::Value;

impl Body<'_, '_> {
    /// `IF … THEN … [ELSEIF …] [ELSE …] END IF`
    pub(super) fn conditional(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        let mut arms = Vec::new();
        loop {
            self.cursor.advance();
            let mut before = Vec::new();
            let condition = self.value(&["THEN"], &mut before)?;
            self.cursor.expect_word("THEN", "after the condition")?;
            let body = self.block(&["ELSEIF", "ELSIF", "ELSE", "END IF"])?;
            arms.push((before, Branch { condition, body }));
            if !self.cursor.is_word("ELSEIF") && !self.cursor.is_word("ELSIF") {
                break;
            }
        }
        let otherwise = if self.cursor.accept_word("ELSE") { self.block(&["END IF"])? } else { Vec::new() };
        self.cursor.expect_word("END", "IF")?;
        self.cursor.expect_word("IF", "after END")?;
        Ok(cascade(arms, otherwise, self.cursor.span_from(start)))
    }

    /// `CASE [x] WHEN … THEN … [ELSE …] END CASE`
    pub(super) fn case(&mut self) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let mut before = Vec::new();
        let operand = if self.cursor.is_word("WHEN") { None } else { Some(self.value(&["WHEN"], &mut before)?) };
        let mut arms = Vec::new();
        while self.cursor.accept_word("WHEN") {
            let mut before_arm = Vec::new();
            let mut condition = self.case_condition(operand.as_ref(), &mut before_arm)?;
            while operand.is_some() && self.cursor.accept_symbol(",") {
                let other = self.case_condition(operand.as_ref(), &mut before_arm)?;
                condition = compare(BinaryOp::Or, condition, other);
            }
            self.cursor.expect_word("THEN", "after the condition")?;
            let body = self.block(&["WHEN", "ELSE", "END CASE"])?;
            arms.push((before_arm, Branch { condition, body }));
        }
        let otherwise = if self.cursor.accept_word("ELSE") {
            self.block(&["END CASE"])?
        } else {
            // In both languages it is an error if nothing matches.
            vec![raise("no case matches", self.cursor.span_from(start))]
        };
        self.cursor.expect_word("END", "CASE")?;
        self.cursor.expect_word("CASE", "after END")?;
        before.extend(cascade(arms, otherwise, self.cursor.span_from(start)));
        Ok(before)
    }

    /// What stands behind WHEN: a condition, or one of the values (in PL/pgSQL, there may be several) that match.
    fn case_condition(&mut self, operand: Option<&Expr>, before: &mut Vec<Statement>) -> Parsed<Expr> {
        match operand {
            None => self.value(&["THEN"], before),
            Some(operand) => Ok(equal(operand.clone(), self.value(&["THEN", ","], before)?)),
        }
    }

    /// `WHILE … DO … END WHILE`, or `WHILE … LOOP … END LOOP`.
    pub(super) fn while_loop(&mut self, label: Option<String>, opens: &str, closes: &str) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let mut before = Vec::new();
        let condition = self.value(&[opens], &mut before)?;
        self.cursor.expect_word(opens, "after the condition")?;
        let body = self.loop_body(label.as_deref(), closes)?;
        let span = self.cursor.span_from(start);
        let kind = if before.is_empty() {
            StatementKind::While { label, condition, body }
        } else {
            before.push(leave_unless(condition, span));
            before.extend(body);
            StatementKind::Loop { label, body: before }
        };
        Ok(vec![Statement { kind, span }])
    }

    /// `LOOP … END LOOP`
    pub(super) fn endless_loop(&mut self, label: Option<String>) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        let body = self.loop_body(label.as_deref(), "LOOP")?;
        Ok(vec![Statement { kind: StatementKind::Loop { label, body }, span: self.cursor.span_from(start) }])
    }

    /// `REPEAT … UNTIL … END REPEAT`
    pub(super) fn repeat_loop(&mut self, label: Option<String>) -> Parsed<Vec<Statement>> {
        let start = self.cursor.start();
        self.cursor.advance();
        self.labels.push(Label { name: label.clone(), is_loop: true, is_used: false });
        let mut body = self.block(&["UNTIL"])?;
        self.labels.pop();
        self.cursor.advance();
        let condition = self.value(&["END"], &mut body)?;
        self.cursor.expect_word("END", "after the condition")?;
        self.cursor.expect_word("REPEAT", "after END")?;
        self.end_label();
        let span = self.cursor.span_from(start);
        body.push(leave_if(condition, None, span));
        Ok(vec![Statement { kind: StatementKind::Loop { label, body }, span }])
    }

    /// The statements of a loop, its end, and the label that may be repeated there.
    pub(super) fn loop_body(&mut self, label: Option<&str>, closes: &str) -> Parsed<Vec<Statement>> {
        self.labels.push(Label { name: label.map(str::to_string), is_loop: true, is_used: false });
        let body = self.block(&[&format!("END {closes}")])?;
        self.labels.pop();
        self.cursor.expect_word("END", closes)?;
        self.cursor.expect_word(closes, "after END")?;
        self.end_label();
        Ok(body)
    }

    /// Statements that have names of their own, up to END: inline, unless something leaves them by their label.
    pub(super) fn leavable(
        &mut self,
        label: Option<String>,
        start: usize,
        read: impl FnOnce(&mut Self) -> Parsed<Vec<Statement>>,
    ) -> Parsed<Vec<Statement>> {
        let handlers = self.handlers.len();
        self.names.enter();
        self.labels.push(Label { name: label, is_loop: false, is_used: false });
        let depth = self.labels.len();
        let body = read(self);
        self.names.leave();
        self.handlers.truncate(handlers);
        let label = self.labels.drain(depth - 1..).next().filter(|label| label.is_used);
        let body = body?;
        let span = self.cursor.span_from(start);
        Ok(match label.and_then(|label| label.name) {
            Some(label) => vec![Statement { kind: StatementKind::Block { label, body }, span }],
            None => body,
        })
    }

    /// The name that may stand behind the end of a block or loop.
    pub(super) fn end_label(&mut self) {
        let is_last = self.cursor.peek_at(1).is_none_or(|token| token.is_symbol(";"));
        if !self.cursor.is_symbol(";") && is_last {
            self.cursor.advance();
        }
    }

    /// The label that LEAVE or EXIT names; it must be around.
    pub(super) fn label_mention(&mut self) -> Parsed<String> {
        let at = self.cursor.start();
        let (name, _) = self.name("a label")?;
        match self.labels.iter_mut().rev().find(|label| label.name.as_deref() == Some(name.as_str())) {
            Some(label) => {
                label.is_used = true;
                Ok(name)
            }
            None => Err(self.cursor.error_at(at, format!("nothing around this is called {name}"))),
        }
    }
}

/// `IF … ELSEIF … ELSE …`; what must be asked before a condition is asked only if it comes to that.
fn cascade(arms: Vec<(Vec<Statement>, Branch)>, otherwise: Vec<Statement>, span: Span) -> Vec<Statement> {
    let mut rest = otherwise;
    for (before, branch) in arms.into_iter().rev() {
        let joins = matches!(rest.as_slice(), [Statement { kind: StatementKind::If { .. }, span: inner }]
            if inner.start == span.start);
        let kind = match (joins, rest.pop()) {
            (true, Some(Statement { kind: StatementKind::If { branches, otherwise }, .. })) => {
                let branches = std::iter::once(branch).chain(branches).collect();
                StatementKind::If { branches, otherwise }
            }
            (_, last) => {
                rest.extend(last);
                StatementKind::If { branches: vec![branch], otherwise: std::mem::take(&mut rest) }
            }
        };
        rest = before;
        rest.push(Statement { kind, span });
    }
    rest
}

/// `SIGNAL 'message'`
pub(super) fn raise(message: &str, span: Span) -> Statement {
    let message = Expr { kind: ExprKind::Literal(Value::text(message)), span };
    Statement { kind: StatementKind::Raise(message), span }
}

pub(super) fn equal(left: Expr, right: Expr) -> Expr {
    compare(BinaryOp::Equal, left, right)
}

pub(super) fn compare(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span =
        Span { start: left.span.start.min(right.span.start), end: right.span.end.max(left.span.end), ..left.span };
    Expr { kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, span }
}

/// `IF condition THEN LEAVE; END IF`
pub(super) fn leave_if(condition: Expr, label: Option<String>, span: Span) -> Statement {
    let leave = Statement { kind: StatementKind::Leave(label), span };
    let branches = vec![Branch { condition, body: vec![leave] }];
    Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span }
}

/// `IF condition THEN ELSE LEAVE; END IF`: a condition that is NULL leaves, too.
pub(super) fn leave_unless(condition: Expr, span: Span) -> Statement {
    let leave = Statement { kind: StatementKind::Leave(None), span };
    let branches = vec![Branch { condition, body: Vec::new() }];
    Statement { kind: StatementKind::If { branches, otherwise: vec![leave] }, span }
}

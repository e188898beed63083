//! What embedded statements do, as a tree.

use tree_sitter::Node;
use txloom_core::program::Span;

use super::super::host::tree::{Call, Expr, ExprKind, Stmt, StmtKind};
use super::embedded::{Action, Kind, Source, Sql, Target};
use super::{Reader, codes};

impl<'s> Reader<'s> {
    /// The statement that was cut out here.
    pub(super) fn embedded(&mut self, node: Node<'s>) -> Option<Vec<Stmt>> {
        let one = self.cut.statements.get(&node.start_byte())?;
        let span = self.source.span(node);
        let mut statements = self.effect(&one.kind, span);
        let has_rows = matches!(one.kind, Kind::Send(_) | Kind::Into(..) | Kind::Fetch(..) | Kind::Execute(..));
        if has_rows && one.not_found != Action::Continue {
            let body = self.reaction(&one.not_found, span);
            let branches = vec![(codes::not_found(span), body)];
            statements.push(Stmt { kind: StmtKind::If { branches, otherwise: Vec::new() }, span });
        }
        Some(statements)
    }

    fn effect(&mut self, kind: &Kind, span: Span) -> Vec<Stmt> {
        match kind {
            Kind::Nothing | Kind::Close(_) => Vec::new(),
            Kind::Send(sql) => {
                let arguments = self.sent(sql, span);
                self.noted(vec![done(call(None, "__send__", arguments, span))], span)
            }
            Kind::Into(sql, targets) => {
                let mut arguments = self.sent(sql, span);
                let all = targets.iter().map(|target| self.host(&target.expression, span)).collect();
                arguments.push(Expr { kind: ExprKind::List(all), span });
                let mut statements = self.noted(vec![done(call(None, "__into__", arguments, span))], span);
                statements.extend(self.indicators(targets, span));
                statements
            }
            Kind::Declare(sql) => vec![done(self.text(sql))],
            Kind::Open(cursor, values) => self.open(cursor, values, span),
            Kind::Fetch(cursor, targets) => {
                let cursor = self.cursor(cursor, span);
                self.fetch(cursor, targets, span)
            }
            Kind::Prepare(name, source) => {
                let text = self.text_of(source, span);
                let prepared = call(None, "__prepare__", vec![text], span);
                vec![assign(self.prepared(name, span), prepared)]
            }
            Kind::Execute(name, values, targets) => self.execute(name, values, targets, span),
            Kind::Immediate(source) => {
                let text = self.text_of(source, span);
                self.noted(vec![done(call(None, "__send__", vec![text], span))], span)
            }
            Kind::Control(text) => self.control(text, span),
            Kind::AutoCommit(on) => {
                let on = Expr { kind: ExprKind::Bool(*on), span };
                vec![done(call(None, "__set_autocommit__", vec![on], span))]
            }
        }
    }

    fn control(&mut self, text: &str, span: Span) -> Vec<Stmt> {
        let sent = match text {
            "COMMIT" => call(None, "__commit__", Vec::new(), span),
            "ROLLBACK" => call(None, "__rollback__", Vec::new(), span),
            "BEGIN" => call(None, "__begin__", Vec::new(), span),
            _ => call(None, "__send__", vec![Expr { kind: ExprKind::Text(text.to_string()), span }], span),
        };
        let mut statements = vec![done(sent)];
        if self.asks_codes {
            statements.push(codes::note(Expr { kind: ExprKind::Bool(true), span }));
        }
        statements
    }

    /// `OPEN c USING …`: the query of the cursor, or what was prepared for it.
    fn open(&mut self, cursor: &str, values: &[String], span: Span) -> Vec<Stmt> {
        let target = self.cursor(cursor, span);
        let Some(sql) = self.cut.cursors.get(cursor) else { return Vec::new() };
        let is_name = sql.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            let arguments = self.sent(sql, span);
            return vec![assign(target, call(None, "__query__", arguments, span))];
        }
        let prepared = self.prepared(&sql.text.to_lowercase(), span);
        let mut statements = self.bound(&prepared, values, span);
        statements.push(assign(target, call(Some(prepared), "__query__", Vec::new(), span)));
        statements
    }

    fn execute(&mut self, name: &str, values: &[String], targets: &[Target], span: Span) -> Vec<Stmt> {
        let prepared = self.prepared(name, span);
        let mut statements = self.bound(&prepared, values, span);
        if targets.is_empty() {
            statements.push(done(call(Some(prepared), "__send__", Vec::new(), span)));
            return self.noted(statements, span);
        }
        let rows = Expr { kind: ExprKind::Name(format!("rows of {name}")), span };
        statements.push(assign(rows.clone(), call(Some(prepared), "__query__", Vec::new(), span)));
        statements.extend(self.fetch(rows, targets, span));
        statements
    }

    fn bound(&mut self, prepared: &Expr, values: &[String], span: Span) -> Vec<Stmt> {
        if values.is_empty() {
            return Vec::new();
        }
        let all = values.iter().map(|value| self.host(value, span)).collect();
        let list = Expr { kind: ExprKind::List(all), span };
        vec![done(call(Some(prepared.clone()), "__bind__", vec![list], span))]
    }

    /// Without a row, everything stays as it was.
    fn fetch(&mut self, rows: Expr, targets: &[Target], span: Span) -> Vec<Stmt> {
        let next = call(Some(rows.clone()), "__next__", Vec::new(), span);
        let mut taken = Vec::new();
        for (at, target) in targets.iter().enumerate() {
            let position = Box::new(Expr { kind: ExprKind::Number(at.to_string()), span });
            let column = Expr { kind: ExprKind::Index(Box::new(rows.clone()), position), span };
            taken.push(assign(self.host(&target.expression, span), column));
        }
        taken.extend(self.indicators(targets, span));
        let (before, asked) = match self.asks_codes {
            true => (vec![codes::note(next)], codes::found(span)),
            false => (Vec::new(), next),
        };
        let kind = StmtKind::If { branches: vec![(asked, taken)], otherwise: Vec::new() };
        before.into_iter().chain([Stmt { kind, span }]).collect()
    }

    /// `ind = x is NULL ? -1 : 0`
    fn indicators(&mut self, targets: &[Target], span: Span) -> Vec<Stmt> {
        let number = |text: &str| Box::new(Expr { kind: ExprKind::Number(text.to_string()), span });
        let mut statements = Vec::new();
        for target in targets {
            let Some(indicator) = &target.indicator else { continue };
            let value = self.host(&target.expression, span);
            let null = Expr { kind: ExprKind::Null, span };
            let operands = vec![value, null];
            let asked = Expr { kind: ExprKind::Chain(super::super::host::tree::Operator::Equal, operands), span };
            let minus = Box::new(Expr { kind: ExprKind::Negate(number("1")), span });
            let kind = ExprKind::Choice(Box::new(asked), minus, number("0"));
            statements.push(assign(self.host(indicator, span), Expr { kind, span }));
        }
        statements
    }

    fn noted(&mut self, mut statements: Vec<Stmt>, span: Span) -> Vec<Stmt> {
        if self.asks_codes {
            statements.push(codes::note(codes::asked("__found__", span)));
        }
        statements
    }

    /// What `WHENEVER NOT FOUND` says.
    fn reaction(&mut self, action: &Action, span: Span) -> Vec<Stmt> {
        let kind = match action {
            Action::Continue => return Vec::new(),
            Action::GoTo(label) => return self.go_to(label, span),
            Action::Break => StmtKind::Break(None),
            Action::NextRound => StmtKind::Continue(None),
            Action::Stop => StmtKind::Return(None),
            Action::Call(text) => {
                let name = text.split('(').next().unwrap_or(text).trim();
                StmtKind::Expr(call(None, name, Vec::new(), span))
            }
        };
        vec![Stmt { kind, span }]
    }

    fn text(&self, sql: &Sql) -> Expr {
        let piece = |from: usize, to: usize| {
            let text = sql.text.get(from..to).unwrap_or("");
            Expr { kind: ExprKind::Text(text.to_string()), span: self.place(sql.start + from, text.len()) }
        };
        let whole = piece(0, sql.text.len());
        match sql.gap {
            // One space is enough where the INTO stood.
            Some((start, end)) if start > 0 && end < sql.text.len() => {
                let before = sql.text.get(..start).map_or(start, |text| text.trim_end().len());
                let pieces = vec![
                    piece(0, before),
                    piece(end.max(1) - usize::from(!behind_space(&sql.text, end)), sql.text.len()),
                ];
                Expr { kind: ExprKind::Pieces(pieces), span: whole.span }
            }
            _ => whole,
        }
    }

    fn text_of(&mut self, source: &Source, span: Span) -> Expr {
        match source {
            Source::Variable(name) => self.host(name, span),
            Source::Constant(sql) => self.text(sql),
        }
    }

    /// The text, and the values of its marks by name.
    fn sent(&mut self, sql: &Sql, span: Span) -> Vec<Expr> {
        let mut pairs = Vec::new();
        for (mark, expression) in &sql.marks {
            pairs.push((Expr { kind: ExprKind::Text(mark.clone()), span }, self.host(expression, span)));
        }
        let mut arguments = vec![self.text(sql)];
        if !pairs.is_empty() {
            arguments.push(Expr { kind: ExprKind::Map(pairs), span });
        } else {
            arguments.push(Expr { kind: ExprKind::List(Vec::new()), span });
        }
        arguments
    }

    /// `a`, `a.b`, `a->b`, `a[1]`
    fn host(&mut self, expression: &str, span: Span) -> Expr {
        let mut rest = expression.trim();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let take = |rest: &str| rest.len() - rest.trim_start_matches(is_word).len();
        let length = take(rest);
        let mut expr = Expr { kind: ExprKind::Name(rest[..length].to_string()), span };
        rest = &rest[length..];
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix("->").or_else(|| rest.strip_prefix('.')) {
                let length = take(inner);
                expr = Expr { kind: ExprKind::Field(Box::new(expr), inner[..length].to_string()), span };
                rest = &inner[length..];
            } else if let Some((at, behind)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
                let is_number = at.trim().chars().all(|c| c.is_ascii_digit());
                let at = at.trim().to_string();
                let kind = if is_number { ExprKind::Number(at) } else { ExprKind::Name(at) };
                expr = Expr { kind: ExprKind::Index(Box::new(expr), Box::new(Expr { kind, span })), span };
                rest = behind;
            } else {
                break;
            }
        }
        expr
    }

    fn cursor(&self, name: &str, span: Span) -> Expr {
        Expr { kind: ExprKind::Name(format!("cursor {name}")), span }
    }

    fn prepared(&self, name: &str, span: Span) -> Expr {
        Expr { kind: ExprKind::Name(format!("prepared {name}")), span }
    }
}

/// Whether a space stands there.
fn behind_space(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

fn call(receiver: Option<Expr>, name: &str, arguments: Vec<Expr>, span: Span) -> Expr {
    let receiver = receiver.map(Box::new);
    Expr { kind: ExprKind::Call(Call { receiver, name: name.to_string(), arguments, named: Vec::new() }), span }
}

fn assign(target: Expr, value: Expr) -> Stmt {
    let span = value.span;
    let kind = ExprKind::Assign { target: Box::new(target), operator: None, value: Box::new(value) };
    Stmt { kind: StmtKind::Expr(Expr { kind, span }), span }
}

fn done(expr: Expr) -> Stmt {
    let span = expr.span;
    Stmt { kind: StmtKind::Expr(expr), span }
}

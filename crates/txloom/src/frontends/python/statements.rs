//! Statements of Python.

use tree_sitter::Node;

use super::super::host::tree::{Call, Case, Catch, Expr, ExprKind, Operator, Stmt, StmtKind, Try};
use super::super::host::visit;
use super::super::syntax::{children, parts};
use super::{Reader, last_name};

impl Reader<'_> {
    /// The statements of a block, or of what a mistake has torn apart.
    pub(super) fn block(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let mut statements: Vec<Stmt> = Vec::new();
        for child in parts(node) {
            statements.extend(self.statement(child));
            // What a generator does later is done by whoever asks it.
            if ends_generator(&mut statements) {
                break;
            }
        }
        statements
    }

    fn body(&mut self, node: Node<'_>, field: &str) -> Vec<Stmt> {
        node.child_by_field_name(field).map(|body| self.block(body)).unwrap_or_default()
    }

    /// A statement, behind what its expressions need.
    pub(super) fn statement(&mut self, node: Node<'_>) -> Vec<Stmt> {
        if !self.source.enter(node) {
            return Vec::new();
        }
        let outer = std::mem::take(&mut self.pending);
        let statements = self.statement_inside(node);
        let mut all = std::mem::replace(&mut self.pending, outer);
        all.extend(statements);
        self.source.leave();
        all
    }

    fn statement_inside(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let kind = match node.kind() {
            "expression_statement" => {
                let all = parts(node);
                return all.into_iter().map(|part| self.expression_statement(part)).collect();
            }
            "if_statement" => self.if_statement(node),
            "for_statement" => return self.for_statement(node),
            "while_statement" => {
                let condition = self.condition(node, "condition");
                StmtKind::While { label: None, condition, body: self.body(node, "body") }
            }
            "with_statement" => return self.with_statement(node),
            "try_statement" => StmtKind::Try(self.try_statement(node)),
            "return_statement" => StmtKind::Return(node.named_child(0).map(|value| self.expression(value))),
            "raise_statement" => StmtKind::Throw(node.named_child(0).map(|value| self.thrown(value))),
            "assert_statement" => self.assertion(node),
            "match_statement" => self.match_statement(node),
            "break_statement" => StmtKind::Break(None),
            "continue_statement" => StmtKind::Continue(None),
            "block" | "ERROR" => return self.block(node),
            // Definitions have been read; the others do nothing.
            _ => return Vec::new(),
        };
        vec![self.source.statement(kind, node)]
    }

    fn expression_statement(&mut self, node: Node<'_>) -> Stmt {
        let expr = self.expression(node);
        self.source.statement(StmtKind::Expr(expr), node)
    }

    /// `if … elif … else …`, as a list.
    fn if_statement(&mut self, node: Node<'_>) -> StmtKind {
        let mut branches = vec![(self.condition(node, "condition"), self.body(node, "consequence"))];
        let mut otherwise = Vec::new();
        for clause in parts(node) {
            match clause.kind() {
                "elif_clause" => {
                    branches.push((self.condition(clause, "condition"), self.body(clause, "consequence")));
                }
                "else_clause" => otherwise = self.body(clause, "body"),
                _ => {}
            }
        }
        StmtKind::If { branches, otherwise }
    }

    fn for_statement(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let over = self.part(node, "right");
        let mut body = self.body(node, "body");
        let targets = node.child_by_field_name("left").map(|left| self.targets(left, &mut body)).unwrap_or_default();
        let kind = StmtKind::ForEach { label: None, targets, over: *over, body };
        let mut statements = vec![self.source.statement(kind, node)];
        if let Some(otherwise) = node.child_by_field_name("alternative") {
            statements.extend(self.body(otherwise, "body"));
        }
        statements
    }

    /// The variables of a loop. What is no name gets one, and is taken apart in the body.
    pub(super) fn targets(&mut self, left: Node<'_>, body: &mut Vec<Stmt>) -> Vec<(String, String)> {
        let is_several = matches!(left.kind(), "pattern_list" | "tuple_pattern" | "list_pattern");
        let all = if is_several { parts(left) } else { vec![left] };
        let mut targets = Vec::new();
        let mut taken = Vec::new();
        for target in all {
            if target.kind() == "identifier" {
                targets.push((self.source.text(target).to_string(), String::new()));
                continue;
            }
            let name = self.made_up("element");
            let span = self.source.span(target);
            let value = Box::new(Expr { kind: ExprKind::Name(name.clone()), span });
            let target_expr = Box::new(self.expression(target));
            let assign = Expr { kind: ExprKind::Assign { target: target_expr, operator: None, value }, span };
            taken.push(Stmt { kind: StmtKind::Expr(assign), span });
            targets.push((name, String::new()));
        }
        body.splice(0..0, taken);
        targets
    }

    fn try_statement(&mut self, node: Node<'_>) -> Try {
        let mut guarded =
            Try { resources: Vec::new(), body: self.body(node, "body"), catches: vec![], finally: vec![] };
        for clause in parts(node) {
            let inner = || parts(clause).into_iter().rev().find(|part| part.kind() == "block");
            match clause.kind() {
                "except_clause" | "except_group_clause" => {
                    let catch = self.catch(clause, inner());
                    guarded.catches.push(catch);
                }
                // What it throws is not caught; nobody does that.
                "else_clause" => guarded.body.extend(self.body(clause, "body")),
                "finally_clause" => guarded.finally = inner().map(|body| self.block(body)).unwrap_or_default(),
                _ => {}
            }
        }
        guarded
    }

    /// `except (A, B) as name:`
    fn catch(&mut self, clause: Node<'_>, body: Option<Node<'_>>) -> Catch {
        let body = body.map(|body| self.block(body)).unwrap_or_default();
        let said = parts(clause).into_iter().find(|part| part.kind() != "block");
        let mut name = self.source.field(clause, "alias").to_string();
        let mut types = Vec::new();
        if let Some(said) = said {
            let is_named = said.kind() == "as_pattern";
            if is_named {
                name = self.source.field(said, "alias").to_string();
            }
            let value = if is_named { said.named_child(0).unwrap_or(said) } else { said };
            let all = if value.kind() == "tuple" { parts(value) } else { vec![value] };
            types = all.into_iter().map(|one| last_name(self.source.text(one))).collect();
        }
        Catch { types, name, body }
    }

    /// `raise Refused` is `raise Refused()`.
    fn thrown(&mut self, node: Node<'_>) -> Expr {
        let expr = self.expression(node);
        match expr.kind {
            ExprKind::Name(class) | ExprKind::Field(_, class)
                if class.starts_with(|c: char| c.is_ascii_uppercase()) =>
            {
                Expr { kind: ExprKind::New { class, arguments: Vec::new() }, span: expr.span }
            }
            kind => Expr { kind, span: expr.span },
        }
    }

    /// `assert x, "message"`
    fn assertion(&mut self, node: Node<'_>) -> StmtKind {
        let span = self.source.span(node);
        let mut all = parts(node).into_iter();
        let asked = all.next().map(|asked| self.asked(asked)).unwrap_or_else(|| Expr::other(Vec::new(), span));
        let arguments = all.map(|message| self.expression(message)).collect();
        let error = Expr { kind: ExprKind::New { class: "AssertionError".to_string(), arguments }, span };
        let body = vec![Stmt { kind: StmtKind::Throw(Some(error)), span }];
        let condition = Expr { kind: ExprKind::Not(Box::new(asked)), span };
        StmtKind::If { branches: vec![(condition, body)], otherwise: Vec::new() }
    }

    /// `match`: constants are compared, anything else may be what is meant.
    fn match_statement(&mut self, node: Node<'_>) -> StmtKind {
        let subject = *self.part(node, "subject");
        let clauses = node.child_by_field_name("body").map(parts).unwrap_or_default();
        let mut cases = Vec::new();
        for clause in clauses.into_iter().filter(|clause| clause.kind() == "case_clause") {
            let body = self.body(clause, "consequence");
            let mut case = Case { labels: Vec::new(), is_default: false, body };
            for pattern in parts(clause).into_iter().filter(|part| part.kind() == "case_pattern") {
                self.labels(pattern, &mut case);
            }
            cases.push(case);
        }
        StmtKind::Switch { subject, cases, falls_through: false }
    }

    fn labels(&mut self, pattern: Node<'_>, case: &mut Case) {
        let said = self.source.text(pattern);
        let Some(inner) = pattern.named_child(0).filter(|_| said != "_") else {
            case.is_default = true;
            return;
        };
        match inner.kind() {
            "union_pattern" => {
                case.labels.extend(parts(inner).into_iter().map(|label| self.expression(label)).collect::<Vec<_>>());
            }
            "dotted_name" if !said.contains('.') => case.is_default = true,
            _ => case.labels.push(self.expression(inner)),
        }
    }

    pub(super) fn condition(&mut self, node: Node<'_>, field: &str) -> Expr {
        match node.child_by_field_name(field) {
            Some(condition) => self.asked(condition),
            None => self.source.unknown(node),
        }
    }

    /// `[f(x) for x in xs if c]`: a list that a loop fills, before the statement that wants it.
    pub(super) fn comprehension(&mut self, node: Node<'_>) -> ExprKind {
        let span = self.source.span(node);
        let name = self.made_up("items");
        let list = || Expr { kind: ExprKind::Name(name.clone()), span };
        let outer = std::mem::take(&mut self.pending);
        let values = match node.child_by_field_name("body") {
            Some(pair) if pair.kind() == "pair" => {
                drop(self.part(pair, "key"));
                vec![*self.part(pair, "value")]
            }
            Some(body) => vec![self.expression(body)],
            None => Vec::new(),
        };
        let call = Call { receiver: Some(Box::new(list())), name: "append".into(), arguments: values, named: vec![] };
        let mut body = std::mem::replace(&mut self.pending, outer);
        body.push(Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Call(call), span }), span });
        for clause in children(node).into_iter().rev() {
            let kind = match clause.kind() {
                "for_in_clause" => {
                    let over = *self.part(clause, "right");
                    let left = clause.child_by_field_name("left");
                    let targets = left.map(|left| self.targets(left, &mut body)).unwrap_or_default();
                    StmtKind::ForEach { label: None, targets, over, body: std::mem::take(&mut body) }
                }
                "if_clause" => {
                    let Some(asked) = clause.named_child(0).map(|asked| self.asked(asked)) else { continue };
                    StmtKind::If { branches: vec![(asked, std::mem::take(&mut body))], otherwise: Vec::new() }
                }
                _ => continue,
            };
            body = vec![Stmt { kind, span }];
        }
        let empty = Box::new(Expr { kind: ExprKind::List(Vec::new()), span });
        let start = ExprKind::Assign { target: Box::new(list()), operator: None, value: empty };
        self.pending.push(Stmt { kind: StmtKind::Expr(Expr { kind: start, span }), span });
        self.pending.append(&mut body);
        ExprKind::Name(name)
    }
}

/// A function that gives values one by one ends, for us, with the first.
fn ends_generator(statements: &mut [Stmt]) -> bool {
    let Some(last) = statements.last_mut() else { return false };
    let mut yields = false;
    let is_plain = matches!(last.kind, StmtKind::Expr(_));
    visit::expressions(std::slice::from_ref(last), &mut |expr| {
        yields |= matches!(&expr.kind, ExprKind::Chain(Operator::Other, operands) if operands.len() == 1);
    });
    if !(is_plain && yields) {
        return false;
    }
    if let StmtKind::Expr(expr) = &mut last.kind
        && let ExprKind::Chain(Operator::Other, operands) = &mut expr.kind
    {
        let value = operands.pop();
        last.kind = StmtKind::Return(value);
    }
    true
}

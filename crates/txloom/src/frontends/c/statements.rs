//! Statements of C.

use tree_sitter::Node;
use txloom_core::program::Span;

use super::super::host::tree::{Case, Expr, ExprKind, Stmt, StmtKind};
use super::super::syntax::parts;
use super::{Reader, Shape, type_name};

/// How deep a `goto` may lead to another one.
const JUMPS_MAX: usize = 3;

/// The maximum number of statements of one file that are read again because a `goto` leads to them.
const REPEATED_MAX: usize = 5_000;

impl<'s> Reader<'s> {
    /// The statements of a block, or of what a mistake has torn apart.
    pub(super) fn block<'t: 's>(&mut self, node: Node<'t>) -> Vec<Stmt> {
        parts(node).into_iter().flat_map(|child| self.statement(child)).collect()
    }

    /// The body of a loop or branch: a block, or one statement.
    fn body<'t: 's>(&mut self, node: Option<Node<'t>>) -> Vec<Stmt> {
        match node {
            Some(body) if body.kind() == "compound_statement" => self.block(body),
            Some(body) => self.statement(body),
            None => Vec::new(),
        }
    }

    fn statement<'t: 's>(&mut self, node: Node<'t>) -> Vec<Stmt> {
        if !self.source.enter(node) {
            return Vec::new();
        }
        let statements = self.statement_inside(node);
        self.source.leave();
        statements
    }

    fn statement_inside<'t: 's>(&mut self, node: Node<'t>) -> Vec<Stmt> {
        let part = |field: &str| node.child_by_field_name(field);
        let kind = match node.kind() {
            "expression_statement" => {
                return self.embedded(node).unwrap_or_else(|| self.expressions_of(node.named_child(0)));
            }
            "declaration" => {
                self.structs(node);
                return self.declarations(node);
            }
            "if_statement" => self.if_statement(node),
            "while_statement" => {
                let condition = self.condition(node);
                StmtKind::While { label: None, condition, body: self.body(part("body")) }
            }
            "do_statement" => {
                let condition = self.condition(node);
                StmtKind::DoWhile { label: None, condition, body: self.body(part("body")) }
            }
            "for_statement" => self.for_statement(node),
            "switch_statement" => self.switch(node),
            "return_statement" => StmtKind::Return(node.named_child(0).map(|value| self.expression(value))),
            "break_statement" => StmtKind::Break(None),
            "continue_statement" => StmtKind::Continue(None),
            "compound_statement" => StmtKind::Block { label: None, body: self.block(node) },
            "labeled_statement" => {
                return parts(node).into_iter().skip(1).flat_map(|child| self.statement(child)).collect();
            }
            "goto_statement" => {
                let label = self.source.field(node, "label").to_string();
                return self.go_to(&label, self.source.span(node));
            }
            kind if kind == "ERROR" || kind.starts_with("preproc_") => return self.block(node),
            // What a mistake has made of a statement.
            "identifier" => return self.embedded(node).unwrap_or_default(),
            _ => return Vec::new(),
        };
        vec![self.source.statement(kind, node)]
    }

    /// `a = 1, b = 2;`
    fn expressions_of(&mut self, node: Option<Node<'_>>) -> Vec<Stmt> {
        let mut statements = Vec::new();
        let mut open: Vec<Node<'_>> = node.into_iter().collect();
        while let Some(node) = open.pop() {
            if node.kind() == "comma_expression" {
                open.extend(node.child_by_field_name("right"));
                open.extend(node.child_by_field_name("left"));
                continue;
            }
            let expr = self.expression(node);
            statements.push(self.source.statement(StmtKind::Expr(expr), node));
        }
        statements
    }

    fn condition(&mut self, node: Node<'_>) -> Expr {
        match node.child_by_field_name("condition") {
            Some(condition) => self.asked(condition),
            None => self.source.unknown(node),
        }
    }

    /// `int a = 1, *b, c[10];`, of a block, a file or a struct.
    pub(super) fn declarations(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let said = match node.child_by_field_name("type") {
            Some(specifier) if specifier.kind() == "struct_specifier" => {
                self.source.field(specifier, "name").to_string()
            }
            Some(specifier) => self.source.text(specifier).to_string(),
            None => String::new(),
        };
        let mut walk = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut walk).collect();
        let mut statements = Vec::new();
        for declarator in declarators {
            let (name, shape) = self.declared(declarator);
            if name.is_empty() || shape == Shape::Function {
                continue;
            }
            let type_name = type_name(&said, shape);
            let value = declarator.child_by_field_name("value").filter(|_| declarator.kind() == "init_declarator");
            let value = value.filter(|value| value.kind() != "initializer_list").map(|value| self.expression(value));
            let span = self.source.span(declarator);
            let value = value.or_else(|| self.empty_struct(&type_name, shape, span));
            statements.push(self.source.statement(StmtKind::Declare { name, type_name, value }, declarator));
        }
        statements
    }

    /// A struct is there as soon as it is declared.
    fn empty_struct(&self, type_name: &str, shape: Shape, span: Span) -> Option<Expr> {
        let is_known = self.unit.classes.iter().any(|class| class.name == type_name);
        let kind = ExprKind::New { class: type_name.to_string(), arguments: Vec::new() };
        (is_known && shape == Shape::Plain).then_some(Expr { kind, span })
    }

    /// `if … else if … else …`, as a list.
    fn if_statement<'t: 's>(&mut self, node: Node<'t>) -> StmtKind {
        let mut branches = Vec::new();
        let mut current = node;
        loop {
            let condition = self.condition(current);
            branches.push((condition, self.body(current.child_by_field_name("consequence"))));
            let alternative = current.child_by_field_name("alternative");
            let alternative = alternative.and_then(|clause| parts(clause).into_iter().next());
            match alternative {
                Some(next) if next.kind() == "if_statement" => current = next,
                otherwise => return StmtKind::If { branches, otherwise: self.body(otherwise) },
            }
        }
    }

    fn for_statement<'t: 's>(&mut self, node: Node<'t>) -> StmtKind {
        let start = match node.child_by_field_name("initializer") {
            Some(start) if start.kind() == "declaration" => self.declarations(start),
            start => self.expressions_of(start),
        };
        let condition = node.child_by_field_name("condition").map(|condition| self.asked(condition));
        let step = self.expressions_of(node.child_by_field_name("update"));
        let step =
            step.into_iter().filter_map(|one| if let StmtKind::Expr(expr) = one.kind { Some(expr) } else { None });
        let (step, body) = (step.collect(), self.body(node.child_by_field_name("body")));
        StmtKind::For { label: None, start, condition, step, body }
    }

    fn switch<'t: 's>(&mut self, node: Node<'t>) -> StmtKind {
        let subject = match node.child_by_field_name("condition") {
            Some(subject) => self.expression(subject),
            None => self.source.unknown(node),
        };
        let mut cases = Vec::new();
        for group in node.child_by_field_name("body").map(parts).unwrap_or_default() {
            if group.kind() != "case_statement" {
                continue;
            }
            let label = group.child_by_field_name("value");
            let all = parts(group).into_iter().skip(usize::from(label.is_some()));
            let body = all.flat_map(|child| self.statement(child)).collect();
            let labels: Vec<Expr> = label.map(|label| self.expression(label)).into_iter().collect();
            cases.push(Case { is_default: labels.is_empty(), labels, body });
        }
        StmtKind::Switch { subject, cases, falls_through: true }
    }

    /// What stands behind a label, and then the end of the function; the label must come later, in the function's block.
    pub(super) fn go_to(&mut self, label: &str, span: Span) -> Vec<Stmt> {
        let is_later = |nodes: &[Node<'_>]| nodes.first().is_some_and(|first| first.start_byte() > span.start);
        let tail = self.labels.iter().find(|(name, nodes)| name == label && is_later(nodes)).cloned();
        let is_near = |nodes: &[Node<'_>]| self.going.len() < JUMPS_MAX && self.repeated + nodes.len() <= REPEATED_MAX;
        let Some((_, nodes)) = tail.filter(|(_, nodes)| is_near(nodes)) else {
            return vec![self.unknown_jump(label, span)];
        };
        self.repeated += nodes.len();
        self.going.push(label.to_string());
        let mut statements: Vec<Stmt> = nodes.into_iter().flat_map(|node| self.statement(node)).collect();
        self.going.pop();
        statements.push(Stmt { kind: StmtKind::Return(None), span });
        statements
    }
}

//! Statements of Java.

use tree_sitter::Node;

use super::super::host::tree::{Call, Case, Catch, Expr, ExprKind, Nature, Stmt, StmtKind, Try};
use super::{Reader, simple};

impl Reader<'_> {
    /// The statements of a block.
    pub(super) fn block(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let mut walk = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut walk).collect();
        children.into_iter().flat_map(|child| self.statement(child)).collect()
    }

    /// A statement; several, if it declares several variables, or if a mistake stands around some.
    pub(super) fn statement(&mut self, node: Node<'_>) -> Vec<Stmt> {
        self.deeper(node, |this| this.statement_inside(node, None)).unwrap_or_default()
    }

    /// The body of a loop or branch: a block, or one statement.
    fn body(&mut self, node: Node<'_>, field: &str) -> Vec<Stmt> {
        match node.child_by_field_name(field) {
            Some(body) if body.kind() == "block" => self.block(body),
            Some(body) => self.statement(body),
            None => Vec::new(),
        }
    }

    fn condition(&mut self, node: Node<'_>, field: &str) -> Expr {
        match node.child_by_field_name(field) {
            Some(condition) => self.expression(condition),
            None => self.unknown(node),
        }
    }

    fn statement_inside(&mut self, node: Node<'_>, label: Option<String>) -> Vec<Stmt> {
        let first = |this: &mut Self| node.named_child(0).map(|child| this.expression(child));
        let word = |this: &Self| node.named_child(0).map(|child| this.text(child).to_string());
        let kind = match node.kind() {
            "local_variable_declaration" => return self.declarations(node),
            "expression_statement" => match node.named_child(0) {
                Some(inner) if inner.kind() == "switch_expression" => return self.statement(inner),
                Some(inner) => StmtKind::Expr(self.expression(inner)),
                None => return Vec::new(),
            },
            "if_statement" => self.if_statement(node),
            "while_statement" => {
                StmtKind::While { label, condition: self.condition(node, "condition"), body: self.body(node, "body") }
            }
            "do_statement" => {
                StmtKind::DoWhile { label, condition: self.condition(node, "condition"), body: self.body(node, "body") }
            }
            "for_statement" => self.for_statement(node, label),
            "enhanced_for_statement" => {
                let target = (self.field_text(node, "name"), self.field_text(node, "type"));
                let over = self.condition(node, "value");
                StmtKind::ForEach { label, targets: vec![target], over, body: self.body(node, "body") }
            }
            "switch_expression" | "switch_statement" => self.switch(node, false),
            "return_statement" => StmtKind::Return(first(self)),
            "throw_statement" => StmtKind::Throw(first(self)),
            "try_statement" | "try_with_resources_statement" => StmtKind::Try(self.try_statement(node)),
            "break_statement" => StmtKind::Break(word(self)),
            "continue_statement" => StmtKind::Continue(word(self)),
            "labeled_statement" => return self.labelled(node),
            "block" => StmtKind::Block { label, body: self.block(node) },
            "synchronized_statement" => StmtKind::Block { label: None, body: self.body(node, "body") },
            // A switch that yields values is a function that returns them.
            "yield_statement" => StmtKind::Return(first(self)),
            "explicit_constructor_invocation" => {
                let (name, arguments) = (format!("<{}>", self.field_text(node, "constructor")), self.arguments(node));
                let call = Call { receiver: None, name, arguments, named: Vec::new() };
                StmtKind::Expr(Expr { kind: ExprKind::Call(call), span: self.span(node) })
            }
            "class_declaration" | "record_declaration" | "enum_declaration" | "interface_declaration" => {
                self.class(node, Nature::Local);
                return Vec::new();
            }
            // What a mistake has torn apart is read as far as it goes.
            "ERROR" => return self.block(node),
            // Assertions are off unless somebody switches them on.
            _ => return Vec::new(),
        };
        vec![self.statement_of(kind, node)]
    }

    /// `int a = 1, b[];`, of a block or a class.
    pub(super) fn declarations(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let type_name = self.field_text(node, "type");
        let mut walk = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut walk).collect();
        let mut statements = Vec::new();
        for declarator in declarators {
            let value = declarator.child_by_field_name("value").map(|value| self.expression(value));
            let dimensions = self.field_text(declarator, "dimensions");
            let said = if type_name == "var" { inferred(value.as_ref()) } else { type_name.clone() };
            let kind = StmtKind::Declare {
                name: self.field_text(declarator, "name"),
                type_name: format!("{said}{dimensions}"),
                value,
            };
            statements.push(self.statement_of(kind, declarator));
        }
        statements
    }

    /// `if … else if … else …`, as a list.
    fn if_statement(&mut self, node: Node<'_>) -> StmtKind {
        let mut branches = Vec::new();
        let mut current = node;
        loop {
            branches.push((self.condition(current, "condition"), self.body(current, "consequence")));
            match current.child_by_field_name("alternative") {
                Some(next) if next.kind() == "if_statement" => current = next,
                Some(_) => {
                    let otherwise = self.body(current, "alternative");
                    return StmtKind::If { branches, otherwise };
                }
                None => return StmtKind::If { branches, otherwise: Vec::new() },
            }
        }
    }

    fn for_statement(&mut self, node: Node<'_>, label: Option<String>) -> StmtKind {
        let mut walk = node.walk();
        let inits: Vec<Node<'_>> = node.children_by_field_name("init", &mut walk).collect();
        let updates: Vec<Node<'_>> = node.children_by_field_name("update", &mut walk).collect();
        let mut start = Vec::new();
        for init in inits {
            if init.kind() == "local_variable_declaration" {
                start.extend(self.declarations(init));
            } else {
                let expr = self.expression(init);
                start.push(self.statement_of(StmtKind::Expr(expr), init));
            }
        }
        let condition = node.child_by_field_name("condition").map(|condition| self.expression(condition));
        let step = updates.into_iter().map(|update| self.expression(update)).collect();
        StmtKind::For { label, start, condition, step, body: self.body(node, "body") }
    }

    fn labelled(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let label = node.named_child(0).map(|label| self.text(label).to_string());
        match node.named_child(1) {
            Some(inner) => self.deeper(inner, |this| this.statement_inside(inner, label)).unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// A switch; one that gives a value returns it.
    pub(super) fn switch(&mut self, node: Node<'_>, is_value: bool) -> StmtKind {
        let subject = self.condition(node, "condition");
        let mut cases = Vec::new();
        let mut falls_through = false;
        if let Some(body) = node.child_by_field_name("body") {
            let mut walk = body.walk();
            let groups: Vec<Node<'_>> = body.named_children(&mut walk).collect();
            for group in groups {
                falls_through |= group.kind() == "switch_block_statement_group";
                cases.extend(self.case(group, is_value));
            }
        }
        StmtKind::Switch { subject, cases, falls_through }
    }

    fn case(&mut self, group: Node<'_>, is_value: bool) -> Option<Case> {
        if !matches!(group.kind(), "switch_block_statement_group" | "switch_rule") {
            return None;
        }
        let mut case = Case { labels: Vec::new(), is_default: false, body: Vec::new() };
        let mut walk = group.walk();
        let children: Vec<Node<'_>> = group.named_children(&mut walk).collect();
        for child in children {
            if child.kind() == "switch_label" {
                let mut inner = child.walk();
                let labels: Vec<Node<'_>> = child.named_children(&mut inner).collect();
                case.is_default |= self.text(child).starts_with("default");
                let labels: Vec<Expr> = labels.into_iter().map(|label| self.expression(label)).collect();
                case.labels.extend(labels);
            } else if is_value && group.kind() == "switch_rule" && child.kind() == "expression_statement" {
                let value = child.named_child(0).map(|value| self.expression(value));
                case.body.push(self.statement_of(StmtKind::Return(value), child));
            } else {
                case.body.extend(self.statement(child));
            }
        }
        Some(case)
    }

    fn try_statement(&mut self, node: Node<'_>) -> Try {
        let mut guarded = Try { resources: Vec::new(), body: Vec::new(), catches: Vec::new(), finally: Vec::new() };
        if let Some(resources) = node.child_by_field_name("resources") {
            let mut walk = resources.walk();
            let all: Vec<Node<'_>> = resources.named_children(&mut walk).collect();
            guarded.resources = all.into_iter().flat_map(|resource| self.resource(resource)).collect();
        }
        guarded.body = self.body(node, "body");
        let mut walk = node.walk();
        let clauses: Vec<Node<'_>> = node.named_children(&mut walk).collect();
        for clause in clauses {
            match clause.kind() {
                "catch_clause" => guarded.catches.push(self.catch(clause)),
                "finally_clause" => {
                    guarded.finally = clause.named_child(0).map(|body| self.block(body)).unwrap_or_default();
                }
                _ => {}
            }
        }
        guarded
    }

    fn resource(&mut self, node: Node<'_>) -> Option<Stmt> {
        if node.kind() != "resource" {
            return None;
        }
        let value = node.child_by_field_name("value").map(|value| self.expression(value));
        let said = self.field_text(node, "type");
        let type_name = if said == "var" { inferred(value.as_ref()) } else { said };
        let name = self.field_text(node, "name");
        (!name.is_empty()).then(|| self.statement_of(StmtKind::Declare { name, type_name, value }, node))
    }

    fn catch(&mut self, node: Node<'_>) -> Catch {
        let mut catch = Catch { types: Vec::new(), name: String::new(), body: self.body(node, "body") };
        let mut walk = node.walk();
        let parameter = node.named_children(&mut walk).find(|child| child.kind() == "catch_formal_parameter");
        if let Some(parameter) = parameter {
            catch.name = self.field_text(parameter, "name");
            let mut walk = parameter.walk();
            let said = parameter.named_children(&mut walk).find(|child| child.kind() == "catch_type");
            let said = said.map(|said| self.text(said)).unwrap_or("");
            catch.types = said.split('|').map(|one| simple(one.trim())).collect();
        }
        catch
    }
}

/// The type of `var x = …`, as far as the expression says it.
fn inferred(value: Option<&Expr>) -> String {
    let Some(value) = value else { return String::new() };
    match &value.kind {
        ExprKind::Text(_) => "String".to_string(),
        ExprKind::Number(text) => if text.contains('.') { "double" } else { "int" }.to_string(),
        ExprKind::Bool(_) => "boolean".to_string(),
        ExprKind::New { class, .. } => class.clone(),
        ExprKind::Cast(type_name, _) => type_name.clone(),
        ExprKind::Call(call) => match call.name.as_str() {
            "getInt" => "int".to_string(),
            "getLong" => "long".to_string(),
            "getDouble" | "getFloat" => "double".to_string(),
            "getString" => "String".to_string(),
            "executeUpdate" => "int".to_string(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

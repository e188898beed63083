//! Expressions of Java.

use tree_sitter::Node;
use txloom_core::program::Span;

use super::super::host::tree::{Call, Class, Expr, ExprKind, Method, Nature, Operator, Parameter, Stmt, StmtKind};
use super::super::syntax;
use super::{Reader, simple, text};

/// What the method of a function without a name is called.
pub(super) const FUNCTION: &str = "->";

/// Operators with two operands that not all languages have, or not under this name.
const OPERATORS: &[(&str, Operator)] =
    &[("&&", Operator::And), ("||", Operator::Or), ("&", Operator::And), ("|", Operator::Or)];

impl Reader<'_> {
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expr {
        let unknown = self.unknown(node);
        self.deeper(node, |this| this.expression_inside(node)).unwrap_or(unknown)
    }

    fn boxed(&mut self, node: Option<Node<'_>>, around: Node<'_>) -> Box<Expr> {
        Box::new(match node {
            Some(node) => self.expression(node),
            None => self.unknown(around),
        })
    }

    fn part(&mut self, node: Node<'_>, field: &str) -> Box<Expr> {
        self.boxed(node.child_by_field_name(field), node)
    }

    fn expression_inside(&mut self, node: Node<'_>) -> Expr {
        let mut span = self.span(node);
        let kind = match node.kind() {
            "identifier" | "this" | "super" | "type_identifier" => ExprKind::Name(self.text(node).to_string()),
            "string_literal" => {
                let literal = self.text(node);
                let quotes = if literal.starts_with("\"\"\"") { 0 } else { 1 };
                if literal.len() >= 2 * quotes {
                    span.start += quotes;
                    span.end -= quotes;
                }
                ExprKind::Text(text::string(literal))
            }
            "character_literal" => {
                let quoted = self.text(node).replace('\'', "\"").replace("\\\"", "'");
                ExprKind::Text(text::string(&quoted))
            }
            "decimal_integer_literal"
            | "hex_integer_literal"
            | "binary_integer_literal"
            | "octal_integer_literal"
            | "decimal_floating_point_literal"
            | "hex_floating_point_literal" => ExprKind::Number(text::number(self.text(node))),
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "null_literal" => ExprKind::Null,
            "parenthesized_expression" => return *self.boxed(node.named_child(0), node),
            "field_access" => ExprKind::Field(self.part(node, "object"), self.field_text(node, "field")),
            "scoped_identifier" => ExprKind::Field(self.part(node, "scope"), self.field_text(node, "name")),
            "method_invocation" => {
                let receiver = node.child_by_field_name("object").map(|object| Box::new(self.expression(object)));
                let arguments = self.arguments(node);
                let name = self.field_text(node, "name");
                ExprKind::Call(Call { receiver, name, arguments, named: Vec::new() })
            }
            "object_creation_expression" => self.creation(node),
            "array_creation_expression" => match node.child_by_field_name("value") {
                Some(value) => return self.expression(value),
                None => {
                    let class = format!("{}[]", simple(&self.field_text(node, "type")));
                    ExprKind::New { class, arguments: Vec::new() }
                }
            },
            "array_initializer" => ExprKind::List(self.children(node)),
            "array_access" => ExprKind::Index(self.part(node, "array"), self.part(node, "index")),
            "unary_expression" => self.unary(node),
            "update_expression" => self.update(node),
            "binary_expression" => self.binary(node),
            "assignment_expression" => {
                let said = self.field_text(node, "operator");
                let sign = said.strip_suffix('=').unwrap_or("");
                let operator = (!sign.is_empty()).then(|| operator(sign));
                ExprKind::Assign { target: self.part(node, "left"), operator, value: self.part(node, "right") }
            }
            "ternary_expression" => ExprKind::Choice(
                self.part(node, "condition"),
                self.part(node, "consequence"),
                self.part(node, "alternative"),
            ),
            "cast_expression" => ExprKind::Cast(self.field_text(node, "type"), self.part(node, "value")),
            "lambda_expression" => self.lambda(node),
            "instanceof_expression" => ExprKind::Other(vec![*self.part(node, "left")]),
            "switch_expression" => match self.switch_value(node) {
                Some(value) => return value,
                None => self.switch_called(node, span),
            },
            _ => ExprKind::Other(self.children(node)),
        };
        Expr { kind, span }
    }

    /// `new C(…)`, with a class of its own behind it or not.
    fn creation(&mut self, node: Node<'_>) -> ExprKind {
        let class = simple(&self.field_text(node, "type"));
        let arguments = self.arguments(node);
        let mut walk = node.walk();
        let body = node.named_children(&mut walk).find(|child| child.kind() == "class_body");
        let class = body.map(|body| self.nameless(body, &class)).unwrap_or(class);
        ExprKind::New { class, arguments }
    }

    /// A `switch` that does more than choose a value: a function that is called at once.
    fn switch_called(&mut self, node: Node<'_>, span: Span) -> ExprKind {
        let kind = self.switch(node, true);
        let body = vec![self.statement_of(kind, node)];
        let function = Box::new(Expr { kind: self.function(Vec::new(), body, node), span });
        let (receiver, name) = (Some(function), FUNCTION.to_string());
        ExprKind::Call(Call { receiver, name, arguments: Vec::new(), named: Vec::new() })
    }

    fn children(&mut self, node: Node<'_>) -> Vec<Expr> {
        let mut walk = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut walk).filter(|child| !child.is_extra()).collect();
        children.into_iter().map(|child| self.expression(child)).collect()
    }

    pub(super) fn arguments(&mut self, node: Node<'_>) -> Vec<Expr> {
        node.child_by_field_name("arguments").map(|list| self.children(list)).unwrap_or_default()
    }

    fn unary(&mut self, node: Node<'_>) -> ExprKind {
        let operand = self.part(node, "operand");
        match self.field_text(node, "operator").as_str() {
            "!" => ExprKind::Not(operand),
            "-" => ExprKind::Negate(operand),
            "+" => operand.kind,
            _ => ExprKind::Other(vec![*operand]),
        }
    }

    /// `x++`
    fn update(&mut self, node: Node<'_>) -> ExprKind {
        let sign = self.text(node);
        let is_after = sign.ends_with("++") || sign.ends_with("--");
        let by = if sign.contains("++") { 1 } else { -1 };
        ExprKind::Step { target: self.boxed(node.named_child(0), node), by, is_after }
    }

    /// `a + b + c` is a nest to the left; it becomes a list.
    fn binary(&mut self, node: Node<'_>) -> ExprKind {
        let sign = self.field_text(node, "operator");
        let operator = operator(&sign);
        let is_chain = matches!(operator, Operator::Add | Operator::Multiply | Operator::And | Operator::Or);
        let mut operands = Vec::new();
        let mut left = node;
        loop {
            if let Some(right) = left.child_by_field_name("right") {
                operands.push(self.expression(right));
            }
            let Some(next) = left.child_by_field_name("left") else { break };
            let goes_on = is_chain && next.kind() == "binary_expression" && self.field_text(next, "operator") == sign;
            if !goes_on {
                operands.push(self.expression(next));
                break;
            }
            left = next;
        }
        operands.reverse();
        ExprKind::Chain(operator, operands)
    }

    /// `switch (x) { case 1 -> a; default -> b; }` is `x == 1 ? a : b`.
    fn switch_value(&mut self, node: Node<'_>) -> Option<Expr> {
        let span = self.span(node);
        let subject = self.part(node, "condition");
        let body = node.child_by_field_name("body")?;
        let mut walk = body.walk();
        let rules: Vec<Node<'_>> = body.named_children(&mut walk).filter(|rule| !rule.is_extra()).collect();
        if rules.iter().any(|rule| rule.kind() != "switch_rule") {
            return None;
        }
        let mut value: Option<Expr> = None;
        for rule in rules.into_iter().rev() {
            let label = rule.named_child(0).filter(|label| label.kind() == "switch_label")?;
            let result = rule.named_child(1)?;
            match result.kind() {
                "expression_statement" => {}
                "throw_statement" => continue,
                _ => return None,
            }
            let result = self.expression(result.named_child(0)?);
            let mut walk = label.walk();
            let labels: Vec<Node<'_>> = label.named_children(&mut walk).collect();
            let tests: Vec<Expr> = labels
                .into_iter()
                .map(|label| {
                    let operands = vec![(*subject).clone(), self.expression(label)];
                    Expr { kind: ExprKind::Chain(Operator::Equal, operands), span }
                })
                .collect();
            value = Some(match (value, tests.is_empty()) {
                (None, _) | (_, true) => result,
                (Some(otherwise), false) => {
                    let test = Expr { kind: ExprKind::Chain(Operator::Or, tests), span };
                    Expr { kind: ExprKind::Choice(Box::new(test), Box::new(result), Box::new(otherwise)), span }
                }
            });
        }
        value
    }

    /// `x -> …`
    fn lambda(&mut self, node: Node<'_>) -> ExprKind {
        let parameters = match node.child_by_field_name("parameters") {
            Some(list) if list.kind() == "formal_parameters" => self.parameters(list),
            Some(names) => self.untyped(names),
            None => Vec::new(),
        };
        let body = match node.child_by_field_name("body") {
            Some(body) if body.kind() == "block" => self.block(body),
            Some(body) => {
                let value = self.expression(body);
                vec![self.statement_of(StmtKind::Return(Some(value)), body)]
            }
            None => Vec::new(),
        };
        self.function(parameters, body, node)
    }

    /// `x -> …`, `(x, y) -> …`
    fn untyped(&self, names: Node<'_>) -> Vec<Parameter> {
        let mut walk = names.walk();
        let all: Vec<Node<'_>> = match names.kind() {
            "identifier" => vec![names],
            _ => names.named_children(&mut walk).filter(|child| child.kind() == "identifier").collect(),
        };
        let parameter = |name: Node<'_>| Parameter {
            name: self.text(name).to_string(),
            type_name: String::new(),
            takes_rest: false,
            default: None,
            span: self.span(name),
        };
        all.into_iter().map(parameter).collect()
    }

    /// A function without a name is an object of a class of its own, with one method.
    fn function(&mut self, parameters: Vec<Parameter>, body: Vec<Stmt>, node: Node<'_>) -> ExprKind {
        let span = self.span(node);
        let outer = self.outer.clone();
        let class = format!("{}${FUNCTION}{}", outer.as_deref().unwrap_or(""), span.start);
        let (name, result) = (FUNCTION.to_string(), "Object".to_string());
        let method = Method { name, parameters, result, body, is_public: false, is_constructor: false, span };
        self.found.push(Class {
            name: class.clone(),
            outer,
            methods: vec![method],
            nature: Nature::Function,
            ..Class::default()
        });
        ExprKind::New { class, arguments: Vec::new() }
    }
}

fn operator(sign: &str) -> Operator {
    syntax::operator(sign, OPERATORS)
}

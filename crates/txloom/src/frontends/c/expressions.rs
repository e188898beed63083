//! Expressions of C.

use tree_sitter::Node;
use txloom_core::program::Span;

use super::super::host::tree::{Call, Expr, ExprKind, Operator};
use super::super::syntax::{self, parts};
use super::{Reader, Shape, codes, type_name};

/// Operators with two operands that not all languages have, or not under this name.
const OPERATORS: &[(&str, Operator)] = &[("&&", Operator::And), ("||", Operator::Or)];

/// Functions that compare texts.
const COMPARING: &[&str] = &["strcmp", "strncmp", "strcasecmp", "strncasecmp", "memcmp"];

/// Functions whose result is what they are given.
const SAME: &[&str] = &["atoi", "atol", "atoll", "atof", "strdup", "trim"];

/// What stands for the address of an argument.
pub(crate) const ADDRESS: &str = "&";

impl Reader<'_> {
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expr {
        if !self.source.enter(node) {
            return self.source.unknown(node);
        }
        let span = self.source.span(node);
        let kind = self.kind(node, span);
        self.source.leave();
        let expr = Expr { kind, span };
        if codes::is_code(&expr) { Expr { kind: codes::value(span), span } } else { expr }
    }

    /// The same, but a code is a code.
    fn raw(&mut self, node: Node<'_>) -> Expr {
        let span = self.source.span(node);
        match node.kind() {
            "identifier" | "field_expression" => Expr { kind: self.kind(node, span), span },
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.raw(inner),
                None => self.source.unknown(node),
            },
            _ => self.expression(node),
        }
    }

    fn part(&mut self, node: Node<'_>, field: &str) -> Box<Expr> {
        Box::new(match node.child_by_field_name(field) {
            Some(part) => self.expression(part),
            None => self.source.unknown(node),
        })
    }

    fn all(&mut self, node: Node<'_>) -> Vec<Expr> {
        parts(node).into_iter().map(|part| self.expression(part)).collect()
    }

    fn kind(&mut self, node: Node<'_>, span: Span) -> ExprKind {
        match node.kind() {
            "identifier" => ExprKind::Name(self.source.text(node).to_string()),
            "number_literal" => ExprKind::Number(number(self.source.text(node))),
            "string_literal" => self.string(node).kind,
            "concatenated_string" => {
                let strings = parts(node).into_iter().map(|part| self.string(part)).collect();
                ExprKind::Pieces(strings)
            }
            "char_literal" => ExprKind::Text(unescape(self.source.text(node).trim_matches('\''))),
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "null" => ExprKind::Null,
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.expression(inner).kind,
                None => ExprKind::Other(Vec::new()),
            },
            "field_expression" => {
                let name = self.source.field(node, "field").to_string();
                let of = match node.child_by_field_name("argument") {
                    Some(of) => self.raw(of),
                    None => self.source.unknown(node),
                };
                // The text of a VARCHAR.
                if name == "arr" { of.kind } else { ExprKind::Field(Box::new(of), name) }
            }
            "subscript_expression" => {
                let (of, at) = (self.part(node, "argument"), self.part(node, "index"));
                if codes::is_count(&of, &at) { codes::asked("__count__", span).kind } else { ExprKind::Index(of, at) }
            }
            "pointer_expression" => {
                let of = self.part(node, "argument");
                match self.source.field(node, "operator") {
                    "&" => ExprKind::Cast(ADDRESS.to_string(), of),
                    _ => of.kind,
                }
            }
            "call_expression" => self.call(node, span),
            "unary_expression" => match self.source.field(node, "operator") {
                "!" => {
                    let asked = node.child_by_field_name("argument").map(|argument| self.asked(argument));
                    ExprKind::Not(Box::new(asked.unwrap_or_else(|| Expr::other(Vec::new(), span))))
                }
                "-" => ExprKind::Negate(self.part(node, "argument")),
                "+" => self.part(node, "argument").kind,
                _ => ExprKind::Other(vec![*self.part(node, "argument")]),
            },
            "update_expression" => {
                let said = self.source.text(node);
                let is_after = said.ends_with("++") || said.ends_with("--");
                let by = if said.contains("++") { 1 } else { -1 };
                ExprKind::Step { target: self.part(node, "argument"), by, is_after }
            }
            "binary_expression" => self.binary(node, span),
            "assignment_expression" => {
                let sign = self.source.field(node, "operator");
                let sign = sign.strip_suffix('=').unwrap_or("");
                let operator = (!sign.is_empty()).then(|| operator(sign));
                ExprKind::Assign { target: self.part(node, "left"), operator, value: self.part(node, "right") }
            }
            "conditional_expression" => {
                let asked = match node.child_by_field_name("condition") {
                    Some(condition) => self.asked(condition),
                    None => self.source.unknown(node),
                };
                let (yes, no) = (self.part(node, "consequence"), self.part(node, "alternative"));
                ExprKind::Choice(Box::new(asked), yes, no)
            }
            "cast_expression" => {
                let said = self.source.field(node, "type");
                let shape = if said.contains('*') { Shape::Pointer } else { Shape::Plain };
                let name = type_name(said.trim_end_matches(['*', ' ']), shape);
                ExprKind::Cast(name, self.part(node, "value"))
            }
            "initializer_list" => ExprKind::List(self.all(node)),
            "sizeof_expression" => ExprKind::Other(Vec::new()),
            _ => ExprKind::Other(self.all(node)),
        }
    }

    fn string(&mut self, node: Node<'_>) -> Expr {
        let mut span = self.source.span(node);
        let said = self.source.text(node);
        let quotes = said.find('"').map_or(0, |at| at + 1);
        let inner = said.get(quotes..).map(|inner| inner.strip_suffix('"').unwrap_or(inner)).unwrap_or("");
        span.start += quotes;
        span.end = span.start + inner.len();
        Expr { kind: ExprKind::Text(unescape(inner)), span }
    }

    /// Something of which only matters whether it holds.
    pub(super) fn asked(&mut self, node: Node<'_>) -> Expr {
        let span = self.source.span(node);
        if node.kind() == "parenthesized_expression"
            && let Some(inner) = node.named_child(0)
            && self.source.enter(node)
        {
            let expr = self.asked(inner);
            self.source.leave();
            return expr;
        }
        let raw = self.raw(node);
        if codes::is_code(&raw) {
            return codes::not_found(span);
        }
        match compared_texts(&raw) {
            Some((left, right)) => {
                let kind = codes::comparison(Operator::NotEqual, &left, &right, span)
                    .unwrap_or_else(|| ExprKind::Chain(Operator::NotEqual, vec![left, right]));
                Expr { kind, span }
            }
            None => raw,
        }
    }

    fn call(&mut self, node: Node<'_>, span: Span) -> ExprKind {
        let list = node.child_by_field_name("arguments").map(parts).unwrap_or_default();
        let mut arguments: Vec<Expr> = list.into_iter().map(|argument| self.raw(argument)).collect();
        let Some(function) = node.child_by_field_name("function").filter(|one| one.kind() == "identifier") else {
            return ExprKind::Other(arguments);
        };
        let name = self.source.text(function).to_string();
        match name.as_str() {
            "strcpy" | "strncpy" | "strlcpy" | "memcpy" | "memmove" if arguments.len() >= 2 => {
                let value = Box::new(arguments.remove(1));
                ExprKind::Assign { target: Box::new(plain(arguments.remove(0))), operator: None, value }
            }
            "strcat" | "strncat" if arguments.len() >= 2 => {
                let value = Box::new(arguments.remove(1));
                let target = Box::new(plain(arguments.remove(0)));
                ExprKind::Assign { target, operator: Some(Operator::Add), value }
            }
            "sprintf" if arguments.len() >= 2 => formatted(arguments, 1, span),
            "snprintf" if arguments.len() >= 3 => formatted(arguments, 2, span),
            same if SAME.contains(&same) && arguments.len() == 1 => arguments.remove(0).kind,
            _ => ExprKind::Call(Call { receiver: None, name, arguments, named: Vec::new() }),
        }
    }

    /// `a + b + c` is a nest to the left; it becomes a list.
    fn binary(&mut self, node: Node<'_>, span: Span) -> ExprKind {
        let sign = self.source.field(node, "operator");
        let operator = operator(sign);
        let is_chain = matches!(operator, Operator::Add | Operator::Multiply | Operator::And | Operator::Or);
        let is_logic = matches!(operator, Operator::And | Operator::Or);
        let mut operands = Vec::new();
        let mut left = node;
        loop {
            if let Some(right) = left.child_by_field_name("right") {
                operands.push(if is_logic { self.asked(right) } else { self.raw(right) });
            }
            let Some(next) = left.child_by_field_name("left") else { break };
            if is_chain && next.kind() == "binary_expression" && self.source.field(next, "operator") == sign {
                left = next;
            } else {
                operands.push(if is_logic { self.asked(next) } else { self.raw(next) });
                break;
            }
        }
        operands.reverse();
        if let [left, right] = operands.as_slice() {
            let zero = matches!(&right.kind, ExprKind::Number(number) if number == "0");
            // `strcmp(a, b) == 0`
            if let Some((one, other)) = compared_texts(left).filter(|_| zero) {
                let code = codes::comparison(operator, &one, &other, span);
                return code.unwrap_or_else(|| ExprKind::Chain(operator, vec![one, other]));
            }
            if let Some(code) = codes::comparison(operator, left, right, span) {
                return code;
            }
        }
        let values = operands.into_iter().map(|one| match codes::is_code(&one) {
            true => Expr { kind: codes::value(one.span), span: one.span },
            false => one,
        });
        ExprKind::Chain(operator, values.collect())
    }
}

/// `&x` where x is meant.
fn plain(expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::Cast(name, inner) if name == ADDRESS => *inner,
        kind => Expr { kind, span: expr.span },
    }
}

/// `sprintf(buffer, format, …)`
fn formatted(mut arguments: Vec<Expr>, format: usize, span: Span) -> ExprKind {
    let values = arguments.split_off(format + 1);
    let receiver = arguments.pop().map(Box::new);
    let call = Call { receiver, name: "format".to_string(), arguments: values, named: Vec::new() };
    let value = Box::new(Expr { kind: ExprKind::Call(call), span });
    let target = Box::new(arguments.swap_remove(0));
    ExprKind::Assign { target, operator: None, value }
}

/// The texts that a call compares.
fn compared_texts(expr: &Expr) -> Option<(Expr, Expr)> {
    let ExprKind::Call(call) = &expr.kind else { return None };
    match call.arguments.as_slice() {
        [left, right, ..] if COMPARING.contains(&call.name.as_str()) => Some((left.clone(), right.clone())),
        _ => None,
    }
}

fn operator(sign: &str) -> Operator {
    syntax::operator(sign, OPERATORS)
}

/// The text that stands between quotes.
pub(super) fn unescape(text: &str) -> String {
    syntax::unescaped(text, |kind, _, result| result.push(kind))
}

/// A number as SQL writes it.
pub(super) fn number(literal: &str) -> String {
    let lower = literal.to_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        let value = i64::from_str_radix(digits.trim_end_matches(['u', 'l']), 16);
        return value.map_or_else(|_| "0".to_string(), |value| value.to_string());
    }
    let trimmed = lower.trim_end_matches(['u', 'l', 'f']);
    let with_zero = if trimmed.starts_with('.') { format!("0{trimmed}") } else { trimmed.to_string() };
    if with_zero.ends_with('.') { format!("{with_zero}0") } else { with_zero }
}

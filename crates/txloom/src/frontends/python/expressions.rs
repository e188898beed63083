//! Expressions of Python.

use tree_sitter::Node;
use txloom_core::program::Span;

use super::super::host::tree::{Call, Expr, ExprKind, Operator, Stmt, StmtKind};
use super::super::syntax::{self, children, parts};
use super::{Reader, dbapi, last_name, text};

/// Operators with two operands that not all languages have, or not under this name.
const OPERATORS: &[(&str, Operator)] = &[
    ("//", Operator::Quotient),
    ("and", Operator::And),
    ("or", Operator::Or),
    ("is", Operator::Equal),
    ("<>", Operator::NotEqual),
    ("is not", Operator::NotEqual),
];

/// Functions whose result is, for us, what they are given.
const SAME: &[&str] = &["list", "tuple", "dict", "iter", "sorted", "set", "aiter", "copy", "deepcopy"];

/// Modules whose functions give what nobody can know.
const CLOCKS_AND_DICE: &[&str] = &["uuid", "random", "time", "datetime", "secrets", "os"];

impl Reader<'_> {
    pub(super) fn expression(&mut self, node: Node<'_>) -> Expr {
        if !self.source.enter(node) {
            return self.source.unknown(node);
        }
        let expr = self.expression_inside(node);
        self.source.leave();
        expr
    }

    pub(super) fn part(&mut self, node: Node<'_>, field: &str) -> Box<Expr> {
        Box::new(match node.child_by_field_name(field) {
            Some(part) => self.expression(part),
            None => self.source.unknown(node),
        })
    }

    fn all(&mut self, node: Node<'_>) -> Vec<Expr> {
        parts(node).into_iter().map(|part| self.expression(part)).collect()
    }

    fn first(&mut self, node: Node<'_>) -> Expr {
        match parts(node).into_iter().next() {
            Some(part) => self.expression(part),
            None => self.source.unknown(node),
        }
    }

    fn expression_inside(&mut self, node: Node<'_>) -> Expr {
        let span = self.source.span(node);
        let kind = match node.kind() {
            "identifier" => match self.source.text(node) {
                // The class whose method it is.
                "cls" => ExprKind::Name("self".to_string()),
                name => ExprKind::Name(name.to_string()),
            },
            "string" => return self.string(node),
            "concatenated_string" => ExprKind::Pieces(self.all(node)),
            "integer" | "float" => ExprKind::Number(text::number(self.source.text(node))),
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "none" | "ellipsis" => ExprKind::Null,
            "parenthesized_expression" | "await" | "list_splat_pattern" => return self.first(node),
            "attribute" => self.attribute(node),
            "call" => self.call(node),
            "subscript" => self.subscript(node),
            "comparison_operator" => self.comparison(node),
            "boolean_operator" => return self.chosen(node),
            "not_operator" => {
                let operand = node.child_by_field_name("argument").unwrap_or(node);
                ExprKind::Not(Box::new(if operand == node { self.source.unknown(node) } else { self.asked(operand) }))
            }
            "unary_operator" => {
                let operand = self.part(node, "argument");
                match self.source.field(node, "operator") {
                    "-" => ExprKind::Negate(operand),
                    "+" => return *operand,
                    _ => ExprKind::Other(vec![*operand]),
                }
            }
            "binary_operator" => self.binary(node),
            "assignment" => self.assignment(node),
            "augmented_assignment" => {
                let sign = self.source.field(node, "operator").trim_end_matches('=').to_string();
                let operator = Some(operator(&sign));
                ExprKind::Assign { target: self.part(node, "left"), operator, value: self.part(node, "right") }
            }
            "named_expression" => {
                ExprKind::Assign { target: self.part(node, "name"), operator: None, value: self.part(node, "value") }
            }
            "conditional_expression" => match parts(node).as_slice() {
                [yes, asked, no] => ExprKind::Choice(
                    Box::new(self.asked(*asked)),
                    Box::new(self.expression(*yes)),
                    Box::new(self.expression(*no)),
                ),
                _ => ExprKind::Other(self.all(node)),
            },
            "list" | "tuple" | "set" | "expression_list" | "pattern_list" | "tuple_pattern" | "list_pattern" => {
                ExprKind::List(self.all(node))
            }
            "dictionary" => self.dictionary(node),
            "list_comprehension" | "set_comprehension" | "dictionary_comprehension" | "generator_expression" => {
                self.comprehension(node)
            }
            "lambda" => {
                let outer = std::mem::take(&mut self.pending);
                let body = *self.part(node, "body");
                let mut statements: Vec<Stmt> = std::mem::replace(&mut self.pending, outer);
                statements.push(Stmt { kind: StmtKind::Expr(body), span });
                ExprKind::Lambda(statements)
            }
            // Told apart from everything else by an operator with one operand.
            "yield" => ExprKind::Chain(Operator::Other, vec![self.first(node)]),
            _ => ExprKind::Other(self.all(node)),
        };
        Expr { kind, span }
    }

    /// A string, or the pieces of one with expressions in it.
    fn string(&mut self, node: Node<'_>) -> Expr {
        let mut pieces = Vec::new();
        let start = node.child(0).map(|start| self.source.text(start).to_lowercase()).unwrap_or_default();
        let is_raw = start.trim_end_matches(['"', '\'']).contains('r');
        for part in parts(node) {
            match part.kind() {
                "string_content" => {
                    let said = self.source.text(part);
                    let plain =
                        if start.contains('f') { said.replace("{{", "{").replace("}}", "}") } else { said.into() };
                    let kind = ExprKind::Text(text::unescape(&plain, is_raw));
                    pieces.push(Expr { kind, span: self.source.span(part) });
                }
                "interpolation" => pieces.push(*self.part(part, "expression")),
                _ => {}
            }
        }
        match pieces.len() {
            0 => Expr { kind: ExprKind::Text(String::new()), span: self.source.span(node) },
            1 if matches!(pieces[0].kind, ExprKind::Text(_)) => pieces.remove(0),
            _ => Expr { kind: ExprKind::Pieces(pieces), span: self.source.span(node) },
        }
    }

    /// `a.b`; some attributes are questions.
    fn attribute(&mut self, node: Node<'_>) -> ExprKind {
        let object = self.part(node, "object");
        let name = self.source.field(node, "attribute");
        if name == "_mapping" {
            return object.kind;
        }
        if dbapi::ASKING.contains(&name) {
            return called(Some(object), name, Vec::new());
        }
        ExprKind::Field(object, name.to_string())
    }

    fn call(&mut self, node: Node<'_>) -> ExprKind {
        let span = self.source.span(node);
        let (arguments, named) = self.arguments(node);
        let Some(function) = node.child_by_field_name("function") else { return ExprKind::Other(arguments) };
        let (receiver, name) = match function.kind() {
            "identifier" => (None, self.source.text(function).to_string()),
            "attribute" => (Some(self.part(function, "object")), self.source.field(function, "attribute").to_string()),
            _ => {
                let mut all = vec![self.expression(function)];
                all.extend(arguments);
                return ExprKind::Other(all);
            }
        };
        match (name.as_str(), receiver) {
            ("dict", None) if arguments.is_empty() => {
                let key = |name: String| Expr { kind: ExprKind::Text(name), span };
                ExprKind::Map(named.into_iter().map(|(name, value)| (key(name), value)).collect())
            }
            (same, receiver) if SAME.contains(&same) && arguments.len() == 1 => {
                drop(receiver);
                arguments.into_iter().next().map_or(ExprKind::Null, |argument| argument.kind)
            }
            ("next" | "anext", None) => {
                let of = arguments.into_iter().next().map(Box::new);
                called(of, "fetchone", Vec::new())
            }
            ("_asdict" | "copy", Some(receiver)) if arguments.is_empty() => receiver.kind,
            (_, Some(receiver)) if is_chance(&receiver) => ExprKind::Other(arguments),
            ("set_session", Some(receiver)) => settings(*receiver, named, span),
            (name, receiver) if is_class(name) => {
                drop(receiver);
                let named = named.into_iter().map(|(_, value)| value);
                ExprKind::New { class: last_name(name), arguments: arguments.into_iter().chain(named).collect() }
            }
            (_, receiver) => ExprKind::Call(Call { receiver, name, arguments, named }),
        }
    }

    fn arguments(&mut self, node: Node<'_>) -> (Vec<Expr>, Vec<(String, Expr)>) {
        let Some(list) = node.child_by_field_name("arguments") else { return Default::default() };
        if list.kind() == "generator_expression" {
            return (vec![self.expression(list)], Vec::new());
        }
        let (mut arguments, mut named) = (Vec::new(), Vec::new());
        for part in parts(list) {
            match part.kind() {
                "keyword_argument" => {
                    named.push((self.source.field(part, "name").to_string(), *self.part(part, "value")));
                }
                "dictionary_splat" => drop(self.first(part)),
                _ => arguments.push(self.expression(part)),
            }
        }
        (arguments, named)
    }

    fn subscript(&mut self, node: Node<'_>) -> ExprKind {
        let mut walk = node.walk();
        let at: Vec<Node<'_>> = node.children_by_field_name("subscript", &mut walk).collect();
        let of = self.part(node, "value");
        match at.as_slice() {
            [at] if at.kind() != "slice" => ExprKind::Index(of, Box::new(self.expression(*at))),
            // Some of them, in the same order.
            [slice] if slice.kind() == "slice" => of.kind,
            _ => ExprKind::Other(vec![*of]),
        }
    }

    /// `a < b <= c` is `a < b and b <= c`.
    fn comparison(&mut self, node: Node<'_>) -> ExprKind {
        let span = self.source.span(node);
        let operands = self.all(node);
        let signs = self.signs(node);
        let mut all = Vec::new();
        for (pair, sign) in operands.windows(2).zip(&signs) {
            let [left, right] = pair else { continue };
            all.push(compared(sign, left.clone(), right.clone(), span));
        }
        match all.len() {
            1 => all.remove(0).kind,
            _ => ExprKind::Chain(Operator::And, all),
        }
    }

    /// The signs of a comparison; those of two words are one.
    fn signs(&self, node: Node<'_>) -> Vec<String> {
        let mut signs: Vec<String> = Vec::new();
        for child in children(node).into_iter().filter(|child| !child.is_named() || child.kind().contains(' ')) {
            let said = self.source.text(child).split_whitespace().collect::<Vec<_>>().join(" ");
            match (signs.last_mut(), said.as_str()) {
                (Some(last), "not") if last == "is" => *last = "is not".to_string(),
                (Some(last), "in") if last == "not" => *last = "not in".to_string(),
                _ => signs.push(said),
            }
        }
        signs
    }

    /// `a and b and c`, as a list.
    fn logic(&mut self, node: Node<'_>) -> Expr {
        let sign = self.source.field(node, "operator");
        let mut operands = Vec::new();
        let mut left = node;
        loop {
            if let Some(right) = left.child_by_field_name("right") {
                operands.push(self.asked(right));
            }
            let Some(next) = left.child_by_field_name("left") else { break };
            if next.kind() == "boolean_operator" && self.source.field(next, "operator") == sign {
                left = next;
            } else {
                operands.push(self.asked(next));
                break;
            }
        }
        operands.reverse();
        Expr { kind: ExprKind::Chain(operator(sign), operands), span: self.source.span(node) }
    }

    /// Something of which only matters whether it holds.
    pub(super) fn asked(&mut self, node: Node<'_>) -> Expr {
        match node.kind() {
            "boolean_operator" if self.source.enter(node) => {
                let expr = self.logic(node);
                self.source.leave();
                expr
            }
            "parenthesized_expression" => match parts(node).first() {
                Some(inner) if self.source.enter(node) => {
                    let expr = self.asked(*inner);
                    self.source.leave();
                    expr
                }
                _ => self.source.unknown(node),
            },
            _ => self.expression(node),
        }
    }

    /// `a or b` is one of the two, if asking for a twice does no harm.
    fn chosen(&mut self, node: Node<'_>) -> Expr {
        let (left, right) = (self.part(node, "left"), self.part(node, "right"));
        if !is_quiet(&left) || is_truth(&left) || is_truth(&right) {
            return self.logic(node);
        }
        let span = self.source.span(node);
        let kind = match self.source.field(node, "operator") {
            "or" => ExprKind::Choice(left.clone(), left, right),
            _ => ExprKind::Choice(left.clone(), right, left),
        };
        Expr { kind, span }
    }

    /// `a + b + c` is a nest to the left; it becomes a list. `"…" % x` fills in.
    fn binary(&mut self, node: Node<'_>) -> ExprKind {
        let sign = self.source.field(node, "operator");
        let operator = operator(sign);
        let mut operands = Vec::new();
        let mut left = node;
        loop {
            if let Some(right) = left.child_by_field_name("right") {
                operands.push(self.expression(right));
            }
            let Some(next) = left.child_by_field_name("left") else { break };
            let is_chain = matches!(operator, Operator::Add | Operator::Multiply);
            if is_chain && next.kind() == "binary_operator" && self.source.field(next, "operator") == sign {
                left = next;
            } else {
                operands.push(self.expression(next));
                break;
            }
        }
        operands.reverse();
        let is_format = operator == Operator::Remainder
            && operands.len() == 2
            && matches!(operands[0].kind, ExprKind::Text(_) | ExprKind::Pieces(_));
        if is_format && let (Some(right), Some(format)) = (operands.pop(), operands.pop()) {
            let arguments = if let ExprKind::List(all) = right.kind { all } else { vec![right] };
            return called(Some(Box::new(format)), "format", arguments);
        }
        ExprKind::Chain(operator, operands)
    }

    fn assignment(&mut self, node: Node<'_>) -> ExprKind {
        let target = self.part(node, "left");
        let Some(value) = node.child_by_field_name("right").map(|value| Box::new(self.expression(value))) else {
            return ExprKind::Other(Vec::new());
        };
        match target.kind {
            ExprKind::Field(of, name) if dbapi::setter(&name).is_some() => {
                called(Some(of), dbapi::setter(&name).unwrap_or_default(), vec![*value])
            }
            kind => {
                let target = Box::new(Expr { kind, span: target.span });
                ExprKind::Assign { target, operator: None, value }
            }
        }
    }

    fn dictionary(&mut self, node: Node<'_>) -> ExprKind {
        let mut pairs = Vec::new();
        let mut is_open = false;
        for part in parts(node) {
            if part.kind() == "pair" {
                pairs.push((*self.part(part, "key"), *self.part(part, "value")));
            } else {
                is_open = true;
            }
        }
        if is_open {
            return ExprKind::Other(pairs.into_iter().map(|(_, value)| value).collect());
        }
        ExprKind::Map(pairs)
    }
}

fn called(receiver: Option<Box<Expr>>, name: &str, arguments: Vec<Expr>) -> ExprKind {
    ExprKind::Call(Call { receiver, name: name.to_string(), arguments, named: Vec::new() })
}

/// `conn.set_session(isolation_level=…, autocommit=…)`: one call for each.
fn settings(of: Expr, named: Vec<(String, Expr)>, span: Span) -> ExprKind {
    let known = named.into_iter().filter_map(|(name, value)| Some((dbapi::setter(&name)?, value)));
    let calls = known.map(|(name, value)| Expr { kind: called(Some(Box::new(of.clone())), name, vec![value]), span });
    ExprKind::Other(calls.collect())
}

fn compared(sign: &str, left: Expr, right: Expr, span: Span) -> Expr {
    let kind = match (sign, &right.kind) {
        ("in" | "not in", ExprKind::List(all)) => {
            let one = |option: &Expr| {
                let operands = vec![left.clone(), option.clone()];
                Expr { kind: ExprKind::Chain(Operator::Equal, operands), span }
            };
            let any = Expr { kind: ExprKind::Chain(Operator::Or, all.iter().map(one).collect()), span };
            if sign == "in" { any.kind } else { ExprKind::Not(Box::new(any)) }
        }
        ("in" | "not in", _) => ExprKind::Other(vec![left, right]),
        _ => ExprKind::Chain(operator(sign), vec![left, right]),
    };
    Expr { kind, span }
}

fn operator(sign: &str) -> Operator {
    syntax::operator(sign, OPERATORS)
}

fn is_chance(receiver: &Expr) -> bool {
    match &receiver.kind {
        ExprKind::Name(name) => CLOCKS_AND_DICE.contains(&name.as_str()),
        ExprKind::Field(of, _) => is_chance(of),
        _ => false,
    }
}

/// Whether a call of that name makes an object.
fn is_class(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains("__")
}

/// Whether an expression does nothing but give its value.
fn is_quiet(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Text(_) | ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Null => true,
        ExprKind::Field(of, _) => is_quiet(of),
        ExprKind::Index(of, at) => is_quiet(of) && is_quiet(at),
        _ => false,
    }
}

/// Whether an expression is true or false, and nothing else.
fn is_truth(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Bool(_) | ExprKind::Not(_) => true,
        ExprKind::Chain(operator, _) => !matches!(
            operator,
            Operator::Add
                | Operator::Subtract
                | Operator::Multiply
                | Operator::Divide
                | Operator::Quotient
                | Operator::Remainder
                | Operator::Other
        ),
        _ => false,
    }
}

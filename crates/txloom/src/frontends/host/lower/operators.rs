//! Operators.

use txloom_core::program::{self as ir, BinaryOp, Span, StatementKind};

use super::super::tree::{Expr, ExprKind, Operator};
use super::super::values::{Object, Template, Value, any, truth, variable, whole};
use super::super::vocabulary::Sort;
use super::Lowerer;
use super::join::{OPTIONS_MAX, leaves};
use super::statements::is_truth;

/// The maximum number of parts of an operand; the value of a larger expression is any value. (What walks an expression
/// recurses, and a chain of operators is as deep as it is long.)
pub(in crate::frontends::host) const EXPRESSION_MAX: usize = 500;

impl<'p> Lowerer<'p> {
    pub(super) fn binary(&self, op: BinaryOp, left: ir::Expr, right: ir::Expr, span: Span) -> ir::Expr {
        let span = self.at(span);
        if left.exceeds(EXPRESSION_MAX) || right.exceeds(EXPRESSION_MAX) {
            return any(span);
        }
        let (left, right) = (Box::new(left), Box::new(right));
        ir::Expr { kind: ir::ExprKind::Binary { op, left, right }, span }
    }

    pub(super) fn not(&self, expr: ir::Expr, span: Span) -> ir::Expr {
        let span = self.at(span);
        if is_truth(&expr, true) || is_truth(&expr, false) {
            return truth(is_truth(&expr, false), span);
        }
        match expr.kind {
            ir::ExprKind::Not(inner) => *inner,
            ir::ExprKind::Any => expr,
            ir::ExprKind::IsNull { operand, negated } => {
                ir::Expr { kind: ir::ExprKind::IsNull { operand, negated: !negated }, span }
            }
            _ => ir::Expr { kind: ir::ExprKind::Not(Box::new(expr)), span },
        }
    }

    pub(super) fn negate(&mut self, value: Value, span: Span) -> Value {
        let sort = sort_of(&value);
        let expr = self.expr_of(value, span);
        let kind = match expr.kind {
            ir::ExprKind::Any => ir::ExprKind::Any,
            ir::ExprKind::Literal(txloom_core::value::Value::Number(number)) => {
                let text = number.to_string();
                let negative = text.strip_prefix('-').map_or(format!("-{text}"), str::to_string);
                let parsed = txloom_core::value::Number::parse(&negative);
                parsed.map_or(ir::ExprKind::Any, |number| {
                    ir::ExprKind::Literal(txloom_core::value::Value::Number(number))
                })
            }
            _ => ir::ExprKind::Negate(Box::new(expr)),
        };
        Value::Plain(ir::Expr { kind, span: self.at(span) }, sort)
    }

    /// Two operands with an operator that computes.
    pub(super) fn combine(
        &mut self,
        operator: Operator,
        left: Value,
        left_expr: &Expr,
        right: Value,
        right_expr: &Expr,
        span: Span,
    ) -> Value {
        if operator == Operator::Add && (self.is_text(&left) || self.is_text(&right)) {
            return self.concatenation(left, left_expr, right, right_expr);
        }
        let (left_sort, right_sort) = (sort_of(&left), sort_of(&right));
        let (left, right) = (self.expr_of(left, span), self.expr_of(right, span));
        self.arithmetic(operator, (left, left_sort), (right, right_sort), span)
    }

    pub(super) fn arithmetic(
        &mut self,
        operator: Operator,
        (left, left_sort): (ir::Expr, Sort),
        (right, right_sort): (ir::Expr, Sort),
        span: Span,
    ) -> Value {
        let is_whole = left_sort == Sort::Whole && right_sort == Sort::Whole;
        let op = match operator {
            Operator::Add => BinaryOp::Add,
            Operator::Subtract => BinaryOp::Subtract,
            Operator::Multiply => BinaryOp::Multiply,
            Operator::Divide if is_whole && self.world.vocabulary.divides_whole() => BinaryOp::Quotient,
            Operator::Divide => BinaryOp::Divide,
            Operator::Quotient => BinaryOp::Quotient,
            Operator::Remainder => BinaryOp::Remainder,
            _ => return Value::Unknown(span),
        };
        // A language that does not say types leaves it to the tables.
        let is_open = !self.world.vocabulary.says_types() && ![left_sort, right_sort].contains(&Sort::Real);
        let sort = match op {
            BinaryOp::Divide => Sort::Real,
            _ if is_whole => Sort::Whole,
            _ if is_open => Sort::Object,
            _ => Sort::Real,
        };
        let is_unknown = |expr: &ir::Expr| matches!(expr.kind, ir::ExprKind::Any);
        if is_unknown(&left) && is_unknown(&right) {
            return Value::Plain(any(self.at(span)), sort);
        }
        Value::Plain(self.binary(op, left, right, span), sort)
    }

    fn is_text(&self, value: &Value) -> bool {
        match value {
            Value::Text(_) | Value::Plain(_, Sort::Text) | Value::Input(_, Sort::Text) => true,
            Value::Object(id) => matches!(self.state.objects.get(id), Some(Object::Builder(_))),
            Value::Choice(_, options) => options.iter().any(|(_, option)| self.is_text(option)),
            _ => false,
        }
    }

    /// One text behind the other; of choices, each with each.
    pub(super) fn concatenation(&mut self, left: Value, left_expr: &Expr, right: Value, right_expr: &Expr) -> Value {
        let is_too_much = leaves(&left) * leaves(&right) > OPTIONS_MAX;
        match (left, right) {
            (left, right @ Value::Choice(..)) if is_too_much => {
                let part = self.expr_of(right, right_expr.span);
                self.concatenation(left, left_expr, Value::Plain(part, Sort::Text), right_expr)
            }
            (Value::Choice(selector, options), right) => {
                let options = options
                    .into_iter()
                    .map(|(number, option)| (number, self.concatenation(option, left_expr, right.clone(), right_expr)));
                Value::Choice(selector, options.collect())
            }
            (left, Value::Choice(selector, options)) if options.iter().all(|(_, one)| self.is_text(one)) => {
                let options = options
                    .into_iter()
                    .map(|(number, option)| (number, self.concatenation(left.clone(), left_expr, option, right_expr)));
                Value::Choice(selector, options.collect())
            }
            (left, right) => {
                let left: Template = self.template_of(left, left_expr);
                let right = self.template_of(right, right_expr);
                Value::Text(left.then(right))
            }
        }
    }

    /// `a && b && …`: what comes later is only asked if it still matters.
    pub(super) fn logic(&mut self, operator: Operator, operands: &'p [Expr], span: Span) -> Value {
        let decides = operator == Operator::Or;
        let op = if decides { BinaryOp::Or } else { BinaryOp::And };
        let Some((first, rest)) = operands.split_first() else { return Value::Unknown(span) };
        let mut left = self.condition(first);
        for operand in rest {
            if is_truth(&left, decides) {
                return Value::Plain(left, Sort::Bool);
            }
            let before = self.state.clone();
            let mut right = any(span);
            let block = self.block(|this| right = this.condition(operand));
            if is_truth(&left, !decides) {
                self.out.extend(block);
                left = right;
            } else if block.is_empty() {
                left = if is_truth(&right, !decides) { left } else { self.binary(op, left, right, span) };
            } else {
                left = self.stepwise(left, decides, right, before, block, span);
            }
        }
        Value::Plain(left, Sort::Bool)
    }

    /// `SET holds = left; IF :holds THEN …; SET holds = right; END IF`
    fn stepwise(
        &mut self,
        left: ir::Expr,
        decides: bool,
        right: ir::Expr,
        before: super::State,
        mut block: Vec<ir::Statement>,
        span: Span,
    ) -> ir::Expr {
        let name = self.temporary("holds", "BOOLEAN");
        let at = self.at(span);
        let after = std::mem::replace(&mut self.state, before.clone());
        self.set(&name, left, span);
        block.extend(self.block(|this| this.set(&name, right, span)));
        let blocks = self.join(vec![(after, block), (before, Vec::new())], span);
        let mut blocks = blocks.into_iter();
        let (body, otherwise) = (blocks.next().unwrap_or_default(), blocks.next().unwrap_or_default());
        let asked = variable(&name, at);
        let condition = if decides { self.not(asked, span) } else { asked };
        self.emit(StatementKind::If { branches: vec![ir::Branch { condition, body }], otherwise }, span);
        variable(&name, at)
    }

    pub(super) fn comparison(&mut self, operator: Operator, operands: &'p [Expr], span: Span) -> Value {
        let [left, right] = operands else { return Value::Unknown(span) };
        // `a.compareTo(b) > 0` is `a > b`.
        if let (ExprKind::Call(call), ExprKind::Number(zero)) = (&left.kind, &right.kind)
            && call.name == "compareTo"
            && zero == "0"
            && let (Some(receiver), [other]) = (&call.receiver, call.arguments.as_slice())
        {
            let (left, right) = (self.value(receiver), self.value(other));
            return self.compare(operator, left, right, span);
        }
        let (left, right) = (self.value(left), self.value(right));
        self.compare(operator, left, right, span)
    }

    pub(super) fn compare(&mut self, operator: Operator, left: Value, right: Value, span: Span) -> Value {
        let is_equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        if is_equality && (left == Value::Null || right == Value::Null) {
            let value = if left == Value::Null { right } else { left };
            let is_null = self.is_null(value, span);
            let asked = if operator == Operator::Equal { is_null } else { self.not(is_null, span) };
            return Value::Plain(asked, Sort::Bool);
        }
        let sorts = (sort_of(&left), sort_of(&right));
        let (left, right) = (self.expr_of(left, span), self.expr_of(right, span));
        let is_unknown = |expr: &ir::Expr| matches!(expr.kind, ir::ExprKind::Any);
        if is_unknown(&left) || is_unknown(&right) {
            return Value::Plain(any(self.at(span)), Sort::Bool);
        }
        // `x == true` is x.
        if is_equality && sorts == (Sort::Bool, Sort::Bool) {
            let flips = operator == Operator::NotEqual;
            for (value, other) in [(&left, &right), (&right, &left)] {
                if is_truth(value, true) || is_truth(value, false) {
                    let negative = is_truth(value, false) != flips;
                    let asked = if negative { self.not(other.clone(), span) } else { other.clone() };
                    return Value::Plain(asked, Sort::Bool);
                }
            }
        }
        let op = match operator {
            Operator::Equal => BinaryOp::Equal,
            Operator::NotEqual => BinaryOp::NotEqual,
            Operator::Less => BinaryOp::Less,
            Operator::LessEqual => BinaryOp::LessEqual,
            Operator::Greater => BinaryOp::Greater,
            _ => BinaryOp::GreaterEqual,
        };
        Value::Plain(self.binary(op, left, right, span), Sort::Bool)
    }

    /// Whether there is no object.
    pub(super) fn is_null(&mut self, value: Value, span: Span) -> ir::Expr {
        let at = self.at(span);
        match value {
            Value::Null => truth(true, at),
            Value::Object(_) => truth(false, at),
            Value::Perhaps(flag, _) => self.not(variable(&flag, at), span),
            Value::Choice(selector, options) if options.iter().any(|(_, option)| *option == Value::Null) => {
                let mut asked: Option<ir::Expr> = None;
                for (number, option) in options {
                    let mut one = self.binary(BinaryOp::Equal, variable(&selector, at), whole(number, at), span);
                    // A value that was read may be NULL, too.
                    match &option {
                        Value::Null => {}
                        Value::Plain(expr, _) if matches!(expr.kind, ir::ExprKind::Variable(_)) => {
                            let is_null = self.is_null(option, span);
                            one = self.binary(BinaryOp::And, one, is_null, span);
                        }
                        _ => continue,
                    }
                    asked = Some(match asked {
                        None => one,
                        Some(others) => self.binary(BinaryOp::Or, others, one, span),
                    });
                }
                asked.unwrap_or_else(|| truth(false, at))
            }
            Value::Choice(_, ref options) if options.iter().all(|(_, one)| matches!(one, Value::Object(_))) => {
                truth(false, at)
            }
            Value::Unknown(_) | Value::Unset => any(at),
            Value::Input(_, Sort::Object | Sort::List | Sort::Statement | Sort::Rows) => any(at),
            Value::Text(template) if template.held.is_none() => truth(false, at),
            value => {
                let operand = Box::new(self.expr_of(value, span));
                if matches!(operand.kind, ir::ExprKind::Any) {
                    return *operand;
                }
                ir::Expr { kind: ir::ExprKind::IsNull { operand, negated: false }, span: at }
            }
        }
    }
}

pub(super) fn sort_of(value: &Value) -> Sort {
    match value {
        Value::Plain(_, sort) | Value::Input(_, sort) => *sort,
        Value::Text(_) => Sort::Text,
        _ => Sort::Object,
    }
}

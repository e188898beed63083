//! One of several values, by the number that a variable holds: what is done for it is done for each under its condition.

use txloom_core::program::{self as ir, Span, Statement};

use super::super::values::{Value, variable, whole};
use super::super::vocabulary::Sort;
use super::Lowerer;
use super::database::sql_type;

impl Lowerer<'_> {
    /// Does something for a value; for a choice, for each option under its condition.
    pub(super) fn each_option(
        &mut self,
        value: Value,
        span: Span,
        act: &mut dyn FnMut(&mut Self, Value) -> Value,
    ) -> Value {
        let (selector, options) = match value {
            Value::Choice(selector, options) => (selector, options),
            Value::Perhaps(_, inner) => return self.each_option(*inner, span, act),
            other => return act(self, other),
        };
        let before = self.state.clone();
        let mut ends = Vec::new();
        let mut results = Vec::new();
        let mut shared: Option<(String, Sort)> = None;
        for (number, option) in options.into_iter().filter(|(_, option)| *option != Value::Null) {
            self.state = before.clone();
            let mut result = Value::Unset;
            let block = self.block(|this| {
                result = this.each_option(option, span, act);
                // A plain result goes to one variable, whichever option it is.
                if let Value::Plain(expr, sort) = &result {
                    let known = shared.clone();
                    let (name, sort) = known.unwrap_or_else(|| (this.temporary("chosen", sql_type(*sort)), *sort));
                    this.set(&name, expr.clone(), span);
                    result = Value::Plain(variable(&name, this.at(span)), sort);
                    shared = Some((name, sort));
                }
            });
            results.push((number, result));
            ends.push((std::mem::take(&mut self.state), block));
        }
        if ends.len() <= 1 {
            let (state, block) = ends.pop().unwrap_or((before, Vec::new()));
            self.state = state;
            self.state.values.resize(self.slots.len(), Value::Unset);
            self.out.extend(block);
            return results.pop().map_or(Value::Unknown(span), |(_, result)| result);
        }
        let numbers: Vec<i64> = results.iter().map(|(number, _)| *number).collect();
        let blocks = self.join(ends, span);
        if blocks.iter().any(|block| !block.is_empty()) {
            self.emit_options(&selector, numbers.into_iter().zip(blocks).collect(), span);
        }
        let is_same = results.iter().all(|(_, result)| *result == results[0].1);
        if is_same { results.swap_remove(0).1 } else { Value::Choice(selector, results) }
    }

    /// `IF :selector = 1 THEN … ELSEIF … ELSE …`; the last needs no condition.
    pub(super) fn emit_options(&mut self, selector: &str, mut blocks: Vec<(i64, Vec<Statement>)>, span: Span) {
        let Some((_, otherwise)) = blocks.pop() else { return };
        let at = self.at(span);
        let branch = |(number, body): (i64, Vec<Statement>)| ir::Branch {
            condition: ir::Expr {
                kind: ir::ExprKind::Binary {
                    op: ir::BinaryOp::Equal,
                    left: Box::new(variable(selector, at)),
                    right: Box::new(whole(number, at)),
                },
                span: at,
            },
            body,
        };
        let branches: Vec<ir::Branch> = blocks.into_iter().map(branch).collect();
        self.emit(ir::StatementKind::If { branches, otherwise }, span);
    }
}

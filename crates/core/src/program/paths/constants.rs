//! Values that are known without running anything: `i := i + 1` in a loop from 1 to 10.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::program::code::{Operation, OperationKind};
use crate::program::decimal::apply_whole;
use crate::program::ir::{BinaryOp, Expr, ExprKind};
use crate::value::{Number, Value};

/// The variables whose values are known at a point of a path. Cheap to clone: most operations change nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownValues(Rc<BTreeMap<String, Value>>);

impl KnownValues {
    /// The values after an operation.
    pub(super) fn after(&self, operation: &Operation) -> KnownValues {
        let value = match &operation.kind {
            OperationKind::Assign(_, expr) => self.value(expr),
            _ => None,
        };
        let defined = operation.defines();
        let is_unchanged = value.is_none() && defined.iter().all(|variable| !self.0.contains_key(&variable.name));
        if is_unchanged {
            return self.clone();
        }
        let mut values = (*self.0).clone();
        for variable in defined {
            match &value {
                Some(value) => values.insert(variable.name.clone(), value.clone()),
                None => values.remove(&variable.name),
            };
        }
        KnownValues(Rc::new(values))
    }

    /// The successors of an operation at a position that its known values leave open.
    pub(super) fn decides(&self, operation: &Operation) -> Option<bool> {
        match &operation.kind {
            OperationKind::Unless(condition, _) => match self.value(condition)? {
                Value::Bool(truth) => Some(truth),
                Value::Number(number) => number.to_i64().map(|number| number != 0),
                Value::Null => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of an expression of whole numbers and truth values.
    fn value(&self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Literal(value) => Some(value.clone()),
            ExprKind::Variable(name) => self.0.get(name).cloned(),
            ExprKind::Negate(operand) => Some(Value::int(whole(&self.value(operand)?)?.checked_neg()?)),
            ExprKind::Not(operand) => match self.value(operand)? {
                Value::Bool(truth) => Some(Value::Bool(!truth)),
                _ => None,
            },
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right),
            ExprKind::Found | ExprKind::RowCount | ExprKind::Any | ExprKind::IsNull { .. } => None,
        }
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<Value> {
        let sides = (self.value(left), self.value(right));
        let decisive = match op {
            BinaryOp::And => Some(Value::Bool(false)),
            BinaryOp::Or => Some(Value::Bool(true)),
            _ => None,
        };
        if let Some(decisive) = decisive {
            return match sides {
                (Some(side), _) | (_, Some(side)) if side == decisive => Some(decisive),
                (Some(Value::Bool(_)), Some(side @ Value::Bool(_))) => Some(side),
                _ => None,
            };
        }
        let (left, right) = (whole(&sides.0?)?, whole(&sides.1?)?);
        Some(match op {
            BinaryOp::Equal => Value::Bool(left == right),
            BinaryOp::NotEqual => Value::Bool(left != right),
            BinaryOp::Less => Value::Bool(left < right),
            BinaryOp::LessEqual => Value::Bool(left <= right),
            BinaryOp::Greater => Value::Bool(left > right),
            BinaryOp::GreaterEqual => Value::Bool(left >= right),
            op => Value::int(apply_whole(op, left, right)?),
        })
    }
}

fn whole(value: &Value) -> Option<i64> {
    if let Value::Number(number) = value { Number::to_i64(number) } else { None }
}

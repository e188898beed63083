//! Exact arithmetic on [`Number`]s: a whole number of at most 38 digits and the place of its point.
//!
//! What does not fit is an error, never a rounded value: an oracle that compares balances must not invent a cent. Only
//! a division may have to round, and does so far to the right of the point.

use crate::program::ir::BinaryOp;
use crate::value::Number;

/// How many digits after the point a quotient is computed to.
const QUOTIENT_DIGITS: u32 = 16;

/// Why an operation on two numbers has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArithmeticError {
    /// The result, or something on the way to it, has more digits than we compute with.
    Overflow,
    /// The right operand of a division is zero.
    DivisionByZero,
}

/// Applies one of the arithmetic operators. Every other operator is a defect of the caller.
pub(super) fn apply(op: BinaryOp, left: &Number, right: &Number) -> Result<Number, ArithmeticError> {
    let (a, b) = (Decimal::of(left)?, Decimal::of(right)?);
    let result = match op {
        BinaryOp::Add => a.aligned(b, i128::checked_add),
        BinaryOp::Subtract => a.aligned(b, i128::checked_sub),
        BinaryOp::Multiply => a.multiply(b),
        BinaryOp::Divide => a.divide(b.not_zero()?),
        BinaryOp::Quotient => a.quotient(b.not_zero()?),
        BinaryOp::Remainder => a.aligned(b.not_zero()?, i128::checked_rem),
        other => unreachable!("{other} is no arithmetic operator"),
    };
    result.and_then(Decimal::number).ok_or(ArithmeticError::Overflow)
}

/// The same for whole numbers; `None` if the result is none, or too great. Most numbers are whole and small, and a call
/// must not keep its server waiting.
pub(super) fn apply_whole(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Quotient => a.checked_div(b),
        BinaryOp::Remainder => a.checked_rem(b),
        _ => None,
    }
}

/// The number with the other sign.
pub(super) fn negate(number: &Number) -> Result<Number, ArithmeticError> {
    apply(BinaryOp::Subtract, &Number::from(0), number)
}

/// `digits · 10^-scale`.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    fn of(number: &Number) -> Result<Decimal, ArithmeticError> {
        let (digits, scale) = number.to_decimal().ok_or(ArithmeticError::Overflow)?;
        Ok(Decimal { digits, scale })
    }

    /// `None` if the point would be too far to the left for any SQL type.
    fn number(self) -> Option<Number> {
        match (self.scale, i64::try_from(self.digits)) {
            (0, Ok(whole)) => Some(Number::from(whole)),
            _ => Number::parse(&format!("{}e-{}", self.digits, self.scale)),
        }
    }

    fn not_zero(self) -> Result<Decimal, ArithmeticError> {
        if self.digits == 0 { Err(ArithmeticError::DivisionByZero) } else { Ok(self) }
    }

    /// The same value with more digits after the point.
    fn scaled(self, scale: u32) -> Option<i128> {
        self.digits.checked_mul(power_of_ten(scale - self.scale)?)
    }

    /// Brings both to the same scale and applies an operation that keeps it.
    fn aligned(self, other: Decimal, operation: fn(i128, i128) -> Option<i128>) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        Some(Decimal { digits: operation(self.scaled(scale)?, other.scaled(scale)?)?, scale })
    }

    fn multiply(self, other: Decimal) -> Option<Decimal> {
        Some(Decimal { digits: self.digits.checked_mul(other.digits)?, scale: self.scale + other.scale })
    }

    /// Rounded half away from zero.
    fn divide(self, other: Decimal) -> Option<Decimal> {
        let shift = i64::from(QUOTIENT_DIGITS) + i64::from(other.scale) - i64::from(self.scale);
        let power = power_of_ten(shift.unsigned_abs() as u32)?;
        let (dividend, divisor) = if shift >= 0 {
            (self.digits.checked_mul(power)?, other.digits)
        } else {
            (self.digits, other.digits.checked_mul(power)?)
        };
        let (quotient, rest) = (dividend.checked_div(divisor)?, dividend.checked_rem(divisor)?);
        let rounds_up = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
        let away = if (dividend < 0) == (divisor < 0) { 1 } else { -1 };
        let digits = if rounds_up { quotient.checked_add(away)? } else { quotient };
        Some(Decimal { digits, scale: QUOTIENT_DIGITS })
    }

    /// Rounded towards zero.
    fn quotient(self, other: Decimal) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        Some(Decimal { digits: self.scaled(scale)?.checked_div(other.scaled(scale)?)?, scale: 0 })
    }
}

fn power_of_ten(exponent: u32) -> Option<i128> {
    10i128.checked_pow(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(left: &str, op: BinaryOp, right: &str, expect: Result<&str, ArithmeticError>) {
        let number = |text| Number::parse(text).unwrap();
        let (left, right) = (number(left), number(right));
        let result = apply(op, &left, &right);
        assert_eq!(result, expect.map(number), "{left} {op} {right}");
        if let (Some(a), Some(b)) = (left.to_i64(), right.to_i64()) {
            let whole = apply_whole(op, a, b).map(Number::from);
            assert!(whole.is_none_or(|whole| Ok(whole) == result), "{left} {op} {right}");
        }
    }

    #[test]
    fn sums_and_products_are_exact() {
        use BinaryOp::*;
        check("0.1", Add, "0.2", Ok("0.3"));
        check("100", Subtract, "100.01", Ok("-0.01"));
        check("-1.5", Multiply, "0.5", Ok("-0.75"));
        check("9223372036854775807", Add, "1", Ok("9223372036854775808"));
        check("-9223372036854775808", Quotient, "-1", Ok("9223372036854775808"));
        check("-9223372036854775808", Remainder, "-1", Ok("0"));
        check("9223372036854775807", Multiply, "-9", Ok("-83010348331692982263"));
    }

    #[test]
    fn division_is_decimal_and_div_is_whole() {
        use BinaryOp::*;
        check("7", Divide, "2", Ok("3.5"));
        check("1", Divide, "3", Ok("0.3333333333333333"));
        check("2", Divide, "3", Ok("0.6666666666666667"));
        check("-2", Divide, "3", Ok("-0.6666666666666667"));
        check("1", Divide, "0.001", Ok("1000"));
        check("0.000000000000000000001", Divide, "2", Ok("0"));
        check("7", Quotient, "2", Ok("3"));
        check("-7", Quotient, "2", Ok("-3"));
        check("7.5", Quotient, "0.5", Ok("15"));
        check("-7", Remainder, "2", Ok("-1"));
        check("7.5", Remainder, "2", Ok("1.5"));
        for op in [Divide, Quotient, Remainder] {
            check("1", op, "0", Err(ArithmeticError::DivisionByZero));
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        use BinaryOp::*;
        let large = i128::MAX.to_string();
        check(&large, Add, "1", Err(ArithmeticError::Overflow));
        check(&large, Multiply, "2", Err(ArithmeticError::Overflow));
        check(&large, Divide, "2", Err(ArithmeticError::Overflow));
        check("1e39", Add, "1", Err(ArithmeticError::Overflow));
        check(&large, Add, "0.1", Err(ArithmeticError::Overflow));
        check("1", Divide, "1e-30", Err(ArithmeticError::Overflow));
        check("1e-1500", Multiply, "1e-1500", Err(ArithmeticError::Overflow));
    }
}

//! Parsing of expressions, by precedence climbing: an operator takes to its right only what binds tighter.

use crate::program::cursor::Parsed;
use crate::program::ir::{BinaryOp, Expr, ExprKind};
use crate::program::parse::{NESTING_MAX, Parser, RESERVED};
use crate::sql::TokenKind;
use crate::value::{Number, Value};

/// How many operators one expression may have: a long chain is a deep tree, and must not exhaust the stack.
const OPERATORS_MAX: usize = 500;

impl Parser<'_> {
    /// An expression; every variable in it must have been declared.
    pub(in crate::program) fn expression(&mut self) -> Parsed<Expr> {
        let mut operators = 0;
        self.binary(0, &mut operators)
    }

    /// Operands joined by operators that bind at least as tightly as `loosest`.
    fn binary(&mut self, loosest: u8, operators: &mut usize) -> Parsed<Expr> {
        let start = self.cursor.start();
        let mut left = self.prefixed(operators)?;
        loop {
            if loosest <= BinaryOp::COMPARISON_PRECEDENCE && self.cursor.is_word("IS") {
                left = self.null_test(left, start)?;
                continue;
            }
            let Some((op, length)) = self.operator().filter(|(op, _)| op.precedence() >= loosest) else {
                return Ok(left);
            };
            *operators += 1;
            if *operators > OPERATORS_MAX {
                let message = format!("the expression has more than {OPERATORS_MAX} operators");
                return Err(self.cursor.error_at(self.cursor.start(), message));
            }
            for _ in 0..length {
                self.cursor.advance();
            }
            let right = self.binary(op.precedence() + 1, operators)?;
            let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
            left = Expr { kind, span: self.cursor.span_from(start) };
            let chained = |(next, _): (BinaryOp, usize)| next.is_comparison();
            if op.is_comparison() && self.operator().is_some_and(chained) {
                let message = "comparisons do not chain; join them with AND".to_string();
                return Err(self.cursor.error_at(self.cursor.start(), message));
            }
        }
    }

    /// `IS [NOT] NULL` after its operand.
    fn null_test(&mut self, operand: Expr, start: usize) -> Parsed<Expr> {
        self.cursor.advance();
        let negated = self.cursor.accept_word("NOT");
        self.cursor.expect_word("NULL", "after IS")?;
        let kind = ExprKind::IsNull { operand: Box::new(operand), negated };
        Ok(Expr { kind, span: self.cursor.span_from(start) })
    }

    /// NOT, a sign, or a primary expression.
    fn prefixed(&mut self, operators: &mut usize) -> Parsed<Expr> {
        let start = self.cursor.start();
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(self.cursor.error_at(start, "the expression is nested too deeply".to_string()));
        }
        let kind = if self.cursor.accept_word("NOT") {
            ExprKind::Not(Box::new(self.binary(BinaryOp::NOT_PRECEDENCE + 1, operators)?))
        } else if self.cursor.accept_symbol("-") {
            // A sign before digits is part of the number.
            match self.cursor.peek().filter(|token| token.kind == TokenKind::Number) {
                Some(_) => self.number("-")?,
                None => ExprKind::Negate(Box::new(self.prefixed(operators)?)),
            }
        } else if self.cursor.accept_symbol("(") {
            let inner = self.binary(0, operators)?;
            self.cursor.expect_symbol(")", "after the expression")?;
            inner.kind
        } else {
            self.primary()?
        };
        self.nesting -= 1;
        Ok(Expr { kind, span: self.cursor.span_from(start) })
    }

    /// A literal or a variable.
    fn primary(&mut self) -> Parsed<ExprKind> {
        let Some(token) = self.cursor.peek().cloned() else {
            return Err(self.cursor.unexpected("an expression"));
        };
        let literal = match token.kind {
            TokenKind::Number => return self.number(""),
            TokenKind::Variable => return Ok(ExprKind::Variable(self.mention()?.name)),
            TokenKind::String if token.text.starts_with('\'') => {
                self.check_closed(&token)?;
                Value::Text(unquoted(token.text))
            }
            TokenKind::Word if token.is_word("X") && self.hex().is_some() => return self.bytes(),
            TokenKind::Word if self.bare_found && token.is_word("FOUND") => {
                self.cursor.advance();
                return Ok(ExprKind::Found);
            }
            TokenKind::Word if self.call().is_some() => return Ok(self.special()),
            TokenKind::Word if token.is_word("NULL") => Value::Null,
            TokenKind::Word if token.is_word("TRUE") => Value::Bool(true),
            TokenKind::Word if token.is_word("FALSE") => Value::Bool(false),
            TokenKind::Word if !RESERVED.contains(&token.text.to_lowercase().as_str()) => {
                return Ok(ExprKind::Variable(self.mention()?.name));
            }
            _ => return Err(self.cursor.unexpected("an expression")),
        };
        self.cursor.advance();
        Ok(ExprKind::Literal(literal))
    }

    /// What `FOUND()`, `ROW_COUNT()` or `ANY()` stands for, if that is what comes next.
    fn call(&self) -> Option<ExprKind> {
        let parentheses = ["(", ")"]
            .iter()
            .zip(1..)
            .all(|(symbol, at)| self.cursor.peek_at(at).is_some_and(|token| token.is_symbol(symbol)));
        let specials = [("FOUND", ExprKind::Found), ("ROW_COUNT", ExprKind::RowCount), ("ANY", ExprKind::Any)];
        let special = specials.into_iter().find(|(name, _)| self.cursor.is_word(name));
        special.filter(|_| parentheses).map(|(_, kind)| kind)
    }

    fn special(&mut self) -> ExprKind {
        let kind = self.call().expect("it was asked for before");
        (0..3).for_each(|_| {
            self.cursor.advance();
        });
        kind
    }

    fn number(&mut self, sign: &str) -> Parsed<ExprKind> {
        let text = self.cursor.peek().map_or("", |token| token.text);
        let Some(number) = Number::parse(&format!("{sign}{text}")) else {
            return Err(self.cursor.unexpected("a decimal number"));
        };
        self.cursor.advance();
        Ok(ExprKind::Literal(Value::Number(number)))
    }

    /// The string that directly follows an `X`.
    fn hex(&self) -> Option<&str> {
        let (prefix, string) = (self.cursor.peek()?, self.cursor.peek_at(1)?);
        let adjacent = string.kind == TokenKind::String && string.span.start == prefix.span.end;
        adjacent.then_some(string.text)
    }

    /// `X'00ff'`
    fn bytes(&mut self) -> Parsed<ExprKind> {
        let quoted = self.hex().unwrap_or_default();
        let digits = quoted.trim_matches('\'');
        let pairs = (0..digits.len()).step_by(2);
        let bytes = pairs.map(|at| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()));
        let Some(bytes) = bytes.collect::<Option<Vec<u8>>>() else {
            return Err(self.cursor.unexpected("pairs of hexadecimal digits"));
        };
        self.cursor.advance();
        self.cursor.advance();
        Ok(ExprKind::Literal(Value::Bytes(bytes)))
    }

    /// The operator that comes next, and how many tokens it is made of.
    fn operator(&self) -> Option<(BinaryOp, usize)> {
        let first = self.cursor.peek()?;
        let second = self.cursor.peek_at(1).filter(|second| {
            let both = first.kind == TokenKind::Symbol && second.kind == TokenKind::Symbol;
            both && second.span.start == first.span.end
        });
        let named = |text: &str| BinaryOp::ALL.iter().copied().find(|op| op.sign().eq_ignore_ascii_case(text));
        if let Some(second) = second {
            let sign = format!("{}{}", first.text, second.text);
            if let Some(op) = named(if sign == "!=" { "<>" } else { &sign }) {
                return Some((op, 2));
            }
        }
        named(first.text).map(|op| (op, 1))
    }
}

/// The contents of a string: quotes off, doubled ones single.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
    inner.replace("''", "'")
}

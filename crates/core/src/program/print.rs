//! [`Program`] → text, in canonical form: what was read and is printed reads the same again.
//!
//! Comments between statements are not part of the tree and are lost; those inside a SQL statement belong to its text.

use std::fmt::{self, Display};

use crate::program::ir::{
    BinaryOp, Expr, ExprKind, FORMAT_VERSION, Parameter, Procedure, Program, SqlPart, SqlStatement, Statement,
    StatementKind, Variable,
};
use crate::value::Value;

impl Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "-- @program {FORMAT_VERSION}")?;
        for (position, procedure) in self.procedures.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            procedure.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameter = |parameter: &Parameter| format!("{} {}", parameter.name, parameter.type_name);
        let parameters: Vec<String> = self.parameters.iter().map(parameter).collect();
        writeln!(f, "CREATE PROCEDURE {}({})", self.name, parameters.join(", "))?;
        writeln!(f, "BEGIN")?;
        block(f, &self.body, 1)?;
        writeln!(f, "END;")
    }
}

fn block(f: &mut fmt::Formatter<'_>, statements: &[Statement], depth: usize) -> fmt::Result {
    statements.iter().try_for_each(|statement| print_statement(f, statement, depth))
}

fn print_statement(f: &mut fmt::Formatter<'_>, statement: &Statement, depth: usize) -> fmt::Result {
    let indent = "  ".repeat(depth);
    f.write_str(&indent)?;
    match &statement.kind {
        StatementKind::Declare { variable, type_name, default } => {
            write!(f, "DECLARE {} {type_name}", variable.name)?;
            default.iter().try_for_each(|value| write!(f, " DEFAULT {value}"))?;
        }
        StatementKind::Assign { variable, value } => write!(f, "SET {} = {value}", variable.name)?,
        StatementKind::If { branches, otherwise } => {
            for (position, branch) in branches.iter().enumerate() {
                let keyword = if position == 0 { "IF" } else { &format!("{indent}ELSEIF") };
                writeln!(f, "{keyword} {} THEN", branch.condition)?;
                block(f, &branch.body, depth + 1)?;
            }
            if !otherwise.is_empty() {
                writeln!(f, "{indent}ELSE")?;
                block(f, otherwise, depth + 1)?;
            }
            write!(f, "{indent}END IF")?;
        }
        StatementKind::While { condition, body } => {
            writeln!(f, "WHILE {condition} DO")?;
            block(f, body, depth + 1)?;
            write!(f, "{indent}END WHILE")?;
        }
        StatementKind::Commit => f.write_str("COMMIT")?,
        StatementKind::Rollback => f.write_str("ROLLBACK")?,
        StatementKind::Return(outputs) => {
            let outputs: Vec<String> = outputs.iter().map(Expr::to_string).collect();
            f.write_str(format!("RETURN {}", outputs.join(", ")).trim_end())?;
        }
        StatementKind::Sql(sql) => sql.fmt(f)?,
    }
    f.write_str(";\n")
}

/// The statement as the program says it, with its variables and INTO.
impl Display for SqlStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            SqlPart::Text(text) => f.write_str(text),
            SqlPart::Use(variable) => variable.fmt(f),
            SqlPart::Into(variables) => {
                let variables: Vec<String> = variables.iter().map(Variable::to_string).collect();
                write!(f, " INTO {}", variables.join(", "))
            }
        })
    }
}

/// `:name`
impl Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.name)
    }
}

/// With as few parentheses as the precedences allow.
impl Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Literal(value) => print_literal(f, value),
            ExprKind::Variable(name) => write!(f, ":{name}"),
            ExprKind::Negate(operand) => {
                // `--x` would be a comment, and `-5` a number.
                let bare = matches!(operand.kind, ExprKind::Variable(_));
                if bare { write!(f, "-{operand}") } else { write!(f, "-({operand})") }
            }
            ExprKind::Not(operand) => {
                f.write_str("NOT ")?;
                print_operand(f, operand, BinaryOp::NOT_PRECEDENCE + 1)
            }
            ExprKind::IsNull { operand, negated } => {
                print_operand(f, operand, BinaryOp::COMPARISON_PRECEDENCE + 1)?;
                f.write_str(if *negated { " IS NOT NULL" } else { " IS NULL" })
            }
            ExprKind::Binary { op, left, right } => {
                // To the left of a comparison stands nothing that is a comparison itself: they do not chain.
                let left_loosest = op.precedence() + u8::from(op.is_comparison());
                print_operand(f, left, left_loosest)?;
                write!(f, " {op} ")?;
                print_operand(f, right, op.precedence() + 1)
            }
        }
    }
}

/// An operand, in parentheses if it binds less tightly than it must.
fn print_operand(f: &mut fmt::Formatter<'_>, operand: &Expr, loosest: u8) -> fmt::Result {
    if precedence(operand) < loosest { write!(f, "({operand})") } else { operand.fmt(f) }
}

fn precedence(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Binary { op, .. } => op.precedence(),
        ExprKind::Not(_) => BinaryOp::NOT_PRECEDENCE,
        ExprKind::IsNull { .. } => BinaryOp::COMPARISON_PRECEDENCE,
        ExprKind::Negate(_) => BinaryOp::SIGN_PRECEDENCE,
        ExprKind::Literal(_) | ExprKind::Variable(_) => u8::MAX,
    }
}

/// As the literals of a case file, but a line break inside a string stands for itself.
fn print_literal(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        other => other.fmt(f),
    }
}

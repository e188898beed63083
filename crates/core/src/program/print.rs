//! [`Program`] → text, in canonical form: what was read and is printed reads the same again.
//!
//! Comments between statements are not part of the tree and are lost; those inside a SQL statement belong to its text.

use std::fmt::{self, Display};

use crate::program::ir::{
    BinaryOp, Expr, ExprKind, FORMAT_VERSION, Mode, Parameter, Procedure, Program, SqlPart, SqlStatement, Statement,
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
        let parameters: Vec<String> = self.parameters.iter().map(Parameter::to_string).collect();
        let autocommit = if self.autocommit { " AUTOCOMMIT" } else { "" };
        writeln!(f, "CREATE PROCEDURE {}({}){autocommit}", self.name, parameters.join(", "))?;
        writeln!(f, "BEGIN")?;
        block(f, &self.body, 1)?;
        writeln!(f, "END;")
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.mode {
            Mode::In => "",
            Mode::Out => "OUT ",
            Mode::InOut => "INOUT ",
        };
        write!(f, "{mode}{} {}", self.name, self.type_name)
    }
}

fn block(f: &mut fmt::Formatter<'_>, statements: &[Statement], depth: usize) -> fmt::Result {
    statements.iter().try_for_each(|statement| print_statement(f, statement, depth))
}

fn print_statement(f: &mut fmt::Formatter<'_>, statement: &Statement, depth: usize) -> fmt::Result {
    let indent = "  ".repeat(depth);
    f.write_str(&indent)?;
    match &statement.kind {
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
        StatementKind::While { label, condition, body } => {
            writeln!(f, "{}WHILE {condition} DO", prefix(label.as_deref()))?;
            block(f, body, depth + 1)?;
            write!(f, "{indent}END WHILE")?;
        }
        StatementKind::Loop { label, body } => {
            writeln!(f, "{}LOOP", prefix(label.as_deref()))?;
            block(f, body, depth + 1)?;
            write!(f, "{indent}END LOOP")?;
        }
        StatementKind::ForEach { label, variables, query, body } => {
            writeln!(f, "{}FOR {} IN ({query}) DO", prefix(label.as_deref()), names(variables))?;
            block(f, body, depth + 1)?;
            write!(f, "{indent}END FOR")?;
        }
        StatementKind::Block { label, body } => {
            writeln!(f, "{label}: BEGIN")?;
            block(f, body, depth + 1)?;
            write!(f, "{indent}END")?;
        }
        simple => print_simple(f, simple)?,
    }
    f.write_str(";\n")
}

/// The label before a loop.
fn prefix(label: Option<&str>) -> String {
    label.map(|label| format!("{label}: ")).unwrap_or_default()
}

fn names(variables: &[Variable]) -> String {
    variables.iter().map(|variable| variable.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// A statement without others inside.
fn print_simple(f: &mut fmt::Formatter<'_>, statement: &StatementKind) -> fmt::Result {
    match statement {
        StatementKind::Declare { variable, type_name, default } => {
            write!(f, "DECLARE {} {type_name}", variable.name)?;
            default.iter().try_for_each(|value| write!(f, " DEFAULT {value}"))
        }
        StatementKind::Assign { variable, value } => write!(f, "SET {} = {value}", variable.name),
        StatementKind::Leave(label) => f.write_str(format!("LEAVE {}", label.as_deref().unwrap_or("")).trim_end()),
        StatementKind::Iterate(label) => f.write_str(format!("ITERATE {}", label.as_deref().unwrap_or("")).trim_end()),
        StatementKind::Open { cursor, query } => write!(f, "OPEN {cursor} FOR {query}"),
        StatementKind::Fetch { cursor, variables } => write!(f, "FETCH {cursor} INTO {}", names(variables)),
        StatementKind::Close(cursor) => write!(f, "CLOSE {cursor}"),
        StatementKind::Begin => f.write_str("START TRANSACTION"),
        StatementKind::Isolation(level) => {
            write!(f, "SET TRANSACTION ISOLATION LEVEL {}", level.as_str().to_uppercase())
        }
        StatementKind::Commit => f.write_str("COMMIT"),
        StatementKind::Rollback => f.write_str("ROLLBACK"),
        StatementKind::Raise(message) => write!(f, "SIGNAL {message}"),
        StatementKind::Return(outputs) => {
            let outputs: Vec<String> = outputs.iter().map(Expr::to_string).collect();
            f.write_str(format!("RETURN {}", outputs.join(", ")).trim_end())
        }
        StatementKind::Sql(sql) => sql.fmt(f),
        _ => unreachable!("blocks and loops are printed by their own function"),
    }
}

/// The statement as the program says it, with its variables and INTO.
impl Display for SqlStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            SqlPart::Text(text) => f.write_str(&text.text),
            SqlPart::Use(variable) => variable.fmt(f),
            SqlPart::Into(into) => {
                let variables: Vec<String> = into.variables.iter().map(Variable::to_string).collect();
                let gap = if into.rule.word().is_empty() { "" } else { " " };
                write!(f, " INTO {}{gap}{}", into.rule.word(), variables.join(", "))
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
            ExprKind::Found => f.write_str("FOUND()"),
            ExprKind::RowCount => f.write_str("ROW_COUNT()"),
            ExprKind::Any => f.write_str("ANY()"),
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
        _ => u8::MAX,
    }
}

/// As the literals of a case file, but a line break inside a string stands for itself.
fn print_literal(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value {
        Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        other => other.fmt(f),
    }
}

//! The body of a procedure as a flat list of operations with jumps.
//!
//! A call must be able to stop at any statement and go on later, when the server has answered. In a list, where it
//! stopped is a number. The positions are also the nodes of the procedure's control-flow graph.
//!
//! ```text
//!   IF c THEN a; ELSE b; END IF; d;          WHILE c DO a; END WHILE; d;
//!
//!   0  unless c, to 3                        0  unless c, to 3
//!   1  a                                     1  a
//!   2  to 4                                  2  to 0
//!   3  b                                     3  d
//!   4  d
//! ```

use crate::program::ir::{Expr, Procedure, Span, SqlStatement, Statement, StatementKind};
use crate::value::Value;

/// One operation, and the statement that it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// What it does.
    pub kind: OperationKind,
    /// Where its statement stands.
    pub span: Span,
}

/// What an operation does.
#[derive(Debug, Clone, PartialEq)]
pub enum OperationKind {
    /// Gives a variable a value.
    Assign(String, Expr),
    /// Goes on at that position, unless the condition is true.
    Unless(Expr, usize),
    /// Goes on at that position.
    Jump(usize),
    /// Sends a statement to the server.
    Send(SqlStatement),
    /// Commits, if a transaction is open.
    Commit,
    /// Rolls back, if a transaction is open.
    Rollback,
    /// Ends the call with these outputs.
    Return(Vec<Expr>),
}

/// The operations of a procedure. Behind the last one, it ends.
pub fn operations(procedure: &Procedure) -> Vec<Operation> {
    let mut code = Vec::new();
    block(&procedure.body, &mut code);
    code
}

fn block(statements: &[Statement], code: &mut Vec<Operation>) {
    for statement in statements {
        lower(statement, code);
    }
}

fn lower(statement: &Statement, code: &mut Vec<Operation>) {
    let span = statement.span;
    let mut push = |kind| code.push(Operation { kind, span });
    match &statement.kind {
        StatementKind::Declare { variable, default, .. } => {
            let null = || Expr { kind: crate::program::ExprKind::Literal(Value::Null), span };
            push(OperationKind::Assign(variable.name.clone(), default.clone().unwrap_or_else(null)));
        }
        StatementKind::Assign { variable, value } => {
            push(OperationKind::Assign(variable.name.clone(), value.clone()));
        }
        StatementKind::Commit => push(OperationKind::Commit),
        StatementKind::Rollback => push(OperationKind::Rollback),
        StatementKind::Return(outputs) => push(OperationKind::Return(outputs.clone())),
        StatementKind::Sql(sql) => push(OperationKind::Send(sql.clone())),
        StatementKind::While { condition, body } => {
            let start = code.len();
            guarded(condition, body, span, code, |code| {
                code.push(Operation { kind: OperationKind::Jump(start), span });
            });
        }
        StatementKind::If { branches, otherwise } => {
            let mut exits = Vec::new();
            for branch in branches {
                guarded(&branch.condition, &branch.body, span, code, |code| {
                    exits.push(code.len());
                    code.push(Operation { kind: OperationKind::Jump(usize::MAX), span });
                });
            }
            block(otherwise, code);
            let end = code.len();
            exits.into_iter().for_each(|exit| code[exit].kind = OperationKind::Jump(end));
        }
    }
}

/// A block that is skipped unless a condition is true; `leave` adds what its end does.
fn guarded(
    condition: &Expr,
    body: &[Statement],
    span: Span,
    code: &mut Vec<Operation>,
    leave: impl FnOnce(&mut Vec<Operation>),
) {
    let guard = code.len();
    code.push(Operation { kind: OperationKind::Unless(condition.clone(), usize::MAX), span });
    block(body, code);
    leave(code);
    code[guard].kind = OperationKind::Unless(condition.clone(), code.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;

    fn check(body: &str, expect: &str) {
        let program = Program::parse(&format!("CREATE PROCEDURE p(c INT) BEGIN {body} END;")).unwrap();
        let lines: Vec<String> = operations(&program.procedures[0])
            .iter()
            .enumerate()
            .map(|(at, operation)| match &operation.kind {
                OperationKind::Assign(name, value) => format!("{at} {name} = {value}"),
                OperationKind::Unless(condition, to) => format!("{at} unless {condition} to {to}"),
                OperationKind::Jump(to) => format!("{at} to {to}"),
                OperationKind::Send(sql) => format!("{at} {sql}"),
                OperationKind::Commit => format!("{at} commit"),
                OperationKind::Rollback => format!("{at} rollback"),
                OperationKind::Return(outputs) => format!("{at} return {}", outputs.len()),
            })
            .collect();
        assert_eq!(lines.join("; "), expect);
    }

    #[test]
    fn branches_meet_behind_the_last_one() {
        check(
            "IF c = 1 THEN a; ELSEIF c = 2 THEN b; ELSE COMMIT; END IF; d;",
            "0 unless :c = 1 to 3; 1 a; 2 to 7; 3 unless :c = 2 to 6; 4 b; 5 to 7; 6 commit; 7 d",
        );
        check("IF c THEN END IF; ROLLBACK;", "0 unless :c to 2; 1 to 2; 2 rollback");
    }

    #[test]
    fn loops_go_back_to_their_condition() {
        check(
            "DECLARE n INT; WHILE n < 3 DO WHILE c DO a; END WHILE; SET n = n + 1; END WHILE; RETURN n, c;",
            "0 n = NULL; 1 unless :n < 3 to 7; 2 unless :c to 5; 3 a; 4 to 2; 5 n = :n + 1; 6 to 1; 7 return 2",
        );
    }
}

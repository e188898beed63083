//! The body of a procedure as a flat list of operations with jumps.
//!
//! A call must be able to stop at any statement and go on later, when the server has answered. In a list, where it
//! stopped is a number. The positions are also the nodes of the procedure's control-flow graph.
//!
//! ```text
//!   IF c THEN a; ELSE b; END IF; d;          WHILE c DO a; END WHILE; d;        FOR x IN (q) DO a; END FOR; d;
//!
//!   0  unless c, to 3                        0  unless c, to 3                  0  open 0: q
//!   1  a                                     1  a                               1  fetch 0 into x
//!   2  to 4                                  2  to 0                            2  unless FOUND(), to 5
//!   3  b                                     3  d                               3  a
//!   4  d                                                                        4  to 1
//!                                                                               5  close 0
//!                                                                               6  d
//! ```

use crate::level::LevelName;
use crate::program::ir::{
    Expr, ExprKind, Parameter, Procedure, Span, SqlStatement, Statement, StatementKind, Variable,
};
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
    Assign(Variable, Expr),
    /// Goes on at that position, unless the condition is true.
    Unless(Expr, usize),
    /// Goes on at that position.
    Jump(usize),
    /// Sends a statement to the server.
    Send(SqlStatement),
    /// Sends a query, and keeps its rows under that name.
    Open(String, SqlStatement),
    /// Assigns the next row that is kept under that name, if there is one.
    Fetch(String, Vec<Variable>),
    /// Forgets the rows of that name. With `true`, it ends a loop over rows, and `FOUND()` is whether there was one.
    Close(String, bool),
    /// Begins a transaction, after the end of one that is open.
    Begin,
    /// Sets the level of a transaction.
    Isolation(LevelName),
    /// Commits, if a transaction is open.
    Commit,
    /// Rolls back, if a transaction is open.
    Rollback,
    /// Ends the call with these outputs.
    Return(Vec<Expr>),
    /// Fails the call.
    Raise(Expr),
}

impl Operation {
    /// The positions that may come next, if this is the operation at `position`. One behind the last is the end.
    pub fn successors(&self, position: usize) -> Vec<usize> {
        match &self.kind {
            OperationKind::Jump(to) => vec![*to],
            OperationKind::Unless(_, to) if *to == position + 1 => vec![*to],
            OperationKind::Unless(_, to) => vec![position + 1, *to],
            OperationKind::Return(_) | OperationKind::Raise(_) => Vec::new(),
            _ => vec![position + 1],
        }
    }

    /// The variables that it gives values to.
    pub fn defines(&self) -> &[Variable] {
        match &self.kind {
            OperationKind::Assign(variable, _) => std::slice::from_ref(variable),
            OperationKind::Send(sql) => sql.defines(),
            OperationKind::Fetch(_, variables) => variables,
            _ => &[],
        }
    }

    /// The variables whose values it needs, in order of mention.
    pub fn uses(&self) -> Vec<Variable> {
        match &self.kind {
            OperationKind::Assign(_, value) | OperationKind::Raise(value) | OperationKind::Unless(value, _) => {
                value.uses()
            }
            OperationKind::Send(sql) | OperationKind::Open(_, sql) => sql.uses().cloned().collect(),
            OperationKind::Return(outputs) => outputs.iter().flat_map(Expr::uses).collect(),
            _ => Vec::new(),
        }
    }
}

/// The operations of a procedure. Behind the last one, it ends.
pub fn operations(procedure: &Procedure) -> Vec<Operation> {
    let outputs = procedure.outputs().map(output).collect();
    let mut lowering = Lowering { code: Vec::new(), outputs, targets: Vec::new(), loops: 0 };
    lowering.block(&procedure.body);
    if !lowering.outputs.is_empty() {
        let outputs = lowering.outputs.clone();
        lowering.push(OperationKind::Return(outputs), end_of(procedure.span));
    }
    lowering.code
}

fn output(parameter: &Parameter) -> Expr {
    Expr { kind: ExprKind::Variable(parameter.name.clone()), span: parameter.span }
}

/// The last byte of a span.
fn end_of(span: Span) -> Span {
    Span { start: span.end.saturating_sub(1).max(span.start), ..span }
}

/// What LEAVE and ITERATE may refer to, and the jumps that wait for where it ends.
struct Target {
    label: Option<String>,
    /// Where ITERATE goes; `None` for a block, which is no loop.
    next_round: Option<usize>,
    exits: Vec<usize>,
}

struct Lowering {
    code: Vec<Operation>,
    /// The values of the OUT parameters.
    outputs: Vec<Expr>,
    targets: Vec<Target>,
    /// How many loops over rows there are so far: their cursors are numbers, which no name of a cursor is.
    loops: usize,
}

impl Lowering {
    fn push(&mut self, kind: OperationKind, span: Span) -> usize {
        self.code.push(Operation { kind, span });
        self.code.len() - 1
    }

    fn block(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.lower(statement));
    }

    fn lower(&mut self, statement: &Statement) {
        let span = statement.span;
        let kind = match &statement.kind {
            StatementKind::Declare { variable, default, .. } => {
                let null = || Expr { kind: ExprKind::Literal(Value::Null), span };
                OperationKind::Assign(variable.clone(), default.clone().unwrap_or_else(null))
            }
            StatementKind::Assign { variable, value } => OperationKind::Assign(variable.clone(), value.clone()),
            StatementKind::Begin => OperationKind::Begin,
            StatementKind::Isolation(level) => OperationKind::Isolation(level.clone()),
            StatementKind::Commit => OperationKind::Commit,
            StatementKind::Rollback => OperationKind::Rollback,
            StatementKind::Return(outputs) if outputs.is_empty() => OperationKind::Return(self.outputs.clone()),
            StatementKind::Return(outputs) => OperationKind::Return(outputs.clone()),
            StatementKind::Raise(message) => OperationKind::Raise(message.clone()),
            StatementKind::Sql(sql) => OperationKind::Send(sql.clone()),
            StatementKind::Open { cursor, query } => OperationKind::Open(cursor.clone(), query.clone()),
            StatementKind::Fetch { cursor, variables } => OperationKind::Fetch(cursor.clone(), variables.clone()),
            StatementKind::Close(cursor) => OperationKind::Close(cursor.clone(), false),
            control => return self.control(control, span),
        };
        self.push(kind, span);
    }

    /// Statements that contain others, or that jump.
    fn control(&mut self, statement: &StatementKind, span: Span) {
        match statement {
            StatementKind::If { branches, otherwise } => {
                let mut exits = Vec::new();
                for branch in branches {
                    let guard = self.push(OperationKind::Jump(usize::MAX), span);
                    self.block(&branch.body);
                    exits.push(self.push(OperationKind::Jump(usize::MAX), span));
                    self.code[guard].kind = OperationKind::Unless(branch.condition.clone(), self.code.len());
                }
                self.block(otherwise);
                self.arrive(&exits);
            }
            StatementKind::While { label, condition, body } => {
                let start = self.push(OperationKind::Jump(usize::MAX), span);
                self.repeated(label.clone(), start, body, span, |code, end| {
                    code[start].kind = OperationKind::Unless(condition.clone(), end);
                });
            }
            StatementKind::Loop { label, body } => {
                self.repeated(label.clone(), self.code.len(), body, span, |_, _| {});
            }
            StatementKind::ForEach { label, variables, query, body } => {
                self.for_each(label.clone(), variables, query, body, span);
            }
            StatementKind::Block { label, body } => {
                self.targets.push(Target { label: Some(label.clone()), next_round: None, exits: Vec::new() });
                self.block(body);
                self.leave_target();
            }
            StatementKind::Leave(label) => self.leave(label.as_deref(), span),
            StatementKind::Iterate(label) => {
                let next_round = self.target(label.as_deref(), true).and_then(|at| self.targets[at].next_round);
                self.push(OperationKind::Jump(next_round.unwrap_or(self.code.len() + 1)), span);
            }
            _ => unreachable!("every other statement is one operation"),
        }
    }

    fn for_each(
        &mut self,
        label: Option<String>,
        variables: &[Variable],
        query: &SqlStatement,
        body: &[Statement],
        span: Span,
    ) {
        let cursor = self.loops.to_string();
        self.loops += 1;
        self.push(OperationKind::Open(cursor.clone(), query.clone()), span);
        let fetch = self.push(OperationKind::Fetch(cursor.clone(), variables.to_vec()), span);
        let guard = self.push(OperationKind::Jump(usize::MAX), span);
        self.repeated(label, fetch, body, span, |code, end| {
            code[guard].kind = OperationKind::Unless(Expr { kind: ExprKind::Found, span }, end);
        });
        self.push(OperationKind::Close(cursor, true), span);
    }

    /// The body of a loop and the way back to `start`; `guard` is told where the loop ends.
    fn repeated(
        &mut self,
        label: Option<String>,
        start: usize,
        body: &[Statement],
        span: Span,
        guard: impl FnOnce(&mut Vec<Operation>, usize),
    ) {
        self.targets.push(Target { label, next_round: Some(start), exits: Vec::new() });
        self.block(body);
        self.push(OperationKind::Jump(start), span);
        let end = self.code.len();
        guard(&mut self.code, end);
        self.leave_target();
    }

    /// The innermost target of that name; without a name, the innermost loop.
    fn target(&self, label: Option<&str>, only_loops: bool) -> Option<usize> {
        self.targets.iter().rposition(|target| {
            let is_loop = target.next_round.is_some();
            match label {
                Some(label) => target.label.as_deref() == Some(label) && (is_loop || !only_loops),
                None => is_loop,
            }
        })
    }

    /// A LEAVE without a target, which no parser lets pass, does nothing.
    fn leave(&mut self, label: Option<&str>, span: Span) {
        let exit = self.push(OperationKind::Jump(self.code.len() + 1), span);
        if let Some(at) = self.target(label, false) {
            self.targets[at].exits.push(exit);
        }
    }

    /// Behind a loop or block: here all that left it go on.
    fn leave_target(&mut self) {
        let target = self.targets.pop().expect("it was pushed before the body");
        self.arrive(&target.exits);
    }

    fn arrive(&mut self, exits: &[usize]) {
        let end = self.code.len();
        exits.iter().for_each(|exit| self.code[*exit].kind = OperationKind::Jump(end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;

    fn show(operation: &OperationKind) -> String {
        let names = |variables: &[Variable]| variables.iter().map(|v| v.name.as_str()).collect::<Vec<_>>().join(", ");
        match operation {
            OperationKind::Assign(variable, value) => format!("{} = {value}", variable.name),
            OperationKind::Unless(condition, to) => format!("unless {condition} to {to}"),
            OperationKind::Jump(to) => format!("to {to}"),
            OperationKind::Send(sql) => sql.to_string(),
            OperationKind::Open(cursor, sql) => format!("open {cursor}: {sql}"),
            OperationKind::Fetch(cursor, variables) => format!("fetch {cursor} into {}", names(variables)),
            OperationKind::Close(cursor, _) => format!("close {cursor}"),
            OperationKind::Begin => "begin".to_string(),
            OperationKind::Isolation(level) => format!("level {level}"),
            OperationKind::Commit => "commit".to_string(),
            OperationKind::Rollback => "rollback".to_string(),
            OperationKind::Return(outputs) => format!("return {}", outputs.len()),
            OperationKind::Raise(message) => format!("raise {message}"),
        }
    }

    fn check(body: &str, expect: &str) {
        let program = Program::parse(&format!("CREATE PROCEDURE p(c INT) BEGIN {body} END;")).unwrap();
        let code = operations(&program.procedures[0]);
        let lines: Vec<String> = code.iter().enumerate().map(|(at, one)| format!("{at} {}", show(&one.kind))).collect();
        assert_eq!(lines.join("; "), expect);
        for (at, operation) in code.iter().enumerate() {
            assert!(operation.successors(at).iter().all(|to| *to <= code.len()), "{at} leads nowhere");
        }
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

    #[test]
    fn loops_over_rows_are_cursors() {
        check(
            "FOR c IN (SELECT x FROM t) DO a; END FOR; d;",
            "0 open 0: SELECT x FROM t; 1 fetch 0 into c; 2 unless FOUND() to 5; 3 a; 4 to 1; 5 close 0; 6 d",
        );
    }

    #[test]
    fn leaving_and_iterating_find_their_loops() {
        check(
            "out: LOOP LOOP LEAVE; LEAVE out; ITERATE out; END LOOP; a; END LOOP; b;",
            "0 to 4; 1 to 6; 2 to 0; 3 to 0; 4 a; 5 to 0; 6 b",
        );
        check("all: BEGIN IF c THEN LEAVE all; END IF; a; END; b;", "0 unless :c to 3; 1 to 4; 2 to 3; 3 a; 4 b");
    }

    #[test]
    fn output_parameters_are_returned() {
        let text = "CREATE PROCEDURE p(a INT, OUT b INT, INOUT c INT) BEGIN IF a THEN RETURN; END IF; x; END;";
        let code = operations(&Program::parse(text).unwrap().procedures[0]);
        let returns = code.iter().filter(|one| show(&one.kind) == "return 2").count();
        assert_eq!((returns, code.len()), (2, 5));
        let last = code.last().unwrap().uses();
        assert_eq!(last.iter().map(|variable| variable.name.as_str()).collect::<Vec<_>>(), ["b", "c"]);
    }
}

//! Programs: the procedures of an application, with their SQL, control flow and commit points.
//!
//! A frozen list of statements is not what an application does. Two calls of `withdraw` that both find 100 in the
//! account both withdraw; run one after the other, the second finds 20 and takes its *else* branch. So a case may hold
//! calls instead of statements, and whoever runs it again, in another order or reduced, runs the *program* again:
//!
//! ```text
//!   a: withdraw(account=1, amount=80)        b: withdraw(account=1, amount=80)
//!   BEGIN
//!   SELECT balance … WHERE id = 1   → 100
//!                                            BEGIN
//!                                            SELECT balance … WHERE id = 1   → 20, had a committed before
//!   UPDATE … SET balance = 100 - 80 …
//!   COMMIT
//!                                            INSERT INTO refusals …          ← another statement, not another value
//! ```
//!
//! # The notation
//!
//! A small procedural SQL, the common part of what MySQL's procedures and PL/pgSQL look like:
//!
//! ```text
//! program    = [ "-- @program 1" ] { procedure }
//! procedure  = CREATE PROCEDURE name "(" [ parameter { "," parameter } ] ")" [ AUTOCOMMIT ] BEGIN { statement } END ";"
//! parameter  = [ IN | OUT | INOUT ] name type
//! statement  = DECLARE name type [ DEFAULT expr ] ";"
//!            | SET name "=" expr ";"
//!            | IF expr THEN { statement } { ELSEIF expr THEN { statement } } [ ELSE { statement } ] END IF ";"
//!            | [ label ":" ] WHILE expr DO { statement } END WHILE ";"
//!            | [ label ":" ] LOOP { statement } END LOOP ";"
//!            | [ label ":" ] FOR name { "," name } IN "(" query ")" DO { statement } END FOR ";"
//!            | label ":" BEGIN { statement } END ";"
//!            | LEAVE [ label ] ";" | ITERATE [ label ] ";"
//!            | OPEN cursor FOR query ";" | FETCH cursor INTO name { "," name } ";" | CLOSE cursor ";"
//!            | START TRANSACTION ";" | SET TRANSACTION ISOLATION LEVEL level ";" | COMMIT ";" | ROLLBACK ";"
//!            | RETURN [ expr { "," expr } ] ";" | SIGNAL expr ";"
//!            | SQL of any dialect, up to ";"
//! expr       = literals, variables, OR AND NOT, = <> < <= > >=, IS [NOT] NULL, ||, + - * / DIV %,
//!              parentheses, FOUND() ROW_COUNT() ANY()
//! ```
//!
//! Inside SQL a variable is always `:name`, so that it cannot be taken for a column; in expressions the colon is
//! optional. `INTO [ KEEP | FIRST | STRICT ] :a, :b` in a SELECT (or after RETURNING) assigns the columns of the one row
//! that comes back. Names are lower-cased; types are kept as text and not enforced.
//!
//! # The parts
//!
//! 1. [`parse`]: text → [`Program`], with errors that name line and column and show the line
//! 2. [`ir`]: the tree that the parser builds, each node with its [`Span`]
//! 3. [`mod@print`]: the tree → text, in canonical form; `parse(print(p)) == p`
//! 4. [`code`]: the tree → a flat list of operations, whose positions are also the nodes of the control-flow graph
//! 5. [`evaluate`]: expressions on [`Value`](crate::value::Value)s, with SQL's three-valued logic and exact decimals
//! 6. [`interpret`]: a call of a procedure as a source of messages: it decides each from the answer to the one before. A
//!    server waits for it, so names and texts are made ready before (`compile`, `template`, `frame`)
//! 7. [`schema`]: tables, keys and constraints, from CREATE TABLE and what dump tools write
//! 8. [`access`]: what each statement reads and writes, of which rows; where host variables come from and go to
//! 9. [`front`]: procedures of MySQL and PL/pgSQL, and files of definitions, into the same tree
//! 10. [`paths`]: arguments and rows that make calls follow chosen ways
//!
//! # Limits
//!
//! No exception handlers, no calls between procedures, no dynamic SQL.

pub mod ir;
pub mod parse;
mod expression;
mod loops;
mod pieces;
mod cursor;
pub mod print;
pub mod code;
mod frame;
pub mod evaluate;
mod decimal;
mod template;
mod compile;
pub mod interpret;
pub mod state;
mod failure;
pub mod diagnostic;
mod located;
pub mod predicate;
pub mod selection;
pub mod schema;
pub mod access;
pub mod front;
pub mod paths;
#[cfg(test)]
mod tests;

pub use diagnostic::{Diagnostic, Severity};
pub use frame::Variables;
pub use ir::{
    BinaryOp, Branch, Expr, ExprKind, IntoClause, IntoRule, Mode, Parameter, Procedure, Program, Span, SqlPart,
    SqlStatement, SqlText, Statement, StatementKind, Variable,
};
pub use located::Language;
pub use parse::{ProgramSyntaxError, is_reserved};

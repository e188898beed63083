//! What the lowering has said, as a person would have written it. Nothing changes in what it means.
//!
//! ```text
//!   SET stmt_1 = :x;                                   DECLARE b INT;
//!   OPEN rs FOR SELECT b FROM t WHERE a = :stmt_1;     SELECT b INTO FIRST :b FROM t WHERE a = :x;
//!   FETCH rs INTO rs_b;                           →    IF NOT FOUND() THEN
//!   SET found = FOUND();                                 …
//!   IF NOT :found THEN … END IF;
//!   DECLARE b INT DEFAULT :rs_b;
//! ```
//!
//! 1. `labels`: blocks that are only left at their ends are no blocks
//! 2. `cursors`: a query of which one row is fetched is a `SELECT … INTO`; one that is fetched to its end is a `FOR`
//! 3. `copies`: a variable of ours that only repeats another one is that one
//! 4. `once`: a loop that only an error of the database can make go round again is its body
//! 5. `nulls`: NULL if it is NULL, and otherwise itself, is itself
//! 6. `columns`: a column that goes to a variable of the source goes there at once
//! 7. `unused`: what nobody asks for is not computed

mod columns;
mod copies;
mod cursors;
pub(crate) use cursors::with_into;
mod labels;
mod nulls;
mod once;
mod unused;
pub(crate) mod walk;

use std::collections::BTreeSet;

use txloom_core::program::{Procedure, StatementKind};

/// How often the passes may find something new to do.
const ROUNDS_MAX: usize = 4;

/// Makes a procedure readable; `made_up` are the variables that do not stand in the source, `single` the cursors that
/// have one row at most.
pub(crate) fn tidy(procedure: &mut Procedure, made_up: &BTreeSet<String>, single: &BTreeSet<String>) {
    let body = &mut procedure.body;
    labels::tidy(body);
    cursors::tidy(body, single);
    for _ in 0..ROUNDS_MAX {
        let before = walk::count(body);
        copies::tidy(body, made_up);
        unused::tidy(body);
        once::tidy(body);
        nulls::tidy(body);
        labels::tidy(body);
        if walk::count(body) == before {
            break;
        }
    }
    for _ in 0..2 {
        columns::tidy(body, made_up);
        unused::tidy(body);
    }
    unused::declare_late(body);
    if matches!(body.last().map(|last| &last.kind), Some(StatementKind::Return(outputs)) if outputs.is_empty()) {
        body.pop();
    }
    let used = walk::mentioned(body);
    procedure.parameters.retain(|parameter| used.contains(&parameter.name));
}

//! Which reads matter.
//!
//! # The problem
//!
//! Two calls that read `x` and then overwrite it with values of their own are not serializable (both read the old `x`),
//! and nobody will ever know: the database ends up as after a serial run. CLOTHO (§4.2) calls such an anomaly
//! *external*, and does not tell of it unless it is asked to:
//!
//! ```text
//!   SELECT n INTO :old …        nobody looks at :old           SELECT n INTO :old …      :old goes into a write
//!   UPDATE … SET n = :new                                      UPDATE … SET n = :old + 10
//! ```
//!
//! # The idea
//!
//! A read is *used* if what it found can reach a write (its values, or the choice of its rows), or a decision. That is
//! liveness of variables, with other uses than usual: backwards through the graph of the procedure, a variable is
//! needed where some way leads to a use that matters before the variable gets another value. A read that defines a
//! variable which is needed makes the variables in its own condition needed, and so on to any depth. The rows of a
//! cursor are variables as well, one for each column and one for which rows there are, and so is `FOUND()`.
//!
//! * Every branch counts as a decision, and so does every loop over rows: how many there are decides how often it is
//!   done.
//! * What goes to OUT parameters alone, or into the message of a failure, does not count.
//! * What a write looks at counts always: its conditions, and the `x` of `SET x = x + 1`.
//! * Columns are told apart: of `SELECT a, b INTO :x, :y` only `a` counts if nobody needs `:y`.
//!
//! # Where this differs from the paper
//!
//! §5.1 says it in another way: for internal anomalies, `ST` is replaced by `ST⁺`, which "requires that no data
//! dependency exists" between the two statements. Taken by the letter, the lost update itself would be no internal
//! anomaly, since its UPDATE depends on its SELECT. §4.2 says what is meant: a read is left out if it does "not impact
//! a transaction's control flow or any of later write effects". We follow §4.2.

use std::collections::BTreeSet;

use crate::program::access::{Effect, Node, ProcedureAccess, TableAccess};
use crate::program::code::OperationKind;
use crate::program::ir::{Expr, ExprKind, IntoRule};
use crate::program::predicate::{Element, Term};

/// What matters of the reads of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needs {
    /// Whether it matters at all what is found.
    pub rows: bool,
    /// Columns of the answer whose values nobody needs.
    pub idle: BTreeSet<Element>,
}

impl Needs {
    /// Whether the value of a column matters that one of the node's accesses reads.
    pub fn column(&self, access: &TableAccess, column: &str) -> bool {
        let is_idle = |idle: &Element| idle.table == access.table && idle.column == column;
        self.rows && !self.idle.iter().any(is_idle)
    }
}

/// Something that has a value while a procedure runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cell<'a> {
    /// A host variable.
    Variable(&'a str),
    /// How many rows the last statement or FETCH had: `FOUND()`, `ROW_COUNT()`.
    Count,
    /// A column of the rows that are kept under a name.
    Kept(&'a str, usize),
    /// Which rows are kept under a name.
    Rows(&'a str),
}

type Cells<'a> = BTreeSet<Cell<'a>>;

/// For each node of a procedure, what matters of its reads.
pub fn used(access: &ProcedureAccess) -> Vec<Needs> {
    let behind = needed_behind(access);
    access.nodes.iter().zip(&behind).map(|(node, behind)| needs(node, behind)).collect()
}

/// For each node, the cells that are needed behind it.
fn needed_behind(access: &ProcedureAccess) -> Vec<Cells<'_>> {
    let mut before: Vec<Cells<'_>> = vec![Cells::new(); access.nodes.len() + 1];
    let mut behind: Vec<Cells<'_>> = vec![Cells::new(); access.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, node) in access.nodes.iter().enumerate().rev() {
            let needed: Cells<'_> = node.successors.iter().flat_map(|next| before[*next].iter().copied()).collect();
            let entering = transfer(node, &needed);
            changed |= entering != before[at];
            before[at] = entering;
            behind[at] = needed;
        }
    }
    behind
}

/// The cells that are needed before a node, given those that are needed behind it.
fn transfer<'a>(node: &'a Node, behind: &Cells<'a>) -> Cells<'a> {
    let mut before = behind.clone();
    match &node.operation.kind {
        OperationKind::Assign(variable, value) => {
            let is_needed = before.remove(&Cell::Variable(&variable.name));
            is_needed.then(|| mentioned(value, &mut before));
        }
        OperationKind::Unless(condition, _) => mentioned(condition, &mut before),
        OperationKind::Send(sql) => {
            let is_used = needs(node, behind).rows || (node.access.tables.is_empty() && defines_needed(node, behind));
            if sql.into_clause().is_none_or(|into| into.rule != IntoRule::Keep) {
                before.retain(|cell| !sql.defines().iter().any(|one| *cell == Cell::Variable(&one.name)));
            }
            before.remove(&Cell::Count);
            if is_used {
                before.extend(node.uses.iter().map(|used| Cell::Variable(&used.variable.name)));
            }
        }
        OperationKind::Open(cursor, _) => {
            before.retain(|cell| *cell != Cell::Rows(cursor) && !matches!(cell, Cell::Kept(of, _) if of == cursor));
            before.remove(&Cell::Count);
            if needs(node, behind).rows {
                before.extend(node.uses.iter().map(|used| Cell::Variable(&used.variable.name)));
            }
        }
        OperationKind::Fetch(cursor, variables) => {
            // Without a row the variables stay, so they are needed before, too.
            for (at, _) in variables.iter().enumerate().filter(|(_, one)| behind.contains(&Cell::Variable(&one.name))) {
                before.extend([Cell::Kept(cursor, at), Cell::Rows(cursor)]);
            }
            let is_needed = before.remove(&Cell::Count);
            before.extend(is_needed.then_some(Cell::Rows(cursor)));
        }
        OperationKind::Close(cursor, true) => {
            let is_needed = before.remove(&Cell::Count);
            before.extend(is_needed.then_some(Cell::Rows(cursor)));
        }
        _ => {}
    }
    before
}

/// The cells that an expression mentions.
fn mentioned<'a>(expr: &'a Expr, cells: &mut Cells<'a>) {
    match &expr.kind {
        ExprKind::Variable(name) => drop(cells.insert(Cell::Variable(name))),
        ExprKind::Found | ExprKind::RowCount => drop(cells.insert(Cell::Count)),
        ExprKind::Negate(operand) | ExprKind::Not(operand) | ExprKind::IsNull { operand, .. } => {
            mentioned(operand, cells);
        }
        ExprKind::Binary { left, right, .. } => {
            mentioned(left, cells);
            mentioned(right, cells);
        }
        ExprKind::Literal(_) | ExprKind::Any => {}
    }
}

fn defines_needed(node: &Node, behind: &Cells<'_>) -> bool {
    node.defines.iter().any(|one| behind.contains(&Cell::Variable(&one.variable.name)))
}

/// What matters of a node's reads, given the cells that are needed behind it.
fn needs(node: &Node, behind: &Cells<'_>) -> Needs {
    if node.access.tables.is_empty() {
        return Needs::default();
    }
    let is_write = node.access.tables.iter().any(|access| access.effect != Effect::Read);
    let (wanted, decides): (Vec<bool>, bool) = match &node.operation.kind {
        OperationKind::Send(sql) => {
            let wanted = node.defines.iter().map(|one| behind.contains(&Cell::Variable(&one.variable.name)));
            // With STRICT, a row that is missing ends the call: a decision. Of a sum there is always one.
            let is_strict = sql.into_clause().is_some_and(|into| into.rule == IntoRule::Strict);
            let has_one_row = node.access.selection.as_ref().is_some_and(|one| one.is_exact && one.is_one_row());
            (wanted.collect(), (is_strict && !has_one_row) || behind.contains(&Cell::Count))
        }
        OperationKind::Open(cursor, _) => {
            let columns = 0..node.access.outputs.len();
            let wanted = columns.map(|at| behind.contains(&Cell::Kept(cursor, at)));
            (wanted.collect(), behind.contains(&Cell::Rows(cursor)) || behind.contains(&Cell::Count))
        }
        _ => (Vec::new(), false),
    };
    let rows = is_write || decides || wanted.contains(&true);
    Needs { rows, idle: if rows { idle(node, &wanted) } else { BTreeSet::new() } }
}

/// The columns of the answer whose values nobody needs, if it is sure that they are read for nothing else.
fn idle(node: &Node, wanted: &[bool]) -> BTreeSet<Element> {
    let is_wanted = |at: usize| wanted.get(at).copied().unwrap_or(false);
    let outputs = || node.access.outputs.iter().enumerate();
    let mut idle: BTreeSet<Element> =
        outputs().filter(|(at, _)| !is_wanted(*at)).flat_map(|(_, output)| output.origins.iter().cloned()).collect();
    let needed: BTreeSet<&Element> =
        outputs().filter(|(at, _)| is_wanted(*at)).flat_map(|(_, output)| &output.origins).collect();
    let computed: BTreeSet<Element> =
        assigned(node).flat_map(|(_, assigned)| assigned.value.origins().into_iter()).collect();
    let groups = node.access.selection.iter().flat_map(|one| one.groups.iter().flatten());
    let having = node.access.selection.iter().flat_map(|one| one.having.origins());
    let grouping: BTreeSet<Element> = groups.flat_map(Term::origins).chain(having).collect();
    idle.retain(|element| {
        // Mentioned twice, a table may be read for two reasons; and what an upsert reads is not told apart.
        let mut accesses = node.access.tables.iter().filter(|access| access.table == element.table);
        let is_plain = accesses.next().is_some_and(|access| access.effect != Effect::Upsert);
        let is_needed = needed.contains(element) || computed.contains(element) || grouping.contains(element);
        is_plain && accesses.next().is_none() && !is_needed
    });
    idle
}

fn assigned(node: &Node) -> impl Iterator<Item = (&TableAccess, &crate::program::access::Assigned)> {
    node.access.tables.iter().flat_map(|access| access.assigned.iter().map(move |assigned| (access, assigned)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::front;
    use crate::program::schema::Schema;

    const TABLES: &str = "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT);
        CREATE TABLE u (id INT PRIMARY KEY, t_id INT, c INT);\n";

    /// For each statement that touches tables: `-` if nobody needs it, else `+` with the columns that are idle.
    #[track_caller]
    fn check(body: &str, expect: &str) {
        let text = format!(
            "-- @program 1\n{TABLES}\
             CREATE PROCEDURE p(k INT, OUT o INT) BEGIN DECLARE x INT; DECLARE y INT; {body} END;"
        );
        let reading = front::read(&text, &Schema::default());
        assert_eq!(reading.diagnostics, [], "{body}");
        let access = &reading.accesses[0];
        let show = |(node, needs): (&Node, &Needs)| {
            let idle: Vec<String> = needs.idle.iter().map(ToString::to_string).collect();
            let mark = if needs.rows { format!("+{}", idle.join(",")) } else { "-".to_string() };
            (!node.access.tables.is_empty()).then_some(mark)
        };
        let found: Vec<String> = access.nodes.iter().zip(&used(access)).filter_map(show).collect();
        assert_eq!(found.join(" "), expect, "{body}");
    }

    #[test]
    fn what_reaches_a_write_is_used() {
        check("SELECT a INTO :x FROM t WHERE id = :k; UPDATE t SET a = :x + 1 WHERE id = :k;", "+ +");
        check("SELECT a INTO :x FROM t WHERE id = :k; UPDATE t SET a = 1 WHERE id = :k;", "- +");
        check("SELECT a INTO :x FROM t WHERE id = :k; UPDATE t SET a = 1 WHERE id = :x;", "+ +");
        check(
            "SELECT a INTO :x FROM t WHERE id = :k; SET y = :x * 2; SET x = 0; INSERT INTO u VALUES (1, :y, 2);",
            "+ +",
        );
        check("SELECT a INTO :x FROM t WHERE id = :k; SET x = 3; INSERT INTO u VALUES (1, :x, 2);", "- +");
        check("INSERT INTO u VALUES (1, 2, 3); SELECT a INTO :x FROM t WHERE id = :k;", "+ -");
    }

    #[test]
    fn chains_of_reads_are_followed() {
        let chain = "SELECT a INTO :x FROM t WHERE id = :k; SELECT c INTO :y FROM u WHERE t_id = :x;";
        check(chain, "- -");
        check(&format!("{chain} DELETE FROM t WHERE a = :y;"), "+ + +");
    }

    #[test]
    fn decisions_count_and_outputs_do_not() {
        check("SELECT a INTO :x FROM t WHERE id = :k; IF :x > 0 THEN SET o = 1; END IF;", "+");
        check("SELECT a INTO :o FROM t WHERE id = :k;", "-");
        check("SELECT a INTO :x FROM t WHERE id = :k; SET o = :x; RETURN :x;", "-");
        check("SELECT a FROM t WHERE id = :k;", "-");
        check("SELECT a INTO STRICT :x FROM t WHERE id = :k;", "+t.a");
        check("SELECT SUM(a) INTO STRICT :x FROM t;", "-");
        check(
            "SELECT a INTO STRICT :x FROM t WHERE id = :k; SELECT COUNT(*) INTO STRICT :o FROM u WHERE c = :x;",
            "+t.a -",
        );
        check("SELECT a INTO :x FROM t WHERE id = :k; IF FOUND() THEN SET o = 1; END IF;", "+t.a");
        check("SELECT a INTO :x FROM t; UPDATE t SET a = 1; IF FOUND() THEN SET o = 1; END IF;", "- +");
    }

    #[test]
    fn columns_are_told_apart() {
        check("SELECT a, b INTO :x, :y FROM t WHERE id = :k; UPDATE u SET c = :y;", "+t.a +");
        check("SELECT a + b, b INTO :x, :y FROM t WHERE id = :k; UPDATE u SET c = :x;", "+ +");
        check("SELECT s.a, r.b INTO :x, :y FROM t s, t r; UPDATE u SET c = :x;", "+ +");
        check("UPDATE t SET a = a + 1 WHERE id = :k RETURNING a, b INTO :x, :y;", "+t.b");
        check("INSERT INTO u SELECT id, a, b FROM t;", "+");
    }

    #[test]
    fn loops_over_rows_are_decisions() {
        check("FOR x, y IN (SELECT a, b FROM t) DO SET o = :x; END FOR;", "+t.a,t.b");
        check("FOR x, y IN (SELECT a, b FROM t) DO UPDATE u SET c = :x; END FOR;", "+t.b +");
        check("OPEN c FOR SELECT a, b FROM t; FETCH c INTO :x, :y; UPDATE u SET c = :y; CLOSE c;", "+t.a +");
        check("OPEN c FOR SELECT a, b FROM t; FETCH c INTO :x, :y; CLOSE c;", "-");
        let keeps = "SELECT a INTO :x FROM t; SELECT b INTO KEEP :x FROM t; UPDATE u SET c = :x;";
        check(keeps, "+ + +");
        check(&keeps.replace("KEEP", "FIRST"), "- + +");
    }

    #[test]
    fn a_loop_brings_values_back() {
        check("WHILE :k > 0 DO UPDATE u SET c = :x; SELECT a INTO :x FROM t; END WHILE;", "+ +");
    }
}

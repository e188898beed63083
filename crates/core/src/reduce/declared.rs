//! Constraints that a case declares, which an assertion about them rests on.

use sqlparser::ast::{ColumnOption, CreateTable, Statement};

use super::parse_statement;
use crate::case::{Assert, Case, Line};
use crate::oracle::invariant;
use crate::sql::tokens;

/// The number of constraints that the setup declares for the tables of an assertion, which is given by the kind of its
/// violation. `None` if there is no such assertion.
pub(super) fn constraint_count(case: &Case, kind: &str) -> Option<usize> {
    let asserts = case.entries.iter().filter_map(|entry| match &entry.line {
        Line::Assert(assert) => Some(assert),
        _ => None,
    });
    let assert = asserts.into_iter().find(|assert| invariant::kind(&assert.name) == kind)?;
    let tables = case.setup().into_iter().filter_map(|text| match parse_statement(&text)? {
        Statement::CreateTable(create) if speaks_of(assert, &create) => Some(create),
        _ => None,
    });
    Some(tables.map(|create| constraints(&create)).sum())
}

fn speaks_of(assert: &Assert, create: &CreateTable) -> bool {
    let name = create.name.to_string();
    tokens(&assert.sql).iter().any(|token| token.text.eq_ignore_ascii_case(&name))
}

fn constraints(create: &CreateTable) -> usize {
    let is_constraint = |option: &ColumnOption| {
        use ColumnOption::{Check, ForeignKey, NotNull, PrimaryKey, Unique};
        matches!(option, NotNull | Unique(..) | PrimaryKey(..) | ForeignKey(..) | Check(..))
    };
    let of_columns = create.columns.iter().flat_map(|column| &column.options);
    create.constraints.len() + of_columns.filter(|option| is_constraint(&option.option)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::parse;

    #[test]
    fn constraints_of_the_assertions_tables_count() {
        let text = "-- @case 1\n-- @assert each u foreign key b: SELECT * FROM u WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.a = u.b)\n\
            /*init*/ CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL CHECK (b > 0));\n\
            /*init*/ CREATE TABLE u (b INT, UNIQUE (b), FOREIGN KEY (b) REFERENCES t (a));\n\
            /*init*/ CREATE TABLE v (a INT PRIMARY KEY);\n/*a*/ INSERT INTO u VALUES (1);\n";
        let case = parse(text).unwrap();
        assert_eq!(constraint_count(&case, &invariant::kind("u foreign key b")), Some(5));
        assert_eq!(constraint_count(&case, "serial-result"), None);
    }
}

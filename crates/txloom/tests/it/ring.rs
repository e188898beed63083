//! A ring of MariaDB servers: what a partition does to an application, for real.

use std::sync::Arc;

use txloom::corpus;
use txloom_core::case::{self, Case, Line, Sql};
use txloom_core::oracle::calls::Calls;
use txloom_core::oracle::{Oracle, Verdict};
use txloom_core::program::interpret::CallEnd;
use txloom_core::trace::Trace;

use crate::support::{limited, output, run, runner};

/// Two payments of one customer, at two nodes that do not hear of each other.
const PAYMENTS: &str = "\
-- @case 1
-- Two payments to one warehouse, taken at two nodes: one of them is lost, at each node another one.
-- @node a 1
-- @node b 2
-- @assert end CR8, W_YTD = sum(H_AMOUNT): SELECT w_id, w_ytd, SUM(h_amount) FROM warehouse JOIN history ON h_w_id = w_id \
GROUP BY w_id, w_ytd HAVING w_ytd <> SUM(h_amount)
-- @partition 1|2
/*a*/ -- call payment(p_w_id=1, p_d_id=1, p_c_w_id=1, p_c_d_id=1, p_c_id=1, p_c_last=NULL, p_amount=100, p_now=101)
/*b*/ -- call payment(p_w_id=1, p_d_id=1, p_c_w_id=1, p_c_d_id=1, p_c_id=1, p_c_last=NULL, p_amount=7, p_now=102)
-- @heal
";

/// The case with the tables and rows of TPC-C.
fn payments() -> Case {
    let program = corpus::program("tpcc").expect("it is part of the corpus");
    let source = program.source("mariadb.sql").expect("it is written for MariaDB");
    let mut case = case::parse(PAYMENTS).unwrap_or_else(|error| panic!("{error}"));
    let setup = program.definitions().setup;
    let lines = setup.iter().map(|sql| Line::Init(Sql::new(sql).expect("a statement"), Vec::new()).into());
    case.entries.splice(0..0, lines);
    case.program = Some(Arc::new(program.read(source).program));
    case
}

/// A table at the end, row by row, as far as it was told.
fn rows(trace: &Trace, table: &str) -> Option<Vec<String>> {
    let result = trace.final_state.as_ref()?.tables.get(table)?;
    let rows = trace.engine.dialect.values(result);
    Some(rows.iter().map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")).collect())
}

/// An update of TPC-C's payment is lost, and the servers disagree for ever about which one.
#[test]
fn a_payment_is_lost_for_real() {
    limited(|| {
        let case = payments();
        let mut runner = runner("mariadb-ring:2");
        let verdict = Calls::default().judge(&case, &mut runner).unwrap();
        let Verdict::Violated(findings) = verdict else { panic!("nothing was lost: {verdict:?}") };
        let trace = &findings[0].trace;
        assert!(trace.calls.iter().all(|run| run.call.end == CallEnd::Returned), "{:?}", trace.calls);
        assert!(trace.calls.len() == 2 && trace.checks.iter().any(|check| !check.holds()), "{:?}", trace.checks);
        // 6000 + 100 and 6000 + 7: each server has heard of the other's payment last.
        let of_house =
            |table: &str| rows(trace, table).unwrap_or_default().into_iter().find(|row| row.starts_with("1, "));
        let (first, second) = (of_house("warehouse").unwrap(), of_house("node2.warehouse").unwrap());
        assert!(first.contains("6007") && second.contains("6100"), "{first}; {second}");
        for table in ["node2.district", "node2.customer"] {
            assert!(rows(trace, table).is_some(), "{table} differs as well");
        }
        assert_eq!(rows(trace, "node2.history"), None, "rows that were inserted are there everywhere");
        assert!(rows(trace, "history").unwrap().len() >= 2);
    });
}

/// The same calls on connected servers, one after the other.
#[test]
fn connected_servers_lose_nothing() {
    limited(|| {
        let mut case = payments();
        case.entries.retain(|entry| !matches!(entry.line, Line::Event(_)));
        let trace = run(&mut runner("mariadb-ring:2"), &case);
        assert!(trace.calls.iter().all(|run| run.call.end == CallEnd::Returned), "{:?}", trace.calls);
        assert!(trace.checks.iter().all(|check| check.holds()), "{:?}", trace.checks);
        let tables: Vec<&String> = trace.final_state.iter().flat_map(|state| state.tables.keys()).collect();
        assert!(tables.iter().all(|name| !name.contains('.')), "{tables:?}");
    });
}

#[test]
fn the_command_line_tells_of_divergence() {
    limited(|| {
        let run = output(&["run", "corpus/replicas/lost-update.sql", "--on", "mariadb-ring:2"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stdout.contains("Final state of node2.account"), "{run:?}");
        let run = output(&["run", "corpus/replicas/long-fork.sql", "--on", "mariadb-ring:2", "--twice"]);
        assert_eq!(run.code, 0, "{run:?}");
    });
}

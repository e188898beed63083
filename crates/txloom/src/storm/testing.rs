//! What tests of workloads share: a session that is played without a server, and invariants that are broken by hand.

use txloom_core::dialect::Sqlite;
use txloom_core::outcome::{Column, Outcome, StatementResult, TxStatus};

use super::log::Log;
use super::workload::{Answer, Next, Transactions};

/// An answer as SQLite gives it: cells with their storage class.
fn outcome(cells: Option<&[String]>) -> Outcome {
    let result = match cells {
        None => StatementResult { affected: Some(1), ..StatementResult::default() },
        Some(cells) => StatementResult {
            columns: cells.iter().map(|_| Column { name: "c".to_string(), type_name: String::new() }).collect(),
            rows: vec![cells.iter().map(|cell| Some(cell.clone().into_bytes())).collect()],
            ..StatementResult::default()
        },
    };
    Outcome { results: vec![result], ..Outcome::empty(TxStatus::Open) }
}

/// The statements of so many transactions, if every query is answered by the same row.
pub(super) fn statements(session: &mut dyn Transactions, transactions: usize, row: &[&str]) -> Vec<String> {
    let row: Vec<String> = row.iter().map(|cell| format!("i{cell}")).collect();
    let (mut all, mut log) = (Vec::new(), Log::default());
    for _ in 0..transactions {
        session.begin();
        while let Next::Execute(sql) = session.next() {
            let outcome = outcome(sql.starts_with("SELECT").then_some(&row));
            session.answered(&Answer { dialect: &Sqlite, outcome: &outcome }, &mut log);
            all.push(sql);
        }
    }
    all
}

/// One transaction, answered by a function: numbers of a row, or `None` for one row changed. Returns how it ended.
pub(super) fn play(session: &mut dyn Transactions, answer: &mut dyn FnMut(&str) -> Option<Vec<i64>>) -> Next {
    let mut log = Log::default();
    session.begin();
    loop {
        let Next::Execute(sql) = session.next() else { return session.next() };
        let cells = answer(&sql).map(|row| row.iter().map(|number| format!("i{number}")).collect::<Vec<_>>());
        session.answered(&Answer { dialect: &Sqlite, outcome: &outcome(cells.as_deref()) }, &mut log);
    }
}

/// On SQLite: the invariants hold of the initial rows and after a storm; and each of them notices the damage that is named
/// with it, done by hand.
#[cfg(feature = "sqlite")]
pub(super) fn check_invariants(workload: &dyn super::Workload, transactions: u64, damage: &[(&str, &str)]) {
    use super::{Budget, Scale, Storm};
    use crate::engines::{self, Target};

    let mut engine = engines::open(&Target::parse("sqlite").unwrap()).unwrap();
    let invariants = workload.invariants();
    for invariant in &invariants {
        assert!(damage.iter().any(|(name, _)| *name == invariant.name), "nobody breaks {}", invariant.name);
    }

    let outcomes = engine.reset(&workload.setup()).unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.error.is_none()), "{outcomes:?}");
    super::populate::populate(workload, engine.as_mut(), &mut ()).unwrap();
    for invariant in &invariants {
        let outcome = engine.probe(&invariant.query).unwrap();
        assert!(outcome.error.is_none() && outcome.rows().unwrap().rows.is_empty(), "{invariant:?} {outcome:?}");
    }

    let scale = Scale { sessions: 4, ..Scale::default() };
    let budget = Budget { only_commits: true, ..Budget::transactions(transactions) };
    let storm = Storm { budget, ..Storm::new(workload, scale) };
    let summary = storm.run(engine.as_mut(), &mut ()).unwrap();
    assert!(summary.breaches.is_empty() && summary.damage.is_empty() && summary.troubles.is_empty(), "{summary:?}");
    assert_eq!(summary.invariants, invariants.len());
    assert!(summary.tally.committed == transactions, "{:?}", summary.tally);

    for (name, damage) in damage {
        let invariant = invariants.iter().find(|invariant| invariant.name == *name).unwrap();
        let script = format!("SAVEPOINT damage; {damage}; {}; ROLLBACK TO damage; RELEASE damage", invariant.query);
        let outcome = engine.probe(&script).unwrap();
        assert!(outcome.error.is_none(), "{name}: {outcome:?}");
        assert!(!outcome.rows().unwrap().rows.is_empty(), "{name}: {damage}");
    }
}

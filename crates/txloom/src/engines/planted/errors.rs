//! `missing-error` and `unexpected-error`.

use txloom_core::engine::EngineError;
use txloom_core::outcome::{DbError, ErrorClass, Outcome, StatementResult, TxStatus};
use txloom_core::sql::write::{Verb, Write};

use super::Defect;
use super::session::{Below, View};

/// Inside a transaction, a write that violates a primary key or unique constraint writes nothing, and reports that it went
/// well.
pub(super) struct MissingError;

/// The second UPDATE of a table within a transaction, beside another one, fails.
pub(super) struct UnexpectedError;

/// On some engines a statement that fails takes its transaction with it: this brings it back.
const SAVEPOINT: &str = "txloom_planted";

impl Defect for MissingError {
    fn execute(&self, sql: &str, view: &View<'_>, below: &mut Below<'_>) -> Result<Outcome, EngineError> {
        if !view.transaction.is_open() || Write::read(sql).is_none() {
            return below.execute(sql);
        }
        below.execute_hidden(&format!("SAVEPOINT {SAVEPOINT}"))?;
        let mut outcome = below.execute(sql)?;
        let swallowed = outcome.error_class() == Some(ErrorClass::Unique);
        if swallowed && outcome.status == TxStatus::Failed {
            outcome.status = below.execute_hidden(&format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))?.status;
        }
        if outcome.status == TxStatus::Open {
            below.execute_hidden(&format!("RELEASE SAVEPOINT {SAVEPOINT}"))?;
        }
        if swallowed {
            outcome.error = None;
            outcome.results = vec![StatementResult { affected: Some(0), ..StatementResult::default() }];
        }
        Ok(outcome)
    }
}

impl Defect for UnexpectedError {
    fn execute(&self, sql: &str, view: &View<'_>, below: &mut Below<'_>) -> Result<Outcome, EngineError> {
        let again = Write::read(sql)
            .is_some_and(|write| write.verb == Verb::Update && view.transaction.has_done(Verb::Update, &write.table));
        if !again || !view.transaction.is_open() || !view.other_open {
            return below.execute(sql);
        }
        // What an error does to the transaction is the engine's own business: it is given a statement that must fail.
        let mut outcome = below.execute_hidden("SELECT * FROM txloom_planted_no_such_table")?;
        if let Some(error) = outcome.error.as_mut().filter(|error| error.class == ErrorClass::UnknownObject) {
            let message = "planted: the row has changed since it was last read".to_string();
            *error =
                DbError { class: ErrorClass::Other, code: "XX000".to_string(), native: None, message, detail: None };
        }
        Ok(outcome)
    }
}

//! A case in the test language of MariaDB and MySQL (`mtr`).
//!
//! ```text
//! connect (a,localhost,root,,);             every session is a connection
//! connect (b,localhost,root,,);
//! --connection a
//! UPDATE t SET v = 1;
//! --connection b
//! --send UPDATE t SET v = 2                 a step that waits is sent, not awaited …
//! --connection default
//! let $wait_condition= …                    … until the server says that it waits
//! --source include/wait_condition.inc
//! --connection a
//! COMMIT;
//! --connection b
//! --reap                                    … and collected when the step that lets it go on has completed
//! --connection default
//! --disconnect a                            the test leaves no table, no connection and no setting behind:
//! DROP TABLE IF EXISTS t;                   the runner checks that
//! ```
//!
//! Which steps wait and which fail is known from a trace, or from the case's expectations. Without either the file is
//! right only for cases in which nobody waits. The runner's `--record` writes the results beside it.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::interleaving::{CannotExport, ExportError, ExportStep, interleaving, refuse_events};
use super::spec::removals;
use crate::case::{Case, SessionName};
use crate::outcome::ErrorClass;
use crate::sql::tokens;
use crate::trace::Trace;

/// Prints a test. A case with several schedules becomes one test that runs them one after the other.
pub fn print(case: &Case, trace: Option<&Trace>) -> Result<String, CannotExport> {
    refuse_events(trace)?;
    let mut text = String::new();
    for line in case.claim().iter() {
        let _ = writeln!(text, "# {line}");
    }
    text.push_str("--source include/have_innodb.inc\n--source include/count_sessions.inc\n");
    let schedules = case.schedules();
    if trace.is_some() || schedules.is_empty() {
        Test::new(case, interleaving(case, None, trace)?).print(&mut text);
    } else {
        for schedule in schedules {
            let _ = writeln!(text, "\n--echo # {schedule}");
            Test::new(case, interleaving(case, Some(schedule), None)?).print(&mut text);
        }
    }
    text.push_str("--source include/wait_until_count_sessions.inc\n");
    Ok(text)
}

/// One run of a case.
struct Test<'a> {
    case: &'a Case,
    sessions: Vec<SessionName>,
    steps: Vec<ExportStep>,
    /// The connection that the last line spoke to.
    current: Option<SessionName>,
    /// Steps that were sent and not yet collected.
    sent: BTreeSet<usize>,
}

impl<'a> Test<'a> {
    fn new(case: &'a Case, steps: Vec<ExportStep>) -> Test<'a> {
        let sessions = case.sessions().into_iter().map(|session| session.name).collect();
        Test { case, sessions, steps, current: None, sent: BTreeSet::new() }
    }

    fn print(mut self, text: &mut String) {
        // The runner's own default is an engine without transactions.
        text.push_str("\nSET default_storage_engine = InnoDB;\n");
        for sql in self.case.setup() {
            statement(text, "", &sql);
        }
        for session in self.sessions.clone() {
            let _ = writeln!(text, "\n--connect ({session},localhost,root,,)");
            text.push_str("SET default_storage_engine = InnoDB;\n");
            if let Some(level) = self.case.level_of(&session) {
                let level = level.as_str().to_uppercase();
                let _ = writeln!(text, "SET SESSION TRANSACTION ISOLATION LEVEL {level};");
            }
        }
        text.push('\n');
        for at in 0..self.steps.len() {
            self.step(text, at);
        }
        self.clean_up(text);
    }

    fn step(&mut self, text: &mut String, at: usize) {
        let step = self.steps[at].clone();
        for line in step.prose.iter().flat_map(|line| line.lines()) {
            let _ = writeln!(text, "#{line}");
        }
        self.connection(text, Some(&step.session));
        if step.waits {
            statement(text, "send ", &step.sql);
            self.sent.insert(at);
            self.await_waits(text);
        } else {
            expect_error(text, step.error);
            statement(text, "", &step.sql);
        }
        for resumed in step.resumes {
            self.reap(text, resumed, self.steps[resumed].error);
        }
    }

    /// Goes on only when every step that was sent waits: the next one might otherwise be faster.
    fn await_waits(&mut self, text: &mut String) {
        self.connection(text, None);
        let count = self.sent.len();
        let _ = writeln!(
            text,
            "let $wait_condition= SELECT \
             (SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT') + \
             (SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for % lock%') = {count};"
        );
        text.push_str("--source include/wait_condition.inc\n");
    }

    fn reap(&mut self, text: &mut String, at: usize, error: Option<ExportError>) {
        if self.sent.remove(&at) {
            let session = self.steps[at].session.clone();
            self.connection(text, Some(&session));
            expect_error(text, error);
            text.push_str("--reap\n");
        }
    }

    /// Switches to a connection; `None` is the one that the runner opened.
    fn connection(&mut self, text: &mut String, session: Option<&SessionName>) {
        if self.current.as_ref() != session || session.is_none() {
            let _ = writeln!(text, "--connection {}", session.map_or("default", SessionName::as_str));
            self.current = session.cloned();
        }
    }

    /// Rolls back, collects what still waits, closes the connections, removes what was made.
    fn clean_up(&mut self, text: &mut String) {
        text.push('\n');
        let sent: Vec<usize> = self.sent.iter().copied().collect();
        let waits = |session: &SessionName| sent.iter().any(|at| self.steps[*at].session == *session);
        let (waiting, idle): (Vec<SessionName>, Vec<SessionName>) = self.sessions.iter().cloned().partition(waits);
        for session in idle {
            self.connection(text, Some(&session));
            text.push_str("ROLLBACK;\n");
        }
        for at in sent {
            // Nobody knows what it is answered now that nobody is in its way.
            self.reap(text, at, None);
        }
        for session in waiting {
            self.connection(text, Some(&session));
            text.push_str("ROLLBACK;\n");
        }
        self.connection(text, None);
        for session in &self.sessions {
            let _ = writeln!(text, "--disconnect {session}");
        }
        let setup = self.case.setup();
        let made = setup.iter().map(String::as_str).chain(self.steps.iter().map(|step| step.sql.as_str()));
        for drop in removals(made) {
            let _ = writeln!(text, "{};", drop.trim_end_matches(" CASCADE"));
        }
    }
}

/// A statement with the command before it. Whatever the statement holds is kept from the runner's own parser.
fn statement(text: &mut String, command: &str, sql: &str) {
    let sql = without_comments(sql);
    if !tokens(&sql).iter().any(|token| token.is_symbol(";")) {
        let _ = writeln!(text, "{command}{sql};");
        return;
    }
    let delimiter = ["$$", "||", "~~"].into_iter().find(|delimiter| !sql.contains(delimiter)).unwrap_or("$$$$");
    let _ = writeln!(text, "--delimiter {delimiter}\n{command}{sql}{delimiter}\n--delimiter ;");
}

/// The runner takes lines that begin with `--` or `#` for its own, and does not know that an apostrophe in a comment
/// begins no string. Comments that the server reads (`/*! … */`, `/*+ … */`) stay.
fn without_comments(sql: &str) -> String {
    let mut text = String::new();
    let mut end = 0;
    for token in tokens(sql) {
        let gap = &sql[end..token.span.start];
        if gap.contains("/*!") || gap.contains("/*+") {
            text.push_str(gap);
        } else if !gap.is_empty() && !text.is_empty() {
            text.push(if gap.contains('\n') { '\n' } else { ' ' });
        }
        text.push_str(token.text);
        end = token.span.end;
    }
    text
}

fn expect_error(text: &mut String, error: Option<ExportError>) {
    let Some(error) = error else { return };
    let _ = match error.native {
        Some(number) => writeln!(text, "--error {number}"),
        None => writeln!(text, "--error {}", symbols(error.class)),
    };
}

/// The symbols that the runner knows for a class of errors; any of them is accepted. The list for what has no class of
/// its own is long rather than complete.
fn symbols(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Deadlock => "ER_LOCK_DEADLOCK",
        ErrorClass::SerializationFailure => "ER_CHECKREAD,ER_LOCK_DEADLOCK",
        ErrorClass::LockTimeout => "ER_LOCK_WAIT_TIMEOUT",
        ErrorClass::Unique => "ER_DUP_ENTRY",
        ErrorClass::ForeignKey => "ER_NO_REFERENCED_ROW_2,ER_ROW_IS_REFERENCED_2",
        ErrorClass::Check => "ER_CONSTRAINT_FAILED",
        ErrorClass::NotNull => "ER_BAD_NULL_ERROR,ER_NO_DEFAULT_FOR_FIELD",
        ErrorClass::OutOfRange => "ER_WARN_DATA_OUT_OF_RANGE,ER_DATA_OUT_OF_RANGE,ER_DATA_TOO_LONG",
        ErrorClass::Conversion => "ER_TRUNCATED_WRONG_VALUE,ER_TRUNCATED_WRONG_VALUE_FOR_FIELD",
        ErrorClass::DivisionByZero => "ER_DIVISION_BY_ZERO",
        ErrorClass::Syntax => "ER_PARSE_ERROR",
        ErrorClass::UnknownObject => "ER_NO_SUCH_TABLE,ER_BAD_TABLE_ERROR,ER_BAD_FIELD_ERROR,ER_SP_DOES_NOT_EXIST",
        ErrorClass::Cancelled => "ER_QUERY_INTERRUPTED,ER_LOCK_WAIT_TIMEOUT",
        ErrorClass::DiskFull => "ER_DISK_FULL,ER_RECORD_FILE_FULL",
        ErrorClass::ConnectionLost => "2006,2013",
        ErrorClass::TransactionAborted | ErrorClass::Other => "ER_UNKNOWN_ERROR",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let printed = print(&case::parse(text).unwrap(), None).unwrap();
        let mut rest = printed.as_str();
        for line in expect {
            match rest.split_once(&format!("{line}\n")) {
                Some((_, after)) => rest = after,
                None => panic!("`{line}` is missing in what follows:\n{rest}"),
            }
        }
    }

    #[test]
    fn a_step_that_waits_is_sent_and_reaped() {
        check(
            "-- Two updates.\n-- @isolation read committed\n/*init*/ CREATE TABLE t (a INT);\n/*a*/ BEGIN;\n\
             /*a*/ UPDATE t SET a = 1;\n/*b*/ UPDATE t SET a = 2;\n-- > blocked\n-- > error deadlock\n/*a*/ COMMIT;\n\
             -- > resumes b\n/*b*/ SELECT ';';\n",
            &[
                "# Two updates.",
                "--source include/count_sessions.inc",
                "CREATE TABLE t (a INT);",
                "--connect (a,localhost,root,,)",
                "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;",
                "--connection a\nBEGIN;\nUPDATE t SET a = 1;",
                "--connection b\nsend UPDATE t SET a = 2;\n--connection default",
                "--source include/wait_condition.inc",
                "--connection a\nCOMMIT;",
                "--connection b\n--error ER_LOCK_DEADLOCK\n--reap",
                "SELECT ';';",
                "--connection a\nROLLBACK;\n--connection b\nROLLBACK;",
                "--disconnect a\n--disconnect b",
                "DROP TABLE IF EXISTS t;",
                "--source include/wait_until_count_sessions.inc",
            ],
        );
    }

    #[test]
    fn what_is_still_blocked_is_reaped_after_the_others_have_rolled_back() {
        check(
            "/*a*/ BEGIN;\n/*a*/ UPDATE t SET a = 1;\n/*b*/ UPDATE t SET a = 2;\n-- > blocked\n",
            &["send UPDATE t SET a = 2;", "--connection a\nROLLBACK;\n--connection b\n--reap\nROLLBACK;"],
        );
    }

    #[test]
    fn statements_with_semicolons_get_another_delimiter() {
        check(
            "/*a*/ CREATE PROCEDURE p() BEGIN SELECT 1; -- it's\n SELECT /*+ x */ 2; END;\n",
            &["--delimiter $$", "CREATE PROCEDURE p() BEGIN SELECT 1;", "SELECT /*+ x */ 2; END$$", "--delimiter ;"],
        );
    }

    #[test]
    fn calls_and_events_cannot_be_exported() {
        let case = case::parse("/*a*/ -- call f(x=1)\n").unwrap();
        assert!(matches!(print(&case, None), Err(CannotExport::Call(_))));
        for text in ["-- @schedule a [kill] a\n/*a*/ x\n/*a*/ y", "/*a*/ x\n-- @kill\n/*a*/ y"] {
            let case = case::parse(text).unwrap();
            assert!(matches!(print(&case, None), Err(CannotExport::Event(event)) if event == "kill"), "{text}");
        }
    }
}

//! What went wrong, in words that say what to do next.

use std::io;

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::outcome::DbError;

use super::super::wire::stream::is_timeout;
use super::connection::{ConnectError, Login};
use super::monitor::AskError;

/// `max_connections` is reached.
const TOO_MANY_CONNECTIONS: &[i64] = &[1040, 1203, 1226];
const ACCESS_DENIED: &[i64] = &[1044, 1045, 1698];

/// The server cannot be reached or logged in to.
pub(super) fn unreachable(target: &str, login: &Login, error: &ConnectError) -> EngineError {
    EngineError::new(target, EngineErrorKind::Unreachable(cannot_connect(login, error)))
}

fn cannot_connect(login: &Login, error: &ConnectError) -> String {
    let (address, user) = (&login.address, &login.user);
    match error {
        ConnectError::Io(error) if is_timeout(error) => {
            format!("cannot connect to {address}: the server does not answer; is it a MySQL or MariaDB server?")
        }
        ConnectError::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            format!("cannot connect to {address}: nobody listens there; is the server running?")
        }
        ConnectError::Io(error) => format!("cannot connect to {address}: {error}"),
        ConnectError::Refused(error) if has_number(error, TOO_MANY_CONNECTIONS) => format!(
            "cannot connect to {address}: {}; a case needs one connection per session and three more \
             (raise max_connections, or close others)",
            error.message
        ),
        ConnectError::Refused(error) if has_number(error, ACCESS_DENIED) => {
            format!("cannot log in to {address} as {user}: {}; check user and password in the URL", error.message)
        }
        ConnectError::Refused(error) => format!("cannot log in to {address} as {user}: {}", error.message),
        ConnectError::Tls(error) => format!("cannot encrypt the connection to {address}: {error}"),
        ConnectError::ClearText => format!(
            "cannot log in to {address} as {user}: the server wants the password as it is, and the connection is not \
             encrypted: ask for TLS (ssl-mode=REQUIRED), or connect by the server's socket"
        ),
        ConnectError::Unsupported(what) => format!("cannot log in to {address} as {user}: {what}"),
    }
}

fn has_number(error: &DbError, numbers: &[i64]) -> bool {
    error.native.is_some_and(|native| numbers.contains(&native))
}

/// A connection of our own was lost, or refused to do what must be done.
pub(super) fn lost(target: &str, attempt: &str, why: impl std::fmt::Display) -> EngineError {
    EngineError::new(target, EngineErrorKind::Lost(format!("cannot {attempt}: {why}")))
}

/// A question has no answer.
pub(super) fn unanswered(target: &str, attempt: &str, error: &AskError) -> EngineError {
    match error {
        AskError::Silent => lost(target, attempt, "the server does not answer"),
        AskError::Failed(error) => lost(target, attempt, error),
        AskError::Protocol(error) => {
            EngineError::new(target, EngineErrorKind::Protocol(format!("cannot {attempt}: {error}")))
        }
        AskError::Connect(ConnectError::Refused(error)) => lost(target, attempt, &error.message),
        AskError::Connect(ConnectError::Io(error)) => lost(target, attempt, error),
        AskError::Connect(ConnectError::Unsupported(what)) => lost(target, attempt, what),
        AskError::Connect(ConnectError::Tls(error)) => lost(target, attempt, error),
        AskError::Connect(ConnectError::ClearText) => lost(target, attempt, "the server wants the password as it is"),
    }
}

/// The database for the cases cannot be created.
pub(super) fn cannot_create_database(target: &str, login: &Login, name: &str, error: &DbError) -> EngineError {
    let user = &login.user;
    let why = format!(
        "cannot create the database {name}: {}; txloom works only in a database of its own, so {user} needs the right to \
         create one (GRANT ALL ON `txloom\\_%`.* TO {user})",
        error.message
    );
    EngineError::new(target, EngineErrorKind::Unreachable(why))
}

/// A message that was answered in a way that makes no sense.
pub(super) fn not_understood(target: &str, sql: &str, error: &io::Error) -> EngineError {
    let sql = txloom_core::sql::one_line(sql);
    EngineError::new(target, EngineErrorKind::Protocol(format!("cannot exchange the statement `{sql}`: {error}")))
}

//! Why a server cannot be used, in words that tell what to do next. No password appears in them.

use std::io;

use txloom_core::engine::{EngineError, EngineErrorKind};
use txloom_core::outcome::DbError;

use super::super::wire::limits::LOGIN_TIME;
use super::super::wire::stream::Address;
use super::super::wire::stream::is_timeout;
use super::connection::{ConnectError, Login};
use super::monitor::AskError;

/// The error of a connection that a user asked for.
pub(super) fn unreachable(target: &str, login: &Login, error: &ConnectError) -> EngineError {
    let why = match error {
        ConnectError::Io(error) => unreached(&login.address, error),
        ConnectError::Refused(error) => refused(login, error),
        ConnectError::Tls(error) => format!("cannot encrypt the connection to {}: {error}", login.address),
        ConnectError::ClearText => format!(
            "the server at {} wants the password of `{}` as it is, and the connection is not encrypted: ask for TLS \
             (sslmode=require) or for scram-sha-256 in the server's pg_hba.conf, or say --insecure-auth",
            login.address, login.user
        ),
        ConnectError::Unsupported(what) => format!(
            "the server at {} wants {what} for a login, which txloom cannot do: allow a password (scram-sha-256) for \
             the user `{}` in the server's pg_hba.conf",
            login.address, login.user
        ),
    };
    EngineError::new(target, EngineErrorKind::Unreachable(why))
}

fn unreached(address: &Address, error: &io::Error) -> String {
    let (is_socket, host) = match address {
        Address::Unix(_) | Address::Private(_) => (true, ""),
        Address::Tcp { host, .. } => (false, host.as_str()),
    };
    match error.kind() {
        _ if is_timeout(error) => {
            let seconds = LOGIN_TIME.as_secs();
            format!("no answer from {address} within {seconds} seconds: check host, port and firewall")
        }
        io::ErrorKind::ConnectionRefused => {
            format!("cannot connect to {address}: connection refused; is a server running there?")
        }
        io::ErrorKind::NotFound if is_socket => {
            format!("cannot connect to {address}: there is no such socket; is a server running there?")
        }
        io::ErrorKind::UnexpectedEof => {
            format!("the server at {address} closed the connection during login: is it a PostgreSQL server?")
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            format!("what answers at {address} does not speak PostgreSQL's protocol ({error}): check host and port")
        }
        _ if !is_socket && error.to_string().contains("lookup") => {
            format!("cannot find the host `{host}`: check its name ({error})")
        }
        _ => format!("cannot connect to {address}: {error}"),
    }
}

fn refused(login: &Login, error: &DbError) -> String {
    let Login { address, user, database, .. } = login;
    let said = format!("{} ({})", error.message, error.code);
    match error.code.as_str() {
        "28P01" | "28000" => format!(
            "the server at {address} does not let the user `{user}` in: {said}; put the right user and password into \
             the URL, or the password into PGPASSWORD"
        ),
        "3D000" => format!(
            "the server at {address} has no database `{database}`: {said}; name one that exists, for example \
             postgres://…/postgres"
        ),
        "53300" => {
            format!("the server at {address} has no connection left: {said}; end some, or raise max_connections")
        }
        _ => format!("the server at {address} refuses the connection: {said}"),
    }
}

/// The error of `CREATE DATABASE`.
pub(super) fn cannot_create_database(target: &str, login: &Login, error: &DbError) -> EngineError {
    let Login { address, user, .. } = login;
    let said = format!("{} ({})", error.message, error.code);
    let why = if error.code == "42501" {
        format!(
            "the user `{user}` may not create a database at {address}: {said}; txloom works only in databases that it \
             created itself, so grant that right (ALTER ROLE {user} CREATEDB) or name another user"
        )
    } else {
        format!("cannot create a database at {address}: {said}")
    };
    EngineError::new(target, EngineErrorKind::Unreachable(why))
}

/// The error of a server that cannot be asked who waits for whom.
pub(super) fn unwatchable(target: &str, error: &AskError) -> EngineError {
    let why = format!("the server does not answer who waits for whom ({error}): txloom needs PostgreSQL 10 or newer");
    EngineError::new(target, EngineErrorKind::Unreachable(why))
}

/// The error of a connection of the engine's own that was lost in the middle of a run.
pub(super) fn lost(target: &str, attempt: &str, error: impl std::fmt::Display) -> EngineError {
    EngineError::new(target, EngineErrorKind::Lost(format!("cannot {attempt}: {error}")))
}

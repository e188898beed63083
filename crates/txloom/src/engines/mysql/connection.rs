//! One connection: login, one message at a time, and what it means when the server hangs up.
//!
//! Only the *text protocol* is used: the text of a step goes to the server as it is, and everything that the server
//! says about it is seen. Two things do not come with the answer and are asked for right after it, on the same
//! connection:
//!
//! * the transaction status after an *error*: its packet has no flags. `SHOW WARNINGS` answers with the flags, and with
//!   what else the server had to say about the error;
//! * the texts of warnings: an answer has only their number.
//!
//! `SHOW WARNINGS` leaves the list of warnings as it is. What it does disturb are `ROW_COUNT()` and `FOUND_ROWS()` of a
//! step *after* one with warnings. Of several statements in one message, only the warnings of the last can be read.
//!
//! A connection that ends while a statement is being executed is something that the database did, so it is an
//! [`Outcome`]: class *connection lost*, status *lost*, with the server's last words if it had any. How the operating
//! system words the loss (end of file, reset, broken pipe) depends on timing, and is left out.

use std::io;
use std::time::{Duration, Instant};

use txloom_core::outcome::{DbError, ErrorClass, Notice, Outcome, Row, TxStatus};

use super::super::wire::limits::LOGIN_TIME;
use super::super::wire::security::Security;
use super::super::wire::stream::{Address, SocketHandle, Stream, is_timeout};
use super::super::wire::tls::{TlsError, TlsMode, TlsOptions};
use super::super::wire::url::Password;
use super::answer::{self, Answer, File};
use super::auth::Authentication;
use super::packet::{Packets, Parts, malformed};

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_RESET_CONNECTION: u8 = 0x1f;

/// Long passwords and flags, protocol 4.1, transaction flags, secure login by named methods, several statements and
/// several results. Not: local files, unless rows are to be loaded.
const CAPABILITIES: u32 = 0x1 | 0x4 | 0x200 | 0x2000 | 0x8000 | 0x1_0000 | 0x2_0000 | 0x8_0000;
const CONNECT_WITH_DATABASE: u32 = 0x8;
const LOCAL_FILES: u32 = 0x80;
const TLS: u32 = 0x800;

/// `utf8mb4_general_ci`, which every server knows.
const UTF8MB4: u8 = 45;
/// `utf8mb4_0900_ai_ci`, the usual one since MySQL 8.
const UTF8MB4_OF_MYSQL_8: u8 = 255;

/// Who logs in where, and how.
#[derive(Debug, Clone)]
pub(super) struct Login {
    pub(super) address: Address,
    pub(super) user: String,
    pub(super) password: Option<Password>,
    /// How the connection is encrypted, and what may be sent where it is not.
    pub(super) security: Security,
    pub(super) database: Option<String>,
    /// How long an answer may take before the connection counts as lost; sessions wait for ever.
    pub(super) patience: Option<Duration>,
    /// Whether the server may ask for the contents of files: only of those that there are not, for
    /// [`Connection::load`].
    pub(super) gives_files: bool,
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum ConnectError {
    /// The server could not be reached, or stopped answering.
    Io(io::Error),
    /// The server refused.
    Refused(DbError),
    /// The connection cannot be encrypted as it was asked for.
    Tls(TlsError),
    /// The server wants the password itself, and others could read it.
    ClearText,
    /// The server wants something that we cannot do.
    Unsupported(String),
}

impl From<TlsError> for ConnectError {
    fn from(error: TlsError) -> ConnectError {
        match error {
            // A time limit is one, wherever it strikes.
            TlsError::Io(error) if is_timeout(&error) => ConnectError::Io(error),
            error => ConnectError::Tls(error),
        }
    }
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> ConnectError {
        ConnectError::Io(error)
    }
}

/// A connection that has logged in.
#[derive(Debug)]
pub(super) struct Connection {
    packets: Packets,
    id: u32,
    server_version: String,
    /// Why the connection is of no use any more.
    lost: Option<DbError>,
    /// Whether that is because the server took longer than our patience lasted.
    silent: bool,
}

/// What the server says first.
struct Greeting {
    version: String,
    id: u32,
    offers_tls: bool,
    method: String,
    scramble: Vec<u8>,
}

impl Connection {
    /// Connects and logs in, encrypted as the mode asks for it. Where encryption is only preferred and the two sides do
    /// not agree on it, the login is tried once more without.
    pub(super) fn open(login: &Login) -> Result<Connection, ConnectError> {
        let deadline = Instant::now() + LOGIN_TIME;
        let tls = &login.security.tls;
        let mode = match (tls.mode, &login.address) {
            // As with mysql: nobody listens between two processes of one machine.
            (TlsMode::Allow | TlsMode::Prefer, Address::Unix(_) | Address::Private(_)) => TlsMode::Disable,
            (mode, _) => mode,
        };
        match Connection::attempt(login, &tls.with_mode(mode), deadline) {
            Err(ConnectError::Tls(error)) if mode < TlsMode::Require => {
                let again = Connection::attempt(login, &tls.with_mode(TlsMode::Disable), deadline);
                again.map_err(|_| ConnectError::Tls(error))
            }
            opened => opened,
        }
    }

    fn attempt(login: &Login, tls: &TlsOptions, deadline: Instant) -> Result<Connection, ConnectError> {
        let mut packets = Packets::new(Stream::connect(&login.address, deadline)?);
        let greeting = greeting(&packets.receive()?)?;
        let is_encrypted = tls.mode != TlsMode::Disable && greeting.offers_tls;
        if is_encrypted {
            packets.send(&beginning(login, &greeting, TLS))?;
            packets.stream_mut()?.encrypt(tls)?;
        } else if tls.mode >= TlsMode::Require {
            return Err(ConnectError::Tls(TlsError::NotOffered));
        }
        log_in(&mut packets, login, &greeting, if is_encrypted { TLS } else { 0 })?;
        packets.stream_mut()?.end_login(login.patience)?;
        Ok(Connection { packets, id: greeting.id, server_version: greeting.version, lost: None, silent: false })
    }

    /// The number that the server gave to the connection.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// The version, as the server told it at login.
    pub(super) fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Whether the connection was found to be gone.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Whether it was lost because the server did not answer in time.
    pub(super) fn is_silent(&self) -> bool {
        self.silent
    }

    /// A second handle to the socket, for another thread to end it.
    pub(super) fn second_handle(&self) -> io::Result<SocketHandle> {
        self.packets.stream().second_handle()
    }

    /// Sends one message and waits for its whole answer. An error means that the answer makes no sense to us; the
    /// connection is of no use after it.
    pub(super) fn execute(&mut self, sql: &str) -> io::Result<Outcome> {
        let answer = match self.query(sql)? {
            Ok(answer) => answer,
            Err(outcome) => return Ok(*outcome),
        };
        let has_warnings = answer.warnings.last().is_some_and(|count| *count > 0) && !asks_for_warnings(sql);
        if answer.error.is_none() && !has_warnings {
            let status = answer.flags.map_or(TxStatus::Idle, |flags| flags.status());
            return Ok(Outcome { results: answer.results, notices: Vec::new(), error: None, status });
        }
        self.with_warnings(answer)
    }

    /// Sends a LOAD DATA LOCAL and what `piece` gives for its file, which appends to a buffer and says whether there is
    /// more. `None` if the server answered without asking for the file.
    pub(super) fn load(
        &mut self,
        sql: &str,
        mut piece: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> io::Result<Option<Outcome>> {
        let mut is_asked = false;
        let mut give = |buffer: &mut Vec<u8>| {
            is_asked = true;
            piece(buffer)
        };
        let outcome = match self.exchange(sql, &mut give)? {
            Ok(answer) => self.with_warnings(answer)?,
            Err(outcome) => *outcome,
        };
        Ok(Some(outcome).filter(|outcome| is_asked || outcome.status == TxStatus::Lost))
    }

    /// Completes an answer with its warnings, and with the status if it was an error.
    fn with_warnings(&mut self, answer: Answer) -> io::Result<Outcome> {
        let mut warnings = self.query("SHOW WARNINGS")?;
        // A request to cancel that came too late for the statement may have hit the question instead.
        if warnings.as_ref().is_ok_and(|warnings| warnings.error.is_some()) {
            warnings = self.query("SHOW WARNINGS")?;
        }
        let warnings = match warnings {
            Ok(warnings) => warnings,
            Err(_) => {
                let last_words = answer.error.or_else(|| self.lost.clone());
                let error = last_words.map(|error| DbError { class: ErrorClass::ConnectionLost, ..error });
                self.lost.clone_from(&error);
                return Ok(Outcome { results: answer.results, notices: Vec::new(), error, status: TxStatus::Lost });
            }
        };
        let told = answer.error.as_ref().map(|error| (error.native.unwrap_or_default().to_string(), &error.message));
        let mut notices: Vec<Notice> =
            warnings.results.last().into_iter().flat_map(|result| &result.rows).map(notice).collect();
        notices.retain(|notice| {
            told.as_ref().is_none_or(|(code, message)| notice.code != *code || notice.message != **message)
        });
        let status = answer.flags.or(warnings.flags).map_or(TxStatus::Idle, |flags| flags.status());
        Ok(Outcome { results: answer.results, notices, error: answer.error, status })
    }

    /// Sends a message and reads its answer; the outcome instead if the connection is gone.
    fn query(&mut self, sql: &str) -> io::Result<Result<Answer, Box<Outcome>>> {
        // A step has no file.
        self.exchange(sql, &mut |_| false)
    }

    fn exchange(&mut self, sql: &str, file: &mut File<'_>) -> io::Result<Result<Answer, Box<Outcome>>> {
        if let Some(lost) = &self.lost {
            return Ok(Err(Box::new(Outcome::failed(lost.clone(), TxStatus::Lost))));
        }
        // If the server has hung up, its last words may still be there to be read: they are the answer.
        let _ = self.packets.command(COM_QUERY, sql.as_bytes());
        let mut answer = Answer::default();
        match answer.read(sql, &mut self.packets, file) {
            Ok(()) => Ok(Ok(answer)),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                self.lost = Some(lost("the server's last answer was not understood"));
                Err(error)
            }
            Err(error) => {
                self.silent = is_timeout(&error);
                let why = if self.silent { "the server does not answer" } else { "the server closed the connection" };
                let lost = lost(why);
                self.lost = Some(lost.clone());
                let outcome = Outcome { results: answer.results, ..Outcome::failed(lost, TxStatus::Lost) };
                Ok(Err(Box::new(outcome)))
            }
        }
    }

    /// Makes the connection as good as new: rolls back, releases all locks, forgets all variables and temporary
    /// tables. False if the server cannot do that, or is gone.
    pub(super) fn reset(&mut self) -> bool {
        if self.is_lost() {
            return false;
        }
        let asked = self.packets.command(COM_RESET_CONNECTION, &[]);
        asked.and_then(|()| self.packets.receive()).is_ok_and(|answer| answer.first() == Some(&0))
    }
}

impl Drop for Connection {
    /// Says goodbye, so that the server does not take the end for an accident.
    fn drop(&mut self) {
        if self.lost.is_none() {
            let _ = self.packets.command(COM_QUIT, &[]);
        }
    }
}

/// The loss of a connection, in our words.
fn lost(message: &str) -> DbError {
    let (class, code) = (ErrorClass::ConnectionLost, "08S01".to_string());
    DbError { class, code, native: None, message: message.to_string(), detail: None }
}

/// Whether a message is itself about warnings: its own warnings are those of the message before.
fn asks_for_warnings(sql: &str) -> bool {
    let tokens = txloom_core::sql::tokens(sql);
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is_word(word));
    (is(0, "SHOW") && (is(1, "WARNINGS") || is(1, "ERRORS") || is(1, "COUNT"))) || is(0, "GET")
}

/// A row of `SHOW WARNINGS`: level, code, message.
fn notice(row: &Row) -> Notice {
    let text = |column: usize| {
        let bytes = row.get(column).and_then(Option::as_deref).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    Notice { severity: text(0), code: text(1), message: text(2) }
}

fn greeting(payload: &[u8]) -> Result<Greeting, ConnectError> {
    let mut parts = Parts::of(payload);
    match parts.u8()? {
        0xff => return Err(ConnectError::Refused(answer::error(payload)?)),
        10 => {}
        other => return Err(ConnectError::Unsupported(format!("the server speaks protocol {other}, not 10"))),
    }
    let version = String::from_utf8_lossy(parts.until_nul()).into_owned();
    let id = parts.u32()?;
    let mut scramble = parts.bytes(8)?.to_vec();
    let _filler = parts.u8()?;
    let offers_tls = u32::from(parts.u16()?) & TLS != 0;
    let _charset_status_capabilities = parts.bytes(5)?;
    let _both_scrambles_length = parts.u8()?;
    let _reserved = parts.bytes(10)?;
    scramble.extend_from_slice(parts.bytes(12)?);
    let _nul = parts.until_nul();
    let method = String::from_utf8_lossy(parts.until_nul()).into_owned();
    // MariaDB before 11 puts this before its version, for old clients of MySQL.
    let version = version.strip_prefix("5.5.5-").map_or(version.clone(), str::to_string);
    Ok(Greeting { version, id, offers_tls, method, scramble })
}

fn log_in(packets: &mut Packets, login: &Login, greeting: &Greeting, tls: u32) -> Result<(), ConnectError> {
    let may_tell = packets.stream().is_private() || login.security.insecure_auth;
    let mut authentication =
        Authentication::new(login.password.as_ref(), may_tell, &greeting.method, &greeting.scramble);
    // To a method that we do not know we answer nothing; the server may then propose one that we know. So with one that
    // wants longer random bytes than a greeting has.
    let first = authentication.response().ok().flatten().unwrap_or_default();
    packets.send(&response(login, greeting, tls, &authentication, &first))?;
    loop {
        let payload = packets.receive()?;
        match payload.first() {
            Some(0) => return Ok(()),
            Some(0xff) => return Err(ConnectError::Refused(answer::error(&payload)?)),
            Some(0xfe) => {
                let mut parts = Parts::of(&payload[1..]);
                authentication.switch(&String::from_utf8_lossy(parts.until_nul()), parts.rest())?;
                let why = || ConnectError::Unsupported(unknown_method(authentication.method()));
                packets.send(&authentication.response()?.ok_or_else(why)?)?;
            }
            Some(1) => authentication.more(&payload[1..], packets)?,
            _ => return Err(malformed("the server's answer to the login makes no sense").into()),
        }
    }
}

fn unknown_method(method: &str) -> String {
    format!(
        "the server wants the user to log in by `{method}`; known are mysql_native_password, caching_sha2_password and client_ed25519 \
         (choose another user, or ALTER USER … IDENTIFIED WITH one of these)"
    )
}

/// What the answer to the greeting begins with; all of it, where encryption is asked for.
fn beginning(login: &Login, greeting: &Greeting, tls: u32) -> Vec<u8> {
    let with_database = if login.database.is_some() { CONNECT_WITH_DATABASE } else { 0 };
    let with_files = if login.gives_files { LOCAL_FILES } else { 0 };
    let is_mysql_8 = !greeting.version.contains("MariaDB")
        && greeting.version.split('.').next().and_then(|major| major.parse().ok()).is_some_and(|major: u32| major >= 8);
    let mut beginning = Vec::new();
    beginning.extend_from_slice(&(CAPABILITIES | with_database | with_files | tls).to_le_bytes());
    beginning.extend_from_slice(&(1u32 << 30).to_le_bytes());
    beginning.push(if is_mysql_8 { UTF8MB4_OF_MYSQL_8 } else { UTF8MB4 });
    beginning.extend_from_slice(&[0; 23]);
    beginning
}

/// The answer to the greeting.
fn response(
    login: &Login,
    greeting: &Greeting,
    tls: u32,
    authentication: &Authentication<'_>,
    first: &[u8],
) -> Vec<u8> {
    let mut response = beginning(login, greeting, tls);
    response.extend_from_slice(login.user.as_bytes());
    response.push(0);
    // A hash is far shorter than 251 bytes, so its length is one byte.
    response.push(first.len() as u8);
    response.extend_from_slice(first);
    if let Some(database) = &login.database {
        response.extend_from_slice(database.as_bytes());
        response.push(0);
    }
    response.extend_from_slice(authentication.method().as_bytes());
    response.push(0);
    response
}

/// A cell of a catalog query as text; empty for NULL.
pub(super) fn text(row: &Row, column: usize) -> &str {
    row.get(column).and_then(Option::as_deref).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
}

//! One connection: login, one message at a time, and what it means when the server hangs up.
//!
//! Only the *simple query* protocol is used: the text of a step goes to the server as it is, and everything that the
//! server says about it (tags, notices, the transaction status) is seen.
//!
//! A connection that ends while a statement is being executed is something that the database did, so it is an
//! [`Outcome`]: class *connection lost*, status *lost*, with the server's last words if it had any. How the operating
//! system words the loss (end of file, reset, broken pipe) depends on timing, and is left out.

use std::fmt;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use txloom_core::outcome::{DbError, ErrorClass, Outcome, TxStatus};

use super::super::wire::limits::{Allowance, LOGIN_TIME};
use super::super::wire::security::Security;
use super::super::wire::stream::{Address, Stream, is_timeout};
use super::super::wire::tls::{TlsError, TlsMode, TlsOptions};
use super::super::wire::url::Password;
use super::answer::{Answer, Fields, Next};
use super::auth::Authentication;

/// Who logs in where, and how.
#[derive(Debug, Clone)]
pub(in crate::engines) struct Login {
    pub(in crate::engines) address: Address,
    pub(in crate::engines) user: String,
    pub(in crate::engines) password: Option<Password>,
    /// How the connection is encrypted, and what may be sent where it is not.
    pub(in crate::engines) security: Security,
    pub(in crate::engines) database: String,
    /// Settings of the connection; `RESET` returns to them.
    pub(in crate::engines) settings: Vec<(&'static str, String)>,
    /// How long an answer may take before the connection counts as lost; sessions wait for ever.
    pub(in crate::engines) patience: Option<Duration>,
}

impl Login {
    /// The same with one more setting.
    pub(in crate::engines) fn with(mut self, name: &'static str, value: impl ToString) -> Login {
        self.settings.push((name, value.to_string()));
        self
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(in crate::engines) enum ConnectError {
    /// The server could not be reached, or stopped answering.
    Io(io::Error),
    /// The server refused.
    Refused(DbError),
    /// The connection cannot be encrypted as it was asked for.
    Tls(TlsError),
    /// The server wants the password itself, and others could read it.
    ClearText,
    /// The server wants something that we cannot do.
    Unsupported(&'static str),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::Io(error) => error.fmt(f),
            ConnectError::Refused(error) => write!(f, "{} ({})", error.message, error.code),
            ConnectError::Tls(error) => error.fmt(f),
            ConnectError::ClearText => {
                f.write_str("the server wants the password itself over an unencrypted connection")
            }
            ConnectError::Unsupported(what) => write!(f, "the server wants {what}"),
        }
    }
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> ConnectError {
        ConnectError::Io(error)
    }
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

/// A connection that has logged in.
pub(in crate::engines) struct Connection {
    stream: Stream,
    incoming: BytesMut,
    key: CancelKey,
    server_version: String,
    allowance: Allowance,
    /// Why the connection is of no use any more.
    lost: Option<DbError>,
}

/// What a cancel request must know.
#[derive(Debug, Clone)]
pub(in crate::engines) struct CancelKey {
    address: Address,
    /// How the connection itself is encrypted, if it is.
    tls: Option<TlsOptions>,
    pid: i32,
    secret: i32,
}

impl Connection {
    /// Connects and logs in, with encryption as the mode asks for it: `allow` tries without and then with it, `prefer`
    /// the other way round.
    pub(in crate::engines) fn open(login: &Login) -> Result<Connection, ConnectError> {
        let deadline = Instant::now() + LOGIN_TIME;
        let tls = &login.security.tls;
        // As with psql: nobody listens between two processes of one machine.
        let mode =
            if matches!(login.address, Address::Unix(_) | Address::Private(_)) { TlsMode::Disable } else { tls.mode };
        let (first, second) = match mode {
            TlsMode::Allow => (TlsMode::Disable, Some(TlsMode::Require)),
            TlsMode::Prefer => (TlsMode::Prefer, Some(TlsMode::Disable)),
            mode => (mode, None),
        };
        match (Connection::attempt(login, &tls.with_mode(first), deadline), second) {
            (Err(error), Some(second)) if may_differ(&error) => {
                let again = Connection::attempt(login, &tls.with_mode(second), deadline);
                // The first answer is the one to the question that was asked.
                again.map_err(|second| if matches!(second, ConnectError::ClearText) { second } else { error })
            }
            (opened, _) => opened,
        }
    }

    fn attempt(login: &Login, tls: &TlsOptions, deadline: Instant) -> Result<Connection, ConnectError> {
        let mut stream = Stream::connect(&login.address, deadline)?;
        if tls.mode != TlsMode::Disable {
            ask_for_encryption(&mut stream, tls)?;
        }
        let tls = stream.is_encrypted().then(|| tls.clone());
        let mut connection = Connection {
            stream,
            incoming: BytesMut::with_capacity(8192),
            key: CancelKey { address: login.address.clone(), tls, pid: 0, secret: 0 },
            server_version: String::new(),
            allowance: Allowance::login(),
            lost: None,
        };
        connection.log_in(login)?;
        connection.stream.end_login(login.patience)?;
        Ok(connection)
    }

    fn log_in(&mut self, login: &Login) -> Result<(), ConnectError> {
        let fixed = [("user", login.user.as_str()), ("database", &login.database), ("client_encoding", "UTF8")];
        let settings = login.settings.iter().map(|(name, value)| (*name, value.as_str()));
        let mut startup = BytesMut::new();
        frontend::startup_message(fixed.into_iter().chain(settings), &mut startup)?;
        self.stream.write_all(&startup)?;
        let mut authentication = Authentication::new(login, &self.stream);
        loop {
            match self.read_message()? {
                Message::ReadyForQuery(_) => return Ok(()),
                Message::ErrorResponse(body) => {
                    return Err(ConnectError::Refused(Fields::read(body.fields())?.into_error()));
                }
                Message::BackendKeyData(body) => {
                    (self.key.pid, self.key.secret) = (body.process_id(), body.secret_key());
                }
                Message::ParameterStatus(body) if body.name()? == "server_version" => {
                    self.server_version = body.value()?.to_string();
                }
                other => {
                    let reply = authentication.reply(&other)?;
                    self.stream.write_all(&reply)?;
                }
            }
        }
    }

    /// The process number of the server's end.
    pub(in crate::engines) fn pid(&self) -> i32 {
        self.key.pid
    }

    /// What another thread needs to cancel a statement.
    pub(in crate::engines) fn cancel_key(&self) -> CancelKey {
        self.key.clone()
    }

    /// The version, as the server told it at login.
    pub(in crate::engines) fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Whether a statement found the connection gone.
    pub(in crate::engines) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Whether the server has said nothing since its last answer: an unused connection is as good as new.
    pub(in crate::engines) fn is_silent(&mut self) -> bool {
        !self.is_lost() && self.incoming.is_empty() && self.stream.is_silent()
    }

    /// Sends one message and waits for its whole answer. An error means that the message cannot be sent, or that the
    /// answer makes no sense to us; after the latter the connection is of no use.
    pub(in crate::engines) fn execute(&mut self, sql: &str, type_name: impl Fn(u32) -> String) -> io::Result<Outcome> {
        if let Some(lost) = &self.lost {
            return Ok(Outcome::failed(lost.clone(), TxStatus::Lost));
        }
        self.allowance = Allowance::answer();
        let mut query = BytesMut::new();
        frontend::query(sql, &mut query)?;
        // If the server has hung up, its last words may still be there to be read: they are the answer.
        let _ = self.stream.write_all(&query);
        let answered = self.read_answer(type_name);
        if answered.is_err() {
            self.lost = Some(lost("the server's last answer was not understood"));
        }
        answered
    }

    fn read_answer(&mut self, type_name: impl Fn(u32) -> String) -> io::Result<Outcome> {
        let mut answer = Answer::default();
        loop {
            let message = match self.read_message() {
                Ok(message) => message,
                Err(error) if is_nonsense(&error) => return Err(error),
                Err(error) => return Ok(self.lose(answer, &error, type_name)),
            };
            match answer.take(message)? {
                Next::Read => {}
                Next::WantsCopy => {
                    // If the server has hung up, reading on will tell.
                    let _ = self.refuse_copy();
                }
                Next::Done(status) => return Ok(answer.finish(status, type_name)),
            }
        }
    }

    /// The outcome of a statement during which the connection was lost. Statements after it have the same error.
    fn lose(&mut self, answer: Answer, error: &io::Error, type_name: impl Fn(u32) -> String) -> Outcome {
        let silent =
            || lost(if is_timeout(error) { "the server does not answer" } else { "the server closed the connection" });
        let last_words = answer.error().cloned().unwrap_or_else(silent);
        let lost = DbError { class: ErrorClass::ConnectionLost, ..last_words };
        self.lost = Some(lost.clone());
        Outcome { error: Some(lost), ..answer.finish(TxStatus::Lost, type_name) }
    }

    /// Sends a COPY … FROM STDIN and what `piece` gives for it, which appends to a buffer and says whether there is
    /// more. The outcome of the COPY; `None` if the server answered with an error before it asked for anything.
    pub(in crate::engines) fn copy_in(
        &mut self,
        sql: &str,
        mut piece: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> io::Result<Option<Outcome>> {
        self.send(sql)?;
        let mut answer = Answer::default();
        loop {
            match answer.take(self.read_message()?)? {
                Next::Read => {}
                Next::WantsCopy => break,
                Next::Done(_) => return Ok(None),
            }
        }
        let mut message = Vec::new();
        let mut has_more = true;
        // A server that says something before everything was sent says that it wants no more.
        while has_more && !self.stream.is_readable_within(Duration::ZERO)? {
            message.clear();
            message.extend_from_slice(&[b'd', 0, 0, 0, 0]);
            has_more = piece(&mut message);
            // The length counts itself, and not the letter.
            let length = u32::try_from(message.len() - 1).map_err(io::Error::other)?;
            message[1..5].copy_from_slice(&length.to_be_bytes());
            self.stream.write_all(&message)?;
        }
        let mut done = BytesMut::new();
        frontend::copy_done(&mut done);
        self.stream.write_all(&done)?;
        self.read_answer(|_| String::new()).map(Some)
    }

    /// Sends one message and does not wait for its answer, which [`Connection::poll`] reads.
    pub(in crate::engines) fn send(&mut self, sql: &str) -> io::Result<()> {
        self.allowance = Allowance::answer();
        let mut query = BytesMut::new();
        frontend::query(sql, &mut query)?;
        self.stream.write_all(&query)
    }

    /// Answers a request for data to be copied with a refusal.
    pub(in crate::engines) fn refuse_copy(&mut self) -> io::Result<()> {
        let mut refusal = BytesMut::new();
        frontend::copy_fail("a step has no data to copy", &mut refusal)?;
        self.stream.write_all(&refusal)
    }

    /// The next message of an answer, if one arrives within the limit.
    pub(in crate::engines) fn poll(&mut self, limit: Duration) -> io::Result<Option<Message>> {
        if let Some(message) = self.parse_message()? {
            return Ok(Some(message));
        }
        if self.stream.is_readable_within(limit)? { self.read_message().map(Some) } else { Ok(None) }
    }

    /// The next message, if all of it has arrived. Its length is looked at before there is memory for it.
    fn parse_message(&mut self) -> io::Result<Option<Message>> {
        let Some(header) = self.incoming.first_chunk::<5>() else { return Ok(None) };
        let tag = header[0];
        let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
        self.allowance.announce(length)?;
        let columns = match (tag, self.incoming.get(5..7)) {
            (b'D' | b'T', Some(count)) => usize::from(u16::from_be_bytes([count[0], count[1]])),
            _ => 0,
        };
        let message = Message::parse(&mut self.incoming)?;
        if message.is_some() {
            self.allowance.take(length)?;
            self.allowance.take_cells(columns)?;
        }
        Ok(message)
    }

    /// The next message; an error that [is nonsense](is_nonsense), or any other if the connection is gone.
    fn read_message(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = self.parse_message()? {
                return Ok(message);
            }
            let mut buffer = [0; 8192];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.incoming.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Says goodbye. The stream that is returned ends when the server has rolled back and released everything.
    pub(in crate::engines) fn end(mut self) -> Stream {
        let mut goodbye = BytesMut::new();
        frontend::terminate(&mut goodbye);
        let _ = self.stream.write_all(&goodbye);
        self.stream.finish();
        self.stream
    }
}

/// Asks the server for encryption, and begins it. A server that refuses is an error unless the mode is `prefer`.
fn ask_for_encryption(stream: &mut Stream, tls: &TlsOptions) -> Result<(), ConnectError> {
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream.write_all(&request)?;
    // One byte and no more: what comes after it must be encrypted.
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    match answer[0] {
        b'S' => Ok(stream.encrypt(tls)?),
        b'N' if tls.mode == TlsMode::Prefer => Ok(()),
        b'N' => Err(ConnectError::Tls(TlsError::NotOffered)),
        // An error of a server that cannot even say no. What it says is not shown: it may come from anybody.
        b'E' => Err(ConnectError::Tls(TlsError::NotOffered)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the answer to a request for TLS makes no sense").into()),
    }
}

/// Returns true for errors that may not come with another kind of encryption: no line of `pg_hba.conf` for this one, no
/// agreement on TLS, a password that must not be sent. A wrong password is not tried again.
fn may_differ(error: &ConnectError) -> bool {
    match error {
        ConnectError::Refused(error) => error.code == "28000",
        ConnectError::Tls(_) | ConnectError::ClearText => true,
        ConnectError::Io(_) | ConnectError::Unsupported(_) => false,
    }
}

/// Returns true for the errors of bytes that make no sense, or that are too many.
fn is_nonsense(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)
}

/// The loss of a connection, in our words.
fn lost(message: &str) -> DbError {
    let code = "08006".to_string();
    DbError { class: ErrorClass::ConnectionLost, code, native: None, message: message.to_string(), detail: None }
}

impl CancelKey {
    /// The process number of the server's end.
    pub(in crate::engines) fn pid(&self) -> i32 {
        self.pid
    }

    /// Asks for the cancellation of what the connection is executing, over a connection of its own that is encrypted if
    /// that one is. When this returns, the server has passed the request on.
    pub(in crate::engines) fn cancel(&self) -> io::Result<()> {
        let mut stream = Stream::connect(&self.address, Instant::now() + LOGIN_TIME)?;
        if let Some(tls) = &self.tls {
            ask_for_encryption(&mut stream, tls).map_err(|error| match error {
                ConnectError::Io(error) => error,
                other => io::Error::other(other.to_string()),
            })?;
        }
        let mut request = BytesMut::new();
        frontend::cancel_request(self.pid, self.secret, &mut request);
        stream.write_all(&request)?;
        stream.end_login(None)?;
        if stream.closes_within(LOGIN_TIME) { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

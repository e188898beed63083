//! Encrypted connections, with the modes of `psql` and `mysql`.
//!
//! ```text
//!   mode          encrypted             certificate signed by the roots    host name checked
//!   disable       never
//!   allow         if refused without
//!   prefer        if the server can
//!   require       or no connection
//!   verify-ca     or no connection      yes
//!   verify-full   or no connection      yes                                yes
//! ```
//!
//! The names are PostgreSQL's; MySQL has the same ones except *allow*. `rustls` does the work. It is stricter than
//! OpenSSL: a host that is named in the subject (CN) alone is not accepted, nor are certificates of X.509 version 1, nor
//! what older protocols than TLS 1.2 need; [`TlsError`] says so where it matters.

#[cfg(feature = "tls")]
mod certificate;
#[cfg(feature = "tls")]
mod verify;
#[cfg(feature = "tls")]
mod session;
#[cfg(not(feature = "tls"))]
#[path = "absent.rs"]
mod session;

use std::fmt;
use std::io;
use std::path::PathBuf;

pub(in crate::engines) use session::TlsSession;

/// When connections are encrypted, and what is checked; each is stricter than the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(in crate::engines) enum TlsMode {
    /// Never encrypted.
    #[default]
    Disable,
    /// Encrypted if the server refuses anything else.
    Allow,
    /// Encrypted if the server can do that.
    Prefer,
    /// Encrypted or not at all.
    Require,
    /// The same, and the certificate must be signed by one of the roots.
    VerifyCa,
    /// The same, and it must be for the host that was asked for.
    VerifyFull,
}

/// Which authorities may have signed the server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines) enum TlsRoots {
    /// Those in a PEM file.
    File(PathBuf),
    /// Those that the operating system trusts.
    System,
}

/// Everything that a connection's encryption depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engines) struct TlsOptions {
    pub(in crate::engines) mode: TlsMode,
    pub(in crate::engines) roots: Option<TlsRoots>,
    /// The files of a client certificate and of its key.
    pub(in crate::engines) client: Option<(PathBuf, PathBuf)>,
    /// The host as it was asked for.
    pub(in crate::engines) host: String,
}

impl TlsOptions {
    /// The same in another mode.
    pub(in crate::engines) fn with_mode(&self, mode: TlsMode) -> TlsOptions {
        TlsOptions { mode, ..self.clone() }
    }
}

/// Why a connection cannot be encrypted as it was asked for.
#[derive(Debug)]
pub(in crate::engines) enum TlsError {
    /// The connection broke, or nothing came in time.
    Io(io::Error),
    /// The server offers no encryption, and the mode wants it.
    NotOffered,
    /// A file cannot be used, or the two sides do not agree.
    Failed(String),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::Io(error) => write!(f, "the TLS handshake broke off: {error}"),
            TlsError::NotOffered => f.write_str(
                "the server does not offer TLS, and the connection must be encrypted; turn TLS on at the server, or ask for less",
            ),
            TlsError::Failed(why) => f.write_str(why),
        }
    }
}

impl From<io::Error> for TlsError {
    fn from(error: io::Error) -> TlsError {
        TlsError::Io(error)
    }
}

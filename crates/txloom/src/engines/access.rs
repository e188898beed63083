//! What a user allows on servers that were running before, and how to log in there.

use std::fmt;

/// A password. Shows itself to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub(in crate::engines) String);

impl Password {
    /// A password that was read from somewhere.
    pub fn new(text: impl Into<String>) -> Password {
        Password(text.into())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What a user who logs in to a running server can do there, and should be able to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessReport {
    /// The user.
    pub user: String,
    /// What the user can do beyond databases of ours; empty for one who is just right.
    pub excess: Vec<String>,
    /// Statements that make a user who can do what is needed and no more.
    pub grants: Vec<String>,
    /// The databases of dead processes that were dropped.
    pub dropped: Vec<String>,
    /// Databases that have our name, and whose owners are not known to be dead.
    pub left: Vec<String>,
}

/// What a user allows on servers that were running before. The default allows nothing beyond our own databases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessOptions {
    /// Logs in as a user who may do anything on the server.
    pub allow_superuser: bool,
    /// Sends statements that reach beyond our own databases.
    pub allow_server_changes: bool,
    /// Sends a password as it is over a connection that others can read.
    pub insecure_auth: bool,
    /// Opens at most so many connections; half of what the server has left, if it is not given.
    pub max_connections: Option<u32>,
    /// Used instead of the password in the URL.
    pub password: Option<Password>,
}

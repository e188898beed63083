//! How a login is protected.

use super::tls::TlsOptions;

/// Whether a login is bound to the certificate of the server (SCRAM-SHA-256-PLUS).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::engines) enum ChannelBindingMode {
    /// Never.
    Disable,
    /// If the server offers it.
    #[default]
    Prefer,
    /// Or no login.
    Require,
}

/// How a connection is encrypted, and what may be sent where it is not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engines) struct Security {
    pub(in crate::engines) tls: TlsOptions,
    pub(in crate::engines) binding: ChannelBindingMode,
    /// Whether a password may be sent as it is to where others can read it.
    pub(in crate::engines) insecure_auth: bool,
}

//! The client's side of a login: trust, clear text, MD5, SCRAM-SHA-256, and the same bound to the server's certificate.
//!
//! A server asks once. One that asks again, or for something else, is not answered: it may be after a weaker proof.

use std::io;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use txloom_core::outcome::{DbError, ErrorClass};

use super::super::wire::security::ChannelBindingMode;
use super::super::wire::stream::Stream;
use super::connection::{ConnectError, Login};

/// A login in progress.
pub(super) struct Authentication<'a> {
    login: &'a Login,
    /// What the login can be bound to.
    end_point: Option<Vec<u8>>,
    is_encrypted: bool,
    /// Whether nobody else can read what is sent.
    is_private: bool,
    /// Whether the server has asked for a proof.
    is_asked: bool,
    scram: Option<ScramSha256>,
}

impl<'a> Authentication<'a> {
    /// A login that has not begun, over this stream.
    pub(super) fn new(login: &'a Login, stream: &Stream) -> Authentication<'a> {
        Authentication {
            login,
            end_point: stream.end_point(),
            is_encrypted: stream.is_encrypted(),
            is_private: stream.is_private(),
            is_asked: false,
            scram: None,
        }
    }

    /// What to send in reply to a message; nothing, if it wants no reply.
    pub(super) fn reply(&mut self, message: &Message) -> Result<BytesMut, ConnectError> {
        let mut reply = BytesMut::new();
        match message {
            Message::AuthenticationCleartextPassword => {
                self.begin()?;
                if !self.is_private && !self.login.security.insecure_auth {
                    return Err(ConnectError::ClearText);
                }
                frontend::password_message(self.password()?, &mut reply)?;
            }
            Message::AuthenticationMd5Password(body) => {
                self.begin()?;
                let hash = md5_hash(self.login.user.as_bytes(), self.password()?, body.salt());
                frontend::password_message(hash.as_bytes(), &mut reply)?;
            }
            Message::AuthenticationSasl(body) => {
                self.begin()?;
                let offers = |name: &str| body.mechanisms().any(|mechanism| Ok(mechanism == name));
                let (plain, plus) = (offers(SCRAM_SHA_256)?, offers(SCRAM_SHA_256_PLUS)?);
                let (mechanism, binding) = self.mechanism(plain, plus)?;
                let scram = ScramSha256::new(self.password()?, binding);
                frontend::sasl_initial_response(mechanism, scram.message(), &mut reply)?;
                self.scram = Some(scram);
            }
            Message::AuthenticationSaslContinue(body) => {
                let scram = self.scram()?;
                scram.update(body.data())?;
                frontend::sasl_response(scram.message(), &mut reply)?;
            }
            Message::AuthenticationSaslFinal(body) => self.scram()?.finish(body.data())?,
            Message::AuthenticationKerberosV5
            | Message::AuthenticationGss
            | Message::AuthenticationSspi
            | Message::AuthenticationScmCredential => {
                return Err(ConnectError::Unsupported("Kerberos, GSSAPI or SSPI"));
            }
            Message::AuthenticationOk if self.binds() && self.scram.is_none() => return Err(self.unbound()),
            // Success, settings, notices.
            _ => {}
        }
        Ok(reply)
    }

    /// The server asks for a proof; it does so once.
    fn begin(&mut self) -> Result<(), ConnectError> {
        if std::mem::replace(&mut self.is_asked, true) {
            let again = "the server asks a second time for a password";
            return Err(io::Error::new(io::ErrorKind::InvalidData, again).into());
        }
        if self.binds() && self.end_point.is_none() { Err(self.unbound()) } else { Ok(()) }
    }

    fn binds(&self) -> bool {
        self.login.security.binding == ChannelBindingMode::Require
    }

    fn unbound(&self) -> ConnectError {
        ConnectError::Unsupported("no channel binding (and channel_binding=require asks for it)")
    }

    /// SCRAM, bound to the certificate of the server if both sides can do that.
    fn mechanism(&self, plain: bool, plus: bool) -> Result<(&'static str, ChannelBinding), ConnectError> {
        let mode = self.login.security.binding;
        match &self.end_point {
            Some(hash) if plus && mode != ChannelBindingMode::Disable => {
                Ok((SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash.clone())))
            }
            _ if self.binds() => Err(self.unbound()),
            _ if !plain => Err(ConnectError::Unsupported("a SASL mechanism other than SCRAM-SHA-256")),
            // A server that could have offered it will notice that somebody took the offer away.
            Some(_) if mode == ChannelBindingMode::Prefer && self.is_encrypted => {
                Ok((SCRAM_SHA_256, ChannelBinding::unrequested()))
            }
            _ => Ok((SCRAM_SHA_256, ChannelBinding::unsupported())),
        }
    }

    fn password(&self) -> Result<&'a [u8], ConnectError> {
        let missing = || DbError {
            class: ErrorClass::Other,
            code: "28P01".to_string(),
            native: None,
            message: "the server asks for a password, and none was given".to_string(),
            detail: None,
        };
        self.login
            .password
            .as_ref()
            .map(|password| password.0.as_bytes())
            .ok_or_else(|| ConnectError::Refused(missing()))
    }

    fn scram(&mut self) -> Result<&mut ScramSha256, ConnectError> {
        let out_of_turn = || io::Error::new(io::ErrorKind::InvalidData, "a SASL message out of turn");
        self.scram.as_mut().ok_or_else(|| out_of_turn().into())
    }
}

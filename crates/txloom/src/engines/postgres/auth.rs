//! The client's side of a login: trust, clear text, MD5, SCRAM-SHA-256.

use std::io;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use txloom_core::outcome::{DbError, ErrorClass};

use super::super::wire::url::Password;
use super::connection::ConnectError;

/// A login in progress.
pub(super) struct Authentication<'a> {
    user: &'a str,
    password: Option<&'a Password>,
    scram: Option<ScramSha256>,
}

impl<'a> Authentication<'a> {
    /// A login that has not begun.
    pub(super) fn new(user: &'a str, password: Option<&'a Password>) -> Authentication<'a> {
        Authentication { user, password, scram: None }
    }

    /// What to send in reply to a message; nothing, if it wants no reply.
    pub(super) fn reply(&mut self, message: &Message) -> Result<BytesMut, ConnectError> {
        let mut reply = BytesMut::new();
        match message {
            Message::AuthenticationCleartextPassword => frontend::password_message(self.password()?, &mut reply)?,
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(self.user.as_bytes(), self.password()?, body.salt());
                frontend::password_message(hash.as_bytes(), &mut reply)?;
            }
            Message::AuthenticationSasl(body) => {
                if !body.mechanisms().any(|mechanism| Ok(mechanism == SCRAM_SHA_256))? {
                    return Err(ConnectError::Unsupported("a SASL mechanism other than SCRAM-SHA-256"));
                }
                let scram = ScramSha256::new(self.password()?, ChannelBinding::unsupported());
                frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut reply)?;
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
            // Success, settings, notices.
            _ => {}
        }
        Ok(reply)
    }

    fn password(&self) -> Result<&'a [u8], ConnectError> {
        let missing = || DbError {
            class: ErrorClass::Other,
            code: "28P01".to_string(),
            native: None,
            message: "the server asks for a password, and none was given".to_string(),
            detail: None,
        };
        self.password.map(|password| password.0.as_bytes()).ok_or_else(|| ConnectError::Refused(missing()))
    }

    fn scram(&mut self) -> Result<&mut ScramSha256, ConnectError> {
        let out_of_turn = || io::Error::new(io::ErrorKind::InvalidData, "a SASL message out of turn");
        self.scram.as_mut().ok_or_else(|| out_of_turn().into())
    }
}

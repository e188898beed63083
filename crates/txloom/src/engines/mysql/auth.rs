//! Logging in: what a client answers to the methods that servers ask for.
//!
//! | method | what is sent |
//! |---|---|
//! | `mysql_native_password` | a hash of the password and the server's random bytes |
//! | `caching_sha2_password` | the same with SHA-256; to a server that has not seen the user yet, the password itself |
//! | `client_ed25519` | a signature of the server's random bytes, by a key that follows from the password |
//! | `mysql_clear_password`, `dialog` | the password itself |
//! | `unix_socket`, `auth_socket` | nothing: the server asks the operating system who we are |
//!
//! The password itself goes only where nobody else can read it: over TLS, or over a socket of this machine. (Clients of
//! MySQL can also encrypt it with a key that the server sends over the same open connection. That protects from those who
//! listen and not from those who answer in the server's place, so there is no such thing here.)

use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use sha1::{Digest, Sha1};
use sha2::{Sha256, Sha512};

use super::super::wire::url::Password;
use super::connection::ConnectError;
use super::packet::Packets;

/// The length of the server's random bytes, and that of those for a signature.
const SCRAMBLE_LENGTH: usize = 20;
const LONG_SCRAMBLE_LENGTH: usize = 32;

const ED25519: &str = "client_ed25519";

/// A login under way: the method and the random bytes that the server chose last.
pub(super) struct Authentication<'a> {
    password: &'a [u8],
    /// Whether the password itself may be sent: nobody else can read it, or the user says that it may be read.
    may_tell: bool,
    has_switched: bool,
    method: String,
    scramble: Vec<u8>,
}

impl<'a> Authentication<'a> {
    /// As the server's greeting proposes.
    pub(super) fn new(
        password: Option<&'a Password>,
        may_tell: bool,
        method: &str,
        scramble: &[u8],
    ) -> Authentication<'a> {
        let password = password.map_or(&[][..], |password| password.0.as_bytes());
        let (method, scramble) = (method.to_string(), scramble.to_vec());
        Authentication { password, may_tell, has_switched: false, method, scramble }
    }

    /// The server asks for another method. It does so once: one that goes on asking is after something else.
    pub(super) fn switch(&mut self, method: &str, scramble: &[u8]) -> Result<(), ConnectError> {
        if std::mem::replace(&mut self.has_switched, true) {
            return Err(ConnectError::Unsupported("the server asks for one method of logging in after another".into()));
        }
        self.method = method.to_string();
        self.scramble = scramble.to_vec();
        Ok(())
    }

    /// The method, as the server calls it.
    pub(super) fn method(&self) -> &str {
        &self.method
    }

    /// The first answer of the method; `None` if it is not known. A method that wants the password itself has no answer
    /// before the server has really asked for it.
    pub(super) fn response(&self) -> Result<Option<Vec<u8>>, ConnectError> {
        let short = &self.scramble[..self.scramble.len().min(SCRAMBLE_LENGTH)];
        Ok(match self.method.as_str() {
            "mysql_native_password" | "caching_sha2_password" if self.password.is_empty() => Some(Vec::new()),
            "mysql_native_password" => Some(native(self.password, short)),
            "caching_sha2_password" => Some(caching_sha2(self.password, short)),
            ED25519 => Some(ed25519(self.password, &self.scramble).ok_or_else(short_scramble)?),
            "mysql_clear_password" | "dialog" if self.has_switched => Some(self.told()?),
            "unix_socket" | "auth_socket" => Some(Vec::new()),
            _ => None,
        })
    }

    /// The password itself.
    fn told(&self) -> Result<Vec<u8>, ConnectError> {
        if self.may_tell { Ok([self.password, &[0]].concat()) } else { Err(ConnectError::ClearText) }
    }

    /// Answers what the server wants to know further: for `caching_sha2_password`, the password itself.
    pub(super) fn more(&mut self, asked: &[u8], packets: &mut Packets) -> Result<(), ConnectError> {
        const FAST_IS_ENOUGH: u8 = 3;
        const FULL_IS_NEEDED: u8 = 4;
        match asked.first() {
            Some(&FAST_IS_ENOUGH) => Ok(()),
            // An open connection does not do even if the user allows it: the server would not take the password there.
            Some(&FULL_IS_NEEDED) if self.method == "caching_sha2_password" && !packets.stream().is_private() => {
                Err(ConnectError::ClearText)
            }
            Some(&FULL_IS_NEEDED) if self.method == "caching_sha2_password" => Ok(packets.send(&self.told()?)?),
            _ => Err(ConnectError::Unsupported(format!("the server continues `{}` in an unknown way", self.method))),
        }
    }
}

fn short_scramble() -> ConnectError {
    ConnectError::Unsupported("the server sends too few bytes to be signed".to_string())
}

/// The signature of the scramble by the key that MariaDB derives from a password: it takes the hash of the whole password
/// where others take that of a seed of 32 bytes.
fn ed25519(password: &[u8], scramble: &[u8]) -> Option<Vec<u8>> {
    let key = ExpandedSecretKey::from_bytes(&Sha512::digest(password).into());
    let signed = scramble.get(..LONG_SCRAMBLE_LENGTH)?;
    Some(raw_sign::<Sha512>(&key, signed, &(&key).into()).to_bytes().to_vec())
}

/// SHA1(password) xor SHA1(scramble + SHA1(SHA1(password)))
fn native(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let mask = Sha1::new().chain_update(scramble).chain_update(Sha1::digest(once)).finalize();
    once.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

/// SHA256(password) xor SHA256(SHA256(SHA256(password)) + scramble)
fn caching_sha2(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let mask = Sha256::new().chain_update(Sha256::digest(once)).chain_update(scramble).finalize();
    once.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn answers_prove_the_password_without_telling_it() {
        // Computed independently with Python's hashlib.
        let scramble: Vec<u8> = (1..=20).collect();
        assert_eq!(hex(&native(b"secret", &scramble)), "b32bb3a583e1340c0a1108d58b1be49781ad8c2f");
        assert_eq!(
            hex(&caching_sha2(b"secret", &scramble)),
            "746ebe205d56a0707acb3e796e834e0dd7b1d61743b26bd5202c7a623230c7c9"
        );
    }

    #[test]
    fn an_empty_password_is_answered_with_nothing() {
        for method in ["mysql_native_password", "caching_sha2_password"] {
            assert_eq!(Authentication::new(None, false, method, &[7; 21]).response().unwrap(), Some(Vec::new()));
        }
        assert_eq!(Authentication::new(None, false, "something", &[7; 21]).response().unwrap(), None);
    }

    #[test]
    fn the_password_itself_goes_only_where_nobody_listens() {
        let password = Password("secret".into());
        for method in ["dialog", "mysql_clear_password"] {
            let mut login = Authentication::new(Some(&password), false, "x", &[]);
            login.switch(method, &[]).unwrap();
            assert!(matches!(login.response(), Err(ConnectError::ClearText)));
            assert!(login.switch(method, &[]).is_err(), "once is enough");
            let mut login = Authentication::new(Some(&password), true, "x", &[]);
            login.switch(method, &[]).unwrap();
            assert_eq!(login.response().unwrap(), Some(b"secret\0".to_vec()));
        }
        assert!(Authentication::new(Some(&password), true, ED25519, &[7; 20]).response().is_err(), "too short");
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(format!("{:?}", Password("secret".into())), "***");
    }
}

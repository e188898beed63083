//! Logging in: what a client answers to the methods that servers ask for.
//!
//! | method | what is sent |
//! |---|---|
//! | `mysql_native_password` | a hash of the password and the server's random bytes |
//! | `caching_sha2_password` | the same with SHA-256; to a server that has not seen the user yet, the password itself |
//! | `unix_socket`, `auth_socket` | nothing: the server asks the operating system who we are |
//!
//! The password itself goes over a local socket as it is, and over TCP encrypted with the server's public key. That
//! key comes from the server over the same connection, so it protects against who listens and not against who
//! pretends to be the server. (Clients of MySQL call that `allowPublicKeyRetrieval`.)

use std::io;

use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::super::wire::url::Password;
use super::connection::ConnectError;
use super::packet::Packets;
use super::rsa::PublicKey;

/// The length of the server's random bytes.
const SCRAMBLE_LENGTH: usize = 20;

/// A login under way: the method and the random bytes that the server chose last.
pub(super) struct Authentication<'a> {
    password: &'a [u8],
    method: String,
    scramble: Vec<u8>,
}

impl<'a> Authentication<'a> {
    /// As the server's greeting proposes.
    pub(super) fn new(password: Option<&'a Password>, method: &str, scramble: &[u8]) -> Authentication<'a> {
        let password = password.map_or(&[][..], |password| password.0.as_bytes());
        let mut authentication = Authentication { password, method: String::new(), scramble: Vec::new() };
        authentication.switch(method, scramble);
        authentication
    }

    /// The server asks for another method.
    pub(super) fn switch(&mut self, method: &str, scramble: &[u8]) {
        self.method = method.to_string();
        self.scramble = scramble[..scramble.len().min(SCRAMBLE_LENGTH)].to_vec();
    }

    /// The method, as the server calls it.
    pub(super) fn method(&self) -> &str {
        &self.method
    }

    /// The first answer of the method; `None` if we do not know it.
    pub(super) fn response(&self) -> Option<Vec<u8>> {
        match self.method.as_str() {
            "mysql_native_password" | "caching_sha2_password" if self.password.is_empty() => Some(Vec::new()),
            "mysql_native_password" => Some(native(self.password, &self.scramble)),
            "caching_sha2_password" => Some(caching_sha2(self.password, &self.scramble)),
            "unix_socket" | "auth_socket" => Some(Vec::new()),
            _ => None,
        }
    }

    /// Answers what the server wants to know further: for `caching_sha2_password`, the password itself.
    pub(super) fn more(&self, asked: &[u8], packets: &mut Packets) -> Result<(), ConnectError> {
        const FAST_IS_ENOUGH: u8 = 3;
        const FULL_IS_NEEDED: u8 = 4;
        const GIVE_PUBLIC_KEY: u8 = 2;
        match asked.first() {
            Some(&FAST_IS_ENOUGH) => Ok(()),
            Some(&FULL_IS_NEEDED) if self.method == "caching_sha2_password" => {
                let mut secret = [self.password, &[0]].concat();
                if !packets.stream().is_local() {
                    packets.send(&[GIVE_PUBLIC_KEY])?;
                    let reply = packets.receive()?;
                    let key = reply.strip_prefix(&[1]).and_then(PublicKey::from_pem).ok_or_else(no_key)?;
                    secret.iter_mut().zip(self.scramble.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
                    secret = key.encrypt(&secret, random_seed()?).ok_or_else(no_key)?;
                }
                Ok(packets.send(&secret)?)
            }
            _ => Err(ConnectError::Unsupported(format!("the server continues `{}` in an unknown way", self.method))),
        }
    }
}

fn no_key() -> ConnectError {
    let why = "the server wants an encrypted password, but has sent no RSA key that could be used";
    ConnectError::Unsupported(why.to_string())
}

/// Random bytes for one encryption, from the operating system.
fn random_seed() -> io::Result<[u8; 20]> {
    let mut seed = [0; 20];
    io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut seed)?;
    Ok(seed)
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
            assert_eq!(Authentication::new(None, method, &[7; 21]).response(), Some(Vec::new()));
        }
        assert_eq!(Authentication::new(None, "dialog", &[7; 21]).response(), None);
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(format!("{:?}", Password("secret".into())), "***");
    }
}

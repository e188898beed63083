//! One encrypted connection: the handshake, and what is read and written after it.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection};

use super::certificate::end_point;
use super::verify::{Verifier, explain};
use super::{TlsError, TlsMode, TlsOptions};

/// An encrypted connection.
pub(in crate::engines) struct TlsSession(ClientConnection);

impl fmt::Debug for TlsSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsSession")
    }
}

impl TlsSession {
    /// Agrees with the server on keys, and checks its certificate as the mode asks for.
    pub(in crate::engines) fn begin<S: Read + Write>(
        socket: &mut S,
        options: &TlsOptions,
    ) -> Result<TlsSession, TlsError> {
        let name = server_name(options)?;
        let connection = ClientConnection::new(Arc::new(config(options)?), name);
        let mut connection = connection.map_err(|error| TlsError::Failed(explain(&error, options)))?;
        while connection.is_handshaking() {
            connection.complete_io(socket).map_err(|error| handshake_error(error, options))?;
        }
        Ok(TlsSession(connection))
    }

    /// The hash of the server's certificate (RFC 5929, `tls-server-end-point`).
    pub(in crate::engines) fn end_point(&self) -> Option<Vec<u8>> {
        end_point(self.0.peer_certificates()?.first()?)
    }

    /// Returns true if there is something to be read, or the end, without asking the socket.
    pub(in crate::engines) fn has_plaintext(&mut self) -> io::Result<bool> {
        let state = self.0.process_new_packets().map_err(io::Error::other)?;
        Ok(state.plaintext_bytes_to_read() > 0 || state.peer_has_closed())
    }

    /// Reads once from the socket; 0 is its end.
    pub(in crate::engines) fn take_in<S: Read + Write>(&mut self, socket: &mut S) -> io::Result<usize> {
        self.0.read_tls(socket)
    }

    pub(in crate::engines) fn read<S: Read + Write>(&mut self, socket: &mut S, buffer: &mut [u8]) -> io::Result<usize> {
        match rustls::Stream::new(&mut self.0, socket).read(buffer) {
            // A server that dies says no goodbye.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }

    pub(in crate::engines) fn write<S: Read + Write>(&mut self, socket: &mut S, buffer: &[u8]) -> io::Result<usize> {
        rustls::Stream::new(&mut self.0, socket).write(buffer)
    }

    /// Says that nothing more will be sent.
    pub(in crate::engines) fn finish<S: Read + Write>(&mut self, socket: &mut S) {
        self.0.send_close_notify();
        // A connection that is gone already needs no goodbye.
        let _ = self.0.write_tls(socket);
    }
}

/// The name to be checked; any will do where none is.
fn server_name(options: &TlsOptions) -> Result<ServerName<'static>, TlsError> {
    match ServerName::try_from(options.host.clone()) {
        Ok(name) => Ok(name),
        Err(_) if options.mode < TlsMode::VerifyFull => {
            Ok(ServerName::try_from("localhost").expect("a name that is valid"))
        }
        Err(_) => Err(TlsError::Failed(format!(
            "`{}` is not a host name that a certificate could be for: connect by the host's name, or check less \
             (sslmode=verify-ca, ssl-mode=VERIFY_CA)",
            options.host
        ))),
    }
}

fn config(options: &TlsOptions) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Verifier::new(options, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| TlsError::Failed(error.to_string()))?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let Some((certificate, key)) = &options.client else { return Ok(builder.with_no_client_auth()) };
    let chain = certificates(certificate)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| {
        unusable(key, &format!("{error}; it must hold a private key in PEM form that is not encrypted"))
    })?;
    let config = builder.with_client_auth_cert(chain, private);
    config.map_err(|error| unusable(certificate, &format!("{error} (with the key in {})", key.display())))
}

/// The certificates in a PEM file; at least one.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(chain) if chain.is_empty() => Err(unusable(path, &"it holds no certificate in PEM form")),
        Ok(chain) => Ok(chain),
        Err(error) => Err(unusable(path, &error)),
    }
}

fn unusable(path: &Path, why: &dyn fmt::Display) -> TlsError {
    TlsError::Failed(format!("cannot use {}: {why}", path.display()))
}

fn handshake_error(error: io::Error, options: &TlsOptions) -> TlsError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(tls) => TlsError::Failed(explain(tls, options)),
        None => TlsError::Io(error),
    }
}

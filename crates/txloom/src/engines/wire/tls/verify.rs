//! What is checked of a server's certificate, by mode, and what to say if it does not hold.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{AlertDescription, CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::certificate::validity;
use super::session::certificates;
use super::{TlsError, TlsMode, TlsOptions, TlsRoots};

/// Checks a server's certificate as the mode asks for. That the server owns the key is always checked.
#[derive(Debug)]
pub(super) struct Verifier {
    mode: TlsMode,
    /// The roots, if a signature is to be checked.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// The certificates of the roots' file: one of them may be the server's own.
    pinned: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    /// The verifier of a mode; reads the roots if it needs them.
    pub(super) fn new(options: &TlsOptions, provider: &Arc<CryptoProvider>) -> Result<Verifier, TlsError> {
        let (mode, algorithms) = (options.mode, provider.signature_verification_algorithms);
        if mode < TlsMode::VerifyCa {
            return Ok(Verifier { mode, chain: None, pinned: Vec::new(), algorithms });
        }
        let pinned = match &options.roots {
            Some(TlsRoots::File(path)) => certificates(path)?,
            Some(TlsRoots::System) => rustls_native_certs::load_native_certs().certs,
            None => {
                let why = "the server's certificate is to be checked, but no file says whose signature counts: name it \
                           with sslrootcert=FILE (PostgreSQL) or ssl-ca=FILE (MySQL)";
                return Err(TlsError::Failed(why.to_string()));
            }
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(pinned.iter().cloned());
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
        let chain = chain.map_err(|error| TlsError::Failed(format!("cannot use the root certificates: {error}")))?;
        Ok(Verifier { mode, chain: Some(chain), pinned, algorithms })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        let checked = chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let is_pinned = self.pinned.iter().any(|root| root == end_entity);
        match checked {
            // The name is looked at last: everything else holds.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.mode < TlsMode::VerifyFull => Ok(ServerCertVerified::assertion()),
            // A server that signed its own certificate, and that certificate is the root: as good as a signature.
            Err(Error::InvalidCertificate(CertificateError::Other(_) | CertificateError::UnknownIssuer))
                if is_pinned =>
            {
                verify_pinned(end_entity, server_name, self.mode, now)
            }
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Checks what is left to be checked of a certificate that is trusted itself: its time and its name.
fn verify_pinned(
    certificate: &CertificateDer<'_>,
    name: &ServerName<'_>,
    mode: TlsMode,
    now: UnixTime,
) -> Result<ServerCertVerified, Error> {
    let (from, until) = validity(certificate).ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))?;
    if now.as_secs() < from {
        return Err(Error::InvalidCertificate(CertificateError::NotValidYet));
    }
    if now.as_secs() > until {
        return Err(Error::InvalidCertificate(CertificateError::Expired));
    }
    if mode == TlsMode::VerifyFull {
        rustls::client::verify_server_name(&rustls::server::ParsedCertificate::try_from(certificate)?, name)?;
    }
    Ok(ServerCertVerified::assertion())
}

/// Why a handshake failed, and what to do.
pub(super) fn explain(error: &Error, options: &TlsOptions) -> String {
    let host = &options.host;
    let roots = match &options.roots {
        Some(TlsRoots::File(path)) => path.display().to_string(),
        Some(TlsRoots::System) | None => "the roots of this system".to_string(),
    };
    match error {
        Error::InvalidCertificate(certificate) => match certificate {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                format!("the server's certificate is signed by none of the authorities in {roots}")
            }
            CertificateError::NotValidForName => format!("the server's certificate is not for the host `{host}`"),
            CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => format!(
                "the server's certificate names no host in its subjectAltName, and a name in its subject (CN) alone, which \
                 psql accepts, does not count here: `{host}` must be in its subjectAltName"
            ),
            CertificateError::NotValidForNameContext { presented, .. } => {
                format!("the server's certificate is not for the host `{host}`, but for {}", presented.join(", "))
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the server's certificate has expired".to_string()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the server's certificate is not valid yet: check the clocks".to_string()
            }
            other => format!(
                "the server's certificate cannot be used: {other:?} (stricter than OpenSSL: it must be of X.509 version \
                 3, not an authority's own, with a key of 2048 bits or more)"
            ),
        },
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "the server wants a client certificate: name it with sslcert and sslkey (PostgreSQL) or ssl-cert and ssl-key \
             (MySQL)"
                .to_string()
        }
        Error::AlertReceived(alert) => format!("the server ends the TLS handshake: {alert:?}"),
        other => format!("cannot agree on TLS with the server: {other} (it must know TLS 1.2 or 1.3)"),
    }
}

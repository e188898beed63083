//! Certificates for tests, made by the `openssl` program: two authorities, servers and a client.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::servers::{ScratchDir, ServerUser};

/// A directory of certificates, which a server's user owns.
pub(in crate::engines) struct Certificates {
    dir: ScratchDir,
    user: Option<ServerUser>,
}

impl Certificates {
    /// `ca`, `other-ca`; `right` and `wrong`, for that address and for another one; `named`, which has its name in the
    /// subject alone; `own`, signed by itself; and `client`, for the user `tls_user`.
    pub(in crate::engines) fn make(address: &str) -> Certificates {
        let certificates = Certificates { dir: ScratchDir::create().unwrap(), user: ServerUser::for_server().unwrap() };
        fs::set_permissions(certificates.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        certificates.sign("ca", "/CN=ca", None, &[]);
        certificates.sign("other-ca", "/CN=other", None, &[]);
        let right = format!("subjectAltName=IP:{address}");
        let leaf = "basicConstraints=critical,CA:FALSE";
        certificates.sign("right", "/CN=server", Some("ca"), &[leaf, &right]);
        certificates.sign("wrong", "/CN=server", Some("ca"), &[leaf, "subjectAltName=DNS:elsewhere.test"]);
        certificates.sign("named", &format!("/CN={address}"), Some("ca"), &[leaf]);
        certificates.sign("own", "/CN=own", None, &[&right]);
        certificates.sign("client", "/CN=tls_user", Some("ca"), &[leaf]);
        certificates
    }

    /// The user of the server that they were made for.
    pub(in crate::engines) fn user(&self) -> Option<ServerUser> {
        self.user.clone()
    }

    /// The certificate of that name.
    pub(in crate::engines) fn certificate(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("{name}.crt"))
    }

    /// The key of that name.
    pub(in crate::engines) fn key(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("{name}.key"))
    }

    fn sign(&self, name: &str, subject: &str, authority: Option<&str>, extensions: &[&str]) {
        let (certificate, key) = (self.certificate(name), self.key(name));
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        openssl.args(["-days", "30", "-subj", subject]).arg("-keyout").arg(&key).arg("-out").arg(&certificate);
        if let Some(authority) = authority {
            openssl.arg("-CA").arg(self.certificate(authority)).arg("-CAkey").arg(self.key(authority));
        }
        for extension in extensions {
            openssl.args(["-addext", extension]);
        }
        let output = openssl.output().expect("openssl is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.give(&certificate);
        self.give(&key);
    }

    fn give(&self, path: &Path) {
        if let Some(user) = &self.user {
            user.own(path).unwrap();
        }
    }
}

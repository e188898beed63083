//! Encrypted connections: the same outcome as `psql` has with the same URL.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::super::testing::certificates::Certificates;
use super::super::connection::{ConnectError, Connection, Login};
use super::super::url;
use super::*;

const HBA: &str = "\
local all postgres trust
hostssl all tls_user 127.0.0.0/8 cert
hostssl all open_user 127.0.0.0/8 scram-sha-256
hostssl all clear_user 127.0.0.0/8 password
hostnossl all plain_user 127.0.0.0/8 password
hostnossl all hashed_user 127.0.0.0/8 scram-sha-256
";

/// A server that listens at an address of its own, since its port is that of everybody.
struct TlsServer {
    server: PrivatePostgres,
    certificates: Certificates,
    address: String,
}

impl TlsServer {
    fn start() -> TlsServer {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let address = format!("127.{}.{}.{count}", 64 + pid / 250 % 60, 1 + pid % 250);
        let certificates = Certificates::make(&address);
        let hba = certificates.certificate("hba");
        std::fs::write(&hba, HBA).unwrap();
        let path = |path: std::path::PathBuf| path.display().to_string();
        let server = private_of(
            certificates.user(),
            &[
                ("listen_addresses", &address),
                ("hba_file", &path(hba)),
                ("ssl", "on"),
                ("ssl_cert_file", &path(certificates.certificate("right"))),
                ("ssl_key_file", &path(certificates.key("right"))),
                ("ssl_ca_file", &path(certificates.certificate("ca"))),
            ],
        );
        let server = TlsServer { server, certificates, address };
        server.ask("CREATE ROLE tls_user LOGIN");
        for user in ["open_user", "clear_user", "plain_user", "hashed_user"] {
            server.ask(&format!("CREATE ROLE {user} LOGIN PASSWORD 'secret'"));
        }
        server
    }

    fn ask(&self, sql: &str) {
        let url = format!("postgres://postgres@/postgres?host={}", self.server.socket_dir().display());
        let outcome = attempt(&url, false).unwrap().execute(sql, |_| String::new()).unwrap();
        assert_eq!(outcome.error, None, "{sql}");
    }

    /// Makes the server show another certificate.
    fn show(&self, name: &str) {
        let certificates = &self.certificates;
        std::fs::copy(certificates.certificate(name), certificates.certificate("right")).unwrap();
        std::fs::copy(certificates.key(name), certificates.key("right")).unwrap();
        self.ask("SELECT pg_reload_conf()");
    }

    fn url(&self, user: &str, parameters: &str) -> String {
        format!("postgres://{user}@{}:{}/postgres?{parameters}", self.address, self.server.port())
    }
}

fn attempt(text: &str, insecure_auth: bool) -> Result<Connection, ConnectError> {
    let url = url::parse(text, &|_| None).unwrap();
    let mut security = url.security;
    security.insecure_auth = insecure_auth;
    Connection::open(&Login {
        address: url.address,
        user: url.user,
        password: url.password,
        security,
        database: url.database,
        settings: Vec::new(),
        patience: Some(LIMIT),
    })
}

/// Tries the URL with `psql` and here; both must do the same. Returns what went wrong here.
#[track_caller]
fn same_as_psql(url: &str, succeeds: bool) -> String {
    let psql = Command::new("psql")
        .args(["-X", "-w", "-c", "SELECT 1", url])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .output()
        .expect("psql is installed");
    let said = String::from_utf8_lossy(&psql.stderr).into_owned();
    assert_eq!(psql.status.success(), succeeds, "psql {url}: {said}");
    match attempt(url, false) {
        Ok(mut connection) => {
            assert!(succeeds, "{url}: psql says {said}");
            let outcome = connection.execute("SELECT 1", |_| String::new()).unwrap();
            assert_eq!(outcome.error, None);
            assert!(connection.is_silent());
            connection.cancel_key().cancel().unwrap();
            String::new()
        }
        Err(error) => {
            assert!(!succeeds, "{url}: {error}");
            error.to_string()
        }
    }
}

#[test]
fn modes_and_certificates_mean_what_they_mean_to_psql() {
    let server = TlsServer::start();
    let path = |name: &str| server.certificates.certificate(name).display().to_string();
    let (ca, other) = (path("ca"), path("other-ca"));
    let open = |parameters: &str| server.url("open_user:secret", parameters);
    for mode in ["allow", "prefer", "require"] {
        same_as_psql(&open(&format!("sslmode={mode}")), true);
    }
    same_as_psql(&open("sslmode=disable"), false);
    same_as_psql(&open(""), true);
    same_as_psql(&open("sslmode=require&channel_binding=require"), true);
    same_as_psql(&server.url("clear_user:secret", "sslmode=require"), true);
    same_as_psql(&server.url("clear_user:secret", "sslmode=require&channel_binding=require"), false);
    same_as_psql(&server.url("hashed_user:secret", "sslmode=prefer"), true);
    same_as_psql(&server.url("hashed_user:secret", "sslmode=require"), false);
    same_as_psql(&server.url("open_user:wrong", "sslmode=require"), false);
    for mode in ["verify-ca", "verify-full"] {
        same_as_psql(&open(&format!("sslmode={mode}&sslrootcert={ca}")), true);
        let wrong = same_as_psql(&open(&format!("sslmode={mode}&sslrootcert={other}")), false);
        assert!(wrong.contains("signed by none of the authorities"), "{wrong}");
        same_as_psql(&open(&format!("sslmode={mode}&sslrootcert=/nonexistent")), false);
    }
    same_as_psql(&open(&format!("sslmode=require&sslrootcert={other}")), false);
    let client = |name: &str| {
        let key = server.certificates.key(name).display().to_string();
        format!("sslmode=require&sslcert={}&sslkey={key}", path(name))
    };
    same_as_psql(&server.url("tls_user", &client("client")), true);
    same_as_psql(&server.url("tls_user", "sslmode=require"), false);
    same_as_psql(&server.url("open_user:secret", &client("own")), false);
}

#[test]
fn a_certificate_for_another_host_is_noticed_when_names_are_checked() {
    let server = TlsServer::start();
    let ca = server.certificates.certificate("ca").display().to_string();
    let open = |parameters: &str| server.url("open_user:secret", parameters);
    server.show("wrong");
    same_as_psql(&open(&format!("sslmode=verify-ca&sslrootcert={ca}")), true);
    let wrong = same_as_psql(&open(&format!("sslmode=verify-full&sslrootcert={ca}")), false);
    assert!(wrong.contains("elsewhere.test"), "{wrong}");
    server.show("own");
    let own = server.certificates.certificate("own").display().to_string();
    same_as_psql(&open(&format!("sslmode=verify-full&sslrootcert={own}")), true);
    server.show("named");
    // Stricter than psql, which takes a name in the subject.
    let error = attempt(&open(&format!("sslmode=verify-full&sslrootcert={ca}")), false).err().unwrap().to_string();
    assert!(error.contains("subjectAltName") && error.contains("psql accepts"), "{error}");
}

#[test]
fn a_password_is_not_sent_where_others_can_read_it() {
    let server = TlsServer::start();
    let url = server.url("plain_user:secret", "sslmode=disable");
    assert!(matches!(attempt(&url, false), Err(ConnectError::ClearText)));
    assert!(attempt(&url, true).is_ok());
    let url = server.url("plain_user:secret", "sslmode=prefer");
    assert!(matches!(attempt(&url, false), Err(ConnectError::ClearText)), "also after TLS was refused");
}

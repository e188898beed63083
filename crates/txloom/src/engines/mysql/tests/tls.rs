//! Encrypted connections: the same outcome as the `mariadb` program has with the same options.

use std::net::TcpListener;
use std::process::Command;

use super::super::super::testing::certificates::Certificates;
use super::super::connection::{ConnectError, Connection, Login};
use super::super::url;
use super::*;

const ADDRESS: &str = "127.0.0.1";

struct TlsServer {
    server: PrivateMySql,
    certificates: Certificates,
    port: u16,
}

impl TlsServer {
    fn start(certificate: &str) -> TlsServer {
        let certificates = Certificates::make(ADDRESS);
        let port = TcpListener::bind((ADDRESS, 0)).unwrap().local_addr().unwrap().port();
        let path = |path: std::path::PathBuf| path.display().to_string();
        let server = private_of(
            certificates.user(),
            &[
                ("skip-networking", "0"),
                ("bind-address", ADDRESS),
                ("port", &port.to_string()),
                ("ssl-cert", &path(certificates.certificate(certificate))),
                ("ssl-key", &path(certificates.key(certificate))),
                ("ssl-ca", &path(certificates.certificate("ca"))),
            ],
        );
        let server = TlsServer { server, certificates, port };
        server.ask("INSTALL SONAME 'auth_ed25519'");
        for (user, how) in [
            ("open_user", "IDENTIFIED BY 'secret'"),
            ("tls_only", "IDENTIFIED BY 'secret' REQUIRE SSL"),
            ("with_certificate", "IDENTIFIED BY 'secret' REQUIRE SUBJECT '/CN=tls_user'"),
            ("ed_user", "IDENTIFIED VIA ed25519 USING PASSWORD('secret')"),
        ] {
            server.ask(&format!("CREATE USER {user} {how}"));
        }
        server
    }

    fn ask(&self, sql: &str) {
        let url = format!("mysql://{}@?socket={}", self.server.superuser(), self.server.socket_path().display());
        let outcome = attempt(&url).unwrap().execute(sql).unwrap();
        assert_eq!(outcome.error, None, "{sql}");
    }

    /// Tries to log in with the `mariadb` program and here; both must do the same. Returns what went wrong here.
    #[track_caller]
    fn same_as_mariadb(&self, user: &str, options: &str, parameters: &str, succeeds: bool) -> String {
        let mariadb = Command::new("mariadb")
            .arg("--no-defaults")
            .args(["-h", ADDRESS, "-P", &self.port.to_string(), "-u", user, "-psecret", "-e", "SELECT 1"])
            .args(options.split_whitespace())
            .output()
            .expect("mariadb is installed");
        let said = String::from_utf8_lossy(&mariadb.stderr).into_owned();
        assert_eq!(mariadb.status.success(), succeeds, "mariadb {user} {options}: {said}");
        match attempt(&format!("mysql://{user}:secret@{ADDRESS}:{}/?{parameters}", self.port)) {
            Ok(mut connection) => {
                assert!(succeeds, "{user} {parameters}: mariadb says {said}");
                assert_eq!(connection.execute("SELECT 1").unwrap().error, None);
                String::new()
            }
            Err(error) => {
                assert!(!succeeds, "{user} {parameters}: {error:?}");
                format!("{error:?}")
            }
        }
    }
}

fn attempt(text: &str) -> Result<Connection, ConnectError> {
    let url = url::parse(text, &|_| None).unwrap();
    Connection::open(&Login {
        address: url.address,
        user: url.user,
        password: url.password,
        security: url.security,
        database: None,
        patience: Some(LIMIT),
        gives_files: false,
    })
}

#[test]
fn modes_and_certificates_mean_what_they_mean_to_mariadb() {
    let server = TlsServer::start("right");
    let path = |name: &str| server.certificates.certificate(name).display().to_string();
    let (ca, other) = (path("ca"), path("other-ca"));
    for user in ["open_user", "tls_only", "ed_user"] {
        server.same_as_mariadb(user, "--ssl", "ssl-mode=REQUIRED", true);
    }
    server.same_as_mariadb("open_user", "--skip-ssl", "ssl-mode=DISABLED", true);
    server.same_as_mariadb("ed_user", "--skip-ssl", "ssl-mode=DISABLED", true);
    server.same_as_mariadb("tls_only", "--skip-ssl", "ssl-mode=DISABLED", false);
    server.same_as_mariadb("tls_only", "--ssl", "", true);
    let checked = format!("--ssl-ca={ca} --ssl-verify-server-cert");
    server.same_as_mariadb("open_user", &checked, &format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={ca}"), true);
    server.same_as_mariadb("open_user", &format!("--ssl-ca={ca}"), &format!("ssl-mode=VERIFY_CA&ssl-ca={ca}"), true);
    let checked = format!("--ssl-ca={other} --ssl-verify-server-cert");
    let wrong = server.same_as_mariadb("open_user", &checked, &format!("ssl-ca={other}"), false);
    assert!(wrong.contains("signed by none of the authorities"), "{wrong}");
    let key = server.certificates.key("client").display().to_string();
    let files = format!("ssl-cert={}", path("client"));
    let options = format!("--{files} --ssl-key={key}");
    server.same_as_mariadb("with_certificate", &options, &format!("{files}&ssl-key={key}"), true);
    server.same_as_mariadb("with_certificate", "--ssl", "ssl-mode=REQUIRED", false);
}

#[test]
fn a_certificate_for_another_host_is_noticed_when_names_are_checked() {
    let server = TlsServer::start("wrong");
    let ca = server.certificates.certificate("ca").display().to_string();
    server.same_as_mariadb("open_user", &format!("--ssl-ca={ca}"), &format!("ssl-ca={ca}"), true);
    let checked = format!("--ssl-ca={ca} --ssl-verify-server-cert");
    let parameters = format!("ssl-ca={ca}&ssl-verify-server-cert=1");
    let wrong = server.same_as_mariadb("open_user", &checked, &parameters, false);
    assert!(wrong.contains("elsewhere.test"), "{wrong}");
}

#[test]
fn a_server_without_tls_is_used_only_where_that_is_allowed() {
    let server = private(&[("skip-ssl", "1")]);
    let url = |mode: &str| {
        let (user, socket) = (server.superuser(), server.socket_path());
        format!("mysql://{user}@?socket={}&ssl-mode={mode}", socket.display())
    };
    assert!(attempt(&url("PREFERRED")).is_ok());
    assert!(matches!(attempt(&url("REQUIRED")), Err(ConnectError::Tls(_))));
}

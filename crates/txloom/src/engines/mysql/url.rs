//! `mysql://user:password@host:port/database?socket=PATH`, with the defaults of the `mysql` program.
//!
//! Messages never repeat a part of the URL that could be a password.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::wire::defaults;
use super::super::wire::security::Security;
use super::super::wire::stream::Address;
use super::super::wire::tls::{TlsMode, TlsOptions, TlsRoots};
use super::super::wire::url::{Environment, Password, port, split, unknown_parameter};
use crate::servers::user;

/// A URL that was read. The database that it may name is left alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) address: Address,
    pub(super) user: String,
    pub(super) password: Option<Password>,
    pub(super) security: Security,
}

/// Where servers put their sockets.
const SOCKETS: &[&str] = &["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// The parameters that mean something, and the variables that give them where nothing else does.
const PARAMETERS: &[(&str, &str)] = &[
    ("host", "MYSQL_HOST"),
    ("port", "MYSQL_TCP_PORT"),
    ("socket", "MYSQL_UNIX_PORT"),
    ("user", ""),
    ("password", "MYSQL_PWD"),
    ("ssl-mode", ""),
    ("ssl-ca", ""),
    ("ssl-cert", ""),
    ("ssl-key", ""),
    ("ssl-verify-server-cert", ""),
];

/// Parameters that change nothing here.
const IGNORED: &[&str] = &["charset", "default-character-set", "connect-timeout", "database"];

/// The sections of option files that are for clients.
const SECTIONS: &[&str] = &["client", "client-server", "client-mariadb", "mysql", "mariadb-client"];

/// What is said, by the names of the parameters.
type Given = BTreeMap<String, String>;

/// Reads a URL; the error says what is wrong with it.
pub(super) fn parse(url: &str, environment: Environment<'_>) -> Result<Url, String> {
    let rest = ["mysql://", "mariadb://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let rest = rest.ok_or("the URL of a MySQL or MariaDB server begins with mysql:// or mariadb://")?;
    let parts = split(rest)?;
    let named = [("user", parts.user), ("host", parts.host), ("port", parts.port)];
    let named = named.into_iter().filter(|(_, value)| !value.is_empty());
    let mut given: Given = named.map(|(name, value)| (name.to_string(), value)).collect();
    given.extend(parts.password.map(|password| ("password".to_string(), password)));
    for (key, value) in parts.parameters {
        let key = spelled(&key);
        if PARAMETERS.iter().any(|(name, _)| *name == key) {
            given.insert(key, value);
        } else if !IGNORED.contains(&key.as_str()) {
            let known: Vec<&str> = PARAMETERS.iter().map(|(name, _)| *name).collect();
            return Err(unknown_parameter(&key, &known));
        }
    }
    complete(with_defaults(given, environment))
}

/// The name of an option: underscores are hyphens, and a socket has two names.
fn spelled(key: &str) -> String {
    let key = key.replace('_', "-");
    if key == "unix-socket" { "socket".to_string() } else { key }
}

/// Fills the gaps from the user's option file, then from the environment. A host in the URL is a host, whatever sockets
/// are named elsewhere.
fn with_defaults(mut given: Given, environment: Environment<'_>) -> Given {
    let names_host = given.contains_key("host");
    let is_wanted =
        |name: &str| PARAMETERS.iter().any(|(known, _)| *known == name) && !(names_host && name == "socket");
    let file = defaults::in_home(".my.cnf", environment).and_then(|path| defaults::read(&path));
    let mut from_file = Given::new();
    for (name, value) in defaults::sections(&file.unwrap_or_default(), |section| SECTIONS.contains(&section)) {
        let name = spelled(&name);
        if is_wanted(&name) {
            // As everywhere in these files, what comes later counts.
            from_file.insert(name, value);
        }
    }
    for (name, value) in from_file {
        given.entry(name).or_insert(value);
    }
    for (name, variable) in PARAMETERS.iter().filter(|(name, _)| is_wanted(name)) {
        if let Some(value) = environment(variable).filter(|value| !value.is_empty()) {
            given.entry((*name).to_string()).or_insert(value);
        }
    }
    given
}

/// Fills what is left as the `mysql` program does.
fn complete(given: Given) -> Result<Url, String> {
    let get = |name: &str| given.get(name).filter(|value| !value.is_empty()).cloned();
    let user = get("user").or_else(user::own_name);
    let user = user.ok_or("the URL names no user, and this machine does not say who you are")?;
    let port = port(get("port"), 3306)?;
    let host = get("host");
    let socket = get("socket").or_else(|| host.is_none().then(default_socket).flatten());
    let security = security(&given, host.as_deref().unwrap_or("localhost"))?;
    let address = match (socket, host) {
        (Some(socket), None) => Address::Unix(socket.into()),
        (_, host) => Address::Tcp { host: host.unwrap_or_else(|| "localhost".to_string()), port },
    };
    Ok(Url { address, user, password: given.get("password").cloned().map(Password), security })
}

/// How the connection is encrypted. As with `mysql`, roots alone mean that they are checked; `ssl-verify-server-cert` is
/// MariaDB's name for checking everything.
fn security(given: &Given, host: &str) -> Result<Security, String> {
    let get = |name: &str| given.get(name).filter(|value| !value.is_empty()).map(String::as_str);
    let roots = get("ssl-ca").map(|path| TlsRoots::File(PathBuf::from(path)));
    let verifies = given
        .get("ssl-verify-server-cert")
        .is_some_and(|value| !["0", "off", "false"].contains(&value.to_ascii_lowercase().as_str()));
    let mode = match get("ssl-mode").map(str::to_ascii_uppercase).as_deref() {
        Some("DISABLED") => TlsMode::Disable,
        Some("PREFERRED") => TlsMode::Prefer,
        Some("REQUIRED") => TlsMode::Require,
        Some("VERIFY_CA") => TlsMode::VerifyCa,
        Some("VERIFY_IDENTITY") => TlsMode::VerifyFull,
        Some(_) => {
            return Err("ssl-mode is DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY".to_string());
        }
        None if verifies => TlsMode::VerifyFull,
        None if roots.is_some() => TlsMode::VerifyCa,
        None => TlsMode::Prefer,
    };
    let roots = if mode == TlsMode::VerifyFull && roots.is_none() { Some(TlsRoots::System) } else { roots };
    let client = match (get("ssl-cert"), get("ssl-key")) {
        (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
        (None, None) => None,
        _ => return Err("ssl-cert and ssl-key go together: a certificate, and the file of its private key".to_string()),
    };
    let tls = TlsOptions { mode, roots, client, host: host.to_string() };
    Ok(Security { tls, ..Security::default() })
}

fn default_socket() -> Option<String> {
    SOCKETS.iter().find(|socket| Path::new(socket).exists()).map(|socket| (*socket).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Url, String> {
        parse(url, &|name| match name {
            "MYSQL_PWD" => Some("from-env".into()),
            "MYSQL_UNIX_PORT" => Some("/sock".into()),
            _ => None,
        })
    }

    fn check(url: &str, address: &str, user: &str, password: &str) {
        let read = read(url).unwrap();
        let password_read = read.password.map_or(String::new(), |password| password.0);
        assert_eq!(
            (read.address.to_string().as_str(), read.user.as_str(), password_read.as_str()),
            (address, user, password)
        );
    }

    #[test]
    fn urls_are_read_with_the_defaults_of_the_mysql_program() {
        check("mysql://u:p%40%2F@db.example:6543/x", "db.example:6543", "u", "p@/");
        check("mariadb://u@h", "h:3306", "u", "from-env");
        check("mysql://u@", "/sock", "u", "from-env");
        check("mysql://u:@/x?socket=/tmp/my.sock", "/tmp/my.sock", "u", "");
        check("mysql://u:p@[::1]:1/x", "[::1]:1", "u", "p");
        check("mysql://h/?user=a&password=b%26c&ssl-mode=disabled", "h:3306", "a", "b&c");
    }

    #[test]
    fn encryption_is_what_mysql_makes_of_it() {
        let mode = |url: &str| read(url).unwrap().security.tls.mode;
        assert_eq!(mode("mysql://h"), TlsMode::Prefer);
        assert_eq!(mode("mysql://h?ssl_mode=required&ssl-ca=f"), TlsMode::Require);
        assert_eq!(mode("mysql://h?ssl-ca=f"), TlsMode::VerifyCa);
        assert_eq!(mode("mysql://h?ssl-ca=f&ssl-verify-server-cert=1"), TlsMode::VerifyFull);
        assert_eq!(mode("mysql://h?ssl-mode=VERIFY_IDENTITY&ssl-ca=f"), TlsMode::VerifyFull);
    }

    #[test]
    fn the_users_option_file_fills_the_gaps() {
        let home = std::env::temp_dir().join(format!("txloom-my-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        let text = "[client]\nuser=fu\npassword='f p'\nsocket=/f\n[mysqld]\nport=1\n[mysql]\nssl_ca=/ca\n";
        std::fs::write(home.join(".my.cnf"), text).unwrap();
        let environment = |name: &str| (name == "HOME").then(|| home.display().to_string());
        let url = parse("mysql://", &environment).unwrap();
        assert_eq!((url.address.to_string().as_str(), url.user.as_str()), ("/f", "fu"));
        assert_eq!((url.password, url.security.tls.mode), (Some(Password("f p".into())), TlsMode::VerifyCa));
        let url = parse("mysql://me:mine@h", &environment).unwrap();
        assert_eq!((url.address.to_string().as_str(), url.user.as_str()), ("h:3306", "me"));
        assert_eq!(url.password, Some(Password("mine".into())));
        std::fs::remove_dir_all(&home).unwrap();
    }

    proptest::proptest! {
        #[test]
        fn no_error_shows_a_password(password in "[ -~]{6,20}") {
            for url in [
                format!("mysql://user:{password}@host/db"),
                format!("mysql://host/db?password={password}"),
                format!("mysql://host/db?Password={password}"),
                format!("mysql://host/db;password={password}"),
            ] {
                let shown = match read(&url) {
                    Ok(url) => format!("{url:?}"),
                    Err(error) => error,
                };
                proptest::prop_assert!(!shown.contains(&password), "{url}: {shown}");
            }
        }
    }

    #[test]
    fn bad_urls_are_explained_without_showing_secrets() {
        for (url, expected) in [
            ("postgres://h", "begins with mysql://"),
            ("mysql://u:secret@h:port/x", "the port is not a number"),
            ("mysql://u:sec/ret@h/x", "write @ as %40"),
            ("mysql://u:s%zzecret@h/x", "two hexadecimal digits"),
            ("mysql://h/x?ssl-mode=secret", "ssl-mode is DISABLED"),
            ("mysql://h/x?ssl-cert=secret", "go together"),
            ("mysql://h/x?Password=a&secret", "unknown parameter"),
            ("mysql://u:sec?ret@h/x", "write @ as %40"),
            ("mysql://[::1/x", "without a ]"),
        ] {
            let error = read(url).unwrap_err();
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("secret") && !error.contains("ret@"), "{error}");
        }
    }
}

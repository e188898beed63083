//! Connection URLs: `postgres://user:password@host:port/database?…`, with the defaults that `psql` has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::wire::defaults;
use super::super::wire::security::{ChannelBindingMode, Security};
use super::super::wire::stream::Address;
use super::super::wire::tls::{TlsMode, TlsOptions, TlsRoots};
use super::super::wire::url::{Environment, Password, port, split, unknown_parameter};
use crate::servers::user;

/// The socket of a server in a directory of this machine.
pub(super) fn socket_in(dir: &Path, port: u16) -> Address {
    Address::Unix(dir.join(format!(".s.PGSQL.{port}")))
}

/// Everything that a URL says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) address: Address,
    pub(super) user: String,
    pub(super) password: Option<Password>,
    pub(super) security: Security,
    pub(super) database: String,
}

/// The parameters that mean something, and the variables that give them where nothing else does.
const PARAMETERS: &[(&str, &str)] = &[
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("dbname", "PGDATABASE"),
    ("service", "PGSERVICE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("gssencmode", "PGGSSENCMODE"),
];

/// Parameters that change nothing here.
const IGNORED: &[&str] = &[
    "application_name",
    "connect_timeout",
    "fallback_application_name",
    "client_encoding",
    "sslsni",
    "sslcompression",
];

/// Parameters that would have to change something, and cannot.
const UNSUPPORTED: &[&str] = &["sslpassword", "sslcrl", "sslcrldir", "sslnegotiation", "hostaddr", "requirepeer"];

/// Where servers put their sockets.
const SOCKET_DIRS: &[&str] = &["/var/run/postgresql", "/tmp"];

/// What is said, by the names of the parameters.
type Given = BTreeMap<String, String>;

/// Reads a URL; the error says what is wrong with it, without repeating what may be a password.
pub(super) fn parse(url: &str, environment: Environment<'_>) -> Result<Url, String> {
    let rest = url
        .strip_prefix("postgres://")
        .or_else(|| url.strip_prefix("postgresql://"))
        .ok_or("a PostgreSQL URL begins with postgres://")?;
    let parts = split(rest)?;
    let named = [("user", parts.user), ("host", parts.host), ("port", parts.port), ("dbname", parts.path)];
    let named = named.into_iter().filter(|(_, value)| !value.is_empty());
    let mut given: Given = named.map(|(name, value)| (name.to_string(), value)).collect();
    given.extend(parts.password.map(|password| ("password".to_string(), password)));
    for (key, value) in parts.parameters {
        if UNSUPPORTED.contains(&key.as_str()) {
            return Err(format!("the parameter {key} is not supported"));
        }
        if PARAMETERS.iter().any(|(name, _)| *name == key) {
            given.insert(key, value);
        } else if !IGNORED.contains(&key.as_str()) {
            let known: Vec<&str> = PARAMETERS.iter().map(|(name, _)| *name).collect();
            return Err(unknown_parameter(&key, &known));
        }
    }
    complete(with_defaults(given, environment)?, environment)
}

/// Fills the gaps from the service's section, then from the environment.
fn with_defaults(mut given: Given, environment: Environment<'_>) -> Result<Given, String> {
    if let Some(service) = given.get("service").cloned().or_else(|| environment("PGSERVICE")) {
        for (name, value) in service_section(&service, environment)? {
            given.entry(name).or_insert(value);
        }
    }
    for (name, variable) in PARAMETERS {
        if let Some(value) = environment(variable).filter(|value| !value.is_empty()) {
            given.entry((*name).to_string()).or_insert(value);
        }
    }
    Ok(given)
}

/// The section of a service in `pg_service.conf`.
fn service_section(service: &str, environment: Environment<'_>) -> Result<Vec<(String, String)>, String> {
    let own = environment("PGSERVICEFILE").map(PathBuf::from);
    let own = own.or_else(|| defaults::in_home(".pg_service.conf", environment));
    let system = environment("PGSYSCONFDIR").unwrap_or_else(|| "/etc/postgresql-common".to_string());
    let files = own.into_iter().chain([Path::new(&system).join("pg_service.conf")]);
    let sections = files.filter_map(|path| Some(defaults::sections(&defaults::read(&path)?, |name| name == service)));
    sections.into_iter().find(|section| !section.is_empty()).ok_or_else(|| {
        "no pg_service.conf has a section for the service (of PGSERVICE, or of the parameter `service`)".to_string()
    })
}

/// Fills what is left as `psql` does.
fn complete(given: Given, environment: Environment<'_>) -> Result<Url, String> {
    let get = |name: &str| given.get(name).filter(|value| !value.is_empty()).cloned();
    let user = get("user")
        .or_else(user::own_name)
        .ok_or("the URL names no user, and this machine does not say who you are")?;
    let port = port(get("port"), 5432)?;
    let host = get("host").unwrap_or_else(|| default_host(port));
    let database = get("dbname").unwrap_or_else(|| user.clone());
    if get("gssencmode").is_some_and(|mode| mode == "require") {
        return Err("gssencmode=require is not supported".to_string());
    }
    let password = given.get("password").cloned().or_else(|| {
        let file = get("passfile").map(PathBuf::from).or_else(|| defaults::in_home(".pgpass", environment))?;
        // The usual places of sockets are the host `localhost`.
        let named = if SOCKET_DIRS.contains(&host.as_str()) { "localhost" } else { &host };
        defaults::password_in(&file, [named, &port.to_string(), &database, &user])
    });
    let security = security(&get, &host, environment)?;
    // A host that begins with a slash is a directory with a socket.
    let address = if host.starts_with('/') { socket_in(Path::new(&host), port) } else { Address::Tcp { host, port } };
    Ok(Url { address, user, password: password.map(Password), security, database })
}

/// How the connection is encrypted. As with `psql`, `require` with roots checks them.
fn security(
    get: &dyn Fn(&str) -> Option<String>,
    host: &str,
    environment: Environment<'_>,
) -> Result<Security, String> {
    let usual =
        |name: &str| defaults::in_home(&format!(".postgresql/{name}"), environment).filter(|path| path.exists());
    let roots = match get("sslrootcert") {
        Some(name) if name == "system" => Some(TlsRoots::System),
        Some(path) => Some(TlsRoots::File(path.into())),
        None => usual("root.crt").map(TlsRoots::File),
    };
    let mode = match get("sslmode") {
        Some(name) => tls_mode(&name)?,
        None if roots == Some(TlsRoots::System) => TlsMode::VerifyFull,
        None => TlsMode::Prefer,
    };
    if roots == Some(TlsRoots::System) && mode < TlsMode::VerifyFull {
        return Err(
            "sslrootcert=system needs sslmode=verify-full: anybody can get a certificate from these roots".into()
        );
    }
    let has_roots = matches!(&roots, Some(TlsRoots::File(path)) if path.exists());
    let mode = if mode == TlsMode::Require && has_roots { TlsMode::VerifyCa } else { mode };
    let certificate = get("sslcert").map(PathBuf::from).or_else(|| usual("postgresql.crt"));
    let key = get("sslkey").map(PathBuf::from).or_else(|| usual("postgresql.key"));
    let client = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (Some(_), None) => return Err("sslcert needs sslkey: the file of the certificate's private key".into()),
        (None, _) => None,
    };
    let binding = match get("channel_binding").as_deref() {
        None | Some("prefer") => ChannelBindingMode::Prefer,
        Some("disable") => ChannelBindingMode::Disable,
        Some("require") => ChannelBindingMode::Require,
        Some(_) => return Err("channel_binding is disable, prefer or require".to_string()),
    };
    let tls = TlsOptions { mode, roots, client, host: host.to_string() };
    Ok(Security { tls, binding, insecure_auth: false })
}

fn tls_mode(name: &str) -> Result<TlsMode, String> {
    Ok(match name {
        "disable" => TlsMode::Disable,
        "allow" => TlsMode::Allow,
        "prefer" => TlsMode::Prefer,
        "require" => TlsMode::Require,
        "verify-ca" => TlsMode::VerifyCa,
        "verify-full" => TlsMode::VerifyFull,
        _ => return Err("sslmode is disable, allow, prefer, require, verify-ca or verify-full".to_string()),
    })
}

/// Where servers put their sockets; `localhost` if there is none.
fn default_host(port: u16) -> String {
    let has_socket = |dir: &&&str| PathBuf::from(**dir).join(format!(".s.PGSQL.{port}")).exists();
    SOCKET_DIRS.iter().find(has_socket).map_or("localhost", |dir| *dir).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Url, String> {
        parse(url, &|name| match name {
            "PGUSER" => Some("me".into()),
            "PGPASSWORD" => Some("from-env".into()),
            "PGHOST" => Some("/sock".into()),
            _ => None,
        })
    }

    fn check(url: &str, address: &str, user: &str, password: &str, database: &str) {
        let read = read(url).unwrap();
        let password_read = read.password.clone().map_or(String::new(), |password| password.0);
        let found = (read.address.to_string(), read.user, password_read, read.database);
        assert_eq!(found, (address.into(), user.into(), password.into(), database.into()), "{url}");
    }

    #[test]
    fn urls_are_read_with_the_defaults_of_psql() {
        check("postgres://u:p%40%2F@db.example:6543/x", "db.example:6543", "u", "p@/", "x");
        check("postgresql://u@h", "h:5432", "u", "from-env", "u");
        check("postgres://", "/sock/.s.PGSQL.5432", "me", "from-env", "me");
        check("postgres:///x?host=/var/run/pg&port=7", "/var/run/pg/.s.PGSQL.7", "me", "from-env", "x");
        check("postgres://u:@%2Ftmp:99/x", "/tmp/.s.PGSQL.99", "u", "", "x");
        check("postgres://u:p@[::1]:1/x", "[::1]:1", "u", "p", "x");
        check("postgres://h/?user=a&password=b%26c&dbname=d&sslmode=prefer", "h:5432", "a", "b&c", "d");
    }

    #[test]
    fn encryption_is_what_psql_makes_of_it() {
        let mode = |url: &str| read(url).unwrap().security.tls.mode;
        assert_eq!(mode("postgres://h/x"), TlsMode::Prefer);
        assert_eq!(mode("postgres://h/x?SSLMODE=require"), TlsMode::Require);
        assert_eq!(mode("postgres://h/x?sslmode=require&sslrootcert=/dev/null"), TlsMode::VerifyCa);
        assert_eq!(mode("postgres://h/x?sslrootcert=system"), TlsMode::VerifyFull);
        assert!(read("postgres://h/x?sslmode=require&sslrootcert=system").is_err());
        let from_environment = parse("postgres://h/x", &|name| {
            [("PGSSLMODE", "verify-full"), ("PGSSLCERT", "c"), ("PGSSLKEY", "k"), ("PGSSLROOTCERT", "r")]
                .into_iter()
                .find_map(|(variable, value)| (variable == name).then(|| value.to_string()))
        });
        let tls = from_environment.unwrap().security.tls;
        assert_eq!((tls.mode, tls.host.as_str()), (TlsMode::VerifyFull, "h"));
        assert_eq!(tls.roots, Some(TlsRoots::File("r".into())));
        assert_eq!(tls.client, Some(("c".into(), "k".into())));
    }

    #[test]
    fn services_and_password_files_fill_the_gaps() {
        use std::os::unix::fs::PermissionsExt;
        let home = std::env::temp_dir().join(format!("txloom-home-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(home.join(name), text).unwrap();
            std::fs::set_permissions(home.join(name), std::fs::Permissions::from_mode(0o600)).unwrap();
        };
        write(".pg_service.conf", "[other]\nhost=no\n[s]\nhost=sh\nport=7\nuser=su\ndbname=sd\nsslmode=disable\n");
        write(".pgpass", "sh:7:sd:su:from-file\n");
        let environment = |name: &str| match name {
            "HOME" => Some(home.display().to_string()),
            "PGUSER" => Some("nobody".to_string()),
            _ => None,
        };
        let url = parse("postgres://?service=s", &environment).unwrap();
        let found = (url.address.to_string(), url.user, url.database, url.password, url.security.tls.mode);
        let password = Some(Password("from-file".to_string()));
        assert_eq!(found, ("sh:7".into(), "su".into(), "sd".into(), password, TlsMode::Disable));
        std::fs::remove_dir_all(&home).unwrap();
    }

    proptest::proptest! {
        #[test]
        fn no_error_shows_a_password(password in "[ -~]{6,20}") {
            for url in [
                format!("postgres://user:{password}@host/db"),
                format!("postgres://host/db?password={password}"),
                format!("postgres://host/db?Password={password}"),
                format!("postgres://host/db;password={password}"),
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
            ("mysql://h", "begins with postgres://"),
            ("postgres://u:secret@h:port/x", "the port is not a number"),
            ("postgres://u:sec/ret@h/x", "write @ as %40"),
            ("postgres://u:s%zzecret@h/x", "two hexadecimal digits"),
            ("postgres://u:sec?ret@h/x", "write @ as %40"),
            ("postgres://u:12/ret@h/x", "write @ as %40"),
            ("postgres://u@h/x;password=secret", "; as %3B"),
            ("postgres://h/x?sslmode=secret", "sslmode is disable, allow"),
            ("postgres://h/x?sslpassword=secret", "sslpassword is not supported"),
            ("postgres://h/x?password=a&secret", "unknown parameter"),
            ("postgres://h/x?sslmod=red", "unknown parameter; did you mean sslmode?"),
            ("postgres://h/x?sslcert=secret", "sslcert needs sslkey"),
            ("postgres://h/x?service=secret", "no pg_service.conf has a section"),
            ("postgres://[::1/x", "without a ]"),
        ] {
            let error = read(url).unwrap_err();
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("secret") && !error.contains("ret@"), "{error}");
        }
    }
}

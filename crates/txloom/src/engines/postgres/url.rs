//! Connection URLs: `postgres://user:password@host:port/database?…`, with the defaults that `psql` has.

use std::fmt;
use std::path::PathBuf;

use crate::servers::user;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// A socket in a directory of this machine.
    Unix {
        /// The directory.
        dir: PathBuf,
        /// The number that is part of the socket's name.
        port: u16,
    },
    /// A port of a host.
    Tcp {
        /// Name or number.
        host: String,
        /// The port.
        port: u16,
    },
}

impl Address {
    /// A host that begins with a slash is a directory with a socket.
    fn new(host: &str, port: u16) -> Address {
        if host.starts_with('/') {
            Address::Unix { dir: PathBuf::from(host), port }
        } else {
            Address::Tcp { host: host.to_string(), port }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix { dir, port } => write!(f, "{}/.s.PGSQL.{port}", dir.display()),
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// A password. Shows itself to nobody.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Password(pub(super) String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Everything that a URL says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) address: Address,
    pub(super) user: String,
    pub(super) password: Option<Password>,
    pub(super) database: String,
}

/// Where defaults come from: environment variables.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads a URL; the error says what is wrong with it, without repeating what may be a password.
pub(super) fn parse(url: &str, environment: Environment<'_>) -> Result<Url, String> {
    let rest = url
        .strip_prefix("postgres://")
        .or_else(|| url.strip_prefix("postgresql://"))
        .ok_or("a PostgreSQL URL begins with postgres://")?;
    let (main, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = main.split_once('/').unwrap_or((main, ""));
    let (user_info, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = match user_info.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (user_info, None),
    };
    let (host, port) = host_and_port(place)?;

    let mut parts = Parts { host: decode(host)?, port: port.to_string(), ..Parts::default() };
    parts.user = decode(user)?;
    parts.password = password.map(decode).transpose()?;
    parts.database = decode(database)?;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        parts.set(key, decode(value)?)?;
    }
    parts.complete(environment)
}

/// `host`, `host:port`, `[::1]:port`.
fn host_and_port(place: &str) -> Result<(&str, &str), String> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("the URL has a [ without a ]")?;
        return Ok((host, after.strip_prefix(':').unwrap_or(after)));
    }
    Ok(place.split_once(':').unwrap_or((place, "")))
}

/// What a URL gave, as text; empty where it gave nothing.
#[derive(Default)]
struct Parts {
    host: String,
    port: String,
    user: String,
    password: Option<String>,
    database: String,
}

impl Parts {
    /// A parameter after the question mark.
    fn set(&mut self, key: &str, value: String) -> Result<(), String> {
        match key {
            "host" => self.host = value,
            "port" => self.port = value,
            "user" => self.user = value,
            "password" => self.password = Some(value),
            "dbname" => self.database = value,
            "sslmode" if ["require", "verify-ca", "verify-full"].contains(&value.as_str()) => {
                return Err(format!("encrypted connections (sslmode={value}) are not supported"));
            }
            "sslmode" | "application_name" | "connect_timeout" => {}
            other => return Err(format!("the URL has an unknown parameter `{other}`")),
        }
        Ok(())
    }

    /// Fills the gaps as `psql` does.
    fn complete(self, environment: Environment<'_>) -> Result<Url, String> {
        let given = |text: String, variable: &str| {
            Some(text).filter(|text| !text.is_empty()).or_else(|| environment(variable).filter(|text| !text.is_empty()))
        };
        let user = given(self.user, "PGUSER")
            .or_else(user::own_name)
            .ok_or("the URL names no user, and this machine does not say who you are")?;
        let port = match given(self.port, "PGPORT") {
            None => 5432,
            Some(text) => text.parse().map_err(|_| "the port is not a number between 0 and 65535".to_string())?,
        };
        let host = given(self.host, "PGHOST").unwrap_or_else(|| default_host(port));
        let database = given(self.database, "PGDATABASE").unwrap_or_else(|| user.clone());
        let password = self.password.or_else(|| environment("PGPASSWORD")).map(Password);
        Ok(Url { address: Address::new(&host, port), user, password, database })
    }
}

/// Where servers put their sockets; `localhost` if there is none.
fn default_host(port: u16) -> String {
    let has_socket = |dir: &&&str| PathBuf::from(**dir).join(format!(".s.PGSQL.{port}")).exists();
    ["/var/run/postgresql", "/tmp"].iter().find(has_socket).map_or("localhost", |dir| *dir).to_string()
}

/// Resolves `%41`.
fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = || std::str::from_utf8(after.get(..2)?).ok();
        if *first != b'%' {
            bytes.push(*first);
            rest = after;
        } else if let Some(byte) = digits().and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            return Err("the URL has a % that is not followed by two hexadecimal digits".to_string());
        }
    }
    String::from_utf8(bytes).map_err(|_| "the URL is not UTF-8 after decoding its % sequences".to_string())
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
    fn bad_urls_are_explained_without_showing_secrets() {
        for (url, expected) in [
            ("mysql://h", "begins with postgres://"),
            ("postgres://u:secret@h:port/x", "the port is not a number"),
            ("postgres://u:sec/ret@h/x", "the port is not a number"),
            ("postgres://u:s%zzecret@h/x", "two hexadecimal digits"),
            ("postgres://h/x?sslmode=require", "sslmode=require"),
            ("postgres://h/x?colour=red", "unknown parameter `colour`"),
            ("postgres://[::1/x", "without a ]"),
        ] {
            let error = read(url).unwrap_err();
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("secret") && !error.contains("ret"), "{error}");
        }
    }

    #[test]
    fn a_password_is_not_printed() {
        assert_eq!(format!("{:?}", Password("secret".into())), "***");
    }
}

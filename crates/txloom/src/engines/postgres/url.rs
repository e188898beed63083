//! Connection URLs: `postgres://user:password@host:port/database?…`, with the defaults that `psql` has.

use std::path::{Path, PathBuf};

use super::super::wire::stream::Address;
use super::super::wire::url::{Environment, Password, UrlParts, given, port, split};
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
    pub(super) database: String,
}

/// Reads a URL; the error says what is wrong with it, without repeating what may be a password.
pub(super) fn parse(url: &str, environment: Environment<'_>) -> Result<Url, String> {
    let rest = url
        .strip_prefix("postgres://")
        .or_else(|| url.strip_prefix("postgresql://"))
        .ok_or("a PostgreSQL URL begins with postgres://")?;
    let mut parts = split(rest)?;
    for (key, value) in std::mem::take(&mut parts.parameters) {
        set(&mut parts, &key, value)?;
    }
    complete(parts, environment)
}

/// A parameter after the question mark.
fn set(parts: &mut UrlParts, key: &str, value: String) -> Result<(), String> {
    match key {
        "host" => parts.host = value,
        "port" => parts.port = value,
        "user" => parts.user = value,
        "password" => parts.password = Some(value),
        "dbname" => parts.path = value,
        "sslmode" if ["require", "verify-ca", "verify-full"].contains(&value.as_str()) => {
            return Err(format!("encrypted connections (sslmode={value}) are not supported"));
        }
        "sslmode" | "application_name" | "connect_timeout" => {}
        other => return Err(format!("the URL has an unknown parameter `{other}`")),
    }
    Ok(())
}

/// Fills the gaps as `psql` does.
fn complete(parts: UrlParts, environment: Environment<'_>) -> Result<Url, String> {
    let user = given(parts.user, "PGUSER", environment)
        .or_else(user::own_name)
        .ok_or("the URL names no user, and this machine does not say who you are")?;
    let port = port(given(parts.port, "PGPORT", environment), 5432)?;
    let host = given(parts.host, "PGHOST", environment).unwrap_or_else(|| default_host(port));
    let database = given(parts.path, "PGDATABASE", environment).unwrap_or_else(|| user.clone());
    let password = parts.password.or_else(|| environment("PGPASSWORD")).map(Password);
    // A host that begins with a slash is a directory with a socket.
    let address = if host.starts_with('/') { socket_in(Path::new(&host), port) } else { Address::Tcp { host, port } };
    Ok(Url { address, user, password, database })
}

/// Where servers put their sockets; `localhost` if there is none.
fn default_host(port: u16) -> String {
    let has_socket = |dir: &&&str| PathBuf::from(**dir).join(format!(".s.PGSQL.{port}")).exists();
    ["/var/run/postgresql", "/tmp"].iter().find(has_socket).map_or("localhost", |dir| *dir).to_string()
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
}

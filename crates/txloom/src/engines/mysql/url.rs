//! `mysql://user:password@host:port/database?socket=PATH`, with the defaults of the `mysql` program.
//!
//! Messages never repeat a part of the URL that could be a password.

use std::path::Path;

use super::super::wire::stream::Address;
use super::super::wire::url::{Environment, Password, UrlParts, given, port, split};
use crate::servers::user;

/// A URL that was read. The database that it may name is left alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) address: Address,
    pub(super) user: String,
    pub(super) password: Option<Password>,
}

/// Where servers put their sockets.
const SOCKETS: &[&str] = &["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// Reads a URL; the error says what is wrong with it.
pub(super) fn parse(url: &str, environment: Environment<'_>) -> Result<Url, String> {
    let rest = ["mysql://", "mariadb://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let rest = rest.ok_or("the URL of a MySQL or MariaDB server begins with mysql:// or mariadb://")?;
    let mut parts = split(rest)?;
    let mut socket = String::new();
    for (key, value) in std::mem::take(&mut parts.parameters) {
        match key.as_str() {
            "socket" | "unix_socket" => socket = value,
            "user" => parts.user = value,
            "password" => parts.password = Some(value),
            "ssl-mode" if !["DISABLED", "PREFERRED"].contains(&value.to_ascii_uppercase().as_str()) => {
                return Err(format!("encrypted connections (ssl-mode={value}) are not supported"));
            }
            "ssl-mode" | "charset" => {}
            other => return Err(format!("the URL has an unknown parameter `{other}`")),
        }
    }
    complete(parts, socket, environment)
}

/// Fills the gaps as the `mysql` program does.
fn complete(parts: UrlParts, socket: String, environment: Environment<'_>) -> Result<Url, String> {
    let user = Some(parts.user).filter(|user| !user.is_empty()).or_else(user::own_name);
    let user = user.ok_or("the URL names no user, and this machine does not say who you are")?;
    let port = port(given(parts.port, "MYSQL_TCP_PORT", environment), 3306)?;
    let host = given(parts.host, "MYSQL_HOST", environment);
    let socket = match &host {
        // Who names a host means that host, whatever sockets are here.
        Some(_) => Some(socket).filter(|socket| !socket.is_empty()),
        None => given(socket, "MYSQL_UNIX_PORT", environment).or_else(default_socket),
    };
    let address = match (socket, host) {
        (Some(socket), _) => Address::Unix(socket.into()),
        (None, host) => Address::Tcp { host: host.unwrap_or_else(|| "localhost".to_string()), port },
    };
    let password = parts.password.or_else(|| environment("MYSQL_PWD")).map(Password);
    Ok(Url { address, user, password })
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
    fn bad_urls_are_explained_without_showing_secrets() {
        for (url, expected) in [
            ("postgres://h", "begins with mysql://"),
            ("mysql://u:secret@h:port/x", "the port is not a number"),
            ("mysql://u:sec/ret@h/x", "the port is not a number"),
            ("mysql://u:s%zzecret@h/x", "two hexadecimal digits"),
            ("mysql://h/x?ssl-mode=REQUIRED", "ssl-mode=REQUIRED"),
            ("mysql://h/x?colour=red", "unknown parameter `colour`"),
            ("mysql://[::1/x", "without a ]"),
        ] {
            let error = read(url).unwrap_err();
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("secret") && !error.contains("ret"), "{error}");
        }
    }
}

//! `mysql://user:password@host:port/database?socket=PATH`, with the defaults of the `mysql` program.
//!
//! Messages never repeat a part of the URL that could be a password.

use std::path::Path;

use super::auth::Password;
use super::stream::Address;
use crate::servers::user;

/// A URL that was read. The database that it may name is left alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) address: Address,
    pub(super) user: String,
    pub(super) password: Option<Password>,
}

/// Looks up an environment variable.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Where servers put their sockets.
const SOCKETS: &[&str] = &["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// Reads a URL; the error says what is wrong with it.
pub(super) fn parse(url: &str, environment: Environment<'_>) -> Result<Url, String> {
    let rest = ["mysql://", "mariadb://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let rest = rest.ok_or("the URL of a MySQL or MariaDB server begins with mysql:// or mariadb://")?;
    let (main, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, _database) = main.split_once('/').unwrap_or((main, ""));
    let (user_info, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) =
        user_info.split_once(':').map_or((user_info, None), |(user, password)| (user, Some(password)));
    let (host, port) = host_and_port(place)?;
    let mut parts = Parts { host: decode(host)?, port: port.to_string(), ..Parts::default() };
    parts.user = decode(user)?;
    parts.password = password.map(decode).transpose()?;
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
    socket: String,
    user: String,
    password: Option<String>,
}

impl Parts {
    /// A parameter after the question mark.
    fn set(&mut self, key: &str, value: String) -> Result<(), String> {
        match key {
            "socket" | "unix_socket" => self.socket = value,
            "user" => self.user = value,
            "password" => self.password = Some(value),
            "ssl-mode" if !["DISABLED", "PREFERRED"].contains(&value.to_ascii_uppercase().as_str()) => {
                return Err(format!("encrypted connections (ssl-mode={value}) are not supported"));
            }
            "ssl-mode" | "charset" => {}
            other => return Err(format!("the URL has an unknown parameter `{other}`")),
        }
        Ok(())
    }

    /// Fills the gaps as the `mysql` program does.
    fn complete(self, environment: Environment<'_>) -> Result<Url, String> {
        let given = |text: String, variable: &str| {
            Some(text).filter(|text| !text.is_empty()).or_else(|| environment(variable).filter(|text| !text.is_empty()))
        };
        let user = Some(self.user).filter(|user| !user.is_empty()).or_else(user::own_name);
        let user = user.ok_or("the URL names no user, and this machine does not say who you are")?;
        let port = match given(self.port, "MYSQL_TCP_PORT") {
            None => 3306,
            Some(text) => text.parse().map_err(|_| "the port is not a number between 0 and 65535".to_string())?,
        };
        let host = given(self.host, "MYSQL_HOST");
        let socket = match &host {
            // Who names a host means that host, whatever sockets are here.
            Some(_) => Some(self.socket).filter(|socket| !socket.is_empty()),
            None => given(self.socket, "MYSQL_UNIX_PORT").or_else(default_socket),
        };
        let address = match (socket, host) {
            (Some(socket), _) => Address::Unix(socket.into()),
            (None, host) => Address::Tcp { host: host.unwrap_or_else(|| "localhost".to_string()), port },
        };
        let password = self.password.or_else(|| environment("MYSQL_PWD")).map(Password);
        Ok(Url { address, user, password })
    }
}

fn default_socket() -> Option<String> {
    SOCKETS.iter().find(|socket| Path::new(socket).exists()).map(|socket| (*socket).to_string())
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

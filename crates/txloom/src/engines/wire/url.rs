//! The shape that all connection URLs share: `scheme://user:password@host:port/path?key=value&…`.
//!
//! Messages never repeat a part of a URL that could be a password.

pub(in crate::engines) use super::super::access::Password;

/// Where defaults come from: environment variables.
pub(in crate::engines) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The parts of a URL, decoded; empty where it gave nothing.
#[derive(Default)]
pub(in crate::engines) struct UrlParts {
    pub(in crate::engines) user: String,
    pub(in crate::engines) password: Option<String>,
    pub(in crate::engines) host: String,
    pub(in crate::engines) port: String,
    pub(in crate::engines) path: String,
    /// The parameters after the question mark, in order.
    pub(in crate::engines) parameters: Vec<(String, String)>,
}

/// What is wrong with a URL whose parts cannot be told apart.
const UNENCODED: &str = "the URL has an @ or ; after its first / or ?: in a user name, password or value, write @ as %40, \
                         / as %2F, ? as %3F, ; as %3B, & as %26";

/// Takes apart what follows the `://`.
pub(in crate::engines) fn split(rest: &str) -> Result<UrlParts, String> {
    let (main, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = main.split_once('/').unwrap_or((main, ""));
    if query.contains('@') || path.contains(['@', ';']) || query.contains(';') {
        return Err(UNENCODED.to_string());
    }
    let (user_info, place) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) =
        user_info.split_once(':').map_or((user_info, None), |(user, password)| (user, Some(password)));
    let (host, port) = host_and_port(place)?;
    let parameter = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((key.to_ascii_lowercase(), decode(value)?))
    };
    Ok(UrlParts {
        user: decode(user)?,
        password: password.map(decode).transpose()?,
        host: decode(host)?,
        port: port.to_string(),
        path: decode(path)?,
        parameters: query.split('&').filter(|pair| !pair.is_empty()).map(parameter).collect::<Result<_, String>>()?,
    })
}

/// A port, or the default.
pub(in crate::engines) fn port(text: Option<String>, default: u16) -> Result<u16, String> {
    match text {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| "the port is not a number between 0 and 65535".to_string()),
    }
}

/// The error for a parameter that is none of these. It does not repeat the parameter, which may be part of a password
/// that should have been encoded.
pub(in crate::engines) fn unknown_parameter(key: &str, known: &[&str]) -> String {
    let near = txloom_core::suggest::hint(key, known.iter().copied());
    format!("the URL has an unknown parameter{near} (known are: {})", known.join(", "))
}

/// `host`, `host:port`, `[::1]:port`.
fn host_and_port(place: &str) -> Result<(&str, &str), String> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("the URL has a [ without a ]")?;
        return Ok((host, after.strip_prefix(':').unwrap_or(after)));
    }
    Ok(place.split_once(':').unwrap_or((place, "")))
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

    #[test]
    fn a_password_is_not_printed() {
        assert_eq!(format!("{:?}", Password("secret".into())), "***");
    }
}

//! Strings and numbers of Python.

use super::super::syntax::{coded, unescaped};

/// What a part of a string means; raw strings mean what they say.
pub(super) fn unescape(text: &str, is_raw: bool) -> String {
    if is_raw {
        return text.to_string();
    }
    unescaped(text, |kind, rest, result| match kind {
        'a' | 'b' | 'f' | 'v' => {}
        'x' => result.extend(coded(2, rest)),
        'u' => result.extend(coded(4, rest)),
        'U' => result.extend(coded(8, rest)),
        '\'' | '"' | '\\' => result.push(kind),
        // An escape that Python does not know stays as it is.
        other => result.extend(['\\', other]),
    })
}

/// A number as SQL writes it.
pub(super) fn number(literal: &str) -> String {
    let plain = literal.replace('_', "").to_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = plain.strip_prefix(prefix) {
            return i64::from_str_radix(digits, radix).map_or_else(|_| "0".to_string(), |value| value.to_string());
        }
    }
    let with_zero = if plain.starts_with('.') { format!("0{plain}") } else { plain };
    if with_zero.ends_with('.') { format!("{with_zero}0") } else { with_zero }
}

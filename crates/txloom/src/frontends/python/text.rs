//! Strings and numbers of Python.

/// What a part of a string means; raw strings mean what they say.
pub(super) fn unescaped(text: &str, is_raw: bool) -> String {
    if is_raw || !text.contains('\\') {
        return text.to_string();
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some('\n' | 'a' | 'b' | 'f' | 'v') | None => {}
            Some(kind @ ('x' | 'u' | 'U')) => {
                let length = [('x', 2), ('u', 4)].iter().find(|(one, _)| *one == kind).map_or(8, |(_, length)| *length);
                let digits: String = (0..length).filter_map(|_| rest.next()).collect();
                result.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some('0') => result.push('\0'),
            Some(quoted @ ('\'' | '"' | '\\')) => result.push(quoted),
            // An escape that Python does not know stays as it is.
            Some(other) => result.extend(['\\', other]),
        }
    }
    result
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

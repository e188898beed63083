//! The values in a log: literals and bound parameters, looked at once.
//!
//! Two values are compared by a hash of what they say, so that nothing is kept of the millions that a log holds. The
//! number 5, the string `'5'` and the parameter `$1 = '5'` say the same: logs quote every parameter.

use std::hash::{BuildHasherDefault, Hasher};

/// Numbers are exact up to so many digits behind the point.
const DIGITS: u32 = 4;

/// What a value says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Said {
    /// A hash of it.
    pub(super) hash: u64,
    /// The number, in ten-thousandths, if it is one.
    pub(super) number: Option<i64>,
}

impl Said {
    /// NULL.
    pub(super) const NULL: Said = Said { hash: 0x6e75_6c6c, number: None };

    /// A number, in ten-thousandths.
    pub(super) fn of_number(number: i64) -> Said {
        Said { hash: mix(0x6e75_6d62, number.cast_unsigned()), number: Some(number) }
    }

    /// Reads a literal as it stands in SQL, or a parameter as the log shows it.
    pub(super) fn of(raw: &[u8]) -> Said {
        let inner = unquoted(raw);
        if let Some(number) = number(inner) {
            return Said::of_number(number);
        }
        if raw.eq_ignore_ascii_case(b"null") {
            return Said::NULL;
        }
        Said { hash: hash_of(inner) | 1, number: None }
    }
}

/// A literal without its quotes, its type name or its prefix; doubled quotes stay doubled.
pub(super) fn unquoted(raw: &[u8]) -> &[u8] {
    let quote = match raw.last() {
        Some(quote @ (b'\'' | b'"')) => *quote,
        _ => return raw,
    };
    match raw.iter().position(|byte| *byte == quote) {
        Some(start) if start + 1 < raw.len() => &raw[start + 1..raw.len() - 1],
        _ => raw,
    }
}

/// A number in ten-thousandths, if it is one that fits. `007` is none: it may be a name.
fn number(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, text),
    };
    let is_padded = digits.len() > 1 && digits[0] == b'0' && digits[1] != b'.';
    if !digits.first()?.is_ascii_digit() || is_padded || digits.len() > 18 {
        return None;
    }
    let (mut value, mut behind) = (0_i64, None);
    for byte in digits {
        match (byte, behind) {
            (b'0'..=b'9', _) => {
                let exact = behind.is_none_or(|places| places < DIGITS);
                if exact {
                    value = value.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
                } else if *byte != b'0' {
                    return None;
                }
                behind = behind.map(|places| places + u32::from(exact));
            }
            (b'.', None) => behind = Some(0),
            _ => return None,
        }
    }
    let scaled = value.checked_mul(10_i64.pow(DIGITS - behind.unwrap_or(0)))?;
    Some(if negative { -scaled } else { scaled })
}

/// A number of ten-thousandths as it is written.
pub(super) fn show(number: i64) -> String {
    let unit = 10_i64.pow(DIGITS);
    let (whole, part) = (number.abs() / unit, number.abs() % unit);
    let sign = if number < 0 { "-" } else { "" };
    match part {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{part:04}").trim_end_matches('0').to_string(),
    }
}

/// The hash of some bytes.
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    let mut hash = 0x9ae1_6a3b_2f90_404f_u64 ^ bytes.len() as u64;
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    let mut word = [0; 8];
    word[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    mix(hash, u64::from_le_bytes(word))
}

/// Stirs a word into a hash.
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    let product =
        u128::from(hash ^ word ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(0x8bb8_4b93_962e_acc9_u64 ^ word << 1 | 1);
    let (low, high) = (product & u128::from(u64::MAX), product >> 64);
    u64::try_from(low ^ high).unwrap_or(0).rotate_left(23) ^ hash
}

/// What is hashed already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_of(bytes);
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A table by hashes.
pub(super) type ByHash<T> = std::collections::HashMap<u64, T, BuildHasherDefault<Hashed>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_they_say() {
        let same = [("5", "'5'"), ("5.0", "5"), ("-1.50", "'-1.5'"), ("'a'", "E'a'"), ("NULL", "null")];
        for (a, b) in same {
            assert_eq!(Said::of(a.as_bytes()), Said::of(b.as_bytes()), "{a} {b}");
        }
        let different = [("5", "50"), ("'a'", "'b'"), ("'007'", "7"), ("''", "NULL"), ("-5", "5"), ("'5 '", "5")];
        for (a, b) in different {
            assert_ne!(Said::of(a.as_bytes()), Said::of(b.as_bytes()), "{a} {b}");
        }
    }

    #[test]
    fn numbers_are_exact_or_none() {
        for (text, expect) in [
            ("12", Some("12")),
            ("0.5", Some("0.5")),
            ("-0.0001", Some("-0.0001")),
            ("1.23450", Some("1.2345")),
            ("1.23456", None),
            ("1e5", None),
            ("999999999999999999", None),
            ("", None),
            ("-", None),
            ("1.2.3", None),
        ] {
            assert_eq!(Said::of(text.as_bytes()).number.map(show).as_deref(), expect, "{text}");
        }
    }
}

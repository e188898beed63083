//! The few fields of a certificate (X.509, DER) that the library does not show.

use sha2::{Digest, Sha256, Sha384, Sha512};

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const EXPLICIT_VERSION: u8 = 0xa0;

/// The hash of a whole certificate, by the function that signed it; by SHA-256 where that was MD5 or SHA-1 (RFC 5929,
/// section 4.1). `None` for signatures without such a function.
pub(super) fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let (whole, _) = element(certificate, SEQUENCE)?;
    let (_signed, rest) = element(whole, SEQUENCE)?;
    let (algorithm, _) = element(rest, SEQUENCE)?;
    let (identifier, _) = element(algorithm, OBJECT_IDENTIFIER)?;
    match identifier {
        // 1.2.840.113549.1.1.N: RSA with MD5, SHA-1, SHA-256, SHA-384, SHA-512.
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, hash] => match hash {
            4 | 5 | 11 => Some(Sha256::digest(certificate).to_vec()),
            12 => Some(Sha384::digest(certificate).to_vec()),
            13 => Some(Sha512::digest(certificate).to_vec()),
            _ => None,
        },
        // 1.2.840.10045.4.3.N: ECDSA with SHA-256, SHA-384, SHA-512.
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, hash] => match hash {
            2 => Some(Sha256::digest(certificate).to_vec()),
            3 => Some(Sha384::digest(certificate).to_vec()),
            4 => Some(Sha512::digest(certificate).to_vec()),
            _ => None,
        },
        // 1.2.840.10045.4.1: ECDSA with SHA-1.
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01] => Some(Sha256::digest(certificate).to_vec()),
        _ => None,
    }
}

/// From when until when a certificate is valid, in seconds since 1970.
pub(super) fn validity(certificate: &[u8]) -> Option<(u64, u64)> {
    let (whole, _) = element(certificate, SEQUENCE)?;
    let (mut rest, _) = element(whole, SEQUENCE)?;
    if let Some((_version, after)) = element(rest, EXPLICIT_VERSION) {
        rest = after;
    }
    // Serial number, signature, issuer.
    for _ in 0..3 {
        rest = any_element(rest)?.2;
    }
    let (period, _) = element(rest, SEQUENCE)?;
    let (tag, from, rest) = any_element(period)?;
    let (tag_until, until, _) = any_element(rest)?;
    Some((seconds(tag, from)?, seconds(tag_until, until)?))
}

/// `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ` as seconds since 1970.
fn seconds(tag: u8, time: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(time).ok()?.strip_suffix('Z')?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = digits.split_at_checked(2)?;
            let year: i64 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = digits.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let part = |at: usize| rest.get(at..at + 2)?.parse::<i64>().ok();
    let days = days_since_1970(year, part(0)?, part(2)?);
    u64::try_from(((days * 24 + part(4)?) * 60 + part(6)?) * 60 + part(8)?).ok()
}

/// The number of a day of the Gregorian calendar. The year is made to begin in March, so that a leap day is its last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

/// One element with that tag: its content and what comes after it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    any_element(bytes).filter(|(found, ..)| *found == tag).map(|(_, content, rest)| (content, rest))
}

/// One element: its tag, its content and what comes after it.
fn any_element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (digits, rest) =
            rest.split_at_checked(usize::from(first & 0x7f)).filter(|(digits, _)| digits.len() <= 4)?;
        (digits.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_both_forms() {
        assert_eq!(seconds(UTC_TIME, b"700101000000Z"), Some(0));
        assert_eq!(seconds(UTC_TIME, b"240229235959Z"), Some(1_709_251_199));
        assert_eq!(seconds(GENERALIZED_TIME, b"20500301000000Z"), Some(2_529_705_600));
        for bad in [&b"2402"[..], b"24022923595Z", b"2402292359xxZ", b""] {
            assert_eq!(seconds(UTC_TIME, bad), None);
        }
    }

    #[test]
    fn what_is_no_certificate_is_none() {
        for bad in [&b""[..], &[0x30], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 1], &[0x30, 0x02, 0x30, 0x00]] {
            assert_eq!((end_point(bad), validity(bad)), (None, None));
        }
    }
}

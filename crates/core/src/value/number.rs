//! Exact decimal numbers.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// A finite decimal number. Numbers are equal if they have the same value, however they were written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(Form);

/// How a number is kept. Each has one form only, so equality of numbers is equality of forms.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Form {
    /// A whole number that fits: most of them, and they are computed with while a server waits.
    Whole(i64),
    /// Any other, as canonical text: an optional `-`, digits without leading zeros, and optionally a point followed by
    /// digits that do not end in zero. Zero is never among them.
    Text(Box<str>),
}

/// Beyond this exponent a number is not expanded to digits; no SQL type holds such a value.
const EXPONENT_MAX: i64 = 2_000;

/// The most digits that a whole number of 64 bits has.
const WHOLE_LENGTH_MAX: usize = 19;

impl Number {
    /// Reads `12`, `-0.50`, `1e3`, `.5`; `None` for anything else (also for `NaN` and infinities).
    pub fn parse(text: &str) -> Option<Number> {
        match text.parse::<i64>() {
            Ok(whole) => Some(Number::from(whole)),
            Err(_) => Number::parse_other(text),
        }
    }

    /// The same for anything but a whole number that fits.
    #[cold]
    fn parse_other(text: &str) -> Option<Number> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        if exponent.abs() > EXPONENT_MAX {
            return None;
        }
        Some(Number::canonical(negative, whole, fraction, exponent))
    }

    fn canonical(negative: bool, whole: &str, fraction: &str, exponent: i64) -> Number {
        let digits = format!("{whole}{fraction}");
        let point = whole.len() as i64 + exponent;
        let (mut int_part, mut frac_part) = if point <= 0 {
            (String::new(), "0".repeat(point.unsigned_abs() as usize) + &digits)
        } else if point as usize >= digits.len() {
            (digits.clone() + &"0".repeat(point as usize - digits.len()), String::new())
        } else {
            (digits[..point as usize].to_string(), digits[point as usize..].to_string())
        };
        int_part = int_part.trim_start_matches('0').to_string();
        frac_part = frac_part.trim_end_matches('0').to_string();
        if int_part.is_empty() {
            int_part.push('0');
        }
        let sign = if negative { "-" } else { "" };
        let point = if frac_part.is_empty() { "" } else { "." };
        let text = format!("{sign}{int_part}{point}{frac_part}");
        match text.parse::<i64>() {
            Ok(whole) => Number::from(whole),
            Err(_) => Number(Form::Text(text.into())),
        }
    }

    /// The canonical text.
    pub fn to_text(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Whole(whole) => Cow::Owned(whole.to_string()),
            Form::Text(text) => Cow::Borrowed(text),
        }
    }

    /// The number, if it is whole and has 64 bits.
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Form::Whole(whole) => Some(whole),
            Form::Text(_) => None,
        }
    }

    /// Its digits, and how many of them stand behind the point; `None` if they are more than 128 bits.
    pub fn to_decimal(&self) -> Option<(i128, u32)> {
        match &self.0 {
            Form::Whole(whole) => Some((i128::from(*whole), 0)),
            Form::Text(text) => {
                let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
                Some((format!("{whole}{fraction}").parse().ok()?, fraction.len() as u32))
            }
        }
    }

    /// Appends the canonical text.
    pub fn push_to(&self, text: &mut String) {
        match &self.0 {
            Form::Whole(whole) => push_whole(*whole, text),
            Form::Text(digits) => text.push_str(digits),
        }
    }

    /// Compares with a number that is kept in another form, or as text like it.
    fn cmp_digits(&self, other: &Number) -> Ordering {
        let (a, b) = (self.to_text(), other.to_text());
        let (a_negative, a_whole, a_fraction) = split(&a);
        let (b_negative, b_whole, b_fraction) = split(&b);
        let magnitude = (a_whole.len(), a_whole, a_fraction).cmp(&(b_whole.len(), b_whole, b_fraction));
        match (a_negative, b_negative) {
            (false, false) => magnitude,
            (true, true) => magnitude.reverse(),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

fn split(text: &str) -> (bool, &str, &str) {
    let negative = text.starts_with('-');
    let unsigned = text.trim_start_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    (negative, whole, fraction)
}

/// What `to_string` would give, without the detour through formatters.
fn push_whole(whole: i64, text: &mut String) {
    if let 0..=9 = whole {
        return text.push(char::from(b'0' + whole as u8));
    }
    let mut digits = [0; WHOLE_LENGTH_MAX];
    let (mut start, mut rest) = (WHOLE_LENGTH_MAX, whole.unsigned_abs());
    while rest > 0 {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if whole < 0 {
        text.push('-');
    }
    text.push_str(std::str::from_utf8(&digits[start..]).expect("digits are ASCII"));
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (&self.0, &other.0) {
            (Form::Whole(a), Form::Whole(b)) => a.cmp(b),
            _ => self.cmp_digits(other),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number(Form::Whole(value))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_canonical() {
        let check = |input: &str, expect: Option<&str>| {
            let number = Number::parse(input);
            assert_eq!(number.as_ref().map(Number::to_text).as_deref(), expect, "{input}");
            let mut pushed = String::new();
            number.iter().for_each(|number| number.push_to(&mut pushed));
            assert_eq!(pushed, expect.unwrap_or(""), "{input}");
        };
        check("1", Some("1"));
        check("+007", Some("7"));
        check("1.50", Some("1.5"));
        check("-0.0", Some("0"));
        check("-0", Some("0"));
        check(".5", Some("0.5"));
        check("1e3", Some("1000"));
        check("12.5e-3", Some("0.0125"));
        check("1.25e1", Some("12.5"));
        check("-9223372036854775808", Some("-9223372036854775808"));
        check("9223372036854775808", Some("9223372036854775808"));
        check("9223372036854775807.0", Some("9223372036854775807"));
        check("", None);
        check(".", None);
        check("-", None);
        check("NaN", None);
        check("1e99999999", None);
        check("0x10", None);
    }

    #[test]
    fn the_same_number_has_one_form() {
        for (one, other) in [("1", "1.0"), ("1000", "1e3"), ("0", "-0.0"), ("-12", "-1200e-2")] {
            assert_eq!(Number::parse(one), Number::parse(other));
            assert_eq!(Number::parse(other).and_then(|number| number.to_i64()), one.parse().ok());
        }
        assert_eq!(Number::parse("-12.50").and_then(|number| number.to_decimal()), Some((-125, 1)));
        assert_eq!(Number::parse("1e39").and_then(|number| number.to_decimal()), None);
    }

    #[test]
    fn numbers_order_by_value_not_by_text() {
        let sorted = [
            "-9223372036854775809",
            "-9223372036854775808",
            "-10",
            "-1",
            "-0.5",
            "0",
            "0.25",
            "0.5",
            "9",
            "9.5",
            "10",
            "9223372036854775807",
            "9223372036854775808",
        ];
        let mut numbers: Vec<Number> = sorted.iter().rev().map(|text| Number::parse(text).unwrap()).collect();
        numbers.sort();
        let texts: Vec<_> = numbers.iter().map(Number::to_text).collect();
        assert_eq!(texts, sorted);
    }
}

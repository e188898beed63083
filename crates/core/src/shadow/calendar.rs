//! Days of the Gregorian calendar, counted; and the seconds of a day.
//!
//! A year that begins in March has its leap day at its end, so that the months before it need no exception: 153 days
//! for every five months, 1,461 for four years, 146,097 for four centuries.

use std::fmt::{self, Write};

/// The seconds of a day.
pub(super) const DAY_SECONDS: i64 = 86_400;

const ERA_DAYS: i64 = 146_097;
/// From the first of March of the year 0 to the first of January 1970.
const SHIFT: i64 = 719_468;

/// The number of a day, from 1970-01-01 on; `None` if there is no such day.
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=9_999).contains(&year) {
        return None;
    }
    let (year_of_march, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year_of_march.div_euclid(400);
    let of_era = year_of_march.rem_euclid(400);
    let days = of_era * 365 + of_era / 4 - of_era / 100 + (153 * months + 2) / 5 + day - 1;
    let number = era * ERA_DAYS + days - SHIFT;
    // The 31st of February is a day of March.
    (civil(number) == (year, month, day)).then_some(number)
}

/// Year, month and day of a day's number.
fn civil(number: i64) -> (i64, i64, i64) {
    let shifted = number + SHIFT;
    let era = shifted.div_euclid(ERA_DAYS);
    let of_era = shifted.rem_euclid(ERA_DAYS);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let months = (5 * of_year + 2) / 153;
    let day = of_year - (153 * months + 2) / 5 + 1;
    let month = if months < 10 { months + 3 } else { months - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Writes a day as `2024-02-29`.
pub(super) fn write_day(out: &mut String, number: i64) -> fmt::Result {
    let (year, month, day) = civil(number);
    write!(out, "{year:04}-{month:02}-{day:02}")
}

/// Writes a second of a day as `23:59:59`.
pub(super) fn write_second(out: &mut String, second: i64) -> fmt::Result {
    write!(out, "{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
}

/// Reads `2024-02-29`.
pub(super) fn read_day(text: &str) -> Option<i64> {
    let [year, month, day] = numbers(text, '-', [4, 2, 2])?;
    day_number(year, month, day)
}

/// Reads `23:59:59`.
pub(super) fn read_second(text: &str) -> Option<i64> {
    let [hour, minute, second] = numbers(text, ':', [2, 2, 2])?;
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3_600 + minute * 60 + second)
}

/// Three numbers with exactly so many digits.
fn numbers(text: &str, separator: char, widths: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(separator);
    let mut found = [0; 3];
    for (number, width) in found.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: i64) -> String {
        let mut text = String::new();
        write_day(&mut text, number).unwrap();
        text
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let check = |text: &str, number: Option<i64>| {
            assert_eq!(read_day(text), number, "{text}");
            assert!(number.is_none_or(|number| day(number) == text), "{text}");
        };
        check("1970-01-01", Some(0));
        check("1969-12-31", Some(-1));
        check("2000-02-29", Some(11_016));
        check("2024-03-01", Some(19_783));
        check("9999-12-31", Some(2_932_896));
        check("2023-02-29", None);
        check("2024-13-01", None);
        check("2024-1-01", None);
        check("2024-01-01-", None);
    }

    #[test]
    fn no_day_is_left_out() {
        assert!((-400_000..400_000).step_by(13).all(|number| read_day(&day(number)) == Some(number)));
    }

    #[test]
    fn seconds_are_read_as_they_are_written() {
        for second in [0, 59, 60, 3_599, 3_600, 86_399] {
            let mut text = String::new();
            write_second(&mut text, second).unwrap();
            assert_eq!(read_second(&text), Some(second), "{text}");
        }
        assert_eq!(read_second("24:00:00"), None);
    }
}

//! Virtual columns: every type is a range of whole numbers.
//!
//! A column of texts cannot be calculated with, and its domain cannot be stored. So each column has a *virtual column*
//! (the paper's VC, §4.5), which holds the numbers `0..domain`, and a bijection Φ between these and its values:
//!
//! ```text
//!   virtual    0            1            2            …
//!   integer    1            2            3                 from a first number, by steps
//!   decimal    -0.50        -0.49        -0.48             the same, with a point
//!   text       user_aaa     user_aab     user_aac          letters as digits, all of the same length
//!   words      Britain      China        Japan             from a list
//!   date       2024-01-01   2024-01-02   2024-01-03
//! ```
//!
//! Φ keeps the order, so that a range of virtual values is a range of values, whatever the collation: texts consist of
//! small letters and have one length. Lists of words must come in order for the same reason.
//!
//! Several columns form one key or one attribute by [`Columns`]: its virtual value is a number whose digits are the
//! virtual values of the columns.

use std::fmt::Write as _;

use super::calendar;
use crate::generate::schema::Kind;
use crate::value::{Number, Value};

/// What the values of a virtual column look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// Whole numbers `first`, `first + step`, ….
    Integer {
        /// The least one.
        first: i64,
        /// The distance between two; at least 1.
        step: i64,
    },
    /// Numbers with so many decimals: `first`, `first + 1`, … units of the last decimal.
    Decimal {
        /// The least one, in units of the last decimal.
        first: i64,
        /// How many decimals; at most 18.
        scale: u32,
    },
    /// Quarters, which binary floats hold exactly: `first`/4, (`first` + 1)/4, ….
    Quarters {
        /// The least one, in quarters.
        first: i64,
    },
    /// A prefix, followed by small letters that count, followed by as many `x` as the length asks for.
    Text {
        /// What all of them begin with.
        prefix: String,
        /// How long they are; 0 means as short as can be.
        length: usize,
    },
    /// One of these words, in increasing order.
    Words(Vec<String>),
    /// Days, from this one on (counted from 1970-01-01).
    Date {
        /// The first day.
        first: i64,
    },
    /// Seconds of a day.
    Time,
    /// Seconds, from this one on (counted from 1970-01-01 00:00:00).
    Timestamp {
        /// The first second.
        first: i64,
    },
    /// Big-endian numbers of so many bytes, at most 8.
    Bytes {
        /// How many bytes.
        width: usize,
    },
    /// False and true.
    Boolean,
}

/// Why a column cannot hold so many values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// No value at all.
    #[error("a column with no value at all; its domain must hold at least one")]
    Empty,
    /// More values than the form has.
    #[error(
        "{wanted} different values of {form}, of which there are {most}; make the domain smaller or the type wider"
    )]
    TooMany {
        /// How many were asked for.
        wanted: u64,
        /// What they should look like.
        form: &'static str,
        /// How many there are at most.
        most: u64,
    },
    /// Words that are not sorted.
    #[error("the words `{0}` and `{1}` do not come in increasing order; sort the list, so that ranges have a meaning")]
    Unsorted(String, String),
    /// A text that does not fit into its length.
    #[error("texts of {length} characters are too short for {needed}; make them longer or the domain smaller")]
    TooShort {
        /// The length that was asked for.
        length: usize,
        /// The length that is needed.
        needed: usize,
    },
    /// The domain of several columns together is too large to count.
    #[error("the columns of one key have more than 2^63 combinations; make their domains smaller")]
    TooLarge,
}

/// The numbers `0..domain`, and what values they stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualColumn {
    form: Form,
    domain: u64,
    /// How many letters a text counts with.
    letters: usize,
}

const LETTERS: u64 = 26;
/// The day after the last that four digits can write.
const LAST_DAY: i64 = 2_932_897;

impl VirtualColumn {
    /// A column with so many values.
    pub fn new(form: Form, domain: u64) -> Result<VirtualColumn, ColumnError> {
        if domain == 0 {
            return Err(ColumnError::Empty);
        }
        let most = form.most();
        if domain > most {
            return Err(ColumnError::TooMany { wanted: domain, form: form.name(), most });
        }
        if let Form::Words(words) = &form
            && let Some(pair) = words.windows(2).find(|pair| pair[0] >= pair[1])
        {
            return Err(ColumnError::Unsorted(pair[0].clone(), pair[1].clone()));
        }
        let letters = letters(domain);
        if let Form::Text { prefix, length } = &form {
            let needed = prefix.chars().count() + letters;
            if *length > 0 && *length < needed {
                return Err(ColumnError::TooShort { length: *length, needed });
            }
        }
        Ok(VirtualColumn { form, domain, letters })
    }

    /// How many values it has.
    pub fn domain(&self) -> u64 {
        self.domain
    }

    /// What the values look like.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// How many characters its longest text has; 0 if its values are no texts.
    pub fn width(&self) -> usize {
        match &self.form {
            Form::Text { prefix, length } => (prefix.chars().count() + self.letters).max(*length),
            Form::Words(words) => words.iter().map(|word| word.chars().count()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// What kind of values it has.
    pub fn kind(&self) -> Kind {
        match &self.form {
            Form::Integer { .. } => Kind::Integer,
            Form::Decimal { .. } => Kind::Decimal,
            Form::Quarters { .. } => Kind::Float,
            Form::Text { .. } | Form::Words(_) => Kind::Text,
            Form::Date { .. } => Kind::Date,
            Form::Time => Kind::Time,
            Form::Timestamp { .. } => Kind::Timestamp,
            Form::Bytes { .. } => Kind::Bytes,
            Form::Boolean => Kind::Boolean,
        }
    }

    /// Φ, as plain text at the end of a buffer: no quotes, bytes as hexadecimal digits. Nothing is allocated beyond the
    /// buffer. A number outside the domain means its last value.
    pub fn write(&self, number: u64, out: &mut String) {
        let number = number.min(self.domain - 1);
        let offset = number as i64;
        let written = match &self.form {
            Form::Integer { first, step } => write!(out, "{}", first + offset * step),
            Form::Decimal { first, scale } => {
                let units = first + offset;
                let unit = 10u64.pow((*scale).min(18));
                let (whole, rest) = (units.unsigned_abs() / unit, units.unsigned_abs() % unit);
                let sign = if units < 0 { "-" } else { "" };
                match scale {
                    0 => write!(out, "{sign}{whole}"),
                    _ => write!(out, "{sign}{whole}.{rest:0width$}", width = *scale as usize),
                }
            }
            Form::Quarters { first } => {
                let quarters = first + offset;
                let (whole, rest) = (quarters.unsigned_abs() / 4, quarters.unsigned_abs() % 4 * 25);
                write!(out, "{}{whole}.{rest:02}", if quarters < 0 { "-" } else { "" })
            }
            Form::Text { prefix, length } => {
                self.write_letters(prefix, *length, number, out);
                Ok(())
            }
            Form::Words(words) => {
                out.push_str(&words[number as usize]);
                Ok(())
            }
            Form::Date { first } => calendar::write_day(out, first + offset),
            Form::Time => calendar::write_second(out, offset),
            Form::Timestamp { first } => {
                let second = first + offset;
                let day = calendar::write_day(out, second.div_euclid(calendar::DAY_SECONDS));
                out.push(' ');
                day.and_then(|()| calendar::write_second(out, second.rem_euclid(calendar::DAY_SECONDS)))
            }
            Form::Bytes { width } => write!(out, "{number:0digits$x}", digits = 2 * width),
            Form::Boolean => write!(out, "{}", number == 1),
        };
        written.expect("writing to a string does not fail");
    }

    fn write_letters(&self, prefix: &str, length: usize, number: u64, out: &mut String) {
        out.push_str(prefix);
        let mut power = LETTERS.pow(self.letters as u32 - 1);
        let mut left = number;
        for _ in 0..self.letters {
            out.push(char::from(b'a' + (left / power) as u8));
            left %= power;
            power = (power / LETTERS).max(1);
        }
        let written = prefix.chars().count() + self.letters;
        out.extend(std::iter::repeat_n('x', length.saturating_sub(written)));
    }

    /// Φ: the value of a number.
    pub fn value(&self, number: u64) -> Value {
        let number = number.min(self.domain - 1);
        match &self.form {
            Form::Boolean => Value::Bool(number == 1),
            Form::Bytes { width } => Value::Bytes(number.to_be_bytes()[8 - width..].to_vec()),
            _ => {
                let mut text = String::new();
                self.write(number, &mut text);
                match self.kind().is_number() {
                    true => Number::parse(&text).map_or(Value::Null, Value::Number),
                    false => Value::Text(text),
                }
            }
        }
    }

    /// Φ⁻¹: the number of a value; `None` if it is none of this column's. Truth values may come as numbers, since that
    /// is how some engines show them.
    pub fn number(&self, value: &Value) -> Option<u64> {
        let from = |first: i64, found: i64| u64::try_from(found.checked_sub(first)?).ok();
        let number = match (&self.form, value) {
            (Form::Integer { first, step }, Value::Number(found)) => {
                let distance = from(*first, found.to_i64()?)?;
                (distance % step.unsigned_abs() == 0).then(|| distance / step.unsigned_abs())
            }
            (Form::Decimal { first, scale }, Value::Number(found)) => from(*first, units(found, *scale)?),
            (Form::Quarters { first }, Value::Number(found)) => {
                let hundredths = units(found, 2)?;
                (hundredths % 25 == 0).then(|| from(*first, hundredths / 25))?
            }
            (Form::Text { prefix, length }, Value::Text(found)) => self.read_letters(prefix, *length, found),
            (Form::Words(words), Value::Text(found)) => words.binary_search(found).ok().map(|at| at as u64),
            (Form::Date { first }, Value::Text(found)) => from(*first, calendar::read_day(found)?),
            (Form::Time, Value::Text(found)) => from(0, calendar::read_second(found)?),
            (Form::Timestamp { first }, Value::Text(found)) => {
                let (day, time) = found.split_once(' ')?;
                from(*first, calendar::read_day(day)? * calendar::DAY_SECONDS + calendar::read_second(time)?)
            }
            (Form::Bytes { width }, Value::Bytes(found)) => {
                (found.len() == *width).then(|| found.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
            }
            (Form::Boolean, Value::Bool(found)) => Some(u64::from(*found)),
            (Form::Boolean, Value::Number(found)) => found.to_i64().and_then(|found| u64::try_from(found).ok()),
            _ => None,
        };
        number.filter(|number| *number < self.domain)
    }

    fn read_letters(&self, prefix: &str, length: usize, text: &str) -> Option<u64> {
        let rest = text.strip_prefix(prefix)?;
        let (letters, padding) = rest.split_at_checked(self.letters)?;
        let padded = length.saturating_sub(prefix.chars().count() + self.letters);
        if padding.len() != padded || padding.bytes().any(|byte| byte != b'x') {
            return None;
        }
        letters.bytes().try_fold(0u64, |number, byte| {
            let digit = byte.checked_sub(b'a').filter(|digit| u64::from(*digit) < LETTERS)?;
            number.checked_mul(LETTERS)?.checked_add(u64::from(digit))
        })
    }
}

impl Form {
    /// How many values there are at most.
    fn most(&self) -> u64 {
        const LIMIT: u64 = 1 << 63;
        let up = |first: i64, last: i64| last.saturating_sub(first).max(-1).saturating_add(1) as u64;
        match self {
            Form::Integer { step, .. } if *step < 1 => 1,
            // Both the last value and its distance from the first must be numbers of 64 bits.
            Form::Integer { first, step } => up(*first / step, i64::MAX / step - 1),
            Form::Decimal { first, .. } | Form::Quarters { first } => up(*first, i64::MAX - 1),
            // The powers of 26 up to the thirteenth are below 2⁶³.
            Form::Text { .. } => LETTERS.pow(13),
            Form::Words(words) => words.len() as u64,
            Form::Date { first } => up(*first, LAST_DAY - 1),
            Form::Time => calendar::DAY_SECONDS as u64,
            Form::Timestamp { first } => up(*first, LAST_DAY * calendar::DAY_SECONDS - 1),
            Form::Bytes { width } if *width < 8 => 1 << (8 * width),
            Form::Bytes { width: 8 } => LIMIT,
            Form::Bytes { .. } => 0,
            Form::Boolean => 2,
        }
        .min(LIMIT)
    }

    fn name(&self) -> &'static str {
        match self {
            Form::Integer { .. } => "whole numbers",
            Form::Decimal { .. } => "decimal numbers",
            Form::Quarters { .. } => "quarters",
            Form::Text { .. } => "texts",
            Form::Words(_) => "the words of a list",
            Form::Date { .. } => "days",
            Form::Time => "times of the day",
            Form::Timestamp { .. } => "timestamps",
            Form::Bytes { .. } => "bytes",
            Form::Boolean => "truth values",
        }
    }
}

/// How many letters are needed to count up to a domain.
fn letters(domain: u64) -> usize {
    let mut letters = 1;
    let mut reach = LETTERS;
    while reach < domain && letters < 13 {
        reach *= LETTERS;
        letters += 1;
    }
    letters
}

/// A decimal number in units of its last place; `None` if it has more places than that.
fn units(number: &Number, scale: u32) -> Option<i64> {
    let (digits, places) = number.to_decimal()?;
    let power = 10_i128.checked_pow(scale.checked_sub(places)?)?;
    digits.checked_mul(power)?.try_into().ok()
}

/// The columns of a key or of an attribute, as one number: its digits are the virtual values of the columns, the first
/// column's in front. So its order is that of the columns, as an index has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    columns: Vec<VirtualColumn>,
    domain: u64,
}

impl Columns {
    /// Columns that form one key or attribute.
    pub fn new(columns: Vec<VirtualColumn>) -> Result<Columns, ColumnError> {
        if columns.is_empty() {
            return Err(ColumnError::Empty);
        }
        let product = columns.iter().try_fold(1u64, |product, column| product.checked_mul(column.domain));
        let domain = product.filter(|product| *product <= 1 << 63).ok_or(ColumnError::TooLarge)?;
        Ok(Columns { columns, domain })
    }

    /// The columns.
    pub fn columns(&self) -> &[VirtualColumn] {
        &self.columns
    }

    /// How many combinations of values there are.
    pub fn domain(&self) -> u64 {
        self.domain
    }

    /// The virtual value of one of the columns.
    pub fn digit(&self, number: u64, column: usize) -> u64 {
        let after: u64 = self.columns[column + 1..].iter().map(|column| column.domain).product();
        number / after % self.columns[column].domain
    }

    /// The number whose digits these are; `None` if one of them is outside its domain, or if there are too few or too
    /// many.
    pub fn join(&self, digits: &[u64]) -> Option<u64> {
        let fit = digits.len() == self.columns.len()
            && digits.iter().zip(&self.columns).all(|(digit, column)| *digit < column.domain);
        let push = |number, (digit, column): (&u64, &VirtualColumn)| number * column.domain + digit;
        fit.then(|| digits.iter().zip(&self.columns).fold(0, push))
    }

    /// Φ, for all columns.
    pub fn values(&self, number: u64) -> Vec<Value> {
        (0..self.columns.len()).map(|at| self.columns[at].value(self.digit(number, at))).collect()
    }

    /// Φ⁻¹, for all columns.
    pub fn number(&self, values: &[Value]) -> Option<u64> {
        let digits: Option<Vec<u64>> = self.columns.iter().zip(values).map(|(column, v)| column.number(v)).collect();
        digits.filter(|_| values.len() == self.columns.len()).and_then(|digits| self.join(&digits))
    }
}

impl From<VirtualColumn> for Columns {
    fn from(column: VirtualColumn) -> Columns {
        Columns { domain: column.domain, columns: vec![column] }
    }
}

#[cfg(test)]
mod tests;

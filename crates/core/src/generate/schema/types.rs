//! The types of columns: what profiles call them, what the language must have, and where their edges are.

use super::Kind;
use crate::dialect::Construct;
use crate::generate::features;
use crate::generate::language::Language;
use crate::generate::model::{Feature, Model};
use crate::generate::random::Random;
use crate::value::{Number, Value};

/// A type of columns.
#[derive(Debug)]
pub struct Type {
    /// Its name in profiles.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What the language calls it.
    construct: Construct,
    /// What follows the name: precision, length.
    suffix: &'static str,
    /// The least and the greatest value, where there is a bound that engines guard.
    bounds: Option<(&'static str, &'static str)>,
}

const fn plain(name: &'static str, kind: Kind, construct: Construct, suffix: &'static str) -> Type {
    Type { name, kind, construct, suffix, bounds: None }
}

const fn bounded(
    name: &'static str,
    kind: Kind,
    construct: Construct,
    suffix: &'static str,
    bounds: (&'static str, &'static str),
) -> Type {
    Type { name, kind, construct, suffix, bounds: Some(bounds) }
}

/// All types. Lengths leave room for what statements append. The least whole number is left out by one, since its
/// literal is the negative of a number that does not fit.
const TYPES: &[Type] = &[
    bounded("smallint", Kind::Integer, Construct::SmallInt, "", ("-32767", "32767")),
    bounded("int", Kind::Integer, Construct::Int, "", ("-2147483647", "2147483647")),
    bounded("bigint", Kind::Integer, Construct::BigInt, "", ("-9223372036854775807", "9223372036854775807")),
    bounded("decimal", Kind::Decimal, Construct::Decimal, "(10, 2)", ("-99999999.75", "99999999.75")),
    plain("double", Kind::Float, Construct::Double, ""),
    plain("varchar", Kind::Text, Construct::Varchar, "(50)"),
    plain("char", Kind::Text, Construct::Char, "(20)"),
    plain("text", Kind::Text, Construct::Text, ""),
    bounded("date", Kind::Date, Construct::Date, "", ("1000-01-01", "9999-12-31")),
    bounded("time", Kind::Time, Construct::Time, "", ("00:00:00", "23:59:59")),
    bounded("timestamp", Kind::Timestamp, Construct::Timestamp, "", ("1000-01-01 00:00:00", "9999-12-31 23:59:59")),
    plain("blob", Kind::Bytes, Construct::Blob, ""),
    plain("boolean", Kind::Boolean, Construct::Boolean, ""),
];

/// The type for engines whose dialect says nothing: every engine has it.
const FALLBACK: &Type = &TYPES[1];

impl Type {
    /// Chooses among the types that all targets share.
    pub fn choose(feature: &Feature, model: &Model, language: &Language, random: &mut Random) -> &'static Type {
        let shared = |name: &str| named(name).is_some_and(|found| language.has(found.construct));
        model.word(feature, random, shared).and_then(named).unwrap_or(FALLBACK)
    }

    /// Whether the server may hand out values of it.
    pub fn can_be_handed_out(&self) -> bool {
        self.construct == Construct::Int
    }

    /// Its name in SQL.
    pub fn text(&self, language: &Language) -> String {
        format!("{}{}", language.spelling(self.construct).unwrap_or("INT"), self.suffix)
    }

    /// Whether keys and indexes may have columns of it.
    pub fn can_be_key(&self) -> bool {
        features::KEY_TYPES.contains(&self.name)
    }

    /// Whether MySQL lets a column of it have a default.
    pub fn can_have_default(&self) -> bool {
        !matches!(self.construct, Construct::Text | Construct::Blob)
    }

    /// Values at its edges, as far as all targets treat them alike. (Beyond a bound that not all of them guard, one
    /// would answer with an error and the other with a result.)
    pub fn extremes(&self, language: &Language) -> Vec<Value> {
        let mut extremes = match self.kind {
            Kind::Integer => vec![Value::int(0), Value::int(-1)],
            Kind::Decimal | Kind::Float => vec![Value::int(0), number("-0.25")],
            Kind::Text if language.has(Construct::TextComparison) => vec![Value::text(""), Value::text("A")],
            Kind::Text => vec![Value::text("")],
            Kind::Bytes => vec![Value::Bytes(Vec::new())],
            Kind::Date | Kind::Time | Kind::Timestamp | Kind::Boolean => Vec::new(),
        };
        // CHAR would lose the blank.
        if language.has(Construct::TextComparison) && self.construct == Construct::Varchar {
            extremes.push(Value::text("a "));
        }
        if let Some((least, greatest)) = self.bounds.filter(|_| language.has(Construct::Bounds)) {
            let value = |text: &str| if self.kind.is_number() { number(text) } else { Value::text(text) };
            extremes.extend([value(least), value(greatest)]);
        }
        extremes
    }
}

fn named(name: &str) -> Option<&'static Type> {
    TYPES.iter().find(|found| found.name == name)
}

fn number(text: &str) -> Value {
    Number::parse(text).map_or(Value::Null, Value::Number)
}

impl Kind {
    /// Whether its values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Kind::Integer | Kind::Decimal | Kind::Float)
    }
}

/// The type of an attribute.
pub(super) fn of_attribute(model: &Model, language: &Language, random: &mut Random) -> &'static Type {
    Type::choose(&features::ATTRIBUTE_TYPE, model, language, random)
}

/// The type of a primary key.
pub(super) fn of_key(model: &Model, language: &Language, random: &mut Random) -> &'static Type {
    Type::choose(&features::PRIMARY_KEY_TYPE, model, language, random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::model::Domain;

    #[test]
    fn every_name_of_the_model_is_a_type() {
        for feature in [features::ATTRIBUTE_TYPE, features::PRIMARY_KEY_TYPE] {
            let Domain::Words(names) = feature.domain else { panic!("words") };
            assert!(names.iter().all(|name| named(name).is_some()), "{names:?}");
        }
        assert_eq!(FALLBACK.name, "int");
    }

    #[test]
    fn numbers_of_the_table_are_numbers() {
        for found in TYPES.iter().filter(|found| found.kind.is_number()) {
            let (least, greatest) = found.bounds.unwrap_or(("0", "0"));
            assert!(Number::parse(least).is_some() && Number::parse(greatest).is_some(), "{}", found.name);
        }
    }
}

//! Every feature of the stochastic model. One constant and one entry in [`FEATURES`] each; profiles, their errors and
//! their documentation derive from the table.

use super::model::{Domain, Feature, Usual};

const fn number(name: &'static str, bounds: (i64, i64), usual: (i64, i64), what: &'static str) -> Feature {
    Feature { name, domain: Domain::Number(bounds.0, bounds.1), default: Usual::Range(usual.0, usual.1), what }
}

const fn flag(name: &'static str, percent: u64, what: &'static str) -> Feature {
    Feature { name, domain: Domain::Flag, default: Usual::Percent(percent), what }
}

const fn words(
    name: &'static str,
    words: &'static [&'static str],
    usual: &'static [(&'static str, u64)],
    what: &'static str,
) -> Feature {
    Feature { name, domain: Domain::Words(words), default: Usual::Weights(usual), what }
}

/// How many tables a schema has.
pub const TABLES: Feature = number("schema.tables", (1, 8), (1, 3), "how many tables a schema has");
/// How many columns a table has beside its primary key.
pub const COLUMNS: Feature =
    number("schema.columns", (1, 16), (1, 3), "how many columns a table has beside its primary key");
/// How many rows a table has at the start.
pub const ROWS: Feature = number("schema.rows", (0, 1000), (1, 5), "how many rows a table has at the start");
/// Whether a column refuses NULL.
pub const NOT_NULL: Feature = flag("column.not_null", 20, "whether a column refuses NULL");
/// How a transaction ends.
pub const ENDING: Feature =
    words("transaction.ending", &["commit", "rollback"], &[("commit", 4), ("rollback", 1)], "how a transaction ends");

/// All of them, in the order of the documentation.
pub const FEATURES: &[&Feature] = &[&TABLES, &COLUMNS, &ROWS, &NOT_NULL, &ENDING];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_lie_in_their_domains() {
        let mut names: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        for feature in FEATURES {
            assert_eq!(feature.name.split('.').count(), 2, "{}: section.name", feature.name);
            let fits = match (feature.domain, feature.default) {
                (Domain::Number(low, high), Usual::Range(from, to)) => low <= from && from <= to && to <= high,
                (Domain::Words(words), Usual::Weights(usual)) => usual.iter().all(|(word, _)| words.contains(word)),
                (Domain::Flag, Usual::Percent(percent)) => percent <= 100,
                _ => false,
            };
            assert!(fits, "{}", feature.name);
        }
    }
}

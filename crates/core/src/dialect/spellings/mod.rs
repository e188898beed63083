//! How each dialect writes the parts of the language that are not the same everywhere, and what it means by them.
//!
//! One table per dialect. A line says: this construct is written so, since that version, and its meaning differs from
//! what others write the same in *this* respect (the sense). Two engines share a construct if text and sense are equal,
//! so a sense is a name, not a description: it need only tell meanings apart. A construct without a line is lacking.
//!
//! ```text
//!   Concat    PostgreSQL  CONCAT  "NULL is empty"        CONCAT('a', NULL) is 'a'
//!             MySQL       CONCAT  "NULL wins"            CONCAT('a', NULL) is NULL
//! ```
//!
//! The integration tests try every line on the engine itself.

mod sqlite;
mod postgres;
mod mysql;
mod h2;

pub(super) use h2::H2;
pub(super) use mysql::MYSQL;
pub(super) use postgres::POSTGRES;
pub(super) use sqlite::{LOCKING, SQLITE};

use super::{Construct, Spelling};
use crate::engine::Version;

/// A line of a dialect's table.
#[derive(Debug)]
pub(super) struct Line {
    construct: Construct,
    spelling: Spelling,
    since: Since,
}

/// Since when a line holds. MySQL and MariaDB are one dialect with two histories.
#[derive(Debug, Clone, Copy)]
struct Since {
    /// In MariaDB.
    mariadb: Option<&'static [u32]>,
    /// In MySQL, and in every other engine.
    others: Option<&'static [u32]>,
}

const ALWAYS: Since = Since { mariadb: Some(&[]), others: Some(&[]) };

/// A construct that is written so, and means what everybody means by it.
const fn line(construct: Construct, text: &'static str) -> Line {
    meaning(construct, text, "")
}

/// A construct with a meaning that not everybody shares.
const fn meaning(construct: Construct, text: &'static str, sense: &'static str) -> Line {
    Line { construct, spelling: Spelling { text, sense }, since: ALWAYS }
}

impl Line {
    const fn since(self, mysql: &'static [u32], mariadb: &'static [u32]) -> Line {
        Line { since: Since { mariadb: Some(mariadb), others: Some(mysql) }, ..self }
    }

    const fn only_mariadb(self, version: &'static [u32]) -> Line {
        Line { since: Since { mariadb: Some(version), others: None }, ..self }
    }

    const fn only_mysql(self, version: &'static [u32]) -> Line {
        Line { since: Since { mariadb: None, others: Some(version) }, ..self }
    }

    fn holds(&self, version: &Version) -> bool {
        let since = if version.text.contains("MariaDB") { self.since.mariadb } else { self.since.others };
        since.is_some_and(|since| version.numbers.as_slice() >= since)
    }
}

/// The first line of the table about a construct that holds for a version: newer ones stand above older ones.
pub(super) fn find(table: &[Line], construct: Construct, version: &Version) -> Option<Spelling> {
    table.iter().find(|line| line.construct == construct && line.holds(version)).map(|line| line.spelling)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mysql(construct: Construct, version: &str) -> Option<Spelling> {
        find(MYSQL, construct, &Version::parse(version))
    }

    #[test]
    fn versions_decide_what_there_is() {
        let check = |construct, version: &str, expect: bool| {
            assert_eq!(mysql(construct, version).is_some(), expect, "{construct:?} in {version}");
        };
        check(Construct::Check, "8.0.15", false);
        check(Construct::Check, "8.0.16", true);
        check(Construct::Check, "10.2.0-MariaDB", false);
        check(Construct::Check, "10.2.1-MariaDB", true);
        check(Construct::Window, "5.7.44", false);
        check(Construct::With, "9.7.4", true);
        check(Construct::SelfSubquery, "9.7.4", false);
        check(Construct::SelfSubquery, "10.5.23-MariaDB", true);
        check(Construct::FullJoin, "11.8.6-MariaDB", false);
    }

    #[test]
    fn the_newest_meaning_stands_first() {
        let collation = |version| mysql(Construct::TextComparison, version).map(|spelling| spelling.sense);
        assert_eq!(collation("5.6.24"), collation("10.11.14-MariaDB"));
        assert_ne!(collation("5.6.24"), collation("9.7.4"));
        assert_ne!(collation("10.11.14-MariaDB"), collation("11.8.6-MariaDB"));
        assert_ne!(collation("9.7.4"), collation("11.8.6-MariaDB"));
    }

    #[test]
    fn no_line_hides_another_one_for_good() {
        for table in [SQLITE, POSTGRES, MYSQL] {
            for (at, line) in table.iter().enumerate() {
                let hidden = table[..at].iter().any(|above| {
                    above.construct == line.construct
                        && above.since.mariadb == Some(&[][..])
                        && above.since.others == Some(&[][..])
                });
                assert!(!hidden, "{line:?}");
            }
        }
    }
}

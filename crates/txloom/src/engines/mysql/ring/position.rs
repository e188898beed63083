//! Positions: how far a server has come, in its own writing and in what it has heard of others.

use std::collections::BTreeMap;
use std::fmt;

/// The last transaction of each domain. A member of a ring writes in the domain of its own number; so a position says of
/// every member how many of its transactions are known. Prints as MariaDB writes it: `1-1-5,2-2-7`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Position(BTreeMap<u32, Gtid>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gtid {
    server: u32,
    sequence: u64,
}

impl Position {
    /// Reads what MariaDB says; `None` if it makes no sense.
    pub(super) fn parse(text: &str) -> Option<Position> {
        let gtid = |text: &str| {
            let mut parts = text.trim().split('-');
            let (domain, server, sequence) = (parts.next()?, parts.next()?, parts.next()?);
            Some((domain.parse().ok()?, Gtid { server: server.parse().ok()?, sequence: sequence.parse().ok()? }))
        };
        text.split(',').filter(|text| !text.trim().is_empty()).map(gtid).collect::<Option<_>>().map(Position)
    }

    /// The same without one domain: what a server has written itself, it need not hear of.
    pub(super) fn without(mut self, domain: u32) -> Position {
        self.0.remove(&domain);
        self
    }

    /// Whether everything up to another position is known.
    pub(super) fn reaches(&self, other: &Position) -> bool {
        let knows = |(domain, gtid): (&u32, &Gtid)| self.0.get(domain).is_some_and(|own| own.sequence >= gtid.sequence);
        other.0.iter().all(knows)
    }

    /// How many transactions there have been.
    pub(super) fn length(&self) -> u64 {
        self.0.values().map(|gtid| gtid.sequence).sum()
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gtids = self.0.iter().map(|(domain, gtid)| format!("{domain}-{}-{}", gtid.server, gtid.sequence));
        f.write_str(&gtids.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_compared_domain_by_domain() {
        let position = |text: &str| Position::parse(text).unwrap();
        assert_eq!(position("2-2-7,1-1-5").to_string(), "1-1-5,2-2-7");
        assert_eq!(position("1-1-5,2-2-7").length(), 12);
        for (known, asked, expect) in [
            ("", "", true),
            ("1-1-5", "", true),
            ("", "1-1-1", false),
            ("1-1-5,2-2-7", "1-1-5", true),
            ("1-1-5,2-2-7", "1-1-6", false),
            ("1-1-5,2-2-7", "1-1-1,3-3-1", false),
        ] {
            assert_eq!(position(known).reaches(&position(asked)), expect, "{known} {asked}");
        }
        assert_eq!(position("1-1-5,2-2-7").without(2), position("1-1-5"));
        assert_eq!(Position::parse("1-1"), None);
        assert_eq!(Position::parse("x-1-1"), None);
    }
}

//! What kind of violation a finding is.
//!
//! Two findings are of one kind if an oracle saw the same sort of thing go wrong with statements of the same shape. A
//! shape keeps the structure of a statement and forgets constants and names:
//!
//! ```text
//!   UPDATE accounts SET balance = 20 WHERE id = 1   →   UPDATE n0 SET n1 = ? WHERE n2 = ?
//!   UPDATE t SET v = v - 1 WHERE k = 'x'            →   UPDATE n0 SET n1 = n1 - ? WHERE n2 = ?
//! ```
//!
//! Which words are keywords is decided by a list. A keyword that is missing there is taken for a name: shapes are then
//! a little coarser, but still the same for the same statement.

use std::collections::BTreeMap;
use std::fmt;

use crate::sql::{self, Token, TokenKind};

/// The kind of a violation: short, stable text, e.g. `serial-rows-1f0c93a5d2e4`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// What went wrong, in a word or two, and the shapes that it went wrong with; their order does not matter.
    pub fn new(what: &str, shapes: &[String]) -> Fingerprint {
        let mut shapes: Vec<&str> = shapes.iter().map(String::as_str).collect();
        shapes.sort_unstable();
        // 48 bits are short enough to read out and long enough for the findings of a life.
        Fingerprint(format!("{what}-{:012x}", hash(&shapes.join("\n")) >> 16))
    }

    /// What went wrong, without the shapes: what a reduction must keep. (Dropping a bystander changes the shapes, and
    /// leaves the same violation.)
    pub fn kind(&self) -> &str {
        self.0.rsplit_once('-').map_or(&self.0, |(kind, _)| kind)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// FNV-1a: the standard library's hashes are not promised to be the same tomorrow.
pub(crate) fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The shape of statements that belong together: a name has the same number in all of them.
pub fn shape<'a>(statements: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = BTreeMap::new();
    let shapes = statements.into_iter().map(|statement| {
        let words: Vec<String> = sql::tokens(statement).iter().map(|token| word(token, &mut names)).collect();
        words.join(" ")
    });
    shapes.collect::<Vec<_>>().join("; ")
}

fn word(token: &Token<'_>, names: &mut BTreeMap<String, usize>) -> String {
    match token.kind {
        TokenKind::Number | TokenKind::String => "?".to_string(),
        TokenKind::Symbol => token.text.to_string(),
        TokenKind::Word if is_keyword(token.text) => token.text.to_uppercase(),
        TokenKind::Word | TokenKind::Quoted | TokenKind::Variable => {
            let name = token.text.trim_matches(['"', '`', ':']).to_lowercase();
            let next = names.len();
            format!("n{}", names.entry(name).or_insert(next))
        }
    }
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word.to_ascii_uppercase().as_str()).is_ok()
}

/// The words that give statements their structure, in order.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "ALL", "ALTER", "AND", "AS", "ASC", "AVG", "BEGIN", "BETWEEN", "BY", "CASE", "COMMIT", "CONFLICT", "COUNT",
    "CREATE", "CROSS", "DEFAULT", "DELETE", "DESC", "DISTINCT", "DO", "DROP", "ELSE", "END", "EXCEPT", "EXISTS",
    "FALSE", "FOR", "FROM", "FULL", "GROUP", "HAVING", "IN", "INDEX", "INNER", "INSERT", "INTERSECT", "INTO", "IS",
    "ISOLATION", "JOIN", "LEFT", "LEVEL", "LIKE", "LIMIT", "LOCK", "MAX", "MERGE", "MIN", "NATURAL", "NO", "NOT",
    "NOTHING", "NOWAIT", "NULL", "OFFSET", "ON", "OR", "ORDER", "OUTER", "OVER", "PARTITION", "REPLACE", "RETURNING",
    "RIGHT", "ROLLBACK", "SAVEPOINT", "SELECT", "SET", "SHARE", "START", "SUM", "TABLE", "THEN", "TO", "TRANSACTION",
    "TRUE", "UNION", "UPDATE", "USING", "VALUES", "WHEN", "WHERE", "WITH",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn shapes_forget_constants_and_names_but_not_structure() {
        let check = |a: &str, b: &str, same: bool| assert_eq!(shape([a]) == shape([b]), same, "{a} / {b}");
        check("UPDATE accounts SET balance = 20 WHERE id = 1", "update t set v = 'x' where \"K\" = 7.5", true);
        check("SELECT a FROM t WHERE a = 1", "SELECT a FROM t WHERE b = 1", false);
        check("SELECT a FROM t FOR UPDATE", "SELECT a FROM t", false);
        assert_eq!(shape(["SELECT v FROM t", "UPDATE t SET v = 1"]), "SELECT n0 FROM n1; UPDATE n1 SET n0 = ?");
    }

    #[test]
    fn fingerprints_are_stable_and_blind_to_order() {
        let shapes = ["x".to_string(), "y".to_string()];
        let turned = ["y".to_string(), "x".to_string()];
        assert_eq!(Fingerprint::new("serial-rows", &shapes), Fingerprint::new("serial-rows", &turned));
        assert_ne!(Fingerprint::new("serial-rows", &shapes), Fingerprint::new("serial-state", &shapes));
        assert_eq!(Fingerprint::new("serial-rows", &[]).as_str(), "serial-rows-cbf29ce48422");
    }
}

//! Setups that can be repeated without creating anything: the same tables with the same rows.
//!
//! Creating a database with its tables takes milliseconds; emptying the tables takes less than one. So when a case's setup
//! begins with the same definitions as that of the case before, and nobody has touched the schema since, the tables are
//! truncated (which leaves them as they were after CREATE TABLE: a new, empty tree, AUTO_INCREMENT at 1) and only the rest
//! of the setup is executed.

use txloom_core::outcome::Outcome;
use txloom_core::sql::{StatementKind, Token, TokenKind, tokens};

/// What the definitions of the last setup made.
#[derive(Debug)]
pub(super) struct Layout {
    definitions: Vec<String>,
    /// What the server said to each of them.
    pub(super) outcomes: Vec<Outcome>,
    /// The tables that came of them.
    pub(super) tables: Vec<String>,
}

impl Layout {
    /// The layout that a setup has made; `None` if it cannot be repeated.
    pub(super) fn of(setup: &[String], outcomes: &[Outcome], tables: Vec<String>) -> Option<Layout> {
        let count = definition_count(setup)?;
        let complete = outcomes.len() == setup.len() && outcomes.iter().all(|outcome| outcome.error.is_none());
        let (definitions, outcomes) = (setup[..count].to_vec(), outcomes.get(..count)?.to_vec());
        complete.then_some(Layout { definitions, outcomes, tables })
    }

    /// The rest of a setup that begins with these very definitions.
    pub(super) fn rest<'a>(&self, setup: &'a [String]) -> Option<&'a [String]> {
        let count = definition_count(setup)?;
        (setup[..count] == self.definitions).then(|| &setup[count..])
    }
}

/// How many definitions a setup begins with; `None` if it does anything but define first and insert then.
fn definition_count(setup: &[String]) -> Option<usize> {
    let count = setup.iter().take_while(|message| is_definition(message)).count();
    setup[count..].iter().all(|message| is_insert(message)).then_some(count)
}

/// A definition whose effect is still there after its tables were truncated.
fn is_definition(sql: &str) -> bool {
    let tokens = tokens(sql);
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is_word(word));
    let brings_rows =
        || tokens.iter().skip(2).any(|token| ["SELECT", "VALUES", "TABLE"].iter().any(|word| token.is_word(word)));
    // TRUNCATE resets the counter to 1, whatever the definition said.
    let sets_counter = || {
        let is_value = |token: &Token<'_>| token.is_symbol("=") || token.kind == TokenKind::Number;
        tokens.windows(2).any(|pair| pair[0].is_word("AUTO_INCREMENT") && is_value(&pair[1]))
    };
    let is_table = || is(1, "TABLE") && !brings_rows() && !sets_counter();
    is_simple(sql) && is(0, "CREATE") && (is_table() || is(1, "INDEX") || is(2, "INDEX") || is(1, "VIEW"))
}

/// An insert that makes new rows and changes no others, so that purge has nothing to do after it.
fn is_insert(sql: &str) -> bool {
    let tokens = tokens(sql);
    is_simple(sql)
        && tokens.first().is_some_and(|token| token.is_word("INSERT"))
        && !tokens.iter().any(|token| token.is_word("DUPLICATE"))
}

/// One statement and nothing that the server might execute besides.
fn is_simple(sql: &str) -> bool {
    !sql.contains(';') && !sql.contains("/*!") && !sql.contains("/*M!")
}

/// Whether a setup changes or deletes rows, so that purge has something to do after it.
pub(super) fn leaves_history(setup: &[String]) -> bool {
    let is_ddl = |sql: &str| is_simple(sql) && StatementKind::of(sql) == StatementKind::Ddl;
    let fires = |sql: &str| tokens(sql).iter().any(|token| token.is_word("TRIGGER"));
    !setup.iter().all(|message| (is_ddl(message) && !fires(message)) || is_insert(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use txloom_core::outcome::TxStatus;

    fn setup(text: &str) -> Vec<String> {
        text.split(" | ").filter(|message| !message.is_empty()).map(str::to_string).collect()
    }

    fn layout(text: &str) -> Option<Layout> {
        let setup = setup(text);
        let outcomes = vec![Outcome::empty(TxStatus::Idle); setup.len()];
        Layout::of(&setup, &outcomes, Vec::new())
    }

    #[test]
    fn definitions_that_stay_are_told_from_those_that_do_not() {
        for (sql, expect) in [
            ("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)", true),
            ("CREATE UNIQUE INDEX i ON t (v)", true),
            ("CREATE VIEW w AS SELECT v FROM t", true),
            ("CREATE TABLE t LIKE u", true),
            ("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 100", false),
            ("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT 100", false),
            ("CREATE TABLE t AS SELECT 1", false),
            ("CREATE TABLE t TABLE u", false),
            ("CREATE TEMPORARY TABLE t (id INT)", false),
            ("CREATE TABLE t (id INT); INSERT INTO t VALUES (1)", false),
            ("CREATE TABLE t (id INT) /*! AUTO_INCREMENT = 7 */", false),
            ("CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @x = 1", false),
            ("INSERT INTO t VALUES (1)", false),
        ] {
            assert_eq!(is_definition(sql), expect, "{sql}");
        }
    }

    #[test]
    fn a_setup_with_the_same_definitions_is_repeated_from_its_first_insert() {
        let layout = layout("CREATE TABLE t (id INT) | INSERT INTO t VALUES (1)").unwrap();
        let check = |text: &str, expect: Option<&[&str]>| {
            let setup = setup(text);
            let rest = layout.rest(&setup).map(|rest| rest.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(rest.as_deref(), expect, "{text}");
        };
        check("CREATE TABLE t (id INT) | INSERT INTO t VALUES (2)", Some(&["INSERT INTO t VALUES (2)"]));
        check("CREATE TABLE t (id INT)", Some(&[]));
        check("CREATE TABLE t (id INT) | CREATE INDEX i ON t (id)", None);
        check("CREATE TABLE t (id INT) | UPDATE t SET id = 1", None);
        check("", None);
    }

    #[test]
    fn a_setup_that_does_more_than_define_and_insert_is_not_repeated() {
        assert!(layout("CREATE TABLE t (id INT) | INSERT INTO t VALUES (1) | CREATE INDEX i ON t (id)").is_none());
        assert!(layout("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE id = 2").is_none());
        let failed = Layout::of(&setup("CREATE TABLE t (id INT) | nonsense"), &[], Vec::new());
        assert!(failed.is_none());
    }

    #[test]
    fn purge_has_work_after_changes_only() {
        for (text, expect) in [
            ("", false),
            ("CREATE TABLE t (id INT) | INSERT INTO t VALUES (1)", false),
            ("CREATE TABLE t (id INT) | DELETE FROM t", true),
            ("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE id = 2", true),
            ("CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW DELETE FROM u", true),
            ("CALL p()", true),
        ] {
            assert_eq!(leaves_history(&setup(text)), expect, "{text}");
        }
    }
}

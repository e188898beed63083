//! What reaches beyond a database on MySQL and MariaDB.

use super::{Reading, Scope, Sign, Trespass};

/// The first words of statements that concern rows, the schema of the database, or the session.
#[rustfmt::skip]
const FIRST_WORDS: &[&str] = &[
    "select", "insert", "update", "delete", "replace", "with", "values", "table", "begin", "start", "commit", "rollback",
    "savepoint", "release", "set", "show", "explain", "desc", "describe", "do", "handler", "lock", "unlock", "create",
    "alter", "drop", "truncate", "rename", "call", "prepare", "execute", "deallocate", "analyze", "optimize", "check",
    "checksum", "repair", "get", "signal", "resignal", "load", "use", "end", "if", "while", "loop", "repeat", "declare",
    "return", "leave", "iterate", "open", "fetch", "close", "else", "elseif", "case", "when", "until", "",
];

/// Objects of the server.
#[rustfmt::skip]
const SERVER_OBJECTS: &[&str] = &[
    "database", "schema", "user", "role", "server", "tablespace", "logfile", "undo", "instance", "resource", "event",
];

/// What may stand between CREATE and the kind of an object.
const FILLERS: &[&str] = &["or", "replace", "definer"];

const SERVER_VARIABLES: &[&str] = &["global", "persist", "persist_only", "password", "role", "default"];

/// How the text reaches beyond our own database.
pub(super) fn trespass(reading: &Reading, scope: &Scope<'_>) -> Option<Trespass> {
    let statements = if reading.is_exact { reading.statements() } else { Vec::new() };
    let by_first_word = statements.iter().find_map(|statement| {
        let first = (0..).find(|at| !statement.is_symbol(*at, "(")).map_or("", |at| statement.word(at));
        // A block of a routine may have a label.
        let is_known = FIRST_WORDS.contains(&first) || statement.is_symbol(1, ":");
        (!is_known).then(|| Trespass(format!("begins with {}", first.to_uppercase())))
    });
    by_first_word
        .or_else(|| objects(reading))
        .or_else(|| settings(reading))
        .or_else(|| files(reading))
        .or_else(|| uses(reading, scope))
        .or_else(|| qualifiers(reading, scope))
        .or_else(|| code(reading, scope))
}

/// CREATE, ALTER and DROP of what belongs to the server.
fn objects(reading: &Reading) -> Option<Trespass> {
    ["create", "alter", "drop", "rename"].iter().flat_map(|verb| reading.places(verb)).find_map(|at| {
        let kind = (at + 1..).find(|at| !FILLERS.contains(&reading.word(*at))).unwrap_or(at);
        let (verb, object) = (reading.word(at).to_uppercase(), reading.word(kind));
        // A column may be dropped, and may have such a name: then something follows that no name can be.
        let is_column = reading.word(at.saturating_sub(2)) == "table" || reading.word(at.saturating_sub(3)) == "table";
        let is_named = !reading.word(kind + 1).is_empty() || reading.is_text(kind + 1);
        (SERVER_OBJECTS.contains(&object) && is_named && !is_column)
            .then(|| Trespass(format!("says {verb} {}", object.to_uppercase())))
    })
}

/// Settings of the server, rights, plugins, replication.
fn settings(reading: &Reading) -> Option<Trespass> {
    let before = |at: usize| at.wrapping_sub(1);
    let begins = |at: usize| {
        at == 0
            || reading.is_symbol(before(at), ";")
            || ["begin", "then", "do", "else"].contains(&reading.word(before(at)))
    };
    let sets = |at: usize| {
        let name = reading.word(at).trim_start_matches('@');
        let is_global = ["global", "persist", "persist_only"].contains(&name);
        let is_after_set = reading.word(before(at)) == "set";
        // `UPDATE t SET role = 1` sets a column; `SET x = @@global.x` reads.
        let is_column = reading.is_symbol(at + 1, "=") && !begins(before(at));
        // `SET DEFAULT ROLE`, and not `ALTER c SET DEFAULT 1`.
        let is_default = name == "default" && reading.word(at + 1) != "role";
        (is_after_set && SERVER_VARIABLES.contains(&name) && !is_column && !is_default)
            || (is_global && reading.is_symbol(before(at), ","))
    };
    if reading.has(&["set"]) && (0..reading.signs.len()).any(sets) {
        return Some(Trespass("changes a setting, a password or a role of the server".to_string()));
    }
    let pairs = [
        ("grant", "all"),
        ("install", "plugin"),
        ("install", "soname"),
        ("install", "component"),
        ("change", "master"),
        ("change", "replication"),
        ("reset", "master"),
        ("start", "slave"),
        ("start", "replica"),
        ("stop", "slave"),
        ("stop", "replica"),
        ("flush", "tables"),
        ("flush", "privileges"),
        ("flush", "logs"),
        ("purge", "binary"),
        ("start", "group_replication"),
        ("stop", "group_replication"),
    ];
    let says = |(first, second): &(&str, &str)| reading.places(first).any(|at| reading.word(at + 1) == *second);
    if let Some((first, second)) = pairs.iter().find(|pair| says(pair)) {
        return Some(Trespass(format!("says {} {}", first.to_uppercase(), second.to_uppercase())));
    }
    reading.has(&["soname"]).then(|| Trespass("loads a library".to_string()))
}

/// Files of the server, and engines that lead elsewhere.
fn files(reading: &Reading) -> Option<Trespass> {
    let writes = reading.places("into").any(|at| ["outfile", "dumpfile"].contains(&reading.word(at + 1)));
    let reads = reading.places("load").any(|at| {
        let what = reading.word(at + 1);
        let is_local = (at + 2..at + 5).any(|at| reading.word(at) == "local");
        (what == "data" || what == "xml") && !is_local
    });
    let names = reading.has(&["load_file", "outfile", "dumpfile"]) && reading.has(&["select", "into", "load_file"]);
    let is_directory = |at: usize| ["data", "index"].contains(&reading.word(at.wrapping_sub(1)));
    if writes || reads || names || reading.places("directory").any(is_directory) {
        return Some(Trespass("reads or writes a file of the server".to_string()));
    }
    let engine = reading.places("engine").map(|at| at + 1 + usize::from(reading.is_symbol(at + 1, "=")));
    let leads_out = |at: usize| ["federated", "connect", "spider"].contains(&reading.word(at));
    engine.into_iter().any(leads_out).then(|| Trespass("makes a table of another server".to_string()))
}

/// USE, and SHOW … FROM another database.
fn uses(reading: &Reading, scope: &Scope<'_>) -> Option<Trespass> {
    let statements = reading.statements();
    let leaves = |statement: &Reading| {
        let name = statement.word(1);
        statement.word(0) == "use" && statement.signs.len() == 2 && name != scope.own
    };
    if reading.is_exact && statements.iter().any(leaves) {
        return Some(Trespass("uses another database".to_string()));
    }
    let shows = |statement: &Reading| {
        statement.word(0) == "show"
            && (1..statement.signs.len())
                .any(|at| ["from", "in"].contains(&statement.word(at)) && scope.is_other(statement.word(at + 1)))
    };
    let hidden = reading.places("use").any(|at| !reading.is_exact && scope.is_other(reading.word(at + 1)));
    (hidden || statements.iter().any(shows)).then(|| Trespass("uses another database".to_string()))
}

/// Names that begin with another database's.
fn qualifiers(reading: &Reading, scope: &Scope<'_>) -> Option<Trespass> {
    let is_qualifier = |at: &usize| reading.is_symbol(at + 1, ".") && !reading.is_symbol(at.wrapping_sub(1), ".");
    let mut named = (0..reading.signs.len()).filter(is_qualifier).map(|at| (at, reading.word(at)));
    let (_, other) = named.find(|(at, name)| {
        let is_table = ["from", "join", "into", "update", "table", "call", "view", "references"]
            .contains(&reading.word(at.wrapping_sub(1)));
        let is_harmless = *name == scope.own || *name == "information_schema" || name.is_empty();
        // What is a table or an alias elsewhere in the text is one here, too: `EXTRACT(DAY FROM t.d)`.
        let is_introduced = || reading.places(name).any(|at| !reading.is_symbol(at + 1, "."));
        !is_harmless && (scope.is_other(name) || (is_table && reading.is_exact && !is_introduced()))
    })?;
    Some(Trespass(format!("names the database `{other}` (or a table or alias that is called like a database there)")))
}

/// Statements in strings. What the server puts together itself cannot be read.
fn code(reading: &Reading, scope: &Scope<'_>) -> Option<Trespass> {
    if !reading.is_exact {
        return None;
    }
    let prepared = reading.places("prepare").filter(|at| reading.word(at + 2) == "from").map(|at| at + 3);
    let immediate =
        reading.places("immediate").filter(|at| reading.word(at.wrapping_sub(1)) == "execute").map(|at| at + 1);
    prepared.chain(immediate).find_map(|at| match reading.signs.get(at) {
        Some(Sign::Text(text)) => trespass(&Reading::of_sql(text), scope),
        // With quotes that may be a name's.
        Some(Sign::Word(text)) if text.contains(char::is_whitespace) => trespass(&Reading::of_sql(text), scope),
        _ => Some(Trespass("executes text that the server puts together".to_string())),
    })
}

#[cfg(test)]
mod tests {
    use super::super::StatementGuard;
    use super::super::tests::check;

    #[test]
    fn statements_stay_in_the_database() {
        let guard = StatementGuard::mysql("txloom_x");
        guard.set_databases(["precious", "mysql", "sys", "Txloom_x", "performance_schema"].map(String::from));
        let harmless = [
            "CREATE TABLE t (id INT PRIMARY KEY, user TEXT, `role` TEXT, `database` INT)",
            "ALTER TABLE t DROP COLUMN user",
            "ALTER TABLE t ALTER v SET DEFAULT 1",
            "CREATE TABLE u (id INT REFERENCES t (id) ON DELETE SET DEFAULT)",
            "ALTER TABLE t DROP role",
            "BEGIN; UPDATE t SET user = 'DROP DATABASE precious' WHERE t.id = 1; COMMIT",
            "SELECT a.id FROM t a JOIN t AS b ON a.id = b.id, txloom_x.t",
            "SELECT * FROM information_schema.tables",
            "SELECT @@global.tx_isolation, @@session.x",
            "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SET @x = 1, @role = 2",
            "UPDATE t SET role = 1, user = 2",
            "SELECT EXTRACT(DAY FROM t.d) FROM t",
            "SET SESSION lock_wait_timeout = 1",
            "SHOW COLUMNS FROM t",
            "USE txloom_x",
            "PREPARE s FROM 'UPDATE t SET user = 1'; EXECUTE s",
            "CREATE PROCEDURE p() BEGIN DECLARE x INT; IF x THEN SET x = 1; END IF; l: LOOP LEAVE l; END LOOP; END",
            "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.user = OLD.user",
            "SELECT GET_LOCK('x', 1)",
            "INSERT INTO t VALUES (1, 'it\\'s', '', 1)",
            "LOCK TABLES t WRITE, t AS u READ",
            "",
        ];
        let harmful = [
            "DROP DATABASE precious",
            "CREATE SCHEMA x",
            "CREATE OR REPLACE USER u",
            "SET GLOBAL general_log = OFF",
            "SET @x = 1, GLOBAL general_log = OFF",
            "SET @@global.general_log = OFF",
            "SET SESSION x = 1, @@global.general_log = OFF",
            "SET PASSWORD = 'x'",
            "SET DEFAULT ROLE r TO u",
            "GRANT ALL ON *.* TO u",
            "FLUSH TABLES WITH READ LOCK",
            "KILL 5",
            "SHUTDOWN",
            "XA START 'x'",
            "USE precious",
            "SELECT * FROM precious.t",
            "SELECT * FROM `precious` . `t`",
            "SELECT 1 FROM t AS precious, precious.t",
            "UPDATE t, Precious.t AS p SET p.id = 1",
            "BEGIN NOT ATOMIC SET @x = 1; SET PASSWORD = 'x'; END",
            "INSERT INTO unknown_database.t VALUES (1)",
            "UPDATE mysql.user SET x = 1",
            "CALL sys.execute('x')",
            "ALTER TABLE t RENAME TO precious.t",
            "CREATE VIEW v AS SELECT * FROM precious.t",
            "CREATE TRIGGER precious.g BEFORE INSERT ON precious.t FOR EACH ROW SET @x = 1",
            "CREATE PROCEDURE p() DELETE FROM precious.t",
            "SHOW TABLES FROM precious",
            "SELECT 1 INTO OUTFILE '/tmp/x'",
            "SELECT LOAD_FILE('/etc/passwd')",
            "LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
            "CREATE TABLE f (a INT) ENGINE=FEDERATED CONNECTION='mysql://x'",
            "CREATE TABLE f (a INT) DATA DIRECTORY '/tmp'",
            "INSTALL SONAME 'x'",
            "CREATE FUNCTION f RETURNS INT SONAME 'x.so'",
            "PREPARE s FROM 'DROP DATABASE precious'",
            "PREPARE s FROM @v",
            "EXECUTE IMMEDIATE CONCAT('DROP ', 'DATABASE precious')",
            "SELECT 'it\\'s'; DROP DATABASE precious -- '",
            "SELECT 1 /*!50000 ; DROP DATABASE precious */",
            "SELECT 1 /*M! ; DELETE FROM precious.t */",
            "SELECT 1 --1; DROP DATABASE precious",
            "SELECT /* /* */ 1; DELETE FROM precious.t -- */",
            "/*!50000 USE precious */",
        ];
        check(&guard, &harmless, &harmful);
    }
}

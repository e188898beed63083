//! What reaches beyond a database on PostgreSQL.

use super::{Reading, Scope, Trespass};

/// The first words of statements that concern rows, the schema of the database, or the session.
#[rustfmt::skip]
const FIRST_WORDS: &[&str] = &[
    "select", "insert", "update", "delete", "merge", "with", "values", "table", "begin", "start", "commit", "end",
    "rollback", "abort", "savepoint", "release", "set", "reset", "show", "explain", "create", "alter", "drop", "truncate",
    "lock", "comment", "analyze", "analyse", "vacuum", "reindex", "cluster", "do", "call", "prepare", "execute",
    "deallocate", "declare", "fetch", "move", "close", "listen", "notify", "unlisten", "discard", "grant", "revoke",
    "copy", "refresh", "",
];

/// Objects that all databases of a server share, or that lead out of one.
#[rustfmt::skip]
const SHARED_OBJECTS: &[&str] = &[
    "database", "role", "user", "group", "tablespace", "subscription", "server", "system", "foreign", "language", "access",
];

/// What may stand between CREATE and the kind of an object.
const FILLERS: &[&str] = &["or", "replace", "trusted", "procedural"];

/// Extensions that PostgreSQL itself trusts: they give nobody more rights, and lead nowhere else.
#[rustfmt::skip]
const TRUSTED_EXTENSIONS: &[&str] = &[
    "btree_gin", "btree_gist", "citext", "cube", "dict_int", "fuzzystrmatch", "hstore", "intarray", "isn", "lo", "ltree",
    "pgcrypto", "pg_trgm", "plpgsql", "seg", "tablefunc", "tcn", "tsm_system_rows", "tsm_system_time", "unaccent", "uuid-ossp",
];

/// Functions that act on the server, its files, its other connections or other servers.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "pg_terminate_backend", "pg_cancel_backend", "pg_reload_conf", "pg_rotate_logfile", "pg_read_file",
    "pg_read_binary_file", "pg_ls_dir", "pg_stat_file", "pg_file_write", "pg_file_unlink", "pg_file_rename",
    "pg_file_sync", "lo_import", "lo_export", "pg_switch_wal", "pg_create_restore_point", "pg_promote",
    "pg_backup_start", "pg_backup_stop", "pg_start_backup", "pg_stop_backup", "pg_wal_replay_pause",
    "pg_create_physical_replication_slot", "pg_create_logical_replication_slot", "pg_drop_replication_slot",
    "pg_replication_origin_create", "pg_replication_origin_drop", "pg_stat_reset_shared", "pg_log_backend_memory_contexts",
    "query_to_xml", "query_to_xmlschema", "query_to_xml_and_xmlschema", "ts_stat", "crosstab", "connectby",
    "xpath_table",
];

/// Catalogs that all databases share.
#[rustfmt::skip]
const SHARED_CATALOGS: &[&str] = &[
    "pg_authid", "pg_auth_members", "pg_database", "pg_db_role_setting", "pg_parameter_acl", "pg_replication_origin",
    "pg_shdepend", "pg_shdescription", "pg_shseclabel", "pg_subscription", "pg_tablespace",
];

const WRITES: &[&str] = &["insert", "update", "delete", "merge", "truncate", "copy", "lock"];

/// How the text reaches beyond the database it is sent to. Other databases cannot be named, so only the kind of
/// statement counts.
pub(super) fn trespass(reading: &Reading, scope: &Scope<'_>) -> Option<Trespass> {
    let statements = if reading.is_exact { reading.statements() } else { Vec::new() };
    let by_first_word = statements.iter().find_map(|statement| {
        let first = (0..).find(|at| !statement.is_symbol(*at, "(")).map_or("", |at| statement.word(at));
        (!FIRST_WORDS.contains(&first)).then(|| Trespass(format!("begins with {}", first.to_uppercase())))
    });
    by_first_word
        .or_else(|| objects(reading))
        .or_else(|| rights(reading))
        .or_else(|| files(reading))
        .or_else(|| functions(reading))
        .or_else(|| code(reading, scope))
}

/// CREATE, ALTER and DROP of what databases share.
fn objects(reading: &Reading) -> Option<Trespass> {
    ["create", "alter", "drop", "reassign"].iter().flat_map(|verb| reading.places(verb)).find_map(|at| {
        let kind = (at + 1..).find(|at| !FILLERS.contains(&reading.word(*at))).unwrap_or(at);
        let (verb, object) = (reading.word(at).to_uppercase(), reading.word(kind));
        let is_shared = SHARED_OBJECTS.contains(&object) || object == "owned";
        if is_shared {
            return Some(Trespass(format!("says {verb} {}", object.to_uppercase())));
        }
        if object != "extension" || verb == "DROP" {
            return None;
        }
        let name = (kind + 1..).find(|at| !["if", "not", "exists"].contains(&reading.word(*at))).unwrap_or(kind);
        let is_trusted = TRUSTED_EXTENSIONS.contains(&reading.word(name));
        (!is_trusted).then(|| Trespass("installs an extension that PostgreSQL does not call trusted".to_string()))
    })
}

/// GRANT and REVOKE of roles, and of what databases share.
fn rights(reading: &Reading) -> Option<Trespass> {
    let what = |verb: &str| Trespass(format!("says {verb} for roles, or for what all databases share"));
    reading.statements().iter().find_map(|statement| {
        let at = ["grant", "revoke"].iter().find_map(|verb| statement.places(verb).next())?;
        let object = statement.places("on").next().map(|on| statement.word(on + 1));
        let is_inside = object
            .is_some_and(|object| !["database", "tablespace", "parameter", "foreign", "language"].contains(&object));
        (!is_inside).then(|| what(&statement.word(at).to_uppercase()))
    })
}

/// COPY from or to a file or a program.
fn files(reading: &Reading) -> Option<Trespass> {
    let goes_out = |at: usize| {
        ["from", "to"].contains(&reading.word(at)) && (reading.word(at + 1) == "program" || reading.is_text(at + 1))
    };
    let copies = reading.has(&["copy"]) && (0..reading.signs.len()).any(goes_out);
    copies.then(|| Trespass("copies from or to a file or a program of the server".to_string()))
}

fn functions(reading: &Reading) -> Option<Trespass> {
    let calls = |at: usize| {
        let name = reading.word(at);
        FUNCTIONS.contains(&name) || name.starts_with("dblink") || name.starts_with("postgres_fdw")
    };
    if let Some(at) = (0..reading.signs.len()).find(|at| calls(*at)) {
        return Some(Trespass(format!("names {}", reading.word(at))));
    }
    let writes = reading.has(WRITES) && reading.has(SHARED_CATALOGS);
    writes.then(|| Trespass("writes to a catalog that all databases share".to_string()))
}

/// Code in strings: bodies of functions, DO, EXECUTE of a string. What the server puts together itself cannot be read.
fn code(reading: &Reading, scope: &Scope<'_>) -> Option<Trespass> {
    if !reading.has(&["do", "function", "procedure", "execute"]) {
        return None;
    }
    let language = reading.places("language").map(|at| match reading.signs.get(at + 1) {
        Some(super::Sign::Text(text)) => text.to_lowercase(),
        _ => reading.word(at + 1).to_string(),
    });
    for language in language {
        if !["sql", "plpgsql", "plperl", "pltcl", ""].contains(&language.as_str()) {
            return Some(Trespass("has a function in a language that is not confined to the database".to_string()));
        }
    }
    let is_dynamic = |body: &Reading| {
        body.places("execute").any(|at| {
            let is_event = ["function", "procedure", "on"].contains(&body.word(at + 1));
            let is_whole = body.is_text(at + 1)
                && (body.is_symbol(at + 2, ";")
                    || at + 2 >= body.signs.len()
                    || ["using", "into"].contains(&body.word(at + 2)));
            // What is granted, what a trigger does, and one string that can be read.
            !is_event && !is_whole
        })
    };
    reading.texts().find_map(|text| {
        let body = Reading::of_sql(text);
        if is_dynamic(&body) {
            return Some(Trespass("executes text that the server puts together".to_string()));
        }
        // A body has words of its own (IF, LOOP), so that first words say nothing.
        let body = Reading { is_exact: false, ..body };
        trespass(&body, scope)
    })
}

#[cfg(test)]
mod tests {
    use super::super::StatementGuard;
    use super::super::tests::check;

    #[test]
    fn statements_stay_in_the_database() {
        let harmless = [
            "CREATE TABLE t (id int PRIMARY KEY, \"user\" text, role text)",
            "BEGIN; UPDATE t SET role = 'DROP DATABASE x' WHERE id = 1; COMMIT",
            "(SELECT 1) UNION (SELECT 2)",
            "SELECT 'ALTER SYSTEM SET x = 1' -- DROP DATABASE precious",
            "SELECT * FROM pg_database",
            "SELECT current_user, session_user FROM pg_roles",
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "COPY t FROM STDIN",
            "COPY t TO STDOUT",
            "GRANT SELECT ON t TO public",
            "CREATE EXTENSION IF NOT EXISTS pgcrypto",
            "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF true THEN UPDATE t SET id = 2; END IF; \
             RETURN 1; END $$",
            "CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()",
            "DO $$ BEGIN EXECUTE 'UPDATE t SET id = 3'; END $$",
            "PREPARE p AS SELECT 1; EXECUTE p; DEALLOCATE p",
            "PREPARE TRANSACTION 'x'",
            "INSERT INTO t VALUES (1, E'it\\'s')",
            "LISTEN c",
            "",
        ];
        let harmful = [
            "DROP DATABASE precious",
            "drop/**/database if exists precious",
            "BEGIN; ALTER SYSTEM SET fsync = off",
            "CREATE ROLE r SUPERUSER",
            "ALTER USER postgres PASSWORD 'x'",
            "CREATE TABLESPACE s LOCATION '/x'",
            "COPY t FROM PROGRAM 'id'",
            "COPY t TO '/tmp/x'",
            "COPY (SELECT 1) TO PROGRAM 'sh'",
            "SELECT pg_reload_conf()",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
            "SELECT lo_export(1, '/tmp/x')",
            "SELECT * FROM dblink('dbname=precious', 'SELECT 1') AS t(a int)",
            "CREATE EXTENSION dblink",
            "CREATE SERVER s FOREIGN DATA WRAPPER w",
            "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'x'",
            "CREATE OR REPLACE FUNCTION f() RETURNS int AS 'import os' LANGUAGE plpython3u",
            "UPDATE pg_database SET datallowconn = false",
            "GRANT postgres TO public",
            "REVOKE CONNECT ON DATABASE precious FROM public",
            "DO $$ BEGIN EXECUTE 'DROP ' || 'DATABASE precious'; END $$ ; DROP DATABASE precious",
            "DO $$ BEGIN EXECUTE v; END $$",
            "DO $$ BEGIN EXECUTE 'DROP ' || 'DATABASE precious'; END $$",
            "DO $$ BEGIN GRANT postgres TO public; END $$",
            "DO $x$ BEGIN PERFORM pg_reload_conf(); END $x$",
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'ALTER ROLE r SUPERUSER'",
            "SELECT E'\\'; DROP DATABASE precious; --'",
            "SELECT /* /* */ 1; DROP DATABASE precious -- */",
            "CHECKPOINT",
            "LOAD '/tmp/x.so'",
            "CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p",
            "DROP OWNED BY postgres",
        ];
        check(&StatementGuard::postgres("txloom_x"), &harmless, &harmful);
    }
}

//! Forgetting a case, fast.
//!
//! There are three depths, and one catalog query tells which is needed:
//!
//! ```text
//!   wait for the old sessions' ends
//!   → what is left? ─┬ tables, views, sequences in `public` → drop them                         about 1 ms
//!                    ├ more schemas, functions, types, …    → drop all schemas, new `public`    about 2 ms
//!                    └ anything else, or that failed        → replace everything                about 100 ms
//!   → setup, message by message → DISCARD ALL
//! ```
//!
//! The first depth exists because it leaves `pg_namespace` alone: a change there throws away the plans of all prepared
//! statements on the server, those of this very query included, and making them anew costs as much as all the rest.
//!
//! The last depth repairs nothing piece by piece (roles, publications, large objects, settings of the database,
//! functions smuggled into the system's schema, …): our own server gets a pristine data directory, another one a new
//! database.
//!
//! **Limits.** What a case does to the system's own objects (`ALTER ROLE postgres …`, `UPDATE pg_class …`) is not seen,
//! nor what it does on a server that is not ours outside its database (roles, for instance).

use txloom_core::outcome::Row;
use txloom_core::sql::{self, TokenKind};

use super::monitor::text;

/// The first number of an object that did not come with PostgreSQL.
const FIRST_USER_OID: u32 = 16384;

/// The catalogs of a database whose user-made entries do not belong to a schema: catalog, name, what it is.
const DATABASE_CATALOGS: &[(&str, &str, &str)] = &[
    ("pg_event_trigger", "evtname", "event trigger"),
    ("pg_publication", "pubname", "publication"),
    ("pg_extension", "extname", "extension"),
    ("pg_language", "lanname", "language"),
    ("pg_cast", "oid", "cast"),
    ("pg_transform", "oid", "transform"),
    ("pg_am", "amname", "access method"),
    ("pg_foreign_data_wrapper", "fdwname", "foreign data wrapper"),
    ("pg_default_acl", "oid", "default privilege"),
    ("pg_largeobject_metadata", "oid", "large object"),
];

/// The catalogs of a whole server: only on our own are they ours to look at.
const SERVER_CATALOGS: &[(&str, &str, &str)] = &[
    ("pg_roles", "rolname", "role"),
    ("pg_database", "datname", "database"),
    ("pg_tablespace", "spcname", "tablespace"),
    ("pg_subscription", "subname", "subscription"),
];

/// The catalogs, beside those of relations and types, whose entries belong to a schema.
const SCHEMA_CATALOGS: &[(&str, &str)] = &[
    ("pg_proc", "pronamespace"),
    ("pg_operator", "oprnamespace"),
    ("pg_opclass", "opcnamespace"),
    ("pg_opfamily", "opfnamespace"),
    ("pg_collation", "collnamespace"),
    ("pg_conversion", "connamespace"),
    ("pg_ts_config", "cfgnamespace"),
    ("pg_ts_dict", "dictnamespace"),
    ("pg_ts_parser", "prsnamespace"),
    ("pg_ts_template", "tmplnamespace"),
];

/// The query that finds everything a case can leave: rows of kind and name.
pub(super) fn leftovers_question(major: u32, is_private: bool) -> String {
    let mut parts = vec![schemas_question(major)];
    parts.push(format!(
        "SELECT 'relation ' || relkind::text, quote_ident(relname) FROM pg_class
         WHERE oid >= {FIRST_USER_OID} AND relnamespace = to_regnamespace('public') AND NOT relispartition
               AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c')"
    ));
    // Not the types that come with a table, nor the array types that come with every type.
    parts.push(in_schema("pg_type", "typnamespace") + " AND typtype <> 'c' AND typelem = 0");
    parts.extend(SCHEMA_CATALOGS.iter().map(|(catalog, schema)| in_schema(catalog, schema)));
    parts.push("SELECT 'prepared', gid FROM pg_prepared_xacts WHERE database = current_database()".to_string());
    parts.extend(DATABASE_CATALOGS.iter().map(user_made));
    if is_private {
        parts.extend(SERVER_CATALOGS.iter().map(user_made));
        parts.push("SELECT 'setting', setconfig::text FROM pg_db_role_setting".to_string());
        parts.push("SELECT 'replication slot', slot_name::text FROM pg_replication_slots".to_string());
        parts.push("SELECT 'replication origin', roname FROM pg_replication_origin".to_string());
        parts.push(
            "SELECT 'prepared elsewhere', gid FROM pg_prepared_xacts WHERE database <> current_database()".into(),
        );
        if major >= 15 {
            parts.push("SELECT 'parameter privilege', parname FROM pg_parameter_acl".to_string());
        }
    } else {
        let ours = "(SELECT oid FROM pg_database WHERE datname = current_database())";
        parts.push(format!("SELECT 'setting', setconfig::text FROM pg_db_role_setting WHERE setdatabase = {ours}"));
        parts.push(format!("SELECT 'subscription', subname::text FROM pg_subscription WHERE subdbid = {ours}"));
    }
    parts.join("\nUNION ALL ")
}

/// The schemas that are not the system's; `public` is a special one if it is as a new database has it.
fn schemas_question(major: u32) -> String {
    let (owner, acl) = if major >= 15 {
        ("pg_database_owner", "{pg_database_owner=UC/pg_database_owner,=U/pg_database_owner}")
    } else {
        ("postgres", "{postgres=UC/postgres,=UC/postgres}")
    };
    format!(
        "SELECT CASE WHEN nspname = 'public' AND nspowner = to_regrole('{owner}') AND nspacl::text = '{acl}'
                     THEN 'public' ELSE 'schema' END, nspname::text
         FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'"
    )
}

fn user_made((catalog, name, what): &(&str, &str, &str)) -> String {
    format!("SELECT '{what}', {name}::text FROM {catalog} WHERE oid >= {FIRST_USER_OID}")
}

/// What belongs to a schema; a superuser can hide things among the system's own.
fn in_schema(catalog: &str, schema: &str) -> String {
    format!(
        "SELECT CASE WHEN {schema} IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
                     THEN 'system object' ELSE 'schema object' END, '{catalog}'
         FROM {catalog} WHERE oid >= {FIRST_USER_OID}"
    )
}

/// What an earlier case left.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Leftovers {
    /// Kind and quoted name of every table, view and sequence in `public`.
    relations: Vec<(char, String)>,
    /// All schemas.
    schemas: Vec<String>,
    /// Whether there is something that goes only with its schema, or `public` is not as it should be.
    needs_schemas_dropped: bool,
    /// Prepared transactions, by their global names.
    prepared: Vec<String>,
    /// Whether there is anything that does not go with a schema.
    pub(super) needs_replacement: bool,
}

impl Leftovers {
    /// Reads the answer to the [question](leftovers_question).
    pub(super) fn read(rows: &[Row]) -> Leftovers {
        let mut leftovers = Leftovers::default();
        let mut has_public = false;
        for row in rows {
            let (kind, name) = (text(row, 0), text(row, 1).to_string());
            match kind {
                "public" => {
                    has_public = true;
                    leftovers.schemas.push(name);
                }
                "schema" => {
                    leftovers.needs_schemas_dropped = true;
                    leftovers.schemas.push(name);
                }
                "schema object" | "relation f" | "relation c" => leftovers.needs_schemas_dropped = true,
                "prepared" => leftovers.prepared.push(name),
                other => match other.strip_prefix("relation ").and_then(|kind| kind.chars().next()) {
                    Some(kind) => leftovers.relations.push((kind, name)),
                    None => leftovers.needs_replacement = true,
                },
            }
        }
        leftovers.needs_schemas_dropped |= !has_public;
        leftovers
    }

    /// The messages that drop it all; none, if there is nothing.
    pub(super) fn drop_all(&self, major: u32) -> Vec<String> {
        // A prepared transaction cannot be ended inside another one, so each gets a message of its own.
        let mut messages: Vec<String> = self.prepared.iter().map(|gid| roll_back_prepared(gid)).collect();
        let drops = if self.needs_schemas_dropped { self.drop_schemas(major) } else { self.drop_relations() };
        if !drops.is_empty() {
            // Whoever still holds a lock must not keep us for long.
            messages.push(format!("BEGIN; SET LOCAL lock_timeout = '2s'; {drops}COMMIT"));
        }
        messages
    }

    /// Drops all relations of `public`; what was made for a table, or depends on it, goes with it.
    fn drop_relations(&self) -> String {
        let drop = |kinds: &[char], what: &str| {
            let chosen = self.relations.iter().filter(|(kind, _)| kinds.contains(kind));
            let names: Vec<String> = chosen.map(|(_, name)| format!("public.{name}")).collect();
            let list = names.join(", ");
            if names.is_empty() { String::new() } else { format!("DROP {what} IF EXISTS {list} CASCADE; ") }
        };
        drop(&['r', 'p'], "TABLE")
            + &drop(&['v'], "VIEW")
            + &drop(&['m'], "MATERIALIZED VIEW")
            + &drop(&['S'], "SEQUENCE")
    }

    /// Drops all schemas and makes an empty `public` like the one that a new database has.
    fn drop_schemas(&self, major: u32) -> String {
        let names: Vec<String> = self.schemas.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
        let drop = if names.is_empty() { String::new() } else { format!("DROP SCHEMA {} CASCADE; ", names.join(", ")) };
        let create = if major >= 15 {
            "CREATE SCHEMA public AUTHORIZATION pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC; "
        } else {
            "CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO PUBLIC; "
        };
        drop + create
    }
}

/// The statement that ends a prepared transaction.
pub(super) fn roll_back_prepared(gid: &str) -> String {
    format!("ROLLBACK PREPARED '{}'", gid.replace('\'', "''"))
}

/// Whether a message may change what happens at a login: then connections that logged in before are of no use. Errs on
/// the side of yes.
pub(super) fn changes_logins(message: &str) -> bool {
    const WORDS: &[&str] = &["DATABASE", "ROLE", "USER", "SYSTEM", "EVENT", "pg_reload_conf", "pg_db_role_setting"];
    let tokens = sql::tokens(message);
    let suspicious = |text: &str| WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    tokens.iter().any(|token| match token.kind {
        TokenKind::Word => suspicious(token.text),
        // The body of a function or a DO block.
        TokenKind::String => token
            .text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| !word.is_empty() && suspicious(word)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drops(rows: &[(&str, &str)]) -> String {
        let rows: Vec<Row> = rows.iter().map(|(kind, name)| vec![Some((*kind).into()), Some((*name).into())]).collect();
        Leftovers::read(&rows).drop_all(15).join(" | ")
    }

    #[test]
    fn what_is_left_decides_what_is_dropped() {
        let limit = "BEGIN; SET LOCAL lock_timeout = '2s'; ";
        let public = "CREATE SCHEMA public AUTHORIZATION pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC; ";
        let check = |rows: &[(&str, &str)], expected: String| assert_eq!(drops(rows), expected, "{rows:?}");
        check(&[("public", "public")], String::new());
        check(
            &[("public", "public"), ("relation r", "t"), ("relation v", "\"V\""), ("relation p", "u")],
            format!("{limit}DROP TABLE IF EXISTS public.t, public.u CASCADE; ")
                + "DROP VIEW IF EXISTS public.\"V\" CASCADE; COMMIT",
        );
        check(
            &[("public", "public"), ("schema", "we\"ird"), ("relation r", "t")],
            format!("{limit}DROP SCHEMA \"public\", \"we\"\"ird\" CASCADE; {public}COMMIT"),
        );
        check(
            &[("public", "public"), ("schema object", "pg_proc")],
            format!("{limit}DROP SCHEMA \"public\" CASCADE; {public}COMMIT"),
        );
        check(&[("schema", "public")], format!("{limit}DROP SCHEMA \"public\" CASCADE; {public}COMMIT"));
        check(&[], format!("{limit}{public}COMMIT"));
        check(&[("public", "public"), ("prepared", "it's")], "ROLLBACK PREPARED 'it''s'".to_string());
    }

    #[test]
    fn what_is_unusual_asks_for_a_replacement() {
        let leftovers = |kind: &str| Leftovers::read(&[vec![Some(kind.into()), Some("x".into())]]);
        for kind in ["role", "publication", "system object", "setting"] {
            assert!(leftovers(kind).needs_replacement, "{kind}");
        }
        for kind in ["public", "schema", "relation r", "schema object", "prepared"] {
            assert!(!leftovers(kind).needs_replacement, "{kind}");
        }
    }

    #[test]
    fn statements_that_change_logins_are_noticed() {
        for (message, expected) in [
            ("CREATE TABLE t (a int)", false),
            ("INSERT INTO t VALUES ('some text')", false),
            ("ALTER DATABASE postgres SET work_mem = '1MB'", true),
            ("alter role postgres set search_path = x", true),
            ("DO $$ BEGIN EXECUTE 'ALTER SYSTEM SET x = 1'; END $$", true),
            ("SELECT current_user", false),
        ] {
            assert_eq!(changes_logins(message), expected, "{message}");
        }
    }
}

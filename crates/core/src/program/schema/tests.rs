//! What definitions say, in the words of several engines and their dump tools.

use super::{Action, Schema, Table, TypeKind};
use crate::dialect::{self, Dialect};
use crate::program::located::Language;

/// `name TYPE [null] [= default] [numbered]` for each column, then the keys.
fn show(table: &Table) -> String {
    let column = |column: &super::Column| {
        let mut text = format!("{} {:?}", column.name, column.column_type.kind).to_lowercase();
        let default = column.default.iter().map(|default| format!(" = {}", default.text));
        text.extend(default);
        let flags = [(column.nullable, " null"), (column.numbered, " numbered"), (column.generated, " generated")];
        flags.iter().filter(|(is_set, _)| *is_set).for_each(|(_, word)| text.push_str(word));
        text
    };
    let mut parts: Vec<String> = table.columns.iter().map(column).collect();
    if !table.primary_key.is_empty() {
        parts.push(format!("primary ({})", table.primary_key.join(", ")));
    }
    parts.extend(table.unique_keys.iter().map(|key| format!("unique ({})", key.columns.join(", "))));
    parts.extend(
        table
            .foreign_keys
            .iter()
            .map(|key| format!("({}) to {} ({})", key.columns.join(", "), key.table, key.referred.join(", "))),
    );
    parts.extend(table.checks.iter().map(|check| format!("check {}", check.predicate)));
    format!("{}: {}", table.name, parts.join("; "))
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    let (schema, diagnostics) = Schema::read(text, Language::Any);
    assert_eq!(schema.tables.values().map(show).collect::<Vec<_>>(), expect, "{text}");
    assert_eq!(diagnostics, [], "{text}");
}

#[track_caller]
fn check_diagnostics(text: &str, expect: &[&str], tables: &[&str]) {
    let (schema, diagnostics) = Schema::read(text, Language::Any);
    let show_one = |one: &crate::program::Diagnostic| {
        let hint = one.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}:`{}`: {}{hint}", one.span.line, &text[one.span.start..one.span.end], one.message)
    };
    assert_eq!(diagnostics.iter().map(show_one).collect::<Vec<_>>(), expect, "{text}");
    assert_eq!(schema.tables.values().map(show).collect::<Vec<_>>(), tables, "{text}");
}

#[test]
fn columns_and_keys_are_read() {
    check(
        "CREATE TABLE T (a INT PRIMARY KEY, \"B\" VARCHAR(10) NOT NULL DEFAULT 'x', c DECIMAL(8,2) UNIQUE)",
        &["t: a integer; b text = 'x'; c decimal null; primary (a); unique (c)"],
    );
    check(
        "CREATE TABLE t (a INT, b INT, PRIMARY KEY (b, a), UNIQUE (a), CHECK (a > 0 AND b <= a))",
        &["t: a integer; b integer; primary (b, a); unique (a); check (t.a > 0 and t.b <= t.a)"],
    );
    check(
        "CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE c (x INT REFERENCES p ON DELETE CASCADE, y INT, \
         CONSTRAINT f FOREIGN KEY (y) REFERENCES p (id))",
        &["c: x integer null; y integer null; (x) to p (id); (y) to p (id)", "p: id integer; primary (id)"],
    );
    check(
        "CREATE TABLE t (a INT); CREATE UNIQUE INDEX i ON t (a); CREATE INDEX j ON t (a)",
        &["t: a integer null; unique (a)"],
    );
    check(
        "CREATE TABLE t (a INT CHECK (a > 0), b INT GENERATED ALWAYS AS (a * 2) STORED)",
        &["t: a integer null; b integer null generated; check t.a > 0"],
    );
}

#[test]
fn mysqldump_is_understood() {
    check(
        "-- MySQL dump 10.13\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `w`;\n\
         CREATE TABLE `w` (\n  `id` int(11) NOT NULL AUTO_INCREMENT,\n  `name` varchar(10) DEFAULT NULL,\n  \
         `kind` enum('a','b') NOT NULL DEFAULT 'a',\n  `at` timestamp NOT NULL DEFAULT current_timestamp(),\n  \
         PRIMARY KEY (`id`),\n  UNIQUE KEY `n` (`name`),\n  KEY `k` (`kind`)\n) ENGINE=InnoDB AUTO_INCREMENT=3 \
         DEFAULT CHARSET=utf8mb4;\nLOCK TABLES `w` WRITE;\n/*!40000 ALTER TABLE `w` DISABLE KEYS */;\n\
         INSERT INTO `w` VALUES (1,'it\\'s; ok','a',now());\nUNLOCK TABLES;\n",
        &[
            "w: id integer numbered; name text = NULL null; kind enumeration = 'a'; at timestamp = current_timestamp(); \
           primary (id); unique (name)",
        ],
    );
}

#[test]
fn later_changes_are_followed() {
    check(
        "CREATE TABLE `w` (`id` int NOT NULL, `v` int) ENGINE=InnoDB;\nALTER TABLE `w` ADD PRIMARY KEY (`id`), ADD UNIQUE KEY \
         `u` (`v`);\nALTER TABLE `w` MODIFY `id` bigint NOT NULL AUTO_INCREMENT;\nALTER TABLE w ADD COLUMN x text;",
        &["w: id integer numbered; v integer null; x text null; primary (id); unique (v)"],
    );
}

#[test]
fn pg_dump_is_understood() {
    check(
        "SET statement_timeout = 0;\nSELECT pg_catalog.set_config('search_path', '', false);\n\
         CREATE TABLE public.w (\n    id integer NOT NULL,\n    name character varying(10) DEFAULT 'x'::character varying,\n    \
         owner integer,\n    CONSTRAINT c CHECK ((id > 0))\n);\nALTER TABLE public.w OWNER TO me;\n\
         COMMENT ON TABLE public.w IS 'x; y';\nCREATE SEQUENCE public.w_id_seq START WITH 1;\n\
         ALTER TABLE ONLY public.w ALTER COLUMN id SET DEFAULT nextval('public.w_id_seq'::regclass);\n\
         COPY public.w (id, name, owner) FROM stdin;\n1\tit's; 1\t1\n\\.\n\n\
         ALTER TABLE ONLY public.w\n    ADD CONSTRAINT w_pkey PRIMARY KEY (id);\n\
         ALTER TABLE ONLY public.w ADD CONSTRAINT f FOREIGN KEY (owner) REFERENCES public.w(id) ON UPDATE SET NULL;\n",
        &["w: id integer = nextval('public.w_id_seq'::REGCLASS) numbered; name text = 'x'::CHARACTER VARYING null; \
           owner integer null; primary (id); (owner) to w (id); check w.id > 0"],
    );
}

#[test]
fn sqlite_dumps_are_understood() {
    check(
        "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE w (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT);\n\
         INSERT INTO w VALUES(1,'x');\nCREATE UNIQUE INDEX i ON w (v);\nCOMMIT;\n",
        &["w: id integer numbered; v text null; primary (id); unique (v)"],
    );
}

#[test]
fn what_cannot_be_read_costs_only_itself() {
    check_diagnostics(
        "CREATE TABLE t (\n  a INT PRIMARY KEY,\n  b INT WITHOUT SENSE,\n  c TEXT\n);\nCREATE TABLE u (a INT);",
        &["3:`WITHOUT`: a part of t cannot be read: expected ',' or ')' after column definition, found WITHOUT"],
        &["t: a integer; c text null; primary (a)", "u: a integer null"],
    );
    check_diagnostics(
        "CREATE TABLE t (a INT, PRIMARY KEY (b));",
        &["1:`b`: the table t has no column b (did you mean a?)"],
        &["t: a integer null; primary (b)"],
    );
    check_diagnostics(
        "CREATE TABLE t (a INT REFERENCES quux (x));\nALTER TABLE s ADD CHECK (z > 0);",
        &[
            "1:`a`: a foreign key refers to the table quux, which is not created",
            "2:`s`: there is no table s (did you mean t?)",
        ],
        &["t: a integer null; (a) to quux (x)"],
    );
    check_diagnostics(
        "CREATE TABLE t (a INT, CHECK (aa > 0));",
        &["1:`aa`: the table t has no column aa (did you mean a?)"],
        &["t: a integer null; check any() > 0"],
    );
}

#[test]
fn constants_actions_and_types_have_meanings() {
    let text = "CREATE TABLE p (id INT PRIMARY KEY);\nCREATE TABLE t (a DECIMAL(5, 2) DEFAULT -1.50, b INT DEFAULT (1 + 1) \
                REFERENCES p (id) ON DELETE SET NULL)";
    let (schema, _) = Schema::read(text, Language::Any);
    let table = schema.table("T").unwrap();
    let default = |at: usize| table.columns[at].default.as_ref().unwrap().value.as_ref().map(ToString::to_string);
    assert_eq!((default(0), default(1)), (Some("-1.5".to_string()), None));
    assert_eq!(table.foreign_keys[0].on_delete, Action::SetNull);
    assert_eq!(table.foreign_keys[0].on_update, Action::Restrict);
    let decimal = &table.column("a").unwrap().column_type;
    assert_eq!((decimal.kind, decimal.length, decimal.scale), (TypeKind::Decimal, Some(5), Some(2)));
    let place = table.columns[1].span;
    assert_eq!((&text[place.start..place.end], place.line), ("b", 2));
}

/// A dump of one system, as the others take it.
#[test]
fn tables_are_made_anew_for_other_systems() {
    let mysql = "CREATE TABLE `order` (`id` int(11) NOT NULL AUTO_INCREMENT, `userName` varchar(20) DEFAULT 'it''s',
        `bal` double NOT NULL DEFAULT 0, `at` datetime DEFAULT current_timestamp(), `n` bigint(20) unsigned, `raw` blob,
        `kind` enum('a','b'), PRIMARY KEY (`id`), UNIQUE KEY `u` (`userName`), CHECK (`bal` >= 0)) ENGINE=InnoDB;
        CREATE TABLE `line` (`oid` int(11), CONSTRAINT `f` FOREIGN KEY (`oid`) REFERENCES `order` (`id`) ON DELETE CASCADE);";
    let (schema, problems) = Schema::read(mysql, Language::MySql);
    assert_eq!(problems, []);
    let made = |dialect: &dyn Dialect| schema.remade(dialect).statements.join(";\n");
    assert_eq!(
        made(&dialect::Postgres),
        "CREATE TABLE \"line\" (\"oid\" INT);
CREATE TABLE \"order\" (\"id\" INT NOT NULL GENERATED BY DEFAULT AS IDENTITY, \"username\" VARCHAR(20) DEFAULT 'it''s', \
         \"bal\" DOUBLE PRECISION NOT NULL DEFAULT 0, \"at\" TIMESTAMP DEFAULT CURRENT_TIMESTAMP, \"n\" BIGINT, \
         \"raw\" BYTEA, \"kind\" TEXT, PRIMARY KEY (\"id\"), UNIQUE (\"username\"), CHECK (\"bal\" >= 0));
ALTER TABLE \"line\" ADD FOREIGN KEY (\"oid\") REFERENCES \"order\" (\"id\") ON DELETE CASCADE"
    );
    assert_eq!(
        made(&dialect::Sqlite),
        "CREATE TABLE \"line\" (\"oid\" INT, FOREIGN KEY (\"oid\") REFERENCES \"order\" (\"id\") ON DELETE CASCADE);
CREATE TABLE \"order\" (\"id\" INTEGER PRIMARY KEY, \"userName\" VARCHAR(20) DEFAULT 'it''s', \"bal\" DOUBLE PRECISION \
         NOT NULL DEFAULT 0, \"at\" TIMESTAMP DEFAULT CURRENT_TIMESTAMP, \"n\" BIGINT, \"raw\" BLOB, \"kind\" \
         TEXT, UNIQUE (\"userName\"), CHECK (\"bal\" >= 0))"
    );
    let postgres =
        "CREATE TABLE public.\"User\" (id integer NOT NULL, name text DEFAULT 'x'::text NOT NULL, at timestamp with
        time zone DEFAULT now(), ok boolean DEFAULT true, price numeric);
        ALTER TABLE ONLY public.\"User\" ALTER COLUMN id SET DEFAULT nextval('public.s'::regclass);
        ALTER TABLE ONLY public.\"User\" ADD CONSTRAINT k PRIMARY KEY (id);
        ALTER TABLE ONLY public.\"User\" ADD CONSTRAINT u UNIQUE (name);";
    let (schema, problems) = Schema::read(postgres, Language::Postgres);
    assert_eq!(problems, []);
    let remade = schema.remade(&dialect::MySql);
    assert_eq!(
        remade.statements.join(";\n"),
        "CREATE TABLE `User` (`id` INT NOT NULL AUTO_INCREMENT, `name` VARCHAR(255) NOT NULL, `at` DATETIME(6) DEFAULT \
         CURRENT_TIMESTAMP(6), `ok` BOOLEAN DEFAULT TRUE, `price` DECIMAL(30, 6), PRIMARY KEY (`id`), UNIQUE (`name`))"
    );
    assert_eq!((schema.written("user"), remade.schema.written("user")), ("public.\"User\"", "`User`"));
    let insert = "INSERT INTO public.\"User\" (id, \"name\") VALUES (1, 'a.\"b\"'), (1.5, 'x')";
    let expect = "INSERT INTO `User` (id, `name`) VALUES (1, 'a.\"b\"'), (1.5, 'x')";
    assert_eq!(remade.restated(insert), expect);
}

/// What pg_dump writes of an identity, and of an enumeration.
#[test]
fn identities_and_enumerations_have_statements_of_their_own() {
    let dump = "CREATE TYPE public.mood AS ENUM ('ok', 'bad');
        CREATE TABLE public.t (id bigint NOT NULL, m public.mood NOT NULL);
        ALTER TABLE public.t ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME public.s START WITH 1);";
    let (schema, problems) = Schema::read(dump, Language::Postgres);
    assert_eq!(problems, []);
    let columns = &schema.tables["t"].columns;
    assert!(columns[0].numbered && columns[0].forced);
    assert_eq!((columns[1].column_type.kind, columns[1].column_type.values.len()), (TypeKind::Enumeration, 2));
}

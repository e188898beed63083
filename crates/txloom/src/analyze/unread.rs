//! Code that was not read: a statement is found, and what it does is not known, or not even the statement is found.
//!
//! Nothing may be called serializable that was not read. So each of these becomes an error of the project, with its place
//! and with what to do about it; errors are gaps of the conclusion.
//!
//! | construct | place |
//! |---|---|
//! | a trigger on a table that a procedure writes | the statement that writes |
//! | a function of the project that touches tables, called inside of a statement | that statement |
//! | a library that makes up its statements (an object-relational mapper), or sends them unseen | its first mention |
//! | sources without a single statement | the first source |

use std::collections::BTreeSet;

use txloom_core::program::access::ProcedureAccess;
use txloom_core::program::code::OperationKind;
use txloom_core::program::{Diagnostic, Span, SqlPart, SqlStatement};
use txloom_core::sql::{self, TokenKind};

use super::Project;
use super::database;
use crate::frontends::SourceLanguage;

/// A library whose statements are not in the sources, or not where they can be followed.
struct Library {
    name: &'static str,
    language: SourceLanguage,
    /// Words that only its users write.
    words: &'static [&'static str],
}

const fn library(name: &'static str, language: SourceLanguage, words: &'static [&'static str]) -> Library {
    Library { name, language, words }
}

const LIBRARIES: &[Library] = &[
    library("Spring's JdbcTemplate", SourceLanguage::Java, &["JdbcTemplate", "org.springframework.jdbc", "JdbcClient"]),
    library("Spring Data", SourceLanguage::Java, &["org.springframework.data"]),
    library("MyBatis", SourceLanguage::Java, &["org.apache.ibatis", "org.mybatis", "com.baomidou"]),
    library("JPA or Hibernate", SourceLanguage::Java, &["jakarta.persistence", "javax.persistence", "org.hibernate"]),
    library("jOOQ", SourceLanguage::Java, &["org.jooq"]),
    library("Jdbi", SourceLanguage::Java, &["org.jdbi"]),
    library("Django's models", SourceLanguage::Python, &["from django", "import django"]),
    library(
        "SQLAlchemy's ORM",
        SourceLanguage::Python,
        &["declarative_base", "DeclarativeBase", "mapped_column", "flask_sqlalchemy", "import SQLModel", "sqlmodel"],
    ),
    library("Peewee", SourceLanguage::Python, &["from peewee", "import peewee"]),
    library("Tortoise", SourceLanguage::Python, &["from tortoise", "import tortoise"]),
    library("Pony", SourceLanguage::Python, &["from pony", "import pony"]),
];

/// Files that tell a library of a language that is not read, with a word in them.
pub const MARKERS: &[(&str, &str, &str)] = &[
    ("package.json", "typeorm", "TypeORM"),
    ("package.json", "prisma", "Prisma"),
    ("package.json", "sequelize", "Sequelize"),
    ("package.json", "knex", "Knex"),
    ("package.json", "\"pg\"", "node-postgres"),
    ("package.json", "mysql", "a MySQL driver of Node.js"),
    ("Gemfile", "rails", "Rails"),
    ("Gemfile", "activerecord", "Active Record"),
    ("composer.json", "laravel", "Laravel"),
    ("composer.json", "doctrine", "Doctrine"),
    ("go.mod", "gorm", "GORM"),
    ("go.mod", "module", "Go"),
    ("Cargo.toml", "sqlx", "sqlx"),
    ("Cargo.toml", "diesel", "Diesel"),
    ("pom.xml", "mybatis", "MyBatis"),
];

/// How the log of a server is recorded and analysed: what helps with any application.
pub fn recording_advice(family: Option<&str>) -> String {
    let postgres = "ALTER SYSTEM SET log_statement = 'all'; ALTER SYSTEM SET log_line_prefix = '%m [%p] '; SELECT \
                    pg_reload_conf();";
    let mysql = "SET GLOBAL log_output = 'FILE'; SET GLOBAL general_log_file = 'app.log'; SET GLOBAL general_log = ON;";
    let commands = match family {
        Some("postgres") => format!("in PostgreSQL, {postgres}"),
        Some("mariadb" | "mysql") => format!("in MariaDB or MySQL, {mysql}"),
        _ => format!("in PostgreSQL, {postgres} In MariaDB or MySQL, {mysql}"),
    };
    format!(
        "record what it sends: {commands} Let it work for a while; then txloom analyze app.log --schema tables.sql, with \
         the tables from pg_dump --schema-only or mysqldump --no-data"
    )
}

/// Adds an error for each construct that was not read.
pub(super) fn note(project: &mut Project) {
    let mut found = triggers(project);
    found.extend(functions(project));
    let libraries = libraries(project);
    if libraries.is_empty() {
        found.extend(nothing(project));
    }
    found.extend(libraries);
    project.diagnostics.extend(found);
}

/// Statements that write a table with a trigger.
fn triggers(project: &Project) -> Vec<(usize, Diagnostic)> {
    let mut found = Vec::new();
    for (access, home) in project.accesses.iter().zip(&project.homes) {
        for node in &access.nodes {
            let written = node.access.tables.iter().filter(|table| !table.writes.is_empty());
            let written: BTreeSet<&str> = written.map(|table| table.table.as_str()).collect();
            for (file, trigger) in &project.triggers {
                if written.iter().any(|table| sql::plain_name(table) == trigger.table) {
                    let place = format!("{}:{}", project.files[*file].name, trigger.span.line);
                    let message = format!(
                        "the trigger on {} ({place}) is part of this statement, and is not analysed",
                        trigger.table
                    );
                    let hint = "write its statements into the procedures, to see what they do";
                    found.push((*home, Diagnostic::error(node.operation.span, message).with_hint(hint)));
                }
            }
        }
    }
    found
}

/// Statements that call a function of the project which touches tables.
fn functions(project: &Project) -> Vec<(usize, Diagnostic)> {
    let touches = |access: &ProcedureAccess| access.nodes.iter().any(|node| !node.access.tables.is_empty());
    let names = project.program.procedures.iter().zip(&project.accesses);
    let names: BTreeSet<&str> =
        names.filter(|(_, access)| touches(access)).map(|(procedure, _)| procedure.name.as_str()).collect();
    let mut found = Vec::new();
    for (access, home) in project.accesses.iter().zip(&project.homes) {
        for node in &access.nodes {
            let (OperationKind::Send(sql) | OperationKind::Open(_, sql)) = &node.operation.kind else { continue };
            if let Some(name) = called(sql, &names) {
                let message =
                    format!("what the function {name} reads and writes is part of this statement, and is not analysed");
                let hint = "write its statements where it is called, to see what they do";
                found.push((*home, Diagnostic::error(node.operation.span, message).with_hint(hint)));
            }
        }
    }
    found
}

/// The first of these functions that a statement calls.
fn called(statement: &SqlStatement, names: &BTreeSet<&str>) -> Option<String> {
    for part in &statement.parts {
        let SqlPart::Text(text) = part else { continue };
        let tokens = sql::tokens(&text.text);
        for pair in tokens.windows(2) {
            let is_call = pair[0].kind == TokenKind::Word && pair[1].is_symbol("(");
            let name = sql::plain_name(pair[0].text);
            // INSERT INTO name (…) is no call.
            if is_call && names.contains(name.as_str()) && !is_target(&tokens, pair[0].span.start) {
                return Some(name);
            }
        }
    }
    None
}

fn is_target(tokens: &[sql::Token<'_>], start: usize) -> bool {
    let at = tokens.iter().position(|token| token.span.start == start).unwrap_or_default();
    at > 0 && tokens[at - 1].is_word("INTO")
}

/// The libraries whose statements are not followed, each at its first mention.
fn libraries(project: &Project) -> Vec<(usize, Diagnostic)> {
    let family = database::told_by(project).map(|sign| sign.family);
    let mut found = Vec::new();
    for library in LIBRARIES {
        let mentions = project.files.iter().enumerate().filter_map(|(at, file)| {
            let is_its = file.log.is_none() && SourceLanguage::of(file) == library.language;
            let start = library.words.iter().filter_map(|word| file.text.find(word)).min().filter(|_| is_its)?;
            Some((at, start))
        });
        if let Some((at, start)) = mentions.into_iter().next() {
            let message = format!("{} is used here, and what it sends is not read", library.name);
            let error = Diagnostic::error(line_at(&project.files[at].text, start), message);
            found.push((at, error.with_hint(recording_advice(family))));
        }
    }
    found
}

/// Sources of an application without a single statement that was found.
fn nothing(project: &Project) -> Option<(usize, Diagnostic)> {
    let is_host = |at: &usize| SourceLanguage::of(&project.files[*at]) != SourceLanguage::Sql;
    let first = (0..project.files.len()).find(is_host)?;
    if !project.program.procedures.is_empty() || project.is_incomplete() {
        return None;
    }
    let family = database::told_by(project).map(|sign| sign.family);
    let error =
        Diagnostic::error(line_at(&project.files[first].text, 0), "no statement of SQL was found in the sources");
    Some((first, error.with_hint(recording_advice(family))))
}

/// The line around a byte of a text.
fn line_at(text: &str, at: usize) -> Span {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    Span { start, end, line: text[..at].matches('\n').count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::SourceFile;

    fn errors(files: &[(&str, &str)]) -> Vec<String> {
        let project = Project::read(files.iter().map(|(name, text)| SourceFile::new(*name, *text)).collect());
        let all = project.diagnostics.iter();
        all.map(|(file, one)| format!("{}:{}: {}", project.files[*file].name, one.span.line, one.message)).collect()
    }

    fn says(errors: &[String], words: &str) -> bool {
        errors.iter().any(|error| error.contains(words))
    }

    const TABLES: &str = "CREATE TABLE t (id INT PRIMARY KEY, v INT);\n";

    #[test]
    fn a_trigger_is_part_of_the_statements_that_write_its_table() {
        let trigger = "CREATE TRIGGER g AFTER INSERT ON shop.t FOR EACH ROW SET NEW.v = 1;\n";
        let write = "CREATE PROCEDURE p(i INT) BEGIN INSERT INTO t (id, v) VALUES (:i, 1); COMMIT; END;";
        let read = "CREATE PROCEDURE p(i INT) BEGIN DECLARE x INT; SELECT v INTO :x FROM t WHERE id = :i; END;";
        let found = |body: &str| errors(&[("a.sql", &format!("{TABLES}{trigger}{body}"))]);
        assert!(says(&found(write), "a.sql:3: the trigger on t (a.sql:2)"), "{:?}", found(write));
        assert!(!says(&found(read), "the trigger on t"), "{:?}", found(read));
    }

    #[test]
    fn a_function_that_touches_tables_is_part_of_the_statement_that_calls_it() {
        let function = "CREATE FUNCTION f(p INT) RETURNS INT LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT v FROM t \
                        WHERE id = p); END $$;\n";
        let call = "CREATE PROCEDURE q(i INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET v = f(i) WHERE id = i; END $$;";
        let found = errors(&[("a.sql", &format!("{TABLES}{function}{call}"))]);
        assert!(says(&found, "what the function f reads"), "{found:?}");
    }

    #[test]
    fn a_mapper_is_named_with_what_to_do_instead() {
        let text = "import psycopg\nfrom django.db import models\nclass A(models.Model):\n    pass\n";
        let project = Project::read(vec![SourceFile::new("a.py", text)]);
        let (_, error) = project.diagnostics.iter().find(|(_, one)| one.message.contains("Django")).unwrap();
        assert_eq!(error.span.line, 2);
        let hint = error.hint.as_deref().unwrap();
        assert!(hint.contains("log_statement") && !hint.contains("general_log"), "{hint}");
        assert!(says(&errors(&[("A.java", "class A { int x; }")]), "no statement of SQL was found"));
        assert!(errors(&[("t.sql", TABLES)]).is_empty());
    }
}

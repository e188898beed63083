//! The database that an application is written for, as far as its files tell.
//!
//! It decides which isolation level is assumed where none is named: a driver's name, a URL, the dialect of the SQL or the
//! form of a log is a sign. The first sign counts; drivers come before dialects, since dialects share most of their words.

use txloom_core::program::Language;

use super::Project;
use crate::frontends::SourceLanguage;

/// A database and the sign that tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseSign {
    /// The engine's family.
    pub family: &'static str,
    /// What tells it, as a phrase: `app.py uses psycopg`.
    pub sign: String,
}

/// Words of sources, with the family that they are a sign of.
const WORDS: &[(&str, &str)] = &[
    ("jdbc:postgresql", "postgres"),
    ("org.postgresql", "postgres"),
    ("postgresql+", "postgres"),
    ("postgresql://", "postgres"),
    ("psycopg", "postgres"),
    ("asyncpg", "postgres"),
    ("pg8000", "postgres"),
    ("jdbc:mariadb", "mariadb"),
    ("org.mariadb", "mariadb"),
    ("import mariadb", "mariadb"),
    ("jdbc:mysql", "mysql"),
    ("com.mysql", "mysql"),
    ("mysql+", "mysql"),
    ("mysql.connector", "mysql"),
    ("pymysql", "mysql"),
    ("MySQLdb", "mysql"),
    ("aiomysql", "mysql"),
    ("import sqlite3", "sqlite"),
    ("jdbc:sqlite", "sqlite"),
    ("jdbc:h2", "h2"),
];

/// Looks for the first sign.
pub fn told_by(project: &Project) -> Option<DatabaseSign> {
    let hosts = project.files.iter().filter(|file| SourceLanguage::of(file) != SourceLanguage::Sql);
    for file in hosts {
        let found = WORDS.iter().find(|(word, _)| file.text.contains(word));
        if let Some((word, family)) = found {
            let word = word.trim_start_matches("import ").trim_end_matches(['+', '/', ':']);
            return Some(DatabaseSign { family, sign: format!("{} says {word}", file.name) });
        }
    }
    let (family, name) = match project.language {
        Language::Postgres => ("postgres", "PostgreSQL"),
        Language::MySql => ("mariadb", "MariaDB or MySQL"),
        Language::Sqlite => ("sqlite", "SQLite"),
        Language::Any => return None,
    };
    Some(DatabaseSign { family, sign: format!("the SQL is that of {name}") })
}

/// The level that a server has unless somebody sets another one.
pub fn default_level(family: &str) -> Option<&'static str> {
    match family {
        "postgres" | "h2" | "model" => Some("read committed"),
        "mariadb" | "mysql" => Some("repeatable read"),
        "sqlite" => Some("serializable"),
        "replicas" => Some("store:eventual"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::SourceFile;

    fn told(name: &str, text: &str) -> Option<(&'static str, String)> {
        told_by(&Project::read(vec![SourceFile::new(name, text)])).map(|one| (one.family, one.sign))
    }

    #[test]
    fn drivers_and_dialects_tell_the_database() {
        assert_eq!(told("a.py", "import psycopg2\n"), Some(("postgres", "a.py says psycopg".to_string())));
        assert_eq!(told("A.java", "class A { String u = \"jdbc:mariadb://x\"; }").map(|one| one.0), Some("mariadb"));
        assert_eq!(told("t.sql", "CREATE TABLE t (id INT) ENGINE=InnoDB;").map(|one| one.0), Some("mariadb"));
        assert_eq!(told("t.sql", "CREATE TABLE t (id INT);"), None);
    }

    #[test]
    fn every_default_is_a_level_with_rules() {
        use txloom_core::search::level::Target;
        for family in ["postgres", "mariadb", "mysql", "sqlite", "h2", "model", "replicas"] {
            let level = default_level(family).expect("it has a default");
            assert!(Target::parse(level, Some((family, &[]))).is_ok(), "{family} {level}");
        }
    }
}

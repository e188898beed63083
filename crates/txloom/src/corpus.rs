//! The corpus, compiled into the program: it runs with nothing installed and no files around.

use std::sync::Arc;

use txloom_core::case::{self, Case};
use txloom_core::program::front::{self, Definitions, Reading};
use txloom_core::program::schema::Schema;
use txloom_core::program::{Language, Program};

/// A case of the corpus.
#[derive(Debug, Clone, Copy)]
pub struct CorpusCase {
    /// Its file, below `corpus/`.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl CorpusCase {
    /// Reads the case.
    pub fn parse(&self) -> Case {
        case::parse(self.text).expect("a test reads every case of the corpus")
    }
}

macro_rules! corpus_files {
    ($($path:literal,)*) => {
        &[$(CorpusCase { path: $path, text: include_str!(concat!("../../../corpus/", $path)) },)*]
    };
}

/// One case per anomaly (two where reads and writes differ).
pub const ANOMALIES: &[CorpusCase] = corpus_files![
    "anomalies/a1-dirty-read.sql",
    "anomalies/a2-fuzzy-read.sql",
    "anomalies/a3-phantom.sql",
    "anomalies/g-single-read-skew.sql",
    "anomalies/g-single-write-read-skew.sql",
    "anomalies/g0-dirty-write.sql",
    "anomalies/g1a-aborted-read.sql",
    "anomalies/g1b-intermediate-read.sql",
    "anomalies/g1c-circular-information-flow.sql",
    "anomalies/g2-anti-dependency-cycle.sql",
    "anomalies/g2-item-read-only-transaction.sql",
    "anomalies/g2-item-write-skew.sql",
    "anomalies/otv-observed-transaction-vanishes.sql",
    "anomalies/p4-lost-update.sql",
    "anomalies/pmp-predicate-many-preceders.sql",
    "anomalies/pmp-write-predicate-many-preceders.sql",
];

/// What every engine must do. A case whose name ends with a dialect's name is for engines of that dialect only.
pub const CONTRACT: &[CorpusCase] = corpus_files![
    "contract/after-a-deadlock.sql",
    "contract/deadlock.sql",
    "contract/deadlock-of-three.sql",
    "contract/deleted-key-mysql.sql",
    "contract/errors.sql",
    "contract/failed-transaction.sql",
    "contract/chain-of-waits.sql",
    "contract/metadata-locks-mysql.sql",
    "contract/savepoints.sql",
    "contract/still-blocked-at-the-end.sql",
    "contract/values.sql",
    "contract/values-mysql.sql",
    "contract/values-postgres.sql",
    "contract/values-sqlite.sql",
    "contract/wait-and-resume.sql",
];

/// Known bugs and differences between systems, by public id: what every engine of ours answers, at every level.
pub const BUGS: &[CorpusCase] = corpus_files![
    "bugs/dt2-lock-point.sql",
    "bugs/dt2-snapshot-creation.sql",
    "bugs/h2-foreign-key-by-snapshot.sql",
    "bugs/h2-own-row-twice.sql",
    "bugs/innodb-savepoint-first.sql",
    "bugs/mariadb-26671.sql",
    "bugs/mariadb-27922.sql",
    "bugs/mariadb-27992.sql",
    "bugs/mariadb-28140.sql",
    "bugs/mariadb-not-in-having.sql",
    "bugs/mariadb-not-in-own-changes.sql",
    "bugs/mariadb-snapshot-by-index.sql",
    "bugs/mysql-105670.sql",
    "bugs/mysql-106655.sql",
    "bugs/mysql-107125.sql",
    "bugs/mysql-foreign-key-null.sql",
    "bugs/tidb-33315.sql",
];

/// One case per planted bug, named after it: fails with the bug, holds without it.
pub const PLANTED: &[CorpusCase] = corpus_files![
    // Switches of the model.
    "planted/aborted-predicate.sql",
    "planted/dangling-reference.sql",
    "planted/deadlock-victim.sql",
    "planted/dirty-read.sql",
    "planted/key-update.sql",
    "planted/lost-commit.sql",
    "planted/lost-update.sql",
    "planted/non-repeatable-read.sql",
    "planted/phantom.sql",
    "planted/rollback-leaves-row.sql",
    "planted/stale-read.sql",
    "planted/stale-snapshot.sql",
    "planted/statement-rollback-leaves-row.sql",
    "planted/write-skew.sql",
    // Wrappers of any engine.
    "planted/crash.sql",
    "planted/extra-row.sql",
    "planted/missing-error.sql",
    "planted/missing-row.sql",
    "planted/unexpected-error.sql",
    "planted/wrong-aggregate.sql",
];

/// Two cases of every known behaviour of `known.toml`: one that matches its entry, and a near miss that does not.
pub const KNOWN: &[CorpusCase] = corpus_files![
    "known/MariaDB-NOT-IN.sql",
    "known/MariaDB-NOT-IN-near-miss.sql",
    "known/DT2-lock-point.sql",
    "known/DT2-lock-point-near-miss.sql",
    "known/MDEV-26671.sql",
    "known/MDEV-26671-near-miss.sql",
    "known/MDEV-27922.sql",
    "known/MDEV-27922-near-miss.sql",
    "known/MDEV-27992.sql",
    "known/MDEV-27992-near-miss.sql",
    "known/MDEV-35124.sql",
    "known/MDEV-35124-near-miss.sql",
    "known/MySQL-106655.sql",
    "known/MySQL-106655-near-miss.sql",
    "known/PostgreSQL-key-twice.sql",
    "known/PostgreSQL-key-twice-near-miss.sql",
];

/// What replicated databases do whose last writer wins, with partitions and deliveries.
pub const REPLICAS: &[CorpusCase] = corpus_files![
    "replicas/constraints.sql",
    "replicas/delivery-out-of-order.sql",
    "replicas/long-fork.sql",
    "replicas/lost-update.sql",
    "replicas/rollback.sql",
    "replicas/withdraw.sql",
];

/// A program of the corpus: procedures with the tables that they work on, rows to begin with, and what must hold.
#[derive(Debug, Clone, Copy)]
pub struct CorpusProgram {
    /// Its name.
    pub name: &'static str,
    /// Tables, rows and assertions.
    pub schema: &'static str,
    /// The procedures. Those of small programs stand in the same file as their tables, and in our own notation.
    pub sources: &'static [ProgramSource],
}

/// The procedures of a program in one language.
#[derive(Debug, Clone, Copy)]
pub struct ProgramSource {
    /// The file, below `corpus/`.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl CorpusProgram {
    /// The tables.
    pub fn tables(&self) -> Schema {
        Schema::read(self.schema, Language::Any).0
    }

    /// The statements that set the database up, and the assertions.
    pub fn definitions(&self) -> Definitions {
        Definitions::read(self.schema)
    }

    /// The source whose file has this name, such as `postgres.sql`.
    pub fn source(&self, file: &str) -> Option<&'static ProgramSource> {
        self.sources.iter().find(|source| source.path.ends_with(&format!("/{file}")))
    }

    /// Reads the procedures of a source.
    pub fn read(&self, source: &ProgramSource) -> Reading {
        let is_separate = source.text != self.schema;
        front::read(source.text, &if is_separate { self.tables() } else { Schema::default() })
    }
}

macro_rules! program_source {
    ($path:expr) => {
        ProgramSource {
            path: concat!("programs/", $path),
            text: include_str!(concat!("../../../corpus/programs/", $path)),
        }
    };
}

/// One file in our own notation, with everything.
macro_rules! small_program {
    ($name:literal) => {
        CorpusProgram {
            name: $name,
            schema: include_str!(concat!("../../../corpus/programs/", $name, ".sql")),
            sources: &[program_source!(concat!($name, ".sql"))],
        }
    };
}

/// A folder: the schema, and the same procedures for MariaDB and PostgreSQL.
macro_rules! benchmark_program {
    ($name:literal) => {
        CorpusProgram {
            name: $name,
            schema: include_str!(concat!("../../../corpus/programs/", $name, "/schema.sql")),
            sources: &[
                program_source!(concat!($name, "/mariadb.sql")),
                program_source!(concat!($name, "/postgres.sql")),
            ],
        }
    };
}

/// The benchmarks, by size, then the small programs: one for each anomaly that is famous, and AGENDA's examples.
pub const PROGRAMS: &[CorpusProgram] = &[
    benchmark_program!("tpcc"),
    benchmark_program!("seats"),
    benchmark_program!("wikipedia"),
    benchmark_program!("twitter"),
    benchmark_program!("smallbank"),
    benchmark_program!("tatp"),
    benchmark_program!("voter"),
    small_program!("dirty-write"),
    small_program!("dirty-read"),
    small_program!("lost-update"),
    small_program!("write-skew"),
    small_program!("doors"),
    small_program!("stock"),
    small_program!("invoices"),
    small_program!("bookings"),
    small_program!("long-fork"),
    small_program!("agenda-1"),
    small_program!("agenda-1-fixed"),
    small_program!("agenda-2"),
    small_program!("agenda-2-fixed"),
    small_program!("agenda-3"),
    small_program!("agenda-3-fixed"),
];

/// The program of that name.
pub fn program(name: &str) -> Option<&'static CorpusProgram> {
    PROGRAMS.iter().find(|program| program.name == name)
}

/// The program of the walking thread: two withdrawals from one account.
pub const WITHDRAW: &str = include_str!("../../../corpus/programs/withdraw.sql");

/// The program of the walking thread, read.
pub fn withdraw() -> Arc<Program> {
    Arc::new(Program::parse(WITHDRAW).expect("a test reads every program of the corpus"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    use txloom_core::program::access::nodes::ProcedureAccess;

    #[test]
    fn every_file_is_listed_and_reads() {
        let lists = [
            ("anomalies", ANOMALIES),
            ("contract", CONTRACT),
            ("bugs", BUGS),
            ("planted", PLANTED),
            ("known", KNOWN),
            ("replicas", REPLICAS),
        ];
        for (folder, list) in lists {
            let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(folder);
            let files: BTreeSet<String> = std::fs::read_dir(directory)
                .unwrap()
                .map(|entry| format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy()))
                .collect();
            let listed: BTreeSet<String> = list.iter().map(|case| case.path.to_string()).collect();
            assert_eq!(files, listed);
            for case in list {
                let read = case::parse(case.text).unwrap_or_else(|error| panic!("{}:{error}", case.path));
                assert!(read.claim().is_some(), "{} does not start with its claim", case.path);
                assert_eq!(case::print::print(&read), case.text, "{} is not in canonical form", case.path);
            }
        }
    }

    /// The files below a folder, as paths below `corpus/`.
    fn files(folder: &str) -> BTreeSet<String> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(folder);
        let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
        let path = |entry: std::fs::DirEntry| {
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() { files(&path) } else { [path].into() }
        };
        paths.flat_map(path).collect()
    }

    #[test]
    fn every_program_is_listed() {
        let sources = PROGRAMS.iter().flat_map(|program| program.sources).map(|source| source.path.to_string());
        let folders = PROGRAMS.iter().filter(|program| program.sources.len() > 1);
        let schemas = folders.map(|program| format!("programs/{}/schema.sql", program.name));
        let listed: BTreeSet<String> = sources.chain(schemas).chain(["programs/withdraw.sql".to_string()]).collect();
        // The originals in other languages are not compiled in: they are for tests, and for people to look at.
        let files: BTreeSet<String> = files("programs").into_iter().filter(|path| path.ends_with(".sql")).collect();
        assert_eq!(files, listed);
    }

    /// Every program reads without a complaint, has tables, rows and assertions, and begins with what it is.
    #[test]
    fn every_program_reads() {
        for program in PROGRAMS {
            let definitions = program.definitions();
            assert_eq!(definitions.diagnostics, [], "{}", program.name);
            assert!(!definitions.asserts.is_empty(), "{}", program.name);
            assert!(definitions.setup.iter().any(|sql| sql.starts_with("INSERT")), "{}", program.name);
            let (schema, complaints) = Schema::read(program.schema, Language::Any);
            assert_eq!(complaints, [], "{}", program.name);
            assert!(!schema.tables.is_empty(), "{}", program.name);
            for source in program.sources {
                let reading = program.read(source);
                assert_eq!(reading.diagnostics, [], "{}", source.path);
                assert!(!reading.program.procedures.is_empty(), "{}", source.path);
                assert!(source.text.starts_with("-- "), "{}", source.path);
            }
            let names = |source| -> Vec<String> {
                let reading = program.read(source);
                reading.program.procedures.iter().map(|procedure| procedure.name.clone()).collect()
            };
            assert!(program.sources.windows(2).all(|pair| names(&pair[0]) == names(&pair[1])), "{}", program.name);
        }
    }

    /// What each procedure of a source does to rows: one text for each statement that touches any.
    fn accesses(program: &CorpusProgram, source: &ProgramSource) -> Vec<(String, Vec<String>)> {
        let reading = program.read(source);
        let touches = |access: &ProcedureAccess| {
            let nodes = access.nodes.iter().filter(|node| !node.access.tables.is_empty());
            (access.name.clone(), nodes.map(|node| node.access.to_string()).collect())
        };
        reading.accesses.iter().map(touches).collect()
    }

    #[test]
    fn a_program_does_the_same_in_every_language() {
        for program in PROGRAMS {
            for pair in program.sources.windows(2) {
                assert_eq!(accesses(program, &pair[0]), accesses(program, &pair[1]), "{}", program.name);
            }
        }
    }

    /// As many as in the sample programs of the specification, by which others count, too.
    #[test]
    fn tpcc_has_34_statements() {
        let tpcc = program("tpcc").unwrap();
        let procedures = accesses(tpcc, &tpcc.sources[0]);
        let counts: Vec<(&str, usize)> = procedures.iter().map(|(name, list)| (name.as_str(), list.len())).collect();
        let expected = [("new_order", 9), ("payment", 11), ("order_status", 5), ("delivery", 7), ("stock_level", 2)];
        assert_eq!(counts, expected);
    }

    #[test]
    fn every_anomaly_has_a_case() {
        let provoked: BTreeSet<String> =
            ANOMALIES.iter().filter_map(|case| case.parse().anomaly().map(str::to_string)).collect();
        let known: BTreeSet<String> = txloom_core::anomaly::ALL.iter().map(|anomaly| anomaly.id.to_string()).collect();
        assert_eq!(provoked, known);
    }
}

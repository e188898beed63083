//! Programs for the tests of this module.

use crate::flow::program::Given;
use crate::program::front::{self, Reading};
use crate::program::schema::Schema;
use crate::search::conflicts::{Conflicts, Options};

pub(super) struct Sample {
    pub(super) reading: Reading,
}

impl Sample {
    pub(super) fn new(text: &str) -> Sample {
        Sample::with_schema(text, &Schema::default())
    }

    fn with_schema(text: &str, schema: &Schema) -> Sample {
        let reading = front::read(text, schema);
        let errors: Vec<_> =
            reading.diagnostics.iter().filter(|one| one.severity == crate::program::Severity::Error).collect();
        assert!(errors.is_empty(), "{errors:?}");
        Sample { reading }
    }

    /// A benchmark of the corpus: its schema and its procedures.
    pub(super) fn benchmark((schema, procedures): (&str, &str)) -> Sample {
        Sample::with_schema(procedures, &front::read(schema, &Schema::default()).schema)
    }

    pub(super) fn given(&self) -> Vec<Given<'_>> {
        let autocommits = self.reading.program.procedures.iter().map(|procedure| procedure.autocommit);
        self.reading.accesses.iter().zip(autocommits).map(|(access, autocommit)| Given { access, autocommit }).collect()
    }

    pub(super) fn conflicts(&self, options: Options) -> Conflicts {
        Conflicts::of(&self.given(), &self.reading.schema, options)
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.reading.accesses.iter().map(|access| access.name.as_str()).collect()
    }
}

macro_rules! program {
    ($name:literal) => {
        include_str!(concat!("../../../../corpus/programs/", $name, ".sql"))
    };
}

macro_rules! benchmark {
    ($name:literal) => {
        (
            $name,
            (
                include_str!(concat!("../../../../corpus/programs/", $name, "/schema.sql")),
                include_str!(concat!("../../../../corpus/programs/", $name, "/postgres.sql")),
            ),
        )
    };
}

pub(super) const LOST_UPDATE: &str = program!("lost-update");
pub(super) const WRITE_SKEW: &str = program!("write-skew");
pub(super) const DOORS: &str = program!("doors");
pub(super) const LONG_FORK: &str = program!("long-fork");
pub(super) const DIRTY_READ: &str = program!("dirty-read");
pub(super) const DIRTY_WRITE: &str = program!("dirty-write");
pub(super) const CHOPPED: &str = program!("agenda-1");
pub(super) const WHOLE: &str = program!("agenda-1-fixed");

/// The benchmarks, each with its schema and its procedures.
pub(super) const BENCHMARKS: &[(&str, (&str, &str))] = &[
    benchmark!("tpcc"),
    benchmark!("seats"),
    benchmark!("wikipedia"),
    benchmark!("twitter"),
    benchmark!("smallbank"),
    benchmark!("tatp"),
    benchmark!("voter"),
];

/// Numbers that look random, and are the same each time.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below that one.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit
    }
}

const STATEMENTS: &[&str] = &[
    "SELECT a INTO :v FROM t WHERE id = :x",
    "SELECT a INTO :v FROM t WHERE id = 1",
    "SELECT SUM(b) INTO :v FROM t WHERE a = :y",
    "SELECT c INTO :v FROM u WHERE id = :x",
    "UPDATE t SET a = :v + 1 WHERE id = :x",
    "UPDATE t SET a = a + :y WHERE id = :y",
    "UPDATE t SET b = :v WHERE id = 1",
    "UPDATE u SET c = :v WHERE id = :x",
    "INSERT INTO u (id, c) VALUES (:x, :v)",
    "DELETE FROM u WHERE id = :y",
    "IF :v > 1 THEN UPDATE t SET b = b + 1 WHERE id = 2; ELSE UPDATE u SET c = 0 WHERE id = :x; END IF",
    "IF :v > 1 THEN ROLLBACK; END IF",
    "WHILE :v < 3 DO UPDATE t SET b = :v WHERE id = :v; SET v = :v + 1; END WHILE",
];

/// A program of two procedures with a few statements each, every call one transaction.
pub(super) fn random_program(seed: u64) -> String {
    let mut chance = Chance::new(seed);
    let mut text = "-- @program 1
        CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT);
        CREATE TABLE u (id INT PRIMARY KEY, c INT);\n"
        .to_string();
    for name in ["p", "q"] {
        let mut statement = || STATEMENTS[chance.below(STATEMENTS.len())];
        let body: Vec<&str> = (0..3).map(|_| statement()).collect();
        // What is rolled back goes on in another transaction, which is another matter.
        let body = body.join("; ").replace("ROLLBACK", "ROLLBACK; RETURN");
        text += &format!("CREATE PROCEDURE {name}(x INT, y INT) BEGIN DECLARE v INT; {body}; COMMIT; END;\n");
    }
    text
}

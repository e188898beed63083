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
pub(super) const LONG_FORK: &str = program!("long-fork");
pub(super) const DIRTY_READ: &str = program!("dirty-read");
pub(super) const DIRTY_WRITE: &str = program!("dirty-write");

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

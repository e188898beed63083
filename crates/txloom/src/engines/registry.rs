//! The families of targets.

use std::ops::RangeInclusive;

use txloom_core::engine::{Engine, EngineError};
use txloom_core::planted::{self, PlantedBug};

#[cfg(feature = "mysql")]
use super::mysql::MySqlEngine;
#[cfg(feature = "postgres")]
use super::postgres::PostgresEngine;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use super::target::Place;
use super::target::Target;
#[cfg(feature = "postgres")]
use crate::servers::h2::{self, PrivateH2};
#[cfg(any(feature = "postgres", feature = "mysql"))]
#[cfg(feature = "mysql")]
use crate::servers::mysql::{self, PrivateMySql, Product};
#[cfg(feature = "postgres")]
use crate::servers::postgres::{Installation, PrivatePostgres};

/// A family of targets: one database system, in all the forms in which it can be asked for.
#[derive(Debug)]
pub struct Family {
    /// The name that targets begin with, and that guards of case files use.
    pub name: &'static str,
    /// How its targets are written, and what each form means. The first form is the name alone.
    pub forms: &'static [Form],
    /// The prefixes of URLs of running servers, without `://`.
    pub url_schemes: &'static [&'static str],
    /// Where the system comes from.
    pub source: Source,
    /// How many nodes its targets may have, if it is a cluster: then `NAME:3` is a target of three.
    pub nodes: Option<RangeInclusive<u32>>,
    /// Whether it has rules that planted bugs of isolation switch off. (Other planted bugs go into every family.)
    pub has_switches: bool,
    /// What of it is on this machine; empty if nothing is.
    pub(super) installed: fn() -> Vec<Installed>,
    /// Starts or reaches a target of the family.
    pub(super) open: fn(&Target) -> Result<Box<dyn Engine>, EngineError>,
}

/// One way to write a target of a family.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The text for `--on`, with capitals for what is to be filled in.
    pub written: &'static str,
    /// What it means.
    pub what: &'static str,
}

/// Where a database system comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It is part of txloom.
    BuiltIn,
    /// This package brings its programs.
    Package(&'static str),
}

/// A target that can be tried on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The text for `--on`.
    pub target: String,
    /// `built in`, or the directory of its programs.
    pub place: String,
}

impl Family {
    /// What of the family is on this machine.
    pub fn installed(&self) -> Vec<Installed> {
        (self.installed)()
    }

    /// The bugs that can be planted in its targets with `+BUG`.
    pub fn bugs(&self) -> impl Iterator<Item = &'static PlantedBug> + use<> {
        let has_switches = self.has_switches;
        planted::ALL.iter().filter(move |bug| bug.place == planted::Place::AnyEngine || has_switches)
    }

    /// Whether its targets may carry a version or a directory: `postgres:15`, `postgres@DIR`.
    pub fn has_programs(&self) -> bool {
        self.source != Source::BuiltIn
    }
}

/// Every family, in the order in which help and doctor show them.
pub static FAMILIES: &[Family] = &[
    #[cfg(feature = "sqlite")]
    Family {
        name: "sqlite",
        forms: &[Form { written: "sqlite", what: "SQLite, built in" }],
        url_schemes: &[],
        source: Source::BuiltIn,
        nodes: None,
        has_switches: false,
        installed: || built_in("sqlite"),
        open: open_sqlite,
    },
    #[cfg(feature = "sqlite")]
    Family {
        name: "model",
        forms: &[
            Form { written: "model", what: "a textbook database of our own, built in" },
            Form {
                written: "model+BUG",
                what: "the same with a planted bug, to see it found; some bugs can be planted in any target",
            },
        ],
        url_schemes: &[],
        source: Source::BuiltIn,
        nodes: None,
        has_switches: true,
        installed: || built_in("model"),
        open: open_model,
    },
    #[cfg(feature = "sqlite")]
    Family {
        name: "replicas",
        forms: &[
            Form { written: "replicas", what: "a weakly consistent database of our own, on two nodes, built in" },
            Form { written: "replicas:3", what: "the same, on so many nodes; partitions and deliveries are scripted" },
        ],
        url_schemes: &[],
        source: Source::BuiltIn,
        nodes: Some(1..=super::replicas::NODES_MAX),
        has_switches: false,
        installed: || built_in("replicas"),
        open: open_replicas,
    },
    #[cfg(feature = "postgres")]
    Family {
        name: "postgres",
        forms: &[
            Form { written: "postgres", what: "a private, throw-away server of the newest PostgreSQL" },
            Form { written: "postgres:15", what: "the same, of that version" },
            Form { written: "postgres@DIR", what: "the same, from the programs in DIR/bin" },
            Form { written: "postgres://HOST/DB", what: "a running server; only databases txloom_* are touched" },
        ],
        url_schemes: &["postgres", "postgresql"],
        source: Source::Package("postgresql"),
        nodes: None,
        has_switches: false,
        installed: installed_postgres,
        open: open_postgres,
    },
    #[cfg(feature = "mysql")]
    Family {
        name: "mariadb",
        forms: &[
            Form { written: "mariadb", what: "a private, throw-away server of the installed MariaDB" },
            Form { written: "mariadb:10.11", what: "the same, if it has that version" },
            Form { written: "mariadb@DIR", what: "the same, from the programs in DIR/bin" },
        ],
        url_schemes: &[],
        source: Source::Package(Product::MariaDb.package()),
        nodes: None,
        has_switches: false,
        installed: || installed_mysql(Product::MariaDb),
        open: |target| open_mysql(Product::MariaDb, target),
    },
    #[cfg(feature = "mysql")]
    Family {
        name: "mariadb-ring",
        forms: &[
            Form { written: "mariadb-ring", what: "two private MariaDB servers that replicate from each other" },
            Form {
                written: "mariadb-ring:3",
                what: "so many of them in a ring; partitions and deliveries are scripted",
            },
            Form { written: "mariadb-ring:3@DIR", what: "the same, from the programs in DIR/bin" },
        ],
        url_schemes: &[],
        source: Source::Package(Product::MariaDb.package()),
        nodes: Some(2..=super::mysql::ring::MEMBERS_MAX),
        has_switches: false,
        installed: installed_ring,
        open: open_ring,
    },
    #[cfg(feature = "mysql")]
    Family {
        name: "mysql",
        forms: &[
            Form { written: "mysql", what: "a private, throw-away server of the installed MySQL" },
            Form { written: "mysql:9", what: "the same, if it has that version" },
            Form { written: "mysql@DIR", what: "the same, from the programs in DIR/bin" },
            Form {
                written: "mysql://USER@HOST",
                what: "a running MySQL or MariaDB; only databases txloom_* are touched",
            },
        ],
        url_schemes: &["mysql", "mariadb"],
        // Debian has no package of it.
        source: Source::Package("mysql-server (Ubuntu); elsewhere name its directory: mysql@DIR"),
        nodes: None,
        has_switches: false,
        installed: || installed_mysql(Product::MySql),
        open: |target| open_mysql(Product::MySql, target),
    },
    #[cfg(feature = "postgres")]
    Family {
        name: "h2",
        forms: &[
            Form { written: "h2", what: "a private, throw-away server of the installed H2 (Java)" },
            Form { written: "h2:2.1", what: "the same, if it has that version" },
            Form { written: "h2@DIR", what: "the same, from the newest h2-VERSION.jar in DIR" },
        ],
        url_schemes: &[],
        source: Source::Package(h2::PACKAGES),
        nodes: None,
        has_switches: false,
        installed: installed_h2,
        open: open_h2,
    },
];

#[cfg(feature = "postgres")]
fn open_h2(target: &Target) -> Result<Box<dyn Engine>, EngineError> {
    match &target.place {
        Place::Private(programs) => {
            let server = PrivateH2::start(programs, target.server.clone());
            let server = server.map_err(|error| error.for_target(target.name()))?;
            Ok(Box::new(super::h2::H2Engine::start_private(target.name(), server)?))
        }
        Place::BuiltIn | Place::Running(_) => Err(not_built_in(target)),
    }
}

#[cfg(feature = "postgres")]
fn installed_h2() -> Vec<Installed> {
    let found = h2::Installation::find(&crate::servers::Programs::Newest);
    let installed = |found: h2::Installation| {
        let version = found.version().iter().take(2).map(u32::to_string).collect::<Vec<_>>().join(".");
        Installed { target: format!("h2:{version}"), place: found.jar.display().to_string() }
    };
    found.into_iter().map(installed).collect()
}

#[cfg(feature = "sqlite")]
fn built_in(name: &str) -> Vec<Installed> {
    vec![Installed { target: name.to_string(), place: "built in".to_string() }]
}

#[cfg(feature = "sqlite")]
fn open_sqlite(target: &Target) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(super::sqlite::SqliteEngine::start(target.name())?))
}

#[cfg(feature = "sqlite")]
fn open_model(target: &Target) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(super::model::ModelEngine::start(target.name(), &target.bugs_in(planted::Place::Model))?))
}

#[cfg(feature = "sqlite")]
fn open_replicas(target: &Target) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(super::replicas::ReplicasEngine::start(target.name(), target.nodes)?))
}

#[cfg(feature = "postgres")]
fn open_postgres(target: &Target) -> Result<Box<dyn Engine>, EngineError> {
    let engine = match &target.place {
        Place::Running(url) => PostgresEngine::connect(target.name(), url, &target.access)?,
        Place::BuiltIn => return Err(not_built_in(target)),
        Place::Private(programs) => {
            let server = PrivatePostgres::start(programs, target.server.clone());
            PostgresEngine::start_private(target.name(), server.map_err(|error| error.for_target(target.name()))?)?
        }
    };
    Ok(Box::new(engine))
}

#[cfg(feature = "postgres")]
fn installed_postgres() -> Vec<Installed> {
    let installed = |found: &Installation| Installed {
        target: found
            .version()
            .and_then(|version| version.numbers.first().copied())
            .map_or("postgres".to_string(), |major| format!("postgres:{major}")),
        place: found.bin.display().to_string(),
    };
    Installation::all().iter().map(installed).collect()
}

#[cfg(feature = "mysql")]
fn open_mysql(product: Product, target: &Target) -> Result<Box<dyn Engine>, EngineError> {
    let engine = match &target.place {
        Place::Running(url) => MySqlEngine::connect(target.name(), url, &target.access)?,
        Place::BuiltIn => return Err(not_built_in(target)),
        Place::Private(programs) => {
            let server = PrivateMySql::start(product, programs, target.server.clone());
            MySqlEngine::start_private(target.name(), server.map_err(|error| error.for_target(target.name()))?)?
        }
    };
    Ok(Box::new(engine))
}

#[cfg(feature = "mysql")]
fn open_ring(target: &Target) -> Result<Box<dyn Engine>, EngineError> {
    match &target.place {
        Place::Private(programs) => {
            Ok(Box::new(super::mysql::ring::RingEngine::start(target.name(), programs, &target.server, target.nodes)?))
        }
        Place::BuiltIn | Place::Running(_) => Err(not_built_in(target)),
    }
}

/// A ring of the newest MariaDB.
#[cfg(feature = "mysql")]
fn installed_ring() -> Vec<Installed> {
    let newest = mysql::Installation::all(Product::MariaDb).into_iter().next();
    let installed = |found: mysql::Installation| Installed {
        target: "mariadb-ring".to_string(),
        place: found.server.display().to_string(),
    };
    newest.into_iter().map(installed).collect()
}

#[cfg(feature = "mysql")]
fn installed_mysql(product: Product) -> Vec<Installed> {
    let installed = |found: &mysql::Installation| {
        let version = found.version.numbers.iter().take(2).map(u32::to_string).collect::<Vec<_>>().join(".");
        Installed { target: format!("{}:{version}", product.family()), place: found.server.display().to_string() }
    };
    mysql::Installation::all(product).iter().map(installed).collect()
}

#[cfg(any(feature = "postgres", feature = "mysql"))]
fn not_built_in(target: &Target) -> EngineError {
    EngineError::new(target.name(), txloom_core::engine::EngineErrorKind::Unsupported("a built-in form".to_string()))
}

//! A private server that two kinds of clients reach: txloom's engine, and originals with drivers of their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use txloom::engines::mysql::MySqlEngine;
use txloom::engines::postgres::PostgresEngine;
use txloom::servers::mysql::Product;
use txloom::servers::{PrivateMySql, PrivatePostgres, Programs, ServerOptions};
use txloom_core::engine::Engine;

/// How a server is told to write down every statement. The prefix is that of PostgreSQL's default.
const POSTGRES_LOG: &[(&str, &str)] = &[("log_statement", "all"), ("log_line_prefix", "%m [%p] ")];
/// The same into files for programs, below the server's folder: `data/log/statements.csv` and `.json`.
const POSTGRES_TABLES: &[(&str, &str)] = &[
    ("log_statement", "all"),
    ("logging_collector", "on"),
    ("log_destination", "csvlog,jsonlog"),
    ("log_filename", "statements"),
];
const MARIADB_LOG: &[(&str, &str)] = &[("general-log", "1"), ("general-log-file", "general.log")];

/// How long nothing must have come to a log that is complete.
const SETTLING: Duration = Duration::from_millis(150);

/// A private server with its engine. It ends with this.
pub(crate) struct Place {
    engine: Box<dyn Engine>,
    socket: PathBuf,
    log: PathBuf,
}

impl Place {
    /// Starts a server: `postgres` or `mariadb`.
    pub(crate) fn start(target: &str) -> Place {
        Place::with(target, &[])
    }

    /// Starts a server that writes every statement into its log.
    pub(crate) fn logging(target: &str) -> Place {
        Place::with(target, if target == "postgres" { POSTGRES_LOG } else { MARIADB_LOG })
    }

    /// Starts a PostgreSQL server that writes every statement into a file of that ending: `csv` or `json`.
    pub(crate) fn logging_as(ending: &str) -> Place {
        let mut place = Place::with("postgres", POSTGRES_TABLES);
        place.log = place.log.with_file_name("home").join("data/log/statements").with_extension(ending);
        place
    }

    fn with(target: &str, settings: &[(&str, &str)]) -> Place {
        let extra = settings.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        let options = ServerOptions { extra, ..ServerOptions::default() };
        match target {
            "postgres" => Place::postgres(options),
            "mariadb" => Place::mariadb(options),
            other => panic!("no originals run on {other}"),
        }
    }

    fn postgres(options: ServerOptions) -> Place {
        let server = PrivatePostgres::start(&Programs::Newest, options).unwrap_or_else(|error| panic!("{error}"));
        let socket = server.socket_dir().join(format!(".s.PGSQL.{}", server.port()));
        let log = server.log_path();
        let engine = PostgresEngine::start_private("postgres", server).unwrap_or_else(|error| panic!("{error}"));
        Place { engine: Box::new(engine), socket, log }
    }

    fn mariadb(options: ServerOptions) -> Place {
        let server = PrivateMySql::start(Product::MariaDb, &Programs::Newest, options);
        let server = server.unwrap_or_else(|error| panic!("{error}"));
        let socket = server.socket_path();
        let log = server.log_path().with_file_name("home").join("data/general.log");
        let engine = MySqlEngine::start_private("mariadb", server).unwrap_or_else(|error| panic!("{error}"));
        Place { engine: Box::new(engine), socket, log }
    }

    pub(crate) fn engine(&mut self) -> &mut dyn Engine {
        self.engine.as_mut()
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// The log of statements so far.
    pub(crate) fn statement_log(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_else(|error| panic!("{}: {error}", self.log.display()));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What is written to the log of statements while something is done, without what txloom's engine did before.
    pub(crate) fn statements_of(&mut self, what: impl FnOnce(&mut Place)) -> String {
        let before = self.settled_log().len();
        what(self);
        self.settled_log().split_off(before)
    }

    /// The log of statements when nothing more comes. Files for programs are written by a process of their own, and the
    /// end of a connection is told when the server has noticed it.
    fn settled_log(&self) -> String {
        let mut log = self.statement_log();
        loop {
            std::thread::sleep(SETTLING);
            let later = self.statement_log();
            if later.len() == log.len() {
                return later;
            }
            log = later;
        }
    }

    fn is_postgres(&self) -> bool {
        self.engine.info().family == "postgres"
    }

    /// The address for Java's drivers, which know no sockets in the file system: `run/UnixSockets.java` does.
    pub(crate) fn jdbc_url(&self) -> String {
        if self.is_postgres() {
            "jdbc:postgresql://localhost/postgres?user=postgres&sslmode=disable&gssEncMode=disable\
             &socketFactory=UnixSockets"
                .to_string()
        } else {
            "jdbc:mariadb://localhost/test?user=root&socketFactory=UnixSockets".to_string()
        }
    }

    /// The address for Python's `psycopg`. PostgreSQL only.
    pub(crate) fn dsn(&self) -> String {
        assert!(self.is_postgres(), "there is no Python driver here for {}", self.engine.info().target);
        let dir = self.socket.parent().expect("the socket lies in a folder");
        format!("host={} user=postgres dbname=postgres", dir.display())
    }
}

//! A private server that two kinds of clients reach: txloom's engine, and originals with drivers of their own.

use std::path::{Path, PathBuf};

use txloom::engines::mysql::MySqlEngine;
use txloom::engines::postgres::PostgresEngine;
use txloom::servers::mysql::Product;
use txloom::servers::{PrivateMySql, PrivatePostgres, Programs, ServerOptions};
use txloom_core::engine::Engine;

/// How a server is told to write down every statement. For MariaDB, the name of the log follows the last of them.
const POSTGRES_LOG: &[(&str, &str)] = &[("log_statement", "all"), ("log_line_prefix", "%m [%p] ")];
const MARIADB_LOG: &[(&str, &str)] = &[("general-log", "1")];

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
        let socket = server.socket();
        // Unless it is told otherwise, the general log is named after the pid file, and lies among the data.
        let log = server.log_path().with_file_name("data").join("pid.log");
        let engine = MySqlEngine::start_private("mariadb", server).unwrap_or_else(|error| panic!("{error}"));
        Place { engine: Box::new(engine), socket, log }
    }

    pub(crate) fn engine(&mut self) -> &mut dyn Engine {
        self.engine.as_mut()
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Where [`Place::logging`] writes statements.
    pub(crate) fn statement_log(&self) -> &Path {
        &self.log
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

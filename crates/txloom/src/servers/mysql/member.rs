//! A private server that others replicate from: a member of a ring.
//!
//! Replication does not go through sockets in the file system, so a member listens on a port of this machine, on the
//! loopback device only. What stands between that port and everybody else here is a password that was made for this ring:
//! before it lets anybody in, the server forgets all accounts but those that come through its socket, and learns one
//! that may do nothing but replicate (`--init-file`).

use std::net::{Ipv4Addr, TcpListener};

use super::{PrivateMySql, Product};
use crate::servers::{Programs, ServerError, ServerOptions, failed};

/// The account that may replicate, and nothing else.
pub const REPLICATOR: &str = "txloom_ring";

/// How often another port is tried, if somebody else has taken the one that was free a moment ago.
const PORT_TRIES: usize = 5;

/// A server that others replicate from.
#[derive(Debug)]
pub struct RingMember {
    /// The server.
    pub server: PrivateMySql,
    /// The port on the loopback device that it listens on.
    pub port: u16,
}

impl RingMember {
    /// Starts the member of that number, from 1. All members of a ring have one password.
    pub fn start(
        programs: &Programs,
        options: &ServerOptions,
        number: u32,
        password: &str,
    ) -> Result<RingMember, ServerError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let port = free_port()?;
            match PrivateMySql::start(Product::MariaDb, programs, member_options(options, number, port, password)) {
                Ok(server) => return Ok(RingMember { server, port }),
                Err(ServerError::Failed(why)) if tries < PORT_TRIES && why.contains("Address already in use") => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A port that nobody listens on now.
fn free_port() -> Result<u16, ServerError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed("find a free port"))?;
    Ok(listener.local_addr().map_err(failed("find a free port"))?.port())
}

/// What the user asked for comes last, and wins.
fn member_options(options: &ServerOptions, number: u32, port: u16, password: &str) -> ServerOptions {
    let (number, port) = (number.to_string(), port.to_string());
    let settings = [
        ("skip-networking", "0"),
        ("bind-address", "127.0.0.1"),
        ("port", &port),
        ("server-id", &number),
        // Each server numbers its own transactions: positions tell who has heard what of whom.
        ("gtid-domain-id", &number),
        ("log-bin", "binlog"),
        ("relay-log", "relay"),
        ("log-slave-updates", "ON"),
        ("binlog-format", "ROW"),
        // A row that is there already is overwritten, one that is not there need not be deleted: replication goes on.
        ("slave-exec-mode", "IDEMPOTENT"),
    ];
    let settings = settings.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string()));
    let first = [
        "SET sql_log_bin = 0".to_string(),
        "DELETE FROM mysql.global_priv WHERE Host <> 'localhost'".to_string(),
        "FLUSH PRIVILEGES".to_string(),
        format!("CREATE OR REPLACE USER {REPLICATOR}@'127.0.0.1' IDENTIFIED BY '{password}'"),
        format!("GRANT REPLICATION SLAVE ON *.* TO {REPLICATOR}@'127.0.0.1'"),
    ];
    ServerOptions {
        extra: settings.chain(options.extra.iter().cloned()).collect(),
        first: first.to_vec(),
        ..options.clone()
    }
}

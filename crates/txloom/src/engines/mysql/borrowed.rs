//! On a server that is not ours: what the user may do there, what dead processes left, and what is left for others.

use txloom_core::engine::{EngineError, EngineErrorKind};

use super::super::access::{AccessOptions, AccessReport};
use super::super::wire::owner;
use super::connection::{Connection, Login, text};
use super::{quoted, single_value};

/// Rights over everything, as `SHOW GRANTS` writes them.
const UNLIMITED: &[&str] = &["ALL PRIVILEGES", "SUPER", "CREATE USER", "INSERT", "UPDATE", "DELETE", "DROP", "FILE"];

/// The grants of the user that logged in, one line each.
pub(super) fn grants(connection: &mut Connection) -> Vec<String> {
    let outcome = connection.execute("SHOW GRANTS FOR CURRENT_USER()");
    let result = outcome.ok().and_then(|outcome| outcome.rows().cloned());
    let mut lines: Vec<String> =
        result.map(|result| result.rows.iter().map(|row| text(row, 0).to_string()).collect()).unwrap_or_default();
    // The hash of a password may follow.
    lines.iter_mut().for_each(|line| line.truncate(line.find(" IDENTIFIED ").unwrap_or(line.len())));
    lines
}

/// Returns true if a line of `SHOW GRANTS` gives rights over every database.
pub(super) fn is_unlimited(grant: &str) -> bool {
    let Some((rights, _)) = grant.strip_prefix("GRANT ").and_then(|rest| rest.split_once(" ON *.* ")) else {
        return false;
    };
    rights.split(", ").any(|right| UNLIMITED.contains(&right))
}

/// Refuses a user who may change other databases, all of them, unless that is allowed.
pub(super) fn check_role(
    target: &str,
    login: &Login,
    connection: &mut Connection,
    access: &AccessOptions,
) -> Result<(), EngineError> {
    let grants = grants(connection);
    let Some(grant) = grants.iter().find(|grant| is_unlimited(grant)).filter(|_| !access.allow_superuser) else {
        return Ok(());
    };
    let why = format!(
        "the user `{}` may do anything at {} ({grant}), so that no statement of a case would be beyond reach: name \
         another one (`txloom doctor URL` prints how to make it), or say --allow-superuser if nothing there matters",
        login.user, login.address
    );
    Err(EngineError::new(target, EngineErrorKind::Unreachable(why)))
}

/// What the user can do on the server; nothing is created.
pub(super) fn examine(user: &str, connection: &mut Connection, sweeps: bool) -> AccessReport {
    let is_needed = |grant: &String| {
        let rights = grant.strip_prefix("GRANT ").unwrap_or(grant);
        rights.contains(" ON `txloom\\_%`.") || rights.starts_with("USAGE ON") || rights.starts_with("PROCESS ON *.*")
    };
    let excess = grants(connection).into_iter().filter(|grant| !is_needed(grant)).collect();
    let statements = [
        "CREATE USER txloom IDENTIFIED BY '...';",
        "GRANT ALL ON `txloom\\_%`.* TO txloom;",
        "GRANT PROCESS ON *.* TO txloom; -- to be told who waits for whom",
        "GRANT SELECT ON performance_schema.* TO txloom; -- MySQL: to be told for whom",
    ];
    let dropped = if sweeps { sweep(connection) } else { Vec::new() };
    let left = databases(connection).into_iter().filter(|name| name.starts_with(owner::PREFIX)).collect();
    let grants = statements.map(str::to_string).to_vec();
    AccessReport { user: user.to_string(), excess, grants, dropped, left }
}

/// The databases that the user can see.
pub(super) fn databases(connection: &mut Connection) -> Vec<String> {
    let outcome = connection.execute("SELECT schema_name FROM information_schema.schemata");
    let result = outcome.ok().and_then(|outcome| outcome.rows().cloned());
    result.map(|result| result.rows.iter().map(|row| text(row, 0).to_string()).collect()).unwrap_or_default()
}

/// Drops the databases of processes of this machine that are no more; returns their names.
pub(super) fn sweep(connection: &mut Connection) -> Vec<String> {
    let names = databases(connection);
    let mut dropped = owner::left_over(names.iter().map(String::as_str));
    dropped.retain(|name| {
        let outcome = connection.execute(&format!("DROP DATABASE IF EXISTS {}", quoted(name)));
        outcome.is_ok_and(|outcome| outcome.error.is_none())
    });
    dropped
}

/// How many connections the server has left; `None` if it does not say.
pub(super) fn connections_left(connection: &mut Connection) -> Option<u32> {
    let max: u32 = single_value(connection, "SELECT @@max_connections")?.parse().ok()?;
    let outcome = connection.execute("SHOW GLOBAL STATUS LIKE 'Threads_connected'").ok()?;
    let used: u32 = text(outcome.rows()?.rows.first()?, 1).parse().ok()?;
    Some(max.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_over_everything_are_told_from_others() {
        for (grant, expected) in [
            ("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION", true),
            ("GRANT SELECT, INSERT ON *.* TO `a`@`%`", true),
            ("GRANT USAGE ON *.* TO `a`@`%`", false),
            ("GRANT PROCESS, SHOW DATABASES ON *.* TO `a`@`%`", false),
            ("GRANT ALL PRIVILEGES ON `txloom\\_%`.* TO `a`@`%`", false),
        ] {
            assert_eq!(is_unlimited(grant), expected, "{grant}");
        }
    }
}

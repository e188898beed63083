//! Functions whose value depends on more than the data: clocks, dice, sequences, the connection.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Ident, ObjectName, Visit, Visitor};

/// Functions of time, chance, the connection and the server.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "now", "current_timestamp", "current_time", "current_date", "curdate", "curtime", "localtime", "localtimestamp",
    "sysdate", "utc_date", "utc_time", "utc_timestamp", "unix_timestamp", "clock_timestamp", "statement_timestamp",
    "transaction_timestamp", "timeofday", "random", "random_normal", "rand", "randomblob", "random_bytes", "uuid",
    "uuid_short", "gen_random_uuid", "uuidv4", "uuidv7", "nextval", "currval", "setval", "lastval", "last_insert_id",
    "last_insert_rowid", "changes", "total_changes", "row_count", "found_rows", "connection_id", "pg_backend_pid",
    "txid_current", "pg_current_xact_id", "pg_sleep", "sleep", "benchmark", "get_lock", "release_lock",
    "pg_advisory_lock", "pg_advisory_xact_lock", "pg_try_advisory_lock", "pg_advisory_unlock", "current_user", "user",
    "session_user", "version", "database", "set_config", "current_setting", "current_schema", "sqlite_version",
];

/// Whether such a function is called anywhere in a statement or an expression.
pub(crate) fn mentions_chance(node: &impl Visit) -> bool {
    struct Looking;
    impl Visitor for Looking {
        type Break = ();
        fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
            match expression {
                Expr::Function(function) if is_chance(&function.name) => ControlFlow::Break(()),
                // Without parentheses, some dialects take them for columns.
                Expr::Identifier(name) if is_bare(name) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        }
    }
    node.visit(&mut Looking).is_break()
}

fn is_chance(name: &ObjectName) -> bool {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.is_some_and(|name| FUNCTIONS.contains(&name.value.to_lowercase().as_str()))
}

fn is_bare(name: &Ident) -> bool {
    let is_keyword = |name: &str| name.starts_with("current_") || name.starts_with("local") || name.starts_with("utc_");
    let plain = name.value.to_lowercase();
    let bare = name.quote_style.is_none() && is_keyword(&plain) && FUNCTIONS.contains(&plain.as_str());
    bare || name.value.starts_with('@')
}

//! `with`: what is done at the end of its block, and on an error.
//!
//! ```text
//!   with engine.begin() as conn: …        COMMIT at the end, ROLLBACK on an error
//!   with conn.transaction(): …            the same; inside of another one, nothing
//!   with engine.connect() as conn: …      the end of the transaction, unless the block ends its transactions itself
//!   with conn: …                          COMMIT, if it is a connection
//!   with conn.cursor() as cur: …          nothing
//! ```

use tree_sitter::Node;
use txloom_core::program::Span;

use super::super::host::tree::{Call, Catch, Expr, ExprKind, Stmt, StmtKind, Try};
use super::super::host::visit;
use super::super::syntax::parts;
use super::Reader;

/// Calls that are a transaction as long as the block is open.
const TRANSACTIONS: &[&str] = &["begin", "transaction", "atomic"];

/// Calls that give a connection whose block ends with a COMMIT.
const COMMITTING: &[&str] = &["connection"];

/// Modules of drivers, whose `connect()` does so, too.
const DRIVERS: &[&str] = &["psycopg", "psycopg2", "sqlite3", "pg8000", "sqlite", "duckdb", "aiosqlite"];

/// Calls that give a connection whose block ends by giving it back.
const GIVING_BACK: &[&str] = &["connect", "session", "sessionmaker"];

/// What a block does at its end.
enum End {
    Commit,
    /// What is open is over; what was written is only kept if somebody has committed.
    GiveBack,
    /// What the value does that is used.
    OfValue,
    Nothing,
}

impl Reader<'_> {
    pub(super) fn with_statement(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let clause = parts(node).into_iter().find(|part| part.kind() == "with_clause");
        let items: Vec<Node<'_>> = clause.map(parts).unwrap_or_default();
        let body = node.child_by_field_name("body");
        self.with_items(&items, body, node)
    }

    /// One item around the others.
    fn with_items(&mut self, items: &[Node<'_>], body: Option<Node<'_>>, node: Node<'_>) -> Vec<Stmt> {
        let Some((item, others)) = items.split_first() else {
            return body.map(|body| self.block(body)).unwrap_or_default();
        };
        let span = self.source.span(*item);
        let value = item.child_by_field_name("value").unwrap_or(*item);
        let (value, alias) = match value.kind() {
            "as_pattern" => (value.named_child(0).unwrap_or(value), value.child_by_field_name("alias")),
            _ => (value, None),
        };
        let entered = self.expression(value);
        let entered = closed(entered);
        let end = end_of(&entered);
        let alias = alias.map(|alias| self.expression(alias.named_child(0).unwrap_or(alias)));
        let was_inside = self.transactions;
        self.transactions += usize::from(matches!(end, End::Commit) && is_transaction(&entered));
        let body = self.with_items(others, body, node);
        self.transactions = was_inside;
        let (at_end, on_error) = self.ends(&end, &entered, &body, span);
        let resource = match alias {
            Some(alias) => {
                let assign = ExprKind::Assign { target: Box::new(alias), operator: None, value: Box::new(entered) };
                Expr { kind: assign, span }
            }
            None => entered,
        };
        let resources = vec![Stmt { kind: StmtKind::Expr(resource), span }];
        let catches = on_error.map(|undo| {
            let again = Stmt { kind: StmtKind::Throw(None), span };
            Catch { types: vec!["BaseException".to_string()], name: String::new(), body: vec![undo, again] }
        });
        let guarded =
            Try { resources, body, catches: catches.into_iter().collect(), finally: at_end.into_iter().collect() };
        vec![self.source.statement(StmtKind::Try(guarded), node)]
    }

    /// What is done at the end, and what on an error.
    fn ends(&self, end: &End, entered: &Expr, body: &[Stmt], span: Span) -> (Option<Stmt>, Option<Stmt>) {
        let call = |name: &str, receiver: Option<Expr>| {
            let receiver = receiver.map(Box::new);
            let call = Call { receiver, name: name.to_string(), arguments: Vec::new(), named: Vec::new() };
            Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Call(call), span }), span }
        };
        match end {
            // Inside of a transaction it is a savepoint.
            End::Commit if self.transactions > 0 && is_transaction(entered) => (None, None),
            End::Commit => (Some(call("__commit__", None)), Some(call("__rollback__", None))),
            End::GiveBack if ends_transactions(body) => (None, None),
            End::GiveBack => (Some(call("__commit__", None)), Some(call("__rollback__", None))),
            End::OfValue => {
                let receiver = || Some(entered.clone());
                (Some(call("__exit__", receiver())), Some(call("__abort__", receiver())))
            }
            End::Nothing => (None, None),
        }
    }
}

/// `closing(x)` is x.
fn closed(entered: Expr) -> Expr {
    match entered.kind {
        ExprKind::Call(mut call) if call.name == "closing" && call.arguments.len() == 1 => call.arguments.remove(0),
        kind => Expr { kind, span: entered.span },
    }
}

fn is_transaction(entered: &Expr) -> bool {
    matches!(&entered.kind, ExprKind::Call(call) if TRANSACTIONS.contains(&call.name.as_str()))
}

fn end_of(entered: &Expr) -> End {
    match &entered.kind {
        ExprKind::Call(call) => {
            let name = call.name.as_str();
            let receiver = call.receiver.as_ref();
            let is_driver =
                receiver.is_some_and(|of| matches!(&of.kind, ExprKind::Name(name) if DRIVERS.contains(&name.as_str())));
            match (name, receiver) {
                ("execution_options", Some(inner)) => end_of(inner),
                ("connect", _) if is_driver => End::Commit,
                _ if TRANSACTIONS.contains(&name) || COMMITTING.contains(&name) => End::Commit,
                _ if GIVING_BACK.contains(&name.to_lowercase().as_str()) => End::GiveBack,
                _ => End::Nothing,
            }
        }
        ExprKind::New { class, .. } if class.to_lowercase().contains("session") => End::GiveBack,
        ExprKind::Name(name) | ExprKind::Field(_, name) => {
            let name = name.to_lowercase();
            if name.contains("conn") || name == "db" || name == "con" { End::Commit } else { End::OfValue }
        }
        _ => End::Nothing,
    }
}

/// Whether a block ends its transactions itself.
fn ends_transactions(body: &[Stmt]) -> bool {
    let mut ends = false;
    visit::expressions(body, &mut |expr| {
        if let ExprKind::Call(call) = &expr.kind {
            let name = call.name.as_str();
            ends |= ["commit", "rollback", "__commit__"].contains(&name) || TRANSACTIONS.contains(&name);
        }
    });
    ends
}

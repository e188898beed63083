//! The committed contents of all user tables.

use txloom_core::engine::{EngineError, State};
use txloom_core::outcome::StatementResult;

use super::connection::text;
use super::reach::Reach;
use super::{Home, MySqlEngine, explain, quoted};

/// The databases that come with a server.
const SYSTEM_DATABASES: &[&str] = &["information_schema", "mysql", "performance_schema", "sys"];

/// Not views, and not sequences.
const TABLE_TYPES: &[&str] = &["BASE TABLE", "SYSTEM VERSIONED"];

impl MySqlEngine {
    /// Reads all tables, each by one query; sessions have ended, so nobody changes anything between them.
    pub(super) fn read_tables(&mut self) -> Result<State, EngineError> {
        let tables = self.tables()?;
        let select =
            |(database, table): &(String, String)| format!("SELECT * FROM {}.{}", quoted(database), quoted(table));
        if tables.is_empty() {
            return Ok(State::default());
        }
        let message = tables.iter().map(select).collect::<Vec<_>>().join("; ");
        let results = self.command(&message, "take a snapshot of all tables")?;
        let contents = tables.into_iter().zip(results);
        Ok(State { tables: contents.map(|(table, result)| (self.display_name(table), result)).collect() })
    }

    /// The name of a table; with its database, if that is not the one of the cases.
    fn display_name(&self, (database, table): (String, String)) -> String {
        if database == self.database { table } else { format!("{database}.{table}") }
    }

    /// All user tables: database and name.
    fn tables(&mut self) -> Result<Vec<(String, String)>, EngineError> {
        let own = self.database.clone();
        if let (Reach::Rows, Some(layout)) = (self.shared.reach(), &self.layout) {
            return Ok(layout.tables.iter().map(|table| (own.clone(), table.clone())).collect());
        }
        let mut tables = Vec::new();
        for database in self.databases()? {
            let names = self.tables_of(&database)?;
            tables.extend(names.into_iter().map(|name| (database.clone(), name)));
        }
        Ok(tables)
    }

    /// The databases that may hold tables of cases.
    pub(super) fn databases(&mut self) -> Result<Vec<String>, EngineError> {
        match self.home {
            Home::Borrowed => Ok(vec![self.database.clone()]),
            Home::Private(_) => {
                let mut names = first_column(&self.command("SHOW DATABASES", "list the databases")?);
                names.retain(|name| !SYSTEM_DATABASES.contains(&name.as_str()));
                Ok(names)
            }
        }
    }

    /// The tables of a database.
    pub(super) fn tables_of(&mut self, database: &str) -> Result<Vec<String>, EngineError> {
        let question = format!("SHOW FULL TABLES FROM {}", quoted(database));
        let results = self.command(&question, "list the tables")?;
        let rows = results.iter().flat_map(|result| &result.rows);
        Ok(rows.filter(|row| TABLE_TYPES.contains(&text(row, 1))).map(|row| text(row, 0).to_string()).collect())
    }

    /// Executes a statement of the engine's own, which must succeed.
    pub(super) fn command(&mut self, sql: &str, attempt: &str) -> Result<Vec<StatementResult>, EngineError> {
        let outcome = self.execute_own(sql)?;
        match outcome.error {
            None => Ok(outcome.results),
            Some(error) => Err(explain::lost(&self.info.target, attempt, error)),
        }
    }
}

fn first_column(results: &[StatementResult]) -> Vec<String> {
    results.iter().flat_map(|result| &result.rows).map(|row| text(row, 0).to_string()).collect()
}

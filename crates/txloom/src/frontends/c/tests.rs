//! C → our notation.

use txloom_core::program::schema::Schema;
use txloom_core::program::{Language, Program};

use crate::analyze::SourceFile;
use crate::frontends;

const SCHEMA: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, owner VARCHAR(20), balance INT NOT NULL);
CREATE TABLE log (id INT PRIMARY KEY, account INT, amount INT, note VARCHAR(100));";

/// The programs of a file, as text.
fn program(source: &str) -> String {
    let (schema, _) = Schema::read(SCHEMA, Language::Any);
    let files = [SourceFile { name: "app.pgc".to_string(), text: source.to_string() }];
    let readings = frontends::read(&files, &schema, Language::Any);
    let procedures = readings.into_iter().flat_map(|(_, reading)| reading.procedures).collect();
    let text = Program { procedures }.to_string();
    text.trim_start_matches("-- @program 1\n").to_string()
}

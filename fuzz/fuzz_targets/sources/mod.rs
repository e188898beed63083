//! What every front-end must stand: any text is read, with complaints or without; what was read can be told, and every
//! place that is named is one of the file.

use txloom::analyze::{Analysis, Project, SourceFile};
use txloom_core::flow::program::Cut;

/// Tables with names that sources are likely to hit.
pub const TABLES: &str = "CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL, b VARCHAR(20));
    CREATE TABLE flights (fltnum INT PRIMARY KEY, avail INT NOT NULL);
    CREATE TABLE customer (c_id INT PRIMARY KEY, c_balance INT NOT NULL);";

/// Longer programs are only read: analysing them takes too long.
const ANALYSED_MAX: usize = 10;

/// Reads a file of that name.
#[allow(dead_code)]
pub fn fuzz(name: &str, text: &str) {
    let files = vec![SourceFile::new(name, text), SourceFile::new("tables.sql", TABLES)];
    check(&Project::read(files));
}

/// What was read can be told and analysed.
pub fn check(project: &Project) {
    let _ = project.program.to_string();
    for (file, complaint) in &project.diagnostics {
        let (span, text) = (complaint.span, &project.files[*file].text);
        assert!(span.start <= span.end && span.end <= text.len(), "{span:?} of {}", text.len());
    }
    assert!(project.statements.1 <= project.statements.0, "no more is understood than there is");
    if project.statements.0 <= ANALYSED_MAX {
        let _ = Analysis::of(project, Cut::AsWritten);
    }
}

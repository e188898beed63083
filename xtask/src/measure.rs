//! What benchmarks and soaks have in common: the middle of numbers, and TPC-C as an application to analyse.

use anyhow::{Context, Result};
use txloom::analyze::{Project, SourceFile};

/// The middle of some numbers.
pub(crate) fn median(numbers: Vec<f64>) -> f64 {
    quantile(numbers, 2)
}

/// The number below which one in `parts` of them lies.
pub(crate) fn quantile(mut numbers: Vec<f64>, parts: usize) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / parts).copied().unwrap_or(0.0)
}

/// A benchmark program from the corpus, in the language of that file.
pub(crate) fn program(name: &str, file: &str) -> Result<Project> {
    program_with(name, file, |schema| schema)
}

/// The same, with a change of its schema.
pub(crate) fn program_with(name: &str, file: &str, change: impl FnOnce(String) -> String) -> Result<Project> {
    let source = |file: &str| -> Result<SourceFile> {
        let path = format!("corpus/programs/{name}/{file}");
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
        Ok(SourceFile::new(path, text))
    };
    let schema = source("schema.sql")?;
    let schema = SourceFile::new(schema.name, change(schema.text));
    Ok(Project::read(vec![schema, source(file)?]))
}

/// TPC-C from the corpus, in the language of that file, with every statement a transaction of its own.
pub(crate) fn chopped_tpcc(file: &str) -> Result<Project> {
    Ok(program("tpcc", file)?.chopped())
}

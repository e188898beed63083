//! How long the history checker takes, and how much memory.
//!
//! * [`lists`]: generated list-append histories of growing size
//! * [`registers`]: registers recorded from PostgreSQL
//! * [`child`]: every measurement is a process of its own, so that its peak of memory is its own, too

mod lists;
mod registers;
mod child;

use std::path::PathBuf;

use anyhow::{Context, Result};

pub(crate) use child::run as check_one;

/// Measures both. True if every bar is met.
pub(super) fn run(table: &mut String, transactions_max: usize) -> Result<bool> {
    let scratch = Scratch::new()?;
    let lists = lists::run(table, &scratch, transactions_max)?;
    let registers = registers::run(table, &scratch)?;
    Ok(lists && registers)
}

/// A directory for the histories, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch> {
        let directory = std::env::temp_dir().join(format!("txloom-bench-{}", std::process::id()));
        std::fs::create_dir_all(&directory).with_context(|| format!("creating {}", directory.display()))?;
        Ok(Scratch(directory))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind is in the system's directory for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn word(met: bool) -> &'static str {
    if met { "met" } else { "NOT MET" }
}

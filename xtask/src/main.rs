//! Chores: `cargo run -p xtask -- soak | bench | record | sbom`. The style check (`tidy`) is an ordinary test in here.

// A chore talks to the one who runs it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod chart;
mod date;
mod measure;
mod record;
mod soak;
mod supply;
#[cfg(test)]
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("soak") => soak::run(&arguments[1..]),
        Some("bench") => bench::run(&arguments[1..]),
        // One measurement of the benchmark, in a process of its own.
        Some("check-history") => bench::histories::check_one(&arguments[1..]),
        Some("generate-storm") => bench::generate::generate_one(&arguments[1..]),
        Some("sbom") => supply::sbom::run(&arguments[1..]),
        Some("record") => record::run(&arguments[1..]),
        _ => Err(anyhow::anyhow!(
            "usage: xtask soak [ROUNDS] [SECTION…] | bench [TRANSACTIONS] [SECTION…] | record TARGET… | sbom [FILE]"
        )),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

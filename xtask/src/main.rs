//! Chores: `cargo run -p xtask -- soak | bench | fuzz`. The style check (`tidy`) is an ordinary test in here.

// A chore talks to the one who runs it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod date;
mod soak;
#[cfg(test)]
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("soak") => soak::run(&arguments[1..]),
        Some("bench") => bench::run(),
        _ => Err(anyhow::anyhow!("usage: xtask soak [ROUNDS] | bench")),
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

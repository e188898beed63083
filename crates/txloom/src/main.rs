//! `txloom`: parse → run → exit code.

use std::process::ExitCode;

use txloom::cli::{self, Args, Command, Failure, Streams};
use txloom::exit::Exit;

fn main() -> ExitCode {
    let exit = match cli::parse(std::env::args_os()) {
        Ok(args) => {
            cli::signals::install();
            let mut streams = Streams::of_process(args.color);
            let exit = cli::guarded(&mut streams, |streams| run(&args, streams));
            cli::signals::finish();
            exit
        }
        Err(exit) => exit,
    };
    exit.into()
}

fn run(args: &Args, streams: &mut Streams) -> Result<Exit, Failure> {
    match &args.command {
        Command::Hunt(args) => cli::hunt::run(args, streams),
        Command::Storm(args) => cli::storm::run(args, streams),
        Command::Analyze(args) => cli::analyze::run(args, streams),
        Command::Run(args) => cli::run::run(args, streams),
        Command::Reduce(args) => cli::reduce::run(args, streams),
        Command::Levels(args) => cli::levels::run(args, streams),
        Command::Check(args) => cli::check::run(args, streams),
        Command::Convert(args) => cli::convert::run(args, streams),
        Command::Doctor(args) => cli::doctor::run(args, streams),
    }
}

//! Properties of parsers that hold for any text: it is read or refused, places lie inside of it, and what was read
//! survives printing.
//!
//! The fuzz targets and the test `fuzzed` share them: a fuzzer looks for texts, the test tries the same few every time.

use std::path::Path;

use txloom::engines::Target;
use txloom_core::case;
use txloom_core::formats::{self, spec, troc};
use txloom_core::program::front::{self, Definitions};
use txloom_core::program::schema::Schema;
use txloom_core::program::{Diagnostic, Program};

/// Longer specs are only read: their permutations grow faster than exponentially.
const STEPS_MAX: usize = 8;

/// Any property.
pub type Property = fn(&str);

/// An isolation test of PostgreSQL: printing what was read and reading it again changes nothing.
#[allow(dead_code)]
pub fn isolation_spec(text: &str) {
    let Ok(read) = spec::parse(text) else { return };
    let printed = spec::print(&read);
    let again =
        spec::parse(&printed).unwrap_or_else(|error| panic!("what was printed can be read: {error:?}\n{printed}"));
    assert_eq!(spec::print(&again), printed, "printing is stable");
    if read.sessions.iter().map(|session| session.steps.len()).sum::<usize>() <= STEPS_MAX {
        let _ = spec::to_cases(&read);
    }
}

/// DT² and Troc text becomes a case, which can be printed and read.
#[allow(dead_code)]
pub fn troc_text(text: &str) {
    let Ok(read) = troc::parse(text) else { return };
    let printed = case::print::print(&read);
    let again =
        case::parse(&printed).unwrap_or_else(|error| panic!("what was printed can be read: {error}\n{printed}"));
    assert_eq!(case::print::print(&again), printed, "printing is stable");
}

/// Stored procedures: every place lies in the text, and what was read is a program that can be told and read again.
#[allow(dead_code)]
pub fn procedures(text: &str) {
    let reading = front::read(text, &Schema::default());
    check_places(&reading.diagnostics, text);
    let _ = reading.program.to_string();
    if let Ok(program) = Program::parse(text) {
        let printed = program.to_string();
        let again = Program::parse(&printed).unwrap_or_else(|error| panic!("it can be read again: {error}\n{printed}"));
        assert_eq!(again.to_string(), printed, "printing is stable");
    }
}

/// The definitions of a schema or dump.
#[allow(dead_code)]
pub fn schema_dump(text: &str) {
    let definitions = Definitions::read(text);
    let reading = front::read(text, &Schema::default());
    check_places(&reading.diagnostics, text);
    definitions.rows().for_each(drop);
}

/// The names of targets, and the URLs of servers.
#[allow(dead_code)]
pub fn target_name(text: &str) {
    if let Ok(target) = Target::parse(text) {
        let _ = target.to_string();
    }
}

/// Any file that `run` takes, whatever its name says.
#[allow(dead_code)]
pub fn any_case(text: &str) {
    for name in ["-", "a.sql", "a.txt"] {
        let _ = formats::read(Path::new(name), text);
    }
}

fn check_places(diagnostics: &[Diagnostic], text: &str) {
    for Diagnostic { span, .. } in diagnostics {
        assert!(span.start <= span.end && span.end <= text.len(), "{span:?} of {}", text.len());
    }
}

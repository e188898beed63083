//! Logs of servers: any bytes are read or refused, and the program that was read survives printing.

#![no_main]

mod sources;

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use txloom::analyze::{Project, SourceFile};
use txloom::frontends::logs;
use txloom_core::program::schema::Schema;
use txloom_core::program::{Language, Program};

fuzz_target!(|bytes: &[u8]| {
    let (schema, _) = Schema::read(sources::TABLES, Language::Any);
    let Ok(reading) = logs::read_from(Cursor::new(bytes), "fuzz.log", &schema, &[]) else { return };
    let printed = reading.program.to_string();
    assert_eq!(Program::parse(&printed).expect("what was printed can be read"), reading.program, "nothing is lost");
    let files = vec![SourceFile::new("tables.sql", sources::TABLES), SourceFile::of_log("fuzz.log", reading)];
    sources::check(&Project::read(files));
});

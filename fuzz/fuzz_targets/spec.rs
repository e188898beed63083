//! PostgreSQL's isolation tests.

#![no_main]

mod properties;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| properties::isolation_spec(text));

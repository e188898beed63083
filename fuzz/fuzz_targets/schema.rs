//! Schemas and dumps.

#![no_main]

mod properties;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| properties::schema_dump(text));

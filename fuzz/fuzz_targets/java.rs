//! Applications in Java with JDBC.

#![no_main]

mod sources;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| sources::fuzz("Fuzz.java", text));

//! Applications in Python.

#![no_main]

mod sources;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| sources::fuzz("fuzz.py", text));

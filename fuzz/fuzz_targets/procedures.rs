//! Stored procedures and programs in our own notation.

#![no_main]

mod properties;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| properties::procedures(text));

//! DT² and Troc text.

#![no_main]

mod properties;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| properties::troc_text(text));

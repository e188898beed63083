//! Targets and the URLs of servers.

#![no_main]

mod properties;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| properties::target_name(text));

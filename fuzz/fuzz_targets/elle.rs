//! Elle's and Jepsen's operations, in EDN and JSON.

#![no_main]

mod histories;

use libfuzzer_sys::fuzz_target;
use txloom_core::history::formats::Format;

fuzz_target!(|bytes: &[u8]| histories::fuzz(bytes, &[Format::Edn, Format::Json]));

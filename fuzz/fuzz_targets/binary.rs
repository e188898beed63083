//! Our own binary form. Its first bytes are always the same; they are given, since nobody guesses eight bytes.

#![no_main]

mod histories;

use libfuzzer_sys::fuzz_target;
use txloom_core::history::formats::Format;

fuzz_target!(|bytes: &[u8]| histories::fuzz(&[b"TXLOOMH\x01", bytes].concat(), &[Format::Binary]));

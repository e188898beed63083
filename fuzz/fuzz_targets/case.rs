//! Case files: any text is read or refused, and what was read survives printing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use txloom_core::case;

fuzz_target!(|text: &str| {
    let Ok(read) = case::parse(text) else { return };
    let printed = case::print::print(&read);
    let again = case::parse(&printed).expect("what was printed can be read");
    assert_eq!(case::print::print(&again), printed, "printing is stable");
});

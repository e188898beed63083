//! Profiles and known behaviours: any text is read or refused, and a profile that was read survives printing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use txloom_core::finding::known::Known;
use txloom_core::generate::features::FEATURES;
use txloom_core::generate::profile;

fuzz_target!(|text: &str| {
    let _ = Known::parse(text, "known.toml");
    let Ok(model) = profile::read(text, "profile.toml") else { return };
    let printed = profile::print(&model);
    let again = profile::read(&printed, "profile.toml").expect("what was printed can be read");
    assert!(FEATURES.iter().all(|feature| again.choice(feature) == model.choice(feature)), "nothing is lost");
});

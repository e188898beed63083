//! Isolation tests on a real server, and their transcripts.

use std::path::PathBuf;
use std::sync::Mutex;

use txloom_core::formats::spec;

use super::*;
use crate::servers::testing::sweep_up_after_us;

/// One server for all tests of this file.
static HARNESS: Mutex<Option<IsolationHarness>> = Mutex::new(None);

fn transcript(name: &str, text: &str) -> String {
    let mut harness = HARNESS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let harness = harness.get_or_insert_with(|| {
        sweep_up_after_us();
        IsolationHarness::start("postgres", &Binaries::Newest).unwrap()
    });
    let spec = spec::parse(text).unwrap_or_else(|error| panic!("{name}:{error}"));
    let mut bytes = Vec::new();
    harness.run(name, &spec, Duration::from_secs(20), |piece| bytes.extend_from_slice(piece)).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Runs every spec of the folder that a variable names, and compares with the transcripts beside them.
#[test]
fn samples_print_their_transcripts() {
    let Some(folder) = std::env::var_os("TXLOOM_SPEC_SAMPLES").map(PathBuf::from) else { return };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "spec"));
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy();
        let printed = transcript(&name, &std::fs::read_to_string(file).unwrap());
        if printed != std::fs::read_to_string(file.with_extension("out")).unwrap() {
            wrong.push(name.to_string());
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "of {} specs", files.len());
}

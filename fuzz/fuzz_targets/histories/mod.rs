//! What every parser of histories must stand: any bytes are read or refused; what was read can be kept, judged and told.

use txloom_core::history::check::Checker;
use txloom_core::history::explain;
use txloom_core::history::formats::{self, Format, binary};
use txloom_core::history::survey::Survey;

/// Longer histories are only read: judging them takes too long.
const JUDGED_MAX: usize = 6;

/// Reads the bytes in each of the formats.
pub fn fuzz(bytes: &[u8], formats: &[Format]) {
    for format in formats {
        let Ok(read) = formats::read_as(bytes, *format) else { continue };
        let kept = formats::read(&binary::write(&read.history, read.format), "").expect("what was kept can be read");
        assert_eq!(kept, read, "what was kept is the same");
        let _ = formats::write(&read.history, *format);
        if read.history.len() > JUDGED_MAX {
            continue;
        }
        let Ok(checker) = Checker::new(&read.history) else { continue };
        for found in Survey::of(&read.history, &checker, &|| false).anomalies {
            let story = explain::tell(&read.history, &checker.facts, &found.example, "session");
            assert!(!story.explanation.however.is_empty(), "there is a reason");
        }
    }
}

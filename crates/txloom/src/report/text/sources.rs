//! The sources that pictures are drawn of.
//!
//! Of a log only some lines are kept, in runs of neighbours. Each run is a source of its own, whose first line has the
//! number that it has in the file.

use std::collections::HashMap;
use std::fmt;

use ariadne::{Cache, Source};

use crate::analyze::SourceFile;

/// A run of lines of a file, by where it begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Lines {
    pub(super) file: String,
    pub(super) start: usize,
}

/// What is drawn from.
pub(super) struct Sources<'a> {
    files: &'a [SourceFile],
    drawn: HashMap<Lines, Source<String>>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(files: &'a [SourceFile]) -> Sources<'a> {
        Sources { files, drawn: HashMap::new() }
    }
}

impl Cache<Lines> for Sources<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &Lines) -> Result<&Source<String>, impl fmt::Debug> {
        let files = self.files;
        let source = self.drawn.entry(id.clone()).or_insert_with(|| {
            let file = files.iter().find(|file| file.name == id.file);
            let (start, end, line) = file.map_or((0, 0, 1), |file| file.block(id.start));
            let text = file.and_then(|file| file.text.get(start..end)).unwrap_or_default();
            Source::from(text.to_string()).with_display_line_offset(line.saturating_sub(1))
        });
        Ok::<_, fmt::Error>(source)
    }

    fn display<'i>(&self, id: &'i Lines) -> Option<impl fmt::Display + 'i> {
        Some(id.file.clone())
    }
}

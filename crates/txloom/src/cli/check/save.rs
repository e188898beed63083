//! Histories into files: the ending of the name says in which format.

use std::path::Path;

use txloom_core::history::History;
use txloom_core::history::formats::{self, FORMATS, Format, binary};

use super::super::failure::Failure;
use crate::files::{FileError, write};

/// The format that a file's ending names. Of formats that share an ending it is the first one of the table.
pub(crate) fn format_of(path: &Path) -> Result<Format, Failure> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    FORMATS.iter().find(|row| row.extensions.contains(&ending.as_str())).map(|row| row.format).ok_or_else(|| {
        let mut known: Vec<String> = Vec::new();
        for ending in FORMATS.iter().flat_map(|row| row.extensions).map(|ending| format!(".{ending}")) {
            if !known.contains(&ending) {
                known.push(ending);
            }
        }
        let file = path.display();
        Failure::bad_input(format!(
            "cannot save a history to {file}: its ending does not tell in which format (known are {}; .txh is read fastest)",
            known.join(", ")
        ))
    })
}

/// Writes a history. `origin` is the format that it was read from: ours remembers it, and with it what levels mean.
pub(crate) fn save(path: &Path, history: &History, origin: Format) -> Result<(), Failure> {
    let cannot = |why: String| Failure::bad_input(format!("cannot save the history to {}: {why}", path.display()));
    let bytes = match format_of(path)? {
        Format::Binary => binary::write(history, origin),
        format => formats::write(history, format)
            .map_err(|why| cannot(format!("{why}; a file that ends in .txh or .edn can hold every history")))?,
    };
    write::file(path, &bytes).map_err(|error| FileError { attempt: "save the history to", ..error }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_name_formats() {
        let format = |file: &str| format_of(Path::new(file)).ok();
        assert_eq!(format("a/b.txh"), Some(Format::Binary));
        assert_eq!(format("b.NDJSON"), Some(Format::JsonLines));
        assert_eq!(format("b.txt"), Some(Format::Plume));
        assert_eq!((format("b"), format("b.sql"), format(".txh")), (None, None, None));
        let message = format_of(Path::new("b.sql")).unwrap_err().message;
        assert!(message.contains("(known are .edn, .json, .jsonl, .ndjson, .txt, .hist, .txh;"), "{message}");
    }
}

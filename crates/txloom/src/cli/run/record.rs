//! `--record`: what happened becomes what is expected.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use txloom_core::case::print::print;

use super::super::cases::LoadedCase;
use super::super::failure::Failure;
use super::Execution;

/// Refuses a case whose runs cannot be written down in one file.
pub(super) fn check(loaded: &LoadedCase) -> Result<(), Failure> {
    if loaded.is_foreign {
        let file = &loaded.file;
        return Err(Failure::bad_input(format!(
            "cannot record {file}: its format has no room for expectations; `txloom convert --to sql` makes a case of it"
        )));
    }
    if loaded.case.schedules().len() > 1 {
        let file = &loaded.file;
        return Err(Failure::bad_input(format!(
            "cannot record {file}: it has several schedules, and a step has only one set of expectations; split it \
             into one case per schedule"
        )));
    }
    Ok(())
}

/// Rewrites the file of a case. Nothing is written if a target failed, or answered differently the second time.
pub(super) fn write(loaded: &LoadedCase, done: &Execution) -> Result<(), Failure> {
    let Some(recorded) = &done.recorded else { return Ok(()) };
    replace(Path::new(&loaded.file), &print(recorded))
        .map_err(|error| Failure::bad_input(format!("cannot record {}: {error}", loaded.file)))
}

/// Replaces a file's contents at once: whoever reads it sees the old text or the new one, never half of either.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let path = path.canonicalize()?;
    let temporary = beside(&path);
    let written = write_new(&temporary, &path, text).and_then(|()| std::fs::rename(&temporary, &path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

fn write_new(temporary: &Path, original: &Path, text: &str) -> io::Result<()> {
    let mut file = std::fs::File::create(temporary)?;
    file.set_permissions(std::fs::metadata(original)?.permissions())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A name in the same directory, so that renaming does not copy.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.txloom-{}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let directory = std::env::temp_dir().join(format!("txloom-record-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("case.sql");
        std::fs::write(&path, "old").unwrap();
        replace(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert!(replace(&directory.join("missing.sql"), "new").is_err());
        let names: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["case.sql"]);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}

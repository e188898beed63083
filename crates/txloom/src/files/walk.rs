//! The files in a directory, and below it.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{FileError, FileProblem};

/// The maximum number of entries that are looked at in one tree.
const ENTRIES_MAX: usize = 1_000_000;

/// The maximum depth of a tree: beyond it, paths are too long for the system anyway.
const DEPTH_MAX: usize = 256;

/// What a file is on its disk, whatever it is called.
type FileIdentity = (u64, u64);

fn identity(metadata: &Metadata) -> FileIdentity {
    (metadata.dev(), metadata.ino())
}

/// The regular files in a directory and below that are accepted, sorted by their paths.
///
/// Links are followed, once: a directory or file that was met under another name is left out, so that circles end. What
/// is no regular file is skipped, and so is a link that leads nowhere.
pub fn files(directory: &Path, accepts: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, FileError> {
    let mut walk = Walk {
        root: directory,
        accepts: &accepts,
        seen: BTreeSet::new(),
        links: Vec::new(),
        files: Vec::new(),
        entries: 0,
    };
    walk.directory(directory)?;
    // Real names come first, so that what stays does not depend on how a link is called.
    while let Some(link) = walk.links.pop() {
        walk.link(&link)?;
    }
    walk.files.sort();
    Ok(walk.files)
}

struct Walk<'a> {
    root: &'a Path,
    accepts: &'a dyn Fn(&Path) -> bool,
    /// The directories and files that were met.
    seen: BTreeSet<FileIdentity>,
    /// The links that have not been followed yet.
    links: Vec<PathBuf>,
    files: Vec<PathBuf>,
    entries: usize,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path) -> Result<(), FileError> {
        let mut open = vec![(directory.to_path_buf(), 0)];
        while let Some((directory, depth)) = open.pop() {
            let failed = |error| FileError::new("read", &directory, FileProblem::Io(error));
            if !self.seen.insert(identity(&fs::metadata(&directory).map_err(failed)?)) {
                continue;
            }
            let mut entries: Vec<fs::DirEntry> =
                fs::read_dir(&directory).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
            self.entries += entries.len();
            if self.entries > ENTRIES_MAX {
                return Err(FileError::new("read", self.root, FileProblem::TooMany(ENTRIES_MAX)));
            }
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
            for entry in entries {
                let kind = entry.file_type().map_err(failed)?;
                match kind {
                    _ if kind.is_dir() && depth < DEPTH_MAX => open.push((entry.path(), depth + 1)),
                    _ if kind.is_file() => self.file(entry.path(), entry.metadata().ok()),
                    _ if kind.is_symlink() => self.links.push(entry.path()),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn link(&mut self, path: &Path) -> Result<(), FileError> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => self.directory(path),
            Ok(metadata) if metadata.is_file() && !self.seen.contains(&identity(&metadata)) => {
                self.file(path.to_path_buf(), Some(metadata));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn file(&mut self, path: PathBuf, metadata: Option<Metadata>) {
        if (self.accepts)(&path) {
            self.seen.extend(metadata.as_ref().map(identity));
            self.files.push(path);
        }
    }
}

//! Writing: a file appears under its name when it is complete, or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::FileError;

/// Writes a whole file, or replaces one. What is no regular file (a device, a pipe) is written to as it is.
pub fn file(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let mut file = PendingFile::create(path)?;
    file.write_all(content).and_then(|()| file.commit()).map_err(|error| FileError::new("write to", path, error))
}

/// A file that gets its name when it is complete.
///
/// Dropped before [`commit`](PendingFile::commit), it leaves nothing behind, and what stood under its name is as it was.
#[derive(Debug)]
pub struct PendingFile {
    file: File,
    /// Where it is written; `None` if it is no regular file, and is written to directly, or if it has its name.
    temporary: Option<PathBuf>,
    /// The name that it will have.
    target: PathBuf,
}

impl PendingFile {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<PendingFile, FileError> {
        PendingFile::begin(path).map_err(|error| FileError::new("write to", path, error))
    }

    fn begin(path: &Path) -> io::Result<PendingFile> {
        // A link stays a link: what it leads to is replaced.
        let (target, old) = match path.canonicalize() {
            Ok(target) => {
                let metadata = fs::metadata(&target)?;
                (target, Some(metadata))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_path_buf(), None),
            Err(error) => return Err(error),
        };
        match old {
            Some(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Some(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(&target)?;
                Ok(PendingFile { file, temporary: None, target })
            }
            old => PendingFile::beside(target, old.map(|metadata| metadata.permissions())),
        }
    }

    /// A new file in the same directory, so that renaming does not copy.
    fn beside(target: PathBuf, permissions: Option<Permissions>) -> io::Result<PendingFile> {
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            // Renaming would replace what its owner has protected.
            File::options().write(true).open(&target)?;
        }
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = target.with_file_name(format!(".{name}.txloom-{}-{count}", std::process::id()));
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        let pending = PendingFile { file, temporary: Some(temporary), target };
        permissions.map_or(Ok(()), |permissions| pending.file.set_permissions(permissions))?;
        Ok(pending)
    }

    /// Gives the file its name.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(temporary) = &self.temporary else { return Ok(()) };
        // Some file systems report a full disk only now.
        self.file.sync_all()?;
        fs::rename(temporary, &self.target)?;
        self.temporary = None;
        Ok(())
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // There is nowhere to say that this failed.
            let _ = fs::remove_file(temporary);
        }
    }
}

//! Files of the user: reading, finding and writing them, with limits.
//!
//! Every file that a command line names comes through here, so that nothing can make txloom wait or grow without end:
//!
//! * a file has a limit of size ([`TEXT_MAX`], [`SOURCE_MAX`]), looked at while it is read, since sizes lie (`/proc`)
//! * devices and sockets are refused, but for `/dev/null`; a pipe is read only if it has a writer
//! * [`walk`]: a directory is visited once, however many links lead to it, and only regular files are taken from it
//! * [`write`](mod@write): a file appears under its name when it is complete, or not at all
//!
//! An error names the file ([`FileError`]) and says who must act: the user, who named the wrong file, or the machine's
//! administrator.

pub mod walk;
pub mod write;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;

/// The maximum size of a file that is read as a whole: cases, schemas, dumps, profiles.
pub const TEXT_MAX: u64 = 32 << 20;

/// The maximum size of a source file in a general language. A syntax tree takes a hundred times the size of its text.
pub const SOURCE_MAX: u64 = 8 << 20;

/// The device numbers of `/dev/null`.
const NULL_DEVICE: (u32, u32) = (1, 3);

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempt} {}: {problem}", path.display())]
pub struct FileError {
    /// What was attempted: `read`, `write to`.
    pub attempt: &'static str,
    /// The file, as the user named it.
    pub path: PathBuf,
    /// The reason.
    pub problem: FileProblem,
}

/// The reason why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// The system refused: it may be missing, or a disk may be full.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Neither a regular file nor a pipe: the user named the wrong thing.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// A named pipe without a writer: reading would wait for ever.
    #[error("it is a pipe that nobody writes to")]
    SilentPipe,
    /// More than the limit.
    #[error("it has more than {} MB{}", limit >> 20, with_advice(.advice))]
    TooLarge {
        /// The limit, in bytes.
        limit: u64,
        /// What to do instead; may be empty.
        advice: &'static str,
    },
    /// Bytes that are no UTF-8.
    #[error("it is not UTF-8 text")]
    NotText,
    /// A directory tree with more files than anybody means.
    #[error("more than {0} files are in it; name a directory further down")]
    TooMany(usize),
}

fn with_advice(advice: &str) -> String {
    if advice.is_empty() { String::new() } else { format!("; {advice}") }
}

impl FileError {
    /// An error at a path.
    pub fn new(attempt: &'static str, path: &Path, problem: impl Into<FileProblem>) -> FileError {
        FileError { attempt, path: path.to_path_buf(), problem: problem.into() }
    }

    /// True if another file name or other content would help; false if the machine is at fault (a full disk, missing
    /// permissions, a broken device).
    pub fn is_bad_input(&self) -> bool {
        match &self.problem {
            FileProblem::Io(error) => {
                let is_name = matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::IsADirectory
                        | io::ErrorKind::InvalidInput
                        | io::ErrorKind::InvalidFilename
                );
                is_name || is_loop(error)
            }
            _ => true,
        }
    }
}

/// A link that leads to itself.
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Opens a file for reading: a regular one, a pipe with a writer, or `/dev/null`.
pub fn open(path: &Path) -> Result<File, FileError> {
    let failed = |error: io::Error| FileError::new("read", path, error);
    // Without O_NONBLOCK, opening a pipe waits for its writer, and some files of /proc wait for ever.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC).bits();
    let file = File::options().read(true).custom_flags(flags as i32).open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let kind = metadata.file_type();
    let other = match () {
        () if kind.is_file() => return Ok(file),
        () if kind.is_fifo() => return opened_pipe(file, path),
        () if kind.is_char_device() && numbers(metadata.rdev()) == NULL_DEVICE => return Ok(file),
        () if kind.is_dir() => "a directory",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(FileError::new("read", path, FileProblem::NotAFile(other)))
}

/// The major and minor number of a device.
fn numbers(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// A pipe that has a writer, or has had one and holds what was written.
fn opened_pipe(file: File, path: &Path) -> Result<File, FileError> {
    let failed = |error: Errno| FileError::new("read", path, io::Error::from(error));
    let (_end, copy) = rustix::pipe::pipe().map_err(failed)?;
    // Copying takes nothing away. An empty pipe answers "try again" as long as somebody may still write.
    match rustix::pipe::tee(&file, &copy, 1, SpliceFlags::NONBLOCK) {
        Ok(0) => return Err(FileError::new("read", path, FileProblem::SilentPipe)),
        Ok(_) | Err(Errno::AGAIN) => {}
        Err(error) => return Err(failed(error)),
    }
    let flags = rustix::fs::fcntl_getfl(&file).map_err(failed)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(failed)?;
    Ok(file)
}

/// Reads a whole file of at most so many bytes.
pub fn read_bytes(path: &Path, limit: u64, advice: &'static str) -> Result<Vec<u8>, FileError> {
    read_from(open(path)?, limit, advice).map_err(|problem| FileError::new("read", path, problem))
}

/// Reads a whole text of at most [`TEXT_MAX`] bytes.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    text(read_bytes(path, TEXT_MAX, "")?).map_err(|problem| FileError::new("read", path, problem))
}

/// Reads everything that there is to read, if that is at most so many bytes.
pub fn read_from(source: impl Read, limit: u64, advice: &'static str) -> Result<Vec<u8>, FileProblem> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(FileProblem::TooLarge { limit, advice });
    }
    Ok(bytes)
}

/// The text that bytes are.
pub fn text(bytes: Vec<u8>) -> Result<String, FileProblem> {
    String::from_utf8(bytes).map_err(|_| FileProblem::NotText)
}

/// The first bytes of a file; empty if it cannot be read.
pub fn beginning(path: &Path, count: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Whoever reads the whole file will say what is wrong with it.
    let _ = open_regular(path).and_then(|file| file.take(count).read_to_end(&mut bytes).ok());
    bytes
}

/// A regular file: reading the beginning of anything else would take it away.
fn open_regular(path: &Path) -> Option<File> {
    let metadata = std::fs::metadata(path).ok()?;
    metadata.is_file().then(|| open(path).ok())?
}

//! What a server wrote to its log: the last lines for people, and every new line for who must know at once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// How many lines of a log a report shows.
pub const REPORT_LINES: usize = 15;

/// How far from its end a log is read to find them.
const REPORT_BYTES: u64 = 16 * 1024;

/// A log that has grown beyond this is emptied between two cases.
const SIZE_MAX: u64 = 8 * 1024 * 1024;

/// Opens a log for a server to write to, in a directory that the server cannot write to. Appending, so that it can be
/// emptied while the server has it open.
pub fn create(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(path)
}

/// The last lines of a log; none if it cannot be read.
pub fn last_lines(path: &Path) -> Vec<String> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let start = file.metadata()?.len().saturating_sub(REPORT_BYTES);
        file.seek(SeekFrom::Start(start))?;
        let mut end = Vec::new();
        file.read_to_end(&mut end)?;
        Ok(end)
    };
    let text = String::from_utf8_lossy(&read().unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(REPORT_LINES)..].iter().map(|line| (*line).to_string()).collect()
}

/// Empties the log if it has grown large: a long hunt must not fill the disk.
pub fn trim(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.len() > SIZE_MAX { OpenOptions::new().write(true).open(path)?.set_len(0) } else { Ok(()) }
}

/// Reads a growing log, each line once.
#[derive(Debug)]
pub struct LogReader {
    file: File,
    offset: u64,
    /// A line whose end has not been written yet.
    unfinished: Vec<u8>,
}

impl LogReader {
    /// Begins at the present end of the log: what was written before is none of this reader's business.
    pub fn at_end(path: &Path) -> io::Result<LogReader> {
        let file = File::open(path)?;
        let offset = file.metadata()?.len();
        Ok(LogReader { file, offset, unfinished: Vec::new() })
    }

    /// Skips what has been written up to now.
    pub fn skip_to_end(&mut self) -> io::Result<()> {
        self.unfinished.clear();
        self.offset = self.file.metadata()?.len();
        Ok(())
    }

    /// The lines that were completed since the last call.
    pub fn new_lines(&mut self) -> io::Result<Vec<String>> {
        let size = self.file.metadata()?.len();
        if size < self.offset {
            self.offset = 0;
            self.unfinished.clear();
        }
        while self.offset < size {
            let mut buffer = [0; 8192];
            let count = self.file.read_at(&mut buffer, self.offset)?;
            if count == 0 {
                break;
            }
            self.offset += count as u64;
            self.unfinished.extend_from_slice(&buffer[..count]);
        }
        let Some(end) = self.unfinished.iter().rposition(|byte| *byte == b'\n') else { return Ok(Vec::new()) };
        let rest = self.unfinished.split_off(end + 1);
        let complete = std::mem::replace(&mut self.unfinished, rest);
        Ok(String::from_utf8_lossy(&complete).lines().map(str::to_string).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::ScratchDir;
    use super::*;
    use std::io::Write;

    #[test]
    fn every_line_is_read_once_and_whole() {
        let scratch = ScratchDir::create().unwrap();
        let path = scratch.path().join("log");
        let mut log = create(&path).unwrap();
        writeln!(log, "before").unwrap();
        let mut reader = LogReader::at_end(&path).unwrap();
        assert!(reader.new_lines().unwrap().is_empty());
        write!(log, "one\ntw").unwrap();
        assert_eq!(reader.new_lines().unwrap(), ["one"]);
        writeln!(log, "o").unwrap();
        assert_eq!(reader.new_lines().unwrap(), ["two"]);
        assert!(reader.new_lines().unwrap().is_empty());
        assert_eq!(last_lines(&path), ["before", "one", "two"]);
        write!(log, "three\nfo").unwrap();
        reader.skip_to_end().unwrap();
        writeln!(log, "ur\nfive").unwrap();
        assert_eq!(reader.new_lines().unwrap(), ["ur", "five"]);
    }

    #[test]
    fn a_log_that_was_emptied_is_read_from_its_start() {
        let scratch = ScratchDir::create().unwrap();
        let path = scratch.path().join("log");
        let mut log = create(&path).unwrap();
        let mut reader = LogReader::at_end(&path).unwrap();
        log.write_all(&vec![b'x'; SIZE_MAX as usize + 1]).unwrap();
        reader.new_lines().unwrap();
        trim(&path).unwrap();
        assert!(reader.new_lines().unwrap().is_empty());
        writeln!(log, "after").unwrap();
        assert_eq!(reader.new_lines().unwrap(), ["after"]);
        trim(&path).unwrap();
        assert_eq!(last_lines(&path), ["after"]);
    }

    #[test]
    fn a_report_shows_the_end_of_the_log() {
        let scratch = ScratchDir::create().unwrap();
        let path = scratch.path().join("log");
        let text: String = (0..3000).map(|n| format!("line {n}\n")).collect();
        fs::write(&path, text).unwrap();
        let lines = last_lines(&path);
        assert_eq!(lines.len(), REPORT_LINES);
        assert_eq!(lines.last().unwrap(), "line 2999");
        assert!(last_lines(&scratch.path().join("absent")).is_empty());
    }
}

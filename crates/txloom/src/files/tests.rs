use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::write::PendingFile;
use super::*;

/// A directory that goes away with the test.
struct TestDirectory(PathBuf);

impl TestDirectory {
    fn new() -> TestDirectory {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("txloom-files-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        TestDirectory(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn problem(path: &Path) -> String {
    read_text(path).unwrap_err().to_string()
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let dir = TestDirectory::new();
    assert_eq!(problem(Path::new("/dev/zero")), "cannot read /dev/zero: it is a device, not a file");
    assert!(problem(&dir.0).ends_with("it is a directory, not a file"));
    assert!(problem(&dir.pipe("silent")).ends_with("it is a pipe that nobody writes to"));
    assert_eq!(read_text(Path::new("/dev/null")).unwrap(), "");
    symlink("loop", dir.path("loop")).unwrap();
    assert!(read_text(&dir.path("loop")).unwrap_err().is_bad_input());
}

#[test]
fn a_pipe_with_a_writer_is_read() {
    let dir = TestDirectory::new();
    let path = dir.pipe("pipe");
    // Opening both ends does not wait for anybody.
    let mut writer = File::options().read(true).write(true).open(&path).unwrap();
    writer.write_all(b"text").unwrap();
    let reader = open(&path).unwrap();
    drop(writer);
    assert_eq!(read_from(reader, 100, "").unwrap(), b"text");
}

#[test]
fn sizes_are_limited_while_reading() {
    let path = TestDirectory::new();
    std::fs::write(path.path("a"), [b'x'; 11]).unwrap();
    assert_eq!(read_bytes(&path.path("a"), 11, "").unwrap().len(), 11);
    let error = read_bytes(&path.path("a"), 10, "leave something out").unwrap_err();
    assert!(error.to_string().ends_with("it has more than 0 MB; leave something out"), "{error}");
    assert!(error.is_bad_input());
}

#[test]
fn links_are_followed_once() {
    let dir = TestDirectory::new();
    std::fs::create_dir_all(dir.path("a/b")).unwrap();
    std::fs::write(dir.path("a/b/one.sql"), "").unwrap();
    std::fs::write(dir.path("two.sql"), "").unwrap();
    symlink(&dir.0, dir.path("a/up")).unwrap();
    symlink(dir.path("a"), dir.path("again")).unwrap();
    symlink(dir.path("two.sql"), dir.path("a/three.sql")).unwrap();
    symlink("nowhere", dir.path("a/four.sql")).unwrap();
    dir.pipe("five.sql");
    let found = walk::files(&dir.0, |path| path.extension().is_some_and(|extension| extension == "sql")).unwrap();
    assert_eq!(found, [dir.path("a/b/one.sql"), dir.path("two.sql")]);
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let dir = TestDirectory::new();
    let path = dir.path("report");
    std::fs::write(&path, "old").unwrap();
    let mut pending = PendingFile::create(&path).unwrap();
    pending.write_all(b"half").unwrap();
    drop(pending);
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), dir.names().len()), ("old", 1));
    write::file(&path, b"new").unwrap();
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), dir.names().len()), ("new", 1));
}

#[test]
fn links_and_devices_are_written_through() {
    let dir = TestDirectory::new();
    std::fs::write(dir.path("target"), "old").unwrap();
    symlink("target", dir.path("link")).unwrap();
    write::file(&dir.path("link"), b"new").unwrap();
    assert_eq!(std::fs::read_to_string(dir.path("target")).unwrap(), "new");
    assert!(dir.path("link").is_symlink());
    write::file(Path::new("/dev/null"), b"gone").unwrap();
    let error = write::file(Path::new("/dev/full"), b"too much").unwrap_err();
    assert!(error.to_string().starts_with("cannot write to /dev/full: "), "{error}");
    assert!(!error.is_bad_input());
    assert!(write::file(&dir.path("no/such/file"), b"").unwrap_err().is_bad_input());
    assert_eq!(dir.names(), ["link", "target"]);
}

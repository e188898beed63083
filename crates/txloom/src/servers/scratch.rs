//! Scratch directories: where a private server lives, and how the leftovers of a killed owner are found.
//!
//! A scratch directory is called `txloom-PID-N`, lies in the temporary directory (or in memory), and holds a file `lock`
//! that its owner keeps locked (`flock`) for as long as it lives. The kernel releases the lock however the owner ends, so a
//! directory whose lock is free has no owner any more, whoever has got its process number since.
//!
//! ```text
//!   create:  mkdir txloom-PID-N.new → lock file, locked → rename to txloom-PID-N
//!   remove:  rename to txloom-PID-N.gone → remove what is in it
//!   sweep:   lock file is ours and free → is it still the same file? → end the directory's processes → remove
//! ```
//!
//! The first rename is what makes a directory visible, and by then it is locked: a sweeper can never mistake a
//! directory that is being made for one that was left. Two sweepers cannot both have the lock; one that got the lock of
//! a file which the other one has removed meanwhile sees that the path names another file, or none, and goes on. The
//! second rename marks a directory that nobody needs, so that who is killed while removing it is swept up after, too.
//!
//! The temporary directory is everybody's, and we may be root. So a directory counts as ours only by a lock file that
//! belongs to *us* and is no link; names inside a directory are never followed when it is removed; and processes are
//! found by the directory's name, not by what somebody may have put in its place.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::ServerOptions;
use super::postgres;
use super::process;
use super::user::ServerUser;

/// The file whose lock says that the owner lives.
const LOCK: &str = "lock";

/// What the lock file says, so that a directory of somebody else's is never taken for ours.
const SIGNATURE: &str = "txloom scratch directory\n";

/// The longest directory that leaves room for `/txloom-PID-N/SOCKET` in the 107 bytes of a socket address.
const BASE_LENGTH_MAX: usize = 60;

/// Where Linux keeps files in memory.
const MEMORY_DIR: &str = "/dev/shm";

/// What `statfs` says of a file system in memory.
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// A server is put into memory only if this much is free there.
const MEMORY_ROOM_MIN: u64 = 2 << 30;

/// After this time, a directory that is still being made was left by somebody who was killed while making it.
const UNFINISHED_AGE_MAX: Duration = Duration::from_secs(600);

/// A directory that is removed when this value is dropped, or else by the next [`sweep`] of any txloom.
#[derive(Debug)]
pub struct ScratchDir {
    path: PathBuf,
    /// Locked for as long as it is open.
    _lock: File,
    /// Whether it outlives us.
    kept: bool,
}

impl ScratchDir {
    /// Makes a new directory that only its owner can enter. Servers that run as another user own it.
    pub fn create(user: Option<&ServerUser>) -> io::Result<ScratchDir> {
        let base = base_dir();
        let base = if user.is_some() && !is_open_to_all(&base) { PathBuf::from("/tmp") } else { base };
        ScratchDir::create_in(&base, user)
    }

    /// The same, in memory if there is room: a server that makes and removes many small tables is three times as fast
    /// there, and what is thrown away need not reach a disk. (Memory survives the server, so it can be killed.)
    pub fn create_in_memory(user: Option<&ServerUser>) -> io::Result<ScratchDir> {
        let in_memory = memory_dir().filter(|_| has_room()).and_then(|base| ScratchDir::create_in(&base, user).ok());
        in_memory.map_or_else(|| ScratchDir::create(user), Ok)
    }

    /// The directory of a server. One that is to be durable lies on a disk: MariaDB, for one, takes memory for a disk that
    /// survives everything, and then loses nothing that it should.
    pub(super) fn for_server(options: &ServerOptions, user: Option<&ServerUser>) -> io::Result<ScratchDir> {
        if options.durable { ScratchDir::create(user) } else { ScratchDir::create_in_memory(user) }
    }

    fn create_in(base: &Path, user: Option<&ServerUser>) -> io::Result<ScratchDir> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Processes are recognised by their working directory, which the system tells without links.
        let base = base.canonicalize()?;
        loop {
            let name = format!("txloom-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let (path, unfinished) = (base.join(&name), base.join(format!("{name}.new")));
            match DirBuilder::new().mode(0o700).create(&unfinished) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            let lock = new_lock(&unfinished.join(LOCK))?;
            if let Some(user) = user {
                user.own(&unfinished)?;
            }
            match fs::rename(&unfinished, &path) {
                Ok(()) => return Ok(ScratchDir { path, _lock: lock, kept: false }),
                Err(error) => remove(&unfinished).and(match error.kind() {
                    // A process that had our number before us left this: the next sweep takes it.
                    io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => Ok(()),
                    _ => Err(error),
                })?,
            }
        }
    }

    /// Leaves the directory to the user: it is neither removed when this value is dropped nor swept later.
    pub fn keep(&mut self) -> io::Result<()> {
        fs::rename(self.path.join(LOCK), self.path.join("kept"))?;
        self.kept = true;
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // Nobody is there to be told; what could not be removed now is removed by the next sweep.
        let _ = remove(&self.path);
    }
}

/// The temporary directory, unless sockets in it would have too long a name.
fn base_dir() -> PathBuf {
    let base = std::env::temp_dir();
    if base.as_os_str().len() <= BASE_LENGTH_MAX { base } else { PathBuf::from("/tmp") }
}

/// A directory that is kept in memory; none if the user said where temporary files belong.
fn memory_dir() -> Option<PathBuf> {
    let is_memory = || rustix::fs::statfs(MEMORY_DIR).is_ok_and(|stat| stat.f_type as u64 == TMPFS_MAGIC);
    (std::env::var_os("TMPDIR").is_none() && is_memory()).then(|| PathBuf::from(MEMORY_DIR))
}

/// Whether the memory directory has room for a server.
fn has_room() -> bool {
    let room = |stat: rustix::fs::StatVfs| stat.f_bavail.saturating_mul(stat.f_frsize);
    rustix::fs::statvfs(MEMORY_DIR).is_ok_and(|stat| room(stat) >= MEMORY_ROOM_MIN)
}

/// Whether another user can reach what is in a directory.
fn is_open_to_all(dir: &Path) -> bool {
    dir.ancestors().all(|ancestor| fs::metadata(ancestor).is_ok_and(|metadata| metadata.mode() & 0o001 != 0))
}

fn new_lock(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    file.write_all(SIGNATURE.as_bytes())?;
    file.try_lock()?;
    Ok(file)
}

/// Removes the directory with all that is in it.
fn remove(dir: &Path) -> io::Result<()> {
    let gone = dir.with_extension("gone");
    fs::rename(dir, &gone)?;
    fs::remove_dir_all(&gone)
}

/// Ends the servers and removes the directories that killed owners left. Whatever cannot be inspected (another user's
/// directory, say) is left alone. Returns the directories that were removed.
pub fn sweep() -> Vec<PathBuf> {
    let mut bases: Vec<PathBuf> = [Some(base_dir()), memory_dir()].into_iter().flatten().collect();
    if !bases.contains(&PathBuf::from("/tmp")) {
        bases.push(PathBuf::from("/tmp"));
    }
    bases.iter().flat_map(|base| sweep_in(base)).collect()
}

/// [`sweep`], in a given directory.
pub(crate) fn sweep_in(base: &Path) -> Vec<PathBuf> {
    let Ok(base) = base.canonicalize() else { return Vec::new() };
    let Ok(entries) = fs::read_dir(base) else { return Vec::new() };
    let names = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_scratch_name));
    names.map(|entry| entry.path()).filter(|path| sweep_one(path).unwrap_or(false)).collect()
}

/// `txloom-PID-N`, also with `.new` or `.gone`, and nothing else that happens to begin with our name.
fn is_scratch_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.strip_suffix(".new").or_else(|| name.strip_suffix(".gone")).unwrap_or(name);
    name.strip_prefix("txloom-")
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(pid, count)| is_number(pid) && is_number(count))
}

/// Removes one directory if its owner is gone; says whether it did.
fn sweep_one(dir: &Path) -> io::Result<bool> {
    match dir.extension().and_then(OsStr::to_str) {
        Some("gone") => return fs::remove_dir_all(dir).map(|()| true),
        Some("new") if !is_old(dir)? => return Ok(false),
        _ => {}
    }
    let path = dir.join(LOCK);
    let lock = OpenOptions::new().read(true).custom_flags(OFlags::NOFOLLOW.bits() as i32).open(&path)?;
    let locked = lock.metadata()?;
    let is_ours = locked.uid() == geteuid().as_raw() && io::read_to_string(&lock)? == SIGNATURE;
    if !is_ours || lock.try_lock().is_err() {
        return Ok(false);
    }
    let named = fs::symlink_metadata(&path)?;
    if (locked.dev(), locked.ino()) != (named.dev(), named.ino()) {
        return Ok(false);
    }
    process::end_servers_in(dir);
    postgres::free_shared_memory(&dir.join("data"));
    remove(dir)?;
    Ok(true)
}

fn is_old(dir: &Path) -> io::Result<bool> {
    let age = fs::metadata(dir)?.modified()?.elapsed().unwrap_or_default();
    Ok(age > UNFINISHED_AGE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_directory_lives_as_long_as_its_owner() {
        let scratch = ScratchDir::create(None).unwrap();
        let path = scratch.path().to_path_buf();
        fs::create_dir_all(path.join("data/deep")).unwrap();
        fs::write(path.join("data/deep/file"), "x").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        assert!(!sweep_one(&path).unwrap(), "its lock is held, by this very process");
        drop(scratch);
        assert!(!path.exists());
    }

    /// A base directory for one test, so that no other test's directories are swept.
    fn with_base(name: &str, test: impl FnOnce(&Path)) {
        let scratch = ScratchDir::create(None).unwrap();
        let base = scratch.path().join(name);
        fs::create_dir(&base).unwrap();
        test(&base);
    }

    fn left_behind(base: &Path, name: &str, signature: &str) -> PathBuf {
        let dir = base.join(name);
        fs::create_dir_all(dir.join("data")).unwrap();
        fs::write(dir.join(LOCK), signature).unwrap();
        dir
    }

    #[test]
    fn what_a_killed_owner_left_is_swept() {
        with_base("left", |base| {
            let dir = left_behind(base, "txloom-1-0", SIGNATURE);
            assert_eq!(sweep_in(base), std::slice::from_ref(&dir));
            assert!(!dir.exists());
            assert!(sweep_in(base).is_empty());
            fs::create_dir_all(base.join("txloom-1-1.gone/data")).unwrap();
            assert_eq!(sweep_in(base).len(), 1, "its owner was killed while removing it");
            assert_eq!(fs::read_dir(base).unwrap().count(), 0);
        });
    }

    #[test]
    fn what_is_not_ours_or_still_in_use_is_left_alone() {
        with_base("kept", |base| {
            left_behind(base, "txloom-1-0", "somebody else's file\n");
            left_behind(base, "txloom-results", SIGNATURE);
            left_behind(base, "txloom-1-1.new", SIGNATURE);
            let used = left_behind(base, "txloom-1-2", SIGNATURE);
            let lock = File::open(used.join(LOCK)).unwrap();
            lock.try_lock().unwrap();
            fs::create_dir_all(base.join("txloom-1-3/no-lock-file")).unwrap();
            let linked = base.join("txloom-1-4");
            fs::create_dir(&linked).unwrap();
            std::os::unix::fs::symlink(base.join("txloom-results").join(LOCK), linked.join(LOCK)).unwrap();
            std::os::unix::fs::symlink(base.join("txloom-results"), base.join("txloom-1-5.gone")).unwrap();
            sweep_in(base);
            let mut left: Vec<_> = fs::read_dir(base).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            left.sort();
            let expected = ["txloom-1-0", "txloom-1-1.new", "txloom-1-2", "txloom-1-3", "txloom-1-4", "txloom-results"];
            assert_eq!(left, expected, "of the last link, only the link is gone");
        });
    }

    #[test]
    fn many_sweepers_at_once_do_no_harm() {
        with_base("race", |base| {
            for n in 0..50 {
                left_behind(base, &format!("txloom-1-{n}"), SIGNATURE);
            }
            let removed: usize = std::thread::scope(|scope| {
                let sweepers: Vec<_> = (0..4).map(|_| scope.spawn(|| sweep_in(base).len())).collect();
                sweepers.into_iter().map(|sweeper| sweeper.join().unwrap()).sum()
            });
            assert!(removed >= 50, "one that is half removed may be finished by two");
            sweep_in(base);
            assert_eq!(fs::read_dir(base).unwrap().count(), 0);
        });
    }

    #[test]
    fn names_are_matched_exactly() {
        for (name, expected) in [
            ("txloom-12-0", true),
            ("txloom-12-0.new", true),
            ("txloom-12-0.gone", true),
            ("txloom-12", false),
            ("txloom-12-0.old", false),
            ("txloom-12-", false),
            ("txloom-a-0", false),
            ("my-txloom-1-0", false),
        ] {
            assert_eq!(is_scratch_name(name), expected, "{name}");
        }
    }
}

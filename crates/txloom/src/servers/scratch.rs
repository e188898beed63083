//! Scratch directories: where a private server lives, and how the leftovers of a killed owner are found.
//!
//! A scratch directory is called `txloom-PID-N`, lies in the temporary directory (or in memory), and holds a file `lock`
//! that its owner keeps locked (`flock`) for as long as it lives. The kernel releases the lock however the owner ends, so a
//! directory whose lock is free has no owner any more, whoever has got its process number since.
//!
//! ```text
//!   txloom-PID-N/         ours: nobody else can make, rename or remove a name in it
//!     lock
//!     log                 opened by us; the server inherits it
//!     first.sql           what we tell the server, which may read it
//!     home/               the server's: its data, its socket, its temporary files
//! ```
//!
//! A server that runs as another [user](super::user) owns `home` and nothing else. So what a case can plant lies below
//! `home`, and there nothing is ever done with our own rights.
//!
//! ```text
//!   create:  mkdir txloom-PID-N.new → lock file, locked → rename to txloom-PID-N
//!   remove:  rename to txloom-PID-N.gone → empty `home` with the rights of its owner → remove what is left
//!   sweep:   lock file is ours and free → is it still the same file? → end the directory's processes → remove
//! ```
//!
//! The first rename is what makes a directory visible, and by then it is locked: a sweeper can never mistake a
//! directory that is being made for one that was left. Two sweepers cannot both have the lock; one that got the lock of
//! a file which the other one has removed meanwhile sees that the path names another file, or none, and goes on. The
//! second rename marks a directory that nobody needs, so that who is killed while removing it is swept up after, too.
//!
//! The temporary directory is everybody's, and we may be root. So a directory counts as ours only if it belongs to *us*
//! and is no link; names inside a directory are never followed when it is removed; and processes are found by their user
//! or by the directory's name, not by what somebody may have put in its place.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::geteuid;

use super::guard::Guard;
use super::process::ServerProcesses;
use super::user::ServerUser;
use super::{ServerOptions, files, roots, shared_memory};
use crate::interrupt;

/// The file whose lock says that the owner lives.
const LOCK: &str = "lock";

/// What the lock file says, so that a directory of somebody else's is never taken for ours.
const SIGNATURE: &str = "txloom scratch directory\n";

/// The directory that belongs to the server.
const HOME: &str = "home";

/// The longest directory that leaves room for `/txloom-PID-N/home/SOCKET` in the 107 bytes of a socket address.
const BASE_LENGTH_MAX: usize = 60;

/// Where Linux keeps files in memory.
const MEMORY_DIR: &str = "/dev/shm";

/// What `statfs` says of a file system in memory.
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// A server is put into memory only if this much is free there.
const MEMORY_ROOM_MIN: u64 = 2 << 30;

/// After this time, a directory that is still being made was left by somebody who was killed while making it, even if a
/// process has the number of its maker.
const UNFINISHED_AGE_MAX: Duration = Duration::from_secs(600);

/// The directories of this process that are to be removed, with the users of their servers.
static LIVE: Mutex<Vec<(PathBuf, Option<ServerUser>)>> = Mutex::new(Vec::new());

/// A directory that is removed when this value is dropped, or else by the next [`sweep`] of any txloom.
#[derive(Debug)]
pub struct ScratchDir {
    path: PathBuf,
    /// Locked for as long as it is open.
    _lock: File,
    /// Whom its `home` belongs to, if not to us.
    user: Option<ServerUser>,
    /// Who ends the processes that live here, should we be killed.
    guard: Option<Guard>,
    /// Whether it outlives us.
    kept: bool,
}

impl ScratchDir {
    /// Makes a new directory for files of ours, which nobody else can enter.
    pub fn create() -> io::Result<ScratchDir> {
        ScratchDir::create_in(&base_dir(), None)
    }

    /// Makes the directory of a server, with a user and a guard for it. In memory if there is room: a server that makes
    /// and removes many small tables is three times as fast there, and what is thrown away need not reach a disk. (Memory
    /// survives the server, so it can be killed.) A durable server lies on a disk: MariaDB, for one, takes memory for a
    /// disk that survives everything, and then loses nothing that it should.
    pub fn for_server(options: &ServerOptions) -> io::Result<ScratchDir> {
        let user = options.user.clone().map_or_else(ServerUser::for_server, |user| Ok(Some(user)))?;
        let mut scratch = match options.durable {
            true => ScratchDir::create_on_disk(user),
            false => ScratchDir::create_in_memory(user),
        }?;
        scratch.guard = Some(Guard::over(&scratch.path, scratch.user.as_ref())?);
        Ok(scratch)
    }

    fn create_in_memory(user: Option<ServerUser>) -> io::Result<ScratchDir> {
        let base = memory_dir().filter(|_| has_room());
        let in_memory = base.and_then(|base| ScratchDir::create_in(&base, Some(user.clone())).ok());
        in_memory.map_or_else(|| ScratchDir::create_on_disk(user), Ok)
    }

    fn create_on_disk(user: Option<ServerUser>) -> io::Result<ScratchDir> {
        let base = base_dir();
        let base = if user.is_some() && !is_open_to_all(&base) { PathBuf::from("/tmp") } else { base };
        ScratchDir::create_in(&base, Some(user))
    }

    /// `server` is there if a server is to live in the directory; then it holds its user.
    fn create_in(base: &Path, server: Option<Option<ServerUser>>) -> io::Result<ScratchDir> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Processes are recognised by their working directory, which the system tells without links.
        let base = base.canonicalize()?;
        // Without the list, the next txloom finds the directory only if it looks in the same place.
        let _ = roots::remember(&base);
        loop {
            let name = format!("txloom-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let (path, unfinished) = (base.join(&name), base.join(format!("{name}.new")));
            match DirBuilder::new().mode(0o700).create(&unfinished) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            let user = server.clone().flatten();
            let made = furnish(&unfinished, server.as_ref()).and_then(|lock| {
                live().push((path.clone(), user.clone()));
                fs::rename(&unfinished, &path).map(|()| lock)
            });
            match made {
                Ok(lock) => return Ok(ScratchDir { path, _lock: lock, user, guard: None, kept: false }),
                Err(error) => {
                    forget(&path);
                    // Another txloom may have taken it for one that was left.
                    let _ = remove(&unfinished, user.as_ref());
                    match error.kind() {
                        // A process that had our number before us left this: the next sweep takes it.
                        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {}
                        io::ErrorKind::NotFound | io::ErrorKind::WouldBlock if base.is_dir() => {}
                        _ => return Err(error),
                    }
                }
            }
        }
    }

    /// Leaves the directory to the user: it is neither removed when this value is dropped nor swept later.
    pub fn keep(&mut self) -> io::Result<()> {
        fs::rename(self.path.join(LOCK), self.path.join("kept"))?;
        self.kept = true;
        Ok(())
    }

    /// Calls the guard off: nothing runs here any more.
    pub(super) fn leave_unguarded(&mut self) {
        self.guard = None;
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that belongs to the server.
    pub fn home(&self) -> PathBuf {
        self.path.join(HOME)
    }

    /// The user that the server runs as, if that is not us.
    pub(super) fn user(&self) -> Option<&ServerUser> {
        self.user.as_ref()
    }

    /// The processes that live here.
    pub(super) fn processes(&self) -> ServerProcesses<'_> {
        ServerProcesses { dir: &self.path, user: self.user.as_ref(), spared: None }
    }

    /// Ends whatever runs here, and empties the directory of the server.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.processes().kill_all();
        files::clear(&self.home(), self.user(), None)
    }
}

impl Drop for ScratchDir {
    /// Removes the directory, unless the user has asked to stop: then what there is to report comes first, and
    /// [`abandon`] removes the directory afterwards.
    fn drop(&mut self) {
        if interrupt::requested() && !self.kept {
            return;
        }
        forget(&self.path);
        if self.kept {
            return;
        }
        // Nobody is there to be told; what could not be removed now is removed by the next sweep.
        let _ = remove(&self.path, self.user.as_ref());
    }
}

/// Makes what a new directory holds; returns its locked lock file.
fn furnish(dir: &Path, server: Option<&Option<ServerUser>>) -> io::Result<File> {
    let lock = new_lock(&dir.join(LOCK))?;
    if let Some(user) = server {
        let home = dir.join(HOME);
        files::make_dir(&home)?;
        if let Some(user) = user {
            user.own(&home)?;
            fs::set_permissions(dir, fs::Permissions::from_mode(0o711))?;
        }
    }
    Ok(lock)
}

fn live() -> std::sync::MutexGuard<'static, Vec<(PathBuf, Option<ServerUser>)>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn forget(path: &Path) {
    live().retain(|(live, _)| live != path);
}

/// Ends all servers of this process and removes all of its directories, for a process that is about to end without
/// dropping what it has.
pub(crate) fn abandon() {
    let abandoned = std::mem::take(&mut *live());
    for (path, user) in abandoned {
        ServerProcesses { dir: &path, user: user.as_ref(), spared: None }.kill_all();
        // What could not be removed is removed by the next sweep.
        let _ = remove(&path, user.as_ref());
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
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    file.try_lock()?;
    file.write_all(SIGNATURE.as_bytes())?;
    Ok(file)
}

/// Removes the directory with all that is in it. Below its `home` that is done with the rights of the server's user.
fn remove(dir: &Path, user: Option<&ServerUser>) -> io::Result<()> {
    let gone = dir.with_extension("gone");
    if gone != dir {
        fs::rename(dir, &gone)?;
    }
    let home = gone.join(HOME);
    if fs::symlink_metadata(&home).is_ok() {
        files::clear(&home, user, None)?;
        fs::remove_dir(&home)?;
    }
    fs::remove_dir_all(&gone)
}

/// Ends the servers and removes the directories that killed owners left. Whatever cannot be inspected (another user's
/// directory, say) is left alone. Returns the directories that were removed.
pub fn sweep() -> Vec<PathBuf> {
    let places = [base_dir(), PathBuf::from("/tmp"), PathBuf::from(MEMORY_DIR)];
    let mut bases: Vec<PathBuf> = places.iter().flat_map(|base| base.canonicalize()).chain(roots::all()).collect();
    bases.sort();
    bases.dedup();
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
    let name = name.strip_suffix(".new").or_else(|| name.strip_suffix(".gone")).unwrap_or(name);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_prefix("txloom-")
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(pid, count)| is_number(pid) && is_number(count))
}

/// Removes one directory if its owner is gone; says whether it did.
fn sweep_one(dir: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(dir)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() {
        return Ok(false);
    }
    let state = dir.extension().and_then(OsStr::to_str);
    if state == Some("new") && !is_abandoned(dir)? {
        return Ok(false);
    }
    match free_lock(&dir.join(LOCK), state.is_some()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && state.is_some() => {}
        Ok(Some(_lock)) => {}
        Ok(None) => return Ok(false),
        Err(error) => return Err(error),
    }
    let user = user_of_home(&dir.join(HOME));
    ServerProcesses { dir, user: user.as_ref(), spared: None }.kill_all();
    shared_memory::free(dir, user.as_ref());
    remove(dir, user.as_ref())?;
    Ok(true)
}

/// The lock file, locked, if it is ours and nobody has it. The file of a directory that was not finished may be empty.
fn free_lock(path: &Path, may_be_empty: bool) -> io::Result<Option<File>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let lock = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let locked = lock.metadata()?;
    let is_plain = locked.is_file() && locked.uid() == geteuid().as_raw() && locked.len() <= SIGNATURE.len() as u64;
    if !is_plain || lock.try_lock().is_err() {
        return Ok(None);
    }
    let says = io::read_to_string(&lock)?;
    let named = fs::symlink_metadata(path)?;
    let is_same = (locked.dev(), locked.ino()) == (named.dev(), named.ino());
    let is_ours = says == SIGNATURE || may_be_empty && says.is_empty();
    Ok((is_same && is_ours).then_some(lock))
}

/// Whom the `home` in a directory of ours was given to, if not to us. Nobody else can have put it there.
fn user_of_home(home: &Path) -> Option<ServerUser> {
    let uid = fs::symlink_metadata(home).ok()?.uid();
    (uid != geteuid().as_raw()).then(|| ServerUser::of_home(uid))
}

/// Whether nobody is making a directory `txloom-PID-N.new` any more.
fn is_abandoned(dir: &Path) -> io::Result<bool> {
    let name = dir.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let maker = name.split('-').nth(1).unwrap_or_default();
    let age = fs::symlink_metadata(dir)?.modified()?.elapsed().unwrap_or_default();
    Ok(age > UNFINISHED_AGE_MAX || !Path::new("/proc").join(maker).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_directory_lives_as_long_as_its_owner() {
        let scratch = ScratchDir::create().unwrap();
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
        let scratch = ScratchDir::create().unwrap();
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
            assert_eq!(left.len(), 7, "{left:?}");
            assert!(base.join("txloom-results").join(LOCK).exists());
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

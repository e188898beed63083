//! The user that servers run as.
//!
//! **Problem.** A case is a program: whoever may run statements as the superuser of a server may start programs as the
//! user of that server, and plant links wherever that user may write. If txloom runs as root, it must neither lend its
//! rights to the server nor follow what the server's user has planted.
//!
//! **Idea.** Root gives every server a user of its own: a number that has no name and owns nothing else on this machine,
//! neither files nor processes. So the server's processes are exactly those of that number, and what they can write is
//! what everybody can write. Files below a directory of that user are only touched with the rights of that user
//! ([`ServerUser::act`]): a planted link leads nowhere where the planter could not go himself.
//!
//! **Limits.** Root of a container with few numbers may have none to give away; then servers share `nobody`, or run as
//! the only user there is.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::lchown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Gid, Uid};
use rustix::thread;

/// The numbers that servers are given, best first. No distribution, directory service or container manager gives these
/// to anybody by default; the second range is for containers that have 65,536 numbers.
const FREE: &[(u32, u32)] = &[(2_000_300_000, 2_147_483_000), (61_184, 65_519)];

/// The user who owns nothing, but under whom others run, too.
const NOBODY: u32 = 65_534;

/// How many numbers are tried before servers share [`NOBODY`].
const TRIES: usize = 64;

/// A user without special rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUser {
    uid: u32,
    gid: u32,
    /// Whether every process of this user belongs to one server.
    dedicated: bool,
}

impl ServerUser {
    /// A user for a new server, if we are root; otherwise, or if root has no other user at hand, we run it ourselves.
    pub fn for_server() -> io::Result<Option<ServerUser>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let (uids, gids) = (NumberMap::read("/proc/self/uid_map"), NumberMap::read("/proc/self/gid_map"));
        let holds = |number: u32| uids.holds(number) && gids.holds(number);
        let taken = taken_numbers();
        for _ in 0..TRIES {
            for (first, last) in FREE {
                let number = first + random()? % (last - first);
                if holds(number) && !taken.contains(&number) {
                    return Ok(Some(ServerUser { uid: number, gid: number, dedicated: true }));
                }
            }
        }
        Ok(ServerUser::nobody(holds))
    }

    /// The user who owns nothing and has a name, if that number can be given away.
    fn nobody(holds: impl Fn(u32) -> bool) -> Option<ServerUser> {
        holds(NOBODY).then_some(ServerUser { uid: NOBODY, gid: NOBODY, dedicated: false })
    }

    /// A user who has a name, for root of a container that may not give one to others.
    pub(super) fn with_name() -> Option<ServerUser> {
        let (uids, gids) = (NumberMap::read("/proc/self/uid_map"), NumberMap::read("/proc/self/gid_map"));
        ServerUser::nobody(|number| uids.holds(number) && gids.holds(number))
    }

    /// The user that a directory was given to.
    pub(super) fn of_home(uid: u32) -> ServerUser {
        let dedicated = FREE.iter().any(|(first, last)| (first..last).contains(&&uid));
        ServerUser { uid, gid: uid, dedicated }
    }

    /// Its number.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Its numbers: user and group.
    pub(super) fn ids(&self) -> (u32, u32) {
        (self.uid, self.gid)
    }

    /// Whether every process of this user belongs to one server.
    pub fn is_dedicated(&self) -> bool {
        self.dedicated
    }

    /// Gives a file or directory to the user. It must lie in a directory that nobody but us can write to.
    pub(crate) fn own(&self, path: &Path) -> io::Result<()> {
        lchown(path, Some(self.uid), Some(self.gid))
    }

    /// Lets the user's group have a file or directory; it stays ours.
    pub(super) fn share(&self, path: &Path) -> io::Result<()> {
        lchown(path, None, Some(self.gid))
    }

    /// Makes the command run as the user.
    pub(super) fn run(&self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }

    /// Does something with the rights of the user and no others: in a thread of its own, since users and rights belong to
    /// threads. Everything that concerns files below a directory of the user is done in this way.
    pub(super) fn act<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        std::thread::scope(|scope| {
            let worker = std::thread::Builder::new().name("as-server-user".to_string());
            let worker = worker.spawn_scoped(scope, || {
                self.become_user()?;
                work()
            })?;
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Changes the effective user of this thread. The real one stays, so that processes of the user cannot send us
    /// signals.
    fn become_user(&self) -> io::Result<()> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        thread::set_thread_groups(&[])?;
        thread::set_thread_res_gid(None, gid, None)?;
        thread::set_thread_res_uid(None, uid, None)?;
        match thread::capabilities(None)?.effective.is_empty() {
            true => Ok(()),
            false => {
                Err(io::Error::other("this system does not take root's rights from those who become another user"))
            }
        }
    }
}

/// [`ServerUser::act`], or the same with our own rights if the server runs as ourselves.
pub(super) fn act_as<T: Send>(user: Option<&ServerUser>, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    match user {
        Some(user) => user.act(work),
        None => work(),
    }
}

/// The name of the user that we are, as the system knows it.
pub fn own_name() -> Option<String> {
    let uid = rustix::process::geteuid().as_raw();
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = passwd.lines().find(|line| line.split(':').nth(2) == Some(&uid.to_string()))?;
    line.split(':').next().map(str::to_string)
}

/// A number that nobody can foresee.
fn random() -> io::Result<u32> {
    let mut bytes = [0; 4];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u32::from_ne_bytes(bytes))
}

/// The numbers of users and groups that have a name or a process.
fn taken_numbers() -> BTreeSet<u32> {
    let files = ["/etc/passwd", "/etc/group"].map(|file| fs::read_to_string(file).unwrap_or_default());
    let named = files.iter().flat_map(|text| text.lines()).filter_map(|line| line.split(':').nth(2)?.parse().ok());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let running = processes.filter_map(|entry| super::process::user_of(&entry.path()));
    named.chain(running).collect()
}

/// The numbers that the system knows here: all of them, or those that a container was given.
struct NumberMap(Vec<(u32, u32)>);

impl NumberMap {
    /// Reads lines of `first outside length`.
    fn read(path: &str) -> NumberMap {
        NumberMap::parse(&fs::read_to_string(path).unwrap_or_default())
    }

    fn parse(text: &str) -> NumberMap {
        let range = |line: &str| {
            let mut numbers = line.split_whitespace().map(|number| number.parse().ok());
            Some((numbers.next()??, numbers.nth(1)??))
        };
        NumberMap(text.lines().filter_map(range).collect())
    }

    fn holds(&self, number: u32) -> bool {
        self.0.iter().any(|(first, length)| number >= *first && number - first < *length)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ScratchDir;
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn containers_have_fewer_numbers() {
        let (all, rootless, alone) = ("0 0 4294967295", " 0 1000 1\n 1 100000 65536", "0 1000 1");
        for (map, number, expected) in [
            (all, 2_100_000_000, true),
            (rootless, 2_100_000_000, false),
            (rootless, 61_500, true),
            (rootless, 65_537, false),
            (alone, 0, true),
            (alone, NOBODY, false),
            ("", 0, false),
        ] {
            assert_eq!(NumberMap::parse(map).holds(number), expected, "{number} in {map:?}");
        }
    }

    #[test]
    fn no_two_servers_have_one_user() {
        let Some(user) = ServerUser::for_server().unwrap() else { return };
        assert!(user.is_dedicated());
        assert_ne!(ServerUser::for_server().unwrap().unwrap(), user);
        assert!(!taken_numbers().contains(&user.uid()));
        assert!(taken_numbers().contains(&0));
    }

    #[test]
    fn what_is_done_as_the_user_is_done_with_no_rights_of_ours() {
        let Some(user) = ServerUser::for_server().unwrap() else { return };
        let scratch = ScratchDir::create().unwrap();
        let (ours, theirs) = (scratch.path().join("ours"), scratch.path().join("theirs"));
        fs::write(&ours, "precious").unwrap();
        fs::create_dir(&theirs).unwrap();
        user.own(&theirs).unwrap();
        fs::set_permissions(scratch.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
        let link = theirs.join("link");
        user.act(|| symlink(&ours, &link)).unwrap();
        let error = user.act(|| fs::write(&link, "overwritten")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&ours).unwrap(), "precious");
        user.act(|| fs::write(theirs.join("file"), "x")).unwrap();
        assert_eq!(fs::metadata(theirs.join("file")).unwrap().uid(), user.uid());
        fs::write(&ours, "still ours").unwrap();
    }
}

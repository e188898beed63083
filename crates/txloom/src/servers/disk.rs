//! A small disk for a private server, which can be filled, and freed again.
//!
//! **Problem.** What a server does when its disk is full can be seen only on a disk that is full, and it must not be the
//! user's. A limit on the size of files is no substitute: it gives another error, and only for files that are long.
//!
//! **Idea.** A file system in memory of limited size. Mounting one is root's privilege, but anybody may be root in a *user
//! namespace* of one's own, and mount what one likes there; nobody else sees it. A helper process makes the namespace and
//! keeps it; the server is started inside:
//!
//! ```text
//!   txloom ── lines ──→ sh, root of a namespace of its own      SCRATCH/data: tmpfs, size=256M
//!     │                  copy DIR · fill · free                      ↑
//!     └── nsenter (the namespace) ── unshare (our user again) ── postgres -D SCRATCH/data
//! ```
//!
//! The second namespace is there because servers refuse to run as root, be it only of a namespace. Files are copied by the
//! helper: nobody outside can make files there, but may read them, through `/proc/PID/root`. When txloom ends, however it
//! ends, the helper's input ends and so does the helper; with the last process in it the file system is gone.
//!
//! **Limits.** Linux with user namespaces, which some distributions and most containers forbid; then this fails, and says
//! why. Programs: `unshare`, `nsenter`, `mount` (util-linux), `cp`, `cat`, `rm`, `find`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::confinement::Network;
use super::files::make_dir;
use super::process;
use super::user::{ServerUser, act_as};
use super::{ScratchDir, ServerError, failed};

/// How large it is: several times of what an empty server needs.
const SIZE: &str = "256m";

/// What the helper does. Its arguments are the mount point and the size.
const SCRIPT: &str = r#"
mount -t tmpfs -o "size=$2,mode=0700" txloom "$1" || exit 1
echo done
while read -r word path; do
    case $word in
        copy) find "$1" -mindepth 1 -delete && cp -R "$path/." "$1" && chmod -R go= "$1" ;;
        # Until there is no more room, which is no failure.
        fill) cat /dev/zero 2>/dev/null > "$1/txloom-ballast" || true ;;
        free) rm -f "$1/txloom-ballast" ;;
    esac && echo done || echo failed
done
"#;

/// A file system in memory that is mounted for one server only.
#[derive(Debug)]
pub(crate) struct SmallDisk {
    helper: Child,
    /// Whoever closes this ends the helper.
    tell: Option<ChildStdin>,
    told: BufReader<ChildStdout>,
    /// Where it is mounted, for those inside.
    mounted: PathBuf,
    user: Option<ServerUser>,
}

impl SmallDisk {
    /// Mounts one at a directory, which is made. It belongs to the user that the server runs as.
    pub(super) fn mount(at: &Path, scratch: &ScratchDir) -> Result<SmallDisk, ServerError> {
        let user = scratch.user();
        act_as(user, || make_dir(at)).map_err(failed(format_args!("make {}", at.display())))?;
        // Not in the server's directory: it must outlive the server's processes when these are killed.
        let mut helper = process::command(Path::new("unshare"), user, Path::new("/"));
        helper.args(["--user", "--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh"]).arg(at).arg(SIZE);
        helper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut helper = helper.spawn().map_err(failed("run `unshare` (of util-linux)"))?;
        let tell = helper.stdin.take();
        let told = BufReader::new(helper.stdout.take().expect("it is piped"));
        let mut disk = SmallDisk { helper, tell, told, mounted: at.to_path_buf(), user: user.cloned() };
        if disk.answer() {
            return Ok(disk);
        }
        disk.tell = None;
        let mut said = String::new();
        let _ = disk.helper.stderr.take().map(|mut errors| std::io::Read::read_to_string(&mut errors, &mut said));
        Err(ServerError::Failed(format!(
            "a disk that can be filled is a file system in a user namespace of its own, and this system does not allow \
             that: {}",
            said.trim()
        )))
    }

    /// Makes it a copy of a directory.
    pub(super) fn copy(&mut self, from: &Path) -> Result<(), ServerError> {
        self.ask(&format!("copy {}", from.display()))
    }

    /// Leaves no room on it.
    pub(super) fn fill(&mut self) -> Result<(), ServerError> {
        self.ask("fill")
    }

    /// Gives the room back.
    pub(super) fn free(&mut self) -> Result<(), ServerError> {
        self.ask("free")
    }

    /// Where its files can be read from outside.
    pub(super) fn outside(&self) -> PathBuf {
        let inside = self.mounted.strip_prefix("/").unwrap_or(&self.mounted);
        PathBuf::from(format!("/proc/{}/root", self.helper.id())).join(inside)
    }

    /// A command that will run where the disk is mounted, as its user, in `dir`.
    pub(super) fn command(&self, program: &Path, dir: &Path, network: Network) -> Command {
        let mut command = process::command(Path::new("nsenter"), self.user.as_ref(), dir);
        let (uid, gid) = self.user.as_ref().map_or_else(own_ids, ServerUser::ids);
        command.arg(format!("--target={}", self.helper.id()));
        command.args(["--user", "--mount", "--preserve-credentials"]);
        // As seen from inside: a directory of before has no name there.
        command.args(["sh", "-c", r#"cd "$0" && exec "$@""#]).arg(dir);
        command.args(["unshare", "--user", "--ipc"]).args((network == Network::None).then_some("--net"));
        command.args([format!("--map-user={uid}"), format!("--map-group={gid}")]);
        command.arg(program);
        command
    }

    /// The process that keeps it.
    pub(super) fn helper(&self) -> u32 {
        self.helper.id()
    }

    fn ask(&mut self, what: &str) -> Result<(), ServerError> {
        let sent = self.tell.as_mut().is_some_and(|tell| writeln!(tell, "{what}").and_then(|()| tell.flush()).is_ok());
        match sent && self.answer() {
            true => Ok(()),
            false => Err(ServerError::Failed(format!("the helper that keeps the small disk could not do `{what}`"))),
        }
    }

    fn answer(&mut self) -> bool {
        let mut line = String::new();
        self.told.read_line(&mut line).is_ok() && line.trim() == "done"
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        self.tell = None;
        let _ = self.helper.wait();
    }
}

fn own_ids() -> (u32, u32) {
    (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

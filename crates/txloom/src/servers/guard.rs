//! The guard of a server: a process that ends the server when txloom is gone, however it went.
//!
//! **Problem.** A process that receives SIGKILL, from a user or for lack of memory, cannot end its servers. A signal at
//! the death of the parent (`PR_SET_PDEATHSIG`) does not help: it is sent when the *thread* ends that started the server,
//! and is cleared when the server changes its user.
//!
//! **Idea.** A shell reads from a pipe whose other end only txloom has. The pipe is closed when txloom ends; then the shell
//! kills the server's processes, until there is none.
//!
//! ```text
//!   txloom ══ pipe ══ sh: read…          "done": nothing to do
//!     └── server                          end of the pipe: kill -9 all processes of the server
//! ```
//!
//! The guard runs with txloom's rights and not with those of the server, so a case cannot end it. It has a process group of
//! its own and ignores the signals of terminals. Directories are left to the next [`sweep`](super::sweep), which also
//! ends the servers if a guard was killed.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use super::process;
use super::user::ServerUser;

/// What the guard does. Its arguments are the directory and the number of the user, if there is a dedicated one.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM USR1 USR2
read -r word && exit 0
belongs() {
    if [ -n "$2" ]; then
        while read -r key value rest; do
            case $key in
                State:) [ "$value" = Z ] && return 1 ;;
                Uid:) [ "$value" = "$2" ]; return ;;
            esac
        done < "$3/status"
        return 1
    fi
    directory=$(readlink "$3/cwd") || return 1
    case $directory/ in "$1"/*) return 0 ;; *) return 1 ;; esac
}
rounds=0
while [ "$rounds" -lt 100 ]; do
    found=
    for process in /proc/[0-9]*; do
        [ -d "$process" ] && belongs "$1" "$2" "$process" && kill -9 "${process#/proc/}" && found=yes
    done
    [ -n "$found" ] || exit 0
    rounds=$((rounds + 1))
done
"#;

/// Ends a server's processes when this process is gone. Dropping it calls the guard off.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Sets a guard over the server in that directory.
    pub(super) fn over(dir: &Path, user: Option<&ServerUser>) -> io::Result<Guard> {
        let mut shell = process::command(Path::new("sh"), None, Path::new("/"));
        let number = user.filter(|user| user.is_dedicated()).map(|user| user.uid().to_string());
        shell.args(["-c", SCRIPT, "txloom-guard"]).arg(dir).arg(number.unwrap_or_default());
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let pipe = shell.stdin.take();
        Ok(Guard { shell, pipe })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A guard that is gone already need not be called off.
        let _ = self.pipe.take().map(|mut pipe| pipe.write_all(b"done\n"));
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::ScratchDir;
    use super::super::process::ServerProcess;
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    fn sleeper(scratch: &ScratchDir) -> ServerProcess {
        let mut command = process::command(Path::new("sh"), None, scratch.path());
        command.args(["-c", "sleep 60 & sleep 60"]);
        ServerProcess::spawn(command, &scratch.path().join("log")).unwrap()
    }

    #[test]
    fn the_end_of_the_pipe_ends_the_server_and_nobody_else() {
        let (ours, other) = (ScratchDir::create().unwrap(), ScratchDir::create().unwrap());
        let (mut inside, mut outside) = (sleeper(&ours), sleeper(&other));
        let mut guard = Guard::over(ours.path(), None).unwrap();
        drop(guard.pipe.take());
        assert!(inside.ends_within(LONG));
        assert_eq!(inside.death().unwrap().how, "signal 9");
        assert!(guard.shell.wait().unwrap().success());
        assert!(outside.death().is_none());
        outside.stop(&[]);
        process::ServerProcesses::below(other.path()).kill_all();
    }

    #[test]
    fn a_guard_that_is_called_off_does_nothing() {
        let scratch = ScratchDir::create().unwrap();
        let mut server = sleeper(&scratch);
        drop(Guard::over(scratch.path(), None).unwrap());
        assert!(server.death().is_none());
        server.stop(&[]);
        process::ServerProcesses::below(scratch.path()).kill_all();
    }
}

//! Server processes: start them, notice their end, stop them, and never signal anybody else's.
//!
//! A process number says little: the process may have ended and the number may have a new owner. A process *descriptor*
//! (`pidfd`) names one process for ever. So a signal is sent in three steps: open the descriptor, read whose the process
//! is, and only if it is the server's, signal through the descriptor. The worst that a change between the steps can do is
//! that nobody is signalled.
//!
//! A server's processes are those of its [user](super::user), if it has one to itself. Otherwise they are those whose
//! working directory lies in the server's own directory, which a program that a case has started may leave.
//!
//! The descriptor also becomes readable when the process ends: waiting for an end with a limit needs no polling.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use txloom_core::engine::Death;

use super::alarms::AlarmReader;
use super::log;
use super::user::ServerUser;
use crate::interrupt;

/// How long a process may take to disappear after SIGKILL.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// How often somebody who waits for the end of a process looks whether the user wants to stop.
const STOP_POLL: Duration = Duration::from_millis(20);

/// The variables that a server's software is given as we have them: where things are, and what its sanitizers, if it was
/// built with any, are to look for.
const PASSED_ON: &[&str] =
    &["PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "MSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"];

/// A command of a server's software that will run as `user`, in `dir`, in surroundings that are the same everywhere:
/// no variables but these, no input, and a process group of its own so that a terminal's Ctrl-C does not reach it.
pub fn command(program: &Path, user: Option<&ServerUser>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").env("HOME", dir);
    for name in PASSED_ON {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.current_dir(dir).stdin(Stdio::null()).process_group(0);
    if let Some(user) = user {
        user.run(&mut command);
    }
    command
}

/// A server's main process, which is our child.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    descriptor: OwnedFd,
    log: PathBuf,
    alarms: AlarmReader,
}

impl ServerProcess {
    /// Starts the command; its output is appended to the log.
    pub fn spawn(mut command: Command, log: &Path) -> io::Result<ServerProcess> {
        let output = log::create(log)?;
        let alarms = AlarmReader::at_end(log)?;
        command.stdout(output.try_clone()?).stderr(output);
        let child = command.spawn()?;
        let descriptor = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok(ServerProcess { child, descriptor, log: log.to_path_buf(), alarms })
    }

    /// The process number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it did.
    pub fn death(&mut self) -> Option<Death> {
        let status = self.child.try_wait().ok()??;
        Some(Death { how: describe(status), log: log::last_lines(&self.log) })
    }

    /// What it complained of in its log, since it was started or told to forget.
    pub fn alarms(&mut self) -> &mut AlarmReader {
        &mut self.alarms
    }

    /// Waits for its end, for at most so long; says whether it ended.
    pub fn ends_within(&self, limit: Duration) -> bool {
        ends_within(&self.descriptor, limit)
    }

    /// Asks the process to stop, by a signal, and says whether it ended in time. Gives up when the user wants to stop.
    pub fn stops_in_order(&self, signal: Signal, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let _ = pidfd_send_signal(&self.descriptor, signal);
        while !self.ends_within(STOP_POLL) {
            if interrupt::requested() || Instant::now() > deadline {
                return false;
            }
        }
        true
    }

    /// Sends each signal in turn until the process ends within the time allowed after it; then SIGKILL.
    pub fn stop(&mut self, signals: &[(Signal, Duration)]) {
        let ended = signals.iter().any(|(signal, limit)| {
            // A process that has ended already cannot be signalled, and that is fine.
            let _ = pidfd_send_signal(&self.descriptor, *signal);
            self.ends_within(*limit)
        });
        if !ended {
            let _ = pidfd_send_signal(&self.descriptor, Signal::KILL);
            self.ends_within(KILL_LIMIT);
        }
        // Takes the ended child off the process table; does not block, even if SIGKILL had no effect.
        let _ = self.child.try_wait();
    }
}

/// `signal 11`, `exit code 1`.
fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => status.to_string(),
    }
}

/// Waits until the process of the descriptor has ended.
fn ends_within(descriptor: impl AsFd, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&timeout)) {
            Ok(count) => return count > 0,
            // Somebody pressed Ctrl-C: that is for others to handle.
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// A process that was found to belong to a server.
struct FoundProcess {
    pid: Pid,
    descriptor: OwnedFd,
}

/// The processes of a server, however they came to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerProcesses<'a> {
    /// The directory that they work in, a path without links.
    pub(super) dir: &'a Path,
    /// The user that they run as, if that is not us.
    pub(super) user: Option<&'a ServerUser>,
    /// A process of that user that is none of the server's.
    pub(super) spared: Option<u32>,
}

impl ServerProcesses<'_> {
    /// The processes that work in a directory, a path without links.
    #[cfg(test)]
    pub(super) fn below(dir: &Path) -> ServerProcesses<'_> {
        ServerProcesses { dir, user: None, spared: None }
    }

    fn find(&self) -> Vec<FoundProcess> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let belonging = |entry: fs::DirEntry| {
            let pid = process_number(&entry.file_name())?;
            let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok()?;
            let is_spared = self.spared.and_then(|spared| i32::try_from(spared).ok()) == Some(pid.as_raw_pid());
            (!is_spared && self.holds(&entry.path())).then_some(FoundProcess { pid, descriptor })
        };
        entries.flatten().filter_map(belonging).collect()
    }

    /// Whether the process of that entry of `/proc` is one of them.
    fn holds(&self, entry: &Path) -> bool {
        match self.user.filter(|user| user.is_dedicated()) {
            Some(user) => user_of(entry) == Some(user.uid()),
            None => fs::read_link(entry.join("cwd")).is_ok_and(|cwd| cwd.starts_with(self.dir)),
        }
    }

    /// Stops them all (SIGSTOP), lets `while_paused` pass, and lets them go on.
    pub(super) fn pause(&self, while_paused: impl FnOnce()) {
        let mut stopped: Vec<FoundProcess> = Vec::new();
        // A process that was not stopped yet may have had children meanwhile: hence the loop.
        loop {
            let known: Vec<Pid> = stopped.iter().map(|process| process.pid).collect();
            let new: Vec<_> = self.find().into_iter().filter(|process| !known.contains(&process.pid)).collect();
            if new.is_empty() {
                break;
            }
            for process in &new {
                let _ = pidfd_send_signal(&process.descriptor, Signal::STOP);
            }
            stopped.extend(new);
        }
        while_paused();
        for process in &stopped {
            let _ = pidfd_send_signal(&process.descriptor, Signal::CONT);
        }
    }

    /// Kills them all, until there is none; says whether that succeeded.
    pub(super) fn kill_all(&self) -> bool {
        let deadline = Instant::now() + KILL_LIMIT;
        loop {
            let found = self.find();
            if found.is_empty() {
                return true;
            }
            for process in &found {
                let _ = pidfd_send_signal(&process.descriptor, Signal::KILL);
            }
            // A killed process's children may have had children meanwhile: hence the loop around.
            for process in &found {
                if !ends_within(&process.descriptor, deadline.saturating_duration_since(Instant::now())) {
                    return false;
                }
            }
        }
    }
}

/// The user of the process of that entry of `/proc`; none if it has ended.
pub(super) fn user_of(entry: &Path) -> Option<u32> {
    let status = fs::read_to_string(entry.join("status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next());
    match field("State:")? {
        "Z" | "X" => None,
        _ => field("Uid:")?.parse().ok(),
    }
}

fn process_number(name: &OsStr) -> Option<Pid> {
    Pid::from_raw(name.to_str()?.parse().ok()?)
}

/// Waits until the process of that number has ended; true as well if there is none.
pub fn is_gone_within(pid: i32, limit: Duration) -> bool {
    let descriptor = Pid::from_raw(pid).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
    descriptor.is_none_or(|opened| opened.map_or(true, |descriptor| ends_within(descriptor, limit)))
}

#[cfg(test)]
mod tests {
    use super::super::{ScratchDir, ServerOptions};
    use super::*;

    fn spawn(scratch: &ScratchDir, script: &str) -> ServerProcess {
        let mut command = command(Path::new("/bin/sh"), None, scratch.path());
        command.args(["-c", script]);
        ServerProcess::spawn(command, &scratch.path().join("log")).unwrap()
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn an_end_is_noticed_with_its_cause_and_last_words() {
        let scratch = ScratchDir::create().unwrap();
        for (script, how) in [("echo words; exit 3", "exit code 3"), ("kill -SEGV $$", "signal 11")] {
            let mut process = spawn(&scratch, script);
            assert!(process.ends_within(LONG));
            let death = process.death().unwrap();
            assert_eq!(death.how, how);
            assert_eq!(death.log, ["words"]);
        }
    }

    #[test]
    fn a_process_that_does_not_listen_is_killed() {
        let scratch = ScratchDir::create().unwrap();
        let mut process = spawn(&scratch, "trap '' INT; echo ready; while :; do sleep 0.05; done");
        let mut reader = log::LogReader::at_end(&scratch.path().join("log")).unwrap();
        while reader.new_lines().unwrap().is_empty() && log::last_lines(&process.log).is_empty() {
            assert!(!process.ends_within(Duration::from_millis(5)));
        }
        process.stop(&[(Signal::INT, Duration::from_millis(50))]);
        assert_eq!(process.death().unwrap().how, "signal 9");
    }

    #[test]
    fn who_is_paused_does_nothing_and_goes_on() {
        let scratch = ScratchDir::create().unwrap();
        let mut process = spawn(&scratch, "while :; do echo x; sleep 0.005; done");
        let size = || fs::metadata(scratch.path().join("log")).map_or(0, |log| log.len());
        let grows = || {
            let before = size();
            (0..1_000).any(|_| !process.ends_within(Duration::from_millis(5)) && size() > before)
        };
        assert!(grows());
        ServerProcesses::below(scratch.path()).pause(|| {
            let before = size();
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(size(), before);
        });
        assert!(grows());
        process.stop(&[]);
    }

    #[test]
    fn only_processes_of_the_directory_are_found_and_ended() {
        let (ours, other) = (ScratchDir::create().unwrap(), ScratchDir::create().unwrap());
        let mut inside = spawn(&ours, "sleep 60");
        let mut outside = spawn(&other, "exec sleep 60");
        assert!(ServerProcesses::below(ours.path()).kill_all());
        assert!(inside.ends_within(LONG));
        assert_eq!(inside.death().unwrap().how, "signal 9");
        assert!(outside.death().is_none());
        outside.stop(&[(Signal::TERM, LONG)]);
        assert_eq!(outside.death().unwrap().how, "signal 15");
    }

    #[test]
    fn a_program_that_a_case_has_started_cannot_hide_from_its_end() {
        let scratch = ScratchDir::for_server(&ServerOptions::default()).unwrap();
        let Some(user) = scratch.user() else { return };
        let mut command = command(Path::new("/bin/sh"), Some(user), &scratch.home());
        let status = command.args(["-c", "cd /; setsid sleep 60 & exit 0"]).status().unwrap();
        assert!(status.success());
        assert_eq!(scratch.processes().find().len(), 1);
        assert!(scratch.processes().kill_all());
        assert!(scratch.processes().find().is_empty());
    }
}

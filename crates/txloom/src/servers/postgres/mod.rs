//! A private PostgreSQL server: its own data directory, reachable only through a socket in its scratch directory.
//!
//! The server is made *quiet*, so that a run depends on nothing but its case:
//!
//! * `autovacuum = off`: no background worker takes locks or gathers statistics in the middle of a case;
//! * `deadlock_timeout = 1ms`, `log_lock_waits = on`: a waiter looks for a deadlock once, after one millisecond, and
//!   *says in the log* that it looked. The engine lets the next statement go only after that line, so the victim of a
//!   deadlock is always the statement that closed the cycle;
//! * time zone, locale and messages are the same on every machine.
//!
//! It ends in one of four ways, and each is noticed: the main process dies (`try_wait`); one backend dies, upon which
//! the main process throws out everybody else and starts over (the log says so); we stop it; or we are killed, and the
//! next txloom sweeps it up.

mod install;
mod pristine;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use txloom_core::engine::{Death, Fault};

pub use install::Installation;

use self::pristine::Pristine;
use super::alarms::AlarmReader;
use super::confinement;
use super::disk::SmallDisk;
use super::fault::{self, Breakable};
use super::files::{clear, read_small};
use super::log::{self, LogReader};
use super::process::{ServerProcess, ServerProcesses};
use super::scratch::{ScratchDir, sweep};
use super::socket::ServerSocket;
use super::user::act_as;
use super::{Programs, ServerError, ServerOptions, failed, shared_memory};
use crate::execute::BACKSTOP;
use crate::interrupt;

/// How often a starting server is asked whether it is ready.
const START_POLL: Duration = Duration::from_millis(2);

/// How long a server that is restarted may take to shut down, its checkpoint included.
const RESTART_LIMIT: Duration = Duration::from_secs(60);

/// The settings of every private server; [`ServerOptions::extra`] comes after them.
const SETTINGS: &[(&str, &str)] = &[
    ("listen_addresses", ""),
    ("max_prepared_transactions", "10"),
    ("shared_buffers", "16MB"),
    // Shared memory in files of the data directory: a server that is killed leaves nothing in /dev/shm.
    ("dynamic_shared_memory_type", "mmap"),
    // What is thrown away need not reach a disk.
    ("fsync", "off"),
    // A long hunt must not fill the disk, or the memory that stands for one, with its log of changes.
    ("max_wal_size", "256MB"),
    ("min_wal_size", "32MB"),
    ("autovacuum", "off"),
    ("deadlock_timeout", "1ms"),
    ("timezone", "UTC"),
    ("log_timezone", "UTC"),
    ("log_lock_waits", "on"),
    // Process and time in milliseconds: what ties a line to a backend and to one of its waits.
    ("log_line_prefix", "%p %n "),
    ("log_min_error_statement", "panic"),
    ("log_checkpoints", "off"),
];

/// The settings of a server that is to be durable: the defaults, where ours differ or somebody's might.
const DURABLE: &[(&str, &str)] = &[("fsync", "on"), ("full_page_writes", "on"), ("synchronous_commit", "on")];

/// The settings of a server with a small disk: its log of changes must leave room for data.
const SMALL: &[(&str, &str)] = &[("max_wal_size", "64MB")];

/// The settings that older servers do not know: since which major version, name, value.
const NEWER_SETTINGS: &[(u32, &str, &str)] = &[(11, "jit", "off")];

/// A running server that nobody else uses. Dropping it stops it and removes its directory.
#[derive(Debug)]
pub struct PrivatePostgres {
    installation: Installation,
    options: ServerOptions,
    pristine: Arc<Pristine>,
    process: ServerProcess,
    socket: ServerSocket,
    /// Where crashes of single backends are read.
    log: LogReader,
    /// The crash of a backend that was read there.
    crash: Option<Death>,
    disk: Option<SmallDisk>,
    scratch: ScratchDir,
}

impl PrivatePostgres {
    /// Sweeps up after killed owners, then starts a server and waits until it accepts connections.
    pub fn start(wanted: &Programs, options: ServerOptions) -> Result<PrivatePostgres, ServerError> {
        sweep();
        let installation = Installation::find(wanted)?;
        let pristine = Pristine::of(&installation)?;
        let scratch = ScratchDir::for_server(&options);
        let scratch = scratch.map_err(failed("make a scratch directory for PostgreSQL"))?;
        let mut disk = options.small_disk.then(|| SmallDisk::mount(&data_dir(&scratch), &scratch)).transpose()?;
        fill_in(&pristine, disk.as_mut(), &scratch)?;
        let (process, log) = launch(&installation, &pristine, &options, disk.as_ref(), &scratch)?;
        let socket = ServerSocket::at(scratch.home().join(format!(".s.PGSQL.{PORT}")));
        socket.belongs_to(process.id());
        let crash = None;
        let mut server =
            PrivatePostgres { installation, options, pristine, process, socket, log, crash, disk, scratch };
        server.await_ready()?;
        Ok(server)
    }

    /// The directory of the socket that it listens on.
    pub fn socket_dir(&self) -> PathBuf {
        self.scratch.home()
    }

    /// The socket, at which nobody else may listen.
    pub(crate) fn socket(&self) -> ServerSocket {
        self.socket.clone()
    }

    /// The port that is part of the socket's name.
    pub fn port(&self) -> u16 {
        PORT
    }

    /// The user with all rights; no password is asked for.
    pub fn superuser(&self) -> &'static str {
        "postgres"
    }

    /// The programs that it runs.
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Its log.
    pub fn log_path(&self) -> PathBuf {
        log_path(&self.scratch)
    }

    /// Waits until the main process has ended; says whether it did within the limit.
    pub fn ends_within(&self, limit: Duration) -> bool {
        self.process.ends_within(limit)
    }

    /// The command with which a person looks inside, and the one that ends a server which was kept.
    pub fn client(&self) -> String {
        let (dir, port, scratch) = (self.socket_dir(), self.port(), self.scratch.path().display());
        let look = format!("psql -h {} -p {port} -U {} postgres", dir.display(), self.superuser());
        format!("{look}; afterwards: kill {} && rm -r {scratch}", self.id())
    }

    /// The process number of the server's main process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether it died, or lost a backend to a crash, since it was last started; and how.
    pub fn died(&mut self) -> Option<Death> {
        if let Some(death) = self.process.death() {
            return Some(death);
        }
        if self.crash.is_none() {
            let postmaster = self.process.id();
            let lines = self.log.new_lines().unwrap_or_default();
            self.crash = lines.iter().enumerate().find_map(|(at, line)| {
                let how = crash_in(line, postmaster)?.to_string();
                // What led to the crash, and what it led to: every other backend has its last words.
                let from = at.saturating_sub(log::REPORT_LINES / 3);
                Some(Death { how, log: lines[from..].iter().take(log::REPORT_LINES).cloned().collect() })
            });
        }
        self.crash.clone()
    }

    /// What it complained of in its log, since it was last started or told to forget.
    pub fn alarms(&mut self) -> &mut AlarmReader {
        self.process.alarms()
    }

    /// Whether the configuration that `ALTER SYSTEM` writes differs from the pristine one.
    pub fn is_reconfigured(&self) -> bool {
        let altered = self.data().join(ALTERED);
        let size = act_as(self.scratch.user(), || fs::symlink_metadata(altered));
        let pristine = fs::metadata(self.pristine.file(ALTERED));
        size.map(|found| (found.len(), found.is_file())).ok() != pristine.map(|found| (found.len(), true)).ok()
    }

    /// Keeps the log from filling the disk. Call it when nobody is interested in what it says.
    pub fn trim_log(&mut self) -> io::Result<()> {
        log::trim(&self.log_path())
    }

    /// Whether it has a small disk of its own.
    pub fn has_small_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// Breaks it and mends it; says whether it was started anew.
    pub fn fault(&mut self, fault: Fault) -> Result<bool, ServerError> {
        fault::befall(self, fault)
    }

    /// Kills all of its processes at once, with SIGKILL. [`PrivatePostgres::restart`] recovers the data.
    pub fn kill(&mut self) {
        self.process.stop(&[]);
        self.processes().kill_all();
    }

    /// Starts it again on the data that it has, after it died or was killed.
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.stop();
        let (process, log) =
            launch(&self.installation, &self.pristine, &self.options, self.disk.as_ref(), &self.scratch)?;
        (self.process, self.log, self.crash) = (process, log, None);
        self.socket.belongs_to(self.process.id());
        self.await_ready()
    }

    /// Starts it again with pristine data: whatever was done to it is forgotten.
    pub fn renew(&mut self) -> Result<(), ServerError> {
        self.stop();
        let home = self.scratch.home();
        let kept = clear(&home, self.scratch.user(), Some(DATA)).is_ok();
        if !kept || fill_in(&self.pristine, self.disk.as_mut(), &self.scratch).is_err() {
            // Something in the way can only be removed by force; then there is nothing left to build on.
            self.scratch.clear().map_err(failed(format_args!("empty {}", home.display())))?;
            fill_in(&self.pristine, self.disk.as_mut(), &self.scratch)?;
        }
        self.restart()
    }

    /// Its data directory, as we see it.
    fn data(&self) -> PathBuf {
        self.disk.as_ref().map_or_else(|| data_dir(&self.scratch), SmallDisk::outside)
    }

    /// Ends all of its processes, without a checkpoint of data that is about to be removed.
    fn stop(&mut self) {
        self.kill();
        shared_memory::free(self.scratch.path(), self.scratch.user());
    }

    fn processes(&self) -> ServerProcesses<'_> {
        ServerProcesses { spared: self.disk.as_ref().map(SmallDisk::helper), ..self.scratch.processes() }
    }

    /// Waits until the server says in its pid file, as `pg_ctl` reads it, that it accepts connections.
    fn await_ready(&mut self) -> Result<(), ServerError> {
        let limit = self.options.start_limit.0;
        let deadline = Instant::now() + limit;
        let pid_file = self.data().join("postmaster.pid");
        let program = self.installation.bin.join("postgres");
        let user = self.scratch.user().cloned();
        let says = || act_as(user.as_ref(), || Ok(read_small(&pid_file))).unwrap_or_default();
        while !is_ready(&says(), self.process.id()) {
            self.process.ends_within(START_POLL);
            if let Some(death) = self.process.death() {
                let log = death.log.join("\n  ");
                return Err(ServerError::Failed(format!("{} ended ({})\n  {log}", program.display(), death.how)));
            }
            if interrupt::requested() {
                return Err(ServerError::Interrupted);
            }
            if Instant::now() > deadline {
                let (program, log) = (program.display(), log::last_lines(&self.log_path()).join("\n  "));
                let seconds = limit.as_secs();
                return Err(ServerError::Failed(format!("{program} was not ready after {seconds} seconds\n  {log}")));
            }
        }
        Ok(())
    }
}

impl Breakable for PrivatePostgres {
    fn processes(&self) -> ServerProcesses<'_> {
        PrivatePostgres::processes(self)
    }

    fn died(&mut self) -> Option<Death> {
        PrivatePostgres::died(self)
    }

    fn kill(&mut self) {
        PrivatePostgres::kill(self);
    }

    /// By SIGINT: sessions are thrown out, what is open is rolled back, a checkpoint is written.
    fn stop_in_order(&mut self) -> bool {
        self.process.stops_in_order(Signal::INT, RESTART_LIMIT)
    }

    fn start_again(&mut self) -> Result<(), ServerError> {
        self.restart()
    }

    fn disk(&mut self) -> Option<&mut SmallDisk> {
        self.disk.as_mut()
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        if self.options.keep && self.scratch.keep().is_ok() {
            return;
        }
        self.stop();
    }
}

/// What `ALTER SYSTEM` writes to.
const ALTERED: &str = "postgresql.auto.conf";

/// The name of the data directory, in the home of a server.
const DATA: &str = "data";

/// The port that is part of the socket's name: nobody else has a socket in that directory.
const PORT: u16 = 5432;

fn data_dir(scratch: &ScratchDir) -> PathBuf {
    scratch.home().join(DATA)
}

fn log_path(scratch: &ScratchDir) -> PathBuf {
    scratch.path().join("log")
}

/// Makes the data directory a copy of the pristine one.
fn fill_in(pristine: &Pristine, disk: Option<&mut SmallDisk>, scratch: &ScratchDir) -> Result<(), ServerError> {
    disk.map_or_else(|| pristine.restore_to(scratch), |disk| disk.copy(&pristine.data()))
}

/// Starts the main process, and reads its log from here on.
fn launch(
    installation: &Installation,
    pristine: &Pristine,
    options: &ServerOptions,
    disk: Option<&SmallDisk>,
    scratch: &ScratchDir,
) -> Result<(ServerProcess, LogReader), ServerError> {
    let program = installation.bin.join("postgres");
    let mut command = match disk {
        Some(disk) => disk.command(&program, &scratch.home(), options.network()),
        None => confinement::command(&program, scratch.user(), &scratch.home(), options.network()),
    };
    command.arg("-D").arg(data_dir(scratch)).arg("-k").arg(scratch.home());
    let major = major_version(pristine);
    let newer = NEWER_SETTINGS.iter().filter(|(since, ..)| major >= *since).map(|(_, name, value)| (*name, *value));
    let extra = options.extra.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let backstop = format!("{}ms", BACKSTOP.as_millis());
    let connections = options.connections().to_string();
    let limits = [("statement_timeout", backstop.as_str()), ("max_connections", connections.as_str())];
    let durable = DURABLE.iter().copied().filter(|_| options.durable);
    let small = SMALL.iter().copied().filter(|_| disk.is_some());
    let ours = SETTINGS.iter().copied().chain(newer).chain(durable).chain(small).chain(limits);
    for (name, value) in ours.chain(extra) {
        command.arg("-c").arg(OsString::from(format!("{name}={value}")));
    }
    let log = log_path(scratch);
    let start = || -> io::Result<_> {
        log::create(&log)?;
        let reader = LogReader::at_end(&log)?;
        let process = ServerProcess::spawn(command, &log)?;
        shared_memory::note(scratch.path(), process.id())?;
        Ok((process, reader))
    };
    start().map_err(failed(format_args!("start {}", program.display())))
}

/// The version that made the data directory; 0 if it does not say. The copy is not asked: a case may have changed it.
fn major_version(pristine: &Pristine) -> u32 {
    fs::read_to_string(pristine.file("PG_VERSION")).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// The pid file holds the process number in its first line and the status in its eighth.
fn is_ready(pid_file: &str, pid: u32) -> bool {
    let mut lines = pid_file.lines();
    lines.next().and_then(|line| line.trim().parse().ok()) == Some(pid)
        && lines.nth(6).is_some_and(|status| status.trim() == "ready")
}

/// How a process of the server crashed, if this line of the log says so: `signal 11`. Only the main process is
/// believed: a backend writes what a case tells it to write.
fn crash_in(line: &str, postmaster: u32) -> Option<&str> {
    let (pid, rest) = line.split_once(' ')?;
    let (_, message) = rest.split_once("LOG:  ")?;
    if pid.parse() != Ok(postmaster) || !message.contains(" (PID ") {
        return None;
    }
    match message.split_once(") was terminated by ") {
        Some((_, how)) => Some(how.split(':').next().unwrap_or(how)),
        None if message.starts_with("server process") => message.split_once(") exited with ").map(|(_, how)| how),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{process, testing};
    use super::*;

    #[test]
    fn readiness_is_read_from_the_pid_file() {
        let file = |status: &str| format!("42\n/data\n1700000000\n5432\n/sock\n\n  123 456\n{status}\n");
        assert!(is_ready(&file("ready   "), 42));
        assert!(!is_ready(&file("starting"), 42));
        assert!(!is_ready(&file("ready   "), 43), "a stale file of an earlier server");
        assert!(!is_ready("42\n/data\n", 42));
        assert!(!is_ready("", 42));
    }

    #[test]
    fn crashes_are_read_from_the_log_of_the_main_process_only() {
        let check = |line: &str, expected: Option<&str>| assert_eq!(crash_in(line, 7), expected, "{line}");
        check("7 1.5 LOG:  server process (PID 9) was terminated by signal 9: Killed", Some("signal 9"));
        check("7 1.5 LOG:  checkpointer process (PID 9) was terminated by signal 6: Aborted", Some("signal 6"));
        check("7 1.5 LOG:  server process (PID 9) exited with exit code 2", Some("exit code 2"));
        check("7 1.5 LOG:  background worker \"x\" (PID 9) exited with exit code 1", None);
        check("9 1.5 LOG:  server process (PID 9) was terminated by signal 9: Killed", None);
        check("7 1.5 LOG:  database system is ready to accept connections", None);
        check("", None);
    }

    #[test]
    fn a_server_lives_in_its_directory_and_leaves_nothing() {
        let mut server = PrivatePostgres::start(&Programs::Newest, ServerOptions::default()).unwrap();
        let (dir, pid) = (server.socket_dir().to_path_buf(), server.id() as i32);
        assert!(dir.join(".s.PGSQL.5432").exists());
        assert_eq!(server.died(), None);
        assert!(!server.is_reconfigured());
        server.kill();
        assert_eq!(server.died().unwrap().how, "signal 9");
        server.restart().unwrap();
        assert_eq!(server.died(), None);
        let restarted = server.id() as i32;
        drop(server);
        assert!([pid, restarted].into_iter().all(|pid| process::is_gone_within(pid, Duration::ZERO)));
        assert!(!dir.exists());
    }

    #[test]
    fn what_kill_9_leaves_is_swept_by_the_next_start() {
        let (mut owner, pid, dir) = testing::owner_of_a_server();
        sweep();
        assert!(dir.exists(), "its owner lives");
        owner.kill().unwrap();
        owner.wait().unwrap();
        assert!(process::is_gone_within(pid, Duration::from_secs(60)), "the guard ends the server");
        assert!(dir.exists());
        sweep();
        assert!(!dir.exists());
    }

    #[test]
    fn what_a_server_has_planted_leads_nowhere_and_hinders_nobody() {
        let mut server = PrivatePostgres::start(&Programs::Newest, ServerOptions::default()).unwrap();
        let outside = ScratchDir::create().unwrap();
        let precious = outside.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        let (home, data) = (server.scratch.home(), data_dir(&server.scratch));
        let plant = || -> io::Result<()> {
            fs::remove_dir_all(&data)?;
            std::os::unix::fs::symlink(outside.path(), &data)?;
            let _ = fs::remove_file(home.join(".s.PGSQL.5432.lock"));
            fs::create_dir_all(home.join(".s.PGSQL.5432.lock/deep"))?;
            let shut = std::os::unix::fs::PermissionsExt::from_mode(0o000);
            fs::set_permissions(home.join(".s.PGSQL.5432.lock/deep"), shut)
        };
        server.kill();
        act_as(server.scratch.user(), plant).unwrap();
        server.renew().unwrap();
        assert!(server.socket().connect().is_ok());
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 2, "it, and the lock");
        let scratch = server.scratch.path().to_path_buf();
        drop(server);
        assert!(!scratch.exists());
    }

    #[test]
    fn a_server_that_cannot_start_says_why() {
        let options =
            ServerOptions { extra: vec![("shared_buffers".into(), "no number".into())], ..ServerOptions::default() };
        let error = PrivatePostgres::start(&Programs::Newest, options).unwrap_err().to_string();
        assert!(error.contains("ended (exit code 1)") && error.contains("no number"), "{error}");
    }
}

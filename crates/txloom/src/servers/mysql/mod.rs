//! A private MariaDB or MySQL server: its own data directory, reachable only through a socket in its scratch directory.
//!
//! The server is made *quiet*, so that a run depends on nothing but its case:
//!
//! * `innodb_stats_auto_recalc = 0`: no background thread recalculates statistics in the middle of a case, upon which
//!   the optimizer would choose another index and lock other rows;
//! * `event_scheduler = OFF`, no binary log, no buffer pool that is dumped and loaded;
//! * lock waits last for ever (a year): the executor cancels what waits in vain, no clock does;
//! * character set and time zone are the same on every machine. `sql_mode` is the server's default.
//!
//! Purge is the engine's business: it drains it before a case and holds it off during it.
//!
//! And it is made *open*, so that its waits can be read: `SHOW ENGINE INNODB STATUS` lists all locks, and the
//! performance schema keeps metadata locks (and nothing else: with its usual sizes it would double the server's
//! memory).
//!
//! What is thrown away need not reach a disk: the log is written at each commit and never synchronised, unless the
//! server is to be durable ([`ServerOptions::durable`]).

mod install;
mod member;

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use txloom_core::engine::{Death, Fault};

pub use install::{Installation, Product};
pub use member::{REPLICATOR, RingMember};

use super::alarms::AlarmReader;
use super::confinement::{self, Network};
use super::disk::SmallDisk;
use super::fault::{self, Breakable};
use super::files::{copy_tree, open_to_readers, remove_any, write_for_server};
use super::pristine::Pristine;
use super::process::{ServerProcess, ServerProcesses};
use super::scratch::{ScratchDir, sweep};
use super::socket::ServerSocket;
use super::user::act_as;
use super::{Programs, ServerError, ServerOptions, failed, log};
use crate::execute::BACKSTOP;
use crate::interrupt;

/// How long a server that is restarted may take to shut down.
const RESTART_LIMIT: Duration = Duration::from_secs(60);

/// How often a starting server is asked whether it is ready.
const START_POLL: Duration = Duration::from_millis(2);

/// What the data directory is made with; the server must be told the same.
const SIZES: &[&str] = &[
    "--innodb-data-file-path=ibdata1:12M:autoextend",
    "--innodb-autoextend-increment=8",
    "--loose-innodb-log-file-size=16M",
    "--loose-innodb-redo-log-capacity=16M",
];

/// Nothing is synchronised with the disk. MariaDB's log of schema changes would be, at every CREATE and DROP.
const UNSYNCHRONISED: &[&str] = &[
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-flush-method=nosync",
    "--innodb-doublewrite=0",
    "--loose-sync-frm=OFF",
    "--loose-debug-no-sync=ON",
];

/// Everything is synchronised, and pages are written twice, since a write may be cut off between two pages.
const DURABLE: &[&str] = &["--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=1"];

/// On a small disk, files grow in small pieces: who is to notice that it is full must need more of it.
const SMALL: &[&str] = &["--innodb-autoextend-increment=1"];

/// The settings of every private server. What only one of the two products, or only some versions know is *loose*.
const SETTINGS: &[&str] = &[
    "--skip-networking",
    "--skip-log-bin",
    "--skip-name-resolve",
    "--loose-mysqlx=OFF",
    "--character-set-server=utf8mb4",
    "--default-time-zone=+00:00",
    "--event-scheduler=OFF",
    // Rows are loaded that way; sessions of cases do not offer files.
    "--local-infile=ON",
    "--lock-wait-timeout=31536000",
    "--innodb-lock-wait-timeout=100000000",
    "--innodb-stats-auto-recalc=OFF",
    // The length of the history tells when purge is done only if it is cut at once.
    "--loose-innodb-purge-rseg-truncate-frequency=1",
    // Tables are created and dropped all the time; files of their own would make that ten times as slow.
    "--innodb-file-per-table=OFF",
    "--innodb-buffer-pool-size=32M",
    "--loose-innodb-buffer-pool-dump-at-shutdown=OFF",
    "--loose-innodb-buffer-pool-load-at-startup=OFF",
    "--innodb-status-output-locks=ON",
    "--performance-schema=ON",
    "--performance-schema-instrument=%=OFF",
    "--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON",
];

/// The sizes of the performance schema that we have no use for; each of them is set to 0.
const UNUSED_SIZES: &[&str] = &[
    "accounts-size",
    "hosts-size",
    "users-size",
    "digests-size",
    "events-stages-history-long-size",
    "events-stages-history-size",
    "events-statements-history-long-size",
    "events-statements-history-size",
    "events-transactions-history-long-size",
    "events-transactions-history-size",
    "events-waits-history-long-size",
    "events-waits-history-size",
    "max-digest-length",
    "max-sql-text-length",
    "max-statement-classes",
    "max-memory-classes",
    "max-stage-classes",
    "max-table-instances",
    "max-table-handles",
    "max-table-lock-stat",
    "max-index-stat",
    "max-file-classes",
    "max-mutex-classes",
    "max-rwlock-classes",
    "max-cond-classes",
    "max-socket-classes",
];

/// A running server that nobody else uses. Dropping it stops it and removes its directory.
#[derive(Debug)]
pub struct PrivateMySql {
    installation: Installation,
    options: ServerOptions,
    pristine: Arc<Pristine>,
    process: ServerProcess,
    socket: ServerSocket,
    disk: Option<SmallDisk>,
    scratch: ScratchDir,
}

impl PrivateMySql {
    /// Sweeps up after killed owners, then starts a server and waits until it accepts connections.
    pub fn start(product: Product, wanted: &Programs, options: ServerOptions) -> Result<PrivateMySql, ServerError> {
        sweep();
        let installation = Installation::find(product, wanted)?;
        let make = |scratch: &ScratchDir, data: &Path| initialise(&installation, scratch, data);
        let pristine = Pristine::of(&installation.server, make)?;
        let scratch = ScratchDir::for_server(&options).map_err(failed("make a scratch directory"))?;
        let mut disk = options.small_disk.then(|| SmallDisk::mount(&data_dir(&scratch), &scratch)).transpose()?;
        match &mut disk {
            Some(disk) => disk.copy(&pristine.data())?,
            None => drop(pristine.copy_to(&scratch)?),
        }
        let process = launch(&installation, &options, disk.as_ref(), &scratch)?;
        let socket = ServerSocket::at(socket(&scratch));
        socket.belongs_to(process.id());
        let mut server = PrivateMySql { installation, options, pristine, process, socket, disk, scratch };
        server.await_ready()?;
        Ok(server)
    }

    /// The path of the socket that it listens on.
    pub fn socket_path(&self) -> PathBuf {
        socket(&self.scratch)
    }

    /// The socket, at which nobody else may listen.
    pub(crate) fn socket(&self) -> ServerSocket {
        self.socket.clone()
    }

    /// The user with all rights; no password is asked for.
    pub fn superuser(&self) -> &'static str {
        "root"
    }

    /// The programs that it runs.
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Its log.
    pub fn log_path(&self) -> PathBuf {
        log_path(&self.scratch)
    }

    /// The command with which a person looks inside, and the one that ends a server which was kept.
    pub fn client(&self) -> String {
        let (socket, scratch) = (self.socket_path(), self.scratch.path().display());
        let look = format!("mysql -S {} -u {}", socket.display(), self.superuser());
        format!("{look}; afterwards: kill {} && rm -r {scratch}", self.id())
    }

    /// The process number of the server.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether it died since it was last started, and how.
    pub fn died(&mut self) -> Option<Death> {
        self.process.death()
    }

    /// What it complained of in its log, since it was last started or told to forget.
    pub fn alarms(&mut self) -> &mut AlarmReader {
        self.process.alarms()
    }

    /// Waits for its end, for at most so long; says whether it ended.
    pub fn ends_within(&self, limit: Duration) -> bool {
        self.process.ends_within(limit)
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

    /// Kills it with SIGKILL. [`PrivateMySql::restart`] recovers the data.
    pub fn kill(&mut self) {
        self.process.stop(&[]);
        self.processes().kill_all();
    }

    /// Starts it again on the data that it has, after it died or was killed.
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.kill();
        self.process = launch(&self.installation, &self.options, self.disk.as_ref(), &self.scratch)?;
        self.socket.belongs_to(self.process.id());
        self.await_ready()
    }

    /// Starts it again with pristine data: whatever was done to it is forgotten.
    pub fn renew(&mut self) -> Result<(), ServerError> {
        self.kill();
        if let Some(disk) = &mut self.disk {
            disk.copy(&self.pristine.data())?;
            return self.restart();
        }
        let home = self.scratch.home();
        self.scratch.clear().map_err(failed(format_args!("empty {}", home.display())))?;
        self.pristine.copy_to(&self.scratch)?;
        self.restart()
    }

    fn processes(&self) -> ServerProcesses<'_> {
        ServerProcesses { spared: self.disk.as_ref().map(SmallDisk::helper), ..self.scratch.processes() }
    }

    /// Waits until the server greets who connects.
    fn await_ready(&mut self) -> Result<(), ServerError> {
        let limit = self.options.start_limit.0;
        let deadline = Instant::now() + limit;
        let program = self.installation.server.display().to_string();
        while !greets(&self.socket) {
            self.process.ends_within(START_POLL);
            if let Some(death) = self.process.death() {
                let log = death.log.join("\n  ");
                return Err(ServerError::Failed(format!("{program} ended ({})\n  {log}", death.how)));
            }
            if interrupt::requested() {
                return Err(ServerError::Interrupted);
            }
            if Instant::now() > deadline {
                let (seconds, log) = (limit.as_secs(), log::last_lines(&self.log_path()).join("\n  "));
                return Err(ServerError::Failed(format!("{program} was not ready after {seconds} seconds\n  {log}")));
            }
        }
        Ok(())
    }
}

impl Breakable for PrivateMySql {
    fn processes(&self) -> ServerProcesses<'_> {
        PrivateMySql::processes(self)
    }

    fn died(&mut self) -> Option<Death> {
        PrivateMySql::died(self)
    }

    fn kill(&mut self) {
        PrivateMySql::kill(self);
    }

    fn stop_in_order(&mut self) -> bool {
        self.process.stops_in_order(Signal::TERM, RESTART_LIMIT)
    }

    fn start_again(&mut self) -> Result<(), ServerError> {
        self.restart()
    }

    fn disk(&mut self) -> Option<&mut SmallDisk> {
        self.disk.as_mut()
    }
}

impl Drop for PrivateMySql {
    /// At once: what it would still write is about to be removed.
    fn drop(&mut self) {
        if self.options.keep && self.scratch.keep().is_ok() {
            return;
        }
        self.kill();
    }
}

fn data_dir(scratch: &ScratchDir) -> PathBuf {
    scratch.home().join("data")
}

fn log_path(scratch: &ScratchDir) -> PathBuf {
    scratch.path().join("log")
}

fn socket(scratch: &ScratchDir) -> PathBuf {
    scratch.home().join("mysql.sock")
}

/// Whether a server at the socket says the first word, as this protocol's servers do.
fn greets(socket: &ServerSocket) -> bool {
    let greeting = || -> io::Result<usize> {
        let mut stream = socket.connect()?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.read(&mut [0; 64])
    };
    greeting().is_ok_and(|count| count > 0)
}

/// A command of an installation. Options come after `--no-defaults`, which must be the first.
fn command(
    installation: &Installation,
    program: &Path,
    disk: Option<&SmallDisk>,
    scratch: &ScratchDir,
    network: Network,
) -> Command {
    let mut command = match disk {
        Some(disk) => disk.command(program, &scratch.home(), network),
        None => confinement::command(program, scratch.user(), &scratch.home(), network),
    };
    if let Some(bundle) = &installation.bundle {
        command.env("LD_LIBRARY_PATH", &bundle.dir);
    }
    command.arg("--no-defaults");
    if let Some(bundle) = &installation.bundle {
        command.arg(option("--basedir", &bundle.dir)).arg(option("--lc-messages-dir", &bundle.dir.join("share")));
    }
    command
}

fn option(name: &str, value: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push("=");
    option.push(value);
    option
}

/// Makes a pristine data directory.
fn initialise(installation: &Installation, scratch: &ScratchDir, data: &Path) -> Result<(), ServerError> {
    if let Some(bundle) = &installation.bundle {
        let copied = copy_bundle(&bundle.data, scratch, data);
        return copied.map_err(failed(format_args!("copy {}", bundle.data.display())));
    }
    let program = installation.initialiser.as_ref().unwrap_or(&installation.server);
    let mut command = command(installation, program, None, scratch, Network::None);
    match installation.product {
        Product::MariaDb => command.args(["--auth-root-authentication-method=normal", "--skip-test-db"]),
        Product::MySql => command.arg("--initialize-insecure"),
    };
    command.arg(option("--datadir", data)).args(SIZES).args(UNSYNCHRONISED);
    // A server that starts removes what looks like temporary tables of its own from the directory for temporary files:
    // two that are initialised at once must not share one.
    command.arg(option("--tmpdir", &scratch.home()));
    let output = command.output().map_err(failed(format_args!("run {}", program.display())))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    Err(ServerError::Failed(format!("{} failed ({}): {}", program.display(), output.status, said.trim())))
}

/// Copies the data directory that comes with an unpacked server. It may be readable by its owner only, so there are two
/// steps: we read it, and the server's user makes the copy.
fn copy_bundle(bundle: &Path, scratch: &ScratchDir, data: &Path) -> io::Result<()> {
    let readable = scratch.path().join("bundle");
    copy_tree(bundle, &readable)?;
    if scratch.user().is_some() {
        open_to_readers(&readable)?;
    }
    act_as(scratch.user(), || copy_tree(&readable, data))?;
    fs::remove_dir_all(&readable)
}

/// Starts the server.
fn launch(
    installation: &Installation,
    options: &ServerOptions,
    disk: Option<&SmallDisk>,
    scratch: &ScratchDir,
) -> Result<ServerProcess, ServerError> {
    let mut command = command(installation, &installation.server, disk, scratch, options.network());
    command.arg(option("--datadir", &data_dir(scratch)));
    command.arg(option("--socket", &socket(scratch)));
    command.arg(option("--pid-file", &scratch.home().join("pid")));
    command.arg(option("--tmpdir", &scratch.home()));
    command.args(SIZES).args(if options.durable { DURABLE } else { UNSYNCHRONISED }).args(SETTINGS);
    command.arg(format!("--max-connections={}", options.connections()));
    command.args(SMALL.iter().filter(|_| disk.is_some()));
    command.args(UNUSED_SIZES.iter().map(|size| format!("--loose-performance-schema-{size}=0")));
    // MariaDB's limit is for all statements; MySQL has one for queries only.
    command.arg(format!("--loose-max-statement-time={}", BACKSTOP.as_secs()));
    command.arg(format!("--loose-max-execution-time={}", BACKSTOP.as_millis()));
    command.args(options.extra.iter().map(|(name, value)| format!("--{name}={value}")));
    if !options.first.is_empty() {
        let path = scratch.path().join("first.sql");
        let lines: String = options.first.iter().map(|sql| format!("{sql};\n")).collect();
        write_for_server(&path, &lines, scratch.user()).map_err(failed(format_args!("write {}", path.display())))?;
        command.arg(option("--init-file", &path));
    }
    // A server that died left its socket; one that greets must be the new one.
    let _ = act_as(scratch.user(), || remove_any(&socket(scratch)));
    ServerProcess::spawn(command, &log_path(scratch))
        .map_err(failed(format_args!("start {}", installation.server.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(options: ServerOptions) -> Result<PrivateMySql, ServerError> {
        PrivateMySql::start(Product::MariaDb, &Programs::Newest, options)
    }

    #[test]
    fn a_server_lives_in_its_directory_and_leaves_nothing() {
        let mut server = start(ServerOptions::default()).unwrap();
        let (dir, pid) = (server.scratch.path().to_path_buf(), server.id());
        assert!(greets(&server.socket()));
        assert_eq!(server.died(), None);
        server.kill();
        assert_eq!(server.died().unwrap().how, "signal 9");
        assert!(!greets(&server.socket()));
        server.restart().unwrap();
        assert_eq!(server.died(), None);
        assert_ne!(server.id(), pid);
        server.renew().unwrap();
        assert!(greets(&server.socket()));
        drop(server);
        assert!(!dir.exists());
    }

    #[test]
    fn what_a_server_has_planted_leads_nowhere_and_hinders_nobody() {
        let mut server = start(ServerOptions { first: vec!["SELECT 1".into()], ..ServerOptions::default() }).unwrap();
        let outside = ScratchDir::create().unwrap();
        let precious = outside.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        let (home, data) = (server.scratch.home(), data_dir(&server.scratch));
        let plant = || -> io::Result<()> {
            fs::remove_dir_all(&data)?;
            std::os::unix::fs::symlink(outside.path(), &data)?;
            let _ = fs::remove_file(home.join("mysql.sock"));
            std::os::unix::fs::symlink(&precious, home.join("mysql.sock"))
        };
        server.kill();
        act_as(server.scratch.user(), plant).unwrap();
        server.renew().unwrap();
        assert!(greets(&server.socket()));
        if let Some(user) = server.scratch.user() {
            let first = server.scratch.path().join("first.sql");
            assert!(user.act(|| fs::write(&first, "DROP TABLE t")).is_err(), "it may be read, and not written");
            assert!(user.act(|| fs::rename(&first, home.join("first.sql"))).is_err());
        }
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 2, "it, and the lock");
    }

    #[test]
    fn a_kept_server_outlives_us() {
        let server = start(ServerOptions { keep: true, ..ServerOptions::default() }).unwrap();
        let (dir, socket) = (server.scratch.path().to_path_buf(), server.socket());
        assert!(server.client().contains("/mysql.sock"));
        let user = server.scratch.user().cloned();
        drop(server);
        assert!(greets(&socket));
        super::super::sweep();
        assert!(greets(&socket), "no sweep takes it");
        assert!(ServerProcesses { dir: &dir, user: user.as_ref(), spared: None }.kill_all());
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_server_that_cannot_start_says_why() {
        let options = ServerOptions { extra: vec![("no-such-option".into(), "1".into())], ..ServerOptions::default() };
        let error = start(options).unwrap_err().to_string();
        assert!(error.contains("ended (exit code ") && error.contains("no-such-option"), "{error}");
    }
}

//! A private H2 server: a Java process that speaks PostgreSQL's protocol, on a port of its own.
//!
//! H2 knows no sockets in the file system, so the port can be reached by everybody on this machine (and by nobody else).
//! Whoever may run statements on H2 may run Java, too. So the database is made *before* the server listens, with a password
//! that nobody else knows, and the server is not allowed to make others.
//!
//! ```text
//!   java … RunScript  makes SCRATCH/data/test, sets what it is told, ends
//!   java … Server     says "PG server running at pg://localhost:PORT" in its log: it is ready
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use txloom_core::engine::{Death, Fault};

use super::confinement::{self, Network};
use super::disk::SmallDisk;
use super::fault::{self, Breakable};
use super::files::{make_dir, write_for_server};
use super::log::{self, LogReader};
use super::process::{ServerProcess, ServerProcesses};
use super::scratch::{ScratchDir, sweep};
use super::user::act_as;
use super::{Programs, ServerError, ServerOptions, failed, new_password};
use crate::interrupt;

/// Where systems put the libraries of Java programs.
const JAR_DIRS: &[&str] = &["/usr/share/java", "/usr/local/share/java"];

/// How often a starting server is asked whether it is ready.
const START_POLL: Duration = Duration::from_millis(5);

/// How long a server that is restarted may take to shut down.
const RESTART_LIMIT: Duration = Duration::from_secs(60);

/// What a server says when it listens, before the port.
const LISTENS: &str = "PG server running at pg://localhost:";

/// The package that brings Java, and the one that brings H2, on Debian and its relatives.
pub const PACKAGES: &str = "libh2-java default-jre-headless";

/// An H2 that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    java: PathBuf,
    /// The library that is the server.
    pub jar: PathBuf,
}

impl Installation {
    /// Finds the programs, or says which packages bring them.
    pub fn find(wanted: &Programs) -> Result<Installation, ServerError> {
        let missing = |what: &str| ServerError::Missing(format!("{what} (apt install {PACKAGES})"));
        let java = java().ok_or_else(|| missing("H2 runs on Java, and there is no program `java`: install it"))?;
        let jars = match wanted {
            Programs::Dir(dir) => jars_in(dir),
            Programs::Newest | Programs::Version(_) => {
                JAR_DIRS.iter().flat_map(|dir| jars_in(Path::new(dir))).collect()
            }
        };
        let numbers = match wanted {
            Programs::Version(numbers) => numbers.as_slice(),
            _ => &[],
        };
        let newest = jars.into_iter().filter(|(version, _)| version.starts_with(numbers)).max();
        let (_, jar) = newest.ok_or_else(|| match wanted {
            Programs::Dir(dir) => ServerError::Missing(format!("there is no h2-VERSION.jar in {}", dir.display())),
            _ => missing(
                "H2 is not installed on this machine: install it, or name a directory that holds its jar (h2@DIR)",
            ),
        })?;
        Ok(Installation { java, jar })
    }

    /// Its version, as the name of the library tells it.
    pub fn version(&self) -> Vec<u32> {
        version_of(&self.jar).unwrap_or_default()
    }
}

fn java() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = home.into_iter().chain(std::env::split_paths(&path));
    places.map(|dir| dir.join("java")).find(|java| java.is_file())
}

/// The libraries `h2-VERSION.jar` of a directory, with their versions.
fn jars_in(dir: &Path) -> Vec<(Vec<u32>, PathBuf)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((version_of(&entry.path())?, entry.path()))).collect()
}

/// `[2, 1, 214]` of `h2-2.1.214.jar`.
fn version_of(jar: &Path) -> Option<Vec<u32>> {
    let version = jar.file_name()?.to_str()?.strip_prefix("h2-")?.strip_suffix(".jar")?;
    version.split('.').map(|part| part.parse().ok()).collect()
}

/// A running server that nobody else uses. Dropping it stops it and removes its directory.
#[derive(Debug)]
pub struct PrivateH2 {
    installation: Installation,
    options: ServerOptions,
    password: String,
    process: ServerProcess,
    log: LogReader,
    port: u16,
    scratch: ScratchDir,
}

impl PrivateH2 {
    /// Sweeps up after killed owners, then starts a server and waits until it listens.
    pub fn start(wanted: &Programs, options: ServerOptions) -> Result<PrivateH2, ServerError> {
        sweep();
        let installation = Installation::find(wanted)?;
        if options.small_disk {
            return Err(ServerError::Failed("there is no small disk for H2: --full-disk is for other servers".into()));
        }
        let scratch = ScratchDir::for_server(&options);
        let scratch = scratch.map_err(failed("make a scratch directory for H2"))?;
        let password = new_password().map_err(failed("think of a password"))?;
        make_database(&installation, &options, &password, &scratch)?;
        let (process, log) = launch(&installation, &scratch)?;
        let mut server = PrivateH2 { installation, options, password, process, log, port: 0, scratch };
        server.await_ready()?;
        Ok(server)
    }

    /// The port that it listens on; another one after each start.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The user with all rights.
    pub fn superuser(&self) -> &'static str {
        "sa"
    }

    /// The password, which was made for this server.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// The database.
    pub fn database(&self) -> &'static str {
        "test"
    }

    /// The command with which a person looks inside, and the one that ends a server which was kept.
    pub fn client(&self) -> String {
        let (port, password, user) = (self.port, &self.password, self.superuser());
        let look = format!("PGPASSWORD={password} psql -h localhost -p {port} -U {user} {}", self.database());
        format!("{look}; afterwards: kill {} && rm -r {}", self.process.id(), self.scratch.path().display())
    }

    /// Whether it died since it was last started, and how.
    pub fn died(&mut self) -> Option<Death> {
        self.process.death()
    }

    /// Waits for its end, for at most so long; says whether it ended.
    pub fn ends_within(&self, limit: Duration) -> bool {
        self.process.ends_within(limit)
    }

    /// Breaks it and mends it; says whether it was started anew.
    pub fn fault(&mut self, fault: Fault) -> Result<bool, ServerError> {
        fault::befall(self, fault)
    }

    /// Starts it again on the data that it has, after it died or was killed.
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.kill_all();
        (self.process, self.log) = launch(&self.installation, &self.scratch)?;
        self.await_ready()
    }

    /// Starts it again with a new database.
    pub fn renew(&mut self) -> Result<(), ServerError> {
        self.kill_all();
        let home = self.scratch.home();
        self.scratch.clear().map_err(failed(format_args!("empty {}", home.display())))?;
        make_database(&self.installation, &self.options, &self.password, &self.scratch)?;
        self.restart()
    }

    fn kill_all(&mut self) {
        self.process.stop(&[]);
        self.scratch.processes().kill_all();
    }

    /// Waits until the server says that it listens.
    fn await_ready(&mut self) -> Result<(), ServerError> {
        let limit = self.options.start_limit.0;
        let deadline = Instant::now() + limit;
        loop {
            let lines = self.log.new_lines().unwrap_or_default();
            if let Some(port) = lines.iter().find_map(|line| port_in(line)) {
                self.port = port;
                return Ok(());
            }
            self.process.ends_within(START_POLL);
            if let Some(death) = self.process.death() {
                return Err(ServerError::Failed(format!("H2 ended ({})\n  {}", death.how, death.log.join("\n  "))));
            }
            if interrupt::requested() {
                return Err(ServerError::Interrupted);
            }
            if Instant::now() > deadline {
                let log = log::last_lines(&log_path(&self.scratch)).join("\n  ");
                let seconds = limit.as_secs();
                return Err(ServerError::Failed(format!("H2 was not ready after {seconds} seconds\n  {log}")));
            }
        }
    }
}

impl Breakable for PrivateH2 {
    fn processes(&self) -> ServerProcesses<'_> {
        self.scratch.processes()
    }

    fn died(&mut self) -> Option<Death> {
        PrivateH2::died(self)
    }

    fn kill(&mut self) {
        self.kill_all();
    }

    fn stop_in_order(&mut self) -> bool {
        self.process.stops_in_order(Signal::TERM, RESTART_LIMIT)
    }

    fn start_again(&mut self) -> Result<(), ServerError> {
        self.restart()
    }

    fn disk(&mut self) -> Option<&mut SmallDisk> {
        None
    }
}

impl Drop for PrivateH2 {
    fn drop(&mut self) {
        if self.options.keep && self.scratch.keep().is_ok() {
            return;
        }
        self.kill_all();
    }
}

fn data_dir(scratch: &ScratchDir) -> PathBuf {
    scratch.home().join("data")
}

fn log_path(scratch: &ScratchDir) -> PathBuf {
    scratch.path().join("log")
}

/// The port of a line that says that the server listens.
fn port_in(line: &str) -> Option<u16> {
    let rest = line.strip_prefix(LISTENS)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// A command of H2.
fn command(installation: &Installation, tool: &str, scratch: &ScratchDir) -> std::process::Command {
    let mut command = confinement::command(&installation.java, scratch.user(), &scratch.home(), Network::Machine);
    // Java would tell others how it fares, by a file in /tmp.
    command.arg("-XX:-UsePerfData").arg(format!("-Djava.io.tmpdir={}", scratch.home().display()));
    // The first for a server that is not alone; the others for a process that is short or small.
    command.arg("-Dh2.bindAddress=127.0.0.1").args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]);
    command.arg("-cp").arg(&installation.jar).arg(tool);
    command
}

/// Makes the database, with the settings that were asked for.
fn make_database(
    installation: &Installation,
    options: &ServerOptions,
    password: &str,
    scratch: &ScratchDir,
) -> Result<(), ServerError> {
    let data = data_dir(scratch);
    act_as(scratch.user(), || make_dir(&data)).map_err(failed(format_args!("make {}", data.display())))?;
    // As it is by default, H2 writes half a second after it has acknowledged.
    let delay = if options.durable { "SET WRITE_DELAY 0;\n" } else { "" };
    let mut script = format!("ALTER USER SA SET PASSWORD '{password}';\n{delay}");
    options.extra.iter().for_each(|(name, value)| script.push_str(&format!("SET {name} {value};\n")));
    // In a file, and not among the arguments, which everybody may read.
    let file = scratch.path().join("settings.sql");
    write_for_server(&file, &script, scratch.user()).map_err(failed(format_args!("write {}", file.display())))?;
    let mut command = command(installation, "org.h2.tools.RunScript", scratch);
    command.args(["-url", &format!("jdbc:h2:{}/test", data.display()), "-user", "sa", "-script"]).arg(&file);
    let output = command.output().map_err(failed(format_args!("run {}", installation.java.display())))?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() {
        return Ok(());
    }
    Err(ServerError::Failed(format!("H2 could not make a database ({}): {}", output.status, said.trim())))
}

/// Starts the server, and reads its log from here on.
fn launch(installation: &Installation, scratch: &ScratchDir) -> Result<(ServerProcess, LogReader), ServerError> {
    let mut command = command(installation, "org.h2.tools.Server", scratch);
    command.args(["-pg", "-pgPort", "0", "-baseDir"]).arg(data_dir(scratch));
    let log = log_path(scratch);
    let start = || {
        log::create(&log)?;
        let reader = LogReader::at_end(&log)?;
        Ok((ServerProcess::spawn(command, &log)?, reader))
    };
    start().map_err(failed(format_args!("start {}", installation.java.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        assert_eq!(version_of(Path::new("/x/h2-2.1.214.jar")), Some(vec![2, 1, 214]));
        assert_eq!(version_of(Path::new("/x/h2.jar")), None);
        assert_eq!(version_of(Path::new("/x/h2-sources.jar")), None);
    }

    #[test]
    fn a_server_says_where_it_listens() {
        assert_eq!(port_in("PG server running at pg://localhost:33217 (only local connections)"), Some(33217));
        assert_eq!(port_in("TCP server running at tcp://localhost:9092 (only local connections)"), None);
    }

    #[test]
    fn what_is_missing_is_said() {
        let scratch = ScratchDir::create().unwrap();
        let error = Installation::find(&Programs::Dir(scratch.path().into())).unwrap_err().to_string();
        // Whichever is found to be missing first.
        assert!(
            error.contains("there is no program `java`") || error.contains("there is no h2-VERSION.jar"),
            "{error}"
        );
    }
}

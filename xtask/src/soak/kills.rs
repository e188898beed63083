//! *Kills*: commands ended at any moment, in every way, leave neither a process nor, after the next start, a directory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::hunts::{once, table};
use super::{FOLDER, Section};

const TARGETS: [&str; 3] = ["postgres", "mariadb", "sqlite"];
const SIGNALS: [&str; 3] = ["KILL", "HUP", "TERM"];
/// The commands; `{}` stands for the target.
const COMMANDS: [&str; 5] = [
    "run corpus/anomalies --on {}",
    "hunt {} --for 1h -o soak-results/kills/findings",
    "storm {} --for 1h",
    "analyze examples/bank.sql --run --on {}",
    "levels {}",
];
/// How many ends are counted in one line of the table.
const ROUNDS_PER_LINE: usize = 50;
/// The last moment at which a command is ended.
const MOMENT_MAX: u64 = 3_000;
/// How long processes are waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// The cells of a line that hold what the bar is about.
const PROCESSES: usize = 2;
const DIRECTORIES: usize = 3;

/// Ends commands as many times as there are rounds.
pub(super) fn run(rounds: usize) -> Result<Section> {
    let mut rows = Vec::new();
    for first in (0..rounds).step_by(ROUNDS_PER_LINE) {
        let last = rounds.min(first + ROUNDS_PER_LINE);
        rows.push(once("kills", &format!("{first}-{last}"), || measure(first..last))?);
    }
    let met = rows.iter().all(|row| [PROCESSES, DIRECTORIES].iter().all(|cell| row[*cell] == "0"));
    let words = "`run`, `hunt`, `storm`, `analyze --run` and `levels` on PostgreSQL, MariaDB and SQLite, ended by SIGKILL, \
                 SIGHUP and SIGTERM at moments of their first three seconds.\n\n";
    let header = "rounds | ended: | processes left after 10 s: | directories left after the next start:";
    Ok(Section { met, text: words.to_string() + &table(header, &rows) })
}

fn measure(rounds: std::ops::Range<usize>) -> Result<Vec<String>> {
    let folder = std::env::current_dir()?.join(FOLDER).join("kills");
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    // The name of a socket must not be long.
    let temporary = std::env::temp_dir().join(format!("txloom-kills-{}", std::process::id()));
    let (mut processes, mut directories) = (0, 0);
    for round in rounds.clone() {
        std::fs::create_dir_all(&temporary).with_context(|| format!("creating {}", temporary.display()))?;
        end_one(round, &temporary)?;
        processes += left_processes(&temporary);
        start_elsewhere(&folder)?;
        directories += left_directories(&temporary);
        let _ = std::fs::remove_dir_all(&temporary);
    }
    let cells = [format!("{} to {}", rounds.start, rounds.end), rounds.len().to_string()];
    Ok(cells.into_iter().chain([processes.to_string(), directories.to_string()]).collect())
}

/// The program that is to be tried, which lies beside this one.
fn program() -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("txloom");
    anyhow::ensure!(program.is_file(), "there is no {}: build it first", program.display());
    Ok(program)
}

/// Starts a command and ends it.
fn end_one(round: usize, temporary: &Path) -> Result<()> {
    let command = COMMANDS[round % COMMANDS.len()].replace("{}", TARGETS[round / COMMANDS.len() % TARGETS.len()]);
    let signal = SIGNALS[(round + round / (COMMANDS.len() * TARGETS.len())) % SIGNALS.len()];
    let mut child = Command::new(program()?)
        .args(command.split(' '))
        .env("TMPDIR", temporary)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    std::thread::sleep(Duration::from_millis(round as u64 * 7_919 % MOMENT_MAX));
    Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).stderr(Stdio::null()).status()?;
    child.wait().map(drop).context("waiting for the command")
}

/// The next start, which looks for temporary files elsewhere.
fn start_elsewhere(folder: &Path) -> Result<()> {
    let mut next = Command::new(program()?);
    next.args(["run", "corpus/contract/savepoints.sql", "--on", "sqlite"]).env("TMPDIR", folder);
    let output = next.output()?;
    anyhow::ensure!(output.status.success(), "the next start failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// How many processes work below a directory, or were told of it, when there was time to end.
fn left_processes(temporary: &Path) -> usize {
    let told = temporary.to_string_lossy().into_owned();
    let belongs = |process: &Path| {
        let title = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let is_below = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(temporary));
        is_below || String::from_utf8_lossy(&title).contains(&told)
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let count = processes.filter(|process| belongs(&process.path())).count();
        if count == 0 || Instant::now() > deadline {
            return count;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn left_directories(temporary: &Path) -> usize {
    let entries = std::fs::read_dir(temporary).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("txloom-")).count()
}

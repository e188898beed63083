//! How fast a storm is: updates alone, against `pgbench` with the same statements, on the same server in the same run.
//!
//! Both sides send four UPDATEs between BEGIN and COMMIT, as simple queries, over as many connections; keys are uniform
//! in both. Rounds alternate, and medians are compared, since machines are noisy.
//!
//! What helped: BEGIN goes out in one message with the first statement, which pgbench does not do (86 % of pgbench
//! before, 92 % with it). What remains is one thread a session: most of a client's time goes into being woken up.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use txloom::engines::{self, Target};
use txloom::storm::{Budget, PROFILES, Scale, Shape, Storm};
use txloom_core::engine::Engine;

use crate::measure::median;

const CLIENTS: usize = 24;
const KEYS: usize = 2_000;
const ROUNDS: usize = 3;
const TIME: Duration = Duration::from_secs(6);
/// What a storm must reach of pgbench's throughput, without recording and with it.
const BARS: [f64; 2] = [0.90, 0.75];

/// Measures both. True if the bars are met.
pub(super) fn run(table: &mut String) -> Result<bool> {
    let mut engine = engines::open(&Target::parse("postgres")?)?;
    let server = Server::of(engine.as_ref())?;
    let (mut theirs, mut quiet, mut recorded) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        // A storm begins with an empty server: what others left there is gone.
        server.set_up()?;
        theirs.push(server.pgbench()?);
        quiet.push(storm(engine.as_mut(), false)?);
        recorded.push(storm(engine.as_mut(), true)?);
    }
    let [theirs, quiet, recorded] = [theirs, quiet, recorded].map(median);
    writeln!(
        table,
        "\nUpdate-only storm on PostgreSQL: four updates a transaction, {CLIENTS} sessions, {KEYS} keys, simple queries; \
         medians of {ROUNDS} rounds of {} s in turns.\n",
        TIME.as_secs()
    )?;
    table.push_str("| client | committed per second | of pgbench | bar |\n|---|---:|---:|---|\n");
    writeln!(table, "| pgbench -M simple | {theirs:.0} | | |")?;
    let mut met = true;
    for ((name, figure), bar) in [("storm --check off", quiet), ("storm, recorded", recorded)].into_iter().zip(BARS) {
        let share = figure / theirs;
        met &= share >= bar;
        let verdict = if share >= bar { "met" } else { "NOT MET" };
        writeln!(
            table,
            "| {name} | {figure:.0} | {:.0} % | at least {:.0} %: {verdict} |",
            share * 100.0,
            bar * 100.0
        )?;
    }
    Ok(met)
}

/// Committed transactions a second.
fn storm(engine: &mut dyn Engine, is_recording: bool) -> Result<f64> {
    let scale = Scale { sessions: CLIENTS, keys: KEYS, ..Scale::default() };
    let profile = PROFILES.iter().find(|profile| profile.name == "updates").context("the profile is gone")?;
    let workload = (profile.make)(&Shape::new(scale), engine.info()).map_err(anyhow::Error::msg)?;
    let storm = Storm { budget: Budget::time(TIME), is_recording, ..Storm::new(&*workload, scale) };
    let summary = storm.run(engine, &mut ())?;
    Ok(summary.tally.committed as f64 / summary.elapsed.as_secs_f64())
}

/// The private server, as PostgreSQL's own programs reach it.
struct Server {
    /// `-h DIR -p PORT -U USER`
    login: Vec<String>,
    script: PathBuf,
}

impl Server {
    /// The engine tells people how to look inside with psql; the same flags serve here.
    fn of(engine: &dyn Engine) -> Result<Server> {
        let client = engine.info().client.clone().context("the server is not private")?;
        let words = client.split([' ', ';']).skip_while(|word| *word != "-h").take(6);
        let login = words.map(str::to_string).collect();
        let script = std::env::temp_dir().join(format!("txloom-pgbench-{}.sql", std::process::id()));
        Ok(Server { login, script })
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let done = Command::new(find(program)).args(&self.login).args(arguments).output();
        let done = done.with_context(|| format!("starting {program}"))?;
        let errors = String::from_utf8_lossy(&done.stderr);
        anyhow::ensure!(done.status.success(), "{program} failed: {errors}");
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    fn set_up(&self) -> Result<()> {
        self.run("psql", &["-d", "postgres", "-c", "CREATE DATABASE txloom_pgbench"])?;
        let fill = format!(
            "CREATE TABLE z (pk BIGINT NOT NULL, attr0 VARCHAR(8) NOT NULL, v BIGINT NOT NULL, PRIMARY KEY (pk)); \
             CREATE TABLE y (pk BIGINT NOT NULL, attr0 VARCHAR(7) NOT NULL, fk0 BIGINT NOT NULL, v BIGINT NOT NULL, \
             PRIMARY KEY (pk), FOREIGN KEY (fk0) REFERENCES z (pk)); \
             INSERT INTO z SELECT k, 'aaaxxxxx', 0 FROM generate_series(1, 20) k; \
             INSERT INTO y SELECT k, 'China', 1 + k % 20, 0 FROM generate_series(1, {KEYS}) k;"
        );
        self.run("psql", &["-q", "-d", "txloom_pgbench", "-c", &fill])?;
        let mut script = String::new();
        for at in 1..=4 {
            script.push_str(&format!("\\set k{at} random(1, {KEYS})\n\\set v{at} random(1, 1000000000)\n"));
        }
        script.push_str("BEGIN;\n");
        for at in 1..=4 {
            script.push_str(&format!("UPDATE y SET attr0 = 'Japan', v = :v{at} WHERE pk = :k{at};\n"));
        }
        script.push_str("COMMIT;\n");
        std::fs::write(&self.script, script).context("writing pgbench's script")
    }

    /// Committed transactions a second.
    fn pgbench(&self) -> Result<f64> {
        let script = self.script.to_string_lossy().into_owned();
        let (clients, seconds) = (CLIENTS.to_string(), TIME.as_secs().to_string());
        let told = self.run(
            "pgbench",
            &["-n", "-M", "simple", "-c", &clients, "-j", "2", "-T", &seconds, "-f", &script, "txloom_pgbench"],
        )?;
        let figure = told.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        figure.with_context(|| format!("pgbench told no throughput:\n{told}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What is left of it harms nobody.
        let _ = std::fs::remove_file(&self.script);
    }
}

/// Where Debian keeps the programs of a server, or else wherever the path leads.
fn find(program: &str) -> String {
    let versions = (13..=20).rev().map(|version| format!("/usr/lib/postgresql/{version}/bin/{program}"));
    versions.into_iter().find(|path| Path::new(path).exists()).unwrap_or_else(|| program.to_string())
}

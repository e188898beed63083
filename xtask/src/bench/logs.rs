//! How fast a server's log becomes procedures, and how much memory that takes.
//!
//! A gigabyte of each format is written to a temporary file: many sessions at once, orders with several lines, reads,
//! settings, failures. It is read by a process of its own, whose memory is measured.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use txloom::frontends::logs;
use txloom_core::generate::random::Random;
use txloom_core::program::Language;
use txloom_core::program::schema::Schema;

use super::peak::peak_kib;

const BYTES: u64 = 1 << 30;
/// The bars, for each format.
const SECONDS_MAX: f64 = 60.0;
const MEBIBYTES_MAX: u64 = 500;
/// The argument with which the process that is measured is told apart.
const CHILD: &str = "logs:";

const TABLES: &str = "CREATE TABLE items (id INT PRIMARY KEY, name TEXT NOT NULL, stock INT NOT NULL);
    CREATE TABLE orders (id INT PRIMARY KEY, customer INT NOT NULL, state TEXT NOT NULL);
    CREATE TABLE lines (order_id INT, number INT, item INT NOT NULL, quantity INT NOT NULL, PRIMARY KEY (order_id, number));";

/// Measures all formats. True if the bars are met.
pub(super) fn run(table: &mut String) -> Result<bool> {
    table.push_str(
        "\nReading a server's log: a gigabyte, one thread.\n\n\
         | format | seconds | MB/s | memory, MiB | transactions | bar |\n|---|---:|---:|---:|---:|---|\n",
    );
    let mut met = true;
    for format in ["stderr", "general"] {
        let file = Temporary(std::env::temp_dir().join(format!("txloom-bench-{format}-{}.log", std::process::id())));
        write_log(&file.0, format).context("writing the log")?;
        let measured = in_child(&file.0)?;
        let is_met = measured.seconds < SECONDS_MAX && measured.kib / 1024 < MEBIBYTES_MAX;
        met &= is_met;
        writeln!(
            table,
            "| {format} | {:.1} | {:.0} | {} | {} | {SECONDS_MAX:.0} s, {MEBIBYTES_MAX} MiB: {} |",
            measured.seconds,
            BYTES as f64 / 1e6 / measured.seconds,
            measured.kib / 1024,
            measured.transactions,
            if is_met { "met" } else { "missed" },
        )?;
    }
    Ok(met)
}

/// A file that is removed at the end.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // What is left of it harms nobody.
        let _ = std::fs::remove_file(&self.0);
    }
}

struct Measured {
    seconds: f64,
    kib: u64,
    transactions: u64,
}

/// Reads a log in another process, so that nothing else counts as its memory.
fn in_child(path: &Path) -> Result<Measured> {
    let program = std::env::current_exe().context("finding this program")?;
    let output = Command::new(program).args(["bench", &format!("{CHILD}{}", path.display())]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    anyhow::ensure!(output.status.success(), "reading failed: {}", String::from_utf8_lossy(&output.stderr));
    let numbers: Vec<&str> = text.split_whitespace().collect();
    let [seconds, kib, transactions] = numbers.as_slice() else { anyhow::bail!("unexpected: {text}") };
    Ok(Measured { seconds: seconds.parse()?, kib: kib.parse()?, transactions: transactions.parse()? })
}

/// What the other process does, if its argument says that it is one.
pub(super) fn child(arguments: &[String]) -> Option<Result<bool>> {
    let path = arguments.first()?.strip_prefix(CHILD)?;
    Some(read(Path::new(path)))
}

fn read(path: &Path) -> Result<bool> {
    let (schema, _) = Schema::read(TABLES, Language::Any);
    let start = Instant::now();
    let reading = logs::read(path, &schema, &[])?;
    println!("{} {} {}", start.elapsed().as_secs_f64(), peak_kib(), reading.survey.transactions);
    Ok(true)
}

/// Writes transactions of many sessions, mixed, until the file is large enough.
fn write_log(path: &Path, format: &str) -> Result<()> {
    const SESSIONS: usize = 40;
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut random = Random::new(1, &[]);
    let mut waiting: Vec<Vec<String>> = vec![Vec::new(); SESSIONS];
    let (mut written, mut order, mut clock) = (0_u64, 0_u64, 0_u64);
    let mut line = String::new();
    while written < BYTES {
        let session = random.below(SESSIONS);
        if waiting[session].is_empty() {
            order += 1;
            waiting[session] = transaction(&mut random, order);
            waiting[session].reverse();
        }
        let Some(statement) = waiting[session].pop() else { continue };
        clock += 1;
        line.clear();
        let (second, micro) = (clock / 5_000 % 60, clock % 1_000_000);
        match format {
            "stderr" => writeln!(
                line,
                "2024-05-01 10:00:{second:02}.{:03} UTC [{}] LOG:  statement: {statement}",
                micro % 1000,
                4000 + session
            )?,
            _ => writeln!(line, "2024-05-01T10:00:{second:02}.{micro:06}Z\t{:5} Query\t{statement}", 10 + session)?,
        }
        written += line.len() as u64;
        file.write_all(line.as_bytes())?;
    }
    Ok(file.flush()?)
}

fn transaction(random: &mut Random, order: u64) -> Vec<String> {
    let mut item = || random.below(100_000);
    match order % 10 {
        0 => vec!["SELECT 1".to_string(), format!("SELECT name, stock FROM items WHERE id = {}", item())],
        1 => vec![format!("UPDATE items SET stock = stock + {} WHERE id = {}", order % 7, item())],
        2 => vec![
            "BEGIN".to_string(),
            format!("SELECT id, state FROM orders WHERE customer = {} AND state IN ('new', 'paid')", item()),
            "ROLLBACK".to_string(),
        ],
        _ => {
            let mut statements = vec!["BEGIN".to_string()];
            statements.push(format!("INSERT INTO orders (id, customer, state) VALUES ({order}, {}, 'new')", item()));
            for number in 0..=order % 5 {
                let item = item();
                statements.push(format!("SELECT name, stock FROM items WHERE id = {item} FOR UPDATE"));
                statements.push(format!("UPDATE items SET stock = {} WHERE id = {item}", order % 1000));
                statements.push(format!(
                    "INSERT INTO lines (order_id, number, item, quantity) VALUES ({order}, {number}, {item}, {})",
                    1 + order % 9
                ));
            }
            statements.push("COMMIT".to_string());
            statements
        }
    }
}

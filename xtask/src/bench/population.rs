//! How fast tables are filled, compared with the server's own loader.
//!
//! The rows are computed, rendered, sent and stored; the server's own loader reads a file that lies ready on the same
//! machine (`COPY … FROM 'file'`, `LOAD DATA INFILE 'file'`): nothing is computed and nothing sent. Both take turns on the
//! same server, and the fastest of each counts, since the work is always the same.

use std::fmt::Write;
use std::fs::{self, File, Permissions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use txloom::engines::{self, Target};
use txloom_core::bulk::{Bulk, Cell, Cells};
use txloom_core::case::SessionName;
use txloom_core::engine::{Engine, SessionId, SessionSpec};
use txloom_core::shadow::keys::KeyPlan;
use txloom_core::shadow::population::Population;
use txloom_core::shadow::sql::Sql;
use txloom_core::shadow::{Distribution, Locking, Shadow, ycsb};

const SIZES: &[u64] = &[10_000, 100_000, 600_000, 2_400_000];
const TARGETS: &[&str] = &["postgres", "mariadb"];
const REPETITIONS: usize = 3;
/// The speed of the server's own loader that must be reached, at the largest size.
const SPEED_MIN: f64 = 0.8;
/// Ten times as many records may take this many times as long.
const GROWTH_MAX: f64 = 15.0;

/// Measures all targets and sizes. True if every bar is met.
pub(super) fn run(table: &mut String) -> Result<bool> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    writeln!(
        table,
        "\nFilling the two tables of ycsb-sql, {threads} connections, compared with the server's own loader and a ready file. \
         The fastest of {REPETITIONS}.\n\n\
         | target | records | own loader | txloom | µs per record | speed | bar |\n|---|---:|---:|---:|---:|---:|---:|"
    )?;
    let mut met = true;
    for target in TARGETS {
        let mut engine = engines::open(&Target::parse(target)?)?;
        let mut before: Option<(u64, f64)> = None;
        for size in SIZES {
            let (own, ours) = measure(engine.as_mut(), *size, threads)?;
            let (speed, is_last) = (own / ours, Some(size) == SIZES.last());
            writeln!(
                table,
                "| {target} | {size} | {own:.2} s | {ours:.2} s | {:.2} | {:.0} % | {} |",
                ours * 1e6 / *size as f64,
                speed * 100.0,
                if is_last { format!("{:.0} %", SPEED_MIN * 100.0) } else { String::new() },
            )?;
            met &= !is_last || speed >= SPEED_MIN;
            met &= before.is_none_or(|(records, time)| {
                let growth_max = GROWTH_MAX / 10.0 * (*size as f64 / records as f64);
                ours <= time * growth_max
            });
            before = Some((*size, ours));
        }
    }
    Ok(met)
}

/// The seconds of the server's own loader, and ours.
fn measure(engine: &mut dyn Engine, records: u64, threads: usize) -> Result<(f64, f64)> {
    let keys = KeyPlan { count: records, dynamic: 0.2, present: 1.0, access: Distribution::Uniform };
    let shadow = Shadow::new(ycsb::schema(keys)?, Locking::Early, 1)?;
    let sql = Sql::new(shadow.schema(), engine.info().dialect, &engine.info().version)?;
    let creates = sql.creates(shadow.load_order());
    let tables = Population::all(&shadow, &sql);
    let files = tables.iter().map(ReadyFile::write).collect::<Result<Vec<_>>>()?;
    let (mut own, mut ours) = (f64::MAX, f64::MAX);
    for _ in 0..REPETITIONS {
        engine.reset(&creates)?;
        own = own.min(load_files(engine, &files)?);
        check(engine, &tables)?;
        engine.reset(&creates)?;
        let start = Instant::now();
        for table in &tables {
            engine.load(table, threads)?;
        }
        ours = ours.min(start.elapsed().as_secs_f64());
        check(engine, &tables)?;
    }
    Ok((own, ours))
}

fn load_files(engine: &mut dyn Engine, files: &[ReadyFile]) -> Result<f64> {
    let is_postgres = engine.info().family == "postgres";
    let name = SessionName::new("loader").expect("it is a name");
    let mut session = engine.open(&SessionSpec { id: SessionId(0), name, node: None, level: None })?;
    let start = Instant::now();
    for ReadyFile { table, path } in files {
        let path = path.display();
        let outcome = session.execute(&match is_postgres {
            true => format!("COPY {table} FROM '{path}'"),
            false => format!("LOAD DATA INFILE '{path}' INTO TABLE {table}"),
        })?;
        anyhow::ensure!(outcome.error.is_none(), "the server's own loader failed: {:?}", outcome.error);
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Whether all rows are there.
fn check(engine: &mut dyn Engine, tables: &[Population<'_>]) -> Result<()> {
    for table in tables {
        let outcome = engine.probe(&format!("SELECT COUNT(*) FROM {}", table.table()))?;
        let rows = outcome.rows().map(|result| engine.info().dialect.values(result)).unwrap_or_default();
        let found = rows.first().and_then(|row| row.first()).map(ToString::to_string).unwrap_or_default();
        anyhow::ensure!(found == table.rows().to_string(), "{} has {found} rows, not {}", table.table(), table.rows());
    }
    Ok(())
}

/// The rows of a table, as lines that both servers read. Removed at the end.
struct ReadyFile {
    table: String,
    path: PathBuf,
}

impl ReadyFile {
    fn write(rows: &Population<'_>) -> Result<ReadyFile> {
        let name = format!("txloom-bench-{}-{}.tsv", std::process::id(), rows.table());
        let path = std::env::temp_dir().join(name);
        let ready = ReadyFile { table: rows.table().to_string(), path };
        ready.fill(rows).with_context(|| format!("writing {}", ready.path.display()))?;
        Ok(ready)
    }

    fn fill(&self, rows: &Population<'_>) -> Result<()> {
        let mut file = BufWriter::new(File::create(&self.path)?);
        // A private server may run as another user.
        fs::set_permissions(Path::new(&self.path), Permissions::from_mode(0o644))?;
        let mut cells = Cells::default();
        for position in 0..rows.positions() {
            cells.clear();
            if !rows.row(position, &mut cells) {
                continue;
            }
            for (at, cell) in cells.iter().enumerate() {
                // Countries, letters and digits need no escapes.
                let (Cell::Number(text) | Cell::Text(text)) = cell else { anyhow::bail!("a cell that is no text") };
                write!(file, "{}{text}", if at == 0 { "" } else { "\t" })?;
            }
            writeln!(file)?;
        }
        Ok(file.flush()?)
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        // What cannot be removed lies in the directory for temporary files.
        let _ = fs::remove_file(&self.path);
    }
}

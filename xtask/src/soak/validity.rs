//! *Valid storms*: `ycsb-sql` on PostgreSQL and MariaDB, and what sessions, records and skew do to it.

use anyhow::{Context, Result};
use txloom::engines::{self, Target};
use txloom::storm::validity::Figures;
use txloom::storm::{Budget, Ended, PROFILES, Scale, Shape, Storm, Summary};
use txloom_core::level::LevelName;
use txloom_core::shadow::measure::{Accessibility, OperationKind};

use super::Section;
use super::hunts::{once, percent, table};
use crate::chart::Chart;
use crate::date;

const TARGETS: &[&str] = &["postgres", "mariadb"];
const SESSIONS: usize = 24;
const KEYS: usize = 2_000;
const TRANSACTIONS: u64 = 4_800;
/// What is varied, for the paper's Figures 8 and 12.
const ALL_SESSIONS: &[usize] = &[4, 8, 16, 24, 40, 60, 80];
const ALL_KEYS: &[usize] = &[500, 1_000, 2_000, 5_000, 20_000];
const ALL_SKEWS: &[f64] = &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2];
/// What α must be at least, of item-read and update, insert and delete, predicate-read.
const BARS: [f64; 3] = [0.999, 0.99, 0.97];
const SELECTIVITY_MAX: f64 = 0.1;
const CONJUNCTIVE_MIN: f64 = 1.0 / 3.0;
const CONTENTION_MIN: f64 = 0.05;
const HEADER: &str = "storm | α item-read, update: | α insert, delete: | α predicate-read: | selectivity: | with AND: | contended: \
                      | rolled back: | dependencies: | committed per second:";

/// One storm.
#[derive(Clone, Copy)]
struct Cell {
    target: &'static str,
    sessions: usize,
    keys: usize,
    skew: f64,
}

impl Cell {
    fn usual(target: &'static str) -> Cell {
        Cell { target, sessions: SESSIONS, keys: KEYS, skew: 0.0 }
    }

    fn name(self) -> String {
        let Cell { target, sessions, keys, skew } = self;
        format!("{target} {sessions} sessions {keys} keys skew {skew}")
    }

    /// The line of the table.
    fn row(self) -> Result<Vec<String>> {
        once("validity", &self.name(), || self.measure())
    }

    fn measure(self) -> Result<Vec<String>> {
        let mut engine = engines::open(&Target::parse(self.target)?)?;
        let scale = Scale { sessions: self.sessions, keys: self.keys, ..Scale::default() };
        let profile = PROFILES.iter().find(|profile| profile.name == "ycsb-sql").context("the profile is gone")?;
        let shape = Shape { skew: self.skew, ..Shape::new(scale) };
        let workload = (profile.make)(&shape, engine.info()).map_err(anyhow::Error::msg)?;
        let storm = Storm {
            level: LevelName::parse("serializable"),
            budget: Budget::transactions(TRANSACTIONS),
            ..Storm::new(&*workload, scale)
        };
        let summary = storm.run(engine.as_mut(), &mut ())?;
        anyhow::ensure!(matches!(summary.ended, Ended::Budget), "the storm ended early: {:?}", summary.ended);
        Ok(self.cells(&summary))
    }

    fn cells(self, summary: &Summary) -> Vec<String> {
        let figures = summary.figures.clone().unwrap_or_default();
        let alphas = alphas(&figures).map(|alpha| format!("{alpha:.4}"));
        let predicates = &figures.predicates;
        let met = summary.contention.unwrap_or_default();
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let rolled_back: u64 = summary.tally.rolled_back.values().sum();
        let committed = summary.tally.committed;
        let rest = [
            percent(predicates.median_share().unwrap_or(1.0)),
            percent(share(predicates.conjunctive, predicates.count)),
            percent(share(met.contended, met.operations)),
            percent(share(rolled_back, rolled_back + committed)),
            met.dependencies.to_string(),
            format!("{:.0}", committed as f64 / summary.elapsed.as_secs_f64()),
        ];
        [self.name()].into_iter().chain(alphas).chain(rest).collect()
    }
}

/// α of item-read and update, of insert and delete, and of predicate-read.
fn alphas(figures: &Figures) -> [f64; 3] {
    use OperationKind::{Delete, Insert, ItemRead, PredicateRead, Update};
    [&[ItemRead, Update][..], &[Insert, Delete], &[PredicateRead]].map(|kinds| {
        let mut together = Accessibility::default();
        kinds.iter().for_each(|kind| together.add(figures.alphas.of(*kind)));
        together.alpha()
    })
}

fn number(row: &[String], at: usize) -> f64 {
    row.get(at).and_then(|cell| cell.trim_end_matches(" %").parse().ok()).unwrap_or(f64::NAN)
}

fn is_met(row: &[String]) -> bool {
    let alphas = (1..=3).all(|at| number(row, at) >= BARS[at - 1]);
    alphas
        && number(row, 4) <= SELECTIVITY_MAX * 100.0
        && number(row, 5) >= CONJUNCTIVE_MIN * 100.0
        && number(row, 6) >= CONTENTION_MIN * 100.0
}

pub(super) fn run() -> Result<Section> {
    let bars = TARGETS.iter().map(|target| Cell::usual(target).row()).collect::<Result<Vec<_>>>()?;
    let met = bars.iter().all(|row| is_met(row));
    let mut text = format!(
        "Valid storms: profile ycsb-sql, serializable, {TRANSACTIONS} transactions. Bars: α at least {}, {} and {}, median \
         selectivity at most {}, at least a third of the conditions with AND, at least {} contended.\n\n{}",
        BARS[0],
        BARS[1],
        BARS[2],
        percent(SELECTIVITY_MAX),
        percent(CONTENTION_MIN),
        table(HEADER, &bars)
    );
    let usual = Cell::usual("postgres");
    let sessions = ALL_SESSIONS.iter().map(|sessions| Cell { sessions: *sessions, ..usual }.row());
    let sessions = sessions.collect::<Result<Vec<_>>>()?;
    let records = ALL_KEYS.iter().map(|keys| Cell { keys: *keys, ..usual }.row()).collect::<Result<Vec<_>>>()?;
    let skews = ALL_SKEWS.iter().map(|skew| Cell { skew: *skew, ..usual }.row()).collect::<Result<Vec<_>>>()?;
    for (what, rows) in [("sessions", &sessions), ("records", &records), ("skew", &skews)] {
        text.push_str(&format!("\nAgainst {what}.\n\n{}", table(HEADER, rows)));
    }
    let names = |values: &[usize]| values.iter().map(usize::to_string).collect::<Vec<_>>();
    draw_alphas("sessions", &names(ALL_SESSIONS), &sessions)?;
    draw_alphas("records", &names(ALL_KEYS), &records)?;
    draw_skew(&skews)?;
    Ok(Section { text, met })
}

fn draw_alphas(what: &str, points: &[String], rows: &[Vec<String>]) -> Result<()> {
    let series = |name, at| (name, rows.iter().map(|row| number(row, at)).collect());
    let series = [series("item-read, update", 1), series("insert, delete", 2), series("predicate-read", 3)];
    let least = series.iter().flat_map(|(_, values): &(_, Vec<f64>)| values).copied().fold(0.98, f64::min);
    let title = format!("α against {what}: ycsb-sql on PostgreSQL, serializable");
    let range = ((least * 100.0).floor() / 100.0, 1.0);
    save(&format!("alpha-{what}"), &Chart { title: &title, axes: (what, "α"), points, range, series: &series })
}

fn draw_skew(rows: &[Vec<String>]) -> Result<()> {
    let most = |at: usize| rows.iter().map(|row| number(row, at)).fold(0.0, f64::max).max(1.0);
    let of_most = |at: usize| rows.iter().map(|row| number(row, at) / most(at) * 100.0).collect();
    let points: Vec<String> = ALL_SKEWS.iter().map(f64::to_string).collect();
    let series = [("dependencies", of_most(8)), ("rolled back", of_most(7)), ("committed per second", of_most(9))];
    let chart = Chart {
        title: "Dependencies, aborts and throughput against skew, % of the most",
        axes: ("exponent of the Zipf distribution", "%"),
        points: &points,
        range: (0.0, 100.0),
        series: &series,
    };
    save("skew", &chart)
}

fn save(name: &str, chart: &Chart<'_>) -> Result<()> {
    let path = format!("docs/measurements/storm-{name}-{}.svg", date::today());
    std::fs::create_dir_all("docs/measurements")?;
    std::fs::write(&path, chart.svg()).with_context(|| format!("writing {path}"))
}

//! Random transactions, compared with plain SQLite. At serializable, what is committed must equal a serial execution;
//! at snapshot isolation, a transaction must be answered as if it ran alone on its snapshot; at every level, a run
//! repeats itself and leaves a sound database.

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::backup::Backup;
use txloom_core::engine::{Engine, SessionId, State};
use txloom_core::outcome::{Outcome, StatementResult, TxStatus};
use txloom_core::planted::{ALL, Place, PlantedBug};

use super::super::session::Shared;
use super::{ModelEngine, RC, SER, SI};
use crate::engines::embedded::run::{ask, state};
use crate::engines::embedded::transcript::Stage;

const SESSIONS: usize = 3;

/// Rows under a key of the user's, with a second unique key; rows under hidden rowids; rows that refer to others, with
/// a foreign key (every other seed) or without one.
const SETUP: &[&str] = &[
    "CREATE TABLE t (id INT PRIMARY KEY, v INT, u INT UNIQUE)",
    "CREATE TABLE h (v INT)",
    "CREATE TABLE c (id INTEGER PRIMARY KEY, t INT REFERENCES t ON DELETE CASCADE ON UPDATE CASCADE)",
    "INSERT INTO t VALUES (1, 10, 1), (2, 20, 2), (3, 30, NULL)",
    "INSERT INTO h VALUES (1), (2), (3)",
    "INSERT INTO c VALUES (1, 1), (2, 2)",
];

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn statement(&mut self) -> String {
        let (id, k) = (self.below(4) + 1, self.below(5));
        match self.below(26) {
            0 | 1 => format!("UPDATE t SET v = v + {k} WHERE id = {id}"),
            2 => format!("UPDATE t SET v = (SELECT sum(v) FROM t WHERE id <> {id}) WHERE id = {id}"),
            3 => format!("UPDATE t SET u = {k} WHERE id = {id}"),
            4 => format!("INSERT INTO t VALUES ({id}, {k}, NULL)"),
            5 | 24 => format!("DELETE FROM t WHERE id = {id}"),
            6 => format!("SELECT v FROM t WHERE id = {id}"),
            7 => "SELECT count(*), sum(v) FROM t".to_string(),
            8 => format!("SELECT id FROM t WHERE v > {} ORDER BY id", 10 * k),
            9 => format!("INSERT INTO h VALUES ({k}), ({id})"),
            10 => format!("UPDATE h SET v = v + 1 WHERE v = {k}"),
            11 => format!("DELETE FROM h WHERE v < {}", k.min(2)),
            12 => "SELECT count(*), sum(v) FROM h".to_string(),
            13 | 23 => format!("INSERT INTO c VALUES ({}, {id})", k + 1),
            14 => "SELECT id, t FROM c ORDER BY id".to_string(),
            15 => format!("SELECT v FROM t WHERE id = {id} FOR UPDATE"),
            16 => format!("SELECT v FROM t WHERE id > {id} FOR SHARE"),
            17 => "SAVEPOINT s".to_string(),
            18 => format!("UPDATE t SET id = {} WHERE id = {id}", k + 3),
            19 => format!("INSERT INTO t VALUES ({}, {k}, NULL), ({id}, {k}, NULL)", k + 1),
            20 => format!("UPDATE t SET v = v + {k}"),
            21 => format!("UPDATE h SET v = v + {k}"),
            _ => "ROLLBACK TO s".to_string(),
        }
    }

    /// BEGIN, some statements, COMMIT or (rarely) ROLLBACK.
    fn transaction(&mut self) -> Vec<String> {
        let mut statements = vec!["BEGIN".to_string()];
        statements.extend((0..=self.below(4)).map(|_| self.statement()));
        statements.push(if self.below(5) == 0 { "ROLLBACK" } else { "COMMIT" }.to_string());
        statements
    }
}

/// A session during a run: the transactions that it still has to execute, and how far it has come in the first of them.
struct Player {
    todo: Vec<Vec<String>>,
    steps: Vec<(String, Outcome)>,
    /// The version that the first statement saw.
    base: u64,
}

impl Player {
    fn next(&self) -> Option<&str> {
        self.todo.first().map(|statements| statements[self.steps.len()].as_str())
    }
}

/// A transaction that was committed. Its place in the serial order is that of the version that it made; if it changed
/// nothing, behind the version that it saw.
struct Committed {
    place: (u64, bool),
    base: u64,
    steps: Vec<(String, Outcome)>,
}

#[derive(Default)]
struct Run {
    log: Vec<String>,
    committed: Vec<Committed>,
    failures: usize,
    /// A copy of every version.
    versions: Vec<Connection>,
    /// Whether a version violated a foreign key.
    unsound: bool,
    end: State,
}

fn run(bugs: &[&'static PlantedBug], level: &str, seed: u64) -> Run {
    run_on(&mut ModelEngine::start("model", bugs).unwrap(), level, seed)
}

fn run_on(engine: &mut ModelEngine, level: &str, seed: u64) -> Run {
    let without_reference = |sql: &&str| sql.replace("REFERENCES t ON DELETE CASCADE ON UPDATE CASCADE", "");
    let statement = |sql: &&str| if seed.is_multiple_of(2) { without_reference(sql) } else { sql.to_string() };
    engine.reset(&SETUP.iter().map(statement).collect::<Vec<_>>()).unwrap();
    let shared = Arc::clone(&engine.shared);
    let mut random = Random::new(seed);
    let mut player = || Player { todo: (0..2).map(|_| random.transaction()).collect(), steps: Vec::new(), base: 0 };
    let mut players: Vec<Player> = (0..SESSIONS).map(|_| player()).collect();
    let mut run = Run::default();
    run.keep_versions(&shared);
    let mut stage = Stage::new(engine, level);
    loop {
        let can_go = |id: &usize| players[*id].next().is_some() && !stage.waits(SessionId(*id));
        let free: Vec<usize> = (0..SESSIONS).filter(can_go).collect();
        if free.is_empty() {
            break;
        }
        let id = free[random.below(free.len() as u64) as usize];
        let before = newest(&shared);
        if players[id].steps.len() == 1 {
            players[id].base = before;
        }
        let sql = players[id].next().unwrap().to_string();
        let completed = stage.submit(SessionId(id), &sql);
        run.log.push(format!("{id} {sql}: {completed:?}"));
        for (done, outcome) in completed {
            let made = newest(&shared);
            run.note(&mut players[done.0], outcome, (made > before).then_some(made));
        }
        run.keep_versions(&shared);
    }
    assert!(players.iter().all(|player| player.todo.is_empty()), "{level}, seed {seed}: somebody waits for ever");
    drop(stage);
    run.end = engine.snapshot().unwrap();
    run
}

impl Run {
    /// A statement has completed; `made` is the version that came into being meanwhile, which only COMMIT does.
    fn note(&mut self, player: &mut Player, outcome: Outcome, made: Option<u64>) {
        let sql = player.next().unwrap().to_string();
        let (over, failed) = (outcome.status == TxStatus::Idle, outcome.error.is_some());
        player.steps.push((sql.clone(), outcome));
        if !over {
            return;
        }
        let steps = std::mem::take(&mut player.steps);
        player.todo.remove(0);
        if failed {
            self.failures += 1;
        } else if sql == "COMMIT" {
            let place = made.map_or((player.base, true), |version| (version, false));
            self.committed.push(Committed { place, base: player.base, steps });
        }
    }

    /// Copies the newest version, if it is new. It must not be damaged.
    fn keep_versions(&mut self, shared: &Shared) {
        if self.versions.len() as u64 > newest(shared) {
            return;
        }
        let mut copy = Connection::open_in_memory().unwrap();
        let world = shared.world.lock().unwrap();
        let connection = &world.store.version(world.store.newest()).connection;
        Backup::new(connection, &mut copy).unwrap().step(-1).unwrap();
        let ok: String = copy.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(ok, "ok");
        self.unsound |= copy.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap();
        self.versions.push(copy);
    }
}

fn newest(shared: &Shared) -> u64 {
    shared.world.lock().unwrap().store.newest()
}

/// The tables with their rows in order.
fn sorted(mut state: State) -> State {
    state.tables.values_mut().for_each(|table: &mut StatementResult| table.rows.sort());
    state
}

/// The first of the steps that is answered differently when they are executed again, here.
fn first_difference<'a>(
    connection: &Connection,
    steps: impl IntoIterator<Item = &'a (String, Outcome)>,
) -> Option<String> {
    steps.into_iter().find_map(|(sql, outcome)| {
        let again = ask(connection, sql.trim_end_matches(" FOR UPDATE").trim_end_matches(" FOR SHARE")).unwrap();
        let observed = outcome.error.clone().map_or_else(|| Ok(outcome.results[0].clone()), Err);
        (again != observed).then(|| format!("{sql}: observed {observed:?}, but alone {again:?}"))
    })
}

/// The first difference between a run and the execution of its committed transactions, one after the other.
fn difference_from_serial(run: &mut Run) -> Option<String> {
    run.committed.sort_by_key(|transaction| transaction.place);
    let connection = &run.versions[0];
    let steps = run.committed.iter().flat_map(|transaction| &transaction.steps);
    first_difference(connection, steps).or_else(|| {
        let (serial, observed) = (sorted(state(connection).unwrap()), sorted(run.end.clone()));
        (serial != observed).then(|| format!("at the end: observed {observed:?}, but serially {serial:?}"))
    })
}

#[test]
fn serializable_equals_a_serial_execution() {
    let (mut committed, mut failures) = (0, 0);
    for seed in 1..=400 {
        let mut run = run(&[], SER, seed);
        let difference = difference_from_serial(&mut run);
        assert_eq!(difference, None, "seed {seed}\n{}", run.log.join("\n"));
        committed += run.committed.len();
        failures += run.failures;
    }
    // The test would prove nothing if transactions hardly met each other, or hardly ever came through.
    assert!(committed > 1_000 && failures > 200, "{committed} committed, {failures} failed");
}

#[test]
fn snapshot_isolation_answers_from_the_snapshot() {
    for seed in 1..=200 {
        let run = run(&[], SI, seed);
        for transaction in &run.committed {
            let snapshot = &run.versions[transaction.base as usize];
            // All but the COMMIT: other transactions start from that version, too.
            let (_, steps) = transaction.steps.split_last().unwrap();
            let difference = first_difference(snapshot, steps);
            snapshot.execute_batch("ROLLBACK").unwrap();
            assert_eq!(difference, None, "seed {seed}\n{}", run.log.join("\n"));
        }
    }
}

fn bugs_of_the_model() -> impl Iterator<Item = &'static PlantedBug> {
    ALL.iter().filter(|bug| bug.place == Place::Model)
}

/// At serializable, even without the healthy model to compare with.
#[test]
fn every_planted_bug_differs_from_a_serial_execution() {
    for bug in bugs_of_the_model().filter(|bug| bug.levels.contains(&SER)) {
        let found = (1..=400).find(|seed| difference_from_serial(&mut run(&[bug], SER, *seed)).is_some());
        assert!(found.is_some(), "{}", bug.name);
    }
}

/// Step by step: a bug shows at the levels that it names, and only there.
#[test]
fn every_planted_bug_differs_from_the_healthy_model_at_its_levels() {
    for level in [RC, SI, SER] {
        for bug in bugs_of_the_model() {
            let differs = |seed: &u64| {
                let (healthy, wrong) = (run(&[], level, *seed), run(&[bug], level, *seed));
                wrong.log != healthy.log || wrong.end != healthy.end
            };
            let shows = bug.levels.contains(&level);
            let found = (1..=if shows { 400 } else { 40 }).find(differs);
            assert_eq!(found.is_some(), shows, "{} at {level}: {found:?}", bug.name);
        }
    }
}

#[test]
fn runs_repeat_themselves_at_every_level() {
    for level in [RC, SI, SER] {
        // One engine goes back to its setup (every third run has the other one), one has had no other case.
        let mut engine = ModelEngine::start("model", &[]).unwrap();
        for seed in (1..=50).flat_map(|seed| [seed, seed + 2, seed + 3]) {
            let (one, two) = (run_on(&mut engine, level, seed), run(&[], level, seed));
            assert_eq!(one.log, two.log, "{level}, seed {seed}");
            assert_eq!(one.end, two.end, "{level}, seed {seed}");
            assert!(!one.unsound, "{level}, seed {seed}");
        }
    }
}

//! Deep statements on real engines: they are accepted, most of them do something, and all of them end.

use std::collections::BTreeMap;

use txloom_core::case::{Case, Line, SessionName};
use txloom_core::engine::EngineInfo;
use txloom_core::generate::{Demands, Generator, profile};
use txloom_core::oracle::{Mode, RunRequest, Runner};
use txloom_core::schedule::{Policy, StepRef};
use txloom_core::trace::statistics::Statistics;
use txloom_core::trace::{StepRun, Trace};

use crate::support::{limited, runner};

/// How many cases are run.
const CASES: usize = 60;

/// What statements are looked for, by words that only they have.
const CONSTRUCTS: &[(&str, &[&str])] = &[
    ("join", &[" JOIN "]),
    ("left join", &[" LEFT JOIN "]),
    ("derived table", &[") AS q"]),
    ("common table expression", &["WITH w"]),
    ("subquery", &["(SELECT ", "(WITH "]),
    ("exists", &["EXISTS ("]),
    ("in query", &[" IN (SELECT", " IN (WITH"]),
    ("window", &[" OVER ("]),
    ("set operation", &[" UNION ", " EXCEPT ", " INTERSECT "]),
    ("case", &["CASE WHEN"]),
    ("group", &[" GROUP BY "]),
    ("having", &[" HAVING "]),
    ("distinct", &["SELECT DISTINCT "]),
    ("order and limit", &[" LIMIT "]),
];

/// Figures about statements.
#[derive(Debug, Default)]
struct Figures {
    statistics: Statistics,
    /// Statements that read or write rows.
    statements: usize,
    queries: usize,
    /// Queries that returned a row.
    answered: usize,
    writes: usize,
    /// Writes that changed a row.
    effective: usize,
    /// Statements that violated a constraint, waited in vain and the like.
    failed: usize,
    /// How many statements have a construct.
    constructs: BTreeMap<&'static str, usize>,
    /// Statements that took too long.
    cancelled: Vec<String>,
    /// The length of the longest statement.
    longest: usize,
}

impl Figures {
    fn add(&mut self, trace: &Trace) {
        self.statistics.add(trace);
        for step in trace.steps.iter().filter(|step| !is_control(&step.sql)) {
            self.add_step(step);
        }
    }

    fn add_step(&mut self, step: &StepRun) {
        self.statements += 1;
        self.longest = self.longest.max(step.sql.len());
        for (name, words) in CONSTRUCTS {
            if words.iter().any(|word| step.sql.contains(word)) {
                *self.constructs.entry(name).or_default() += 1;
            }
        }
        if step.cancelled.is_some() {
            self.cancelled.push(step.sql.clone());
        }
        let Some(outcome) = &step.outcome else { return };
        self.failed += usize::from(outcome.error.is_some());
        match step.sql.starts_with("SELECT") || step.sql.starts_with("WITH") {
            true => {
                self.queries += 1;
                self.answered += usize::from(outcome.rows().is_some_and(|result| !result.rows.is_empty()));
            }
            false => {
                self.writes += 1;
                self.effective += usize::from(outcome.affected().is_some_and(|count| count > 0));
            }
        }
    }

    fn text(&self, target: &str) -> String {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let mut text = format!(
            "{target}: {} statements, accepted {:.1} %, failed {:.1} %, writes with an effect {:.1} %, queries with rows {:.1} %, \
             longest {}\n ",
            self.statements,
            100.0 * self.statistics.accepted_share(),
            share(self.failed, self.statements),
            share(self.effective, self.writes),
            share(self.answered, self.queries),
            self.longest,
        );
        for (name, count) in &self.constructs {
            text += &format!(" {name} {:.1} %,", share(*count, self.statements));
        }
        for (message, rejection) in self.statistics.rejections() {
            text += &format!("\n  {}: {message}\n    {}", rejection.count, rejection.example);
        }
        text
    }
}

fn is_control(sql: &str) -> bool {
    ["BEGIN", "COMMIT", "ROLLBACK"].contains(&sql)
}

fn generator(targets: &[EngineInfo]) -> Generator {
    let model = profile::shipped("txcheck").expect("the profile is shipped");
    let demands = Demands { reorderable: true, assertions: false };
    Generator::new(model, targets, demands, &[], 1).unwrap_or_else(|error| panic!("{error}"))
}

/// One order of each group of transactions: the statements of the others are the same.
fn different_cases(generator: &Generator) -> impl Iterator<Item = Case> + '_ {
    (0..).flat_map(|group| generator.group(group).cases).step_by(4).take(CASES)
}

/// Runs cases without transactions, one statement at a time: no one waits for anybody, and nothing is rolled back.
fn measure(target: &str) -> Figures {
    let mut runner = runner(target);
    let generator = generator(&runner.targets());
    let mut figures = Figures::default();
    for case in different_cases(&generator) {
        figures.add(&alone(&mut runner, &case));
    }
    figures
}

fn alone(runner: &mut dyn Runner, case: &Case) -> Trace {
    let mut next: BTreeMap<SessionName, usize> = BTreeMap::new();
    let mut steps = Vec::new();
    for entry in &case.entries {
        if let Line::Step(session, item, _) = &entry.line {
            let index = next.entry(session.clone()).or_default();
            if !is_control(&item.to_string()) {
                steps.push(StepRef { session: session.clone(), index: *index });
            }
            *index += 1;
        }
    }
    let request = RunRequest { case, target: 0, policy: Policy::Skip, mode: Mode::Autocommit(steps) };
    runner.run(&request).unwrap_or_else(|error| panic!("{error}"))
}

/// The bars: 97 % of the statements are accepted; 60 % of the writes change a row, half of the queries return one.
fn assert_useful(target: &'static str) {
    limited(move || {
        let figures = measure(target);
        let text = figures.text(target);
        assert!(figures.cancelled.is_empty(), "{text}\n{:?}", figures.cancelled);
        assert!(figures.statistics.accepted_share() >= 0.97, "{text}");
        assert!(figures.effective * 10 >= figures.writes * 6, "{text}");
        assert!(figures.answered * 10 >= figures.queries * 5, "{text}");
    });
}

/// The same statements answer the same on engines that share nothing but the standard: they are functions of the data.
fn assert_alike(targets: [&'static str; 2]) {
    limited(move || {
        let mut runners = targets.map(runner);
        let mut infos: Vec<EngineInfo> = runners.iter().flat_map(|runner| runner.targets()).collect();
        // Without transactions there are no levels: it does not matter that they have none in common.
        infos[1].levels = infos[0].levels.clone();
        let generator = generator(&infos);
        for case in different_cases(&generator) {
            let [one, other] = runners.each_mut().map(|runner| alone(runner, &case));
            for (one, other) in one.steps.iter().zip(&other.steps) {
                let answers = [answer(one, &infos[0]), answer(other, &infos[1])];
                assert_eq!(answers[0], answers[1], "{targets:?}: {}\n{}", one.sql, case.setup().join("\n"));
            }
        }
    });
}

fn answer(step: &StepRun, info: &EngineInfo) -> String {
    let Some(outcome) = &step.outcome else { return "nothing".to_string() };
    if let Some(error) = &outcome.error {
        return format!("error {}", error.class);
    }
    match outcome.rows() {
        Some(result) => {
            let mut rows: Vec<String> = info.dialect.values(result).into_iter().map(|row| format!("{row:?}")).collect();
            rows.sort();
            rows.join(" ")
        }
        None => String::new(),
    }
}

#[test]
fn sqlite_executes_them() {
    assert_useful("sqlite");
}

#[test]
fn the_model_executes_them() {
    assert_useful("model");
}

#[test]
fn postgres_executes_them() {
    assert_useful("postgres");
}

#[test]
fn mariadb_executes_them() {
    assert_useful("mariadb");
}

#[test]
fn postgres_and_mariadb_answer_alike() {
    assert_alike(["postgres", "mariadb"]);
}

#[test]
fn sqlite_and_postgres_answer_alike() {
    assert_alike(["sqlite", "postgres"]);
}

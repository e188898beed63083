//! Generated cases on real engines: their statements are accepted, and their transactions meet.

use txloom_core::generate::{Demands, Generator, profile};
use txloom_core::oracle::Runner;
use txloom_core::trace::contention::{instrument, is_contended};
use txloom_core::trace::statistics::Statistics;

use crate::support::{limited, run, runner};

/// How many cases are run.
const CASES: usize = 150;
/// How many of them are looked at for rows that two transactions write: each of these is run twice.
const EXAMINED: usize = 50;

/// Runs cases of a profile; the figures, and a text that shows them.
fn measure(target: &str, profile: &str, seed: u64) -> (Statistics, String) {
    let mut runner = runner(target);
    let model = profile::shipped(profile).expect("the profile is shipped");
    let generator = Generator::new(model, &runner.targets(), Demands::default(), &[], seed)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut statistics = Statistics::default();
    // The cases of a group resemble each other: only some of each are taken.
    let some = |group: u64| generator.group(group).cases.into_iter().step_by(4);
    for (number, case) in (0..).flat_map(some).take(CASES).enumerate() {
        statistics.add(&run(&mut runner, &case));
        if number % (CASES / EXAMINED) == 0 {
            let instrumented = instrument(&case);
            let trace = run(&mut runner, &instrumented);
            statistics.add_examined(is_contended(&instrumented, &trace));
        }
    }
    let mut text = format!(
        "{target}: accepted {:.3}, waits {:.2}, deadlocks {:.2}, contended {:.2}",
        statistics.accepted_share(),
        statistics.wait_share(),
        statistics.deadlock_share(),
        statistics.contended_share(),
    );
    for (message, rejection) in statistics.rejections() {
        text += &format!("\n  {}: {message}\n    {}", rejection.count, rejection.example);
    }
    (statistics, text)
}

/// The bars: 95 % of the statements are accepted; 20 % of the cases wait, and in 20 % two transactions write a row.
fn assert_useful(target: &'static str, profile: &'static str) {
    limited(move || {
        let (statistics, text) = measure(target, profile, 1);
        assert!(statistics.accepted_share() >= 0.95, "{text}");
        assert!(statistics.wait_share() >= 0.2, "{text}");
        assert!(statistics.contended_share() >= 0.2, "{text}");
    });
}

#[test]
fn transactions_meet_on_sqlite() {
    assert_useful("sqlite", "dt2");
}

#[test]
fn transactions_meet_on_the_model() {
    assert_useful("model", "dt2");
}

#[test]
fn transactions_meet_on_postgres() {
    assert_useful("postgres", "dt2");
}

#[test]
fn transactions_meet_on_mariadb() {
    assert_useful("mariadb", "dt2");
}

#[test]
fn transactions_of_dbstorm_meet_on_the_model() {
    assert_useful("model", "dbstorm");
}

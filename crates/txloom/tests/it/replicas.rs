//! The weakly consistent database: its cases, what oracles say of them, storms with partitions.

use txloom::corpus::{self, REPLICAS};
use txloom_core::case::check::check;
use txloom_core::case::{Case, Event, SessionName};
use txloom_core::oracle::calls::Calls;
use txloom_core::oracle::serial::Serial;
use txloom_core::oracle::{Mode, Oracle, RunRequest, Runner, Verdict};
use txloom_core::reduce::{Reproduction, reduce};
use txloom_core::schedule::{Policy, ScheduleEntry};
use txloom_core::trace::compare::first_difference;

use crate::support::{limited, output, run, runner};

/// The case of that name; calls are those of the program `withdraw`.
fn case(name: &str) -> Case {
    let found = REPLICAS.iter().find(|case| case.path == format!("replicas/{name}.sql"));
    let mut case = found.unwrap_or_else(|| panic!("there is no case {name}")).parse();
    case.program = Some(corpus::withdraw());
    case
}

#[test]
fn every_case_does_what_it_says_and_does_it_again() {
    limited(|| {
        for target in ["replicas", "replicas:2"] {
            let mut runner = runner(target);
            for corpus_case in REPLICAS {
                let mut case = corpus_case.parse();
                case.program = Some(corpus::withdraw());
                let (first, second) = (run(&mut runner, &case), run(&mut runner, &case));
                let mismatches = check(&case, &first);
                assert!(mismatches.is_empty(), "{}: {mismatches:?}", corpus_case.path);
                assert!(first_difference(&first, &second).is_none(), "{}", corpus_case.path);
            }
        }
    });
}

/// Calls at two nodes lose an update when the network is cut between them, and no serial order of them does: serial runs
/// see one database, whatever events the case has.
#[test]
fn calls_that_lose_an_update_are_judged_by_their_serial_orders() {
    limited(|| {
        let case = case("withdraw");
        let mut runner = runner("replicas:2");
        let oracles: [(&dyn Oracle, &str); 2] = [(&Calls::default(), "calls"), (&Serial::default(), "serial")];
        for (oracle, name) in oracles {
            let verdict = oracle.judge(&case, &mut runner).unwrap();
            assert!(matches!(verdict, Verdict::Violated(_)), "{name}: {verdict:?}");
        }
        let mut connected = case.clone();
        connected.set_schedule("a a a a b b b b".split(' ').map(|name| SessionName::new(name).unwrap()).collect());
        let verdict = Calls::default().judge(&connected, &mut runner).unwrap();
        assert!(matches!(verdict, Verdict::Holds(_)), "{verdict:?}");
        let order = case.sessions().iter().map(|session| session.name.clone()).collect();
        let request = RunRequest { case: &case, target: 0, policy: Policy::Skip, mode: Mode::Serial(order) };
        assert_eq!(runner.run(&request).unwrap().schedule().events().count(), 0, "events are not part of serial runs");
    });
}

#[test]
fn a_reduction_drops_events_that_do_not_matter() {
    limited(|| {
        let mut given = case("withdraw");
        let mut schedule = given.schedules()[0].clone();
        schedule.0.insert(0, ScheduleEntry::Event(Event::Deliver { from: 2, to: 1, write: None }));
        given.set_schedule(schedule);
        let mut runner = runner("replicas");
        let reduced =
            reduce(&given, &mut |candidate| Reproduction::of(&Calls::default().judge(candidate, &mut runner)));
        assert!(reduced.reproduced && reduced.complete);
        let events: Vec<String> = reduced.case.events().map(ToString::to_string).collect();
        assert!(events.len() <= 1, "{events:?}");
    });
}

#[test]
fn the_command_line_shows_events_and_nodes() {
    limited(|| {
        let run = output(&["run", "corpus/replicas", "--on", "replicas:2", "--twice", "--quiet"]);
        assert_eq!(run.code, 0, "{run:?}");
        let run = output(&["run", "corpus/replicas/withdraw.sql", "--on", "replicas:2", "--oracle", "calls"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stdout.contains("@partition 1|2") && run.stdout.contains("[partition 1|2]"), "{}", run.stdout);
        let run = output(&["run", "corpus/replicas/lost-update.sql", "--on", "replicas:1"]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("node 2 (it has the nodes 1 to 1)"), "{run:?}");
        let run = output(&["run", "corpus/replicas/long-fork.sql", "--on", "model"]);
        assert!(run.code != 0 && run.stderr.contains("does not have the event `@partition 1|2`"), "{run:?}");
        let levels = output(&["levels", "replicas"]);
        assert!(levels.code == 0 && levels.stdout.contains("eventual"), "{levels:?}");
    });
}

/// The invariants of TPC-C break, as the level allows, and are told.
#[test]
fn a_storm_with_partitions_breaks_invariants_and_says_so() {
    limited(|| {
        let words = ["storm", "replicas:2", "--profile", "tpcc", "--for", "4s", "--partition", "every", "500ms"];
        let storm = output(&words);
        assert_eq!(storm.code, 0, "{storm:?}");
        for expect in ["which eventual allows", "eventual promises nothing", "partition"] {
            assert!(storm.stdout.contains(expect), "{expect}: {storm:?}");
        }
    });
}

#[test]
fn a_hunt_goes_on_without_a_level_to_break() {
    limited(|| {
        let hunt = output(&["hunt", "replicas:2", "--cases", "30"]);
        assert!([1, 5].contains(&hunt.code), "{hunt:?}");
        assert!(hunt.stdout.contains("30 of 30 cases"), "{}", hunt.stdout);
    });
}

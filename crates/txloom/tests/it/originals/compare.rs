//! Two ways to make the same calls, and what came of each.

use std::collections::BTreeMap;

use txloom_core::case::Call;
use txloom_core::engine::Engine;
use txloom_core::program::Program;

use super::process::Original;
use crate::program_calls::{Called, interpreted, session};
use crate::programs::{reset, state};

/// All rows are compared after so many calls.
const ROWS_EVERY: usize = 10;

/// The rows of all tables.
pub(crate) type Rows = BTreeMap<String, Vec<String>>;

/// What came of calls: the end of each, and, now and then and after the last, the rows.
pub(crate) type Ends = Vec<(Called, Option<Rows>)>;

fn make_calls(engine: &mut dyn Engine, calls: &[Call], mut make: impl FnMut(&mut dyn Engine, &Call) -> Called) -> Ends {
    let mut ends = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let called = make(engine, call);
        let is_time = at % ROWS_EVERY == 0 || at + 1 == calls.len();
        ends.push((called, is_time.then(|| state(engine))));
    }
    ends
}

/// The interpreter's way, on a fresh database.
pub(crate) fn by_interpreter(engine: &mut dyn Engine, setup: &[String], program: &Program, calls: &[Call]) -> Ends {
    reset(engine, setup);
    let mut session = session(engine);
    make_calls(engine, calls, |engine, call| interpreted(engine, session.as_mut(), program, call))
}

/// The original's way, on a fresh database.
pub(crate) fn by_original(
    engine: &mut dyn Engine,
    setup: &[String],
    (original, parts): (&mut Original, &[String]),
    calls: &[Call],
) -> Ends {
    reset(engine, setup);
    original.program(parts);
    let ends = make_calls(engine, calls, |_, call| original.call(call));
    original.end();
    ends
}

/// Both did the same. What drivers add to a server's message (`ERROR: … Detail: …`) does not count.
#[track_caller]
pub(crate) fn assert_same(context: &str, calls: &[Call], ours: &Ends, theirs: &Ends) {
    assert_eq!(ours.len(), theirs.len(), "{context}");
    for (call, ((ours, our_rows), (theirs, their_rows))) in calls.iter().zip(ours.iter().zip(theirs)) {
        let is_same = match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => ours == theirs,
            (Err(ours), Err(theirs)) => theirs.contains(ours),
            _ => false,
        };
        assert!(is_same, "{context}: {call}: {ours:?}, but the original says {theirs:?}");
        assert_eq!(our_rows, their_rows, "{context}: after {call}");
    }
}

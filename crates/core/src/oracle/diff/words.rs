//! The words for what the differential oracle found.

use crate::case::expect::{Rows, print_rows};
use crate::engine::EngineInfo;
use crate::finding::{Explanation, labels};
use crate::oracle::diff::answers::{is_warning, sorted};
use crate::oracle::diff::compare::{Comparison, Discrepancy, Kind, victims};
use crate::oracle::diff::rounds::{Round, rounds};
use crate::outcome::{Outcome, StatementResult};
use crate::sql;
use crate::trace::{StepId, Trace};

/// How many rows a clause shows.
const ROWS_SHOWN: usize = 5;
/// How much of a statement a clause shows, in characters.
const STATEMENT_SHOWN: usize = 60;

/// The runs with what their targets are called.
pub(super) struct Labelled<'a> {
    pub(super) traces: Vec<&'a Trace>,
    pub(super) labels: Vec<String>,
}

impl<'a> Labelled<'a> {
    pub(super) fn new(traces: &'a [Trace]) -> Labelled<'a> {
        let traces: Vec<&Trace> = traces.iter().collect();
        Labelled { labels: labels(&traces), traces }
    }

    /// What each run says, by those who say the same.
    fn told(&self, say: impl Fn(&Trace) -> String) -> Vec<Told> {
        let mut told: Vec<Told> = Vec::new();
        for (trace, label) in self.traces.iter().zip(&self.labels) {
            let words = say(trace);
            match told.iter_mut().find(|other| other.words == words) {
                Some(same) => same.who.push(label.clone()),
                None => told.push(Told { words, who: vec![label.clone()] }),
            }
        }
        told
    }
}

/// `waits`, and who says so.
struct Told {
    words: String,
    who: Vec<String>,
}

/// Verbs that need not be said twice.
const VERBS: &[&str] = &["returns ", "changes ", "ends with ", "is "];

/// `returns (1) on mariadb, but (2) on mysql`
fn joined(told: &[Told]) -> String {
    let common = VERBS.iter().find(|verb| told.iter().all(|one| one.words.strip_prefix(**verb).is_some())).copied();
    let part = |(at, one): (usize, &Told)| {
        let words = common.filter(|_| at > 0).and_then(|verb| one.words.strip_prefix(verb)).unwrap_or(&one.words);
        let link = ["", ", but ", ", and "][at.min(2)];
        format!("{link}{words} on {}", and(&one.who))
    };
    told.iter().enumerate().map(part).collect()
}

/// `mysql is the odd one out: `, if most of several targets agree.
fn odd_one(told: &[Told]) -> String {
    let largest = told.iter().map(|one| one.who.len()).max().unwrap_or(0);
    let (norm, others): (Vec<&Told>, Vec<&Told>) = told.iter().partition(|one| one.who.len() == largest);
    let odd: Vec<String> = others.into_iter().flat_map(|one| one.who.clone()).collect();
    match (norm.len(), odd.as_slice()) {
        (1, [one]) => format!("{one} is the odd one out: "),
        (1, several @ [_, ..]) => format!("{} are the odd ones out: ", and(several)),
        _ => String::new(),
    }
}

/// What is to be said of runs that agree.
pub(super) fn witness(traces: &[Trace]) -> String {
    let labelled = Labelled::new(traces);
    let steps = traces.first().map_or(0, |trace| trace.steps.len());
    let noun = if steps == 1 { "step" } else { "steps" };
    format!("{} went the same way through {steps} {noun} and left the same data", and(&labelled.labels))
}

/// What is wrong, in one sentence.
pub(super) fn sentence(runs: &Labelled<'_>, comparison: &Comparison) -> String {
    let endings: Vec<(&String, Vec<Told>)> =
        comparison.tables.iter().map(|table| (table, runs.told(|trace| ending(trace, table)))).collect();
    let ending = |(table, told): &(&String, Vec<Told>)| format!("the table {table} {}", joined(told));
    let states = endings.iter().map(ending).collect::<Vec<_>>().join("; ");
    let Some(first) = &comparison.first else {
        let odd = endings.first().map(|(_, told)| odd_one(told)).unwrap_or_default();
        return format!("{odd}all steps went the same way, yet {states}");
    };
    let told = runs.told(|trace| phrase(trace, first));
    let words = format!("{}{} {}", odd_one(&told), subject(runs, first), joined(&told));
    if endings.is_empty() { words } else { format!("{words}; the data that is left differs as well: {states}") }
}

/// Let: the targets. Then: what they share. However: where they part.
pub(super) fn explanation(runs: &Labelled<'_>, comparison: &Comparison) -> Explanation {
    let engine = |(trace, label): (&&Trace, &String)| format!("{label} = {}", described(&trace.engine));
    let mut however = Vec::new();
    if let Some(first) = &comparison.first {
        let subject = subject(runs, first);
        let told = runs.told(|trace| phrase(trace, first));
        however.extend(told.iter().map(|one| format!("on {}, {subject} {}", and(&one.who), one.words)));
    }
    for table in &comparison.tables {
        let told = runs.told(|trace| ending(trace, table));
        however.extend(told.iter().map(|one| format!("on {}, the table {table} {}", and(&one.who), one.words)));
    }
    Explanation {
        lets: runs.traces.iter().zip(&runs.labels).map(engine).collect(),
        thens: shared(runs, comparison),
        however,
    }
}

/// What went the same way, in a clause or two.
fn shared(runs: &Labelled<'_>, comparison: &Comparison) -> Vec<String> {
    let same_data = || {
        let ends = comparison.first.is_some_and(|first| first.kind != Kind::Death) && comparison.tables.is_empty();
        ends.then(|| "the data that is left is the same on all of them".to_string())
    };
    let before = match comparison.first.and_then(|first| first.step.min(first.cause)) {
        None => Some("all steps went the same way on all of them".to_string()),
        Some(StepId(0)) => None,
        Some(id) => Some(format!("everything before {} went the same way on all of them", named_in(runs, id))),
    };
    before.into_iter().chain(same_data()).collect()
}

/// `mariadb 10.11.14, innodb_snapshot_isolation=OFF`
fn described(engine: &EngineInfo) -> String {
    let version =
        if engine.version.numbers.is_empty() { engine.version.text.clone() } else { engine.version.to_string() };
    let mut parts = vec![format!("{} {version}", engine.family)];
    parts.extend(engine.settings.iter().cloned());
    parts.join(", ")
}

/// Whom a discrepancy is about.
fn subject(runs: &Labelled<'_>, first: &Discrepancy) -> String {
    let wanted = if first.kind == Kind::Deadlock { first.cause } else { first.step };
    match (first.kind, wanted) {
        (Kind::Steps, Some(id)) => named_in(runs, id),
        (Kind::Death, _) => "the server".to_string(),
        (_, Some(id)) => {
            let owner = owner(runs, id);
            owner.map_or_else(|| named_in(runs, id), |trace| named(trace, id))
        }
        (_, None) => "the run".to_string(),
    }
}

/// The first run that has a step with that number.
fn owner<'a>(runs: &Labelled<'a>, id: StepId) -> Option<&'a Trace> {
    runs.traces.iter().copied().find(|trace| id.0 < trace.steps.len())
}

/// `step b2`; `the end` where no run has such a step.
fn named_in(runs: &Labelled<'_>, id: StepId) -> String {
    owner(runs, id).map_or_else(|| "the end".to_string(), |trace| format!("step {}", trace.step_name(id)))
}

/// `step b2 (DELETE FROM t)`
pub(super) fn named(trace: &Trace, id: StepId) -> String {
    let step = trace.step(id);
    format!("step {} ({})", trace.step_name(id), shortened(&sql::one_line(&step.sql)))
}

/// What became of the subject in one run: a verb, and what goes with it.
fn phrase(trace: &Trace, first: &Discrepancy) -> String {
    let rounds = rounds(trace);
    let round = rounds.get(first.round);
    let answered = |words: fn(&Outcome, &Trace) -> String| {
        let outcome = first.step.and_then(|id| trace.steps.get(id.0)?.outcome.as_ref());
        outcome.map_or_else(|| "is not answered".to_string(), |outcome| words(outcome, trace))
    };
    match first.kind {
        Kind::Death => match (&trace.death, first.step) {
            (Some(death), Some(step)) if step.0 < trace.steps.len() => {
                format!("dies ({}) at {}", death.how, named(trace, step))
            }
            (Some(death), _) => format!("dies ({})", death.how),
            (None, _) => "survives".to_string(),
        },
        Kind::Steps => match round.and_then(Round::step) {
            Some(id) => format!("is {}", shortened(&sql::one_line(&trace.step(id).sql))),
            None => "is none".to_string(),
        },
        Kind::Deadlock => deadlock(trace, round),
        Kind::Waiting => first.step.map_or_else(String::new, |step| waiting(trace, round, step)),
        Kind::Error => answered(|outcome, _| success(outcome)),
        Kind::Warning => answered(|outcome, _| warning(outcome)),
        Kind::Rows => answered(returned),
        Kind::Count => answered(|outcome, _| match outcome.affected() {
            Some(1) => "changes 1 row".to_string(),
            Some(count) => format!("changes {count} rows"),
            None => "does not say how many rows it changes".to_string(),
        }),
        Kind::State => String::new(),
    }
}

fn deadlock(trace: &Trace, round: Option<&Round>) -> String {
    let names: Vec<String> = round
        .map(|round| victims(trace, round).iter().map(|session| trace.name(*session).to_string()).collect())
        .unwrap_or_default();
    match names.as_slice() {
        [] => "leads to no deadlock".to_string(),
        names => format!("leads to a deadlock with {} as its victim", and(names)),
    }
}

fn waiting(trace: &Trace, round: Option<&Round>, step: StepId) -> String {
    let Some(round) = round else { return "is not submitted".to_string() };
    let own = round.step() == Some(step);
    let after = round.step().map(|cause| format!(" after {}", named(trace, cause))).unwrap_or_default();
    match (own, round.completed.contains(&step), round.waiting.contains(&step)) {
        (true, _, true) => "waits".to_string(),
        (true, true, _) => "does not wait".to_string(),
        (false, true, _) => format!("goes on{after}"),
        (false, false, true) => format!("begins to wait{after}"),
        (_, false, false) => format!("still waits{after}"),
    }
}

fn success(outcome: &Outcome) -> String {
    match &outcome.error {
        Some(error) => format!("fails (error {})", error.class),
        None if outcome.tag().is_some_and(|tag| tag.eq_ignore_ascii_case("rollback")) => {
            "is answered with ROLLBACK".to_string()
        }
        None => "succeeds".to_string(),
    }
}

fn warning(outcome: &Outcome) -> String {
    match outcome.notices.iter().find(|notice| is_warning(notice)) {
        Some(notice) => format!("gives a warning ({})", shortened(&notice.message)),
        None => "gives no warning".to_string(),
    }
}

fn returned(outcome: &Outcome, trace: &Trace) -> String {
    let queries: Vec<&StatementResult> = outcome.results.iter().filter(|result| result.is_query()).collect();
    let shown: Vec<String> = queries.iter().map(|result| rows(&trace.engine.dialect.values(result))).collect();
    if shown.is_empty() { "returns no rows".to_string() } else { format!("returns {}", shown.join(" and ")) }
}

/// What a table holds at the end of a run.
fn ending(trace: &Trace, table: &str) -> String {
    let contents = trace.final_state.as_ref().and_then(|state| state.tables.get(table));
    contents.map_or_else(
        || "does not exist".to_string(),
        |contents| format!("ends with {}", rows(&sorted(&trace.engine.dialect.values(contents)))),
    )
}

fn rows(rows: &Rows) -> String {
    let shown = print_rows(&rows[..rows.len().min(ROWS_SHOWN)]);
    if rows.len() > ROWS_SHOWN { format!("{shown} … ({} rows)", rows.len()) } else { shown }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(STATEMENT_SHOWN) {
        Some((cut, _)) => format!("{}…", text[..cut].trim_end()),
        None => text.to_string(),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn and(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

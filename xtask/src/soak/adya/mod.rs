//! *A third opinion*: the fast checker, brute force and [adya](https://crates.io/crates/adya) on 200,000 random
//! histories.
//!
//! The fast checker and brute force answer for every level with every order and must agree. adya answers for those
//! levels that it has a model for. Differences from adya are counted by [cause](cause::Cause); one without a cause
//! fails the section.

mod answer;
mod cause;
mod input;

use std::cell::Cell;
use std::collections::BTreeMap;

use anyhow::{Context, Result};
use txloom_core::history::check::{Checker, Verdict};
use txloom_core::history::simulate::small::{KEYS_MAX, TRANSACTIONS_MAX};
use txloom_core::history::{History, brute, micro};
use txloom_core::level::formal::{Order, Requirement};

use super::Section;
use super::hunts::{once, percent, table};
use answer::{answered, ask};
use cause::{CAUSES, Verdicts};
use input::{Input, input, reads_own_append};

const HISTORIES: u64 = 200_000;
/// Histories between two savings of progress.
const CHUNK: u64 = 5_000;
/// The smallest share of lists in which a transaction reads what it appended.
const OWN_SHARE_MIN: f64 = 0.1;
/// Largest share of questions that the fast checker may leave open.
const UNDECIDED_SHARE_MAX: f64 = 0.01;
/// Questions about time that the fast checker may ask before it gives up.
const QUESTIONS_MAX: usize = 10_000;
/// The name under which a difference without a cause is counted.
const UNEXPLAINED: &str = "unexplained";
/// Separates the parts of a saved cause.
const PART: char = '¦';

const LISTS: &str = "lists";
const OWN: &str = "lists with reads of own appends";
const QUESTIONS: &str = "questions";
const DISAGREEMENTS: &str = "brute force disagrees";
const UNDECIDED: &str = "undecided";
const ASKED: &str = "asked adya";
const NO_ANSWER: &str = "no answer";
const BOTH_HOLD: &str = "both hold";
const BOTH_VIOLATED: &str = "both violated";

pub(super) fn run() -> Result<Section> {
    let mut tally = Tally::default();
    for chunk in 0..HISTORIES / CHUNK {
        let first = chunk * CHUNK;
        let cells = once("adya", &format!("from-{first}"), || Ok(measure(first)?.cells()))?;
        cells.iter().for_each(|cell| tally.add_cell(cell));
    }
    let count = |name: &str| tally.counts.get(name).map_or(0, |entry| entry.0);
    let share = |part: &str, whole: &str| count(part) as f64 / count(whole).max(1) as f64;
    let known = CAUSES.iter().map(|row| count(row.name)).sum::<u64>();
    let with_share = |part: &str, whole: &str| format!("{} ({})", count(part), percent(share(part, whole)));
    let figures = [vec![
        HISTORIES.to_string(),
        count(LISTS).to_string(),
        with_share(OWN, LISTS),
        count(QUESTIONS).to_string(),
        count(DISAGREEMENTS).to_string(),
        with_share(UNDECIDED, QUESTIONS),
    ]];
    let of_adya = [vec![
        count(ASKED).to_string(),
        with_share(NO_ANSWER, ASKED),
        count(BOTH_HOLD).to_string(),
        count(BOTH_VIOLATED).to_string(),
        known.to_string(),
        count(UNEXPLAINED).to_string(),
    ]];
    let causes: Vec<Vec<String>> = CAUSES
        .iter()
        .map(|row| {
            let (count, example) = tally.counts.get(row.name).cloned().unwrap_or_default();
            vec![row.name.to_string(), count.to_string(), example.replace('|', "\\|"), row.explanation.to_string()]
        })
        .collect();
    let mut text = format!(
        "## Histories: brute force and adya\n\nRandom histories (at most {TRANSACTIONS_MAX} transactions, {KEYS_MAX} keys), half \
         lists, half registers, in the shape of Jepsen's. The fast checker and brute force decide every level with every \
         order:\n\n{}\nadya 0.1.0 reads the same text and answers for {} of the {} requirements. It gives no answer if it sees \
         no dependency and no anomaly:\n\n{}\nDifferences by cause. In all of them txloom and brute force report a violation \
         and adya accepts:\n\n{}",
        table(
            "histories: | lists: | lists with reads of own appends: | questions: | disagreements: | undecided:",
            &figures
        ),
        answered().count(),
        Requirement::all().count(),
        table(
            "questions: | no answer: | both hold: | both violated: | differ, explained: | differ, unexplained:",
            &of_adya
        ),
        table("cause | count: | example | explanation", &causes),
    );
    for name in [DISAGREEMENTS, UNEXPLAINED] {
        if let Some((_, example)) = tally.counts.get(name).filter(|entry| entry.0 > 0) {
            text.push_str(&format!("\n{name}, for example {example}; all are in `soak-results/adya`\n"));
        }
    }
    let is_complete = count(QUESTIONS) == HISTORIES * Requirement::all().count() as u64
        && count(ASKED) == HISTORIES * answered().count() as u64;
    let agrees = count(DISAGREEMENTS) == 0 && count(UNEXPLAINED) == 0;
    let is_fair = share(OWN, LISTS) >= OWN_SHARE_MIN && share(UNDECIDED, QUESTIONS) <= UNDECIDED_SHARE_MAX;
    Ok(Section { text, met: is_complete && agrees && is_fair })
}

/// Counts by name, each with its shortest example.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<String, (u64, String)>,
}

impl Tally {
    fn add(&mut self, name: &str, count: u64, example: impl FnOnce() -> String) {
        let entry = self.counts.entry(name.to_string()).or_default();
        entry.0 += count;
        let example = example();
        if entry.1.is_empty() || (!example.is_empty() && example.chars().count() < entry.1.chars().count()) {
            entry.1 = example;
        }
    }

    fn count(&mut self, name: &str, is_counted: bool) {
        self.add(name, u64::from(is_counted), String::new);
    }

    fn cells(self) -> Vec<String> {
        self.counts.into_iter().map(|(name, (count, example))| format!("{name}{PART}{count}{PART}{example}")).collect()
    }

    fn add_cell(&mut self, cell: &str) {
        let mut parts = cell.splitn(3, PART);
        let (Some(name), Some(count), Some(example)) = (parts.next(), parts.next(), parts.next()) else { return };
        self.add(name, count.parse().unwrap_or(0), || example.to_string());
    }
}

fn measure(first: u64) -> Result<Tally> {
    let mut tally = Tally::default();
    for seed in first..first + CHUNK {
        compare(&input(seed)?, &mut tally).with_context(|| format!("seed {seed}"))?;
    }
    Ok(tally)
}

fn compare(input: &Input, tally: &mut Tally) -> Result<()> {
    tally.count(LISTS, input.is_list);
    tally.count(OWN, input.is_list && reads_own_append(&input.ours));
    let checker = Checker::new(&input.ours)?;
    let ours: BTreeMap<Requirement, Verdict> =
        Requirement::all().map(|requirement| (requirement, decide(&checker, requirement))).collect();
    for (requirement, holds) in brute::all(&input.ours)? {
        let verdict = &ours[&requirement];
        let is_undecided = matches!(verdict, Verdict::Undecided(_));
        tally.count(QUESTIONS, true);
        tally.count(UNDECIDED, is_undecided);
        if !is_undecided && verdict.holds() != holds {
            tally.add(DISAGREEMENTS, 1, || example(&input.ours, requirement));
        }
    }
    let orders = [Order::Free, Order::Session, Order::RealTime];
    let theirs = orders.map(|order| (order, ask(&input.theirs, input.is_list, order, None))).into_iter().collect();
    let verdicts = Verdicts { input, ours: &ours, theirs: &theirs };
    for requirement in answered() {
        tally.count(ASKED, true);
        let holds = !ours[&requirement].is_violated();
        match theirs[&requirement.order].holds(requirement) {
            None => tally.count(NO_ANSWER, true),
            Some(true) if holds => tally.count(BOTH_HOLD, true),
            Some(false) if !holds => tally.count(BOTH_VIOLATED, true),
            Some(_) => {
                let cause = verdicts.cause(requirement);
                let row = CAUSES.iter().find(|row| Some(row.cause) == cause);
                let example = example(&input.ours, requirement);
                if row.is_none() {
                    println!("{UNEXPLAINED}: {example}");
                }
                tally.add(row.map_or(UNEXPLAINED, |row| row.name), 1, || example);
            }
        }
    }
    Ok(())
}

fn decide(checker: &Checker<'_>, requirement: Requirement) -> Verdict {
    let questions = Cell::new(0);
    checker.check(requirement, &|| questions.replace(questions.get() + 1) > QUESTIONS_MAX)
}

/// A history on one line, with the requirement in question.
fn example(history: &History, requirement: Requirement) -> String {
    format!("{requirement}: `{}`", micro::print(history).replace('\n', " / "))
}

#[cfg(test)]
mod tests {
    use ::adya::{Opts, Valid, Workload, check};
    use txloom_core::history::micro::micro;

    use super::answer::models;
    use super::cause::Cause;
    use super::*;

    /// The cause of the difference at a level; `None` if the two agree or there is no known cause.
    fn check_cause(text: &str, level: &str, expected: Option<Cause>) {
        let is_list = text.contains('a');
        let input = input::parse(&micro(text).unwrap(), is_list).unwrap();
        let requirement = Requirement::parse(level).unwrap();
        let verdict = decide(&Checker::new(&input.ours).unwrap(), requirement);
        let answer = ask(&input.theirs, is_list, requirement.order, None);
        let differs = answer.holds(requirement).is_some_and(|holds| holds != verdict.holds());
        let ours = BTreeMap::from([(requirement, verdict)]);
        let theirs = [Order::Free, Order::Session, Order::RealTime]
            .map(|order| (order, ask(&input.theirs, is_list, order, None)))
            .into();
        let cause = Verdicts { input: &input, ours: &ours, theirs: &theirs }.cause(requirement);
        assert_eq!(cause.filter(|_| differs), expected, "{text}: {level}");
    }

    #[test]
    fn differences_have_causes() {
        check_cause("ax1 rx12 / ax2", "read committed", None);
        check_cause("wx1 wy1 / rx1 ry_", "read atomic", Some(Cause::NoCycleCondition));
        check_cause("wx1 wy1 / rx1 ry_", "serializable", None);
        check_cause("rx ax2 / ax1 / rx12", "cursor stability", Some(Cause::CursorReads));
        check_cause("wx1 / rx1 / rx7", "read uncommitted", Some(Cause::GarbageRead));
        check_cause("ax1 ax2 / rx2 / rx", "read uncommitted", Some(Cause::OwnOrder));
        check_cause("ax1 / ax2 / rx12 / rx2", "read uncommitted", Some(Cause::IncompatibleOrder));
        check_cause("ax1 / ax2 / rx12 / rx2", "read committed", None);
        check_cause("rx1 wx1 wy1 / ry1", "read committed", Some(Cause::FutureRead));
        check_cause("wx1 / wx2 rx1 wy1 / ry1", "monotonic atomic view", Some(Cause::Internal));
        check_cause("rx_ rx1 / wx1", "repeatable read", Some(Cause::LaterReads));
        check_cause("wx1 wy1 / wx2 wy2 / rx1 ry2", "serializable", Some(Cause::Orders));
    }

    #[test]
    fn one_run_answers_for_all_models() {
        for seed in 0..40 {
            let input = input(seed).unwrap();
            for requirement in answered() {
                let answer = ask(&input.theirs, input.is_list, requirement.order, None);
                let workload = if input.is_list { Workload::ListAppend } else { Workload::RwRegister };
                let options =
                    Opts { models: models(requirement).iter().map(ToString::to_string).collect(), ..Opts::default() };
                let expected = match check(&input.theirs, workload, &options).valid {
                    Valid::True => Some(true),
                    Valid::False => Some(false),
                    Valid::Unknown => None,
                };
                assert_eq!(answer.holds(requirement), expected, "seed {seed}: {requirement}");
            }
        }
    }
}

//! A run as a plain SQL case: what was really sent, in the order in which it was sent.
//!
//! A case with calls needs its program and our interpreter; whoever receives a bug report has neither. The flattened
//! case has only statements, one line each, and its line order is the schedule:
//!
//! ```text
//!   @schedule a a b b …                 /*a*/ BEGIN
//!   /*a*/ -- call withdraw(…)     →     /*a*/ SELECT balance FROM accounts WHERE id = 1
//!   /*b*/ -- call withdraw(…)           /*b*/ BEGIN
//!                                       …
//! ```
//!
//! It shows what happened, and is no longer the application: in another order a call might have sent something else,
//! the frozen statements cannot. So it must not be judged by serial orders, and its prose says where it comes from.
//!
//! Expectations are not carried over; they can be recorded from the run.

use std::collections::BTreeSet;

use crate::case::{Case, Entry, Item, Line, SessionName, Sql};
use crate::level::LevelName;
use crate::sql;
use crate::trace::{StepRun, Trace, TraceEvent};

impl Trace {
    /// The plain SQL case of what this run of `original` submitted. Setup, nodes and assertions are kept, levels are
    /// those that were in force.
    pub fn to_case(&self, original: &Case) -> Case {
        let mut entries: Vec<Entry> = Vec::new();
        entries.extend(self.levels(original).into_iter().map(Entry::from));
        for entry in &original.entries {
            let line = match &entry.line {
                Line::Init(sql, _) => Line::Init(sql.clone(), Vec::new()),
                Line::Node(..) | Line::Assert(_) => entry.line.clone(),
                _ => continue,
            };
            entries.push(Entry { prose: entry.prose.clone(), line });
        }
        entries.extend(self.submissions());
        let mut prose = lost_prose(original);
        prose.extend(origin(original));
        match entries.first_mut() {
            Some(first) => first.prose = merged(prose, std::mem::take(&mut first.prose)),
            None => return Case { epilogue: prose, ..Case::default() },
        }
        Case { entries, epilogue: original.epilogue.clone(), program: None }
    }

    /// The levels that were in force: one for all, or one each.
    fn levels(&self, original: &Case) -> Vec<Line> {
        let levels: BTreeSet<&LevelName> = self.sessions.iter().map(|session| &session.level).collect();
        if levels.is_empty() {
            let asked = |entry: &Entry| matches!(entry.line, Line::Isolation(..));
            return original.entries.iter().filter(|entry| asked(entry)).map(|entry| entry.line.clone()).collect();
        }
        if let (Some(level), 1) = (levels.first(), levels.len()) {
            return vec![Line::Isolation(None, (*level).clone())];
        }
        let own =
            |session: &crate::trace::SessionRun| Line::Isolation(Some(session.name.clone()), session.level.clone());
        self.sessions.iter().map(own).collect()
    }

    /// The steps and the positioned events, in the order in which they happened.
    fn submissions(&self) -> Vec<Entry> {
        let entry = |event: &TraceEvent| match event {
            TraceEvent::Submitted(id) => {
                let step = self.step(*id);
                submission(self.name(step.session), step)
            }
            TraceEvent::Happened(event) => Some(Line::Event(event.clone()).into()),
            _ => None,
        };
        self.events.iter().filter_map(entry).collect()
    }
}

/// A step as a line of a case. A statement that a case file cannot hold as it is goes on one line, and says so.
fn submission(session: &SessionName, step: &StepRun) -> Option<Entry> {
    let line = |sql| Line::Step(session.clone(), Item::Sql(sql), Vec::new());
    if let Ok(sql) = Sql::new(&step.sql) {
        return Some(line(sql).into());
    }
    let sql = Sql::new(&sql::one_line(&step.sql)).ok()?;
    let prose = vec![" Written on one line: comments are left out, control characters are blanks.".to_string()];
    Some(Entry { prose, line: line(sql) })
}

/// The prose above lines that are not kept (calls, schedules, …): above all, the claim at the top of the file.
fn lost_prose(original: &Case) -> Vec<String> {
    let kept = |line: &Line| matches!(line, Line::Init(..) | Line::Node(..) | Line::Assert(_));
    let first = original.entries.iter().find(|entry| !entry.prose.is_empty());
    first.filter(|entry| !kept(&entry.line)).map(|entry| entry.prose.clone()).unwrap_or_default()
}

/// Where a flattened case comes from; nothing if there was no call to flatten.
fn origin(original: &Case) -> Vec<String> {
    let calls = original.entries.iter().filter_map(|entry| match &entry.line {
        Line::Step(name, Item::Call(call), _) => Some(format!("   {name}: {call}")),
        _ => None,
    });
    let calls: Vec<String> = calls.collect();
    if calls.is_empty() {
        return Vec::new();
    }
    let program = original.program_path().map_or_else(String::new, |path| format!(" of {path}"));
    let mut prose =
        vec![format!(" Flattened from one run of these calls{program}, which in another order send other SQL:")];
    prose.extend(calls);
    prose
}

/// Two pieces of prose, with an empty line between them.
fn merged(mut first: Vec<String>, second: Vec<String>) -> Vec<String> {
    if !first.is_empty() && !second.is_empty() {
        first.push(String::new());
    }
    first.extend(second);
    first
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::case::Event;
    use crate::oracle::toy::{Rule, Toy, case};
    use crate::oracle::{Mode, RunRequest, Runner};
    use crate::program::Program;
    use crate::schedule::Policy;
    use crate::trace::sample::sample;

    fn run(case: &Case) -> Trace {
        let schedule = case.schedules().first().map(|schedule| (*schedule).clone());
        let mode = Mode::Scheduled(schedule);
        Toy::new(Rule::Blind).run(&RunRequest { case, target: 0, policy: Policy::Skip, mode }).unwrap()
    }

    fn lines(case: &Case) -> Vec<String> {
        let line = |entry: &Entry| match &entry.line {
            Line::Init(sql, _) => format!("init {}", sql.as_str()),
            Line::Step(name, item, _) => format!("{name} {item}"),
            Line::Event(event) => event.to_string(),
            Line::Isolation(name, level) => format!("{name:?} {level}"),
            other => format!("{other:?}"),
        };
        case.entries.iter().map(line).collect()
    }

    fn withdrawals() -> Case {
        let mut calls = case(
            "schedule a a b b a a b b
             init CREATE TABLE accounts (id INT, balance INT)
             init INSERT INTO accounts VALUES (1, 100)
             a call withdraw(account=1,amount=80)
             b call withdraw(account=1,amount=80)",
        );
        calls.entries.insert(0, Line::Program("withdraw.sql".to_string()).into());
        calls.entries[0].prose = vec![" A lost update.".to_string()];
        let text = include_str!("../../../../corpus/programs/withdraw.sql");
        calls.program = Some(Arc::new(Program::parse(text).unwrap()));
        calls
    }

    #[test]
    fn calls_become_what_they_sent() {
        let calls = withdrawals();
        let trace = run(&calls);
        let flat = trace.to_case(&calls);
        assert_eq!(
            lines(&flat)[1..],
            [
                "init CREATE TABLE accounts (id INT, balance INT)",
                "init INSERT INTO accounts VALUES (1, 100)",
                "a BEGIN",
                "a SELECT balance FROM accounts WHERE id = 1",
                "b BEGIN",
                "b SELECT balance FROM accounts WHERE id = 1",
                "a UPDATE accounts SET balance = 100 - 80 WHERE id = 1",
                "a COMMIT",
                "b UPDATE accounts SET balance = 100 - 80 WHERE id = 1",
                "b COMMIT",
            ]
        );
        assert_eq!(
            flat.entries[0].prose,
            [
                " A lost update.",
                " Flattened from one run of these calls of withdraw.sql, which in another order send other SQL:",
                "   a: withdraw(account=1, amount=80)",
                "   b: withdraw(account=1, amount=80)",
            ]
        );
        assert!(flat.program.is_none());
    }

    #[test]
    fn the_flat_case_runs_the_same() {
        let calls = withdrawals();
        let trace = run(&calls);
        let again = run(&trace.to_case(&calls));
        let outcomes = |trace: &Trace| trace.steps.iter().map(|step| step.outcome.clone()).collect::<Vec<_>>();
        assert_eq!(outcomes(&trace), outcomes(&again));
        assert_eq!(trace.final_state, again.final_state);
        assert_eq!(trace.schedule(), again.schedule());
    }

    #[test]
    fn levels_and_events_are_those_of_the_run() {
        let original = case("a SELECT 1\nb SELECT 1");
        let mut trace = sample("a SELECT 1 > idle; b SELECT 1 > idle");
        trace.events.insert(2, TraceEvent::Happened(Event::Heal));
        let flat = trace.to_case(&original);
        assert_eq!(lines(&flat), ["None read committed", "a SELECT 1", "heal", "b SELECT 1"]);
        assert!(flat.entries[0].prose.is_empty(), "nothing was flattened");
        trace.sessions[1].level = LevelName::custom("serializable");
        let session = |name: &str| format!("{:?}", SessionName::new(name));
        let own = [format!("{} read committed", session("a")), format!("{} serializable", session("b"))];
        assert_eq!(lines(&trace.to_case(&original))[..2], own);
    }

    #[test]
    fn what_a_file_cannot_hold_is_put_on_one_line() {
        let mut trace = sample("a SELECT x > idle");
        trace.steps[0].sql = "SELECT 'a\0b'".to_string();
        let flat = trace.to_case(&Case::default());
        assert_eq!(lines(&flat)[1], "a SELECT 'a b'");
        assert_eq!(
            flat.entries[1].prose,
            [" Written on one line: comments are left out, control characters are blanks."]
        );
    }
}

//! Findings: one violation, with its evidence.
//!
//! A finding is everything that somebody needs who was not there: one sentence, the explanation as data, the case, the
//! run, where it happened, and the command that shows it again. Its [fingerprint](Fingerprint) says what *kind* of
//! violation it is, so that a hunt can count ten thousand runs into one bug.

mod explanation;
mod fingerprint;
pub mod known;

pub use explanation::Explanation;
pub(crate) use fingerprint::hash;
pub use fingerprint::{Fingerprint, shape};

use crate::case::Case;
use crate::trace::Trace;

/// One violation.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The oracle that found it.
    pub oracle: &'static str,
    /// What is wrong, in one sentence.
    pub sentence: String,
    /// Why it is wrong.
    pub explanation: Explanation,
    /// The case that shows it.
    pub case: Case,
    /// The run that shows it.
    pub trace: Trace,
    /// The runs that it is compared with, one per other target; empty where one run says it all.
    pub others: Vec<Trace>,
    /// The target that it ran on, as the user wrote it.
    pub target: String,
    /// The isolation level of the sessions; each session's own where they differ.
    pub level: String,
    /// What kind of violation it is.
    pub fingerprint: Fingerprint,
    /// The assertions that the run breaks, and none of those that it should be like does.
    pub breaks: Vec<String>,
    /// What an oracle draws to make its point.
    pub exhibits: Vec<Exhibit>,
}

/// A drawing or a table in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exhibit {
    /// What it shows.
    pub title: String,
    /// The lines, to be printed as they are.
    pub lines: Vec<String>,
}

/// What an oracle has to say of a violation; the rest of a finding follows from case and trace.
#[derive(Debug, Clone)]
pub struct Violation {
    /// What is wrong, in one sentence.
    pub sentence: String,
    /// Why it is wrong.
    pub explanation: Explanation,
    /// What kind of violation it is.
    pub fingerprint: Fingerprint,
}

impl Finding {
    /// A violation with the case and the run that show it.
    pub fn new(oracle: &'static str, violation: Violation, case: Case, trace: Trace) -> Finding {
        let Violation { sentence, explanation, fingerprint } = violation;
        let (target, level) = (trace.engine.target.clone(), level_of(&trace));
        let (others, breaks, exhibits) = (Vec::new(), Vec::new(), Vec::new());
        Finding { oracle, sentence, explanation, case, trace, others, target, level, fingerprint, breaks, exhibits }
    }

    /// The runs that show it: the first one and those that it is compared with, in the order of the targets.
    pub fn traces(&self) -> Vec<&Trace> {
        [&self.trace].into_iter().chain(&self.others).collect()
    }

    /// The command that shows it again, once the case has been written to `path`: the same oracle on the same targets.
    ///
    /// The level is part of the command only where the case itself does not say it.
    pub fn replay_command(&self, path: &str) -> String {
        let others = self.others.iter().map(|trace| trace.engine.target.as_str());
        let targets: Vec<String> = [self.target.as_str()].into_iter().chain(others).map(shell_word).collect();
        let mut command =
            format!("txloom run {} --on {} --oracle {}", shell_word(path), targets.join(" "), self.oracle);
        let mut levels: Vec<&str> = self.trace.sessions.iter().map(|session| session.level.as_str()).collect();
        levels.dedup();
        let told = self.trace.sessions.iter().any(|session| self.case.level_of(&session.name).is_some());
        if let ([level], false) = (levels.as_slice(), told) {
            command.push_str(&format!(" --level {}", level.replace(' ', "-")));
        }
        command
    }
}

/// What the targets of several runs are called: as the user wrote them, numbered where two have the same name.
pub fn labels(traces: &[&Trace]) -> Vec<String> {
    let names: Vec<&str> = traces.iter().map(|trace| trace.engine.target.as_str()).collect();
    let label = |(position, name): (usize, &&str)| {
        let same = |names: &[&str]| names.iter().filter(|other| *other == name).count();
        if same(&names) == 1 { (*name).to_string() } else { format!("{name} ({})", same(&names[..=position])) }
    };
    names.iter().enumerate().map(label).collect()
}

/// `read committed`, or `a read committed, b serializable`.
fn level_of(trace: &Trace) -> String {
    let mut levels: Vec<&str> = trace.sessions.iter().map(|session| session.level.as_str()).collect();
    levels.dedup();
    match levels.as_slice() {
        [] => trace.engine.default_level.to_string(),
        [level] => (*level).to_string(),
        _ => {
            let each = trace.sessions.iter().map(|session| format!("{} {}", session.name, session.level));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// A word of a shell command, quoted if the shell would see more in it than text.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "+-_./:@%=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Line;
    use crate::level::LevelName;
    use crate::trace::sample::sample;

    fn finding() -> Finding {
        let violation = Violation {
            sentence: "something is wrong".to_string(),
            explanation: Explanation::default(),
            fingerprint: Fingerprint::new("test", &[]),
        };
        Finding::new("test", violation, Case::default(), sample("a SELECT 1 > idle; b SELECT 1 > idle"))
    }

    #[test]
    fn the_replay_command_says_what_the_case_does_not() {
        let mut finding = finding();
        let command = "txloom run lost.sql --on toy --oracle test --level read-committed";
        assert_eq!(finding.replay_command("lost.sql"), command);
        finding.case.set_level(LevelName::custom("read committed"));
        assert_eq!(finding.replay_command("lost.sql"), "txloom run lost.sql --on toy --oracle test");
        finding.target = "postgres@/opt/pg 17".to_string();
        let command = "txloom run 'it'\\''s.sql' --on 'postgres@/opt/pg 17' --oracle test";
        assert_eq!(finding.replay_command("it's.sql"), command);
    }

    #[test]
    fn the_replay_command_names_every_target() {
        let mut finding = finding();
        finding.others = vec![finding.trace.clone(), finding.trace.clone()];
        finding.others[1].engine.target = "mysql@/opt/my sql".to_string();
        let command = "txloom run x --on toy toy 'mysql@/opt/my sql' --oracle test --level read-committed";
        assert_eq!(finding.replay_command("x"), command);
        assert_eq!(labels(&finding.traces()), ["toy (1)", "toy (2)", "mysql@/opt/my sql"]);
    }

    #[test]
    fn levels_are_told_one_by_one_where_they_differ() {
        let mut finding = finding();
        assert_eq!(finding.level, "read committed");
        finding.trace.sessions[1].level = LevelName::custom("serializable");
        assert_eq!(level_of(&finding.trace), "a read committed, b serializable");
        let told = Line::Isolation(finding.trace.sessions[1].name.clone().into(), LevelName::custom("serializable"));
        finding.case.entries.push(told.into());
        assert_eq!(finding.replay_command("x"), "txloom run x --on toy --oracle test");
    }
}

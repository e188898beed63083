//! Does the pattern of an entry occur in the runs of a finding?
//!
//! Which session `a` is and which table `t`, is tried out; there are few of both. Once that is fixed, every moment can
//! be looked for by itself, and the earliest place is as good as any later one: what follows has only more room.

use std::collections::BTreeSet;

use super::Entry;
use super::pattern::{Condition, Moment, SESSIONS, SessionVariable, StepPattern, TABLES, TableVariable};
use super::statement::{Statement, Tables};
use crate::case::Guard;
use crate::engine::{Holder, SessionId};
use crate::finding::Finding;
use crate::oracle::diff::Comparison;
use crate::outcome::{Outcome, TxStatus};
use crate::trace::transactions::{Transaction, transactions};
use crate::trace::{StepId, StepRun, Trace, TraceEvent};

/// Whether a finding shows what an entry describes.
pub(super) fn matches(entry: &Entry, finding: &Finding) -> bool {
    if finding.oracle != entry.oracle || !is_kind(entry, finding.fingerprint.kind()) {
        return false;
    }
    let tables = Tables::of(&finding.case);
    let runs: Vec<Run<'_>> = std::iter::once(&finding.trace).chain(&finding.others).map(Run::of).collect();
    let occurs = |here: &Run<'_>, there: Option<(&Guard, &Run<'_>)>| {
        let first = there.and_then(|(_, there)| Comparison::of(&[here.trace, there.trace]).first?.step);
        Search { entry, tables: &tables, here, there, first }.occurs()
    };
    runs.iter().enumerate().any(|(position, here)| match &entry.against {
        None => occurs(here, None),
        Some(guard) => {
            let others = runs.iter().enumerate().filter(|(other, _)| *other != position);
            others.map(|(_, there)| there).any(|there| occurs(here, Some((guard, there))))
        }
    })
}

fn is_kind(entry: &Entry, kind: &str) -> bool {
    let differs = kind.strip_prefix(entry.oracle.as_str()).and_then(|rest| rest.strip_prefix('-')).unwrap_or(kind);
    entry.differs.is_empty() || entry.differs.iter().any(|word| word == differs)
}

/// A run, and what became of its steps.
struct Run<'s> {
    trace: &'s Trace,
    committed: BTreeSet<StepId>,
}

impl<'s> Run<'s> {
    fn of(trace: &'s Trace) -> Run<'s> {
        let committed = transactions(trace).into_iter().filter(Transaction::is_committed);
        Run { trace, committed: committed.flat_map(|transaction| transaction.steps).collect() }
    }

    /// The same step of another run of the case. (All runs have the same sessions, in the same order.)
    fn counterpart(&self, step: &StepRun) -> Option<StepId> {
        let same = |other: &StepRun| other.session == step.session && other.index == step.index;
        self.trace.steps.iter().position(same).map(StepId)
    }

    /// Whether a step waited for a session, at some time. An engine that cannot tell for whom is believed.
    fn waits_for(&self, id: StepId, session: Option<SessionId>) -> bool {
        let told = self.trace.events.iter().filter_map(|event| match event {
            TraceEvent::Waiting { step, holders, .. } if *step == id && !holders.is_empty() => Some(holders),
            _ => None,
        });
        let is_it = |holder: &Holder| matches!(holder, Holder::Session(holder) if Some(*holder) == session);
        let told: Vec<&Vec<Holder>> = told.collect();
        told.is_empty() || told.into_iter().flatten().any(is_it)
    }

    /// Whether a condition is true of a step, given how it compares with the same step of the other run.
    fn is_true(&self, condition: Condition, id: StepId, compared: Compared<'_>, binding: &Binding<'_>) -> bool {
        let step = self.trace.step(id);
        let outcome = step.outcome.as_ref();
        let status = outcome.map(|outcome| outcome.status);
        let rows = || Some((row_count(outcome?)?, row_count(compared.other?)?));
        match condition {
            Condition::Waits(None) => step.waited,
            Condition::Waits(Some(holder)) => step.waited && self.waits_for(id, binding.sessions[holder.0]),
            Condition::AtOnce => !step.waited,
            Condition::Ok => outcome.is_some_and(|outcome| outcome.error.is_none()),
            Condition::Error(None) => outcome.is_some_and(|outcome| outcome.error.is_some()),
            Condition::Error(class) => outcome.and_then(Outcome::error_class) == class,
            Condition::Open => status == Some(TxStatus::Open),
            Condition::Idle => status == Some(TxStatus::Idle),
            Condition::Committed => self.committed.contains(&id),
            Condition::Fewer => rows().is_some_and(|(here, there)| here < there),
            Condition::More => rows().is_some_and(|(here, there)| here > there),
            Condition::First => compared.is_first,
        }
    }
}

/// How a step compares with the same step of the other run.
#[derive(Clone, Copy)]
struct Compared<'s> {
    /// Its outcome there.
    other: Option<&'s Outcome>,
    /// Whether the runs differ here first, or only in the data that they leave.
    is_first: bool,
}

/// How many rows a statement changed or returned.
fn row_count(outcome: &Outcome) -> Option<u64> {
    outcome.affected().or_else(|| outcome.rows().map(|result| result.rows.len() as u64))
}

/// The search for one entry in one run, compared with at most one other.
struct Search<'s> {
    entry: &'s Entry,
    tables: &'s Tables,
    here: &'s Run<'s>,
    there: Option<(&'s Guard, &'s Run<'s>)>,
    /// Where the two differ first, as the differential oracle sees it.
    first: Option<StepId>,
}

/// What the letters of a pattern stand for.
#[derive(Debug, Clone, Default)]
struct Binding<'s> {
    sessions: [Option<SessionId>; SESSIONS.len()],
    tables: [Option<&'s str>; TABLES.len()],
}

impl<'s> Search<'s> {
    fn occurs(&self) -> bool {
        self.bindings().iter().any(|binding| self.is_where_it_applies(binding) && self.occurs_with(binding))
    }

    /// Every way of letting the letters stand for different sessions and different tables.
    fn bindings(&self) -> Vec<Binding<'s>> {
        let moments = &self.entry.trace;
        let sessions: BTreeSet<SessionVariable> = moments.iter().flat_map(Moment::sessions).collect();
        let tables: BTreeSet<TableVariable> = moments.iter().filter_map(Moment::table).collect();
        let mut bindings = vec![Binding::default()];
        for SessionVariable(letter) in sessions {
            let all = (0..self.here.trace.sessions.len()).map(SessionId);
            bindings = extended(&bindings, all, |binding, session| {
                let free = !binding.sessions.contains(&Some(session));
                binding.sessions[letter] = Some(session);
                free
            });
        }
        for TableVariable(letter) in tables {
            bindings = extended(&bindings, self.tables.names(), |binding, table| {
                let free = !binding.tables.contains(&Some(table));
                binding.tables[letter] = Some(table);
                free
            });
        }
        bindings
    }

    /// Both runs are on targets that the entry names, at the levels that it names.
    fn is_where_it_applies(&self, binding: &Binding<'_>) -> bool {
        let all_at = |Run { trace, .. }: &Run<'_>, guard: &Guard| {
            let mut sessions = binding.sessions.iter().flatten();
            sessions.all(|session| {
                trace.sessions.get(session.0).is_some_and(|run| guard.matches(&trace.engine, &run.level))
            })
        };
        all_at(self.here, &self.entry.on) && self.there.is_none_or(|(guard, run)| all_at(run, guard))
    }

    fn occurs_with(&self, binding: &Binding<'_>) -> bool {
        let mut moments = self.entry.trace.iter();
        let mut wanted = moments.next();
        for event in &self.here.trace.events {
            let Some(moment) = wanted else { break };
            if self.is_moment(moment, event, binding) {
                wanted = moments.next();
            }
        }
        wanted.is_none()
    }

    fn is_moment(&self, moment: &Moment, event: &TraceEvent, binding: &Binding<'_>) -> bool {
        match (moment, event) {
            (Moment::Resumes(session), TraceEvent::Resumed(id)) => {
                binding.sessions[session.0] == Some(self.here.trace.step(*id).session)
            }
            (Moment::Step(pattern), TraceEvent::Submitted(id)) => self.is_step(pattern, *id, binding),
            _ => false,
        }
    }

    fn is_step(&self, pattern: &StepPattern, id: StepId, binding: &Binding<'_>) -> bool {
        let step = self.here.trace.step(id);
        let statement = Statement::of(&step.sql, self.tables);
        let table = pattern.table.and_then(|letter| binding.tables[letter.0]);
        let there = self.there.and_then(|(_, run)| Some((run, run.counterpart(step)?)));
        let other = there.and_then(|(run, id)| run.trace.step(id).outcome.as_ref());
        let is_first = self.first.is_none_or(|first| first == id);
        let (seen_here, seen_there) =
            (Compared { other, is_first }, Compared { other: step.outcome.as_ref(), is_first });
        binding.sessions[pattern.session.0] == Some(step.session)
            && pattern.verb.covers(statement.verb)
            && table.is_none_or(|table| statement.is_about(table))
            && (!pattern.key || statement.assigns_key)
            && (!pattern.selective || statement.is_selective)
            && (!pattern.excluding || statement.is_excluding)
            && pattern.here.iter().all(|condition| self.here.is_true(*condition, id, seen_here, binding))
            && pattern
                .there
                .iter()
                .all(|condition| there.is_some_and(|(run, id)| run.is_true(*condition, id, seen_there, binding)))
    }
}

/// Each binding with each value that fits it.
fn extended<'s, T: Copy>(
    bindings: &[Binding<'s>],
    values: impl Iterator<Item = T> + Clone,
    bind: impl Fn(&mut Binding<'s>, T) -> bool,
) -> Vec<Binding<'s>> {
    let with_each = |binding: &Binding<'s>| {
        let with = |value: T| {
            let mut binding = binding.clone();
            bind(&mut binding, value).then_some(binding)
        };
        values.clone().filter_map(with).collect::<Vec<_>>()
    };
    bindings.iter().flat_map(with_each).collect()
}

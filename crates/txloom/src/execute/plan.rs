//! What to submit next: schedules, policies and modes, without any effect.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use txloom_core::case::{Case, Event, Item, SessionName};
use txloom_core::oracle::{Mode, RunError};
use txloom_core::outcome::TxStatus;
use txloom_core::schedule::{Constraint, Policy, Turn};
use txloom_core::script::Step;

/// What the executor knows of a session when it asks what to do next. All statements in flight wait: the engine is
/// quiet.
pub(super) struct SessionView<'a> {
    pub(super) name: &'a SessionName,
    /// The step that would be submitted next; `None` if one is in flight or none is left.
    pub(super) next: Option<&'a Step>,
    /// Its index among the session's steps.
    pub(super) next_index: usize,
    /// Whether a statement of it waits.
    pub(super) waiting: bool,
    /// The transaction status after its last completed step.
    pub(super) status: TxStatus,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Submit the next step of this session (by position).
    Submit(usize),
    /// Submit this step of this session, whatever its script would do.
    SubmitStep(usize, Step),
    /// Carry out an event.
    Event(Event),
    /// Cancel the statement of this session, which waits: nothing else can go on.
    Unblock(usize),
    /// A constraint cannot be kept; it is dropped.
    GiveUp(Constraint),
    /// Everything is done.
    Done,
}

/// Decides what comes next.
pub(super) struct Plan {
    kind: Kind,
    policy: Policy,
    /// Steps that have completed, for constraints.
    completed: BTreeSet<(SessionName, usize)>,
}

enum Kind {
    Scheduled(Vec<Pending>),
    Serial { order: VecDeque<SessionName>, current: Option<usize>, started: bool },
    Autocommit(VecDeque<(usize, Step)>),
}

/// An entry of the schedule that has not been used up.
enum Pending {
    Step(SessionName),
    Item(SessionName, usize),
    Event(Event),
}

impl Plan {
    /// Prepares a run; fails if the mode does not fit the case.
    pub(super) fn new(case: &Case, mode: &Mode, policy: &Policy) -> Result<Plan, RunError> {
        let kind = match mode {
            Mode::Scheduled(schedule) => Kind::Scheduled(pending(case.turns(schedule.as_ref()))),
            Mode::Serial(order) => {
                Kind::Serial { order: order.iter().cloned().collect(), current: None, started: false }
            }
            Mode::Autocommit(_) => Kind::Autocommit(autocommit_steps(case, mode)?),
        };
        Ok(Plan { kind, policy: policy.clone(), completed: BTreeSet::new() })
    }

    /// Notes that a step has completed.
    pub(super) fn note_completed(&mut self, session: &SessionName, index: usize) {
        self.completed.insert((session.clone(), index));
    }

    /// What to do now.
    pub(super) fn choose(&mut self, sessions: &[SessionView<'_>]) -> Choice {
        let choice = match &mut self.kind {
            Kind::Scheduled(pending) => scheduled(pending, &self.policy, &self.completed, sessions),
            Kind::Serial { order, current, started } => serial(order, current, started, sessions),
            Kind::Autocommit(steps) => match steps.pop_front() {
                Some((session, step)) => Some(Choice::SubmitStep(session, step)),
                None => Some(Choice::Done),
            },
        };
        choice.or_else(|| self.leftover(sessions)).unwrap_or_else(|| self.unblock(sessions))
    }

    /// Steps that no entry of the schedule asked for run at the end, in session order.
    fn leftover(&self, sessions: &[SessionView<'_>]) -> Option<Choice> {
        let ready = |view: &SessionView<'_>| {
            view.next.is_some() && held_back(&self.policy, &self.completed, view.name, view.next_index).is_none()
        };
        sessions.iter().position(ready).map(Choice::Submit)
    }

    /// Nothing can be submitted. A constraint that holds a step back is given up first; then the first statement that
    /// waits is cancelled; else everything is done.
    fn unblock(&mut self, sessions: &[SessionView<'_>]) -> Choice {
        let held = sessions
            .iter()
            .filter(|view| view.next.is_some())
            .find_map(|view| held_back(&self.policy, &self.completed, view.name, view.next_index))
            .cloned();
        if let (Some(constraint), Policy::Partial(constraints)) = (held, &mut self.policy) {
            constraints.retain(|other| *other != constraint);
            return Choice::GiveUp(constraint);
        }
        sessions.iter().position(|view| view.waiting).map_or(Choice::Done, Choice::Unblock)
    }
}

/// Numbers the items of each session, so that an entry knows when its item is over.
fn pending(turns: Vec<Turn>) -> Vec<Pending> {
    let mut items: BTreeMap<SessionName, usize> = BTreeMap::new();
    let entry = |turn| match turn {
        Turn::Step(name) => Pending::Step(name),
        Turn::Event(event) => Pending::Event(event),
        Turn::Item(name) => {
            let item = items.entry(name.clone()).or_default();
            *item += 1;
            Pending::Item(name, *item - 1)
        }
    };
    turns.into_iter().map(entry).collect()
}

/// The first entry, from the beginning, whose session can go on (DT², Algorithm 1: after a session was resumed, the
/// order is scanned from the beginning again).
fn scheduled(
    pending: &mut Vec<Pending>,
    policy: &Policy,
    completed: &BTreeSet<(SessionName, usize)>,
    sessions: &[SessionView<'_>],
) -> Option<Choice> {
    let mut at = 0;
    while at < pending.len() {
        let (name, item) = match &pending[at] {
            Pending::Event(_) => {
                let Pending::Event(event) = pending.remove(at) else { unreachable!("matched above") };
                return Some(Choice::Event(event));
            }
            Pending::Step(name) => (name, None),
            Pending::Item(name, item) => (name, Some(*item)),
        };
        let position = sessions.iter().position(|view| view.name == name);
        let Some(view) = position.map(|position| &sessions[position]) else {
            pending.remove(at);
            continue;
        };
        match view.next {
            None if view.waiting && *policy == Policy::Wait => return position.map(Choice::Unblock),
            None if view.waiting => at += 1,
            Some(next) if item.is_none_or(|item| next.item == item) => {
                if held_back(policy, completed, view.name, view.next_index).is_some() {
                    at += 1;
                    continue;
                }
                if item.is_none() {
                    pending.remove(at);
                }
                return position.map(Choice::Submit);
            }
            // The session is over, or is beyond the item of this entry.
            None | Some(_) => {
                pending.remove(at);
            }
        }
    }
    None
}

/// The constraint that forbids to submit this step now.
fn held_back<'a>(
    policy: &'a Policy,
    completed: &BTreeSet<(SessionName, usize)>,
    session: &SessionName,
    index: usize,
) -> Option<&'a Constraint> {
    let Policy::Partial(constraints) = policy else { return None };
    constraints.iter().find(|constraint| {
        constraint.then.session == *session
            && constraint.then.index == index
            && !completed.contains(&(constraint.first.session.clone(), constraint.first.index))
    })
}

/// One transaction at a time: stays with a session until its status is idle after a step.
fn serial(
    order: &mut VecDeque<SessionName>,
    current: &mut Option<usize>,
    started: &mut bool,
    sessions: &[SessionView<'_>],
) -> Option<Choice> {
    loop {
        if let Some(position) = *current {
            let view = &sessions[position];
            if view.waiting {
                return Some(Choice::Unblock(position));
            }
            let over = *started && matches!(view.status, TxStatus::Idle | TxStatus::Lost);
            if view.next.is_some() && !over {
                *started = true;
                return Some(Choice::Submit(position));
            }
        }
        *started = false;
        *current = match order.pop_front() {
            Some(name) => sessions.iter().position(|view| *view.name == name),
            // What is left, session by session.
            None => Some(sessions.iter().position(|view| view.next.is_some())?),
        };
    }
}

fn autocommit_steps(case: &Case, mode: &Mode) -> Result<VecDeque<(usize, Step)>, RunError> {
    let Mode::Autocommit(order) = mode else { return Ok(VecDeque::new()) };
    let sessions = case.sessions();
    order
        .iter()
        .map(|step| {
            let position = sessions.iter().position(|session| session.name == step.session);
            let item = position.and_then(|position| sessions[position].items.get(step.index));
            match (position, item) {
                (Some(position), Some(Item::Sql(sql))) => {
                    Ok((position, Step { sql: sql.as_str().to_string(), item: step.index }))
                }
                (_, Some(Item::Call(call))) => {
                    Err(RunError::Case(format!("{call} cannot run without transactions: a call is not one statement")))
                }
                _ => Err(RunError::Case(format!("the case has no step {step}"))),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use txloom_core::case;
    use txloom_core::schedule::{Schedule, ScheduleEntry, StepRef};

    /// A session that is only counted.
    struct Fake {
        name: SessionName,
        steps: Vec<Step>,
        done: usize,
        waiting: bool,
        status: TxStatus,
    }

    fn name(text: &str) -> SessionName {
        SessionName::new(text).unwrap()
    }

    fn session(text: &str, count: usize) -> Fake {
        let steps = (0..count).map(|item| Step { sql: format!("{text}{item}"), item }).collect();
        Fake { name: name(text), steps, done: 0, waiting: false, status: TxStatus::Idle }
    }

    fn views(sessions: &[Fake]) -> Vec<SessionView<'_>> {
        sessions
            .iter()
            .map(|fake| SessionView {
                name: &fake.name,
                next: fake.steps.get(fake.done).filter(|_| !fake.waiting),
                next_index: fake.done,
                waiting: fake.waiting,
                status: fake.status,
            })
            .collect()
    }

    /// Submits until nothing is left. `blocks` says after which submission (from 1) a session begins to wait, and after
    /// which one it goes on.
    fn order(mut plan: Plan, mut sessions: Vec<Fake>, blocks: &[(usize, usize)]) -> String {
        let mut order = Vec::new();
        let mut resumptions: BTreeMap<usize, usize> = BTreeMap::new();
        loop {
            match plan.choose(&views(&sessions)) {
                Choice::Submit(at) => {
                    order.push(sessions[at].name.to_string());
                    let submitted = order.iter().filter(|word| word.len() == 1).count();
                    plan.note_completed(&sessions[at].name.clone(), sessions[at].done);
                    sessions[at].done += 1;
                    if let Some((_, resumed)) = blocks.iter().find(|(blocked, _)| *blocked == submitted) {
                        sessions[at].waiting = true;
                        resumptions.insert(*resumed, at);
                    }
                    if let Some(resumed) = resumptions.get(&submitted) {
                        sessions[*resumed].waiting = false;
                    }
                }
                Choice::Unblock(at) => {
                    order.push(format!("cancel-{}", sessions[at].name));
                    sessions[at].waiting = false;
                }
                Choice::GiveUp(_) => order.push("give-up".to_string()),
                Choice::Event(event) => order.push(format!("[{event}]")),
                Choice::Done => return order.join(" "),
                other => panic!("{other:?}"),
            }
        }
    }

    fn plan(schedule: &str, policy: Policy) -> Plan {
        let entry = |word: &str| match word.strip_prefix('[') {
            Some(event) => ScheduleEntry::Event(Event::parse(event.trim_end_matches(']')).unwrap()),
            None => ScheduleEntry::Step(name(word)),
        };
        let schedule: Schedule = schedule.split_whitespace().map(entry).collect();
        Plan::new(&Case::default(), &Mode::Scheduled(Some(schedule)), &policy).unwrap()
    }

    #[test]
    fn skip_goes_on_with_others_and_comes_back_at_once() {
        let sessions = || vec![session("a", 3), session("b", 3)];
        assert_eq!(order(plan("a b a b a b", Policy::Skip), sessions(), &[]), "a b a b a b");
        // b waits from its first step until a's third: its second step is submitted right after that.
        assert_eq!(order(plan("a b a b b a", Policy::Skip), sessions(), &[(2, 4)]), "a b a a b b");
    }

    #[test]
    fn wait_submits_nothing_before_the_waiting_session_goes_on() {
        let sessions = || vec![session("a", 2), session("b", 2)];
        assert_eq!(order(plan("a b a b", Policy::Wait), sessions(), &[(2, 3)]), "a b a b");
        assert_eq!(order(plan("a b b a", Policy::Wait), sessions(), &[(2, 9)]), "a b cancel-b b a");
    }

    #[test]
    fn events_have_their_place_between_the_steps() {
        let sessions = || vec![session("a", 2), session("b", 2)];
        let order_of = |schedule| order(plan(schedule, Policy::Skip), sessions(), &[]);
        assert_eq!(order_of("[kill] a b [heal] b a [kill]"), "[kill] a b [heal] b a [kill]");
        assert_eq!(order_of("a a [heal]"), "a a [heal] b b", "what no entry asks for comes last");
    }

    #[test]
    fn what_waits_for_ever_is_cancelled() {
        let sessions = vec![session("a", 1), session("b", 2)];
        assert_eq!(order(plan("a b b", Policy::Skip), sessions, &[(2, 9)]), "a b cancel-b b");
    }

    #[test]
    fn entries_without_a_step_are_ignored_and_steps_without_an_entry_run_at_the_end() {
        let sessions = vec![session("a", 1), session("b", 2)];
        assert_eq!(order(plan("b a a a z", Policy::Skip), sessions, &[]), "b a b");
    }

    #[test]
    fn partial_holds_steps_back_until_others_have_completed() {
        let step = |session: &str, index| StepRef { session: name(session), index };
        let constraint = Constraint { first: step("b", 1), then: step("a", 1) };
        let partial = || Policy::Partial(vec![constraint.clone()]);
        let sessions = || vec![session("a", 2), session("b", 2)];
        assert_eq!(order(plan("a a b b", partial()), sessions(), &[]), "a b b a");
        // b waits for a, which is held back for b: the constraint is infeasible.
        assert_eq!(order(plan("a b a b", partial()), sessions(), &[(2, 3)]), "a b give-up a b");
    }

    #[test]
    fn in_line_order_a_call_runs_to_its_end() {
        let case = case::parse("/*a*/ -- call f()\n/*b*/ x\n/*a*/ y").unwrap();
        let mut a = session("a", 4);
        (0..3).for_each(|at| a.steps[at].item = 0);
        a.steps[3].item = 1;
        let plan = Plan::new(&case, &Mode::Scheduled(None), &Policy::Skip).unwrap();
        assert_eq!(order(plan, vec![a, session("b", 1)], &[]), "a a a b a");
    }

    #[test]
    fn serial_stays_with_a_session_until_it_is_idle() {
        let mut sessions = vec![session("a", 3), session("b", 1)];
        let mut plan = Plan::new(&Case::default(), &Mode::Serial(vec![name("a"), name("b")]), &Policy::Skip).unwrap();
        let mut order = String::new();
        while let Choice::Submit(at) = plan.choose(&views(&sessions)) {
            order.push_str(sessions[at].name.as_str());
            sessions[at].done += 1;
            // a's transaction ends with its second step.
            sessions[at].status = if order == "a" { TxStatus::Open } else { TxStatus::Idle };
        }
        assert_eq!(order, "aaba");
    }

    #[test]
    fn without_transactions_the_given_steps_run_in_the_given_order() {
        let case = case::parse("/*a*/ BEGIN\n/*a*/ x\n/*b*/ y\n/*a*/ COMMIT").unwrap();
        let step = |session: &str, index| StepRef { session: name(session), index };
        let mode = Mode::Autocommit(vec![step("b", 0), step("a", 1)]);
        let mut plan = Plan::new(&case, &mode, &Policy::Skip).unwrap();
        assert!(matches!(plan.choose(&[]), Choice::SubmitStep(1, step) if step.sql == "y"));
        assert!(matches!(plan.choose(&[]), Choice::SubmitStep(0, step) if step.sql == "x"));
        assert_eq!(plan.choose(&[]), Choice::Done);
        assert!(Plan::new(&case, &Mode::Autocommit(vec![step("b", 7)]), &Policy::Skip).is_err());
    }
}

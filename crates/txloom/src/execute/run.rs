//! One run, from reset to snapshot.

use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use txloom_core::case::{AssertWhen, Case};
use txloom_core::engine::{Engine, EngineError, EngineErrorKind, Holder, SessionId, SessionSpec};
use txloom_core::oracle::{Mode, RunError, RunRequest};
use txloom_core::outcome::{ErrorClass, Outcome, TxStatus};
use txloom_core::script::{EndedCall, Script, SessionScript, Step};
use txloom_core::trace::{CallRun, CancelReason, Check, SessionRun, StepId, StepRun, Trace, TraceEvent};

use super::plan::{Choice, Plan, SessionView};
use super::worker::{Completion, Worker};
use super::{BACKSTOP, ExecuteOptions};
use crate::interrupt;

/// Executes one request.
pub(super) fn execute(
    engine: &mut dyn Engine,
    request: &RunRequest<'_>,
    options: &ExecuteOptions,
) -> Result<Trace, RunError> {
    let mut plan = Plan::new(request.case, &request.mode, &request.policy)?;
    let setup = reset(engine, &request.case.setup())?;
    let mut run = Run::open(engine, request, options)?;
    run.trace.setup = setup;
    run.check_assertions(AssertWhen::Start, None)?;
    while run.advance(&mut plan)? {}
    run.finish()
}

/// Resets an engine; a setup that it refuses is an error.
pub(crate) fn reset(engine: &mut dyn Engine, setup: &[String]) -> Result<Vec<Outcome>, RunError> {
    let outcomes = engine.reset(setup)?;
    let failed = outcomes.iter().position(|outcome| outcome.error.is_some());
    match failed.and_then(|at| outcomes[at].error.as_ref().map(|error| (at, error))) {
        None => Ok(outcomes),
        Some((at, error)) => Err(RunError::Setup {
            target: engine.info().target.clone(),
            step: at + 1,
            sql: setup[at].clone(),
            error: error.to_string(),
        }),
    }
}

/// A run that is under way.
pub(super) struct Run<'a> {
    pub(super) engine: &'a mut dyn Engine,
    pub(super) options: &'a ExecuteOptions,
    pub(super) case: &'a Case,
    pub(super) sessions: Vec<RunningSession>,
    pub(super) completions: Receiver<Completion>,
    pub(super) trace: Trace,
}

/// A session that is open.
pub(super) struct RunningSession {
    pub(super) worker: Worker,
    script: Box<dyn Script>,
    /// The step that comes next, once the one before has completed.
    next: Option<Step>,
    /// How many steps have been submitted.
    submitted: usize,
    pub(super) in_flight: Option<StepId>,
    /// When the last step was submitted.
    since: Instant,
    status: TxStatus,
    /// For whom the statement in flight was last seen waiting.
    pub(super) waits_for: Option<Vec<Holder>>,
}

impl<'a> Run<'a> {
    fn open(
        engine: &'a mut dyn Engine,
        request: &RunRequest<'a>,
        options: &'a ExecuteOptions,
    ) -> Result<Run<'a>, RunError> {
        let info = engine.info().clone();
        let (sender, completions) = channel();
        let mut sessions = Vec::new();
        let mut runs = Vec::new();
        for (position, session) in request.case.sessions().into_iter().enumerate() {
            let level = request.case.level_of(&session.name).cloned();
            level.iter().try_for_each(|level| info.require_level(level))?;
            let script = SessionScript::new(&session.items, request.case.program.as_deref(), info.dialect)?;
            let spec = SessionSpec {
                id: SessionId(position),
                name: session.name.clone(),
                node: request.case.node_of(&session.name),
                level: level.clone(),
            };
            let worker = Worker::start(spec.id, engine.open(&spec)?, sender.clone());
            // Without transactions the plan brings the steps itself.
            let own_steps = !matches!(request.mode, Mode::Autocommit(_));
            sessions.push(RunningSession::new(worker, Box::new(script), own_steps));
            let level = level.unwrap_or_else(|| info.default_level.clone());
            runs.push(SessionRun { name: session.name, level, left_open: false });
        }
        let trace = Trace {
            engine: info,
            sessions: runs,
            setup: Vec::new(),
            steps: Vec::new(),
            events: Vec::new(),
            checks: Vec::new(),
            final_state: None,
            death: None,
            alarms: Vec::new(),
            calls: Vec::new(),
        };
        Ok(Run { engine, options, case: request.case, sessions, completions, trace })
    }

    /// Does the next thing; false when nothing is left to do.
    fn advance(&mut self, plan: &mut Plan) -> Result<bool, RunError> {
        self.check_interrupt()?;
        if self.trace.death.is_some() {
            return Ok(false);
        }
        let first_step = self.trace.steps.len();
        match plan.choose(&self.views()) {
            Choice::Done => return Ok(false),
            Choice::Submit(session) => self.submit_next(session),
            Choice::SubmitStep(session, step) => self.submit(session, step),
            Choice::Event(event) => {
                self.engine.event(&event)?;
                self.trace.events.push(TraceEvent::Happened(event));
            }
            Choice::Unblock(session) => self.cancel(session, CancelReason::StillBlocked)?,
            Choice::GiveUp(constraint) => self.trace.events.push(TraceEvent::Infeasible(constraint)),
        }
        let completed = self.settle(StepId(first_step))?;
        for id in completed {
            let step = self.trace.step(id);
            plan.note_completed(self.trace.name(step.session), step.index);
            self.check_after(id)?;
        }
        Ok(true)
    }

    fn views(&self) -> Vec<SessionView<'_>> {
        let sessions = self.sessions.iter().zip(&self.trace.sessions);
        sessions
            .map(|(session, run)| SessionView {
                name: &run.name,
                next: session.next.as_ref().filter(|_| session.in_flight.is_none()),
                next_index: session.submitted,
                waiting: session.in_flight.is_some(),
                status: session.status,
            })
            .collect()
    }

    fn submit_next(&mut self, session: usize) {
        if let Some(step) = self.sessions[session].next.take() {
            self.submit(session, step);
        }
    }

    fn submit(&mut self, session: usize, step: Step) {
        let id = StepId(self.trace.steps.len());
        let running = &mut self.sessions[session];
        self.trace.steps.push(StepRun {
            session: SessionId(session),
            index: running.submitted,
            item: step.item,
            sql: step.sql.clone(),
            outcome: None,
            waited: false,
            cancelled: None,
        });
        running.submitted += 1;
        (running.in_flight, running.since) = (Some(id), Instant::now());
        self.trace.events.push(TraceEvent::Submitted(id));
        running.worker.submit(&step.sql);
    }

    /// Cancels the statement in flight of a session, and says why.
    pub(super) fn cancel(&mut self, session: usize, reason: CancelReason) -> Result<(), EngineError> {
        let Some(id) = self.sessions[session].in_flight else { return Ok(()) };
        self.trace.steps[id.0].cancelled = Some(reason);
        self.trace.events.push(TraceEvent::Cancelled(id, reason));
        self.sessions[session].worker.cancel()
    }

    /// Records a completion and lets the session's script decide what comes next.
    pub(super) fn complete(&mut self, session: SessionId, outcome: Outcome) -> Option<StepId> {
        let running = &mut self.sessions[session.0];
        let id = running.in_flight.take()?;
        running.status = outcome.status;
        running.waits_for = None;
        running.next = running.script.next(Some(&outcome));
        // Nobody asked for it, and it took so long: that was the server's own clock, which stands in for ours.
        let is_backstop = outcome.error_class() == Some(ErrorClass::Cancelled)
            && self.trace.step(id).cancelled.is_none()
            && running.since.elapsed() > self.options.statement_limit.min(BACKSTOP);
        if is_backstop {
            self.trace.steps[id.0].cancelled = Some(CancelReason::TimeLimit);
            self.trace.events.push(TraceEvent::Cancelled(id, CancelReason::TimeLimit));
        }
        self.trace.steps[id.0].outcome = Some(outcome);
        Some(id)
    }

    /// Checks `each` assertions after a step that ended a transaction.
    fn check_after(&mut self, id: StepId) -> Result<(), RunError> {
        let ended = self.trace.step(id).outcome.as_ref().is_some_and(|outcome| outcome.status == TxStatus::Idle);
        if ended {
            self.check_assertions(AssertWhen::Each, Some(id))?;
        }
        self.check_calls(id)
    }

    /// Takes note of calls that ended with a step, and checks what is asserted of them.
    fn check_calls(&mut self, id: StepId) -> Result<(), RunError> {
        let session = self.trace.step(id).session;
        for call in self.sessions[session.0].script.ended() {
            self.check_call(AssertWhen::After, &call, id)?;
            self.trace.calls.push(CallRun { session, after: id, call });
        }
        Ok(())
    }

    /// Checks what is asserted of a call that ended with a step.
    fn check_call(&mut self, when: AssertWhen, call: &EndedCall, id: StepId) -> Result<(), RunError> {
        for assert in self.case.asserts(when).filter(|assert| assert.is_about(call)) {
            let outcome = self.engine.probe(&assert.query_about(call, self.trace.engine.dialect))?;
            let after = (when == AssertWhen::After).then_some(id);
            self.trace.checks.push(Check { name: assert.name.clone(), when, after, outcome });
        }
        Ok(())
    }

    /// Checks what is to be left of the calls at the end.
    fn check_kept(&mut self) -> Result<(), RunError> {
        for run in self.trace.calls.clone() {
            self.check_call(AssertWhen::Kept, &run.call, run.after)?;
        }
        Ok(())
    }

    fn check_assertions(&mut self, when: AssertWhen, after: Option<StepId>) -> Result<(), RunError> {
        for assert in self.case.asserts(when) {
            let outcome = self.engine.probe(&assert.sql)?;
            self.trace.checks.push(Check { name: assert.name.clone(), when, after, outcome });
        }
        Ok(())
    }

    pub(super) fn check_interrupt(&self) -> Result<(), EngineError> {
        match interrupt::requested() {
            true => Err(EngineError::new(&self.trace.engine.target, EngineErrorKind::Interrupted)),
            false => Ok(()),
        }
    }

    /// Rolls back what is open, closes the sessions, looks at what is left.
    fn finish(mut self) -> Result<Trace, RunError> {
        if self.trace.death.is_none() {
            for (position, run) in self.trace.sessions.iter_mut().enumerate() {
                run.left_open = matches!(self.sessions[position].status, TxStatus::Open | TxStatus::Failed);
            }
            self.roll_back_open()?;
        }
        self.sessions.clear();
        if self.trace.death.is_none() {
            self.check_kept()?;
            self.check_assertions(AssertWhen::End, None)?;
            self.trace.final_state = Some(self.engine.snapshot()?);
        }
        self.trace.alarms = self.engine.alarms();
        Ok(self.trace)
    }

    fn roll_back_open(&mut self) -> Result<(), EngineError> {
        let open = self.sessions.iter().zip(&self.trace.sessions).filter(|(_, run)| run.left_open);
        let open_count = open.map(|(session, _)| session.worker.submit("ROLLBACK")).count();
        for _ in 0..open_count {
            match self.completions.recv_timeout(self.options.statement_limit) {
                Ok(completion) => completion.result.map(|_| ())?,
                Err(_) => {
                    let what = "a session did not answer its final ROLLBACK in time".to_string();
                    return Err(EngineError::new(&self.trace.engine.target, EngineErrorKind::Lost(what)));
                }
            }
        }
        Ok(())
    }
}

impl RunningSession {
    fn new(worker: Worker, mut script: Box<dyn Script>, own_steps: bool) -> RunningSession {
        let next = if own_steps { script.next(None) } else { None };
        if !own_steps {
            script = Box::new(NoSteps);
        }
        let (since, status) = (Instant::now(), TxStatus::Idle);
        RunningSession { worker, script, next, submitted: 0, in_flight: None, since, status, waits_for: None }
    }
}

/// The script of a session whose steps come from elsewhere.
struct NoSteps;

impl Script for NoSteps {
    fn next(&mut self, _last: Option<&Outcome>) -> Option<Step> {
        None
    }
}

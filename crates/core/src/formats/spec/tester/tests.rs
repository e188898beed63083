//! The runner on a server of paper: its statements lock, wait, talk and fail, and nothing else.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;

use super::*;
use crate::formats::spec::parse;
use crate::outcome::Column;

/// A connection of the paper server.
#[derive(Default)]
struct PaperSession {
    /// Statements that were sent and not yet executed.
    todo: VecDeque<String>,
    busy: bool,
    said: VecDeque<Message>,
    lost: bool,
}

/// A server that knows `lock x`, `unlock x`, `rows n`, `say x`, `tell SESSION x`, `fail`, `die`, `hang` and `nothing`.
struct Paper {
    sessions: Vec<PaperSession>,
    locks: BTreeMap<String, usize>,
    hanging: BTreeSet<usize>,
    clock: Duration,
}

impl Paper {
    fn new(sessions: usize) -> Paper {
        Paper {
            sessions: (0..=sessions).map(|_| PaperSession::default()).collect(),
            locks: BTreeMap::new(),
            hanging: BTreeSet::new(),
            clock: Duration::ZERO,
        }
    }

    fn index(who: Who) -> usize {
        match who {
            Who::Control => 0,
            Who::Session(session) => session + 1,
        }
    }

    /// Lets everybody run as far as they can.
    fn run(&mut self) {
        let mut progress = true;
        while progress {
            progress = (0..self.sessions.len()).any(|session| self.run_one(session));
        }
    }

    fn run_one(&mut self, session: usize) -> bool {
        if self.hanging.contains(&session) || !self.sessions[session].busy {
            return false;
        }
        let Some(statement) = self.sessions[session].todo.front().cloned() else {
            self.sessions[session].said.push_back(Message::Ready);
            self.sessions[session].busy = false;
            return true;
        };
        let (verb, rest) = statement.split_once(' ').unwrap_or((&statement, ""));
        let result = |columns: &[&str], count: usize| {
            let column = |name: &&str| Column { name: name.to_string(), type_name: String::new() };
            let columns = columns.iter().map(column).collect();
            let rows = vec![vec![Some(b"7".to_vec())]; count];
            Message::Result(StatementResult { columns, rows, ..StatementResult::default() })
        };
        let report = |severity: &str| Report { severity: severity.into(), message: rest.into(), ..Report::default() };
        let said = match verb {
            "lock" if self.locks.get(rest).is_some_and(|holder| *holder != session) => return false,
            "lock" => {
                self.locks.insert(rest.to_string(), session);
                result(&[], 0)
            }
            "unlock" => {
                self.locks.remove(rest);
                result(&[], 0)
            }
            "rows" => result(&["n"], rest.parse().unwrap()),
            // A notice alone: the statement that it belongs to goes on.
            "say" => Message::Notice(report("NOTICE")),
            "tell" => {
                let (listener, payload) = rest.split_once(' ').unwrap();
                let (channel, sender) = ("c".to_string(), format!("s{session}"));
                let notification = Notification { channel, payload: payload.to_string(), sender };
                let listener: usize = listener.parse().unwrap();
                self.sessions[listener].said.push_back(Message::Notification(notification));
                result(&[], 0)
            }
            "fail" => {
                self.sessions[session].todo.truncate(1);
                Message::Error(report("ERROR"))
            }
            "die" => {
                self.sessions[session].said.extend([Message::Error(report("FATAL")), Message::Lost]);
                self.sessions[session].todo.clear();
                (self.sessions[session].lost, self.sessions[session].busy) = (true, false);
                return true;
            }
            "hang" => {
                self.hanging.insert(session);
                return true;
            }
            _ => result(&[], 0),
        };
        self.sessions[session].todo.pop_front();
        self.sessions[session].said.push_back(said);
        true
    }
}

impl Connections for Paper {
    type Error = Infallible;

    fn send(&mut self, who: Who, sql: &str) -> Result<bool, Infallible> {
        let session = &mut self.sessions[Paper::index(who)];
        if session.lost {
            return Ok(false);
        }
        session.todo = sql.split(';').map(|part| part.trim().to_string()).filter(|part| !part.is_empty()).collect();
        session.busy = true;
        Ok(true)
    }

    fn wait(&mut self, who: Who, may_be_blocked: bool) -> Result<Awaited, Infallible> {
        self.run();
        self.clock += Duration::from_secs(1);
        let index = Paper::index(who);
        Ok(match self.sessions[index].said.pop_front() {
            Some(message) => Awaited::Message(message),
            None if may_be_blocked && !self.hanging.contains(&index) => Awaited::Blocked,
            None => Awaited::Nothing,
        })
    }

    fn cancel(&mut self, session: usize) -> Result<(), Infallible> {
        if self.hanging.remove(&(session + 1)) {
            self.sessions[session + 1].todo = VecDeque::from(["fail cancelled".to_string()]);
        }
        Ok(())
    }

    fn now(&self) -> Duration {
        self.clock
    }
}

/// Runs a spec and compares what follows the head of the transcript.
#[track_caller]
fn check(spec: &str, expect: &str) {
    let spec = parse(spec).unwrap();
    let mut tester = Tester::new(&spec, Paper::new(spec.sessions.len()), Duration::from_secs(60));
    for permutation in spec.all_permutations() {
        let Ok(flow) = tester.run(&permutation);
        if flow == Flow::Stop {
            break;
        }
    }
    let transcript = String::from_utf8(tester.take_transcript()).unwrap();
    let (_, steps) = transcript.split_once("starting permutation: ").unwrap();
    let (_, steps) = steps.split_once('\n').unwrap();
    assert_eq!(steps, expect);
}

#[test]
fn the_head_counts_sessions_and_names_what_is_unused() {
    let spec = parse("session a step x {} step y {} permutation x x").unwrap();
    let mut tester = Tester::new(&spec, Paper::new(1), Duration::from_secs(1));
    let Ok(_) = tester.run(&spec.permutations[0]);
    let transcript = String::from_utf8(tester.take_transcript()).unwrap();
    assert_eq!(
        transcript,
        "unused step name: y\nParsed test spec with 1 sessions\n\nstarting permutation: x x\nstep x: \nstep x: \n"
    );
}

#[test]
fn who_waits_is_reported_when_it_goes_on() {
    check(
        "session a step la {lock x} step ua {unlock x}
         session b step lb {lock x; rows 1} step ub {unlock x}
         session c step lc {lock x}
         permutation la lc lb ua ub",
        "step la: lock x\nstep lc: lock x <waiting ...>\nstep lb: lock x; rows 1 <waiting ...>\nstep ua: unlock x\n\
         step lb: <... completed>\nn\n-\n7\n(1 row)\n\nstep ub: unlock x\nstep lc: <... completed>\n",
    );
}

#[test]
fn a_session_is_waited_for_before_its_next_step() {
    // The lock comes free when b is looked at, not before: c goes on while we wait for b.
    check(
        "session a step la {lock x} step ua {unlock x}
         session b step lb {lock x} step rb {rows 0}
         permutation la lb(*) ua rb",
        "step la: lock x\nstep lb: lock x <waiting ...>\nstep ua: unlock x\nstep lb: <... completed>\n\
         step rb: rows 0\nn\n-\n(0 rows)\n\n",
    );
}

#[test]
fn a_star_makes_a_step_wait_however_fast_it_is() {
    check(
        "session a step a1 {rows 0} session b step b1 {nothing} permutation a1(*) b1",
        "step a1: rows 0 <waiting ...>\nstep b1: nothing\nstep a1: <... completed>\nn\n-\n(0 rows)\n\n",
    );
}

#[test]
fn a_marker_holds_a_report_back_until_the_other_step_has_completed() {
    check(
        "session a step la {lock x} step ua {unlock x} step na {nothing}
         session b step lb {lock x}
         session c step nc {nothing} step dc {nothing}
         permutation la lb nc(lb) ua(lb)",
        "step la: lock x\nstep lb: lock x <waiting ...>\nstep nc: nothing <waiting ...>\nstep ua: unlock x <waiting ...>\n\
         step lb: <... completed>\nstep nc: <... completed>\nstep ua: <... completed>\n",
    );
}

/// A notice after the first result comes below the step's line. (The marked step joins those that wait only after they
/// have been looked at.)
#[test]
fn notices_come_when_their_session_is_looked_at() {
    check(
        "session a step la {lock x} step ua {unlock x}
         session b setup {say in setup} step lb {say before; lock x; say after; rows 0} step nb {nothing}
         permutation la lb ua(lb notices 1) nb",
        "b: NOTICE:  in setup\nstep la: lock x\nb: NOTICE:  before\nstep lb: say before; lock x; say after; rows 0 \
         <waiting ...>\nstep ua: unlock x <waiting ...>\nstep lb: <... completed>\nb: NOTICE:  after\nn\n-\n(0 rows)\n\n\
         step nb: nothing\nstep ua: <... completed>\n",
    );
}

#[test]
fn notifications_come_with_the_next_completion() {
    check(
        "session a step t {tell 2 hello} session b step n {rows 0} permutation t t n",
        "step t: tell 2 hello\nstep t: tell 2 hello\nstep n: rows 0\nn\n-\n(0 rows)\n\n\
         b: NOTIFY \"c\" with payload \"hello\" from s1\nb: NOTIFY \"c\" with payload \"hello\" from s1\n",
    );
}

#[test]
fn errors_and_lost_connections_are_shown() {
    check(
        "session a step f {rows 0; fail no} step d {die the end} session b step n {nothing} permutation f d n d",
        "step f: rows 0; fail no\nn\n-\n(0 rows)\n\nERROR:  no\nstep d: die the end\nFATAL:  the end\n\
         server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally\n\
         \tbefore or while processing the request.\n\nstep n: nothing\n\
         failed to send query for step d: no connection to the server\n\n",
    );
}

#[test]
fn setups_and_teardowns_show_their_last_result() {
    check(
        "setup {rows 1; nothing} setup {nothing; rows 0} teardown {rows 0; fail bye}
         session a setup {rows 0} step n {nothing} teardown {fail gone}
         permutation n permutation n",
        "n\n-\n(0 rows)\n\nn\n-\n(0 rows)\n\nstep n: nothing\nteardown of session a failed: ERROR:  gone\n\
         teardown failed: ERROR:  bye\n\nstarting permutation: n\nn\n-\n(0 rows)\n\nn\n-\n(0 rows)\n\nstep n: nothing\n\
         teardown of session a failed: ERROR:  gone\nteardown failed: ERROR:  bye\n",
    );
    check("setup {fail no} session a step n {} permutation n permutation n", "setup failed: ERROR:  no\n");
    check("session a setup {fail no} step n {} permutation n", "setup of session a failed: ERROR:  no\n");
}

#[test]
fn what_never_ends_is_cancelled_then_given_up() {
    check(
        "session a step h {hang} session b step n {nothing} permutation h n",
        "isolationtester: canceling step h after 61 seconds\nstep h: hang\nERROR:  cancelled\nstep n: nothing\n",
    );
    check(
        "session a step la {lock x} session b step lb {lock x} permutation la lb lb",
        "step la: lock x\nstep lb: lock x <waiting ...>\nisolationtester: canceling step lb after 61 seconds\n\
         step lb timed out after 121 seconds\n",
    );
    check(
        "session a step la {lock x} session b step lb {nothing; hang; lock x} permutation la lb",
        "step la: lock x\nstep lb: nothing; hang; lock x\nisolationtester: canceling step lb after 61 seconds\n\
         ERROR:  cancelled\n",
    );
    check(
        "session a step na {nothing} session b step nb {nothing} permutation na(nb) nb(na)",
        "step na: nothing\nstep nb: nothing\n",
    );
}

//! Leaves out whole sessions.

use crate::case::{Case, SessionItems};
use crate::reduce::edit::without_steps;
use crate::reduce::{Pass, Tests};

pub(super) struct Sessions;

impl Pass for Sessions {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let sessions = case.sessions();
        tests.minimize(case, &sessions, |kept: &[SessionItems]| {
            let gone = sessions.iter().filter(|session| !kept.contains(session));
            Some(without_steps(case, &gone.flat_map(|session| session.entries.iter().copied()).collect()))
        })
    }
}

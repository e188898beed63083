//! Leaves out statements of the setup.

use crate::case::{Case, Line};
use crate::reduce::{Pass, Tests};

pub(super) struct Setup;

impl Pass for Setup {
    fn reduce(&self, case: &Case, tests: &mut Tests<'_>) -> Case {
        let is_init = |position: &usize| matches!(case.entries[*position].line, Line::Init(..));
        let statements: Vec<usize> = (0..case.entries.len()).filter(is_init).collect();
        tests.minimize(case, &statements, |kept: &[usize]| {
            let stays = |position: &usize| !is_init(position) || kept.contains(position);
            let positions = (0..case.entries.len()).filter(stays);
            let entries = positions.map(|position| case.entries[position].clone()).collect();
            Some(Case { entries, ..case.clone() })
        })
    }
}

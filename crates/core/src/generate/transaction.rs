//! Transactions: what each session of a case does.
//!
//! ```text
//!   BEGIN  statement  SAVEPOINT s1  statement  ROLLBACK TO SAVEPOINT s1  …  COMMIT
//! ```
//!
//! After an error the rest is still submitted: on some engines the transaction goes on, on some it has failed, on
//! some it is over and the rest commits by itself. That is where bugs hide, so nothing here depends on what a
//! statement answers.

use super::features;
use super::maker::Maker;

impl Maker<'_> {
    /// What each session does: one list of statements for each.
    pub(super) fn sessions(&mut self, begin: &str) -> Vec<Vec<String>> {
        let count = self.model.count(&features::SESSIONS, &mut self.random).max(1);
        (0..count).map(|_| self.session(begin)).collect()
    }

    fn session(&mut self, begin: &str) -> Vec<String> {
        let mut steps = Vec::new();
        for _ in 0..self.model.count(&features::TRANSACTIONS, &mut self.random).max(1) {
            if self.model.flag(&features::AUTOCOMMIT, &mut self.random) {
                steps.extend(self.statement(false));
            }
            self.transaction(begin, &mut steps);
        }
        if self.model.flag(&features::AUTOCOMMIT, &mut self.random) {
            steps.extend(self.statement(false));
        }
        steps
    }

    fn transaction(&mut self, begin: &str, steps: &mut Vec<String>) {
        steps.push(begin.to_string());
        let mut savepoints = Savepoints::default();
        for _ in 0..self.model.count(&features::STATEMENTS, &mut self.random).max(1) {
            let step = self.statement(true).unwrap_or_else(|| self.savepoint(&mut savepoints));
            steps.push(step);
        }
        let ending = self.model.word(&features::ENDING, &mut self.random, |_| true);
        steps.push(if ending == Some("rollback") { "ROLLBACK" } else { "COMMIT" }.to_string());
    }

    fn savepoint(&mut self, savepoints: &mut Savepoints) -> String {
        let none = savepoints.open.is_empty();
        let allowed = |word: &str| word == "set" || !none;
        let word = self.model.word(&features::SAVEPOINT, &mut self.random, allowed);
        let which = self.random.below(savepoints.open.len());
        match (word, savepoints.open.get(which).copied()) {
            (Some("rollback"), Some(number)) => {
                savepoints.open.truncate(which + 1);
                format!("ROLLBACK TO SAVEPOINT s{number}")
            }
            (Some("release"), Some(number)) => {
                savepoints.open.truncate(which);
                format!("RELEASE SAVEPOINT s{number}")
            }
            _ => {
                savepoints.set += 1;
                savepoints.open.push(savepoints.set);
                format!("SAVEPOINT s{}", savepoints.set)
            }
        }
    }
}

/// The savepoints of a transaction, if all of its statements succeed.
#[derive(Default)]
struct Savepoints {
    /// How many have been set.
    set: usize,
    /// Those that are still there, in order.
    open: Vec<usize>,
}

//! Turns: who comes early waits until all before have been served.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// Numbers from 0, served in order.
#[derive(Default)]
pub(super) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// All numbers below have been served.
    next: u64,
    /// Those above that have been served, too.
    served: BTreeSet<u64>,
}

impl Turns {
    /// A number; it counts as served when this is dropped, however that comes about. Every number must be taken.
    pub(super) fn take(&self, number: u64) -> Turn<'_> {
        Turn { turns: self, number }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number that is being served.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    number: u64,
}

impl Turn<'_> {
    /// Waits until everybody with a smaller number has been served.
    pub(super) fn wait(&self) {
        let mut state = self.turns.lock();
        while state.next < self.number {
            state = self.turns.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        state.served.insert(self.number);
        while let Some(first) = state.served.first().copied().filter(|first| *first == state.next) {
            state.served.remove(&first);
            state.next += 1;
        }
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_early_waits() {
        let turns = Turns::default();
        let served = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let [zero, one, two] = [0, 1, 2].map(|number| turns.take(number));
            for turn in [two, one, zero] {
                let served = &served;
                scope.spawn(move || {
                    turn.wait();
                    served.lock().unwrap().push(turn.number);
                });
            }
        });
        assert_eq!(*served.lock().unwrap(), [0, 1, 2]);
    }

    #[test]
    fn who_leaves_without_waiting_blocks_nobody() {
        let turns = Turns::default();
        drop(turns.take(1));
        let two = turns.take(2);
        drop(turns.take(0));
        two.wait();
    }
}

//! One word per dynamic key: who uses it, whether it exists, and since when.
//!
//! Keys that come and go must be followed, by many sessions at once. All that has to be known of one fits into 64 bits,
//! so that each change is one atomic step and nobody ever waits here:
//!
//! ```text
//!   63            17 16        3   2      1       0
//!   ┌───────────────┬───────────┬──────┬───────┬──────┐
//!   │     stamp     │  readers  │closed│claimed│exists│
//!   └───────────────┴───────────┴──────┴───────┴──────┘
//! ```
//!
//! - **exists** (the paper's λ): whether the row is there, as far as transactions that ended have it.
//! - **readers** and **claimed** (the paper's L): a *share* keeps the row as it is, there or not; any number of
//!   transactions may have one. A *claim* belongs to the one transaction that inserts or deletes the row. Once it is
//!   **closed** as well, nobody gets a new share.
//! - **stamp**: when `exists` last changed. A transaction that reads from a snapshot sees the row as the word has it
//!   only if the stamp is not later than the snapshot: then the key is *settled*.
//!
//! A share is what reads *and* updates need, as neither changes whether the row exists. So updates of one row meet in
//! the database, where they should.
//!
//! Refusals are answers, not errors: who is refused draws another key, or waits (elsewhere) and tries again.

use std::sync::atomic::{AtomicU64, Ordering};

const EXISTS: u64 = 1;
const CLAIMED: u64 = 1 << 1;
const CLOSED: u64 = 1 << 2;
const READER: u64 = 1 << 3;
const READERS: u64 = ((1 << 14) - 1) << 3;
const STAMP_SHIFT: u32 = 17;

/// The last stamp that a word can hold: 1.4 · 10¹⁴ transactions.
pub const STAMP_MAX: u64 = (1 << (64 - STAMP_SHIFT)) - 1;

/// Why a key cannot be used right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The row is there, and should not be; or the other way round.
    Existence,
    /// It changed after the transaction's snapshot was taken.
    Unsettled,
    /// Another transaction uses it.
    Locked,
}

/// How claims and shares of different transactions get along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locking {
    /// A claim has the key for itself from the beginning: what was instantiated stays valid, and a commit never waits.
    #[default]
    Early,
    /// The paper's Algorithm 3: a claim and shares of others go together, and only at commit the shares must be gone.
    /// More conflicts reach the database. But who waits for a share may wait for somebody whom the database has wait
    /// for *him*; so that waiting must have an end.
    Late,
}

/// The word of one dynamic key.
#[derive(Debug, Default)]
pub struct Word(AtomicU64);

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Whether the row exists.
    pub exists: bool,
    /// Whether some transaction inserts or deletes it.
    pub claimed: bool,
    /// How many shares there are.
    pub readers: u64,
    /// When `exists` last changed.
    pub stamp: u64,
}

impl Word {
    /// The word of a key at the start.
    pub fn new(exists: bool) -> Word {
        Word(AtomicU64::new(u64::from(exists)))
    }

    /// What it says now.
    pub fn see(&self) -> Seen {
        Seen::of(self.0.load(Ordering::Acquire))
    }

    /// Takes a share of a row that exists and did so at the snapshot.
    pub fn try_share(&self, snapshot: u64) -> Result<(), Refusal> {
        self.change(|word| {
            Seen::of(word).check(true, snapshot)?;
            let free = word & CLOSED == 0 && word & READERS != READERS;
            if free { Ok(word + READER) } else { Err(Refusal::Locked) }
        })
    }

    /// Takes the claim on a row, which must exist (to delete it) or not (to insert it). `own` shares of the same
    /// transaction do not stand in the way.
    pub fn try_claim(&self, exists: bool, snapshot: u64, own: u64, locking: Locking) -> Result<(), Refusal> {
        self.change(|word| {
            let seen = Seen::of(word);
            seen.check(exists, snapshot)?;
            match locking {
                _ if seen.claimed => Err(Refusal::Locked),
                Locking::Early if seen.readers > own => Err(Refusal::Locked),
                Locking::Early => Ok(word | CLAIMED | CLOSED),
                Locking::Late => Ok(word | CLAIMED),
            }
        })
    }

    /// Lets no new shares in, and tells whether those of others are gone. Who holds the claim asks this before
    /// committing, as often as needed.
    pub fn close(&self, own: u64) -> bool {
        let before = self.0.fetch_or(CLOSED, Ordering::AcqRel);
        Seen::of(before).readers <= own
    }

    /// Gives a share back.
    pub fn release_share(&self) {
        let before = self.0.fetch_sub(READER, Ordering::AcqRel);
        assert!(before & READERS != 0, "a share was given back that nobody had");
    }

    /// Gives the claim back, with nothing changed.
    pub fn release_claim(&self) {
        let before = self.0.fetch_and(!(CLAIMED | CLOSED), Ordering::AcqRel);
        assert!(before & CLAIMED != 0, "a claim was given back that nobody had");
    }

    /// Gives the claim back; from now on the row exists, or not.
    pub fn settle(&self, exists: bool, stamp: u64) {
        let settled = self.change(|word| {
            assert!(word & CLAIMED != 0, "a key was settled that nobody had claimed");
            Ok(word & READERS | u64::from(exists) | stamp.min(STAMP_MAX) << STAMP_SHIFT)
        });
        debug_assert_eq!(settled, Ok(()));
    }

    fn change(&self, new: impl Fn(u64) -> Result<u64, Refusal>) -> Result<(), Refusal> {
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            match self.0.compare_exchange_weak(word, new(word)?, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
    }
}

impl Seen {
    fn of(word: u64) -> Seen {
        Seen {
            exists: word & EXISTS != 0,
            claimed: word & CLAIMED != 0,
            readers: (word & READERS) / READER,
            stamp: word >> STAMP_SHIFT,
        }
    }

    fn check(self, exists: bool, snapshot: u64) -> Result<(), Refusal> {
        match self {
            _ if self.exists != exists => Err(Refusal::Existence),
            _ if self.stamp > snapshot => Err(Refusal::Unsettled),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_go_together_and_a_claim_stands_alone() {
        let word = Word::new(true);
        assert_eq!((word.try_share(0), word.try_share(0)), (Ok(()), Ok(())));
        assert_eq!(word.try_claim(true, 0, 0, Locking::Early), Err(Refusal::Locked));
        word.release_share();
        assert_eq!(word.try_claim(true, 0, 0, Locking::Early), Err(Refusal::Locked));
        // A transaction's own share does not stand in its way.
        assert_eq!(word.try_claim(true, 0, 1, Locking::Early), Ok(()));
        assert_eq!(word.try_share(0), Err(Refusal::Locked));
        assert_eq!(word.try_claim(true, 0, 1, Locking::Early), Err(Refusal::Locked));
        word.release_share();
        word.release_claim();
        assert_eq!(word.see(), Seen { exists: true, claimed: false, readers: 0, stamp: 0 });
        assert_eq!(word.try_share(0), Ok(()));
    }

    #[test]
    fn late_claims_let_readers_in_until_they_are_closed() {
        let word = Word::new(true);
        assert_eq!(word.try_share(0), Ok(()));
        assert_eq!(word.try_claim(true, 0, 0, Locking::Late), Ok(()));
        assert_eq!(word.try_claim(true, 0, 0, Locking::Late), Err(Refusal::Locked));
        assert_eq!(word.try_share(0), Ok(()));
        assert!(!word.close(1));
        assert_eq!(word.try_share(0), Err(Refusal::Locked));
        word.release_share();
        assert!(word.close(1) && !word.close(0));
        word.settle(false, 5);
        assert_eq!(word.see(), Seen { exists: false, claimed: false, readers: 1, stamp: 5 });
    }

    #[test]
    fn what_changed_after_the_snapshot_is_not_settled() {
        let word = Word::new(false);
        assert_eq!(word.try_share(STAMP_MAX), Err(Refusal::Existence));
        assert_eq!(word.try_claim(false, 3, 0, Locking::Early), Ok(()));
        word.settle(true, 7);
        assert_eq!(word.try_share(6), Err(Refusal::Unsettled));
        assert_eq!(word.try_share(7), Ok(()));
        assert_eq!(word.try_claim(false, 7, 0, Locking::Early), Err(Refusal::Existence));
    }

    #[test]
    fn readers_are_counted_up_to_their_limit() {
        let word = Word::new(true);
        let most = READERS / READER;
        assert!((0..most).all(|_| word.try_share(0).is_ok()));
        assert_eq!(word.try_share(0), Err(Refusal::Locked));
        assert_eq!(word.see(), Seen { exists: true, claimed: false, readers: most, stamp: 0 });
    }

    #[test]
    #[should_panic(expected = "a share was given back that nobody had")]
    fn nothing_is_given_back_twice() {
        Word::new(true).release_share();
    }
}

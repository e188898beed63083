//! Flow: which orders of whole transactions can break an application, although every transaction is serializable.
//!
//! # The problem
//!
//! A database isolates transactions. It cannot know that two of them were meant to be one:
//!
//! ```text
//!   A: T1  SELECT avail INTO :avail …   → 1
//!                                             B: T1  SELECT avail INTO :avail …   → 1
//!                                             B: T2  UPDATE … SET avail = :avail - 1
//!   A: T2  UPDATE … SET avail = :avail - 1                                         one seat, two passengers
//! ```
//!
//! Every transaction is fine, and no isolation level helps: the commit behind T1 is in the wrong place. Deng,
//! Frankl and Chen ("Testing Database Transaction Concurrency", 2003; the tool is AGENDA) find such places by data
//! flow. The smallest schedule that shows one is ⟨Ti_A, Tj_B, Tk_A⟩: instance A runs Ti, then B runs Tj, then A
//! goes on with Tk.
//!
//! # The idea
//!
//! ```text
//!   procedures ──→ graph of transactions ──→ GEN, KILL, IN, OUT ──→ pairs ⟨Ti, Tk⟩ ──→ schedules ⟨Ti_A, Tj_B, Tk_A⟩
//!   (input)        (ways)                    (reach)                 │  ↑               (schedules, patterns)
//!                                            (values: chains of host variables and decisions)
//! ```
//!
//! 1. [`input`]: each procedure is a graph of transactions, with host code in between. [`notation`] writes it in a
//!    line each.
//! 2. [`reach`]: which accesses of one transaction reach another one. Both on one way and with the same element: a
//!    pair. A schedule made of pairs is *legal*: A can run Ti and later Tk.
//! 3. [`values`]: which elements the value of a host variable comes from, through other variables and decisions.
//! 4. [`patterns`]: Tables 4 and 5 say for which accesses of Ti, Tj and Tk something may go wrong, and what.
//! 5. [`schedules`](mod@schedules): all of it put together. [`explain`] tells a schedule as a story, and which ones
//!    are alike.
//! 6. [`funnel`]: how many schedules each step leaves, as in the paper's experiment.
//! 7. [`atomicity`]: what is lost if a procedure dies between two of its transactions.
//!
//! # What an empty answer means
//!
//! That no three transactions match a pattern of Tables 4 and 5, in any run. Everything above errs on the side of
//! too many: an element is a whole column, branches are taken either way, a value depends on all that its statement
//! reads. That a write replaces earlier accesses of its *column* (KILL), whichever row it is of, can hide a
//! schedule but never the last one: if ⟨Ti, Tj, Tk⟩ matches Table 4 and Tm, in between, writes the column, then
//! ⟨Ti, Tj, Tm⟩ matches, too (as a line of the table with `W` in the end). A test holds us to that.
//!
//! # Where this differs from the paper
//!
//! * **Host variables.** Figure 5 looks for a Tj that accesses *elm*, and a host variable is accessed by nobody
//!   else. As the caption of Table 5 says, Tj is matched on the element that the variable was defined from; through
//!   chains, too. Inputs come from no element, and match nothing.
//! * **The existence of rows is an element.** Otherwise a sum and an INSERT would have nothing in common but the
//!   columns, and a count not even those.
//! * **Decisions count.** `IF :stock > 0 THEN INSERT INTO orders …` uses no stale value in SQL, and is as stale as
//!   if it did. There is one exception, a decision that was made known by a write.
//! * **Order within a transaction** counts for host variables, and what happens only perhaps replaces nothing.
//!
//! Slips of the paper, corrected here:
//!
//! * The text lists ⟨T1_A, T1_B, T2_A⟩ for Example 1. T1 only reads, and Table 4 says of `R R W` that it is no
//!   conflict. One schedule is left: ⟨T1_A, T2_B, T2_A⟩. (The run that it tells of, A's T1, B's T1, A's T2, B's T2,
//!   contains that one with the names of A and B exchanged.)
//! * Table 3 says that T5 uses its variables for `customer`; it inserts into `order_line`.
//! * `order_line` in Example 2 lacks `c_id`, which T3 asks for and T5 inserts. The text takes `ol_amount` for a
//!   column of `customer`.
//! * XactPair marks `ol_total` in T3 with U. T3 defines it, as Table 3 says: D.
//! * Figure 5 adds ⟨T1_A, T1_B, Tk_A⟩; it means ⟨Ti_A, Tj_B, Tk_A⟩.
//!
//! # Limits
//!
//! Three transactions, two instances, one element: a schedule that breaks a rule between *two* elements (write skew
//! across transactions, an audit between a debit and a credit) matches no pattern, unless a host variable connects
//! them. And a schedule is not yet a failure: rows may never meet, a way may be impossible, and what is found may
//! be meant that way. Example 2 itself leaves the state of a serial run (A, then B), since B touches nothing that A
//! touches later; only a rule that ties the two tables together makes it a failure. That is for execution to find
//! out.

pub mod input;
pub mod program;
pub mod notation;
mod ways;
pub mod reach;
pub mod values;
pub mod patterns;
pub mod schedules;
pub mod explain;
pub mod funnel;
pub mod atomicity;
#[cfg(test)]
mod tests;

pub use atomicity::{CommitPoint, commit_points, commit_points_up_to};
pub use explain::{Explanation, Group, groups};
pub use funnel::Funnel;
pub use input::{Application, Element, Node, Operation, Procedure, Source, TransactionId, Verb};
pub use notation::{NotationError, parse};
pub use patterns::{Pattern, Phenomenon};
pub use schedules::{Link, Reason, Schedule, schedules, schedules_up_to};

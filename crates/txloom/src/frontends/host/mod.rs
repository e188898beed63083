//! Host programs: applications in a general language that send SQL through a library.
//!
//! ```text
//!   Java   ──┐
//!   Python ──┼→ tree ──index──→ World ──lower──→ IR ──tidy──→ IR as a person would write it
//!   C      ──┘          (all files)   (one method and all that it calls)
//! ```
//!
//! Each language brings a reader (text → [`tree`]) and a [`vocabulary`] (what the methods of its library do). What is
//! done with them is the same for all: the code of each method that is a transaction is followed with what is known of
//! each value: texts piece by piece, statements with their values, rows with their columns.
//!
//! What is not understood becomes *any value*, with a warning where it reaches a statement or decides a branch.
//!
//! # Limits
//!
//! A loop is followed once; a text that grows in a loop of unknown length has grown by one round. Elements of lists and
//! arrays are any value, unless they are texts or statements. A batch is sent where it is filled. What is done after an
//! error of the database is not followed. Threads and reflection are not followed.

pub(crate) mod tree;
pub(crate) mod visit;
pub(crate) mod vocabulary;
pub(crate) mod index;
pub(crate) mod values;
pub(crate) mod lower;
pub(crate) mod tidy;
pub(crate) mod types;
pub(crate) mod owners;
pub(crate) mod roots;

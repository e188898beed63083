//! Reports: what people and scripts see.
//!
//! ```text
//!  Case, Trace, Finding ──build──→ Report (disk types) ──→ json   for scripts
//!     (runtime types)                                  └─→ text   for people
//! ```
//!
//! There is one model for all forms. It is built once from what was observed ([`build`]), and every form is a pure
//! function of it: a report that was stored as JSON can be shown as text later, by another version of txloom.
//!
//! * [`model`]: the disk types, versioned
//! * [`build`]: runtime types → disk types
//! * [`history`]: what the checker says → disk types
//! * [`compare`]: did the same happen on two targets?
//! * [`json`]: the model as a JSON document, and back
//! * [`text`]: the model for a terminal
//! * [`svg`]: a cycle of a history as a picture

pub mod model;
pub mod build;
pub mod history;
pub mod compare;
pub mod json;
pub mod text;
pub mod svg;

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
pub(crate) mod golden;

pub use model::Report;

//! Front-ends.
mod units;

pub(crate) use units::{Source, Unit};

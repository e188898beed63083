//! Flow.

pub mod input;
pub mod notation;
mod ways;
pub mod reach;
pub mod values;
pub mod patterns;
pub mod schedules;
pub mod funnel;
pub mod atomicity;

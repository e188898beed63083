//! Front-ends that read what applications leave behind: files too large, or too foreign, for `core`.
//!
//! * [`logs`]: the statement logs of servers

pub mod logs;

//! The graph oracle: the same statements, sorted by their dependencies and run without transactions, answer the same.

pub mod instrument;

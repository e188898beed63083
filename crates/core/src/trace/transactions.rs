//! Transactions, derived from a trace.

//! Comparison of traces.

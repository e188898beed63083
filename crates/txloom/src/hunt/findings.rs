//! Findings on disk.

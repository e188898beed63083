//! The serial oracle.

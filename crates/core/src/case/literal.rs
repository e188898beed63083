//! Literals.

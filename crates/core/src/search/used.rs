//! Which reads matter.

//! What engines' level names are worth.

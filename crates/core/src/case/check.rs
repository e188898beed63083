//! Do expectations hold?

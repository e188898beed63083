//! Profiles: TOML files that say what the features of the stochastic model are to be.
//!
//! ```toml
//! name = "narrow"
//! what = "one table that everybody writes to"
//! extends = "dt2"                                  # another profile that we ship; what follows replaces its features
//!
//! [schema]
//! tables = 1                                       # always 1
//! rows = { range = [1, 3] }                        # 1, 2 or 3, each with the same chance
//! columns = { candidates = [1, 2, 4], zipf = 1.0 } # 1 most often
//!
//! [column]
//! not_null = { percent = 25 }
//!
//! [transaction]
//! ending = { weights = { commit = 5, rollback = 1 } }
//! ```
//!
//! A section and a key are the name of a feature, `[schema]` and `tables` that of `schema.tables`. Which there are,
//! with their bounds, [`FEATURES`](super::features::FEATURES) says; a profile that names anything else is refused,
//! since a feature that is misspelt would silently stay as usual. All problems of a file are told at once, each with
//! its line and, where one is near, the name that was probably meant.
//!
//! [`read()`] makes a model of a file and [`print()`] a file of a model. What is printed names *every* feature: it stays
//! the same test space even if the defaults change one day.
//!
//! # Limits
//!
//! `extends` names a profile that is compiled in, never a file: so reading a profile touches nothing else, and profiles
//! cannot extend one another in a circle.

mod read;
mod choice;
mod print;
#[cfg(test)]
mod tests;

pub use print::print;
pub use read::read;

use super::model::Model;

/// Everything that is wrong with a profile.
pub type ProfileError = crate::toml_text::FileError;

/// The profiles that are compiled in, with their texts. One may extend those that stand before it.
pub const SHIPPED: &[(&str, &str)] = &[
    ("dt2", include_str!("../../../../../profiles/dt2.toml")),
    ("dbstorm", include_str!("../../../../../profiles/dbstorm.toml")),
    ("txcheck", include_str!("../../../../../profiles/txcheck.toml")),
];

/// A profile that is compiled in.
pub fn shipped(name: &str) -> Option<Model> {
    read::Registry { features: super::features::FEATURES, profiles: SHIPPED }.profile(name)
}

//! What all targets understand, and in the same way.
//!
//! A case is one text that runs everywhere. So a construct may be used only if every target has it, *spells* it the same
//! and *means* the same: `X'ff'` is a blob to MySQL and a bit string to PostgreSQL, `7 / 2` is 3 here and 3.5 there.
//! Dialects say how they spell a construct ([`Dialect::spelling`](crate::dialect::Dialect::spelling)); the language of a
//! hunt is what is left when all of them agree.

use std::collections::BTreeMap;

use crate::dialect::{Construct, Spelling};
use crate::engine::EngineInfo;

/// The language that targets share.
#[derive(Debug, Clone)]
pub struct Language {
    spellings: BTreeMap<Construct, &'static str>,
}

impl Language {
    /// The language that all of these share.
    pub fn of(targets: &[EngineInfo]) -> Language {
        let shared = |construct: &Construct| -> Option<&'static str> {
            let mut all = targets.iter().map(|target| target.dialect.spelling(*construct, &target.version));
            let first: Spelling = all.next()??;
            all.all(|other| other == Some(first)).then_some(first.text)
        };
        let spellings = Construct::ALL.iter().filter_map(|construct| Some((*construct, shared(construct)?)));
        Language { spellings: spellings.collect() }
    }

    /// How a construct is written; `None` if it must not be used.
    pub fn spelling(&self, construct: Construct) -> Option<&'static str> {
        self.spellings.get(&construct).copied()
    }

    /// Whether a construct may be used.
    pub fn has(&self, construct: Construct) -> bool {
        self.spellings.contains_key(&construct)
    }
}

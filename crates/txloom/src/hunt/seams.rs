//! What the hunt is made of: the parts of the core that it brings together.

use txloom_core::engine::EngineInfo;
use txloom_core::finding::Finding;
use txloom_core::oracle::Oracle;
use txloom_core::oracle::serial::Serial;

/// Behaviours that are known.
#[derive(Debug, Clone, Default)]
pub struct Known;

/// One of them.
pub struct Entry {
    /// Its public id.
    pub id: String,
}

impl Known {
    /// Those that are shipped.
    pub fn shipped() -> Known {
        Known
    }

    /// Reads a file.
    pub fn parse(_text: &str, _file: &str) -> Result<Known, String> {
        Ok(Known)
    }

    /// Both.
    pub fn join(self, _other: Known) -> Known {
        self
    }

    /// The entry that a finding is an instance of.
    pub fn matching(&self, _finding: &Finding) -> Option<&Entry> {
        None
    }
}

/// The oracles that suit these targets.
pub fn usual(_targets: &[EngineInfo]) -> Vec<Box<dyn Oracle>> {
    vec![Box::new(Serial::default())]
}

/// The names of all oracles.
pub const NAMES: &[&str] = &["serial"];

/// The oracle of that name.
pub fn by_name(name: &str) -> Option<Box<dyn Oracle>> {
    (name == "serial").then(|| Box::new(Serial::default()) as Box<dyn Oracle>)
}

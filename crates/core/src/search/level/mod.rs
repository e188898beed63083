//! What stores and engines let happen.

pub mod axioms;
pub mod engines;

pub use axioms::Axioms;
pub use engines::EngineRules;

/// Whose rules decide what can happen.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// A replicated store: axioms over visibility and arbitration.
    Store(&'static Axioms),
    /// One node of an engine, at one of its levels.
    Engine(&'static EngineRules),
}

//! What engines really do on one node, as rules.

/// What a plain query sees of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// What is there, committed or not.
    Latest,
    /// What was committed when the statement began.
    Statement,
    /// What was committed when the transaction's first statement began.
    FirstStatement,
    /// What was committed when the transaction's first plain query began.
    FirstQuery,
}

/// What writes and locking reads act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acts {
    /// What was committed last.
    Latest,
    /// The transaction's snapshot; who meets a row that has changed since is refused.
    Snapshot,
}

/// The rules of one level of one engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineRules {
    /// The engine's family.
    pub engine: &'static str,
    /// The settings that it must have.
    pub settings: &'static [&'static str],
    /// The level, by the engine's own name.
    pub level: &'static str,
    /// What plain queries see.
    pub view: View,
    /// What writes and locking reads act on.
    pub acts: Acts,
    /// Whether plain queries lock what they read, shared.
    pub queries_lock: bool,
    /// Whether everything is serializable: then no cycle has a plan.
    pub serializable: bool,
}

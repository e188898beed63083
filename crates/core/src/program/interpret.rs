//! The interpreter.
use crate::case::Call;
use crate::dialect::Dialect;
use crate::outcome::Outcome;
use crate::program::Program;

/// Why a call does not fit the program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// A call in a case without a program.
    #[error("the case calls {0}, but names no program; add a line `-- @program FILE`")]
    NoProgram(String),
}

/// A running call.
#[derive(Debug)]
pub struct Instance {}

impl Instance {
    /// Starts a call.
    pub fn new(_program: &Program, _call: &Call, _dialect: &'static dyn Dialect) -> Result<Instance, ProgramError> {
        Ok(Instance {})
    }
    /// The next statement.
    pub fn next(&mut self, _last: Option<&Outcome>) -> Option<String> {
        None
    }
}

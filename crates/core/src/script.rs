//! Where a session's steps come from.
//!
//! The executor knows one source of steps: a [`Script`]. A list of SQL texts is the trivial script; a call of a
//! procedure is an interpreter that decides its next statement from the last answer. A session's script is the
//! concatenation of the scripts of its items.

use crate::case::{Call, Item};
use crate::dialect::Dialect;
use crate::outcome::Outcome;
use crate::program::interpret::{CallEnd, Instance, ProgramError};
use crate::program::{Program, Variables};
use crate::value::Value;

/// One message to the server, and the item of the session that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The text that is sent.
    pub sql: String,
    /// The position of the item among the session's items, from 0.
    pub item: usize,
}

/// A source of steps.
pub trait Script: Send {
    /// The next step, given the outcome of the one before (`None` at the start). `None` ends the session.
    ///
    /// Called exactly once per step, and only after the step before it has completed.
    fn next(&mut self, last: Option<&Outcome>) -> Option<Step>;

    /// The calls that have ended since this was last asked.
    fn ended(&mut self) -> Vec<EndedCall> {
        Vec::new()
    }
}

/// A call that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedCall {
    /// The position of the item among the session's items, from 0.
    pub item: usize,
    /// The procedure.
    pub procedure: String,
    /// How it ended.
    pub end: CallEnd,
    /// What it gave back: the values of RETURN or of the OUT parameters, and then those of every row of every query
    /// whose answer went to the caller.
    pub outputs: Vec<Value>,
    /// The values of its variables at the end.
    pub variables: Variables,
}

/// The script of a session: its items, one after the other.
pub struct SessionScript {
    items: std::vec::IntoIter<ItemScript>,
    current: Option<(usize, ItemScript)>,
    item_count: usize,
    ended: Vec<EndedCall>,
}

enum ItemScript {
    Sql(Option<String>),
    Call(Box<Instance>),
}

impl SessionScript {
    /// Builds the script; fails if an item calls a procedure that the program lacks, or with wrong arguments.
    pub fn new(
        items: &[Item],
        program: Option<&Program>,
        dialect: &'static dyn Dialect,
    ) -> Result<SessionScript, ProgramError> {
        let scripts = items
            .iter()
            .map(|item| match item {
                Item::Sql(sql) => Ok(ItemScript::Sql(Some(sql.as_str().to_string()))),
                Item::Call(call) => instantiate(call, program, dialect),
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(SessionScript { items: scripts.into_iter(), current: None, item_count: 0, ended: Vec::new() })
    }
}

fn instantiate(
    call: &Call,
    program: Option<&Program>,
    dialect: &'static dyn Dialect,
) -> Result<ItemScript, ProgramError> {
    let program = program.ok_or_else(|| ProgramError::NoProgram(call.procedure.clone()))?;
    Ok(ItemScript::Call(Box::new(Instance::new(program, call, dialect)?)))
}

impl Script for SessionScript {
    fn next(&mut self, last: Option<&Outcome>) -> Option<Step> {
        let mut last = last;
        loop {
            if let Some((item, script)) = &mut self.current {
                let sql = match script {
                    ItemScript::Sql(sql) => sql.take(),
                    ItemScript::Call(instance) => instance.next(last),
                };
                if let Some(sql) = sql {
                    return Some(Step { sql, item: *item });
                }
                if let ItemScript::Call(instance) = script {
                    self.ended.extend(instance.ended(*item));
                }
            }
            self.current = None;
            let script = self.items.next()?;
            self.current = Some((self.item_count, script));
            self.item_count += 1;
            // The outcome of the item before is none of the next one's business.
            last = None;
        }
    }

    fn ended(&mut self) -> Vec<EndedCall> {
        std::mem::take(&mut self.ended)
    }
}

//! Transactions as calls of the procedures that were made of them.
//!
//! A program that was read from a log must do what the log says. To see whether it does, the transactions themselves are
//! kept, and become calls: run one after the other on an empty database, they leave what the application left.
//!
//! Not every transaction is one: a loop with more rounds than are written, a loop inside a loop, and a change of an
//! answer that nobody knows have no arguments that say the same.

use txloom_core::program::Procedure;
use txloom_core::value::{Number, Value};

use super::build::Argument;
use super::fold::Folded;
use super::literal;
use super::rows::Known;
use super::shape::{Shape, Transaction};
use super::template::Template;
use super::token::Quoting;
use super::value::{Said, show, unquoted};

/// A transaction as a call.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The procedure.
    pub procedure: String,
    /// Its arguments by name; `None` if there are none that say what the transaction did.
    pub arguments: Option<Vec<(String, Value)>>,
}

/// A transaction that is kept.
#[derive(Debug, Clone)]
pub(super) struct Recorded {
    pub(super) shape: u32,
    /// When it ended.
    pub(super) ended: u64,
    statements: Vec<Kept>,
}

#[derive(Debug, Clone)]
struct Kept {
    position: usize,
    values: Vec<(Said, String)>,
    answers: Vec<Known>,
}

impl Recorded {
    pub(super) fn new(shape: u32, transaction: &Transaction, folded: &Folded) -> Recorded {
        let statements = transaction.statements.iter().zip(&folded.positions).map(|(one, position)| {
            let text = |value| String::from_utf8_lossy(transaction.text(value)).into_owned();
            let values = transaction.values_of(one).iter().map(|value| (value.said, text(value))).collect();
            let answers = transaction.answers[one.answers.start as usize..one.answers.end as usize].to_vec();
            Kept { position: *position as usize, values, answers }
        });
        let last = transaction.statements.last().map_or(0, |one| one.event);
        Recorded { shape, ended: transaction.ended.max(last), statements: statements.collect() }
    }

    fn at(&self, position: usize, round: usize) -> Option<&Kept> {
        self.statements.iter().filter(|one| one.position == position).nth(round)
    }

    fn rounds(&self, position: usize) -> usize {
        self.statements.iter().filter(|one| one.position == position).count()
    }

    /// The call of a procedure that was made of its shape.
    pub(super) fn call(
        &self,
        procedure: &Procedure,
        arguments: &[Argument],
        shape: &Shape,
        templates: &[Template],
        rounds: usize,
    ) -> RecordedCall {
        let is_whole = (0..shape.sequence.len()).all(|position| self.rounds(position) <= rounds);
        let names = procedure.parameters.iter().map(|parameter| parameter.name.clone());
        let value = |argument: &Argument| self.value(argument, shape, templates);
        let values: Option<Vec<Value>> = arguments.iter().map(value).collect();
        let arguments = values.filter(|_| is_whole).map(|values| names.zip(values).collect());
        RecordedCall { procedure: procedure.name.clone(), arguments }
    }

    fn value(&self, argument: &Argument, shape: &Shape, templates: &[Template]) -> Option<Value> {
        let is_number = |position: usize, local: usize| {
            let template = &templates[shape.sequence[position] as usize];
            template.roles.get(local).is_some_and(|role| role.is_number)
        };
        match argument {
            Argument::Rounds(range) => Some(Value::int(i64::try_from(self.rounds(range.start)).ok()?)),
            Argument::Nested => None,
            Argument::Value { position, local, round, item } => {
                let Some(one) = self.at(*position, *round) else { return Some(Value::Null) };
                let (_, text) = one.values.get(*local)?;
                let quoting = templates[shape.sequence[*position] as usize].quoting;
                match item {
                    None => Some(value(text, is_number(*position, *local), quoting)),
                    Some(item) => {
                        let items: Vec<&str> = text.split(',').map(str::trim).collect();
                        let text = items.get(*item).or(items.last())?;
                        Some(value(text, is_number(*position, *local), quoting))
                    }
                }
            }
            Argument::Change { position, local, round, answer } => {
                let Some(one) = self.at(*position, *round) else { return Some(Value::Null) };
                let reader = self.at(answer.0, *round).or(self.at(answer.0, 0))?;
                let read = reader.answers.get(answer.1)?.last?.number?;
                let change = one.values.get(*local)?.0.number?.checked_sub(read)?;
                Number::parse(&show(change)).map(Value::Number)
            }
        }
    }
}

/// The value of a literal, as the log shows it.
fn value(text: &str, is_number: bool, quoting: Quoting) -> Value {
    let inner = String::from_utf8_lossy(unquoted(text.as_bytes())).into_owned();
    let is_quoted = inner.len() < text.len();
    let number = || Number::parse(&inner).map(Value::Number);
    match text.to_lowercase().as_str() {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ if is_number || !is_quoted => number().unwrap_or(Value::Text(inner.clone())),
        _ => Value::Text(literal::text(&text.replace("\n\t", "\n"), quoting).unwrap_or(inner)),
    }
}

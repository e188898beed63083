//! Shapes → procedures.
//!
//! A loop is written as rounds: the first always, the second `IF :rounds >= 2`, each with parameters of its own for what
//! differed between rounds. Two are enough for the analysis, which asks how two calls can meet; more would only make it
//! slow. (A WHILE would need a parameter for each round all the same, and those have no end.)

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use txloom_core::level::LevelName;
use txloom_core::program::{
    BinaryOp, Branch, Expr, ExprKind, Mode, Parameter, Procedure, Span, Statement, StatementKind, Variable, is_reserved,
};
use txloom_core::value::{Number, Value};

use super::control::LEVELS;
use super::origin::{Answer, By, Origin, class, origins};
use super::shape::Shape;
use super::template::{COMMIT, Source, Template};
use super::value::show;

/// What the argument of a parameter is, for a transaction of the shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    /// The value of a slot, in this round; or one value of its list.
    Value { position: usize, local: usize, round: usize, item: Option<usize> },
    /// By how much the value of a slot differs from an answer.
    Change { position: usize, local: usize, round: usize, answer: Answer },
    /// How often a loop went round.
    Rounds(Range<usize>),
    /// Something in a loop inside a loop.
    Nested,
}

/// Makes a procedure of a shape; `starts` says where the templates begin in the excerpt.
pub(super) fn procedure(
    name: String,
    shape: &Shape,
    templates: &[Template],
    starts: &BTreeMap<u32, usize>,
    writing: Writing,
) -> (Procedure, Vec<Argument>) {
    let origins = origins(shape, templates);
    let needed = origins.iter().filter_map(Origin::answer).map(|(position, _)| position).collect();
    let mut builder = Builder {
        shape,
        templates,
        starts,
        origins,
        needed,
        names: BTreeSet::new(),
        parameters: Vec::new(),
        known: BTreeMap::new(),
        answers: BTreeMap::new(),
        rounds: BTreeMap::new(),
        writing,
        arguments: Vec::new(),
        round: (0, 0),
    };
    let span = builder.span(0);
    let mut body = Vec::new();
    if let Some(level) = shape.level.and_then(|level| LevelName::parse(LEVELS[usize::from(level)])) {
        body.push(Statement { kind: StatementKind::Isolation(level), span });
    }
    builder.part(0..shape.sequence.len(), &shape.loops, &mut body);
    let last = builder.span(shape.sequence.len() - 1);
    body.push(Statement {
        kind: StatementKind::Commit,
        span: Span { start: last.end, end: last.end, line: last.line },
    });
    (Procedure { name, parameters: builder.parameters, autocommit: false, body, span }, builder.arguments)
}

/// How much of loops and lists is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writing {
    /// So many rounds of a loop.
    pub rounds: usize,
    /// So many values of a list.
    pub items: usize,
}

impl Default for Writing {
    fn default() -> Writing {
        Writing { rounds: 2, items: 2 }
    }
}

struct Builder<'a> {
    shape: &'a Shape,
    templates: &'a [Template],
    starts: &'a BTreeMap<u32, usize>,
    origins: Vec<Origin>,
    /// The statements whose answers are needed.
    needed: BTreeSet<usize>,
    names: BTreeSet<String>,
    parameters: Vec<Parameter>,
    /// The variables of classes that have one already.
    known: BTreeMap<usize, String>,
    /// The variables of answers.
    answers: BTreeMap<Answer, String>,
    /// The parameters that say how often each loop goes round.
    rounds: BTreeMap<(usize, usize), String>,
    writing: Writing,
    /// Where the argument of each parameter comes from.
    arguments: Vec<Argument>,
    /// How deep in loops we are, and in which round.
    round: (usize, usize),
}

impl Builder<'_> {
    fn template(&self, position: usize) -> &Template {
        &self.templates[self.shape.sequence[position] as usize]
    }

    fn start(&self, position: usize) -> usize {
        self.starts.get(&self.shape.sequence[position]).copied().unwrap_or_default()
    }

    fn span(&self, position: usize) -> Span {
        self.template(position).span(self.start(position))
    }

    /// A part of the sequence, with the loops in it.
    fn part(&mut self, range: Range<usize>, loops: &[Range<usize>], body: &mut Vec<Statement>) {
        let mut at = range.start;
        while at < range.end {
            match loops.iter().position(|one| one.start == at && one.end <= range.end) {
                Some(first) => {
                    let one = loops[first].clone();
                    let inner: Vec<Range<usize>> = loops[first + 1..]
                        .iter()
                        .filter(|other| other.end <= one.end && other.start < one.end)
                        .cloned()
                        .collect();
                    self.rounds(one.clone(), &inner, body);
                    at = one.end;
                }
                None => {
                    self.statement(at, body);
                    at += 1;
                }
            }
        }
    }

    fn rounds(&mut self, range: Range<usize>, inner: &[Range<usize>], body: &mut Vec<Statement>) {
        let outside = self.round;
        self.round = (outside.0 + 1, 0);
        self.part(range.clone(), inner, body);
        let (known, answers) = (self.known.clone(), self.answers.clone());
        for round in 2..=self.writing.rounds {
            self.forget(&range);
            self.round = (outside.0 + 1, round - 1);
            let span = self.span(range.start);
            let mut again = Vec::new();
            self.part(range.clone(), inner, &mut again);
            let rounds = self.rounds_parameter(&range, span);
            let condition = compare(BinaryOp::GreaterEqual, variable(&rounds, span), integer(round, span), span);
            let branches = vec![Branch { condition, body: again }];
            body.push(Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span });
        }
        (self.known, self.answers) = (known, answers);
        self.round = outside;
    }

    /// What differs from round to round needs variables of its own.
    fn forget(&mut self, range: &Range<usize>) {
        let end = self.shape.base.get(range.end).copied().unwrap_or(self.shape.slots.len());
        for slot in self.shape.base[range.start]..end {
            let stat = &self.shape.slots[slot];
            if stat.varies_in_loop || stat.is_list || self.origins[slot].answer().is_some() {
                self.known.remove(&class(self.shape, slot));
            }
        }
    }

    fn rounds_parameter(&mut self, range: &Range<usize>, span: Span) -> String {
        if let Some(name) = self.rounds.get(&(range.start, range.end)) {
            return name.clone();
        }
        let argument = if self.round.0 > 1 { Argument::Nested } else { Argument::Rounds(range.clone()) };
        let name = self.parameter("rounds", "INT", argument, span);
        self.rounds.insert((range.start, range.end), name.clone());
        name
    }

    fn statement(&mut self, position: usize, body: &mut Vec<Statement>) {
        if self.shape.sequence[position] == COMMIT {
            let before = self.span(position.saturating_sub(1));
            let span = Span { start: before.end, end: before.end, line: before.line };
            body.push(Statement { kind: StatementKind::Commit, span });
            return;
        }
        let (start, span, base) = (self.start(position), self.span(position), self.shape.base[position]);
        let slots = self.template(position).slots.len();
        let mut sources = Vec::new();
        let mut guard = None;
        for local in 0..slots {
            sources.push(self.source(position, local, body));
            if let Origin::Guarded(answer) = &self.origins[base + local] {
                guard = self.answers.get(answer).cloned();
            }
        }
        let into = if self.needed.contains(&position) { self.into(position, span, body) } else { Vec::new() };
        let template = self.template(position);
        let sql = template.statement(start, &|slot| sources.get(slot).cloned(), &into);
        let statement = Statement { kind: StatementKind::Sql(sql), span };
        body.push(match guard {
            None => statement,
            Some(name) => {
                let operand = Box::new(variable(&name, span));
                let condition = Expr { kind: ExprKind::IsNull { operand, negated: true }, span };
                let branches = vec![Branch { condition, body: vec![statement] }];
                Statement { kind: StatementKind::If { branches, otherwise: Vec::new() }, span }
            }
        });
    }

    /// What stands in a slot; assignments that it needs go before the statement.
    fn source(&mut self, position: usize, local: usize, body: &mut Vec<Statement>) -> Source {
        let slot = self.shape.base[position] + local;
        let span = self.template(position).span_of(self.start(position), &self.template(position).slots[local].0);
        let stat = &self.shape.slots[slot];
        if stat.is_list {
            let argument = |item| self.argument(position, local, Some(item));
            let arguments: Vec<Argument> = (0..self.writing.items).map(argument).collect();
            let names = arguments.into_iter().map(|argument| self.parameter_of(position, local, argument, span));
            return Source::List(names.collect());
        }
        let class = class(self.shape, slot);
        if let Origin::Constant(text) = &self.origins[slot] {
            return Source::Constant(text.clone());
        }
        if let Some(name) = self.known.get(&class) {
            return Source::Variable(name.clone());
        }
        let name = match self.origins[slot].clone() {
            Origin::Answer(answer) if self.answers.contains_key(&answer) => self.answers[&answer].clone(),
            Origin::Changed { answer, by } if self.answers.contains_key(&answer) => {
                self.changed(position, local, answer, by, body)
            }
            _ => self.given(slot),
        };
        self.known.insert(class, name.clone());
        Source::Variable(name)
    }

    /// `SET new = :read - :quantity`
    fn changed(&mut self, position: usize, local: usize, answer: Answer, by: By, body: &mut Vec<Statement>) -> String {
        let read = self.answers[&answer].clone();
        let span = self.template(position).span_of(self.start(position), &self.template(position).slots[local].0);
        let (op, change) = match by {
            By::Constant(number) => {
                let op = if number < 0 { BinaryOp::Subtract } else { BinaryOp::Add };
                let literal = Number::parse(&show(number.abs())).map_or(Value::Null, Value::Number);
                (op, Expr { kind: ExprKind::Literal(literal), span })
            }
            By::Plus(slot) | By::Minus(slot) if self.is_given(slot) => {
                let op = if matches!(by, By::Plus(_)) { BinaryOp::Add } else { BinaryOp::Subtract };
                (op, variable(&self.given(slot), span))
            }
            _ => {
                let round = self.round.1;
                let argument = match self.round.0 {
                    0 | 1 => Argument::Change { position, local, round, answer },
                    _ => Argument::Nested,
                };
                (BinaryOp::Add, variable(&self.parameter_of(position, local, argument, span), span))
            }
        };
        let role = &self.template(position).roles[local];
        let (name, type_name) = (format!("new_{}", role.column), type_of(role.type_name.as_deref(), true));
        let name = self.fresh(&name);
        let target = Variable { name: name.clone(), span };
        body.push(Statement {
            kind: StatementKind::Declare { variable: target.clone(), type_name, default: None },
            span,
        });
        let value = compare(op, variable(&read, span), change, span);
        body.push(Statement { kind: StatementKind::Assign { variable: target, value }, span });
        name
    }

    /// Whether the value of a slot is there, or can be asked for.
    fn is_given(&self, slot: usize) -> bool {
        self.known.contains_key(&class(self.shape, slot)) || self.origins[slot] == Origin::Parameter
    }

    /// The variable of a slot, which may stand further down.
    fn given(&mut self, slot: usize) -> String {
        let class = class(self.shape, slot);
        if let Some(name) = self.known.get(&class) {
            return name.clone();
        }
        let position = self.shape.base.partition_point(|base| *base <= slot) - 1;
        let local = slot - self.shape.base[position];
        let span = self.template(position).span_of(self.start(position), &self.template(position).slots[local].0);
        let argument = self.argument(position, local, None);
        let name = self.parameter_of(position, local, argument, span);
        self.known.insert(class, name.clone());
        name
    }

    fn argument(&self, position: usize, local: usize, item: Option<usize>) -> Argument {
        let round = self.round.1;
        if self.round.0 > 1 { Argument::Nested } else { Argument::Value { position, local, round, item } }
    }

    /// Variables for all columns of an answer.
    fn into(&mut self, position: usize, span: Span, body: &mut Vec<Statement>) -> Vec<Variable> {
        let outputs = self.template(position).outputs.clone();
        let mut into = Vec::new();
        for (at, (name, type_name)) in outputs.into_iter().enumerate() {
            let name = self.fresh(&name);
            let one = Variable { name: name.clone(), span };
            let type_name = type_of(type_name.as_deref(), true);
            body.push(Statement {
                kind: StatementKind::Declare { variable: one.clone(), type_name, default: None },
                span,
            });
            self.answers.insert((position, at), name);
            into.push(one);
        }
        into
    }

    fn parameter_of(&mut self, position: usize, local: usize, argument: Argument, span: Span) -> String {
        let suffix = if matches!(argument, Argument::Change { .. }) { "_change" } else { "" };
        let role = self.template(position).roles[local].clone();
        let stat = &self.shape.slots[self.shape.base[position] + local];
        let is_plain = role.column == "id" && !role.table.is_empty();
        let wanted = match role.column.as_str() {
            "" => "p".to_string(),
            "id" if is_plain => format!("{}_id", role.table),
            column => column.to_string(),
        };
        let type_name = type_of(role.type_name.as_deref(), stat.is_number);
        self.parameter(&format!("{wanted}{suffix}"), &type_name, argument, span)
    }

    fn parameter(&mut self, wanted: &str, type_name: &str, argument: Argument, span: Span) -> String {
        let name = self.fresh(wanted);
        self.arguments.push(argument);
        self.parameters.push(Parameter { name: name.clone(), mode: Mode::In, type_name: type_name.to_string(), span });
        name
    }

    /// A name that nobody has.
    fn fresh(&mut self, wanted: &str) -> String {
        let plain: String =
            wanted.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let is_word = plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        // Words of the notation cannot be names.
        let is_free = is_word && !is_reserved(&plain);
        let plain = if is_free { plain } else { format!("p_{plain}") };
        let numbered = std::iter::once(plain.clone()).chain((2..).map(|number| format!("{plain}_{number}")));
        let name = numbered.into_iter().find(|name| !self.names.contains(name)).unwrap_or(plain);
        self.names.insert(name.clone());
        name
    }
}

/// A type that any engine takes.
fn type_of(written: Option<&str>, is_number: bool) -> String {
    match written.map(str::to_lowercase).as_deref() {
        Some(name) if name.contains("bigserial") => "BIGINT".to_string(),
        Some(name) if name.contains("serial") => "INT".to_string(),
        Some(name) => name.to_uppercase(),
        None if is_number => "INT".to_string(),
        None => "TEXT".to_string(),
    }
}

fn variable(name: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Variable(name.to_string()), span }
}

fn integer(value: usize, span: Span) -> Expr {
    Expr { kind: ExprKind::Literal(Value::int(i64::try_from(value).unwrap_or(i64::MAX))), span }
}

fn compare(op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, span }
}

//! Transaction templates: operations without parameters, put together by branches and loops (the paper's §3).
//!
//! ```text
//!   T_id   insert Y                    Step::Run(insert)
//!          loop 1 to 3 times           Step::Loop
//!            item-read Y                 Step::Run(item-read)
//!            if the version is even      Step::If
//!              update Y                    Step::Run(update)
//! ```
//!
//! Parameters come in two sorts. *Access* parameters say which rows an operation touches; they come from keys and
//! conditions. *Data* parameters say what is written; they come from attributes and references. Which is which follows
//! from the operation, so a template names neither.
//!
//! A branch is decided by what the transaction has read: whether the last version that an item-read showed is even. So
//! what a transaction does depends on what others did, as in real programs, and is still the same for the same answers.
//!
//! Templates are written as trees and run as a list of instructions ([`Code`]), so that a session needs nothing but a
//! position, and the counters of the loops that it is in, to know where it is.

use super::measure::OperationKind;
use super::predicate;

/// A transaction without parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// Its name, for people.
    pub name: String,
    /// How often it is chosen, compared with the others.
    pub weight: u64,
    /// What it does.
    pub steps: Vec<Step>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// An operation.
    Run(Operation),
    /// These steps, as many times as is drawn between the two numbers, both included.
    Loop {
        /// At least.
        least: usize,
        /// At most.
        most: usize,
        /// The steps.
        body: Vec<Step>,
    },
    /// The one or the other, depending on what was last read.
    If {
        /// If the last version read is even (no version counts as that).
        then: Vec<Step>,
        /// If it is odd.
        otherwise: Vec<Step>,
    },
}

/// An operation on a table, without parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// The position of the table.
    pub table: usize,
    /// What is done there.
    pub action: Action,
}

/// What an operation does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Reads a row by its key.
    ItemRead,
    /// Reads the rows that satisfy a condition, maybe together with those that one of their references leads to.
    PredicateRead {
        /// The condition.
        condition: predicate::Template,
        /// The position of the reference that is followed.
        join: Option<usize>,
    },
    /// Adds a row, or removes one if none can be added.
    Insert,
    /// Changes a row.
    Update {
        /// The positions of the attributes that get new values.
        attributes: Vec<usize>,
        /// The positions of the references that get new values.
        references: Vec<usize>,
    },
    /// Removes a row, or adds one if none can be removed.
    Delete,
}

impl Operation {
    /// Its kind.
    pub fn kind(&self) -> OperationKind {
        match &self.action {
            Action::ItemRead => OperationKind::ItemRead,
            Action::PredicateRead { .. } => OperationKind::PredicateRead,
            Action::Insert => OperationKind::Insert,
            Action::Update { .. } => OperationKind::Update,
            Action::Delete => OperationKind::Delete,
        }
    }
}

impl Template {
    /// A template of operations alone.
    pub fn straight(name: &str, weight: u64, operations: impl IntoIterator<Item = Operation>) -> Template {
        Template { name: name.to_string(), weight, steps: operations.into_iter().map(Step::Run).collect() }
    }

    /// The template without the operations of a kind; branches and loops that are left empty do nothing.
    pub fn without(&self, kind: OperationKind) -> Template {
        Template { steps: without(&self.steps, kind), ..self.clone() }
    }

    /// All operations, each once.
    pub fn operations(&self) -> Vec<&Operation> {
        fn collect<'a>(steps: &'a [Step], into: &mut Vec<&'a Operation>) {
            for step in steps {
                match step {
                    Step::Run(operation) => into.push(operation),
                    Step::Loop { body, .. } => collect(body, into),
                    Step::If { then, otherwise } => {
                        collect(then, into);
                        collect(otherwise, into);
                    }
                }
            }
        }
        let mut operations = Vec::new();
        collect(&self.steps, &mut operations);
        operations
    }
}

fn without(steps: &[Step], kind: OperationKind) -> Vec<Step> {
    let keep = |step: &Step| match step {
        Step::Run(operation) if operation.kind() == kind => None,
        Step::Run(_) => Some(step.clone()),
        Step::Loop { least, most, body } => {
            Some(Step::Loop { least: *least, most: *most, body: without(body, kind) }).filter(has_steps)
        }
        Step::If { then, otherwise } => {
            Some(Step::If { then: without(then, kind), otherwise: without(otherwise, kind) }).filter(has_steps)
        }
    };
    steps.iter().filter_map(keep).collect()
}

fn has_steps(step: &Step) -> bool {
    match step {
        Step::Run(_) => true,
        Step::Loop { body, .. } => !body.is_empty(),
        Step::If { then, otherwise } => !then.is_empty() || !otherwise.is_empty(),
    }
}

/// A template as a list of instructions.
#[derive(Debug, Clone, PartialEq)]
pub struct Code(Vec<Instruction>);

/// One of them.
#[derive(Debug, Clone, PartialEq)]
enum Instruction {
    Run(Operation),
    /// Draws how often the loop runs; goes to its end if that is never.
    Enter {
        least: usize,
        most: usize,
        end: usize,
    },
    /// Goes back to the beginning of the loop while there are rounds left.
    Again {
        start: usize,
    },
    /// Goes there if what was last read is odd.
    Unless(usize),
    Jump(usize),
}

/// Where a session is in its transaction.
#[derive(Debug, Clone, Default)]
pub struct Place {
    next: usize,
    /// How many rounds are left of the loops that it is in, the innermost last.
    rounds: Vec<usize>,
}

impl Code {
    /// Compiles a template.
    pub fn of(template: &Template) -> Code {
        let mut code = Code(Vec::new());
        code.compile(&template.steps);
        code
    }

    fn compile(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Run(operation) => self.0.push(Instruction::Run(operation.clone())),
                Step::Loop { least, most, body } => {
                    let enter = self.0.len();
                    self.0.push(Instruction::Jump(0));
                    self.compile(body);
                    self.0.push(Instruction::Again { start: enter + 1 });
                    self.0[enter] = Instruction::Enter { least: *least, most: *most, end: self.0.len() };
                }
                Step::If { then, otherwise } => {
                    let unless = self.0.len();
                    self.0.push(Instruction::Jump(0));
                    self.compile(then);
                    let jump = self.0.len();
                    self.0.push(Instruction::Jump(0));
                    self.0[unless] = Instruction::Unless(self.0.len());
                    self.compile(otherwise);
                    self.0[jump] = Instruction::Jump(self.0.len());
                }
            }
        }
    }

    /// The next operation; `None` at the end. `is_even` tells whether the last version read is even; `draw` chooses a
    /// number between two, both included.
    pub fn next(
        &self,
        place: &mut Place,
        is_even: bool,
        mut draw: impl FnMut(usize, usize) -> usize,
    ) -> Option<&Operation> {
        loop {
            let here = place.next;
            place.next += 1;
            match self.0.get(here)? {
                Instruction::Run(operation) => return Some(operation),
                Instruction::Enter { least, most, end } => match draw(*least, *most) {
                    0 => place.next = *end,
                    rounds => place.rounds.push(rounds - 1),
                },
                Instruction::Again { start } => match place.rounds.last_mut() {
                    Some(left) if *left > 0 => {
                        *left -= 1;
                        place.next = *start;
                    }
                    _ => drop(place.rounds.pop()),
                },
                Instruction::Unless(otherwise) if !is_even => place.next = *otherwise,
                Instruction::Unless(_) => {}
                Instruction::Jump(there) => place.next = *there,
            }
        }
    }

    /// The operations after a place, each once, whichever branch would have been taken: what a transaction leaves
    /// undone that is rolled back there.
    pub fn rest(&self, place: &Place) -> impl Iterator<Item = &Operation> {
        self.0.iter().skip(place.next).filter_map(|instruction| match instruction {
            Instruction::Run(operation) => Some(operation),
            _ => None,
        })
    }
}

impl Place {
    /// Goes back to the beginning.
    pub fn rewind(&mut self) {
        self.next = 0;
        self.rounds.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(table: usize, action: Action) -> Step {
        Step::Run(Operation { table, action })
    }

    fn template(steps: Vec<Step>) -> Template {
        Template { name: "t".to_string(), weight: 1, steps }
    }

    #[track_caller]
    fn check(steps: Vec<Step>, is_even: bool, rounds: usize, expect: &[usize]) {
        let code = Code::of(&template(steps));
        let mut place = Place::default();
        for _ in 0..2 {
            place.rewind();
            let next = || code.next(&mut place, is_even, |_, _| rounds).map(|operation| operation.table);
            assert_eq!(std::iter::from_fn(next).collect::<Vec<_>>(), expect);
        }
    }

    #[test]
    fn loops_run_as_often_as_drawn() {
        let inner = Step::Loop { least: 0, most: 9, body: vec![run(2, Action::Delete)] };
        let steps = || {
            let body = vec![run(1, Action::ItemRead), inner.clone()];
            vec![run(0, Action::Insert), Step::Loop { least: 0, most: 9, body }, run(3, Action::Insert)]
        };
        check(steps(), true, 0, &[0, 3]);
        check(steps(), true, 1, &[0, 1, 2, 3]);
        check(steps(), true, 2, &[0, 1, 2, 2, 1, 2, 2, 3]);
    }

    #[test]
    fn branches_follow_what_was_read() {
        let steps = || {
            let then = vec![run(1, Action::ItemRead), run(2, Action::Delete)];
            vec![Step::If { then, otherwise: vec![run(3, Action::Insert)] }, run(4, Action::Insert)]
        };
        check(steps(), true, 0, &[1, 2, 4]);
        check(steps(), false, 0, &[3, 4]);
        check(vec![Step::If { then: Vec::new(), otherwise: Vec::new() }], false, 0, &[]);
    }

    #[test]
    fn what_is_left_is_known() {
        let code = Code::of(&template(vec![
            run(0, Action::Insert),
            Step::Loop { least: 2, most: 2, body: vec![run(1, Action::ItemRead)] },
            run(2, Action::Delete),
        ]));
        let mut place = Place::default();
        code.next(&mut place, true, |least, _| least);
        assert_eq!(code.rest(&place).map(|operation| operation.table).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn operations_of_a_kind_can_be_left_out() {
        let only = Step::Loop { least: 1, most: 1, body: vec![run(1, Action::ItemRead)] };
        let left = template(vec![only, run(2, Action::Delete)]).without(OperationKind::ItemRead);
        assert_eq!(left.steps, [run(2, Action::Delete)]);
    }
}

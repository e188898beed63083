//! The tree of a host program → the IR: its code is followed, statement by statement, with what is known of each value.
//!
//! ```text
//!   stmt = conn.prepareStatement(SQL)       stmt: a statement with the text of SQL; two `?`
//!   stmt.setInt(1, x + 1)                   SET stmt_1 = :x + 1
//!   rs = stmt.executeQuery()                OPEN rs FOR SELECT … WHERE a = :stmt_1 …
//!   if (rs.next())                          FETCH rs INTO rs_b; SET found = FOUND(); IF :found THEN
//!     y = rs.getInt("b")                      SET y = :rs_b
//! ```
//!
//! What is said here is always right and never pretty: every value gets a variable at the time at which the source
//! computes it. [`super::tidy`] makes of it what a person would have written.
//!
//! * `scopes`: names and variables; `first`: what fields hold before anybody assigns to them
//! * `join`: what is known after branches that differ; `options`: what is done when it is one of several
//! * `statements`, `loops`, `errors`: control flow
//! * `expressions`, `operators`: values
//! * `calls`: methods of the program, inlined; `functions`: functions as values
//! * `library`: texts and the like; `lists`: lists, arrays and maps
//! * `database`: what the vocabulary says; `rows`: rows that are taken all at once
//! * `sql`: texts → statements with holes; `into`: whose columns go to variables of the source at once

mod scopes;
mod first;
mod join;
mod options;
mod statements;
mod loops;
mod errors;
mod expressions;
mod operators;
mod calls;
mod functions;
mod library;
mod lists;
mod database;
mod sql;
mod into;
mod rows;

pub(crate) use scopes::plain_name;

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::{self as ir, Diagnostic, Parameter, Procedure, Span, Statement, StatementKind};

use super::index::{Body, MethodId, World};
use super::tree::{self, Try};
use super::values::{Object, State, Value};
use super::vocabulary::Sort;

/// How deep statements, expressions and inlined calls may be nested, all together.
const DEPTH_MAX: usize = 220;

/// How many statements a procedure may have: helpers that call helpers multiply.
const STATEMENTS_MAX: usize = 20_000;

/// What a method has become.
pub(crate) struct Lowered {
    pub(crate) procedure: Procedure,
    /// Remarks, with the file that they are about.
    pub(crate) diagnostics: Vec<(usize, Diagnostic)>,
    /// The statements that are sent, by the place of their text, and whether they are understood.
    pub(crate) sites: BTreeMap<(usize, usize), Site>,
    /// The variables that we have made up.
    pub(crate) made_up: BTreeSet<String>,
    /// The cursors whose queries have one row at most.
    pub(crate) single: BTreeSet<String>,
    /// Whether it says what a transaction is.
    pub(crate) ends_transactions: bool,
}

/// A statement of the source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub(crate) span: Span,
    /// Whether a method that is followed sends it.
    pub(crate) is_sent: bool,
    pub(crate) is_understood: bool,
    /// Whether it is a constant that no method sends.
    pub(crate) is_alone: bool,
}

/// A variable of the source.
struct Slot {
    /// What it is called, in lower case.
    name: String,
    /// The variable of the IR that holds its value, if it has ever had one.
    home: Option<String>,
    sort: Sort,
    type_name: String,
}

/// The method around a class or function that stands in it.
#[derive(Clone)]
struct Around {
    scopes: Vec<BTreeMap<String, usize>>,
    class: usize,
    this: Option<usize>,
}

/// A method that is being followed.
struct Frame<'p> {
    method: Option<MethodId>,
    class: usize,
    file: usize,
    /// The place that stands for everything in another file.
    stands_at: Option<Span>,
    scopes: Vec<BTreeMap<String, usize>>,
    /// What its loops and blocks are called.
    loops: Vec<Loop>,
    /// What is to be done when it is left by an error or a return.
    tries: Vec<Guard<'p>>,
    /// Where it goes on when it returns; nothing for the procedure itself.
    exit: Option<Exit>,
    /// The object whose method it is.
    this: Option<usize>,
}

impl Frame<'_> {
    /// That of a procedure.
    fn first(method: Option<MethodId>, class: usize, file: usize) -> Self {
        Frame {
            method,
            class,
            file,
            stands_at: None,
            scopes: vec![BTreeMap::new()],
            loops: Vec::new(),
            tries: Vec::new(),
            exit: None,
            this: None,
        }
    }
}

/// A try that is being followed.
struct Guard<'p> {
    body: &'p Try,
    /// Where it goes on behind.
    label: String,
    /// Whether its catches still count: not inside of them.
    catches: bool,
    /// What is known where it is left by a catch.
    ends: Vec<State>,
}

/// Where an inlined method goes when it returns.
struct Exit {
    label: String,
    /// Which return it was.
    number: String,
    /// What was returned by each, and what was known there.
    returns: Vec<(i64, Value, State)>,
    /// The variable with the value.
    slot: usize,
}

/// A loop, or a block with a name.
struct Loop {
    /// As the source calls it.
    name: Option<String>,
    /// As the IR does.
    label: String,
    /// What `continue` leaves, if it is not the loop that it goes on with.
    round: Option<String>,
    is_loop: bool,
    /// What is known where it is left.
    ends: Vec<State>,
}

/// A cursor of the IR.
struct CursorInfo {
    /// The name of each column, and the variable that it goes to.
    columns: Vec<(Option<String>, String)>,
    /// Whether there may be columns that we do not know.
    is_open: bool,
}

/// Follows one method.
pub(crate) struct Lowerer<'p> {
    world: &'p World<'p>,
    home: usize,
    out: Vec<Statement>,
    emitted: usize,
    /// Whether a limit was reached, and that has been said.
    is_cut: bool,
    slots: Vec<Slot>,
    state: State,
    next_object: usize,
    frames: Vec<Frame<'p>>,
    fields: BTreeMap<(usize, String), usize>,
    /// Fields whose first values are being found.
    opening: Vec<(usize, String)>,
    /// Code that is being followed for the first values of fields.
    making: Vec<Body<'p>>,
    /// What is known around objects of classes that stand in methods.
    around: BTreeMap<usize, Around>,
    cursors: BTreeMap<String, CursorInfo>,
    /// The variables of the values of statements, by object and position or name.
    bound: BTreeMap<(usize, String), String>,
    single: BTreeSet<String>,
    /// Names that are taken, with the last number that was put behind each.
    names: BTreeMap<String, usize>,
    made_up: BTreeSet<String>,
    prologue: Vec<Statement>,
    parameters: Vec<Parameter>,
    /// The parameters for what the caller gives, by how it is reached.
    inputs: BTreeMap<String, String>,
    diagnostics: Vec<(usize, Diagnostic)>,
    sites: BTreeMap<(usize, usize), Site>,
    depth: usize,
    /// What the variable is called that the value will go to.
    wish: Option<String>,
    /// The errors whose catches are being followed: the name of each, its class and its message.
    caught: Vec<(String, String, Option<String>)>,
    /// The column that was read last.
    last_read: Option<String>,
    /// The parameters of the method that was followed last.
    passed: Vec<usize>,
    ends_transactions: bool,
    commits_itself: bool,
    /// Whether the rounds of a loop are followed one by one: what is known is computed.
    is_unrolling: bool,
}

impl<'p> Lowerer<'p> {
    /// One that will follow a method of a file.
    pub(crate) fn new(world: &'p World<'p>, home: usize) -> Lowerer<'p> {
        Lowerer {
            world,
            home,
            out: Vec::new(),
            emitted: 0,
            is_cut: false,
            slots: Vec::new(),
            state: State::default(),
            next_object: 0,
            frames: Vec::new(),
            fields: BTreeMap::new(),
            opening: Vec::new(),
            making: Vec::new(),
            around: BTreeMap::new(),
            cursors: BTreeMap::new(),
            bound: BTreeMap::new(),
            single: BTreeSet::new(),
            names: BTreeMap::new(),
            made_up: BTreeSet::new(),
            prologue: Vec::new(),
            parameters: Vec::new(),
            inputs: BTreeMap::new(),
            diagnostics: Vec::new(),
            sites: BTreeMap::new(),
            depth: 0,
            wish: None,
            caught: Vec::new(),
            last_read: None,
            passed: Vec::new(),
            ends_transactions: false,
            commits_itself: false,
            is_unrolling: false,
        }
    }

    /// Follows a method from its first statement, as one of an object of that class.
    pub(crate) fn procedure(mut self, name: &str, id: MethodId, class: usize) -> Lowered {
        let world = self.world;
        let method = world.method(id);
        self.frames.push(Frame::first(Some(id), class, world.file(id)));
        self.take_parameters(method);
        self.statements(&method.body);
        self.fill_fetches();
        self.sort_parameters(method);
        self.lowered(name, method.span)
    }

    /// Sends a constant, whatever its values are.
    pub(crate) fn constant(mut self, name: &str, class: usize, file: usize, value: &'p tree::Expr) -> Lowered {
        self.frames.push(Frame::first(None, class, file));
        let text = self.value_for(value, name);
        let connection = self.object(Object::Connection);
        self.send_from(connection, vec![text], database::Wanted::Either, None, value.span);
        self.fill_fetches();
        self.lowered(name, value.span)
    }

    fn lowered(mut self, name: &str, span: Span) -> Lowered {
        let mut body = std::mem::take(&mut self.prologue);
        body.append(&mut self.out);
        let procedure = Procedure {
            name: name.to_string(),
            parameters: std::mem::take(&mut self.parameters),
            autocommit: self.commits_itself,
            body,
            span,
        };
        Lowered {
            procedure,
            diagnostics: self.diagnostics,
            sites: self.sites,
            made_up: self.made_up,
            single: self.single,
            ends_transactions: self.ends_transactions,
        }
    }

    fn emit(&mut self, kind: StatementKind, span: Span) {
        if self.state.is_dead {
            return;
        }
        if self.emitted > STATEMENTS_MAX {
            self.cut(span, "with everything that it calls, this is too long to be followed");
            return;
        }
        self.emitted += 1;
        match &kind {
            StatementKind::Assign { variable, value }
            | StatementKind::Declare { variable, default: Some(value), .. } => match self.fold(value) {
                Some(number) => drop(self.state.known.insert(variable.name.clone(), number)),
                None => drop(self.state.known.remove(&variable.name)),
            },
            _ => {}
        }
        let span = self.at(span);
        self.out.push(Statement { kind, span });
    }

    fn set(&mut self, name: &str, value: ir::Expr, span: Span) {
        let span = self.at(span);
        let variable = ir::Variable { name: name.to_string(), span };
        self.emit(StatementKind::Assign { variable, value }, span);
    }

    /// What is emitted by a function.
    fn block(&mut self, inside: impl FnOnce(&mut Self)) -> Vec<Statement> {
        let outer = std::mem::take(&mut self.out);
        inside(self);
        std::mem::replace(&mut self.out, outer)
    }

    /// The place of something of the current file in the procedure's file.
    fn at(&self, span: Span) -> Span {
        self.frames.last().and_then(|frame| frame.stands_at).unwrap_or(span)
    }

    fn file(&self) -> usize {
        self.frames.last().map_or(self.home, |frame| frame.file)
    }

    fn warn(&mut self, span: Span, message: impl Into<String>, hint: &str) {
        let file = self.file();
        self.diagnostics.push((file, Diagnostic::warning(span, message).with_hint(hint)));
    }

    fn frame(&mut self) -> &mut Frame<'p> {
        self.frames.last_mut().expect("a frame is there as long as something is followed")
    }

    /// Says that a limit was reached, once. Anything may stand in what is not followed: that is an error, not a remark.
    fn cut(&mut self, span: Span, message: &str) {
        if !std::mem::replace(&mut self.is_cut, true) {
            let file = self.file();
            self.diagnostics.push((file, Diagnostic::error(span, message)));
        }
    }

    /// Goes one level deeper, or says that it is too deep.
    fn deeper<T>(&mut self, span: Span, otherwise: T, inside: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEPTH_MAX || self.emitted > STATEMENTS_MAX {
            self.cut(span, "this is nested too deeply, or too long, to be followed");
            return otherwise;
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Every FETCH takes all columns that were ever asked for.
    fn fill_fetches(&mut self) {
        let cursors = std::mem::take(&mut self.cursors);
        fill(&mut self.out, &cursors);
    }
}

fn fill(statements: &mut [Statement], cursors: &BTreeMap<String, CursorInfo>) {
    for statement in statements {
        let span = statement.span;
        if let StatementKind::Fetch { cursor, variables } = &mut statement.kind {
            let columns = cursors.get(cursor).map(|info| info.columns.as_slice()).unwrap_or_default();
            let variable = |(_, name): &(Option<String>, String)| ir::Variable { name: name.clone(), span };
            *variables = columns.iter().map(variable).collect();
        }
        statement.bodies_mut().into_iter().for_each(|body| fill(body, cursors));
    }
}

//! What is known about a value of the host program while its code is followed.

use std::collections::BTreeMap;
use std::rc::Rc;

use txloom_core::program::{BinaryOp, Expr, ExprKind, Span};
use txloom_core::value::Value as Constant;

use super::vocabulary::Sort;

/// What is known about a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Never assigned.
    Unset,
    /// No object.
    Null,
    /// A value that the program can hold: a number, a text, a truth value, a time.
    Plain(Expr, Sort),
    /// A text of which we know how it was put together.
    Text(Template),
    /// Something on the heap, by its position.
    Object(usize),
    /// Something that the caller gives, and how it is reached from there: `order_id` for `order.getId()`.
    Input(String, Sort),
    /// One of several: that whose number the variable holds.
    Choice(String, Vec<(i64, Value)>),
    /// That, if the variable is true; otherwise no object.
    Perhaps(String, Box<Value>),
    /// Nothing is known.
    Unknown(Span),
}

/// The maximum size of a text that is put together; a longer one is any text. (`s = s + s` doubles it each time.)
const TEMPLATE_MAX: usize = 1 << 20;

/// How many pieces of a text are put together again: more are any value.
const JOINED_MAX: usize = 100;

/// A text, piece by piece.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Template {
    pub(crate) pieces: Vec<Piece>,
    /// The variable of the program that holds the whole text.
    pub(crate) held: Option<String>,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Text from a constant of a file.
    Text { text: String, file: usize, span: Span },
    /// The value of an expression; `name` is what the source calls it.
    Hole { value: Expr, sort: Sort, name: String, span: Span },
}

impl Template {
    /// The text of a constant.
    pub(crate) fn constant(text: &str, file: usize, span: Span) -> Template {
        Template { pieces: vec![Piece::Text { text: text.to_string(), file, span }], held: None }
    }

    /// The text, if no part of it is unknown.
    pub(crate) fn as_constant(&self) -> Option<String> {
        let text = |piece: &Piece| match piece {
            Piece::Text { text, .. } => Some(text.clone()),
            Piece::Hole { .. } => None,
        };
        self.pieces.iter().map(text).collect()
    }

    /// Its value.
    pub(crate) fn value(&self, span: Span) -> Expr {
        if let Some(name) = &self.held {
            return variable(name, span);
        }
        if let Some(text) = self.as_constant() {
            return Expr { kind: ExprKind::Literal(Constant::text(text)), span };
        }
        match self.pieces.as_slice() {
            [Piece::Hole { value, .. }] => value.clone(),
            pieces if pieces.len() > JOINED_MAX => any(span),
            _ => self.joined(span),
        }
    }

    /// `'no. ' || :number`
    fn joined(&self, span: Span) -> Expr {
        let mut parts: Vec<Expr> = Vec::new();
        for piece in &self.pieces {
            match (piece, parts.last_mut().map(|last| &mut last.kind)) {
                (Piece::Text { text, .. }, Some(ExprKind::Literal(Constant::Text(before)))) => before.push_str(text),
                (Piece::Text { text, .. }, _) => {
                    parts.push(Expr { kind: ExprKind::Literal(Constant::text(text.clone())), span });
                }
                (Piece::Hole { value, .. }, _) => parts.push(value.clone()),
            }
        }
        let join = |left: Expr, right: Expr| {
            let (left, right) = (Box::new(left), Box::new(right));
            Expr { kind: ExprKind::Binary { op: BinaryOp::Concat, left, right }, span }
        };
        parts.into_iter().reduce(join).unwrap_or_else(|| any(span))
    }

    /// The place of its first constant, which tells it apart from all others.
    pub(crate) fn site(&self) -> Option<(usize, Span)> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Text { file, span, text } if !text.trim().is_empty() => Some((*file, *span)),
            _ => None,
        })
    }

    /// A measure of the memory that it takes.
    fn size(&self) -> usize {
        let size = |piece: &Piece| match piece {
            Piece::Text { text, .. } => text.len(),
            Piece::Hole { name, .. } => name.len(),
        };
        self.pieces.iter().map(|piece| size(piece) + size_of::<Piece>()).sum()
    }

    /// A text of which nothing is known any more, but the place of its first piece.
    fn forgotten(&self) -> Template {
        let span = self.pieces.first().map_or(Span::default(), |piece| match piece {
            Piece::Text { span, .. } | Piece::Hole { span, .. } => *span,
        });
        let hole = Piece::Hole { value: any(span), sort: Sort::Text, name: String::new(), span };
        Template { pieces: vec![hole], held: None }
    }

    /// This text and then another.
    pub(crate) fn then(mut self, other: Template) -> Template {
        if self.size() + other.size() > TEMPLATE_MAX {
            return self.forgotten();
        }
        self.held = None;
        self.pieces.extend(other.pieces);
        self
    }

    /// Removes characters at the end, as far as they are known.
    pub(crate) fn shorten(&mut self, mut count: usize) {
        self.held = None;
        while count > 0 {
            let Some(Piece::Text { text, .. }) = self.pieces.last_mut() else { return };
            if text.pop().is_none() {
                self.pieces.pop();
            } else {
                count -= 1;
            }
        }
    }
}

/// Something with a state of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Object {
    Connection,
    Statement(Sendable),
    Rows(String),
    /// All rows of an answer, not yet gone through: the position of the answer.
    Table(usize),
    /// A text that grows.
    Builder(Value),
    /// An object with fields, each a variable of ours.
    Record(Record),
    List(List),
}

/// A statement that can be sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sendable {
    /// What its variables are called.
    pub(crate) name: String,
    /// Its text, if it was said when it was made.
    pub(crate) text: Option<Box<Value>>,
    /// The variables that hold its values, by position or name.
    pub(crate) binds: BTreeMap<String, String>,
    /// The answer to what was sent last.
    pub(crate) rows: Option<Box<Value>>,
    /// How many rows it changed.
    pub(crate) count: Option<Box<Value>>,
}

/// An object with fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Record {
    /// The name of its class.
    pub(crate) class: String,
    /// What its variables are called.
    pub(crate) name: String,
    /// Its fields: positions of variables.
    pub(crate) fields: BTreeMap<String, usize>,
}

/// Several values.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct List {
    /// What is in it, if that is known for certain.
    pub(crate) elements: Option<Vec<Value>>,
    /// What any of its elements looks like.
    pub(crate) sample: Option<Box<Value>>,
    /// What is known to be in it, by its keys or positions, beside what we do not know of.
    pub(crate) keys: BTreeMap<String, Value>,
}

impl List {
    /// A list of which all is known.
    pub(crate) fn of(elements: Vec<Value>) -> List {
        List { elements: Some(elements), ..List::default() }
    }
}

/// A mention of a variable.
pub(crate) fn variable(name: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Variable(name.to_string()), span }
}

/// A value that nobody knows.
pub(crate) fn any(span: Span) -> Expr {
    Expr { kind: ExprKind::Any, span }
}

/// A whole number.
pub(crate) fn whole(number: i64, span: Span) -> Expr {
    Expr { kind: ExprKind::Literal(Constant::int(number)), span }
}

/// A truth value.
pub(crate) fn truth(value: bool, span: Span) -> Expr {
    Expr { kind: ExprKind::Literal(Constant::Bool(value)), span }
}

/// What is known at one point of the program.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    /// What each variable holds.
    pub(crate) values: Vec<Value>,
    /// The heap.
    pub(crate) objects: Heap,
    /// Variables of the program that hold a known whole number.
    pub(crate) known: BTreeMap<String, i64>,
    /// Whether nothing comes here.
    pub(crate) is_dead: bool,
}

/// Objects by their positions. Branches share what they do not change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heap(BTreeMap<usize, Rc<Object>>);

impl Heap {
    pub(crate) fn get(&self, id: &usize) -> Option<&Object> {
        self.0.get(id).map(|object| &**object)
    }

    pub(crate) fn get_mut(&mut self, id: &usize) -> Option<&mut Object> {
        self.0.get_mut(id).map(Rc::make_mut)
    }

    pub(crate) fn insert(&mut self, id: usize, object: Object) {
        self.0.insert(id, Rc::new(object));
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.keys().copied()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Object> {
        self.0.values().map(|object| &**object)
    }

    /// The object, to be shared with another heap.
    pub(crate) fn shared(&self, id: usize) -> Option<&Rc<Object>> {
        self.0.get(&id)
    }

    /// Takes an object of another heap.
    pub(crate) fn share(&mut self, id: usize, object: Rc<Object>) {
        self.0.insert(id, object);
    }
}

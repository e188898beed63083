//! The tree of a host language: as much of Java, Python or C as decides which SQL is sent, and with which values.
//!
//! Chains of one operator (`"SELECT " + a + " FROM " + …`) and of `else if` are lists, not nests: people write them
//! hundreds of links long.

use txloom_core::program::{Diagnostic, Span};

/// What one file defines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unit {
    /// Its classes; what stands outside of any is in a class with an empty name.
    pub(crate) classes: Vec<Class>,
    /// What could not be read, and why.
    pub(crate) unread: Vec<Diagnostic>,
}

/// A class, or the functions and globals of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Class {
    pub(crate) name: String,
    /// The class whose fields and methods it has, too.
    pub(crate) parent: Option<String>,
    /// What else it has fields and methods of.
    pub(crate) interfaces: Vec<String>,
    /// The class that it stands in.
    pub(crate) outer: Option<String>,
    pub(crate) fields: Vec<Field>,
    pub(crate) methods: Vec<Method>,
    /// What is done when it is loaded, or when an object of it is made, beside the constructors.
    pub(crate) initializers: Vec<Vec<Stmt>>,
    /// The names of all objects that it will ever have, if it is an enumeration.
    pub(crate) constants: Vec<String>,
    pub(crate) nature: Nature,
}

/// What a class is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Nature {
    #[default]
    Plain,
    /// Only classes below it have objects.
    Abstract,
    /// It stands in a method, and knows its variables.
    Local,
    /// A function without a name: its only method. It knows the variables of the method around it.
    Function,
}

/// A field of a class, or a global variable.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// As written; empty if the language does not say it.
    pub(crate) type_name: String,
    pub(crate) value: Option<Expr>,
}

/// A method or function.
#[derive(Debug, Clone)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The type of what it returns, as written; empty for none.
    pub(crate) result: String,
    pub(crate) body: Vec<Stmt>,
    /// Whether somebody outside may call it.
    pub(crate) is_public: bool,
    pub(crate) is_constructor: bool,
    pub(crate) span: Span,
}

/// A parameter of a method.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) type_name: String,
    /// Whether it takes all further arguments.
    pub(crate) takes_rest: bool,
    /// What it is if nobody passes it.
    pub(crate) default: Option<Expr>,
    pub(crate) span: Span,
}

/// A statement.
#[derive(Debug, Clone)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

/// What a statement does.
#[derive(Debug, Clone)]
pub(crate) enum StmtKind {
    /// A local variable; in languages without declarations, the first assignment does it.
    Declare {
        name: String,
        type_name: String,
        value: Option<Expr>,
    },
    Expr(Expr),
    If {
        branches: Vec<(Expr, Vec<Stmt>)>,
        otherwise: Vec<Stmt>,
    },
    While {
        label: Option<String>,
        condition: Expr,
        body: Vec<Stmt>,
    },
    /// The condition is asked after the body.
    DoWhile {
        label: Option<String>,
        condition: Expr,
        body: Vec<Stmt>,
    },
    For {
        label: Option<String>,
        start: Vec<Stmt>,
        condition: Option<Expr>,
        step: Vec<Expr>,
        body: Vec<Stmt>,
    },
    /// The variable is declared by the loop. `targets` are several if an element is taken apart.
    ForEach {
        label: Option<String>,
        targets: Vec<(String, String)>,
        over: Expr,
        body: Vec<Stmt>,
    },
    Switch {
        subject: Expr,
        cases: Vec<Case>,
        falls_through: bool,
    },
    Return(Option<Expr>),
    Throw(Option<Expr>),
    Try(Try),
    Break(Option<String>),
    Continue(Option<String>),
    Block {
        label: Option<String>,
        body: Vec<Stmt>,
    },
}

/// `try (resources) { body } catch … finally …`; a `with` of Python has resources and a body.
#[derive(Debug, Clone)]
pub(crate) struct Try {
    pub(crate) resources: Vec<Stmt>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) catches: Vec<Catch>,
    pub(crate) finally: Vec<Stmt>,
}

/// What is done about an error.
#[derive(Debug, Clone)]
pub(crate) struct Catch {
    /// The types of the errors, as written.
    pub(crate) types: Vec<String>,
    pub(crate) name: String,
    pub(crate) body: Vec<Stmt>,
}

/// One branch of a switch; without a label it is the default.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) labels: Vec<Expr>,
    pub(crate) is_default: bool,
    pub(crate) body: Vec<Stmt>,
}

/// An expression.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// What an expression is. (Not every language has all of it.)
#[allow(dead_code)]
#[derive(Debug, Clone)]
pub(crate) enum ExprKind {
    Name(String),
    /// `a.b`
    Field(Box<Expr>, String),
    /// A string, without quotes and escapes. The span is that of what stands between the quotes.
    Text(String),
    /// A number, as SQL writes it.
    Number(String),
    Bool(bool),
    Null,
    Call(Call),
    New {
        class: String,
        arguments: Vec<Expr>,
    },
    Not(Box<Expr>),
    Negate(Box<Expr>),
    /// Operands between which the same operator stands, from left to right; two for a comparison.
    Chain(Operator, Vec<Expr>),
    /// `target = value`, or `target op= value`.
    Assign {
        target: Box<Expr>,
        operator: Option<Operator>,
        value: Box<Expr>,
    },
    /// `x++`, `--x`: by how much, and whether the value is the one before.
    Step {
        target: Box<Expr>,
        by: i64,
        is_after: bool,
    },
    Index(Box<Expr>, Box<Expr>),
    /// `condition ? a : b`
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(String, Box<Expr>),
    /// `{a, b}`, `[a, b]`, `(a, b)`
    List(Vec<Expr>),
    /// `{k: v}`
    Map(Vec<(Expr, Expr)>),
    /// Text with expressions in it: an f-string.
    Pieces(Vec<Expr>),
    /// A function without a name. What it does, and when, is not followed.
    Lambda(Vec<Stmt>),
    /// Something else; its parts are still looked at.
    Other(Vec<Expr>),
}

/// A call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) receiver: Option<Box<Expr>>,
    pub(crate) name: String,
    pub(crate) arguments: Vec<Expr>,
    /// Arguments with names.
    pub(crate) named: Vec<(String, Expr)>,
}

/// An operator between operands. (Not every language has all of them.)
#[allow(dead_code)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// A sum; of texts, one behind the other.
    Add,
    Subtract,
    Multiply,
    /// Whole if both operands are, in languages that do so.
    Divide,
    /// Always whole.
    Quotient,
    Remainder,
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// One that we cannot compute.
    Other,
}

impl Unit {
    /// A file that was not read, and why.
    pub(crate) fn unread(reason: String) -> Unit {
        let start = Span { start: 0, end: 0, line: 1 };
        Unit { classes: Vec::new(), unread: vec![Diagnostic::error(start, reason)] }
    }

    /// One file again, of what its pieces say.
    pub(crate) fn together(units: impl Iterator<Item = Unit>) -> Unit {
        let mut whole = Unit { classes: vec![Class::default()], unread: Vec::new() };
        for unit in units {
            whole.unread.extend(unit.unread);
            for class in unit.classes {
                if class.name.is_empty() {
                    whole.classes[0].fields.extend(class.fields);
                    whole.classes[0].methods.extend(class.methods);
                } else {
                    whole.classes.push(class);
                }
            }
        }
        whole
    }
}

impl Expr {
    /// An expression of which only the parts matter.
    pub(crate) fn other(parts: Vec<Expr>, span: Span) -> Expr {
        Expr { kind: ExprKind::Other(parts), span }
    }
}

//! The tree of a program. Every node knows where it stands in the source.

use std::fmt;

use crate::value::Value;

/// The version of the program notation that this library writes, and the only one that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// Where a node stands in the source text.
///
/// Spans are always equal: two programs are the same if they say the same, wherever it stands. (Compare the fields to
/// compare places.)
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The line of the first byte, from 1.
    pub line: usize,
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

/// An application's procedures, in the order of the file. Their names are unique.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// The procedures.
    pub procedures: Vec<Procedure>,
}

impl Program {
    /// The procedure of that name, in any case.
    pub fn procedure(&self, name: &str) -> Option<&Procedure> {
        self.procedures.iter().find(|procedure| procedure.name.eq_ignore_ascii_case(name))
    }
}

/// A procedure. Every variable that its body uses is a parameter or declared further up; no name is declared twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Procedure {
    /// Its name, in lower case.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Vec<Statement>,
    /// From `CREATE` to the final semicolon.
    pub span: Span,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, in lower case.
    pub name: String,
    /// Its type, as written.
    pub type_name: String,
    /// Name and type.
    pub span: Span,
}

/// One statement of a procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands, without its semicolon.
    pub span: Span,
}

/// What a statement of a procedure does.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// Declares a variable and gives it a value, NULL if none is said. Its scope is the rest of the procedure.
    Declare {
        /// The variable.
        variable: Variable,
        /// Its type, as written.
        type_name: String,
        /// Its first value.
        default: Option<Expr>,
    },
    /// Assigns a value.
    Assign {
        /// The variable.
        variable: Variable,
        /// Its new value.
        value: Expr,
    },
    /// Takes the first branch whose condition is true (not NULL), or else the other one.
    If {
        /// `IF` and every `ELSEIF`; at least one.
        branches: Vec<Branch>,
        /// `ELSE`; empty if there is none.
        otherwise: Vec<Statement>,
    },
    /// Repeats its body as long as the condition is true.
    While {
        /// The condition.
        condition: Expr,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// A commit point.
    Commit,
    /// Undoes the open transaction.
    Rollback,
    /// Ends the procedure with these outputs.
    Return(Vec<Expr>),
    /// Everything else is sent to the server.
    Sql(SqlStatement),
}

/// One condition of an IF with what it leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The condition.
    pub condition: Expr,
    /// What is done if it is the first that is true.
    pub body: Vec<Statement>,
}

/// A mention of a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name, in lower case, without a colon.
    pub name: String,
    /// Where it is mentioned.
    pub span: Span,
}

/// SQL text with holes for the values of variables.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlStatement {
    /// Text and holes, in order. Texts are not empty, and no two of them are neighbours.
    pub parts: Vec<SqlPart>,
}

/// A piece of a SQL statement.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlPart {
    /// Sent as it is.
    Text(String),
    /// The value of a variable: a *use*.
    Use(Variable),
    /// `INTO :a, :b`: a *definition* of these variables. Not sent; at most one in a statement.
    Into(Vec<Variable>),
}

impl SqlStatement {
    /// The variables whose values the statement sends, in order of mention.
    pub fn uses(&self) -> impl Iterator<Item = &Variable> {
        self.parts.iter().filter_map(|part| match part {
            SqlPart::Use(variable) => Some(variable),
            _ => None,
        })
    }

    /// The variables that the statement's answer is assigned to, one per column; empty if there is no INTO.
    pub fn defines(&self) -> &[Variable] {
        let targets = self.parts.iter().find_map(|part| match part {
            SqlPart::Into(variables) => Some(variables.as_slice()),
            _ => None,
        });
        targets.unwrap_or_default()
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// The value of a variable.
    Variable(String),
    /// `-x`
    Negate(Box<Expr>),
    /// `NOT x`
    Not(Box<Expr>),
    /// `x IS NULL`, or `x IS NOT NULL`.
    IsNull {
        /// What is asked about.
        operand: Box<Expr>,
        /// Whether `NOT` is said.
        negated: bool,
    },
    /// Two operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Its left operand.
        left: Box<Expr>,
        /// Its right operand.
        right: Box<Expr>,
    },
}

macro_rules! binary_operators {
    ($($(#[$doc:meta])* $variant:ident $sign:literal $precedence:literal,)*) => {
        /// An operator with two operands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum BinaryOp { $($(#[$doc])* $variant,)* }

        impl BinaryOp {
            /// Every operator, loosest first.
            pub const ALL: &'static [BinaryOp] = &[$(BinaryOp::$variant,)*];

            /// How it is written.
            pub fn sign(self) -> &'static str {
                match self { $(BinaryOp::$variant => $sign,)* }
            }

            /// How tightly it binds; a greater number binds tighter. All operators but comparisons are
            /// left-associative; comparisons do not associate.
            pub fn precedence(self) -> u8 {
                match self { $(BinaryOp::$variant => $precedence,)* }
            }
        }
    };
}

binary_operators! {
    /// True if either is.
    Or "OR" 1,
    /// True if both are.
    And "AND" 2,
    /// Same value.
    Equal "=" 4,
    /// Different values; also written `!=`.
    NotEqual "<>" 4,
    /// Less.
    Less "<" 4,
    /// Less or the same.
    LessEqual "<=" 4,
    /// Greater.
    Greater ">" 4,
    /// Greater or the same.
    GreaterEqual ">=" 4,
    /// Sum.
    Add "+" 5,
    /// Difference.
    Subtract "-" 5,
    /// Product.
    Multiply "*" 6,
    /// Exact quotient: `7 / 2` is 3.5, whatever the types of the operands.
    Divide "/" 6,
    /// Whole quotient, rounded towards zero: `7 DIV 2` is 3.
    Quotient "DIV" 6,
    /// What `DIV` leaves; it has the sign of the left operand.
    Remainder "%" 6,
}

impl BinaryOp {
    /// The precedence of NOT: between AND and comparisons.
    pub const NOT_PRECEDENCE: u8 = 3;
    /// The precedence of comparisons, to which IS NULL belongs.
    pub const COMPARISON_PRECEDENCE: u8 = 4;
    /// The precedence of the sign.
    pub const SIGN_PRECEDENCE: u8 = 7;

    /// Whether it compares two values.
    pub fn is_comparison(self) -> bool {
        self.precedence() == BinaryOp::COMPARISON_PRECEDENCE
    }
}

impl fmt::Display for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sign())
    }
}

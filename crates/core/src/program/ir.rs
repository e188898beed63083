//! The tree of a program. Every node knows where it stands in the source.

use std::fmt;

use crate::level::LevelName;
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

impl Eq for Span {}

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
    /// Whether a statement outside START TRANSACTION … COMMIT is a transaction of its own. If not, a transaction begins
    /// with the first statement after the last one ended.
    pub autocommit: bool,
    /// What it does.
    pub body: Vec<Statement>,
    /// From `CREATE` to the final semicolon.
    pub span: Span,
}

impl Procedure {
    /// The parameters whose values a call gives back, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.mode != Mode::In)
    }
}

/// Which way the value of a parameter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The caller gives it.
    #[default]
    In,
    /// The procedure gives it; NULL at the start.
    Out,
    /// Both.
    InOut,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, in lower case.
    pub name: String,
    /// Which way its value goes.
    pub mode: Mode,
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

impl Statement {
    /// The lists of statements inside of it.
    pub fn bodies(&self) -> Vec<&Vec<Statement>> {
        match &self.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter().map(|branch| &branch.body).chain([otherwise]).collect()
            }
            StatementKind::While { body, .. }
            | StatementKind::Loop { body, .. }
            | StatementKind::ForEach { body, .. }
            | StatementKind::Block { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// The lists of statements inside of it, to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        match &mut self.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter_mut().map(|branch| &mut branch.body).chain([otherwise]).collect()
            }
            StatementKind::While { body, .. }
            | StatementKind::Loop { body, .. }
            | StatementKind::ForEach { body, .. }
            | StatementKind::Block { body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// The SQL that it sends itself, to be changed.
    pub fn sql_mut(&mut self) -> Option<&mut SqlStatement> {
        match &mut self.kind {
            StatementKind::Sql(sql) => Some(sql),
            StatementKind::ForEach { query, .. } | StatementKind::Open { query, .. } => Some(query),
            _ => None,
        }
    }
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
        /// What LEAVE and ITERATE call it.
        label: Option<String>,
        /// The condition.
        condition: Expr,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// Repeats its body until something leaves it.
    Loop {
        /// What LEAVE and ITERATE call it.
        label: Option<String>,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// Does its body once for each row of a query that is asked at the start. Afterwards `FOUND()` says whether there
    /// was one.
    ForEach {
        /// What LEAVE and ITERATE call it.
        label: Option<String>,
        /// What the columns of a row are assigned to.
        variables: Vec<Variable>,
        /// The query.
        query: SqlStatement,
        /// What is done for each row.
        body: Vec<Statement>,
    },
    /// Statements that can be left together.
    Block {
        /// What LEAVE calls it.
        label: String,
        /// The statements.
        body: Vec<Statement>,
    },
    /// Goes on behind the loop or block of that name, or behind the innermost loop.
    Leave(Option<String>),
    /// Goes on with the next round of the loop of that name, or of the innermost one.
    Iterate(Option<String>),
    /// Asks a query, and keeps its rows under this name.
    Open {
        /// The cursor.
        cursor: String,
        /// The query.
        query: SqlStatement,
    },
    /// Takes the next row of a cursor, if there is one; `FOUND()` says whether there was. If not, the variables stay.
    Fetch {
        /// The cursor.
        cursor: String,
        /// What the columns of the row are assigned to.
        variables: Vec<Variable>,
    },
    /// Forgets the rows of a cursor.
    Close(String),
    /// `START TRANSACTION`. A transaction that is open is committed before.
    Begin,
    /// `SET TRANSACTION ISOLATION LEVEL …`: of the next transaction, or of the open one that has done nothing yet.
    Isolation(LevelName),
    /// A commit point.
    Commit,
    /// Undoes the open transaction.
    Rollback,
    /// Ends the procedure with these outputs; without any, with the values of its OUT parameters.
    Return(Vec<Expr>),
    /// Fails the call: `SIGNAL`, `RAISE EXCEPTION`.
    Raise(Expr),
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
    Text(SqlText),
    /// The value of a variable: a *use*.
    Use(Variable),
    /// `INTO :a, :b`: a *definition* of these variables. Not sent; at most one in a statement.
    Into(IntoClause),
}

/// Text of a SQL statement. Two are equal if they say the same.
#[derive(Debug, Clone)]
pub struct SqlText {
    /// The text.
    pub text: String,
    /// How many of its first bytes were put there by us.
    pub lead: usize,
    /// Where the others come from. If that is as long as they are, it is they.
    pub span: Span,
}

impl PartialEq for SqlText {
    fn eq(&self, other: &SqlText) -> bool {
        self.text == other.text
    }
}

/// Where the answer to a statement goes.
#[derive(Debug, Clone, PartialEq)]
pub struct IntoClause {
    /// One variable per column.
    pub variables: Vec<Variable>,
    /// What happens if there is not exactly one row.
    pub rule: IntoRule,
}

/// What INTO does if there is not exactly one row. Languages differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IntoRule {
    /// None: NULL. Several: the call fails.
    #[default]
    Single,
    /// None: the variables stay as they were. Several: the call fails. (MySQL)
    Keep,
    /// None: NULL. Several: the first. (PL/pgSQL)
    First,
    /// None, several: the call fails. (PL/pgSQL's STRICT)
    Strict,
}

impl IntoRule {
    /// Every rule with the word that stands behind INTO.
    pub const NAMED: &'static [(IntoRule, &'static str)] =
        &[(IntoRule::Single, ""), (IntoRule::Keep, "KEEP"), (IntoRule::First, "FIRST"), (IntoRule::Strict, "STRICT")];

    /// The word that stands behind INTO; empty for the rule that needs none.
    pub fn word(self) -> &'static str {
        IntoRule::NAMED.iter().find(|(rule, _)| *rule == self).map_or("", |(_, word)| word)
    }
}

impl SqlStatement {
    /// The variables whose values the statement sends, in order of mention.
    pub fn uses(&self) -> impl Iterator<Item = &Variable> {
        self.parts.iter().filter_map(|part| match part {
            SqlPart::Use(variable) => Some(variable),
            _ => None,
        })
    }

    /// Where the statement's answer goes, if it has an INTO.
    pub fn into_clause(&self) -> Option<&IntoClause> {
        self.parts.iter().find_map(|part| match part {
            SqlPart::Into(into) => Some(into),
            _ => None,
        })
    }

    /// The variables that the statement's answer is assigned to, one per column; empty if there is no INTO.
    pub fn defines(&self) -> &[Variable] {
        self.into_clause().map_or(&[], |into| into.variables.as_slice())
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

impl Expr {
    /// True if it has more parts than that; looks at no more of them.
    pub fn exceeds(&self, parts: usize) -> bool {
        let (mut count, mut open) = (0, vec![self]);
        while let Some(expr) = open.pop().filter(|_| count <= parts) {
            count += 1;
            match &expr.kind {
                ExprKind::Negate(operand) | ExprKind::Not(operand) | ExprKind::IsNull { operand, .. } => {
                    open.push(operand)
                }
                ExprKind::Binary { left, right, .. } => open.extend([&**left, &**right]),
                _ => {}
            }
        }
        count > parts
    }

    /// The variables whose values it needs, each with the place where it is mentioned, from left to right.
    pub fn uses(&self) -> Vec<Variable> {
        let mut uses = Vec::new();
        self.collect_uses(&mut uses);
        uses
    }

    fn collect_uses(&self, uses: &mut Vec<Variable>) {
        match &self.kind {
            ExprKind::Variable(name) => uses.push(Variable { name: name.clone(), span: self.span }),
            ExprKind::Negate(operand) | ExprKind::Not(operand) | ExprKind::IsNull { operand, .. } => {
                operand.collect_uses(uses);
            }
            ExprKind::Binary { left, right, .. } => {
                left.collect_uses(uses);
                right.collect_uses(uses);
            }
            ExprKind::Literal(_) | ExprKind::Found | ExprKind::RowCount | ExprKind::Any => {}
        }
    }
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// The value of a variable.
    Variable(String),
    /// `FOUND()`: whether the last statement, FETCH or loop over rows had a row, or changed one.
    Found,
    /// `ROW_COUNT()`: how many rows the last statement returned or changed.
    RowCount,
    /// `ANY()`: a value that nobody knows. It can be analysed, not computed.
    Any,
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
    /// One text and then the other: `'no. ' || 7` is `'no. 7'`.
    Concat "||" 5,
    /// Sum.
    Add "+" 6,
    /// Difference.
    Subtract "-" 6,
    /// Product.
    Multiply "*" 7,
    /// Exact quotient: `7 / 2` is 3.5, whatever the types of the operands.
    Divide "/" 7,
    /// Whole quotient, rounded towards zero: `7 DIV 2` is 3.
    Quotient "DIV" 7,
    /// What `DIV` leaves; it has the sign of the left operand.
    Remainder "%" 7,
}

impl BinaryOp {
    /// The precedence of NOT: between AND and comparisons.
    pub const NOT_PRECEDENCE: u8 = 3;
    /// The precedence of comparisons, to which IS NULL belongs.
    pub const COMPARISON_PRECEDENCE: u8 = 4;
    /// The precedence of the sign.
    pub const SIGN_PRECEDENCE: u8 = 8;

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

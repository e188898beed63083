//! Small random programs, in a form of their own and as text.
//!
//! ```text
//!   CREATE TABLE t (id INT PRIMARY KEY, a INT);
//!   CREATE PROCEDURE p(k INT, n INT)
//!   BEGIN
//!     DECLARE v INT; DECLARE w INT;
//!     SELECT a INTO :v FROM t WHERE id = :k;
//!     IF :v > 0 THEN UPDATE t SET a = :v + :n WHERE id = :k; END IF;
//!     COMMIT;
//!     RETURN :v;
//!   END;
//! ```
//!
//! `k` and `j` name rows, `n` is a number. Nothing here is read back from the text: what the parser makes of it is the
//! search's matter.

use std::fmt;

use crate::generate::random::Random;

/// Columns that a table has at most, beside its key.
pub(super) const COLUMNS_MAX: usize = 2;
/// Names of columns; the second table goes on where the first ends.
const COLUMNS: [[&str; COLUMNS_MAX]; 2] = [["a", "b"], ["c", "d"]];
const TABLES: [&str; 2] = ["t", "u"];
const PROCEDURES: [&str; 2] = ["p", "q"];
/// What procedures may be given.
pub(super) const PARAMETERS: [&str; 3] = ["k", "j", "n"];
/// The one that is a number, and no key.
pub(super) const NUMBER: usize = 2;
/// What procedures may remember.
pub(super) const VARIABLES: [&str; 2] = ["v", "w"];

/// Tables and procedures.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// For each table, how many columns it has beside its key.
    pub(super) tables: Vec<usize>,
    /// For each table, whether its first column is unique.
    pub(super) unique: Vec<bool>,
    /// Whether the first column of the second table refers to the first one.
    pub(super) refers: bool,
    pub(super) procedures: Vec<Procedure>,
}

/// A procedure: one transaction.
#[derive(Debug, Clone)]
pub(super) struct Procedure {
    pub(super) body: Vec<Step>,
    /// The variable that it answers with.
    pub(super) returns: Option<usize>,
}

/// A statement, perhaps under a condition.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) only_if: Option<Condition>,
    pub(super) statement: Statement,
}

/// What is sent to the database.
#[derive(Debug, Clone)]
pub(super) enum Statement {
    Select { table: usize, column: usize, key: Operand, into: usize },
    Count { table: usize, condition: Condition, into: usize },
    Update { table: usize, column: usize, key: Operand, only_if: Option<Condition>, value: Vec<Operand> },
    Insert { table: usize, key: Operand, values: Vec<Operand> },
    Delete { table: usize, key: Operand },
}

/// A comparison.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) left: Operand,
    pub(super) relation: Relation,
    pub(super) right: Operand,
}

/// How numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Greater,
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    Constant(i64),
    Parameter(usize),
    Variable(usize),
    /// A column of the row that a statement is at: the table and the column.
    Column(usize, usize),
}

impl Statement {
    /// The table that it touches.
    pub(super) fn table(&self) -> usize {
        match self {
            Statement::Select { table, .. }
            | Statement::Count { table, .. }
            | Statement::Update { table, .. }
            | Statement::Insert { table, .. }
            | Statement::Delete { table, .. } => *table,
        }
    }

    /// The id of the one row that it is about; a COUNT looks at all.
    pub(super) fn key(&self) -> Option<Operand> {
        match self {
            Statement::Count { .. } => None,
            Statement::Select { key, .. }
            | Statement::Update { key, .. }
            | Statement::Insert { key, .. }
            | Statement::Delete { key, .. } => Some(*key),
        }
    }

    fn operands(&self) -> Vec<Operand> {
        let of = |condition: &Condition| vec![condition.left, condition.right];
        match self {
            Statement::Select { table, column, key, .. } => vec![*key, Operand::Column(*table, *column)],
            Statement::Count { condition, .. } => of(condition),
            Statement::Update { table, column, key, only_if, value } => {
                let condition = only_if.iter().flat_map(of);
                value.iter().copied().chain(condition).chain([*key, Operand::Column(*table, *column)]).collect()
            }
            Statement::Insert { key, values, .. } => values.iter().copied().chain([*key]).collect(),
            Statement::Delete { key, .. } => vec![*key],
        }
    }
}

impl Program {
    /// Whether there are other constraints than primary keys.
    pub(super) fn has_constraints(&self) -> bool {
        self.refers || self.unique.contains(&true)
    }
}

impl Procedure {
    /// Every number that it mentions; an INSERT mentions no column.
    pub(super) fn operands(&self) -> impl Iterator<Item = Operand> {
        self.body.iter().flat_map(|step| {
            let condition = step.only_if.iter().flat_map(|condition| [condition.left, condition.right]);
            condition.chain(step.statement.operands()).collect::<Vec<_>>()
        })
    }

    /// The parameters that it has: those that it uses.
    pub(super) fn parameters(&self) -> Vec<usize> {
        let uses = |parameter: &usize| self.operands().any(|operand| operand == Operand::Parameter(*parameter));
        (0..PARAMETERS.len()).filter(uses).collect()
    }
}

/// The name of a table.
pub(super) fn table_name(table: usize) -> &'static str {
    TABLES[table]
}

/// The name of a column.
pub(super) fn column_name(table: usize, column: usize) -> &'static str {
    COLUMNS[table][column]
}

/// A random program: at most two tables and two procedures of at most three statements.
pub(super) fn random(random: &mut Random) -> Program {
    let tables = match random.below(4) {
        0 | 1 => vec![1],
        2 => vec![2],
        _ => vec![1, 1],
    };
    let count = 1 + random.below(PROCEDURES.len());
    let procedures = (0..count).map(|_| procedure(random, &tables)).collect();
    // Drawn last, so that the statements of a seed stay what they are.
    let unique = tables.iter().map(|_| random.chance(1, 4)).collect();
    let refers = tables.len() > 1 && random.chance(1, 2);
    Program { tables, unique, refers, procedures }
}

fn procedure(random: &mut Random, tables: &[usize]) -> Procedure {
    let count = 1 + random.below(3);
    let mut known = Vec::new();
    let mut body = Vec::new();
    for _ in 0..count {
        let statement = statement(random, tables, &known);
        let is_write = !matches!(statement, Statement::Select { .. } | Statement::Count { .. });
        let only_if = match random.pick(&known) {
            Some(variable) if is_write && random.chance(1, 3) => Some(condition(random, Operand::Variable(*variable))),
            _ => None,
        };
        if let Statement::Select { into, .. } | Statement::Count { into, .. } = statement {
            known.push(into);
        }
        body.push(Step { only_if, statement });
    }
    let returns = random.pick(&known).copied().filter(|_| random.chance(2, 3));
    Procedure { body, returns }
}

fn statement(random: &mut Random, tables: &[usize], known: &[usize]) -> Statement {
    let table = random.below(tables.len());
    let column = random.below(tables[table]);
    let key = match random.below(8) {
        0 => Operand::Constant(1),
        1 | 2 => Operand::Parameter(1),
        _ => Operand::Parameter(0),
    };
    let into = random.below(VARIABLES.len());
    match random.below(12) {
        0..=2 => Statement::Select { table, column, key, into },
        3 | 4 => Statement::Count { table, condition: condition(random, Operand::Column(table, column)), into },
        5..=8 => {
            let only_if = random.chance(1, 5).then(|| condition(random, Operand::Column(table, column)));
            Statement::Update { table, column, key, only_if, value: sum(random, table, column, known) }
        }
        9 | 10 => {
            let values = (0..tables[table]).map(|_| number(random, known)).collect();
            Statement::Insert { table, key, values }
        }
        _ => Statement::Delete { table, key },
    }
}

/// What a column is set to: a number, or a sum of the column or a variable and a number.
fn sum(random: &mut Random, table: usize, column: usize, known: &[usize]) -> Vec<Operand> {
    let first = match (random.below(3), random.pick(known)) {
        (0, _) => Operand::Column(table, column),
        (1, Some(variable)) => Operand::Variable(*variable),
        _ => return vec![number(random, known)],
    };
    let constant = Operand::Constant(1);
    vec![first, *random.pick(&[constant, Operand::Parameter(NUMBER)]).unwrap_or(&constant)]
}

fn number(random: &mut Random, known: &[usize]) -> Operand {
    match (random.below(6), random.pick(known)) {
        (0, _) => Operand::Constant(random.between(0, 1)),
        (1 | 2, Some(variable)) => Operand::Variable(*variable),
        _ => Operand::Parameter(NUMBER),
    }
}

fn condition(random: &mut Random, left: Operand) -> Condition {
    let relation = *random.pick(&[Relation::Equal, Relation::NotEqual, Relation::Greater]).unwrap_or(&Relation::Equal);
    let right = match random.below(4) {
        0 => Operand::Parameter(NUMBER),
        constant => Operand::Constant(constant as i64 % 2),
    };
    Condition { left, relation, right }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Constant(value) => write!(f, "{value}"),
            Operand::Parameter(parameter) => write!(f, ":{}", PARAMETERS[*parameter]),
            Operand::Variable(variable) => write!(f, ":{}", VARIABLES[*variable]),
            Operand::Column(table, column) => f.write_str(column_name(*table, *column)),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = match self.relation {
            Relation::Equal => "=",
            Relation::NotEqual => "<>",
            Relation::Greater => ">",
        };
        write!(f, "{} {relation} {}", self.left, self.right)
    }
}

fn list<T: fmt::Display>(items: impl IntoIterator<Item = T>, between: &str) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(between)
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = TABLES[self.table()];
        match self {
            Statement::Select { table, column, key, into } => {
                let column = column_name(*table, *column);
                write!(f, "SELECT {column} INTO :{} FROM {name} WHERE id = {key}", VARIABLES[*into])
            }
            Statement::Count { condition, into, .. } => {
                write!(f, "SELECT COUNT(*) INTO :{} FROM {name} WHERE {condition}", VARIABLES[*into])
            }
            Statement::Update { table, column, key, only_if, value } => {
                let column = column_name(*table, *column);
                write!(f, "UPDATE {name} SET {column} = {} WHERE id = {key}", list(value, " + "))?;
                only_if.as_ref().map_or(Ok(()), |condition| write!(f, " AND {condition}"))
            }
            Statement::Insert { table, key, values } => {
                let columns = (0..values.len()).map(|column| column_name(*table, column));
                write!(f, "INSERT INTO {name} (id, {}) VALUES ({key}, {})", list(columns, ", "), list(values, ", "))
            }
            Statement::Delete { key, .. } => write!(f, "DELETE FROM {name} WHERE id = {key}"),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "-- @program 1")?;
        for (table, columns) in self.tables.iter().enumerate() {
            let columns = (0..*columns).map(|column| {
                let unique = if column == 0 && self.unique[table] { " UNIQUE" } else { "" };
                let refers = if column == 0 && table == 1 && self.refers { " REFERENCES t (id)" } else { "" };
                format!("{} INT{unique}{refers}", column_name(table, column))
            });
            writeln!(f, "CREATE TABLE {} (id INT PRIMARY KEY, {});", TABLES[table], list(columns, ", "))?;
        }
        for (procedure, name) in self.procedures.iter().zip(PROCEDURES) {
            let parameters = procedure.parameters().into_iter().map(|at| format!("{} INT", PARAMETERS[at]));
            writeln!(f, "CREATE PROCEDURE {name}({})\nBEGIN", list(parameters, ", "))?;
            VARIABLES.iter().try_for_each(|variable| writeln!(f, "  DECLARE {variable} INT;"))?;
            for Step { only_if, statement } in &procedure.body {
                match only_if {
                    Some(condition) => writeln!(f, "  IF {condition} THEN {statement}; END IF;")?,
                    None => writeln!(f, "  {statement};")?,
                }
            }
            writeln!(f, "  COMMIT;")?;
            if let Some(variable) = procedure.returns {
                writeln!(f, "  RETURN :{};", VARIABLES[variable])?;
            }
            writeln!(f, "END;")?;
        }
        Ok(())
    }
}

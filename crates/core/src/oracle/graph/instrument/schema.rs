//! What the setup creates: tables with their keys, constraints and version columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlparser::ast::{
    ColumnDef, ColumnOption, ColumnOptionDef, ConstraintCharacteristics, CreateIndex, CreateTable, DataType,
    DeferrableInitial, Expr, ForeignKeyConstraint, Ident, IndexColumn, ObjectName, ReferentialAction, TableConstraint,
};

use super::text::{last_plain, plain};
use super::versions::{integer, number};
use super::{Constraint, Skip, Table};

/// The names that a version column may have; an added one gets the first that is free.
const VERSION_NAMES: &[&str] = &["ver", "version", "vkey"];

/// What a row that the setup inserts without a version gets, where we added the column.
pub(super) const FIRST_VERSION: i64 = 0;

/// The tables of a case, by their plain names.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub(super) tables: BTreeMap<Arc<str>, Definition>,
}

/// A table as CREATE TABLE defines it.
#[derive(Debug)]
pub(super) struct Definition {
    /// Its name, as it is spelled there.
    pub(super) name: ObjectName,
    /// The columns that the case gave it: without a version column that we added.
    pub(super) columns: Vec<Ident>,
    /// The primary key.
    pub(super) key: Vec<Ident>,
    /// The version column.
    pub(super) version: Ident,
    /// Whether we added it; then it is the last one.
    pub(super) is_added: bool,
    /// The version of a row that is inserted without one.
    pub(super) version_default: Option<i64>,
    uniques: Vec<Vec<Ident>>,
    references: Vec<Reference>,
}

/// A foreign key.
#[derive(Debug)]
struct Reference {
    columns: Vec<Ident>,
    table: String,
    /// Empty: the primary key.
    referred: Vec<Ident>,
}

impl Definition {
    /// Where the version stands in a row.
    pub(super) fn version_position(&self) -> usize {
        let found = self.columns.iter().position(|column| plain(column) == plain(&self.version));
        found.unwrap_or(self.columns.len())
    }

    pub(super) fn is_key(&self, column: &str) -> bool {
        self.key.iter().any(|key| plain(key) == column)
    }

    pub(super) fn is_unique(&self, column: &str) -> bool {
        self.uniques.iter().flatten().any(|unique| plain(unique) == column)
    }

    pub(super) fn has_column(&self, column: &str) -> bool {
        plain(&self.version) == column || self.columns.iter().any(|own| plain(own) == column)
    }
}

impl Schema {
    /// The table of that name.
    pub(super) fn find(&self, name: &ObjectName) -> Option<(&Arc<str>, &Definition)> {
        self.tables.get_key_value(last_plain(name).as_str())
    }

    /// The table of that name, which a statement writes.
    pub(super) fn written(&self, name: &ObjectName) -> Result<(&Arc<str>, &Definition), Skip> {
        self.find(name).ok_or(Skip("a table that the setup does not create"))
    }

    /// Takes note of a table; gives it a version column if it has none.
    pub(super) fn create(&mut self, create: &mut CreateTable) -> Result<(), Skip> {
        let definition = define(create)?;
        match self.tables.insert(last_plain(&create.name).into(), definition) {
            Some(_) => Err(Skip("two tables of one name")),
            None => Ok(()),
        }
    }

    /// Takes note of an index: a unique one is a unique key. One of some rows only is taken for one of all: an edge too
    /// many does no harm.
    pub(super) fn index(&mut self, index: &CreateIndex) -> Result<(), Skip> {
        if index.unique {
            let table = self.tables.get_mut(last_plain(&index.table_name).as_str());
            let table = table.ok_or(Skip("a table that the setup does not create"))?;
            let columns = columns_of(&index.columns)?;
            refuse_version(&columns, &table.version)?;
            table.uniques.push(columns);
        }
        Ok(())
    }

    /// The tables as others see them, once all are known.
    pub(super) fn finish(&self) -> Result<BTreeMap<Arc<str>, Table>, Skip> {
        let mut ends: BTreeMap<&str, Vec<End>> = BTreeMap::new();
        for (name, table) in &self.tables {
            for columns in &table.uniques {
                let unique = format!("unique key {name}{}", list(columns));
                ends.entry(name).or_default().push(End { name: unique.into(), columns, referenced: false });
            }
            for reference in &table.references {
                let unknown = Skip("a foreign key to a table that the setup does not create");
                let (parent, definition) = self.tables.get_key_value(reference.table.as_str()).ok_or(unknown)?;
                let referred = if reference.referred.is_empty() { &definition.key } else { &reference.referred };
                refuse_version(referred, &definition.version)?;
                let [from, to] = [list(&reference.columns), list(referred)];
                let key: Arc<str> = format!("foreign key {name}{from} to {parent}{to}").into();
                let child = End { name: key.clone(), columns: &reference.columns, referenced: false };
                ends.entry(name).or_default().push(child);
                ends.entry(parent).or_default().push(End { name: key, columns: referred, referenced: true });
            }
        }
        let table = |(name, table): (&Arc<str>, &Definition)| {
            (name.clone(), finished(table, ends.get(&**name).map_or(&[], Vec::as_slice)))
        };
        Ok(self.tables.iter().map(table).collect())
    }
}

/// What a constraint looks up in one table.
struct End<'a> {
    name: Arc<str>,
    columns: &'a [Ident],
    referenced: bool,
}

fn list(columns: &[Ident]) -> String {
    format!("({})", columns.iter().map(plain).collect::<Vec<_>>().join(", "))
}

fn finished(table: &Definition, ends: &[End<'_>]) -> Table {
    let mut read: Vec<&Ident> = table.key.iter().chain([&table.version]).collect();
    let unprobed = read.len();
    let mut constraints = Vec::new();
    for end in ends {
        let mut columns = Vec::new();
        for column in end.columns {
            let position = read.iter().position(|known| plain(known) == plain(column)).unwrap_or_else(|| {
                read.push(column);
                read.len() - 1
            });
            columns.push(position);
        }
        constraints.push(Constraint { name: end.name.clone(), columns, referenced: end.referenced });
    }
    Table {
        key: table.key.iter().map(Ident::to_string).collect(),
        version: table.version.to_string(),
        probed: read[unprobed..].iter().map(ToString::to_string).collect(),
        constraints,
    }
}

fn define(create: &mut CreateTable) -> Result<Definition, Skip> {
    if create.temporary {
        return Err(Skip("a temporary table"));
    }
    if create.query.is_some() || create.like.is_some() || create.clone.is_some() || create.inherits.is_some() {
        return Err(Skip("a table that is made from another one"));
    }
    if create.partition_of.is_some() {
        return Err(Skip("a table that is part of another one"));
    }
    if create.columns.iter().any(is_numbered) {
        return Err(Skip("numbers that the server hands out"));
    }
    let mut keys = Keys::default();
    for column in &create.columns {
        for option in &column.options {
            keys.option(&column.name, &option.option)?;
        }
    }
    for constraint in &create.constraints {
        keys.constraint(constraint)?;
    }
    if keys.primary.is_empty() {
        return Err(Skip("a table without a primary key"));
    }
    let columns: Vec<Ident> = create.columns.iter().map(|column| column.name.clone()).collect();
    let (version, is_added) = match create.columns.iter().find(|column| is_version(column)) {
        Some(column) => (column.name.clone(), false),
        None => (add_version(create)?, true),
    };
    for key in [&keys.primary].into_iter().chain(&keys.uniques).chain(keys.references.iter().map(|key| &key.columns)) {
        refuse_version(key, &version)?;
    }
    let version_default = create.columns.iter().find(|column| column.name == version).and_then(default);
    let Keys { primary: key, uniques, references } = keys;
    let name = create.name.clone();
    Ok(Definition { name, columns, key, version, is_added, version_default, uniques, references })
}

fn refuse_version(key: &[Ident], version: &Ident) -> Result<(), Skip> {
    let is_part = key.iter().any(|column| plain(column) == plain(version));
    if is_part { Err(Skip("a version column that is part of a key")) } else { Ok(()) }
}

fn is_version(column: &ColumnDef) -> bool {
    let is_generated = |option: &ColumnOptionDef| matches!(option.option, ColumnOption::Generated { .. });
    VERSION_NAMES.contains(&plain(&column.name).as_str())
        && is_integer(&column.data_type)
        && !column.options.iter().any(is_generated)
}

fn is_integer(data_type: &DataType) -> bool {
    use DataType::{BigInt, Int, Int4, Int8, Integer, MediumInt, SmallInt};
    matches!(data_type, Int(_) | Integer(_) | BigInt(_) | Int4(_) | Int8(_) | SmallInt(_) | MediumInt(_))
}

/// Adds `ver INT NOT NULL DEFAULT 0`, or the same by another name.
fn add_version(create: &mut CreateTable) -> Result<Ident, Skip> {
    let taken = |name: &&&str| create.columns.iter().any(|column| plain(&column.name) == **name);
    let free = VERSION_NAMES.iter().find(|name| !taken(name));
    let name = Ident::new(*free.ok_or(Skip("no name is free for a version column"))?);
    let option = |option: ColumnOption| ColumnOptionDef { name: None, option };
    let options = vec![option(ColumnOption::NotNull), option(ColumnOption::Default(number(FIRST_VERSION)))];
    create.columns.push(ColumnDef { name: name.clone(), data_type: DataType::Int(None), options });
    Ok(name)
}

fn default(column: &ColumnDef) -> Option<i64> {
    column.options.iter().find_map(|option| match &option.option {
        ColumnOption::Default(value) => integer(value),
        _ => None,
    })
}

/// AUTO_INCREMENT, SERIAL, IDENTITY.
fn is_numbered(column: &ColumnDef) -> bool {
    let is_auto = |option: &ColumnOptionDef| match &option.option {
        ColumnOption::Identity(_) => true,
        ColumnOption::Generated { generation_expr, .. } => generation_expr.is_none(),
        ColumnOption::DialectSpecific(tokens) => tokens.iter().any(|token| {
            let word = token.to_string().to_uppercase();
            word == "AUTO_INCREMENT" || word == "AUTOINCREMENT"
        }),
        _ => false,
    };
    let data_type = column.data_type.to_string().to_uppercase();
    data_type.contains("SERIAL") || column.options.iter().any(is_auto)
}

/// The keys of a table.
#[derive(Default)]
struct Keys {
    primary: Vec<Ident>,
    uniques: Vec<Vec<Ident>>,
    references: Vec<Reference>,
}

impl Keys {
    fn option(&mut self, column: &Ident, option: &ColumnOption) -> Result<(), Skip> {
        match option {
            ColumnOption::PrimaryKey(key) => {
                refuse_deferred(key.characteristics.as_ref())?;
                self.primary = vec![column.clone()];
            }
            ColumnOption::Unique(key) => {
                refuse_deferred(key.characteristics.as_ref())?;
                self.uniques.push(vec![column.clone()]);
            }
            ColumnOption::ForeignKey(key) => self.references.push(reference(key, vec![column.clone()])?),
            _ => {}
        }
        Ok(())
    }

    fn constraint(&mut self, constraint: &TableConstraint) -> Result<(), Skip> {
        match constraint {
            TableConstraint::PrimaryKey(key) => {
                refuse_deferred(key.characteristics.as_ref())?;
                self.primary = columns_of(&key.columns)?;
            }
            TableConstraint::Unique(key) => {
                refuse_deferred(key.characteristics.as_ref())?;
                self.uniques.push(columns_of(&key.columns)?);
            }
            TableConstraint::ForeignKey(key) => self.references.push(reference(key, key.columns.clone())?),
            TableConstraint::Check(_) | TableConstraint::Index(_) | TableConstraint::FulltextOrSpatial(_) => {}
            _ => return Err(Skip("a constraint that is neither a key nor a check")),
        }
        Ok(())
    }
}

fn columns_of(columns: &[IndexColumn]) -> Result<Vec<Ident>, Skip> {
    let column = |column: &IndexColumn| match &column.column.expr {
        Expr::Identifier(name) => Ok(name.clone()),
        _ => Err(Skip("a key of expressions")),
    };
    columns.iter().map(column).collect()
}

fn reference(key: &ForeignKeyConstraint, columns: Vec<Ident>) -> Result<Reference, Skip> {
    use ReferentialAction::{NoAction, Restrict};
    refuse_deferred(key.characteristics.as_ref())?;
    if [&key.on_delete, &key.on_update].into_iter().flatten().any(|action| !matches!(action, Restrict | NoAction)) {
        return Err(Skip("a foreign key that writes"));
    }
    Ok(Reference { columns, table: last_plain(&key.foreign_table), referred: key.referred_columns.clone() })
}

/// A constraint that is checked at COMMIT is checked at other places without transactions.
fn refuse_deferred(characteristics: Option<&ConstraintCharacteristics>) -> Result<(), Skip> {
    let initially = characteristics.and_then(|characteristics| characteristics.initially.as_ref());
    if matches!(initially, Some(DeferrableInitial::Deferred)) {
        return Err(Skip("a deferred constraint"));
    }
    Ok(())
}

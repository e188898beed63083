//! The shadow of a random schema: what a profile made, with keys and distributions.
//!
//! Tables, types and references come from the generator of cases; its rows do not, as there are to be many more, and
//! known ones. What a shadow does not follow is refused rather than broken by a workload later: further unique keys,
//! CHECK constraints, numbers that the server hands out, tables without a key.

use super::column::{ColumnError, Form, VirtualColumn};
use super::distribution::Distribution;
use super::keys::KeyPlan;
use super::schema::{AttributePlan, LinkPlan, NamedColumn, ReferencePlan, Schema, SchemaError, SchemaErrorKind, Table};
use crate::generate::schema as generated;
use generated::Kind;

/// 2024-01-01.
const FIRST_DAY: i64 = 19_723;
/// What all texts begin with, so that none is a word that means something.
const TEXT_PREFIX: &str = "v";

/// What a profile does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// The keys of every table.
    pub keys: KeyPlan,
    /// How many different values an attribute's column has; fewer if its type has fewer.
    pub domain: u64,
    /// The distribution of attributes.
    pub attributes: Distribution,
    /// The distribution of references.
    pub references: Distribution,
    /// Whether rows that are inserted may refer to parents that come and go.
    pub dynamic_parents: bool,
}

/// A generated schema, as a shadow needs it.
pub fn schema(from: &generated::Schema, sizes: &Sizes) -> Result<Schema, SchemaError> {
    let tables: Result<Vec<Table>, _> = from
        .tables
        .iter()
        .map(|table| {
            let failed = |kind| SchemaError { table: table.name.clone(), kind };
            convert(from, table, sizes).map_err(failed)
        })
        .collect();
    Ok(Schema { tables: tables? })
}

fn convert(from: &generated::Schema, table: &generated::Table, sizes: &Sizes) -> Result<Table, SchemaErrorKind> {
    let refused = [
        (table.primary_key.is_empty(), "no primary key"),
        (!table.unique_keys.is_empty(), "unique keys beside the primary key"),
        (table.columns.iter().any(|column| column.check.is_some()), "CHECK constraints"),
        (table.columns.iter().any(|column| column.auto_increment), "numbers that the server hands out"),
    ];
    if let Some((_, what)) = refused.into_iter().find(|(found, _)| *found) {
        return Err(SchemaErrorKind::Unfollowed(what));
    }
    let mut left = sizes.keys.count;
    let mut key = Vec::new();
    for (at, column) in table.key_columns().enumerate() {
        // Several columns share the work: each takes the root of what is left, rounded up.
        let share = root(left, table.primary_key.len() - at);
        let column = named(column, share)?;
        left = left.div_ceil(column.column.domain());
        key.push(column);
    }
    let referring = |at: &usize| table.foreign_keys.iter().any(|foreign| foreign.columns.contains(at));
    let attributes = (0..table.columns.len()).filter(|at| !table.primary_key.contains(at) && !referring(at));
    let attributes = attributes.map(|at| {
        let columns = vec![named(&table.columns[at], sizes.domain)?];
        // Every other attribute is one that updates leave alone: conditions on it are certain to find something.
        Ok(AttributePlan { columns, distribution: sizes.attributes.clone(), fixed: at % 2 == 1 })
    });
    let references = table.foreign_keys.iter().map(|foreign| ReferencePlan {
        columns: foreign.columns.iter().map(|at| table.columns[*at].name.clone()).collect(),
        table: from.tables[foreign.table].name.clone(),
        link: LinkPlan::Drawn { distribution: sizes.references.clone(), dynamic_parents: sizes.dynamic_parents },
    });
    Ok(Table {
        name: table.name.clone(),
        key,
        keys: sizes.keys.clone(),
        attributes: attributes.collect::<Result<_, SchemaErrorKind>>()?,
        references: references.collect(),
    })
}

/// The smallest number whose power is at least `number`.
fn root(number: u64, power: usize) -> u64 {
    let reaches = |base: u64| base.checked_pow(power as u32).is_none_or(|reached| reached >= number);
    let guess = (number as f64).powf(1.0 / power.max(1) as f64) as u64;
    (guess.saturating_sub(1).max(1)..).find(|base| reaches(*base)).unwrap_or(number)
}

fn named(column: &generated::Column, domain: u64) -> Result<NamedColumn, SchemaErrorKind> {
    let form = form(column);
    let column_of = |domain| VirtualColumn::new(form.clone(), domain);
    let made = match column_of(domain) {
        // A truth value has two values, however many are wanted.
        Err(ColumnError::TooMany { most, .. }) if most > 0 => column_of(most),
        made => made,
    };
    let column_made = made.map_err(SchemaErrorKind::Column)?;
    Ok(NamedColumn { name: column.name.clone(), column: limited(column, column_made)? })
}

/// As many values as the column's type has room for.
fn limited(column: &generated::Column, made: VirtualColumn) -> Result<VirtualColumn, SchemaErrorKind> {
    let text = column.type_text.to_ascii_uppercase();
    let most = match column.kind {
        Kind::Integer if text.contains("TINY") => i8::MAX as u64,
        Kind::Integer if text.contains("SMALL") => i16::MAX as u64,
        Kind::Integer if !text.contains("BIG") => i32::MAX as u64,
        // Two decimals, and at least eight digits in all.
        Kind::Decimal => 9_999_999,
        _ => u64::MAX,
    };
    let domain = made.domain().min(most);
    VirtualColumn::new(made.form().clone(), domain).map_err(SchemaErrorKind::Column)
}

fn form(column: &generated::Column) -> Form {
    match column.kind {
        Kind::Integer => Form::Integer { first: 0, step: 1 },
        Kind::Decimal => Form::Decimal { first: 0, scale: 2 },
        Kind::Float => Form::Quarters { first: 0 },
        Kind::Text => Form::Text { prefix: TEXT_PREFIX.into(), length: 0 },
        Kind::Date => Form::Date { first: FIRST_DAY },
        Kind::Time => Form::Time,
        Kind::Timestamp => Form::Timestamp { first: FIRST_DAY * super::calendar::DAY_SECONDS },
        Kind::Bytes => Form::Bytes { width: 8 },
        Kind::Boolean => Form::Boolean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Postgres;
    use crate::engine::{Capabilities, EngineInfo, Version};
    use crate::generate::Demands;
    use crate::generate::language::Language;
    use crate::generate::profile;
    use crate::generate::random::Random;
    use crate::generate::schema::make;
    use crate::level::LevelName;
    use crate::shadow::{Locking, Shadow};

    fn sizes(count: u64) -> Sizes {
        Sizes {
            keys: KeyPlan { count, dynamic: 0.2, present: 0.5, access: Distribution::Zipf(0.4) },
            domain: 50,
            attributes: Distribution::Zipf(1.0),
            references: Distribution::Uniform,
            dynamic_parents: true,
        }
    }

    fn random_schema(seed: u64) -> generated::Schema {
        let model = profile::shipped("dbstorm").unwrap();
        let target = EngineInfo {
            target: "test".into(),
            family: "test",
            version: Version::parse("15.18"),
            settings: Vec::new(),
            dialect: &Postgres,
            levels: Vec::new(),
            default_level: LevelName::custom("serializable"),
            capabilities: Capabilities::default(),
            client: None,
        };
        make::schema(&model, &Language::of(&[target]), Demands::default(), &mut Random::new(seed, &[]))
    }

    #[test]
    fn every_schema_of_the_profile_has_a_shadow() {
        let mut references = 0;
        for seed in 0..200 {
            let schema = schema(&random_schema(seed), &sizes(1_000)).unwrap();
            references += schema.tables.iter().map(|table| table.references.len()).sum::<usize>();
            let shadow = Shadow::new(schema, Locking::Early, seed).unwrap();
            for table in shadow.tables() {
                assert!(table.key().domain() >= 1_000 && table.key().domain() < 1_100, "{}", table.key().domain());
            }
        }
        assert!(references > 20, "{references}");
    }

    #[test]
    fn roots_are_rounded_up() {
        assert_eq!(
            [(1_000, 2), (1_000, 1), (9, 2), (10, 2), (1, 3)].map(|(n, power)| root(n, power)),
            [32, 1_000, 3, 4, 1]
        );
    }

    #[test]
    fn what_is_not_followed_is_refused() {
        let mut from = random_schema(1);
        from.tables[0].unique_keys.push(vec![0]);
        let expect = "it has unique keys beside the primary key, which a shadow does not follow; use a profile without";
        let table = &from.tables[0].name;
        assert_eq!(schema(&from, &sizes(10)).unwrap_err().to_string(), format!("table {table}: {expect}"));
    }
}

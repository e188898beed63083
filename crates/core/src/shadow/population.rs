//! The rows of a table at the start, to be loaded.
//!
//! What a row holds is computed from its key ([`attribute`](super::attribute), [`reference`](mod@super::reference)), so
//! the whole table is a function of positions, and positions are virtual keys:
//!
//! ```text
//!   position 7 ──→ does key 7 exist at the start? ──→ Φ(7) │ attributes of 7 │ references of 7 │ version 0
//! ```
//!
//! The same seed gives the same rows, however many threads load them.

use super::column::{Columns, Form, VirtualColumn};
use super::schema::LinkPlan;
use super::sql::Sql;
use super::table::Shadow;
use crate::bulk::{Bulk, Cells};

/// The rows that a table of a shadow begins with. Their columns are in the order of [`Sql::columns`].
#[derive(Debug)]
pub struct Population<'a> {
    shadow: &'a Shadow,
    table: usize,
    columns: Vec<String>,
}

impl<'a> Population<'a> {
    /// The rows of the table at this position.
    pub fn new(shadow: &'a Shadow, sql: &Sql, table: usize) -> Population<'a> {
        Population { shadow, table, columns: sql.columns(table).into_iter().map(str::to_string).collect() }
    }

    /// The rows of all tables, parents before children.
    pub fn all(shadow: &'a Shadow, sql: &Sql) -> Vec<Population<'a>> {
        shadow.load_order().iter().map(|table| Population::new(shadow, sql, *table)).collect()
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.shadow.tables()[self.table].keys().count_at_start()
    }
}

impl Bulk for Population<'_> {
    fn table(&self) -> &str {
        &self.shadow.schema().tables[self.table].name
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn positions(&self) -> u64 {
        self.shadow.tables()[self.table].keys().count()
    }

    fn row(&self, key: u64, cells: &mut Cells) -> bool {
        let tables = self.shadow.tables();
        let table = &tables[self.table];
        if !table.keys().exists_at_start(key) {
            return false;
        }
        write(table.key(), key, cells);
        for attribute in table.attributes() {
            write(attribute.columns(), attribute.initial(key), cells);
        }
        let plans = &self.shadow.schema().tables[self.table].references;
        for (reference, plan) in table.references().iter().zip(plans) {
            // The columns of a prefix are the key's own.
            if plan.link != LinkPlan::Prefix {
                let parent = &tables[reference.table()];
                write(parent.key(), reference.initial(key, parent.keys()), cells);
            }
        }
        cells.integer(0);
        true
    }
}

/// Φ, for all columns.
fn write(columns: &Columns, number: u64, cells: &mut Cells) {
    for (at, column) in columns.columns().iter().enumerate() {
        write_one(column, columns.digit(number, at), cells);
    }
}

fn write_one(column: &VirtualColumn, number: u64, cells: &mut Cells) {
    match column.form() {
        Form::Integer { .. } | Form::Decimal { .. } | Form::Quarters { .. } => {
            cells.number_by(|out| column.write(number, out));
        }
        Form::Bytes { width } => cells.bytes(&number.to_be_bytes()[8 - width..]),
        Form::Boolean => cells.boolean(number == 1),
        Form::Text { .. } | Form::Words(_) | Form::Date { .. } | Form::Time | Form::Timestamp { .. } => {
            cells.text_by(|out| column.write(number, out));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Postgres;
    use crate::engine::Version;
    use crate::shadow::keys::KeyPlan;
    use crate::shadow::schema::{AttributePlan, NamedColumn, ReferencePlan, Schema, Table};
    use crate::shadow::{Distribution, Locking};
    use crate::value::Value;

    fn named(name: &str, form: Form, domain: u64) -> NamedColumn {
        NamedColumn { name: name.to_string(), column: VirtualColumn::new(form, domain).expect("a column") }
    }

    fn attribute(column: NamedColumn) -> AttributePlan {
        AttributePlan { columns: vec![column], distribution: Distribution::Zipf(0.5), fixed: false }
    }

    /// Parents with a key of two columns; children by prefix and by a drawn reference, with every form.
    fn schema() -> Schema {
        let key = || vec![named("a", Form::Integer { first: 5, step: 3 }, 10), named("b", Form::Time, 7)];
        let parents = Table {
            name: "parents".to_string(),
            key: key(),
            keys: KeyPlan::fixed(70),
            attributes: vec![attribute(named("flag", Form::Boolean, 2))],
            references: Vec::new(),
        };
        let link = LinkPlan::Drawn { distribution: Distribution::Uniform, dynamic_parents: false };
        let reference = |columns: &[&str], link| ReferencePlan {
            columns: columns.iter().map(|name| (*name).to_string()).collect(),
            table: "parents".to_string(),
            link,
        };
        let words = ["it's", "so\\"].map(str::to_string).to_vec();
        let children = Table {
            name: "children".to_string(),
            key: [key(), vec![named("c", Form::Text { prefix: "x".to_string(), length: 4 }, 20)]].concat(),
            keys: KeyPlan { count: 1_400, dynamic: 0.4, present: 0.5, access: Distribution::Uniform },
            attributes: vec![
                attribute(named("raw", Form::Bytes { width: 2 }, 60_000)),
                attribute(named("price", Form::Decimal { first: -500, scale: 2 }, 1_000)),
                attribute(named("share", Form::Quarters { first: -10 }, 100)),
                attribute(named("word", Form::Words(words), 2)),
                attribute(named("day", Form::Date { first: 0 }, 20_000)),
                attribute(named("at", Form::Timestamp { first: 0 }, 1 << 30)),
            ],
            references: vec![reference(&["a", "b"], LinkPlan::Prefix), reference(&["d", "e"], link)],
        };
        Schema { tables: vec![children, parents] }
    }

    /// What is loaded: by table, the rows with their positions.
    type Loaded = Vec<(String, Vec<(u64, Vec<Value>)>)>;

    fn loaded(shadow: &Shadow) -> Loaded {
        let sql = Sql::new(shadow.schema(), &Postgres, &Version::parse("15")).expect("everything is there");
        let mut cells = Cells::default();
        let mut rows = |population: &Population<'_>| {
            let mut row = |position| {
                cells.clear();
                let exists = population.row(position, &mut cells);
                assert!(!exists || cells.len() == population.columns().len(), "one cell for each column");
                exists.then(|| (position, cells.iter().map(|cell| cell.to_value()).collect::<Vec<_>>()))
            };
            (0..population.positions()).filter_map(&mut row).collect::<Vec<_>>()
        };
        let all = Population::all(shadow, &sql);
        all.iter().map(|one| (one.table().to_string(), rows(one))).collect()
    }

    #[test]
    fn rows_are_what_the_shadow_says() {
        let shadow = Shadow::new(schema(), Locking::Early, 3).expect("a schema");
        let all = loaded(&shadow);
        assert_eq!(all.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["parents", "children"]);
        for (name, rows) in &all {
            let table = &shadow.tables()[shadow.schema().position(name).expect("it is there")];
            let parents = &shadow.tables()[1];
            let exist: Vec<u64> = (0..table.keys().count()).filter(|key| table.keys().exists_at_start(*key)).collect();
            assert_eq!(rows.iter().map(|(key, _)| *key).collect::<Vec<_>>(), exist, "{name}");
            assert_eq!(exist.len() as u64, table.keys().count_at_start());
            for (key, row) in rows {
                let mut expect = table.key().values(*key);
                for attribute in table.attributes() {
                    expect.extend(attribute.columns().values(attribute.initial(*key)));
                }
                for reference in table.references().iter().skip(1) {
                    expect.extend(parents.key().values(reference.initial(*key, parents.keys())));
                }
                expect.push(Value::int(0));
                assert_eq!(*row, expect, "{name} {key}");
            }
        }
    }

    #[test]
    fn the_seed_decides_everything() {
        let rows = |seed| loaded(&Shadow::new(schema(), Locking::Early, seed).expect("a schema"));
        assert_eq!(rows(1), rows(1));
        assert_ne!(rows(1), rows(2));
    }
}

//! Which columns hold the same things: customers here, customers there.
//!
//! Two calls meet only if they mean the same customer, in whichever table each of them looks. Columns are *akin* if a
//! foreign key says so, or if the program compares both with the same host variable. For each kin one column decides: one
//! that is a primary key, if there is one.

use std::collections::{BTreeMap, BTreeSet};

use txloom_core::program::access::{Place, ProcedureAccess};
use txloom_core::program::schema::Schema;

/// A table and a column of it.
pub type Column = (String, String);

/// The kins of a program's columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kinship {
    /// For each column that is compared with anything, the one that decides.
    deciding: BTreeMap<Column, Column>,
}

impl Kinship {
    /// Finds the kins.
    pub fn of(accesses: &[ProcedureAccess], schema: &Schema) -> Kinship {
        let mut kins: Vec<BTreeSet<Column>> = Vec::new();
        for table in schema.tables.values() {
            for key in &table.foreign_keys {
                let parent = schema.table(&key.table).map(|parent| parent.primary_key.clone()).unwrap_or_default();
                let referred = if key.referred.is_empty() { parent } else { key.referred.clone() };
                for (own, other) in key.columns.iter().zip(referred) {
                    let pair = [(table.name.clone(), own.clone()), (key.table.clone(), other)];
                    unite(&mut kins, pair.into());
                }
            }
        }
        for access in accesses {
            compared(access).into_values().for_each(|columns| unite(&mut kins, columns));
        }
        let is_primary = |(table, column): &&Column| {
            schema.table(table).is_some_and(|table| table.primary_key.first() == Some(column))
        };
        let mut deciding = BTreeMap::new();
        for kin in kins {
            let Some(chosen) = kin.iter().find(is_primary).or(kin.first()).cloned() else { continue };
            deciding.extend(kin.into_iter().map(|column| (column, chosen.clone())));
        }
        Kinship { deciding }
    }

    /// The column that decides what a column is compared with; `None` if it is never compared with anything.
    pub fn deciding(&self, column: &Column) -> Option<&Column> {
        self.deciding.get(column)
    }
}

/// The columns that each host variable of a procedure is compared with.
fn compared(access: &ProcedureAccess) -> BTreeMap<String, BTreeSet<Column>> {
    let mut columns: BTreeMap<String, BTreeSet<Column>> = BTreeMap::new();
    for used in access.nodes.iter().flat_map(|node| &node.uses) {
        if let Place::Test(elements) = &used.place {
            let found = elements.iter().map(|element| (element.table.clone(), element.column.clone()));
            columns.entry(used.variable.name.clone()).or_default().extend(found);
        }
    }
    columns
}

fn unite(kins: &mut Vec<BTreeSet<Column>>, mut columns: BTreeSet<Column>) {
    while let Some(at) = kins.iter().position(|kin| !kin.is_disjoint(&columns)) {
        columns.extend(kins.swap_remove(at));
    }
    kins.push(columns);
}

#[cfg(test)]
mod tests {
    use txloom_core::program::front;

    use super::*;

    #[test]
    fn a_variable_and_a_foreign_key_make_columns_akin() {
        let text = "\
CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(9));
CREATE TABLE line (no INT PRIMARY KEY, c INT, amount INT);
CREATE TABLE note (no INT PRIMARY KEY, of INT REFERENCES customer (id));
CREATE PROCEDURE p(x INT)
BEGIN
  DECLARE y INT;
  SELECT SUM(amount) INTO :y FROM line WHERE c = :x;
  UPDATE customer SET name = :y WHERE id = :x;
END;
";
        let reading = front::read(text, &Schema::default());
        let kinship = Kinship::of(&reading.accesses, &reading.schema);
        let column = |table: &str, column: &str| (table.to_string(), column.to_string());
        let customer = column("customer", "id");
        assert_eq!(kinship.deciding(&column("line", "c")), Some(&customer));
        assert_eq!(kinship.deciding(&column("note", "of")), Some(&customer));
        assert_eq!(kinship.deciding(&column("line", "amount")), None);
    }
}

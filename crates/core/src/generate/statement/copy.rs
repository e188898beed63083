//! Rows made from other rows, under keys of their own: INSERT … SELECT where keys are used once.

use crate::generate::expression::print::print;
use crate::generate::expression::{Comparison, Expression, Operator};
use crate::generate::maker::{Maker, Scope, Source};
use crate::generate::schema::Kind;
use crate::value::Value;

impl Maker<'_> {
    /// `INSERT INTO … SELECT …` with new keys, made of those of the source.
    pub(super) fn copy(&mut self, table: usize) -> String {
        let from = self.table();
        let source = &self.schema.tables[from];
        let added = if source.keys_once { self.copied_key() } else { None };
        let (Some(added), [key]) = (added, &source.primary_key[..]) else { return self.insert() };
        let columns = self.insert_columns(table, true);
        let (scope, from) = self.copied(from);
        let mut list = Vec::new();
        for at in &columns {
            let value = match self.schema.tables[table].primary_key.contains(at) {
                true => self.added(added, &scope.sources[0], *key),
                false => self.copied_value(table, *at, &scope),
            };
            list.push(print(&value, self.language));
        }
        // Two rows with one value would violate a unique key; and all rows would be too many.
        let scope = Scope { written: Some(table), ..scope };
        let unique = !self.schema.tables[table].unique_keys.is_empty();
        let some = if unique { None } else { self.predicate(&scope) };
        let predicate = some.or_else(|| self.key_equality(&scope.sources[0]));
        let condition = self.where_clause(predicate.as_ref());
        let target = self.insert_target(table, &columns);
        format!("INSERT INTO {target} SELECT {} FROM {from}{condition}", list.join(", "))
    }

    /// `10000 + key`.
    fn added(&self, constant: i64, source: &Source, key: usize) -> Expression {
        let constant = Expression::Constant(Kind::Integer, Value::int(constant));
        let sides = [constant, Expression::Column(self.column_use(source, key))];
        Expression::Arithmetic(Operator::Add, Box::new(sides))
    }

    fn copied_value(&mut self, table: usize, column: usize, scope: &Scope) -> Expression {
        let definition = &self.schema.tables[table];
        match definition.foreign_keys.iter().any(|key| key.columns.contains(&column)) {
            // What is computed refers to nothing.
            true => Expression::Constant(definition.columns[column].kind, self.stored(table, column)),
            false => self.stored_expression(table, column, &scope.clone().storing(table)),
        }
    }

    /// The table that is copied; or joined with another one, by whose key no row of the first appears twice.
    fn copied(&mut self, table: usize) -> (Scope, String) {
        let alone = Scope::of(table);
        let pair = match self.is_deep() && self.random.chance(1, 3) {
            true => self.looked_up(&alone),
            false => None,
        };
        let name = &self.schema.tables[table].name;
        let Some((column, other, key)) = pair else { return (alone, name.clone()) };
        let left = self.random.chance(1, 3);
        let names = [self.name('r'), self.name('r')];
        let join = if left { "LEFT JOIN" } else { "JOIN" };
        let from = format!("{name} AS {} {join} {} AS {}", names[0], self.schema.tables[other].name, names[1]);
        let [first, second] = names.map(Some);
        let first = Source { table, qualifier: first, nullable: false };
        let second = Source { table: other, qualifier: second, nullable: left };
        let sides = [self.column_use(&first, column), self.column_use(&second, key)].map(Expression::Column);
        let on = print(&Expression::Compare(Comparison::Equal, Box::new(sides)), self.language);
        (Scope { sources: vec![first, second], ..alone }, format!("{from} ON {on}"))
    }

    /// A column of the scope, and a table with a key of one column that can be looked up by it.
    fn looked_up(&mut self, scope: &Scope) -> Option<(usize, usize, usize)> {
        let other = self.table();
        let [key] = self.schema.tables[other].primary_key[..] else { return None };
        let kind = self.schema.tables[other].columns[key].kind;
        let (_, column) = self.pick_column(scope, |other| other == kind)?;
        // A row that is joined with itself says nothing new.
        Some((column, other, key)).filter(|_| scope.sources[0].table != other || column != key)
    }
}

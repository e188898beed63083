//! Which registers a statement reads or writes, if it is of one of the few shapes that tell.
//!
//! A shape is recognised by taking a statement apart and putting it together again from nothing but the parts that were
//! understood: whatever else is in it (a join, a limit, a hint) makes a difference, and the statement is refused.

use std::fmt::Display;

use sqlparser::ast::{
    Assignment, AssignmentTarget, ColumnOption, CreateTable, Expr, Insert, ObjectName, Query, SelectItem, SetExpr,
    Statement, TableConstraint, TableFactor, TableObject, UnaryOperator, Update, Value,
};

use crate::reduce::parse_statement;
use crate::sql::plain_name;

/// A table whose rows are registers: a key and a value, both whole numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    key: String,
    value: String,
    is_key_first: bool,
}

/// What a statement does to registers of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Access {
    /// Reads the rows with these keys; all rows, if none are named.
    Read { table: String, keys: Option<Vec<i64>>, columns: ReadColumns },
    /// Changes the rows with these keys.
    Update { table: String, keys: Vec<i64>, value: i64 },
    /// Adds rows: keys and values.
    Insert { table: String, rows: Vec<(i64, i64)> },
    /// Removes the row with this key.
    Delete { table: String, key: i64 },
}

/// Where key and value stand in a result. Without a key, the statement names the only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadColumns {
    pub(super) key: Option<usize>,
    pub(super) value: usize,
}

/// A whole number is taken only if every integer type that is likely to hold it does.
const WHOLE_MAX: i64 = i32::MAX as i64;

/// The table that a statement of the setup creates.
pub(super) fn table(sql: &str) -> Result<Table, String> {
    let Some(Statement::CreateTable(create)) = parse_statement(sql) else {
        return Err("only CREATE TABLE and INSERT are understood".to_string());
    };
    let [first, second] = create.columns.as_slice() else {
        return Err("the table does not have two columns, a key and a value".to_string());
    };
    let is_whole = |kind: &dyn Display| {
        let kind = kind.to_string().to_uppercase();
        ["INT", "INTEGER", "BIGINT"].contains(&kind.split('(').next().unwrap_or_default())
    };
    let is_plain = |option: &ColumnOption| {
        matches!(option, ColumnOption::Null | ColumnOption::NotNull | ColumnOption::PrimaryKey(_))
    };
    for column in [first, second] {
        if !is_whole(&column.data_type) || !column.options.iter().all(|option| is_plain(&option.option)) {
            return Err(format!("the column {} is not a plain whole number", column.name));
        }
    }
    let (first, second) = (first.name.to_string(), second.name.to_string());
    let key = primary_key(&create).ok_or("the table does not have a primary key of one column")?;
    let is_key_first = plain_name(&first) == key;
    let (key, value) = if is_key_first { (first, second) } else { (second, first) };
    Ok(Table { name: name_of(&create.name), key: plain_name(&key), value: plain_name(&value), is_key_first })
}

fn primary_key(create: &CreateTable) -> Option<String> {
    let is_key = |option: &ColumnOption| matches!(option, ColumnOption::PrimaryKey(_));
    let by_column = create.columns.iter().find(|column| column.options.iter().any(|option| is_key(&option.option)));
    match (by_column, create.constraints.as_slice()) {
        (Some(column), []) => Some(plain_name(&column.name.to_string())),
        (None, [TableConstraint::PrimaryKey(key)]) if key.columns.len() == 1 => {
            Some(plain_name(&key.columns[0].to_string()))
        }
        _ => None,
    }
}

/// What a statement does, or why that cannot be told.
pub(super) fn access(sql: &str, tables: &[Table]) -> Result<Access, String> {
    let statement = parse_statement(sql).ok_or("the statement is not understood")?;
    let access = match &statement {
        Statement::Query(query) => read(query, tables),
        Statement::Update(of) => update(of, tables),
        Statement::Insert(of) => insert(of, tables),
        Statement::Delete(_) => delete(&statement, tables),
        _ => None,
    };
    access.ok_or_else(|| "the statement is not a plain read or write of rows by their keys".to_string())
}

fn read(query: &Query, tables: &[Table]) -> Option<Access> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let [from] = select.from.as_slice() else { return None };
    let table = table_of(&from.relation, tables)?;
    let columns = columns(&select.projection, table)?;
    let keys = match &select.selection {
        None => None,
        Some(condition) => Some(keys(condition, table)?),
    };
    if columns.key.is_none() && keys.as_ref().is_none_or(|keys| keys.len() != 1) {
        return None;
    }
    let items: Vec<String> = select.projection.iter().map(SelectItem::to_string).collect();
    let mut understood = format!("SELECT {} FROM {from}", items.join(", "));
    if let Some(condition) = &select.selection {
        understood.push_str(&format!(" WHERE {condition}"));
    }
    if let Some(order) = &query.order_by {
        understood.push_str(&format!(" {order}"));
    }
    query.locks.iter().for_each(|lock| understood.push_str(&format!(" {lock}")));
    // SKIP LOCKED leaves out rows that are there.
    let is_whole = query.locks.iter().all(|lock| lock.nonblock.is_none());
    (is_whole && query.to_string() == understood).then(|| Access::Read { table: table.name.clone(), keys, columns })
}

fn columns(items: &[SelectItem], table: &Table) -> Option<ReadColumns> {
    if matches!(items, [SelectItem::Wildcard(_)]) && items[0].to_string() == "*" {
        let (key, value) = if table.is_key_first { (0, 1) } else { (1, 0) };
        return Some(ReadColumns { key: Some(key), value });
    }
    let names: Vec<String> = items.iter().map(|item| plain_name(&item.to_string())).collect();
    let place = |name: &String| names.iter().position(|other| other == name);
    if !names.iter().all(|name| [&table.key, &table.value].contains(&name)) {
        return None;
    }
    Some(ReadColumns { key: place(&table.key), value: place(&table.value)? })
}

fn update(update: &Update, tables: &[Table]) -> Option<Access> {
    let table = table_of(&update.table.relation, tables)?;
    let [Assignment { target: AssignmentTarget::ColumnName(column), value }] = update.assignments.as_slice() else {
        return None;
    };
    let condition = update.selection.as_ref()?;
    let (keys, value) = (keys(condition, table)?, whole(value)?);
    let understood = format!("UPDATE {} SET {column} = {value} WHERE {condition}", update.table);
    let is_value = name_of(column) == table.value;
    (is_value && update.to_string() == understood).then(|| Access::Update { table: table.name.clone(), keys, value })
}

fn insert(insert: &Insert, tables: &[Table]) -> Option<Access> {
    let TableObject::TableName(name) = &insert.table else { return None };
    let table = tables.iter().find(|table| table.name == name_of(name))?;
    let is_key_first = match insert.columns.as_slice() {
        [] => table.is_key_first,
        [a, b] if name_of(a) == table.key && name_of(b) == table.value => true,
        [a, b] if name_of(a) == table.value && name_of(b) == table.key => false,
        _ => return None,
    };
    let SetExpr::Values(values) = insert.source.as_ref()?.body.as_ref() else { return None };
    let mut rows = Vec::new();
    for row in &values.rows {
        let [first, second] = row.content.as_slice() else { return None };
        let (first, second) = (whole(first)?, whole(second)?);
        rows.push(if is_key_first { (first, second) } else { (second, first) });
    }
    let columns: Vec<String> = insert.columns.iter().map(ObjectName::to_string).collect();
    let columns = if columns.is_empty() { String::new() } else { format!("({}) ", columns.join(", ")) };
    let understood = format!("INSERT INTO {name} {columns}{values}");
    (insert.to_string() == understood).then(|| Access::Insert { table: table.name.clone(), rows })
}

fn delete(statement: &Statement, tables: &[Table]) -> Option<Access> {
    let Statement::Delete(delete) = statement else { return None };
    let condition = delete.selection.as_ref()?;
    let sqlparser::ast::FromTable::WithFromKeyword(from) = &delete.from else { return None };
    let [from] = from.as_slice() else { return None };
    let table = table_of(&from.relation, tables)?;
    let keys = keys(condition, table)?;
    let [key] = keys.as_slice() else { return None };
    let understood = format!("DELETE FROM {from} WHERE {condition}");
    (statement.to_string() == understood).then(|| Access::Delete { table: table.name.clone(), key: *key })
}

fn table_of<'a>(relation: &TableFactor, tables: &'a [Table]) -> Option<&'a Table> {
    let TableFactor::Table { name, .. } = relation else { return None };
    let is_all = name.to_string() == relation.to_string();
    tables.iter().find(|table| is_all && table.name == name_of(name))
}

/// `k = 1`, `k IN (1, 2)`: the keys, each once.
fn keys(condition: &Expr, table: &Table) -> Option<Vec<i64>> {
    let is_key = |expression: &Expr| plain_name(&expression.to_string()) == table.key;
    let mut keys = match condition {
        Expr::Nested(inner) => return keys(inner, table),
        Expr::BinaryOp { left, op: sqlparser::ast::BinaryOperator::Eq, right } if is_key(left) => vec![whole(right)?],
        Expr::InList { expr, list, negated: false } if is_key(expr) => {
            list.iter().map(whole).collect::<Option<Vec<i64>>>()?
        }
        _ => return None,
    };
    keys.sort_unstable();
    keys.dedup();
    Some(keys)
}

fn whole(expression: &Expr) -> Option<i64> {
    let number = match expression {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse().ok(),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => whole(expr).map(|number| -number),
        _ => None,
    };
    number.filter(|number: &i64| number.abs() <= WHOLE_MAX)
}

fn name_of(name: &ObjectName) -> String {
    plain_name(&name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Vec<Table> {
        vec![table("CREATE TABLE t (id INT PRIMARY KEY, v INT)").unwrap()]
    }

    #[test]
    fn tables_of_registers_have_a_key_and_a_value() {
        let check = |columns: &str, expect: bool| {
            assert_eq!(table(&format!("CREATE TABLE t ({columns})")).is_ok(), expect, "{columns}");
        };
        check("id INT PRIMARY KEY, v INT", true);
        check("v BIGINT, k INTEGER NOT NULL, PRIMARY KEY (k)", true);
        check("id INT, v INT", false);
        check("id INT PRIMARY KEY, v INT, w INT", false);
        check("id INT PRIMARY KEY, v DECIMAL(5, 2)", false);
        check("id INT PRIMARY KEY, v INT DEFAULT 5", false);
        check("id INT, v INT, PRIMARY KEY (id, v)", false);
        assert!(table("CREATE INDEX i ON t (v)").is_err());
    }

    #[test]
    fn plain_reads_and_writes_are_understood() {
        let table = "t".to_string();
        let check = |sql: &str, expect: Access| assert_eq!(access(sql, &tables()), Ok(expect), "{sql}");
        let read = |keys: Option<&[i64]>, key, value| Access::Read {
            table: "t".to_string(),
            keys: keys.map(<[i64]>::to_vec),
            columns: ReadColumns { key, value },
        };
        check("SELECT * FROM t", read(None, Some(0), 1));
        check("select v, id from T order by id", read(None, Some(1), 0));
        check("SELECT v FROM t WHERE id = 1 FOR UPDATE", read(Some(&[1]), None, 0));
        check("SELECT id, v FROM t WHERE id IN (2, 1, 2)", read(Some(&[1, 2]), Some(0), 1));
        let update = |value| Access::Update { table: "t".to_string(), keys: vec![1], value };
        check("UPDATE t SET v = 11 WHERE id = 1", update(11));
        check("UPDATE t SET v = -1 WHERE (id = 1)", update(-1));
        check(
            "INSERT INTO t VALUES (1, 2), (3, 4)",
            Access::Insert { table: table.clone(), rows: vec![(1, 2), (3, 4)] },
        );
        check("INSERT INTO t (v, id) VALUES (1, 2)", Access::Insert { table: table.clone(), rows: vec![(2, 1)] });
        check("DELETE FROM t WHERE id = 3", Access::Delete { table, key: 3 });
    }

    #[test]
    fn everything_else_is_refused() {
        for sql in [
            "SELECT 1",
            "SELECT v FROM t",
            "SELECT id FROM t",
            "SELECT id, v FROM t WHERE v = 1",
            "SELECT id, v FROM t WHERE id = 1 AND v = 1",
            "SELECT id, v FROM t WHERE id > 1",
            "SELECT id, v FROM t LIMIT 1",
            "SELECT DISTINCT id, v FROM t",
            "SELECT id, v + 1 FROM t",
            "SELECT count(*) FROM t",
            "SELECT * FROM t, t AS u",
            "SELECT * FROM u",
            "SELECT * FROM t FOR UPDATE SKIP LOCKED",
            "UPDATE t SET v = v + 1 WHERE id = 1",
            "UPDATE t SET v = 1",
            "UPDATE t SET id = 1 WHERE id = 2",
            "UPDATE t SET v = 3000000000 WHERE id = 2",
            "UPDATE t SET v = NULL WHERE id = 2",
            "INSERT INTO t VALUES (1, 2) ON CONFLICT DO NOTHING",
            "INSERT INTO t SELECT 1, 2",
            "REPLACE INTO t VALUES (1, 2)",
            "DELETE FROM t",
            "DELETE FROM t WHERE id IN (1, 2)",
            "nonsense",
        ] {
            assert!(access(sql, &tables()).is_err(), "{sql}");
        }
    }
}

use std::collections::BTreeSet;

use super::samples::{Group, TableSamples, Values};
use super::schema::{Check, Column, Comparison, ForeignKey, Kind, Operand, Table, folded};
use super::*;
use crate::generate::random::Random;

fn column(name: &str, kind: Kind, nullable: bool) -> Column {
    Column { name: name.to_string(), kind, nullable }
}

fn names(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_string).collect()
}

fn table(name: &str, columns: Vec<Column>, key: &str) -> Table {
    Table { name: name.to_string(), columns, keys: vec![names(key)], foreign_keys: vec![], checks: vec![] }
}

fn check(column: &str, comparison: Comparison, value: i64) -> Check {
    Check { column: column.to_string(), comparison, with: Operand::Constant(Value::int(value)) }
}

fn refers(columns: &str, table: &str, referred: &str) -> ForeignKey {
    ForeignKey { columns: names(columns), table: table.to_string(), referred: names(referred) }
}

/// Carriers, their flights, and bookings, which refer to both at once.
fn airline() -> Schema {
    let carriers = table("carriers", vec![column("code", Kind::Text(Some(2)), false)], "code");
    let mut flights = table(
        "flights",
        vec![
            column("carrier", Kind::Text(Some(2)), false),
            column("number", Kind::Integer, false),
            column("seats", Kind::Integer, false),
            column("avail", Kind::Integer, true),
        ],
        "carrier number",
    );
    flights.foreign_keys = vec![refers("carrier", "carriers", "code")];
    flights.checks = vec![
        check("seats", Comparison::Greater, 0),
        check("avail", Comparison::GreaterEqual, 0),
        Check { column: "avail".into(), comparison: Comparison::LessEqual, with: Operand::Column("seats".into()) },
    ];
    let mut bookings = table(
        "bookings",
        vec![
            column("id", Kind::Integer, false),
            column("carrier", Kind::Text(Some(2)), true),
            column("number", Kind::Integer, true),
            column("day", Kind::Date, false),
            column("before", Kind::Integer, true),
        ],
        "id",
    );
    bookings.foreign_keys =
        vec![refers("carrier number", "flights", "carrier number"), refers("before", "bookings", "id")];
    Schema { tables: vec![bookings, flights, carriers] }
}

/// Every constraint that a state breaks, checked without knowledge of how it was made.
fn violations(schema: &Schema, state: &State) -> Vec<String> {
    let mut found = Vec::new();
    for table in &schema.tables {
        let rows = state.rows_of(&table.name);
        let value = |row: &[Value], name: &str| row[table.position(name).unwrap()].clone();
        let values = |row: &[Value], names: &[String]| names.iter().map(|name| value(row, name)).collect::<Vec<_>>();
        for row in rows {
            for column in table.columns.iter().filter(|column| !column.nullable) {
                found.extend((value(row, &column.name) == Value::Null).then(|| format!("{} NULL", column.name)));
            }
            for check in &table.checks {
                let right = match &check.with {
                    Operand::Constant(value) => value.clone(),
                    Operand::Column(name) => value(row, name),
                };
                let holds = check.comparison.holds(&value(row, &check.column), &right);
                found.extend((!holds).then(|| format!("{check} {row:?}")));
            }
            for key in &table.foreign_keys {
                let refers = values(row, &key.columns);
                let there = state.table(&key.table).unwrap().values_of(&key.referred).contains(&refers);
                found.extend((!there && !refers.contains(&Value::Null)).then(|| format!("{} {refers:?}", key.table)));
            }
        }
        for key in &table.keys {
            let all: Vec<Vec<Value>> = rows.iter().map(|row| values(row, key).iter().map(folded).collect()).collect();
            let whole: Vec<&Vec<Value>> = all.iter().filter(|it| !it.contains(&Value::Null)).collect();
            found.extend(
                (whole.iter().collect::<BTreeSet<_>>().len() != whole.len()).then(|| format!("{key:?} {all:?}")),
            );
        }
    }
    found
}

fn column_values(state: &State, table: &str, column: &str) -> Vec<Value> {
    state.table(table).unwrap().values_of(&names(column)).into_iter().flatten().collect()
}

#[test]
fn all_constraints_hold_whatever_the_seed() {
    for seed in 0..60 {
        let samples = Samples { rows: Some(1 + seed as usize % 12), ..Samples::default() };
        let state = fill(&airline(), &samples, seed).unwrap();
        assert_eq!(violations(&airline(), &state), [] as [String; 0], "seed {seed}");
        assert_eq!(state.shortfalls, [], "seed {seed}");
        assert_eq!(state, fill(&airline(), &samples, seed).unwrap());
        assert_eq!(
            state.tables.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
            ["carriers", "flights", "bookings"]
        );
    }
    assert_ne!(fill(&airline(), &Samples::default(), 1).unwrap(), fill(&airline(), &Samples::default(), 2).unwrap());
}

#[test]
fn every_group_and_every_end_appears_and_then_percentages_rule() {
    let text = "\
rows = 4
[flights]
rows = 200
number = { all = { range = [1, 9999] } }
[flights.seats]
all = [150]
[flights.avail]
full = { values = [0], percent = 10 }
last = { values = [1], percent = 0 }
many = { range = [2, 150], percent = 90 }
";
    let schema = airline();
    let state = fill(&schema, &read(text, "samples.toml", &schema).unwrap(), 7).unwrap();
    assert_eq!(violations(&schema, &state), [] as [String; 0]);
    let avail = column_values(&state, "flights", "avail");
    assert_eq!(avail[..4], [0, 1, 2, 150].map(Value::int));
    let count = |value: i64| avail.iter().filter(|it| **it == Value::int(value)).count();
    assert_eq!((avail.len(), count(1)), (200, 1));
    assert!((8..40).contains(&count(0)), "{}", count(0));
    assert_eq!(state.rows_of("carriers").len(), 4);
}

#[test]
fn edges_are_what_the_checks_just_allow() {
    let state = fill(&airline(), &Samples { rows: Some(8), ..Samples::default() }, 3).unwrap();
    assert!(column_values(&state, "flights", "seats").contains(&Value::int(1)));
    assert!(column_values(&state, "flights", "avail").contains(&Value::int(0)));
    assert!(column_values(&state, "flights", "avail").contains(&Value::Null));
    assert_eq!(column_values(&state, "bookings", "id"), (1..=8).map(Value::int).collect::<Vec<_>>());
}

#[test]
fn too_few_values_are_said() {
    let schema = airline();
    let samples = read("[carriers]\nrows = 3\ncode = ['LH', 'lh ', 'BA']", "s.toml", &schema).unwrap_err();
    assert!(samples.to_string().starts_with("s.toml:3:"), "{samples}");
    let samples = read("[carriers]\nrows = 3\ncode = ['LH', 'lh', 'BA']", "s.toml", &schema).unwrap();
    let state = fill(&schema, &samples, 1).unwrap();
    let told: Vec<String> = state.shortfalls.iter().map(Shortfall::to_string).collect();
    let expect = "made 2 of 3 rows of carriers: the key (code) leaves no other; give more sample values or fewer rows";
    assert_eq!(told, [expect]);
    let mut impossible = airline();
    impossible.tables[1].checks.push(check("seats", Comparison::Less, 1));
    let error = fill(&impossible, &Samples::default(), 1).unwrap_err().to_string();
    assert!(error.starts_with("made 0 of 3 rows of flights: CHECK (seats"), "{error}");
}

#[test]
fn circles_are_begun_where_a_reference_may_be_null() {
    let employees = |nullable| {
        let mut it =
            table("employees", vec![column("id", Kind::Integer, false), column("unit", Kind::Integer, nullable)], "id");
        it.foreign_keys = vec![refers("unit", "units", "id")];
        it
    };
    let mut units =
        table("units", vec![column("id", Kind::Integer, false), column("head", Kind::Integer, false)], "id");
    units.foreign_keys = vec![refers("head", "employees", "id")];
    let schema = Schema { tables: vec![units.clone(), employees(true)] };
    let state = fill(&schema, &Samples::default(), 1).unwrap();
    assert_eq!(violations(&schema, &state), [] as [String; 0]);
    let error = fill(&Schema { tables: vec![units, employees(false)] }, &Samples::default(), 1).unwrap_err();
    let expect = "cannot fill units, employees: they refer to one another, and each needs the others first; \
                  make one of the columns nullable";
    assert_eq!(error.to_string(), expect);
}

#[test]
fn a_row_may_have_to_refer_to_itself() {
    let mut it = table("t", vec![column("id", Kind::Integer, false), column("up", Kind::Integer, false)], "id");
    it.foreign_keys = vec![refers("up", "t", "id")];
    let schema = Schema { tables: vec![it] };
    let state = fill(&schema, &Samples::default(), 1).unwrap();
    assert_eq!(violations(&schema, &state), [] as [String; 0]);
    assert_eq!(state.rows_of("t")[0], [Value::int(1), Value::int(1)]);
}

#[test]
fn names_that_do_not_exist_are_told_with_the_nearest() {
    let mut schema = airline();
    schema.tables[0].foreign_keys[0].table = "flight".to_string();
    let error = fill(&schema, &Samples::default(), 1).unwrap_err();
    let expect = "cannot fill bookings: it refers to flight, which is not there; did you mean flights?";
    assert_eq!(error.to_string(), expect);
    let mut schema = airline();
    schema.tables[1].checks.push(check("seat", Comparison::Equal, 1));
    let error = fill(&schema, &Samples::default(), 1).unwrap_err();
    assert_eq!(error.to_string(), "cannot fill flights: there is no column flights.seat; did you mean seats?");
}

#[test]
fn inserts_come_in_an_order_that_foreign_keys_allow() {
    let samples = Samples { rows: Some(1), ..Samples::default() };
    let inserts = fill(&airline(), &samples, 1).unwrap().inserts(&crate::program::schema::Schema::default());
    let expect = [
        "INSERT INTO carriers (code) VALUES ('a')",
        "INSERT INTO flights (carrier, number, seats, avail) VALUES ('a', 1, 1, 1)",
        "INSERT INTO bookings (id, carrier, number, day, before) VALUES (1, 'a', 1, '2024-01-01', 1)",
    ];
    assert_eq!(inserts, expect);
}

fn problems(text: &str) -> String {
    read(text, "s.toml", &airline()).unwrap_err().to_string()
}

#[test]
fn problems_of_a_file_are_told_at_once_with_their_places() {
    let text = "\
rows = -1
[flight]
[flights]
rows = 2
seets = [1]
carrier = ['LH']
number = ['x']
seats = [0]
[flights.avail]
a = { values = [1], percents = 3 }
b = { range = [3, 2] }
c = 7
d = {}
e = { null = true, percent = 101 }
[carriers]
code = { x = { null = true } }
";
    let expect = "\
s.toml:1:8: expected a number of rows from 0 to 100000, found -1
s.toml:2:2: there is no table flight; did you mean flights? (tables: bookings, flights, carriers)
s.toml:5:1: flights has no column seets; did you mean seats? (columns: carrier, number, seats, avail)
s.toml:6:1: flights.carrier takes its values from carriers.code: give the sample values there
s.toml:7:11: flights.number has whole numbers, found the text \"x\"
s.toml:8:10: 0 is no value of flights.seats: CHECK (seats > 0) refuses it
s.toml:10:21: unknown key percents in a group; did you mean percent? (keys: values, range, null, percent)
s.toml:11:15: expected range = [least, greatest], two whole numbers in this order, found a list
s.toml:12:5: expected a list of values of flights.avail, found 7
s.toml:13:5: a group needs values = […], range = [least, greatest] or null = true
s.toml:14:30: expected a percentage from 0 to 100, found 101
s.toml:16:23: carriers.code is NOT NULL";
    assert_eq!(problems(text), expect);
}

#[test]
fn percentages_add_up() {
    let told = problems("[flights.avail]\na = { values = [1], percent = 60 }\nb = { values = [2], percent = 50 }");
    assert!(told.ends_with("the groups of flights.avail add up to 110 percent, not to 100"), "{told}");
    let told = problems("[flights.avail]\na = { values = [1], percent = 60 }");
    assert!(told.ends_with("add up to 60 percent, not to 100"), "{told}");
    let text = "[flights.avail]\na = { values = [1], percent = 60 }\nb = [2]\nc = [3]";
    let samples = read(text, "s.toml", &airline()).unwrap();
    let weights: Vec<u64> = samples.groups_of("flights", "avail").unwrap().iter().map(|group| group.weight).collect();
    assert_eq!(weights, [120, 40, 40]);
}

#[test]
fn calls_meet_on_rows_that_refer_to_one_another() {
    let schema = airline();
    for seed in 0..30 {
        let state = fill(&schema, &Samples { rows: Some(6), ..Samples::default() }, seed).unwrap();
        let focus = Focus::choose(&schema, &state, seed).unwrap();
        let value = |table: &str, column: &str| focus.value(&state, table, column).unwrap().clone();
        assert_eq!(value("bookings", "number"), value("flights", "number"), "seed {seed}");
        assert_eq!(value("bookings", "carrier"), value("flights", "carrier"), "seed {seed}");
        assert_eq!(value("flights", "carrier"), value("carriers", "code"), "seed {seed}");
        let parameter = |name: &str, chooses: Option<(&str, &str)>| Parameter {
            name: name.to_string(),
            kind: Kind::Integer,
            chooses: chooses.map(|(table, column)| (table.to_string(), column.to_string())),
        };
        let parameters = [parameter("flight", Some(("flights", "number"))), parameter("amount", None)];
        let found = inputs(&state, &focus, &parameters, seed);
        assert_eq!(found[0], value("flights", "number"));
        assert!((1..=10).map(Value::int).any(|it| it == found[1]), "{found:?}");
    }
}

#[test]
fn random_schemas_are_filled_or_refused_with_a_reason() {
    let mut filled = 0;
    for case in 0..150 {
        let (schema, samples) = random_schema(&mut Random::new(4, &[case]));
        match fill(&schema, &samples, case) {
            Ok(state) => {
                assert_eq!(violations(&schema, &state), [] as [String; 0], "case {case}");
                filled += 1;
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert!(filled > 75, "{filled}");
}

/// Two to four tables of three columns, each with a key, some with checks and references to earlier tables.
fn random_schema(random: &mut Random) -> (Schema, Samples) {
    let kinds = [Kind::Integer, Kind::Decimal, Kind::Text(Some(1)), Kind::Date, Kind::Boolean];
    let comparisons = [Comparison::Less, Comparison::GreaterEqual, Comparison::NotEqual, Comparison::Equal];
    let mut schema = Schema::default();
    let mut samples = Samples { rows: Some(random.below(6)), ..Samples::default() };
    for at in 0..2 + random.below(3) {
        let key = kinds[random.below(3)].clone();
        let mut it = table(
            &format!("t{at}"),
            vec![
                column("a", key, false),
                column("b", Kind::Integer, random.chance(1, 2)),
                column("c", kinds[random.below(5)].clone(), true),
            ],
            ["a", "a b", "b c"][random.below(3)],
        );
        if random.chance(1, 2) {
            it.checks.push(check("b", comparisons[random.below(4)], random.between(-3, 20)));
        }
        let earlier: Vec<&Table> = schema.tables.iter().filter(|other| other.keys == [names("a")]).collect();
        if let Some(other) = random.pick(&earlier).filter(|_| random.chance(2, 3)) {
            it.columns[2].kind = other.columns[0].kind.clone();
            it.foreign_keys.push(refers("c", &other.name, "a"));
        } else if random.chance(1, 3) && it.checks.is_empty() {
            let values = Values::List(vec![Value::int(1), Value::int(5)]);
            let group = Group { name: "g".to_string(), weight: 1, values };
            let columns = [("b".to_string(), vec![group])].into();
            samples.tables.insert(it.name.clone(), TableSamples { rows: None, columns });
        }
        schema.tables.push(it);
    }
    (schema, samples)
}

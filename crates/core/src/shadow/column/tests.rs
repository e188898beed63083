use super::*;
use proptest::prelude::*;

fn column(form: Form, domain: u64) -> VirtualColumn {
    VirtualColumn::new(form, domain).unwrap()
}

fn text(prefix: &str, length: usize) -> Form {
    Form::Text { prefix: prefix.into(), length }
}

fn words(words: &[&str]) -> Form {
    Form::Words(words.iter().map(ToString::to_string).collect())
}

/// One column of each form, with a domain of at least two.
fn all() -> Vec<VirtualColumn> {
    vec![
        column(Form::Integer { first: -7, step: 3 }, 1_000),
        column(Form::Integer { first: 0, step: 1 }, (1 << 63) - 1),
        column(Form::Decimal { first: -50, scale: 2 }, 1_000),
        column(Form::Decimal { first: 5, scale: 0 }, 10),
        column(Form::Decimal { first: 0, scale: 18 }, 1 << 62),
        column(Form::Quarters { first: -9 }, 40),
        column(text("", 0), 30),
        column(text("user_", 20), 1_000_000),
        column(text("", 0), LETTERS.pow(13)),
        column(words(&["Britain", "China", "Japan", "Russia"]), 4),
        column(Form::Date { first: 19_723 }, 10_000),
        column(Form::Time, 86_400),
        column(Form::Timestamp { first: 1_704_067_200 }, 1_000_000),
        column(Form::Bytes { width: 3 }, 70_000),
        column(Form::Bytes { width: 8 }, 1 << 63),
        column(Form::Boolean, 2),
    ]
}

#[test]
fn values_look_as_they_should() {
    let check = |form: Form, domain: u64, number: u64, expect: &str| {
        assert_eq!(column(form, domain).value(number).to_string(), expect);
    };
    check(Form::Integer { first: 1, step: 2 }, 10, 3, "7");
    check(Form::Decimal { first: -150, scale: 2 }, 1_000, 1, "-1.49");
    check(Form::Quarters { first: -1 }, 10, 0, "-0.25");
    check(text("user_", 12), 100, 27, "'user_bbxxxxx'");
    check(words(&["a", "b"]), 2, 1, "'b'");
    check(Form::Date { first: 19_782 }, 10, 1, "'2024-03-01'");
    check(Form::Timestamp { first: 0 }, 100_000, 86_461, "'1970-01-02 00:01:01'");
    check(Form::Bytes { width: 2 }, 300, 258, "X'0102'");
    check(Form::Boolean, 2, 0, "FALSE");
    // Outside of the domain there is the last value.
    check(Form::Integer { first: 1, step: 2 }, 10, 99, "19");
}

#[test]
fn what_is_written_is_what_the_value_is() {
    for column in all() {
        let mut out = String::from("before ");
        column.write(1, &mut out);
        let written = &out["before ".len()..];
        match column.value(1) {
            Value::Number(number) => assert_eq!(Number::parse(written), Some(number)),
            Value::Text(text) => assert_eq!(written, text),
            Value::Bool(truth) => assert_eq!(written, truth.to_string()),
            bytes => assert_eq!(format!("X'{written}'"), bytes.to_string()),
        }
    }
}

#[test]
fn foreign_values_have_no_number() {
    let check = |column: VirtualColumn, value: Value| assert_eq!(column.number(&value), None, "{value}");
    check(column(Form::Integer { first: 0, step: 5 }, 10), Value::int(3));
    check(column(Form::Integer { first: 0, step: 5 }, 10), Value::int(50));
    check(column(Form::Integer { first: 0, step: 5 }, 10), Value::int(-5));
    check(column(Form::Integer { first: 0, step: 5 }, 10), Value::text("5"));
    check(column(Form::Decimal { first: 0, scale: 1 }, 10), Value::Number(Number::parse("0.25").unwrap()));
    check(column(Form::Quarters { first: 0 }, 10), Value::Number(Number::parse("0.3").unwrap()));
    check(column(text("u", 4), 10), Value::text("ubx"));
    check(column(text("u", 4), 10), Value::text("uéxx"));
    check(column(text("u", 4), 10), Value::text("uZxx"));
    check(column(words(&["a", "b"]), 1), Value::text("b"));
    check(column(Form::Boolean, 2), Value::Null);
    assert_eq!(column(Form::Boolean, 2).number(&Value::int(1)), Some(1));
}

#[test]
fn domains_that_do_not_fit_are_refused() {
    let check = |form: Form, domain: u64, expect: &str| {
        assert_eq!(VirtualColumn::new(form, domain).unwrap_err().to_string(), expect);
    };
    check(Form::Boolean, 0, "a column with no value at all; its domain must hold at least one");
    let end = "make the domain smaller or the type wider";
    check(Form::Boolean, 3, &format!("3 different values of truth values, of which there are 2; {end}"));
    check(Form::Bytes { width: 1 }, 257, &format!("257 different values of bytes, of which there are 256; {end}"));
    let order = "do not come in increasing order; sort the list, so that ranges have a meaning";
    check(words(&["b", "a"]), 2, &format!("the words `b` and `a` {order}"));
    check(text("user_", 6), 27, "texts of 6 characters are too short for 7; make them longer or the domain smaller");
}

#[test]
fn several_columns_count_like_digits() {
    let columns = Columns::new(vec![column(Form::Integer { first: 1, step: 1 }, 3), column(text("", 0), 4)]).unwrap();
    assert_eq!(columns.domain(), 12);
    let rows: Vec<String> = (0..12).map(|number| format!("{:?}", columns.values(number))).collect();
    let mut sorted = rows.clone();
    sorted.sort();
    assert_eq!(rows, sorted);
    assert_eq!(columns.values(6), [Value::int(2), Value::text("c")]);
    assert!((0..12).all(|number| columns.number(&columns.values(number)) == Some(number)));
    assert_eq!((columns.join(&[2, 4]), columns.join(&[2])), (None, None));
    let wide = || column(Form::Bytes { width: 8 }, 1 << 40);
    assert_eq!(Columns::new(vec![wide(), wide()]), Err(ColumnError::TooLarge));
}

proptest! {
    #[test]
    fn numbers_and_values_belong_together(at in 0usize..16, number: u64, other: u64) {
        let column = &all()[at];
        let (number, other) = (number % column.domain(), other % column.domain());
        prop_assert_eq!(column.number(&column.value(number)), Some(number));
        // Φ keeps the order.
        prop_assert_eq!(column.value(number).cmp(&column.value(other)), number.cmp(&other));
    }
}

//! Examples, and a comparison with brute force.

use super::*;
use crate::generate::expression::extent::Extent;
use crate::generate::random::Random;

const OPEN: Verdict = Verdict::Open;
const CONTRADICTION: Verdict = Verdict::Contradiction;
const TAUTOLOGY: Verdict = Verdict::Tautology;

fn column(name: &str, kind: Kind, not_null: bool) -> Expression {
    let extent = Extent::of_value(&Value::Null);
    Expression::Column(ColumnUse { qualifier: None, name: name.to_string(), kind, extent, computed: false, not_null })
}

/// A column of whole numbers.
fn c() -> Expression {
    column("c", Kind::Integer, false)
}

fn number(value: i64) -> Expression {
    Expression::Constant(Kind::Integer, Value::int(value))
}

/// `compare(c, ">=", 2)`.
fn compare(of: Expression, operator: &str, value: Value) -> Expression {
    let comparison = match operator {
        "=" => Comparison::Equal,
        "<>" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => Comparison::NullSafeEqual,
    };
    let kind = of.kind();
    Expression::compare(comparison, of, Expression::Constant(kind, value))
}

fn is(operator: &str, value: i64) -> Expression {
    compare(c(), operator, Value::int(value))
}

fn and(left: Expression, right: Expression) -> Expression {
    Expression::And(vec![left, right])
}

fn or(left: Expression, right: Expression) -> Expression {
    Expression::Or(vec![left, right])
}

fn not(part: Expression) -> Expression {
    Expression::Not(Box::new(part))
}

fn is_null(of: Expression, not: bool) -> Expression {
    Expression::IsNull { of: Box::new(of), not }
}

fn in_list(of: Expression, list: &[Value], not: bool) -> Expression {
    let kind = of.kind();
    let list = list.iter().map(|value| Expression::Constant(kind, value.clone())).collect();
    Expression::In { of: Box::new(of), list, not }
}

fn between(of: Expression, low: i64, high: i64, not: bool) -> Expression {
    Expression::Between { of: Box::new(of), range: Box::new([number(low), number(high)]), not }
}

#[test]
fn intervals_and_equalities() {
    let verdict = |predicate: Expression, expect: Verdict| assert_eq!(check(&predicate), expect, "{predicate:?}");
    verdict(and(is("=", 1), is(">=", 2)), CONTRADICTION);
    verdict(or(is("=", 1), is(">=", 2)), OPEN);
    verdict(and(is("=", 2), is(">=", 2)), OPEN);
    // No whole number lies between 1 and 2.
    verdict(and(is(">", 1), is("<", 2)), CONTRADICTION);
    verdict(and(is(">", 1), is("<", 3)), OPEN);
    verdict(between(c(), 3, 1, false), CONTRADICTION);
    verdict(and(between(c(), 1, 3, false), not(between(c(), 0, 4, false))), CONTRADICTION);
    verdict(and(in_list(c(), &[Value::int(1), Value::int(2)], false), is("<>", 1)), OPEN);
    verdict(and(in_list(c(), &[Value::int(1)], false), is("<>", 1)), CONTRADICTION);
}

#[test]
fn a_column_that_may_be_null_escapes_what_looks_certain() {
    let strict = || column("c", Kind::Integer, true);
    let always = |c: fn() -> Expression| or(compare(c(), "<", Value::int(3)), compare(c(), ">=", Value::int(2)));
    assert_eq!(check(&always(c)), OPEN);
    assert_eq!(check(&always(|| column("c", Kind::Integer, true))), TAUTOLOGY);
    assert_eq!(check(&or(always(c), is_null(c(), false))), TAUTOLOGY);
    assert_eq!(check(&is_null(strict(), false)), CONTRADICTION);
    assert_eq!(check(&is_null(strict(), true)), TAUTOLOGY);
    // NULL equals nothing, unless asked in the other way.
    assert_eq!(check(&compare(c(), "=", Value::Null)), CONTRADICTION);
    assert_eq!(check(&compare(c(), "<=>", Value::Null)), OPEN);
    assert_eq!(check(&and(compare(c(), "<=>", Value::Null), is("=", 1))), CONTRADICTION);
    assert_eq!(check(&in_list(c(), &[Value::int(1), Value::Null], true)), CONTRADICTION);
}

#[test]
fn a_part_that_contradicts_itself_is_enough() {
    assert_eq!(check(&or(is("=", 1), and(is("=", 2), is("=", 3)))), CONTRADICTION);
    assert_eq!(check(&not(and(is("=", 2), is("=", 3)))), CONTRADICTION);
}

#[test]
fn truth_values_are_true_or_false() {
    let flag = || column("f", Kind::Boolean, true);
    assert_eq!(check(&flag()), OPEN);
    assert_eq!(check(&and(flag(), not(flag()))), CONTRADICTION);
    assert_eq!(check(&and(flag(), compare(flag(), "=", Value::Bool(false)))), CONTRADICTION);
    let both = [Value::Bool(false), Value::Bool(true)];
    assert_eq!(check(&in_list(flag(), &both, false)), TAUTOLOGY);
}

#[test]
fn what_is_not_understood_is_still_itself() {
    let opaque = || Expression::compare(Comparison::Equal, c(), column("d", Kind::Integer, false));
    assert_eq!(check(&opaque()), OPEN);
    assert_eq!(check(&and(opaque(), not(opaque()))), CONTRADICTION);
    assert_eq!(check(&or(opaque(), not(opaque()))), OPEN, "it may be unknown");
    assert_eq!(check(&and(opaque(), is(">", 1))), OPEN);
}

/// All that columns are compared with.
const CONSTANTS: (i64, i64) = (1, 3);
/// All values that can be told apart, and a little more; `None` is NULL.
const DOMAIN: [Option<i64>; 8] = [None, Some(-1), Some(0), Some(1), Some(2), Some(3), Some(4), Some(5)];

fn random_predicate(random: &mut Random, depth: usize) -> Expression {
    if depth > 0 {
        match random.below(4) {
            0 => return and(random_predicate(random, depth - 1), random_predicate(random, depth - 1)),
            1 => return or(random_predicate(random, depth - 1), random_predicate(random, depth - 1)),
            2 => return not(random_predicate(random, depth - 1)),
            _ => {}
        }
    }
    let of = if random.chance(1, 2) { c() } else { column("d", Kind::Integer, true) };
    let negated = random.chance(1, 3);
    let mut value = || match random.chance(1, 10) {
        true => Value::Null,
        false => Value::int(random.between(CONSTANTS.0, CONSTANTS.1)),
    };
    let (one, other) = (value(), value());
    match random.below(8) {
        0 => is_null(of, negated),
        1 => in_list(of, &[one, other], negated),
        2 => {
            let range = Box::new([one, other].map(|end| Expression::Constant(Kind::Integer, end)));
            Expression::Between { of: Box::new(of), range, not: negated }
        }
        3 => compare(of, "<=>", one),
        _ => {
            let operator = *random.pick(&["=", "<>", "<", "<=", ">", ">="]).unwrap();
            compare(of, operator, one)
        }
    }
}

/// SQL's three-valued logic, over one row.
fn evaluate(predicate: &Expression, row: (Option<i64>, Option<i64>)) -> Truth {
    let value = |expression: &Expression| match expression {
        Expression::Column(column) if column.name == "c" => row.0,
        Expression::Column(_) => row.1,
        Expression::Constant(_, Value::Number(number)) => number.to_i64(),
        _ => None,
    };
    let compare = |comparison: Comparison, left: Option<i64>, right: Option<i64>| match comparison {
        Comparison::NullSafeEqual => Some(left == right),
        _ => Some(holds(comparison, left?.cmp(&right?))),
    };
    match predicate {
        Expression::And(parts) => match parts.iter().map(|part| evaluate(part, row)).min_by_key(rank) {
            Some(least) => least,
            None => Some(true),
        },
        Expression::Or(parts) => match parts.iter().map(|part| evaluate(part, row)).max_by_key(rank) {
            Some(greatest) => greatest,
            None => Some(false),
        },
        Expression::Not(part) => evaluate(part, row).map(|truth| !truth),
        Expression::Compare(comparison, sides) => compare(*comparison, value(&sides[0]), value(&sides[1])),
        Expression::Between { of, range, not } => {
            let low = compare(Comparison::GreaterOrEqual, value(of), value(&range[0]));
            let high = compare(Comparison::LessOrEqual, value(of), value(&range[1]));
            [low, high].into_iter().min_by_key(rank).flatten().map(|truth| truth != *not)
        }
        Expression::In { of, list, not } => {
            let each = list.iter().map(|item| compare(Comparison::Equal, value(of), value(item)));
            each.max_by_key(rank).flatten().map(|truth| truth != *not)
        }
        Expression::IsNull { of, not } => Some(value(of).is_none() != *not),
        other => panic!("{other:?} is not among the random predicates"),
    }
}

/// False is less than unknown, and unknown is less than true.
fn rank(truth: &Truth) -> i32 {
    truth.map_or(1, |truth| if truth { 2 } else { 0 })
}

/// What the check should say: the children first, then the root, over all rows.
fn brute_force(predicate: &Expression) -> Verdict {
    let children: Vec<&Expression> = match predicate {
        Expression::And(parts) | Expression::Or(parts) => parts.iter().collect(),
        Expression::Not(part) => vec![part],
        _ => Vec::new(),
    };
    if let Some(verdict) = children.into_iter().map(brute_force).find(|verdict| *verdict != OPEN) {
        return verdict;
    }
    let rows = DOMAIN.iter().flat_map(|c| DOMAIN[1..].iter().map(move |d| (*c, *d)));
    let truths: Vec<bool> = rows.map(|row| evaluate(predicate, row) == Some(true)).collect();
    match (truths.contains(&true), truths.contains(&false)) {
        (true, true) => OPEN,
        (true, false) => TAUTOLOGY,
        _ => CONTRADICTION,
    }
}

#[test]
fn the_check_agrees_with_brute_force() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..8_000 {
        let mut random = Random::new(seed, &[]);
        let depth = random.below(4);
        let predicate = random_predicate(&mut random, depth);
        let verdict = check(&predicate);
        assert_eq!(verdict, brute_force(&predicate), "seed {seed}: {predicate:?}");
        *seen.entry(format!("{verdict:?}")).or_insert(0) += 1;
    }
    assert!(seen.len() == 3 && seen.values().all(|count| *count > 100), "{seen:?}");
}

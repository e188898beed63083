//! Expression trees as SQL.

use std::fmt::Write;

use crate::dialect::Construct;
use crate::generate::language::Language;
use crate::generate::values;

use super::{Aggregate, Comparison, Expression, Operator, Query, Window, WindowFunction};

/// The tree as SQL. It uses only constructs that the language has: whoever made it has asked.
pub fn print(expression: &Expression, language: &Language) -> String {
    let mut text = String::new();
    write_to(&mut text, expression, language);
    text
}

/// A query as SQL, without parentheses around it.
pub fn print_query(query: &Query, language: &Language) -> String {
    query_text(query, &join(&query.list, language), language)
}

/// The same, for a query in the place of a table: its columns are called `c0`, `c1`, ….
pub fn print_relation(query: &Query, language: &Language) -> String {
    let named = |(at, value)| format!("{} AS c{at}", print(value, language));
    query_text(query, &query.list.iter().enumerate().map(named).collect::<Vec<_>>().join(", "), language)
}

fn query_text(query: &Query, list: &str, language: &Language) -> String {
    let with = match query.with.is_empty() {
        true => String::new(),
        false => format!("{} {} ", spelling(Construct::With, language), query.with.join(", ")),
    };
    let distinct = if query.distinct { "DISTINCT " } else { "" };
    let mut text = format!("{with}SELECT {distinct}{list} FROM {}", query.from);
    if let Some(condition) = &query.condition {
        text.push_str(" WHERE ");
        write_to(&mut text, condition, language);
    }
    text + &query.tail
}

fn spelling(construct: Construct, language: &Language) -> &'static str {
    language.spelling(construct).expect("only constructs of the language are made")
}

fn write_to(text: &mut String, expression: &Expression, language: &Language) {
    let negated = |not: &bool| if *not { "NOT " } else { "" };
    // Writing to a String cannot fail.
    let _ = match expression {
        Expression::Column(column) => match &column.qualifier {
            Some(qualifier) => write!(text, "{qualifier}.{}", column.name),
            None => write!(text, "{}", column.name),
        },
        Expression::Constant(kind, value) => write!(text, "{}", values::literal(*kind, value, language)),
        // `IS NOT DISTINCT FROM` looks like the beginning of two clauses to whoever reads only words.
        Expression::Compare(Comparison::NullSafeEqual, sides) => {
            let [left, right] = [&sides[0], &sides[1]].map(|side| operand(side, language));
            write!(text, "({left} {} {right})", spelling(Construct::NullSafeEqual, language))
        }
        Expression::Compare(comparison, sides) => {
            return infix(text, comparison_text(*comparison), &sides[..], language);
        }
        Expression::Arithmetic(operator, sides) => {
            return infix(text, operator_text(*operator, language), &sides[..], language);
        }
        Expression::And(parts) => return infix(text, "AND", parts, language),
        Expression::Or(parts) => return infix(text, "OR", parts, language),
        Expression::Not(of) => write!(text, "NOT ({})", print(of, language)),
        Expression::Between { of, range, not } => {
            let [low, high] = [&range[0], &range[1]].map(|bound| operand(bound, language));
            write!(text, "{} {}BETWEEN {low} AND {high}", operand(of, language), negated(not))
        }
        Expression::In { of, list, not } => {
            write!(text, "{} {}IN ({})", operand(of, language), negated(not), join(list, language))
        }
        Expression::IsNull { of, not } => write!(text, "{} IS {}NULL", operand(of, language), negated(not)),
        Expression::Like { of, pattern, not } => {
            let like = spelling(Construct::Like, language);
            write!(text, "{} {}{like} '{pattern}'", operand(of, language), negated(not))
        }
        Expression::Case { branches, otherwise } => {
            text.push_str("CASE");
            for branch in branches {
                let [when, then] = branch.each_ref().map(|part| print(part, language));
                let _ = write!(text, " WHEN {when} THEN {then}");
            }
            write!(text, " ELSE {} END", print(otherwise, language))
        }
        Expression::Call(Construct::ConcatOperator, parts) => {
            return infix(text, spelling(Construct::ConcatOperator, language), parts, language);
        }
        Expression::Call(function, arguments) => {
            write!(text, "{}({})", spelling(*function, language), join(arguments, language))
        }
        Expression::Cast(to, of) => write!(text, "CAST({} AS {})", print(of, language), spelling(*to, language)),
        Expression::Exists(query, not) => write!(text, "{}EXISTS ({})", negated(not), print_query(query, language)),
        Expression::InQuery { of, query, not } => {
            write!(text, "{} {}IN ({})", operand(of, language), negated(not), print_query(query, language))
        }
        Expression::Scalar(query) => write!(text, "({})", print_query(query, language)),
        Expression::Aggregate(aggregate, of) => {
            let of = of.as_ref().map_or("*".to_string(), |of| print(of, language));
            write!(text, "{}{of})", aggregate_text(*aggregate))
        }
        Expression::Window(window) => write!(text, "{}", window_text(window, language)),
    };
}

fn window_text(window: &Window, language: &Language) -> String {
    let function = match window.function {
        WindowFunction::RowNumber => "ROW_NUMBER(",
        WindowFunction::Rank => "RANK(",
        WindowFunction::Aggregate(aggregate) => aggregate_text(aggregate),
        WindowFunction::Lag => "LAG(",
        WindowFunction::Lead => "LEAD(",
    };
    let of = match (&window.of, window.function) {
        (Some(of), _) => print(of, language),
        (None, WindowFunction::Aggregate(_)) => "*".to_string(),
        (None, _) => String::new(),
    };
    let mut parts = Vec::new();
    if !window.partition.is_empty() {
        parts.push(format!("PARTITION BY {}", join(&window.partition, language)));
    }
    if !window.order.is_empty() {
        let direction = if window.descending { " DESC" } else { "" };
        parts.push(format!("ORDER BY {}{direction}", join(&window.order, language)));
    }
    format!("{function}{of}) {} ({})", spelling(Construct::Window, language), parts.join(" "))
}

/// `a AND b AND c`.
fn infix(text: &mut String, operator: &str, operands: &[Expression], language: &Language) {
    for (at, side) in operands.iter().enumerate() {
        if at > 0 {
            let _ = write!(text, " {operator} ");
        }
        text.push_str(&operand(side, language));
    }
}

fn join(list: &[Expression], language: &Language) -> String {
    list.iter().map(|item| print(item, language)).collect::<Vec<_>>().join(", ")
}

/// An operand: in parentheses, unless it is of one piece. Engines differ in what binds closer than what.
fn operand(expression: &Expression, language: &Language) -> String {
    let text = print(expression, language);
    match expression {
        Expression::Column(_)
        | Expression::Constant(..)
        | Expression::Compare(Comparison::NullSafeEqual, _)
        | Expression::Cast(..)
        | Expression::Scalar(_)
        | Expression::Window(_)
        | Expression::Aggregate(..) => text,
        Expression::Call(function, _) if *function != Construct::ConcatOperator => text,
        _ => format!("({text})"),
    }
}

fn comparison_text(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal | Comparison::NullSafeEqual => "=",
        Comparison::NotEqual => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

fn operator_text(operator: Operator, language: &Language) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => spelling(Construct::IntegerDivision, language),
        Operator::Remainder => spelling(Construct::Remainder, language),
    }
}

/// The aggregate with its opening parenthesis.
fn aggregate_text(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Count => "COUNT(",
        Aggregate::CountDistinct => "COUNT(DISTINCT ",
        Aggregate::Sum => "SUM(",
        Aggregate::Minimum => "MIN(",
        Aggregate::Maximum => "MAX(",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::expression::ColumnUse;
    use crate::generate::expression::extent::Extent;
    use crate::generate::schema::Kind;
    use crate::trace::sample::engine;
    use crate::value::Value;

    fn check(expression: Expression, expect: &str) {
        // PostgreSQL's.
        assert_eq!(print(&expression, &Language::of(&[engine()])), expect);
    }

    fn column(name: &str) -> Expression {
        let (kind, extent) = (Kind::Integer, Extent::of_value(&Value::Null));
        let qualifier = Some("t".to_string());
        Expression::Column(ColumnUse {
            qualifier,
            name: name.to_string(),
            kind,
            extent,
            computed: false,
            not_null: false,
        })
    }

    fn number(value: i64) -> Expression {
        Expression::Constant(Kind::Integer, Value::int(value))
    }

    #[test]
    fn operands_stand_in_parentheses_unless_they_are_of_one_piece() {
        let sum = Expression::Arithmetic(Operator::Add, Box::new([column("a"), number(-1)]));
        let product = Expression::Arithmetic(Operator::Multiply, Box::new([sum.clone(), number(2)]));
        check(product.clone(), "(t.a + -1) * 2");
        let less = Expression::compare(Comparison::Less, product, column("b"));
        let null = Expression::IsNull { of: Box::new(column("b")), not: true };
        let both = Expression::And(vec![less, null]);
        check(both.clone(), "(((t.a + -1) * 2) < t.b) AND (t.b IS NOT NULL)");
        check(Expression::Not(Box::new(both)), "NOT ((((t.a + -1) * 2) < t.b) AND (t.b IS NOT NULL))");
        check(Expression::Call(Construct::Abs, vec![sum]), "ABS(t.a + -1)");
    }

    #[test]
    fn what_engines_spell_differently_is_spelt_by_the_language() {
        let same = Expression::compare(Comparison::NullSafeEqual, column("a"), number(1));
        check(same.clone(), "(t.a IS NOT DISTINCT FROM 1)");
        check(Expression::Or(vec![same.clone(), same]), "(t.a IS NOT DISTINCT FROM 1) OR (t.a IS NOT DISTINCT FROM 1)");
        let cast = Expression::Cast(Construct::CastToText, Box::new(column("a")));
        let text = Expression::Constant(Kind::Text, Value::text("it's"));
        check(Expression::Call(Construct::ConcatOperator, vec![cast, text]), "CAST(t.a AS TEXT) || 'it''s'");
    }

    #[test]
    fn a_window_has_its_rows_and_their_order() {
        let function = WindowFunction::Aggregate(Aggregate::Sum);
        let (partition, order) = (vec![column("b")], vec![column("a")]);
        let sum = Window { function, of: Some(column("c")), partition, order, descending: true };
        check(Expression::Window(Box::new(sum)), "SUM(t.c) OVER (PARTITION BY t.b ORDER BY t.a DESC)");
        let whole = |function| Window { function, of: None, partition: vec![], order: vec![], descending: false };
        let count = whole(WindowFunction::Aggregate(Aggregate::Count));
        check(Expression::Window(Box::new(count)), "COUNT(*) OVER ()");
        let number = Window { order: vec![column("a")], ..whole(WindowFunction::RowNumber) };
        check(Expression::Window(Box::new(number)), "ROW_NUMBER() OVER (ORDER BY t.a)");
    }

    #[test]
    fn a_query_has_all_of_its_clauses_in_order() {
        let query = Query {
            with: vec!["w1 AS (SELECT 1 AS c0)".to_string()],
            distinct: true,
            list: vec![column("a"), column("b")],
            from: "w1 AS t".to_string(),
            condition: Some(Expression::compare(Comparison::Equal, column("a"), number(1))),
            tail: " UNION SELECT 2, 3".to_string(),
        };
        let language = Language::of(&[engine()]);
        let (head, tail) =
            ("WITH w1 AS (SELECT 1 AS c0) SELECT DISTINCT", "FROM w1 AS t WHERE t.a = 1 UNION SELECT 2, 3");
        assert_eq!(print_query(&query, &language), format!("{head} t.a, t.b {tail}"));
        assert_eq!(print_relation(&query, &language), format!("{head} t.a AS c0, t.b AS c1 {tail}"));
    }

    #[test]
    fn queries_stand_in_parentheses() {
        let select = Expression::Aggregate(Aggregate::CountDistinct, Some(Box::new(column("a"))));
        let condition = Some(Expression::compare(Comparison::Equal, column("a"), number(1)));
        let query = Box::new(Query::of(select, "u AS t".to_string(), condition));
        check(Expression::Scalar(query.clone()), "(SELECT COUNT(DISTINCT t.a) FROM u AS t WHERE t.a = 1)");
        let within = Expression::InQuery { of: Box::new(number(1)), query: query.clone(), not: true };
        check(within, "1 NOT IN (SELECT COUNT(DISTINCT t.a) FROM u AS t WHERE t.a = 1)");
        check(Expression::Exists(query, false), "EXISTS (SELECT COUNT(DISTINCT t.a) FROM u AS t WHERE t.a = 1)");
    }
}

//! What is read, what is refused, and that what is printed reads the same again.

use proptest::prelude::*;

use super::WITHDRAW;
use crate::level::LevelName;
use crate::program::{
    BinaryOp, Branch, Expr, ExprKind, IntoClause, IntoRule, Mode, Parameter, Procedure, Program, Span, SqlPart,
    SqlStatement, SqlText, Statement, StatementKind, Variable,
};
use crate::value::{Number, Value};

/// Reads the body of a procedure with the parameters `a` and `amount`, and prints it again.
#[track_caller]
fn check_body(body: &str, expect: &str) {
    let program = Program::parse(&format!("CREATE PROCEDURE p(a INT, amount INT)\nBEGIN\n{body}\nEND;\n"));
    let printed = program.unwrap_or_else(|error| panic!("{error}")).to_string();
    let start = printed.find("BEGIN\n").unwrap() + "BEGIN\n".len();
    assert_eq!(&printed[start..printed.len() - "END;\n".len()], expect);
}

/// Reads what is no program; the expectation is `line:column: message`.
#[track_caller]
fn check_error(text: &str, expect: &str) {
    let error = Program::parse(text).expect_err(text);
    assert_eq!(format!("{}:{}: {}", error.line, error.column, error.message), expect, "{text}");
    assert_eq!(Some(error.text.as_str()), text.lines().nth(error.line - 1).or(Some("")), "{text}");
}

#[track_caller]
fn check_body_error(body: &str, expect: &str) {
    check_error(&format!("CREATE PROCEDURE p(a INT, amount INT) BEGIN\n{body}\nEND;"), expect);
}

#[test]
fn the_walking_thread_reads_and_prints() {
    let program = Program::parse(WITHDRAW).unwrap();
    let source_from_procedure = &WITHDRAW[WITHDRAW.find("CREATE PROCEDURE").unwrap()..];
    assert_eq!(program.to_string(), format!("-- @program 1\n{source_from_procedure}"));
}

#[test]
fn spans_point_into_the_source() {
    let program = Program::parse(WITHDRAW).unwrap();
    let procedure = &program.procedures[0];
    let text = |span: Span| &WITHDRAW[span.start..span.end];
    assert!(text(procedure.span).starts_with("CREATE PROCEDURE") && text(procedure.span).ends_with("END;"));
    assert_eq!(text(procedure.parameters[1].span), "amount INT");
    let StatementKind::If { branches, otherwise } = &procedure.body[2].kind else { panic!("an IF") };
    assert_eq!(text(branches[0].condition.span), ":balance >= :amount");
    assert_eq!(text(otherwise[0].span), "INSERT INTO refusals (account, amount) VALUES (:account, :amount)");
    let StatementKind::Sql(select) = &procedure.body[1].kind else { panic!("a SELECT") };
    assert_eq!(text(select.defines()[0].span), ":balance");
    let use_ = select.uses().next().unwrap();
    assert_eq!((text(use_.span), use_.name.as_str()), (":account", "account"));
    assert_eq!(
        WITHDRAW.lines().nth(use_.span.line - 1).unwrap().trim_start(),
        text(procedure.body[1].span).to_string() + ";"
    );
}

#[test]
fn variables_are_told_from_everything_else() {
    check_body(
        "update t set A = :A, s = ':a', \"b:a\" = x::int;",
        "  update t set A = :a, s = ':a', \"b:a\" = x::int;\n",
    );
    check_body("SELECT x,y INTO:a,:amount FROM t;", "  SELECT x,y INTO :a, :amount FROM t;\n");
    check_body("UPDATE t SET x = 1 RETURNING x INTO :a;", "  UPDATE t SET x = 1 RETURNING x INTO :a;\n");
    check_body("INSERT INTO t VALUES (:a);", "  INSERT INTO t VALUES (:a);\n");
    check_body("SELECT 1 INTO :a\n  FROM t; -- why", "  SELECT 1 INTO :a\n  FROM t;\n");
}

#[test]
fn what_is_not_ours_is_sql() {
    check_body("SET TRANSACTION READ ONLY;", "  SET TRANSACTION READ ONLY;\n");
    check_body("COMMIT AND CHAIN;", "  COMMIT AND CHAIN;\n");
    check_body("ROLLBACK TO SAVEPOINT s;", "  ROLLBACK TO SAVEPOINT s;\n");
    check_body("SELECT CASE WHEN x THEN 1 END INTO :a FROM t;", "  SELECT CASE WHEN x THEN 1 END INTO :a FROM t;\n");
    check_body("SET @x = 1;", "  SET @x = 1;\n");
}

#[test]
fn control_flow_nests() {
    check_body(
        "if a then commit; elsif a is not null then rollback; else while not a do set a = :a - 1; end while; end if;\n\
         return; return a, amount + 1;",
        "  IF :a THEN\n    COMMIT;\n  ELSEIF :a IS NOT NULL THEN\n    ROLLBACK;\n  ELSE\n    WHILE NOT :a DO\n      \
         SET a = :a - 1;\n    END WHILE;\n  END IF;\n  RETURN;\n  RETURN :a, :amount + 1;\n",
    );
    check_body("DECLARE x DECIMAL(10, 2) DEFAULT -1.50;", "  DECLARE x DECIMAL(10, 2) DEFAULT -1.5;\n");
    check_body("DECLARE x DOUBLE  PRECISION;", "  DECLARE x DOUBLE PRECISION;\n");
}

#[test]
fn undeclared_and_double_names_are_refused() {
    check_body_error("UPDATE t SET x = :amuont;", "2:18: the variable amuont is not declared; did you mean amount?");
    check_body_error("SET zebra = 1;", "2:5: the variable zebra is not declared");
    check_body_error("IF b > 1 THEN COMMIT; END IF;", "2:4: the variable b is not declared; did you mean a?");
    check_body_error("SELECT 1 INTO :x; DECLARE x INT;", "2:15: the variable x is not declared; did you mean a?");
    check_body_error("DECLARE x INT DEFAULT x + 1;", "2:23: the variable x is not declared; did you mean a?");
    check_body_error("DECLARE A INT;", "2:9: a is declared already; choose another name");
    check_body_error("DECLARE end INT;", "2:9: end is a keyword; choose another name");
    check_error("CREATE PROCEDURE p(x INT, X INT) BEGIN END;", "1:27: x is declared already; choose another name");
    let twice = "CREATE PROCEDURE p() BEGIN END;\n  CREATE PROCEDURE P() BEGIN END;";
    check_error(twice, "2:3: there is already a procedure p; give this one another name");
}

#[test]
fn forgotten_words_and_signs_are_named() {
    check_body_error("IF a > 1 COMMIT; END IF;", "2:10: expected THEN after the condition, found `COMMIT`");
    check_body_error("WHILE a COMMIT;", "2:9: expected DO after the condition, found `COMMIT`");
    check_body_error(
        "IF a THEN UPDATE t SET x = 1 END IF;",
        "2:30: END inside a statement; is a `;` missing before it?",
    );
    check_body_error("COMMIT", "3:1: END inside a statement; is a `;` missing before it?");
    check_body_error("IF a THEN COMMIT; END;", "2:22: expected IF after END, found `;`");
    check_body_error("ELSE COMMIT;", "2:1: expected a statement, found `ELSE`");
    check_body_error(";", "2:1: expected a statement, found `;`");
    check_body_error("SET a = ;", "2:9: expected an expression, found `;`");
    check_body_error("SET a = (1;", "2:11: expected `)` after the expression, found `;`");
    check_body_error("SET a = 1 2;", "2:11: expected `;` at the end of the statement, found `2`");
    check_body_error("SET a = 0x1f;", "2:9: expected a decimal number, found `0x1f`");
    check_body_error("SET a = X'0';", "2:9: expected pairs of hexadecimal digits, found `X`");
    check_body_error("SET a = 1 < 2 < 3;", "2:15: comparisons do not chain; join them with AND");
    check_body_error("SELECT 1 INTO :a FROM t INTO :a;", "2:25: a statement can have one INTO with variables");
    check_body_error("SELECT 'abc;", "2:8: what is quoted from here on has no end");
    check_body_error("SELECT $f$ abc $;", "2:8: what is quoted from here on has no end");
    check_body_error("DECLARE x;", "2:10: expected the type of x, found `;`");
    check_error("CREATE PROCEDURE p(a) BEGIN END;", "1:21: expected the type of a, found `)`");
    check_error("CREATE PROCEDURE p() BEGIN COMMIT;", "1:35: expected a statement or END, found the end of the file");
    check_error("CREATE TABLE t (a INT);", "1:8: expected PROCEDURE after CREATE, found `TABLE`");
    check_error("é: x", "1:1: expected CREATE PROCEDURE, found `é`");
}

#[test]
fn other_versions_are_refused() {
    let message = "`@program 2` is not known here; a program file begins with `-- @program 1`";
    check_error("-- prose\n-- @program 2\n", &format!("2:1: {message}"));
    check_error("-- @case 1", "1:1: `@case 1` is not known here; a program file begins with `-- @program 1`");
    assert_eq!(Program::parse("").unwrap(), Program::default());
}

#[test]
fn depth_and_length_are_bounded() {
    let deep = format!("SET a = {}1{};", "(".repeat(100), ")".repeat(100));
    check_body_error(&deep, "2:72: the expression is nested too deeply");
    let long = format!("SET a = 1{};", " + 1".repeat(600));
    check_body_error(&long, "2:2011: the expression has more than 500 operators");
    let blocks = "IF a THEN ".repeat(10_000);
    assert!(Program::parse(&format!("CREATE PROCEDURE p(a INT) BEGIN {blocks} END;")).is_err());
}

fn nowhere() -> Span {
    Span::default()
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: nowhere() }
}

fn variable(name: String) -> Variable {
    Variable { name, span: nowhere() }
}

/// The variables that every generated procedure declares.
fn any_variable() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["x", "y_1", "amount"]).prop_map(str::to_string)
}

fn any_literal() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::int),
        (any::<i32>(), 1u32..9).prop_map(|(n, e)| Value::Number(Number::parse(&format!("{n}e-{e}")).unwrap())),
        "[a-z':;\\- \n\"$/*é]{0,8}".prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(Value::Bytes),
    ]
}

fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![any_literal().prop_map(ExprKind::Literal), any_variable().prop_map(ExprKind::Variable)];
    let special = prop::sample::select(vec![ExprKind::Found, ExprKind::RowCount, ExprKind::Any]);
    let leaf = prop_oneof![8 => leaf, 1 => special];
    leaf.prop_map(expr).prop_recursive(4, 24, 2, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed().prop_map(|operand| expr(ExprKind::Negate(operand))),
            boxed().prop_map(|operand| expr(ExprKind::Not(operand))),
            (boxed(), any::<bool>()).prop_map(|(operand, negated)| expr(ExprKind::IsNull { operand, negated })),
            (prop::sample::select(BinaryOp::ALL), boxed(), boxed())
                .prop_map(|(op, left, right)| expr(ExprKind::Binary { op, left, right })),
        ]
    })
}

fn any_into() -> impl Strategy<Value = IntoClause> {
    let rules = IntoRule::NAMED.iter().map(|(rule, _)| *rule).collect::<Vec<_>>();
    let variables = prop::collection::vec(any_variable().prop_map(variable), 1..3);
    (variables, prop::sample::select(rules)).prop_map(|(variables, rule)| IntoClause { variables, rule })
}

fn piece(text: &str) -> SqlPart {
    SqlPart::Text(SqlText { text: text.to_string(), lead: 0, span: nowhere() })
}

/// SQL that alternates between text and holes.
fn any_sql() -> impl Strategy<Value = SqlStatement> {
    let text = prop::sample::select(vec![" = ", ", ", " FROM t WHERE ", "\n-- why\n", " ':x' ", " CASE x END "]);
    let hole = prop_oneof![
        3 => any_variable().prop_map(|name| SqlPart::Use(variable(name))),
        1 => any_into().prop_map(SqlPart::Into),
    ];
    prop::collection::vec((hole, text), 0..4).prop_map(|pieces| {
        let mut parts = vec![piece("SELECT a")];
        for (hole, text) in pieces {
            let again = matches!(hole, SqlPart::Into(_)) && parts.iter().any(|part| matches!(part, SqlPart::Into(_)));
            // Text before INTO does not end in a blank, and what follows a list of variables is not one more of them.
            let spaced = matches!(parts.last(), Some(SqlPart::Text(text)) if text.text.ends_with(char::is_whitespace));
            if again || (matches!(hole, SqlPart::Into(_)) && spaced) {
                continue;
            }
            let text = if matches!(hole, SqlPart::Into(_)) { " FROM t WHERE " } else { text };
            parts.extend([hole, piece(text)]);
        }
        // Blanks at the end do not belong to a statement.
        if let Some(SqlPart::Text(text)) = parts.last_mut() {
            text.text.push('z');
        }
        SqlStatement { parts }
    })
}

fn any_statement() -> impl Strategy<Value = Statement> {
    let simple = prop_oneof![
        Just(StatementKind::Commit),
        Just(StatementKind::Rollback),
        (any_variable(), any_expr())
            .prop_map(|(name, value)| StatementKind::Assign { variable: variable(name), value }),
        prop::collection::vec(any_expr(), 0..3).prop_map(StatementKind::Return),
        any_sql().prop_map(StatementKind::Sql),
        Just(StatementKind::Begin),
        Just(StatementKind::Isolation(LevelName::parse("repeatable read").unwrap())),
        any_sql().prop_map(|query| StatementKind::Open { cursor: "c".to_string(), query }),
        prop::collection::vec(any_variable().prop_map(variable), 1..3)
            .prop_map(|variables| StatementKind::Fetch { cursor: "c".to_string(), variables }),
        Just(StatementKind::Close("c".to_string())),
        any_expr().prop_map(StatementKind::Raise),
    ];
    let statement = |kind| Statement { kind, span: nowhere() };
    simple.prop_map(statement).prop_recursive(3, 12, 3, move |inner| {
        let body = || prop::collection::vec(inner.clone(), 0..3);
        let branch = (any_expr(), body()).prop_map(|(condition, body)| Branch { condition, body });
        let label = || prop::option::of(Just("again".to_string()));
        let repetition = (label(), any_expr(), body()).prop_map(|(label, condition, body)| StatementKind::While {
            label,
            condition,
            body,
        });
        let leave = || prop_oneof![Just(StatementKind::Leave(None)), Just(StatementKind::Iterate(None))];
        let endless = (label(), body(), leave()).prop_map(move |(label, mut body, leave)| {
            body.push(statement(leave));
            StatementKind::Loop { label, body }
        });
        let rows = (label(), any_variable(), any_sql(), body()).prop_map(|(label, name, query, body)| {
            StatementKind::ForEach { label, variables: vec![variable(name)], query, body }
        });
        let block = body().prop_map(move |mut body| {
            body.push(statement(StatementKind::Leave(Some("all".to_string()))));
            StatementKind::Block { label: "all".to_string(), body }
        });
        let conditional = (prop::collection::vec(branch, 1..3), body())
            .prop_map(|(branches, otherwise)| StatementKind::If { branches, otherwise });
        prop_oneof![repetition, conditional, endless, rows, block].prop_map(statement)
    })
}

fn any_program() -> impl Strategy<Value = Program> {
    let types = prop::sample::select(vec!["INT", "DECIMAL(10, 2)", "DOUBLE PRECISION"]);
    let procedure = (prop::option::of(any_expr()), types, prop::collection::vec(any_statement(), 0..5));
    prop::collection::vec(procedure, 0..3).prop_map(|procedures| {
        let build = |(at, (default, type_name, mut body)): (usize, (Option<Expr>, &str, Vec<Statement>))| {
            let type_name = type_name.to_string();
            // The default stands before the declaration of its own variable.
            let default = default.filter(|value| !value.to_string().contains(":amount"));
            let declared = variable("amount".to_string());
            let kind = StatementKind::Declare { variable: declared, type_name: type_name.clone(), default };
            body.insert(0, Statement { kind, span: nowhere() });
            let parameter = |name: &str, mode| Parameter {
                name: name.to_string(),
                mode,
                type_name: type_name.clone(),
                span: nowhere(),
            };
            let modes = [Mode::In, Mode::Out, Mode::InOut];
            let parameters = vec![parameter("x", modes[at % 3]), parameter("y_1", Mode::In)];
            Procedure { name: format!("p{at}"), parameters, autocommit: at % 2 == 1, body, span: nowhere() }
        };
        Program { procedures: procedures.into_iter().enumerate().map(build).collect() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_printed_reads_the_same_again(program in any_program()) {
        let printed = program.to_string();
        let read = Program::parse(&printed).map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
        prop_assert_eq!(&read, &program, "{}", printed);
        prop_assert_eq!(read.to_string(), printed);
    }

    #[test]
    fn nothing_makes_the_parser_panic(words in prop::collection::vec(prop::sample::select(vec![
        "CREATE PROCEDURE p(x INT) BEGIN", "BEGIN", "END", "IF", "THEN", "ELSE", "WHILE", "DO", "DECLARE", "y INT",
        "SET", "x", ":x", "INTO", "=", "-", "(", ")", ";", ",", "'", "\"", "$$", "X'0f'", "1", "1.5.5", "IS NULL",
        "NOT", "CASE", "RETURN", "é", "/*", "--", "\n", "-- @program 1\n", "SELECT 1",
    ]), 0..40)) {
        let text = words.join(" ");
        if let Ok(program) = Program::parse(&text) {
            prop_assert_eq!(Program::parse(&program.to_string()).ok(), Some(program));
        }
    }
}

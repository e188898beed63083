//! What a call sends, given what the server answers.

use super::WITHDRAW;
use crate::case::Call;
use crate::dialect::{Dialect, MySql, Postgres, Sqlite};
use crate::outcome::{Column, DbError, ErrorClass, Outcome, StatementResult, TxStatus};
use crate::program::Program;
use crate::program::interpret::{CallEnd, CallFailure, ITERATIONS_MAX, Instance};
use crate::value::Value;

fn call(procedure: &str, arguments: &[(&str, Value)]) -> Call {
    let arguments = arguments.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    Call { procedure: procedure.to_string(), arguments }
}

fn withdraw(amount: i64) -> Instance {
    let program = Program::parse(WITHDRAW).unwrap();
    let call = call("withdraw", &[("account", Value::int(1)), ("amount", Value::int(amount))]);
    Instance::new(&program, &call, &Postgres).unwrap()
}

/// An instance of the procedure `p(n)` with this body.
fn instance(body: &str, n: Value, dialect: &'static dyn Dialect) -> Instance {
    let program = Program::parse(&format!("CREATE PROCEDURE p(n INT) BEGIN {body} END;")).unwrap();
    Instance::new(&program, &call("p", &[("n", n)]), dialect).unwrap()
}

fn ok(status: TxStatus) -> Outcome {
    Outcome::empty(status)
}

fn tagged(tag: &str, status: TxStatus) -> Outcome {
    let result = StatementResult { tag: Some(tag.to_string()), ..StatementResult::default() };
    Outcome { results: vec![result], ..ok(status) }
}

/// Rows of `int4` columns.
fn rows(rows: &[&[&str]], columns: usize) -> Outcome {
    let column = |at: usize| Column { name: format!("c{at}"), type_name: "int4".to_string() };
    let cells = |row: &&[&str]| row.iter().map(|cell| Some(cell.as_bytes().to_vec())).collect();
    let result = StatementResult {
        columns: (0..columns).map(column).collect(),
        rows: rows.iter().map(cells).collect(),
        ..StatementResult::default()
    };
    Outcome { results: vec![result], ..ok(TxStatus::Open) }
}

fn error(class: ErrorClass, status: TxStatus) -> Outcome {
    let (code, message) = ("00000".to_string(), class.name().to_string());
    Outcome::failed(DbError { class, code, native: None, message, detail: None }, status)
}

/// Answers each message in turn, and gives what was sent.
#[track_caller]
fn check(instance: &mut Instance, answers: &[Outcome], expect: &[&str]) {
    let mut sent = Vec::new();
    let mut last = None;
    while let Some(message) = instance.next(last) {
        sent.push(message);
        last = answers.get(sent.len() - 1);
        assert!(last.is_some(), "no answer for {}", sent[sent.len() - 1]);
    }
    assert_eq!(sent, expect);
    assert!(instance.result().is_some());
    assert_eq!(instance.next(None), None, "the end is the end");
}

use TxStatus::{Failed, Idle, Lost, Open};

#[test]
fn the_branch_depends_on_the_answer() {
    let select = "SELECT balance FROM accounts WHERE id = 1";
    let update = "UPDATE accounts SET balance = 100 - 80 WHERE id = 1";
    let refuse = "INSERT INTO refusals (account, amount) VALUES (1, 80)";
    for (answer, second) in [(rows(&[&["100"]], 1), update), (rows(&[&["20"]], 1), refuse), (rows(&[], 1), refuse)] {
        let mut instance = withdraw(80);
        check(&mut instance, &[ok(Open), answer, ok(Open), ok(Idle)], &["BEGIN", select, second, "COMMIT"]);
        assert_eq!(instance.result(), Some(&CallEnd::Returned));
    }
}

#[test]
fn a_failure_rolls_back_what_is_still_open() {
    let begin_select = ["BEGIN", "SELECT balance FROM accounts WHERE id = 1"];
    let with_rollback = [begin_select[0], begin_select[1], "ROLLBACK"];
    for (status, expect) in
        [(Failed, &with_rollback[..]), (Open, &with_rollback), (Idle, &begin_select), (Lost, &begin_select)]
    {
        let mut instance = withdraw(80);
        check(&mut instance, &[ok(Open), error(ErrorClass::Deadlock, status), ok(Idle)], expect);
        let Some(CallEnd::Failed(CallFailure::Database(error))) = instance.result() else { panic!("it failed") };
        assert_eq!(error.class, ErrorClass::Deadlock);
    }
}

#[test]
fn a_commit_can_fail_in_three_ways() {
    let sent = ["BEGIN", "UPDATE t", "COMMIT", "ROLLBACK"];
    let answers = |commit: Outcome| [ok(Open), ok(Open), commit, ok(Idle)];
    for body in ["UPDATE t; COMMIT;", "UPDATE t;"] {
        let mut undone = instance(body, Value::Null, &Postgres);
        check(&mut undone, &answers(tagged("ROLLBACK", Idle)), &sent[..3]);
        assert_eq!(undone.result(), Some(&CallEnd::Failed(CallFailure::CommitRefused)));

        let mut refused = instance(body, Value::Null, &Postgres);
        check(&mut refused, &answers(error(ErrorClass::SerializationFailure, Idle)), &sent[..3]);
        assert!(matches!(refused.result(), Some(CallEnd::Failed(CallFailure::Database(_)))));

        let mut still_open = instance(body, Value::Null, &Postgres);
        check(&mut still_open, &answers(error(ErrorClass::ForeignKey, Open)), &sent);
        assert!(matches!(still_open.result(), Some(CallEnd::Failed(CallFailure::Database(_)))));
    }
}

#[test]
fn a_failing_rollback_does_not_hide_the_failure() {
    let mut instance = instance("UPDATE t;", Value::Null, &Postgres);
    let answers = [ok(Open), error(ErrorClass::Unique, Open), error(ErrorClass::ConnectionLost, Lost)];
    check(&mut instance, &answers, &["BEGIN", "UPDATE t", "ROLLBACK"]);
    let Some(CallEnd::Failed(CallFailure::Database(error))) = instance.result() else { panic!("it failed") };
    assert_eq!(error.class, ErrorClass::Unique);
}

#[test]
fn transactions_open_when_needed() {
    let body = "COMMIT; ROLLBACK; UPDATE a; COMMIT; COMMIT; UPDATE b; ROLLBACK; RETURN n + 1, 'x';";
    let mut two = instance(body, Value::int(1), &Postgres);
    let answers = [ok(Open), ok(Open), ok(Idle), ok(Open), ok(Open), ok(Idle)];
    check(&mut two, &answers, &["BEGIN", "UPDATE a", "COMMIT", "BEGIN", "UPDATE b", "ROLLBACK"]);
    assert_eq!(two.outputs(), [Value::int(2), Value::text("x")]);

    // DDL that commits implicitly: what follows needs a new transaction.
    let mut ddl = instance("CREATE TABLE a; UPDATE a;", Value::Null, &Postgres);
    let answers = [ok(Open), ok(Idle), ok(Open), ok(Open), ok(Idle)];
    check(&mut ddl, &answers, &["BEGIN", "CREATE TABLE a", "BEGIN", "UPDATE a", "COMMIT"]);

    // A server that does not say that a transaction is open is asked once per statement, not for ever.
    let mut stubborn = instance("UPDATE a;", Value::Null, &Postgres);
    check(&mut stubborn, &[ok(Idle), ok(Idle)], &["BEGIN", "UPDATE a"]);

    let mut own = instance("START TRANSACTION; UPDATE a;", Value::Null, &Postgres);
    check(&mut own, &[ok(Open), ok(Open), ok(Idle)], &["BEGIN", "UPDATE a", "COMMIT"]);

    let mut snapshot = instance("START TRANSACTION READ ONLY; SELECT 1;", Value::Null, &Postgres);
    let sent = ["START TRANSACTION READ ONLY", "SELECT 1", "COMMIT"];
    check(&mut snapshot, &[ok(Open), ok(Open), ok(Idle)], &sent);

    let mut nothing = instance("IF n THEN UPDATE a; END IF;", Value::Null, &Postgres);
    check(&mut nothing, &[], &[]);
}

#[test]
fn into_takes_one_row_of_as_many_columns() {
    let body = "DECLARE x INT; DECLARE y INT DEFAULT 5; SELECT 1, 2 INTO :x, :y; RETURN x, y;";
    let run = |answer: Outcome, sent: &[&str]| {
        let mut instance = instance(body, Value::Null, &Postgres);
        check(&mut instance, &[ok(Open), answer, ok(Idle)], sent);
        (instance.result().cloned(), instance.outputs().to_vec())
    };
    let end = |commit: bool| ["BEGIN", "SELECT 1, 2", if commit { "COMMIT" } else { "ROLLBACK" }];
    let returned = Some(CallEnd::Returned);
    assert_eq!(run(rows(&[&["7", "8.0"]], 2), &end(true)), (returned.clone(), vec![Value::int(7), Value::int(8)]));
    assert_eq!(run(rows(&[], 2), &end(true)), (returned, vec![Value::Null, Value::Null]));
    let failed = |failure| (Some(CallEnd::Failed(failure)), vec![]);
    let too_many = CallFailure::IntoRows { line: 1, rows: 2 };
    assert_eq!(run(rows(&[&["1", "2"], &["3", "4"]], 2), &end(false)), failed(too_many));
    let too_few = CallFailure::IntoColumns { line: 1, variables: 2, columns: 1 };
    assert_eq!(run(rows(&[&["1"]], 1), &end(false)), failed(too_few));
    let none = CallFailure::IntoColumns { line: 1, variables: 2, columns: 0 };
    assert_eq!(run(ok(Open), &end(false)), failed(none));
}

#[test]
fn into_follows_its_rule() {
    let check_rule = |word: &str, answer: &[&[&str]], expect: Result<Value, usize>| {
        let body = format!("DECLARE x INT DEFAULT 5; SELECT 1 INTO {word} :x; RETURN x;");
        let mut instance = instance(&body, Value::Null, &Postgres);
        let end = if expect.is_ok() { "COMMIT" } else { "ROLLBACK" };
        check(&mut instance, &[ok(Open), rows(answer, 1), ok(Idle)], &["BEGIN", "SELECT 1", end]);
        match expect {
            Ok(value) => assert_eq!(instance.outputs(), [value], "{word}"),
            Err(rows) => {
                let failure = CallEnd::Failed(CallFailure::IntoRows { line: 1, rows });
                assert_eq!(instance.result(), Some(&failure), "{word}");
            }
        }
    };
    let none: &[&[&str]] = &[];
    let one: &[&[&str]] = &[&["7"]];
    let two: &[&[&str]] = &[&["7"], &["8"]];
    for (word, without, several) in [
        ("", Ok(Value::Null), Err(2)),
        ("KEEP", Ok(Value::int(5)), Err(2)),
        ("FIRST", Ok(Value::Null), Ok(Value::int(7))),
        ("STRICT", Err(0), Err(2)),
    ] {
        check_rule(word, none, without);
        check_rule(word, one, Ok(Value::int(7)));
        check_rule(word, two, several);
    }
}

#[test]
fn rows_are_taken_one_at_a_time() {
    let body =
        "DECLARE x INT DEFAULT 9; OPEN c FOR SELECT 1; FETCH c INTO x; FETCH c INTO x; CLOSE c; RETURN x, FOUND();";
    let mut twice = instance(body, Value::Null, &Postgres);
    check(&mut twice, &[ok(Open), rows(&[&["4"]], 1), ok(Idle)], &["BEGIN", "SELECT 1", "COMMIT"]);
    assert_eq!(twice.outputs(), [Value::int(4), Value::Bool(false)]);

    let body =
        "DECLARE s INT DEFAULT 0; DECLARE x INT; FOR x IN (SELECT 1) DO SET s = s + x; END FOR; RETURN s, FOUND();";
    let mut sum = instance(body, Value::Null, &Postgres);
    check(&mut sum, &[ok(Open), rows(&[&["4"], &["5"]], 1), ok(Idle)], &["BEGIN", "SELECT 1", "COMMIT"]);
    assert_eq!(sum.outputs(), [Value::int(9), Value::Bool(true)]);

    let mut none = instance(body, Value::Null, &Postgres);
    check(&mut none, &[ok(Open), rows(&[], 1), ok(Idle)], &["BEGIN", "SELECT 1", "COMMIT"]);
    assert_eq!(none.outputs(), [Value::int(0), Value::Bool(false)]);

    let mut closed = instance("FETCH c INTO n;", Value::Null, &Postgres);
    check(&mut closed, &[], &[]);
    let failure = CallFailure::NotOpen { line: 1, cursor: "c".to_string() };
    assert_eq!(closed.result(), Some(&CallEnd::Failed(failure)));
}

#[test]
fn counts_of_rows_can_be_asked_for() {
    let changed = StatementResult { affected: Some(3), ..StatementResult::default() };
    let changed = Outcome { results: vec![changed], ..ok(Open) };
    let mut counted = instance("UPDATE t; RETURN ROW_COUNT(), FOUND();", Value::Null, &Postgres);
    check(&mut counted, &[ok(Open), changed, ok(Idle)], &["BEGIN", "UPDATE t", "COMMIT"]);
    assert_eq!(counted.outputs(), [Value::int(3), Value::Bool(true)]);
}

#[test]
fn programs_can_fail_and_leave() {
    let mut raised = instance("UPDATE t; SIGNAL 'enough';", Value::Null, &Postgres);
    check(&mut raised, &[ok(Open), ok(Open), ok(Idle)], &["BEGIN", "UPDATE t", "ROLLBACK"]);
    let Some(CallEnd::Failed(failure)) = raised.result() else { panic!("it failed") };
    assert_eq!(failure.to_string(), "line 1: enough");

    let body =
        "all: BEGIN LOOP SET n = n + 1; IF n < 3 THEN ITERATE; END IF; LEAVE all; END LOOP; UPDATE t; END; RETURN n;";
    let mut left = instance(body, Value::int(0), &Postgres);
    check(&mut left, &[], &[]);
    assert_eq!(left.outputs(), [Value::int(3)]);
}

#[test]
fn levels_are_said_where_the_dialect_wants_them() {
    let body = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; UPDATE t;";
    let set = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE";
    let mut inside = instance(body, Value::Null, &Postgres);
    check(&mut inside, &[ok(Open), ok(Open), ok(Open), ok(Idle)], &["BEGIN", set, "UPDATE t", "COMMIT"]);
    let mut before = instance(body, Value::Null, &MySql);
    check(&mut before, &[ok(Idle), ok(Open), ok(Open), ok(Idle)], &[set, "BEGIN", "UPDATE t", "COMMIT"]);
    let mut nowhere = instance(body, Value::Null, &Sqlite);
    check(&mut nowhere, &[ok(Open), ok(Open), ok(Idle)], &["BEGIN", "UPDATE t", "COMMIT"]);
}

#[test]
fn autocommit_and_outputs_are_parts_of_a_procedure() {
    let text = "CREATE PROCEDURE p(OUT x INT, INOUT y INT) AUTOCOMMIT BEGIN UPDATE a; START TRANSACTION; UPDATE b; \
                START TRANSACTION; UPDATE c; COMMIT; SET x = y; SET y = 0; END;";
    let program = Program::parse(text).unwrap();
    let mut instance = Instance::new(&program, &call("p", &[("y", Value::int(3))]), &Postgres).unwrap();
    let answers = [ok(Idle), ok(Open), ok(Open), ok(Idle), ok(Open), ok(Open), ok(Idle)];
    let sent = ["UPDATE a", "BEGIN", "UPDATE b", "COMMIT", "BEGIN", "UPDATE c", "COMMIT"];
    check(&mut instance, &answers, &sent);
    assert_eq!(instance.outputs(), [Value::int(3), Value::int(0)]);
    assert!(Instance::new(&program, &call("p", &[]), &Postgres).is_err(), "INOUT needs an argument");
}

#[test]
fn values_become_literals_of_the_dialect() {
    let check_text = |body: &str, n: Value, dialect: &'static dyn Dialect, expect: &str| {
        let mut instance = instance(body, n, dialect);
        assert_eq!(instance.next(None).as_deref(), Some("BEGIN"));
        assert_eq!(instance.next(Some(&ok(Open))).as_deref(), Some(expect));
    };
    check_text("SELECT :n;", Value::text("it's"), &Postgres, "SELECT 'it''s'");
    check_text("SELECT :n;", Value::Bytes(vec![255]), &Sqlite, "SELECT X'ff'");
    check_text("SELECT :n;", Value::Bytes(vec![255]), &Postgres, "SELECT '\\xff'::bytea");
    check_text("SELECT 1-:n, (:n), 2 * :n;", Value::int(-5), &Postgres, "SELECT 1-(-5), (-5), 2 * (-5)");
    check_text("SELECT :n::int2;", Value::int(-5), &Postgres, "SELECT (-5)::int2");
    check_text("SELECT ':n', :n;", Value::Null, &Postgres, "SELECT ':n', NULL");
}

#[test]
fn loops_end() {
    let mut three = instance("WHILE n > 0 DO UPDATE t SET x = :n; SET n = n - 1; END WHILE;", Value::int(2), &Postgres);
    let answers = [ok(Open), ok(Open), ok(Open), ok(Idle)];
    check(&mut three, &answers, &["BEGIN", "UPDATE t SET x = 2", "UPDATE t SET x = 1", "COMMIT"]);

    let mut endless = instance("UPDATE t; WHILE TRUE DO SET n = 1; END WHILE;", Value::Null, &Postgres);
    check(&mut endless, &[ok(Open), ok(Open), ok(Idle)], &["BEGIN", "UPDATE t", "ROLLBACK"]);
    assert_eq!(endless.result(), Some(&CallEnd::Failed(CallFailure::EndlessLoop { line: 1 })));

    let counted = format!("DECLARE i INT DEFAULT 0; WHILE i < {ITERATIONS_MAX} DO SET i = i + 1; END WHILE; RETURN i;");
    let mut counted = instance(&counted, Value::Null, &Postgres);
    check(&mut counted, &[], &[]);
    assert_eq!(counted.outputs(), [Value::int(ITERATIONS_MAX as i64)]);
}

#[test]
fn an_expression_without_a_value_fails_the_call() {
    let mut instance = instance("UPDATE t;\nSET n = n / 0;", Value::int(1), &Postgres);
    check(&mut instance, &[ok(Open), ok(Open), ok(Idle)], &["BEGIN", "UPDATE t", "ROLLBACK"]);
    let Some(CallEnd::Failed(failure)) = instance.result() else { panic!("it failed") };
    assert_eq!(failure.to_string(), "line 2: division by zero in :n / 0");
}

#[test]
fn calls_must_fit_the_program() {
    let program = Program::parse(WITHDRAW).unwrap();
    let check = |name: &str, arguments: &[(&str, Value)], expect: &str| {
        let error = Instance::new(&program, &call(name, arguments), &Postgres).expect_err(expect);
        assert_eq!(error.to_string(), expect);
    };
    let one = || Value::int(1);
    check("withdrew", &[], "the program has no procedure withdrew; did you mean withdraw?");
    check(
        "withdraw",
        &[("account", one())],
        "the call withdraw(account=1) gives no value for amount; write amount=VALUE",
    );
    check(
        "withdraw",
        &[("acount", one())],
        "the call withdraw(acount=1) names acount, but the procedure has no such parameter; did you mean account?",
    );
    check(
        "withdraw",
        &[("account", one()), ("Account", one())],
        "the call withdraw(account=1, Account=1) gives two values for Account; leave one out",
    );
    assert!(Instance::new(&program, &call("WITHDRAW", &[("AMOUNT", one()), ("account", one())]), &Postgres).is_ok());
}

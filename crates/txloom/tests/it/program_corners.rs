//! Where the procedural languages differ from one another and from what one expects: the interpreter does as the server.

use txloom_core::case::Call;
use txloom_core::program::front::{self, Definitions};
use txloom_core::program::schema::Schema;
use txloom_core::program::{Language, Mode, Program};
use txloom_core::value::Value;

use crate::program_calls::{by_server, interpreted, session};
use crate::support::{engine, limited};

const SETUP: &[&str] = &[
    "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
    "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, NULL), (-5, -50)",
];

/// The parameters of every procedure.
const HEAD: &str = "(IN a INT, IN b INT, OUT x INT, OUT y INT)";

const ARGUMENTS: &[(i64, i64)] = &[(1, 2), (2, 1), (3, 3), (9, 1), (4, 4), (-5, 2), (0, 7), (2, -3)];

const MARIADB: &[(&str, &str)] = &[
    ("no_row_keeps", "SET x = 7; SELECT v INTO x FROM t WHERE id = a; SELECT v INTO y FROM t WHERE id = b;"),
    ("several_rows", "SELECT v INTO x FROM t WHERE id > a;"),
    ("limited", "SELECT v INTO x FROM t WHERE id >= a ORDER BY id LIMIT 1; SELECT id, v INTO x, y FROM t WHERE v = x;"),
    (
        "handler",
        "DECLARE gone INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND SET gone = gone + 1; \
         SELECT v INTO x FROM t WHERE id = a; SELECT v INTO y FROM t WHERE id = b + 100; SET y = gone;",
    ),
    (
        "exit_handler",
        "SET x = 1; BEGIN DECLARE EXIT HANDLER FOR NOT FOUND SET y = 5; SELECT v INTO x FROM t WHERE id = a; SET y = 6; END; \
         SET x = x + 1;",
    ),
    (
        "every_row",
        "DECLARE done INT DEFAULT 0; DECLARE n INT; DECLARE c CURSOR FOR SELECT v FROM t WHERE id >= a ORDER BY id; \
         DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; SET x = 0; SET y = 0; OPEN c; \
         again: LOOP FETCH c INTO n; IF done = 1 THEN LEAVE again; END IF; SET y = y + 1; \
         IF n IS NULL THEN ITERATE again; END IF; SET x = x + n; END LOOP; CLOSE c;",
    ),
    (
        "behind_the_last",
        "DECLARE c CURSOR FOR SELECT v FROM t WHERE id = a; OPEN c; FETCH c INTO x; FETCH c INTO y; CLOSE c;",
    ),
    ("not_open", "DECLARE c CURSOR FOR SELECT v FROM t; IF a > 2 THEN OPEN c; END IF; FETCH c INTO x; CLOSE c;"),
    (
        "rows_of_when_it_was_opened",
        "DECLARE n INT DEFAULT 0; DECLARE c CURSOR FOR SELECT v FROM t WHERE id >= 1 ORDER BY id; SET x = 0; START TRANSACTION; OPEN c; \
         UPDATE t SET v = v + 1 WHERE id >= 1; FETCH c INTO x; FETCH c INTO y; CLOSE c; ROLLBACK;",
    ),
    ("remainders", "SET x = a % b; SET y = a DIV b;"),
    ("unknown", "IF NULL THEN SET x = 1; ELSEIF NOT NULL THEN SET x = 2; ELSE SET x = 3; END IF; SET y = a + NULL;"),
    ("truth", "SET x = (a > b) * 3; SET y = (a = 1) + (b = 2); IF a - 1 THEN SET x = 10; END IF;"),
    ("case_of_nothing", "CASE a WHEN 1 THEN SET x = 1; WHEN 2 THEN SET x = 2; END CASE; SET y = 1;"),
    (
        "counted",
        "START TRANSACTION; UPDATE t SET v = 1 WHERE id > a; SET x = ROW_COUNT(); DELETE FROM t WHERE id = b; SET y = ROW_COUNT(); ROLLBACK;",
    ),
    (
        "repeated",
        "SET x = 0; REPEAT SET x = x + 1; UNTIL x >= a END REPEAT; SET y = 0; WHILE y < b DO SET y = y + 2; END WHILE;",
    ),
    ("shadowed", "DECLARE n INT DEFAULT 1; BEGIN DECLARE n INT DEFAULT 2; SET x = n; END; SET y = n;"),
    ("signalled", "SET x = 1; IF a > 2 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too ''much'; END IF;"),
    ("server_computes", "SET x = ABS(a) + COALESCE(NULL, b); SET y = (SELECT COUNT(*) FROM t WHERE v > a);"),
    ("asked", "IF EXISTS (SELECT 1 FROM t WHERE id = a) AND b BETWEEN 1 AND 2 THEN SET x = 1; ELSE SET x = 0; END IF;"),
    ("left_early", "whole: BEGIN SET x = 1; IF a > 1 THEN LEAVE whole; END IF; SET y = 2; END;"),
];

const POSTGRES: &[(&str, &str)] = &[
    ("no_row_is_null", "BEGIN x := 7; SELECT v INTO x FROM t WHERE id = a; SELECT v INTO y FROM t WHERE id = b; END"),
    ("the_first_row", "BEGIN SELECT v INTO x FROM t WHERE id > a ORDER BY id; IF FOUND THEN y := 1; END IF; END"),
    ("strictly", "BEGIN SELECT v INTO STRICT x FROM t WHERE id >= a; END"),
    (
        "found",
        "BEGIN UPDATE t SET v = 1 WHERE id = a; IF FOUND THEN x := 1; END IF; DELETE FROM t WHERE id = b; \
         IF NOT FOUND THEN y := 2; END IF; ROLLBACK; END",
    ),
    (
        "records",
        "DECLARE r RECORD; BEGIN x := 0; y := 0; FOR r IN SELECT id, v FROM t WHERE id >= a ORDER BY id LOOP y := y + r.id; \
         CONTINUE WHEN r.v IS NULL; x := x + r.v; EXIT WHEN r.id = b; END LOOP; END",
    ),
    (
        "numbers",
        "BEGIN x := 0; FOR i IN a..b LOOP x := x + i; END LOOP; y := 0; FOR i IN REVERSE b..a BY 2 LOOP y := y + i; END LOOP; END",
    ),
    (
        "every_row",
        "DECLARE c CURSOR FOR SELECT v FROM t WHERE id >= a ORDER BY id; n INT; BEGIN x := 0; y := 0; OPEN c; \
         LOOP FETCH c INTO n; EXIT WHEN NOT FOUND; y := y + 1; x := x + COALESCE(n, 0); END LOOP; CLOSE c; END",
    ),
    (
        "behind_the_last",
        "DECLARE c CURSOR FOR SELECT v FROM t WHERE id = a; BEGIN x := 1; y := 2; OPEN c; FETCH c INTO x; FETCH c INTO y; CLOSE c; END",
    ),
    ("remainders", "BEGIN x := a % b; y := a / b; END"),
    ("unknown", "BEGIN IF NULL THEN x := 1; ELSIF NOT NULL THEN x := 2; ELSE x := 3; END IF; y := a + NULL; END"),
    ("case_of_nothing", "BEGIN CASE a WHEN 1 THEN x := 1; WHEN 2, 3 THEN x := 2; END CASE; y := 1; END"),
    ("counted", "BEGIN UPDATE t SET v = 1 WHERE id > a; GET DIAGNOSTICS x = ROW_COUNT; y := 0; ROLLBACK; END"),
    ("shadowed", "DECLARE n INT := 1; BEGIN DECLARE n INT := 2; BEGIN x := n; END; y := n; END"),
    ("raised", "BEGIN x := 1; IF a > 2 THEN RAISE EXCEPTION 'too ''much'; END IF; END"),
    ("server_computes", "BEGIN x := ABS(a) + COALESCE(NULL, b); y := (SELECT COUNT(*) FROM t WHERE v > a); END"),
    (
        "asked",
        "BEGIN IF EXISTS (SELECT 1 FROM t WHERE id = a) AND b BETWEEN 1 AND 2 THEN x := 1; ELSE x := 0; END IF; END",
    ),
    ("left_early", "<<whole>> BEGIN x := 1; EXIT whole WHEN a > 1; y := 2; END"),
    ("returned", "BEGIN x := 1; IF a > 1 THEN RETURN; END IF; y := 2; END"),
    ("given_back", "BEGIN UPDATE t SET v = COALESCE(v, 0) + b WHERE id = a RETURNING id, v INTO x, y; ROLLBACK; END"),
    (
        "committed",
        "BEGIN UPDATE t SET v = v + b WHERE id = 1; COMMIT; SELECT v INTO x FROM t WHERE id = 1; UPDATE t SET v = 10 WHERE id = 1; END",
    ),
];

/// Every procedure with all arguments, by the interpreter and by the server.
fn check(target: &str, procedures: &[(&str, String)]) {
    let mut engine = engine(target);
    let engine = engine.as_mut();
    let tables = Schema::read(SETUP[0], Language::Any).0;
    let mut differences = Vec::new();
    for (name, text) in procedures {
        let reading = front::read(text, &tables);
        assert_eq!(reading.diagnostics, [], "{target}: {name}");
        let program: Program = reading.program;
        let setup =
            SETUP.iter().map(|sql| (*sql).to_string()).chain(Definitions::read(text).routines).collect::<Vec<_>>();
        let outcomes = engine.reset(&setup).unwrap_or_else(|error| panic!("{error}"));
        outcomes.iter().for_each(|outcome| assert_eq!(outcome.error, None, "{target}: {name}"));
        let mut session = session(engine);
        let procedure = &program.procedures[0];
        assert_eq!(procedure.parameters[3].mode, Mode::Out);
        for (a, b) in ARGUMENTS {
            let arguments = [("a", a), ("b", b)].map(|(name, value)| (name.to_string(), Value::int(*value)));
            let call = Call { procedure: procedure.name.clone(), arguments: arguments.to_vec() };
            let ours = interpreted(engine, session.as_mut(), &program, &call);
            let theirs = by_server(engine, session.as_mut(), procedure, &call);
            if ours.as_ref().ok() != theirs.as_ref().ok() {
                differences.push(format!("{call}: {ours:?}, the server: {theirs:?}"));
            }
        }
    }
    assert_eq!(differences, [""; 0], "{target}");
}

#[test]
fn on_mariadb_the_corners_are_the_servers() {
    limited(|| {
        let text = |body: &str, name: &str| {
            format!("DELIMITER //\nCREATE PROCEDURE {name}{HEAD}\nproc: BEGIN {body} END //\n")
        };
        check("mariadb", &MARIADB.iter().map(|(name, body)| (*name, text(body, name))).collect::<Vec<_>>());
    });
}

#[test]
fn on_postgres_the_corners_are_the_servers() {
    limited(|| {
        let text =
            |body: &str, name: &str| format!("CREATE PROCEDURE {name}{HEAD} LANGUAGE plpgsql AS $$ {body} $$;\n");
        check("postgres", &POSTGRES.iter().map(|(name, body)| (*name, text(body, name))).collect::<Vec<_>>());
    });
}

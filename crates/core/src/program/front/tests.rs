//! Sources of several languages, and the programs that they become.

use super::{Reading, read};
use crate::case::Call;
use crate::dialect::{Dialect, MySql, Postgres};
use crate::outcome::{Column, Outcome, StatementResult, TxStatus};
use crate::program::interpret::{CallEnd, Instance};
use crate::program::schema::Schema;
use crate::program::{Language, Program};
use crate::value::Value;

const SCHEMA: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, owner INT, balance INT); \
                      CREATE TABLE log (id INT, what VARCHAR(10));";

fn schema() -> Schema {
    Schema::read(SCHEMA, Language::Any).0
}

fn diagnostics(reading: &Reading, source: &str) -> Vec<String> {
    let show = |one: &crate::program::Diagnostic| {
        let hint = one.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let place = &source[one.span.start..one.span.end];
        format!("{} {}:`{place}`: {}{hint}", one.severity.name(), one.span.line, one.message)
    };
    reading.diagnostics.iter().map(show).collect()
}

/// The body of a program's only procedure, as printed.
#[track_caller]
fn printed(reading: &Reading) -> String {
    let text = reading.program.to_string();
    let again = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(again, reading.program, "what is printed reads the same again:\n{text}");
    let start = text.find("BEGIN\n").unwrap_or_else(|| panic!("a procedure in {text}")) + "BEGIN\n".len();
    text[start..text.len() - "END;\n".len()].to_string()
}

/// The body of a MySQL procedure `p(IN a INT, IN b INT)`.
#[track_caller]
fn check_mysql(body: &str, expect: &str) {
    let source = format!("DELIMITER //\nCREATE PROCEDURE p(IN a INT, b INT)\nBEGIN\n{body}\nEND //\n");
    let reading = read(&source, &schema());
    assert_eq!(diagnostics(&reading, &source), [""; 0], "{body}");
    assert_eq!(printed(&reading), expect, "{body}");
}

/// The body of a PL/pgSQL procedure `p(a int, b int)`.
#[track_caller]
fn check_plpgsql(body: &str, expect: &str) {
    let source = format!("CREATE OR REPLACE PROCEDURE p(a int, b int) LANGUAGE plpgsql AS $$\n{body}\n$$;\n");
    let reading = read(&source, &schema());
    assert_eq!(diagnostics(&reading, &source), [""; 0], "{body}");
    assert_eq!(printed(&reading), expect, "{body}");
}

#[test]
fn a_case_of_plpgsql_may_list_values() {
    check_plpgsql(
        "BEGIN CASE a WHEN 1, b + 1 THEN COMMIT; WHEN 3 THEN ROLLBACK; ELSE NULL; END CASE; END",
        "  IF :a = 1 OR :a = :b + 1 THEN\n    COMMIT;\n  ELSEIF :a = 3 THEN\n    ROLLBACK;\n  END IF;\n",
    );
}

#[track_caller]
fn check_diagnostics(source: &str, expect: &[&str]) -> Reading {
    let reading = read(source, &schema());
    assert_eq!(diagnostics(&reading, source), expect, "{source}");
    reading
}

#[test]
fn mysql_statements_become_ours() {
    check_mysql(
        "DECLARE x, y INT DEFAULT 0;\nSELECT balance INTO x FROM accounts WHERE id = a;\nSET x = x - b, y = 2;\n\
         UPDATE accounts SET balance = x WHERE id = a; COMMIT;",
        "  DECLARE x INT DEFAULT 0;\n  DECLARE y INT DEFAULT 0;\n  SELECT balance INTO KEEP :x FROM accounts WHERE id = \
         :a;\n  SET x = :x - :b;\n  SET y = 2;\n  UPDATE accounts SET balance = :x WHERE id = :a;\n  COMMIT;\n",
    );
    check_mysql(
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION; INSERT INTO log (id) VALUES (a); ROLLBACK WORK;",
        "  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n  START TRANSACTION;\n  INSERT INTO log (id) VALUES (:a);\n  \
         ROLLBACK;\n",
    );
    check_mysql("SET @n := a; SELECT @n + 1;", "  DECLARE user_n TEXT;\n  SET user_n = :a;\n  SELECT :user_n + 1;\n");
    check_mysql(
        "BEGIN DECLARE a INT; SET a = 1; END; SET a = 2;",
        "  DECLARE a_2 INT;\n  SET a_2 = 1;\n  SET a = 2;\n",
    );
}

#[test]
fn mysql_control_flow_becomes_ours() {
    check_mysql(
        "IF a > 1 THEN COMMIT; ELSEIF b IS NULL THEN ROLLBACK; ELSE SET a = 1; END IF;",
        "  IF :a > 1 THEN\n    COMMIT;\n  ELSEIF :b IS NULL THEN\n    ROLLBACK;\n  ELSE\n    SET a = 1;\n  END IF;\n",
    );
    check_mysql("WHILE a > 0 DO SET a = a - 1; END WHILE;", "  WHILE :a > 0 DO\n    SET a = :a - 1;\n  END WHILE;\n");
    check_mysql(
        "again:LOOP SET a = a - 1; IF a < 0 THEN LEAVE again; END IF; ITERATE again; END LOOP again;",
        "  again: LOOP\n    SET a = :a - 1;\n    IF :a < 0 THEN\n      LEAVE again;\n    END IF;\n    ITERATE again;\n  \
         END LOOP;\n",
    );
    check_mysql(
        "REPEAT SET a = a - 1; UNTIL a <= 0 END REPEAT;",
        "  LOOP\n    SET a = :a - 1;\n    IF :a <= 0 THEN\n      LEAVE;\n    END IF;\n  END LOOP;\n",
    );
    check_mysql(
        "CASE a WHEN 1 THEN COMMIT; WHEN 2 THEN ROLLBACK; ELSE SET a = 0; END CASE;",
        "  IF :a = 1 THEN\n    COMMIT;\n  ELSEIF :a = 2 THEN\n    ROLLBACK;\n  ELSE\n    SET a = 0;\n  END IF;\n",
    );
    check_mysql(
        "inner_block: BEGIN IF a THEN LEAVE inner_block; END IF; COMMIT; END;",
        "  inner_block: BEGIN\n    IF :a THEN\n      LEAVE inner_block;\n    END IF;\n    COMMIT;\n  END;\n",
    );
    check_mysql(
        "IF a > b THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too much'; END IF;",
        "  IF :a > :b THEN\n    SIGNAL 'too much';\n  END IF;\n",
    );
}

#[test]
fn mysql_cursors_and_handlers_become_ours() {
    check_mysql(
        "DECLARE done INT DEFAULT FALSE;\nDECLARE v INT;\nDECLARE c CURSOR FOR SELECT id FROM accounts WHERE owner = a;\n\
         DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;\nDECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; \
         RESIGNAL; END;\nOPEN c;\nread_loop: LOOP\nFETCH c INTO v;\nIF done THEN LEAVE read_loop; END IF;\nEND LOOP;\n\
         CLOSE c;",
        "  DECLARE done INT DEFAULT FALSE;\n  DECLARE v INT;\n  OPEN c FOR SELECT id FROM accounts WHERE owner = :a;\n  \
         read_loop: LOOP\n    FETCH c INTO v;\n    IF NOT FOUND() THEN\n      SET done = TRUE;\n    END IF;\n    \
         IF :done THEN\n      LEAVE read_loop;\n    END IF;\n  END LOOP;\n  CLOSE c;\n",
    );
    check_mysql(
        "DECLARE v INT; DECLARE EXIT HANDLER FOR NOT FOUND SET a = 0; SELECT id INTO v FROM accounts WHERE id = a; COMMIT;",
        "  block: BEGIN\n    DECLARE v INT;\n    SELECT id INTO KEEP :v FROM accounts WHERE id = :a;\n    \
         IF NOT FOUND() THEN\n      SET a = 0;\n      LEAVE block;\n    END IF;\n    COMMIT;\n  END;\n",
    );
}

#[test]
fn what_we_cannot_compute_is_asked_of_the_server() {
    check_mysql("SET a = COALESCE(b, 0);", "  SELECT COALESCE(:b, 0) INTO :a;\n");
    check_mysql("SET a = b / 2;", "  SELECT :b / 2 INTO :a;\n");
    check_mysql(
        "IF EXISTS (SELECT 1 FROM accounts WHERE id = a) THEN COMMIT; END IF;",
        "  DECLARE computed TEXT;\n  SELECT EXISTS (SELECT 1 FROM accounts WHERE id = :a) INTO :computed;\n  \
         IF :computed THEN\n    COMMIT;\n  END IF;\n",
    );
    check_mysql(
        "WHILE (SELECT COUNT(*) FROM log) > a DO COMMIT; END WHILE;",
        "  DECLARE computed TEXT;\n  LOOP\n    SELECT (SELECT COUNT(*) FROM log) > :a INTO :computed;\n    \
         IF :computed THEN\n    ELSE\n      LEAVE;\n    END IF;\n    COMMIT;\n  END LOOP;\n",
    );
    check_mysql(
        "IF a = 1 THEN COMMIT; ELSEIF ABS(b) = 1 THEN ROLLBACK; END IF;",
        "  DECLARE computed TEXT;\n  IF :a = 1 THEN\n    COMMIT;\n  ELSE\n    SELECT ABS(:b) = 1 INTO :computed;\n    \
         IF :computed THEN\n      ROLLBACK;\n    END IF;\n  END IF;\n",
    );
}

#[test]
fn plpgsql_statements_become_ours() {
    check_plpgsql(
        "DECLARE\n  x accounts.balance%TYPE;\n  y numeric(10,2) := 0;\n  r RECORD;\nBEGIN\n  SELECT balance INTO x FROM \
         accounts WHERE id = a;\n  SELECT id, owner INTO STRICT r FROM accounts WHERE id = b;\n  y := x - r.owner;\n  \
         PERFORM pg_sleep(0);\n  UPDATE accounts SET balance = y WHERE id = r.id RETURNING owner INTO x;\n  COMMIT;\n  \
         NULL;\nEND;",
        "  DECLARE r_id TEXT;\n  DECLARE r_owner TEXT;\n  DECLARE x INT;\n  DECLARE y numeric(10,2) DEFAULT 0;\n  \
         SELECT balance INTO FIRST :x FROM accounts WHERE id = :a;\n  SELECT id, owner INTO STRICT :r_id, :r_owner FROM \
         accounts WHERE id = :b;\n  SET y = :x - :r_owner;\n  SELECT pg_sleep(0);\n  UPDATE accounts SET balance = :y \
         WHERE id = :r_id RETURNING owner INTO FIRST :x;\n  COMMIT;\n",
    );
    check_plpgsql(
        "BEGIN SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; UPDATE accounts SET balance = 0 WHERE id = p.a; \
         IF NOT FOUND THEN RAISE EXCEPTION 'no account %', a; END IF; RAISE NOTICE 'x'; END",
        "  SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;\n  UPDATE accounts SET balance = 0 WHERE id = :a;\n  \
         IF NOT FOUND() THEN\n    SIGNAL 'no account %';\n  END IF;\n",
    );
    check_plpgsql(
        "DECLARE n int; BEGIN DELETE FROM log; GET DIAGNOSTICS n = ROW_COUNT; RETURN; END;",
        "  DECLARE n int;\n  DELETE FROM log;\n  SET n = ROW_COUNT();\n  RETURN;\n",
    );
}

#[test]
fn plpgsql_loops_become_ours() {
    check_plpgsql(
        "DECLARE r record;\nBEGIN\n  FOR r IN SELECT id, balance * 2 AS twice FROM accounts WHERE owner = a LOOP\n    \
         CONTINUE WHEN r.twice = 0;\n    DELETE FROM log WHERE id = r.id;\n  END LOOP;\nEND;",
        "  DECLARE r_id TEXT;\n  DECLARE r_twice TEXT;\n  FOR r_id, r_twice IN (SELECT id, balance * 2 AS twice FROM \
         accounts WHERE owner = :a) DO\n    IF :r_twice = 0 THEN\n      ITERATE;\n    END IF;\n    DELETE FROM log WHERE \
         id = :r_id;\n  END FOR;\n",
    );
    check_plpgsql(
        "BEGIN FOR i IN 1..a LOOP COMMIT; END LOOP; END;",
        "  DECLARE i_last INT;\n  DECLARE i INT;\n  SET i_last = :a;\n  SET i = 1 - 1;\n  LOOP\n    SET i = :i + 1;\n    \
         IF :i <= :i_last THEN\n    ELSE\n      LEAVE;\n    END IF;\n    COMMIT;\n  END LOOP;\n",
    );
    check_plpgsql(
        "BEGIN <<outer_loop>> WHILE a > 0 LOOP LOOP EXIT; EXIT outer_loop WHEN b = 1; END LOOP; END LOOP outer_loop; END;",
        "  outer_loop: WHILE :a > 0 DO\n    LOOP\n      LEAVE;\n      IF :b = 1 THEN\n        LEAVE outer_loop;\n      \
         END IF;\n    END LOOP;\n  END WHILE;\n",
    );
    check_plpgsql(
        "DECLARE c CURSOR FOR SELECT id FROM accounts; v int; BEGIN OPEN c; FETCH c INTO v; CLOSE c; END;",
        "  DECLARE v int;\n  OPEN c FOR SELECT id FROM accounts;\n  FETCH c INTO v;\n  IF NOT FOUND() THEN\n    SET v = \
         NULL;\n  END IF;\n  CLOSE c;\n",
    );
}

#[test]
fn heads_are_understood() {
    let source = "CREATE DEFINER=`root`@`%` PROCEDURE `db`.`P`(IN `x` DECIMAL(10, 2), OUT y INT, INOUT z VARCHAR(5))\n\
                  COMMENT 'why' MODIFIES SQL DATA SQL SECURITY INVOKER\nBEGIN\n  START TRANSACTION;\n  COMMIT;\nEND;";
    let reading = check_diagnostics(source, &[]);
    let head = "CREATE PROCEDURE p(x DECIMAL(10, 2), OUT y INT, INOUT z VARCHAR(5)) AUTOCOMMIT\n";
    assert!(reading.program.to_string().contains(head), "{}", reading.program);
    let source = "CREATE FUNCTION public.f(a integer DEFAULT 1, OUT b integer) RETURNS integer AS $body$ BEGIN b := a; \
                  RETURN; END $body$ LANGUAGE plpgsql;";
    let reading = check_diagnostics(source, &[]);
    assert!(reading.program.to_string().contains("CREATE PROCEDURE f(a integer, OUT b integer)\n"));
    let source = "CREATE FUNCTION g(a int) RETURNS int LANGUAGE sql AS 'SELECT balance FROM accounts WHERE id = a; ';";
    let reading = check_diagnostics(source, &[]);
    assert_eq!(printed(&reading), "  SELECT balance FROM accounts WHERE id = :a;\n");
}

#[test]
fn names_that_are_variable_and_column_are_pointed_out() {
    let source =
        "DELIMITER //\nCREATE PROCEDURE p(balance INT) BEGIN\nUPDATE accounts SET owner = 1 WHERE balance = 2;\nEND //";
    let reading = check_diagnostics(
        source,
        &[
            "warning 3:`balance`: this is the variable balance, not the column accounts.balance (write accounts.balance, or \
         give the variable another name)",
        ],
    );
    assert_eq!(printed(&reading), "  UPDATE accounts SET owner = 1 WHERE :balance = 2;\n");
    let source = "CREATE PROCEDURE p(balance int) LANGUAGE plpgsql AS $$ BEGIN\nDELETE FROM accounts WHERE id = balance;\nEND $$;";
    check_diagnostics(
        source,
        &[
            "error 2:`balance`: balance could be the variable or the column accounts.balance (qualify the column, or give the \
         variable another name)",
        ],
    );
}

#[test]
fn mistakes_cost_one_statement() {
    let source = "DELIMITER //\nCREATE PROCEDURE p(a INT)\nBEGIN\n  SELECT balence INTO a FROM accounts;\n  UPDATE acounts SET \
                  x = 1;\n  IF a > 1 COMMIT; END IF;\n  SET zz = 1;\n  UPDAT accounts SET balance = a;\n  DELETE FROM log;\n\
                  END //\nCREATE PROCEDURE q() BEGIN COMMIT; END //\n";
    let reading = check_diagnostics(
        source,
        &[
            "error 4:`balence`: the table accounts has no column balence (did you mean balance?)",
            "error 5:`acounts`: there is no table acounts (did you mean accounts?)",
            "error 6:`;`: expected THEN after the condition, found `;`",
            "error 7:`zz`: the variable zz is not declared; did you mean a?",
            "error 8:`UPDAT`: the statement cannot be read: expected an SQL statement, found UPDAT",
        ],
    );
    let sent: Vec<String> = reading.accesses[0].nodes.iter().map(|node| node.access.to_string()).collect();
    assert_eq!(sent.last().unwrap(), "log: by scan; delete {id, what}");
    assert_eq!(reading.program.procedures.len(), 2);
}

#[test]
fn native_mistakes_cost_one_statement_too() {
    let source = "-- @program 1\nCREATE PROCEDURE p(a INT)\nBEGIN\n  SET zz = 1;\n  IF a > 1 COMMIT; END IF;\n  DELETE FROM log;\n\
                  END;\nCREATE PROCEDURE q() BEGIN SELECT 1 INTO :x; COMMIT; END;\n";
    let reading = check_diagnostics(
        source,
        &[
            "error 4:`zz`: the variable zz is not declared; did you mean a?",
            "error 5:`COMMIT`: expected THEN after the condition, found `COMMIT`",
            "error 8:`:x`: the variable x is not declared",
        ],
    );
    let bodies: Vec<usize> = reading.program.procedures.iter().map(|one| one.body.len()).collect();
    assert_eq!(bodies, [1, 1]);
}

#[test]
fn what_is_not_followed_is_said() {
    check_diagnostics(
        "CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN\nEXECUTE 'DROP TABLE ' || 'x';\nDELETE FROM log;\n\
         EXCEPTION WHEN OTHERS THEN NULL;\nEND $$;",
        &[
            "error 2:`EXECUTE 'DROP TABLE ' || 'x'`: dynamic SQL cannot be analysed (write the statement out)",
            "warning 4:`EXCEPTION`: what is done after an error is not followed (here, an error of the database rolls back \
             and ends the call)",
        ],
    );
    for trigger in [
        "CREATE TRIGGER t BEFORE INSERT ON log FOR EACH ROW SET NEW.id = 1",
        "CREATE TRIGGER t BEFORE UPDATE ON log FOR EACH ROW EXECUTE FUNCTION touch()",
        "CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := 1; RETURN NEW; END $$",
    ] {
        let expect = format!("warning 1:`{trigger}`: triggers and events are not analysed");
        check_diagnostics(&format!("{trigger};"), &[&expect]);
    }
}

/// Rows of whole numbers, as the dialect calls them.
fn answer(type_name: &str, columns: usize, rows: &[&[&str]]) -> Outcome {
    let column = |at: usize| Column { name: format!("c{at}"), type_name: type_name.to_string() };
    let cells = |row: &&[&str]| row.iter().map(|cell| Some(cell.as_bytes().to_vec())).collect();
    let result = StatementResult {
        columns: (0..columns).map(column).collect(),
        rows: rows.iter().map(cells).collect(),
        ..StatementResult::default()
    };
    Outcome { results: vec![result], ..Outcome::empty(TxStatus::Open) }
}

/// Calls `p(a = 1, b = 2)`, answers each message in turn, and compares what is sent.
#[track_caller]
fn check_run(source: &str, dialect: &'static dyn Dialect, script: &[(&str, Outcome)]) -> Instance {
    let reading = read(source, &schema());
    let arguments = vec![("a".to_string(), Value::int(1)), ("b".to_string(), Value::int(2))];
    let call = Call { procedure: "p".to_string(), arguments };
    let mut instance = Instance::new(&reading.program, &call, dialect).unwrap();
    let mut last = None;
    for (expect, outcome) in script {
        assert_eq!(instance.next(last).as_deref(), Some(*expect), "{source}");
        last = Some(outcome);
    }
    assert_eq!(instance.next(last), None, "{source}");
    assert_eq!(instance.result(), Some(&CallEnd::Returned), "{source}");
    instance
}

fn idle() -> Outcome {
    Outcome::empty(TxStatus::Idle)
}

fn open() -> Outcome {
    Outcome::empty(TxStatus::Open)
}

#[test]
fn mysql_procedures_run() {
    let source = "DELIMITER //\nCREATE PROCEDURE p(a INT, b INT, OUT total INT)\nBEGIN\n  DECLARE done INT DEFAULT 0;\n  \
                  DECLARE v INT;\n  DECLARE c CURSOR FOR SELECT balance FROM accounts WHERE owner = a;\n  DECLARE CONTINUE \
                  HANDLER FOR NOT FOUND SET done = 1;\n  SET total = 0;\n  SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;\n  \
                  START TRANSACTION;\n  OPEN c;\n  l: LOOP\n    FETCH c INTO v;\n    IF done = 1 THEN LEAVE l; END IF;\n    \
                  SET total = total + v;\n  END LOOP;\n  CLOSE c;\n  COMMIT;\n  DELETE FROM log;\nEND //";
    let instance = check_run(
        source,
        &MySql,
        &[
            ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", idle()),
            ("BEGIN", open()),
            ("SELECT balance FROM accounts WHERE owner = 1", answer("int", 1, &[&["3"], &["4"]])),
            ("COMMIT", idle()),
            ("DELETE FROM log", idle()),
        ],
    );
    assert_eq!(instance.outputs(), [Value::int(7)]);
}

#[test]
fn plpgsql_procedures_run() {
    let source = "CREATE PROCEDURE p(a int, b int) LANGUAGE plpgsql AS $$\nDECLARE r record; n int;\nBEGIN\n  SET TRANSACTION \
                  ISOLATION LEVEL SERIALIZABLE;\n  FOR r IN SELECT id, balance FROM accounts LOOP\n    CONTINUE WHEN r.balance = 0;\n    \
                  UPDATE accounts SET balance = r.balance - b WHERE id = r.id;\n  END LOOP;\n  IF FOUND THEN n := a / 2; \
                  END IF;\n  RETURN n;\nEND $$;";
    let instance = check_run(
        source,
        &Postgres,
        &[
            ("BEGIN", open()),
            ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", open()),
            ("SELECT id, balance FROM accounts", answer("int4", 2, &[&["1", "0"], &["5", "9"]])),
            ("UPDATE accounts SET balance = 9 - 2 WHERE id = 5", open()),
            ("SELECT 1 / 2", answer("int4", 1, &[&["0"]])),
            ("COMMIT", idle()),
        ],
    );
    assert_eq!(instance.outputs(), [Value::int(0)]);
}

#[test]
fn long_files_are_read() {
    let procedure = |at: usize| {
        format!(
            "CREATE PROCEDURE p{at}(IN a INT, IN b INT)\nBEGIN\n  DECLARE x INT;\n  SELECT balance INTO x FROM accounts WHERE \
             id = a;\n  IF x > b THEN\n    UPDATE accounts SET balance = balance - b WHERE id = a;\n    COMMIT;\n  ELSE\n    \
             ROLLBACK;\n  END IF;\nEND //\n"
        )
    };
    let source: String = std::iter::once("DELIMITER //\n".to_string()).chain((0..190).map(procedure)).collect();
    assert!(source.lines().count() > 2_000);
    let reading = check_diagnostics(&source, &[]);
    assert_eq!(reading.program.procedures.len(), 190);
    assert_eq!(reading.program.procedures[189].span.line, source.lines().count() - 10);
}

#[test]
fn nothing_makes_the_front_ends_panic() {
    let pieces = [
        "CREATE PROCEDURE p(a INT) BEGIN",
        "BEGIN",
        "END",
        "IF",
        "THEN",
        "ELSE",
        "WHILE",
        "DO",
        "DECLARE",
        "x INT;",
        "SET",
        "a",
        "INTO",
        "=",
        ":=",
        "(",
        ")",
        ";",
        ",",
        "'",
        "$$",
        "FOR r IN",
        "LOOP",
        "END LOOP;",
        "FETCH c",
        "OPEN c;",
        "CASE",
        "WHEN",
        "LEAVE l",
        "l:",
        "<<l>>",
        "RETURN",
        "EXCEPTION",
        "SELECT 1",
        "1..3",
        "é",
        "HANDLER FOR NOT FOUND",
        "CURSOR",
        "CREATE FUNCTION f() AS $$",
        "LANGUAGE plpgsql",
        "\n",
        "DELIMITER //\n",
        "//",
        "r.x",
        "@v",
        "GET DIAGNOSTICS",
    ];
    let mut state = 12345_u64;
    for _ in 0..400 {
        let mut text = String::from("CREATE PROCEDURE p(a INT) ");
        for _ in 0..20 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
            text.push(' ');
        }
        read(&text, &schema());
    }
}

//! Calls in our notation, and the values that make them follow their ways.

use super::*;
use crate::program::access::nodes::of_procedure;
use crate::program::code::OperationKind;
use crate::program::{Language, Program};

const SCHEMA: &str = "
    CREATE TABLE flights (id INT PRIMARY KEY, avail INT NOT NULL CHECK (avail >= 0), code VARCHAR(8), gate INT);
    CREATE TABLE bookings (id INT PRIMARY KEY, flight INT NOT NULL REFERENCES flights (id), seats INT CHECK (seats > 0));
    CREATE TABLE accounts (id INT PRIMARY KEY, balance DECIMAL(12,2) NOT NULL, rate DOUBLE PRECISION,
        status ENUM('open', 'closed') NOT NULL, note TEXT);";

/// A program with one or two procedures; the calls of all of them, in the order of the program.
struct Story {
    program: Program,
    source: String,
    schema: Schema,
    accesses: Vec<ProcedureAccess>,
}

impl Story {
    fn new(source: &str) -> Story {
        let (schema, diagnostics) = Schema::read(SCHEMA, Language::Any);
        assert_eq!(diagnostics, []);
        let program = Program::parse(source).unwrap_or_else(|error| panic!("{error}"));
        let access = |procedure| {
            let (access, diagnostics) = of_procedure(procedure, &schema, Language::Any);
            assert_eq!(diagnostics, []);
            access
        };
        let accesses = program.procedures.iter().map(access).collect();
        Story { accesses, program, source: source.to_string(), schema }
    }

    /// The node whose statement begins with that text, of a procedure; `meets` says on which tables.
    fn pass(&self, procedure: usize, text: &str, meets: &[&str]) -> Pass {
        let is_it = |node: &crate::program::access::Node| {
            let span = match &node.operation.kind {
                OperationKind::Assign(..) | OperationKind::Jump(_) => return false,
                _ => node.operation.span,
            };
            self.source[span.start..].starts_with(text)
        };
        let node = self.accesses[procedure].nodes.iter().position(is_it);
        let node = node.unwrap_or_else(|| panic!("no statement begins with {text}"));
        Pass { node, meets: meets.iter().map(ToString::to_string).collect(), ..Pass::default() }
    }

    fn find(&self, passes: Vec<Vec<Pass>>, segments: &[(usize, Option<usize>)], may_be_absent: bool) -> Answer {
        let procedures = self.program.procedures.iter().zip(&self.accesses).zip(passes);
        let instances = procedures.map(|((procedure, access), passes)| Instance { procedure, access, passes });
        let segments = segments.iter().map(|(instance, until)| Segment { instance: *instance, until: *until });
        find(&Question {
            schema: &self.schema,
            instances: instances.collect(),
            segments: segments.collect(),
            may_be_absent,
            limits: Limits::default(),
        })
    }

    /// The values of one call that passes some statements, as text; or why there are none.
    fn one(&self, passes: &[(&str, &[&str])]) -> String {
        let passes = passes.iter().map(|(text, meets)| self.pass(0, text, meets)).collect();
        self.show(&self.find(vec![passes], &[(0, None)], false))
    }

    fn show(&self, answer: &Answer) -> String {
        match answer {
            Answer::Found(found) => {
                let mut parts: Vec<String> = Vec::new();
                for (at, arguments) in found.arguments.iter().enumerate() {
                    let name = ["a", "b"][at];
                    parts.extend(arguments.iter().map(|(parameter, value)| format!("{name}.{parameter}={value}")));
                }
                parts.extend(found.columns.iter().map(|(element, value)| format!("{element}={value}")));
                parts.extend(found.absent.iter().map(|table| format!("no {table}")));
                parts.extend((!found.exact).then(|| "(perhaps)".to_string()));
                parts.join(" ")
            }
            Answer::Impossible(impossible) => {
                let show = |reason: &Reason| {
                    let text = &self.source[reason.span.start..reason.span.end];
                    format!("{:?} `{}`", reason.kind, text.split_whitespace().collect::<Vec<_>>().join(" "))
                };
                let reasons: Vec<String> = impossible.conflict.iter().map(show).collect();
                let bounded = if impossible.complete { "" } else { " within bounds" };
                format!("impossible{bounded}: {}", reasons.join(", "))
            }
            Answer::Unknown => "unknown".to_string(),
        }
    }
}

/// One procedure `p` with these parameters and body.
fn story(parameters: &str, body: &str) -> Story {
    Story::new(&format!("CREATE PROCEDURE p({parameters}) BEGIN {body} END;"))
}

#[track_caller]
fn check(parameters: &str, body: &str, passes: &[(&str, &[&str])], expect: &str) {
    assert_eq!(story(parameters, body).one(passes), expect);
}

const BOOK: &str = "
CREATE PROCEDURE book(flight INT, n INT) BEGIN
  DECLARE seats INT;
  SELECT avail INTO :seats FROM flights WHERE id = :flight;
  COMMIT;
  IF seats >= n AND n > 0 THEN
    UPDATE flights SET avail = :seats - :n WHERE id = :flight;
    COMMIT;
  END IF;
END;";

#[test]
fn a_booking_needs_a_seat() {
    let story = Story::new(BOOK);
    assert_eq!(
        story.one(&[("SELECT", &["flights"]), ("UPDATE", &["flights"])]),
        "a.flight=1 a.n=2 flights.avail=2 flights.id=1"
    );
}

#[test]
fn conditions_that_contradict_one_another_are_told() {
    let body = "SET amount = amount + 0; IF amount > 10 THEN IF other = 3 THEN IF amount < 5 THEN SELECT 1; END IF; \
                END IF; END IF;";
    check("amount INT, other INT", body, &[("SELECT", &[])], "impossible: Taken `amount > 10`, Taken `amount < 5`");
    // A check of the table is a reason, too.
    check(
        "f INT",
        "DECLARE n INT; SELECT avail INTO :n FROM flights WHERE id = :f; IF n < 0 THEN SELECT 1; END IF;",
        &[("SELECT avail", &["flights"]), ("SELECT 1", &[])],
        "impossible: Keeps(\"flights\") `SELECT avail INTO :n FROM flights WHERE id = :f`, \
         Meets(\"flights\") `SELECT avail INTO :n FROM flights WHERE id = :f`, Taken `n < 0`",
    );
    // There is not even a way.
    check(
        "x INT",
        "IF x = 1 THEN SELECT 1; ELSE SELECT 2; END IF;",
        &[("SELECT 1", &[]), ("SELECT 2", &[])],
        "impossible: ",
    );
}

#[test]
fn branches_are_taken_in_order() {
    let body = "IF n > 100 THEN SELECT 1; ELSEIF n > 50 THEN IF m = n THEN SELECT 2; ELSE SELECT 3; END IF; \
                ELSEIF n = 7 OR n IS NULL THEN SELECT 4; ELSE SELECT 5; END IF;";
    for (pass, expect) in [
        ("SELECT 1", "a.m=1 a.n=101"),
        ("SELECT 2", "a.m=100 a.n=100"),
        ("SELECT 3", "a.m=1 a.n=100"),
        ("SELECT 4", "a.m=1 a.n=7"),
        ("SELECT 5", "a.m=1 a.n=2"),
    ] {
        let found = story("n INT, m INT", body).one(&[(pass, &[])]);
        assert_eq!(found, expect, "{pass}");
    }
}

#[test]
fn loops_go_round_as_often_as_they_must() {
    let body = "DECLARE i INT DEFAULT 0; WHILE i < n DO SET i = i + 1; IF i = 3 THEN SELECT 1; END IF; END WHILE;";
    check("n INT", body, &[("SELECT 1", &[])], "a.n=3");
    let endless = body.replace("i = 3", "i = 30");
    check("n INT", &endless, &[("SELECT 1", &[])], "impossible within bounds: ");
}

#[test]
fn null_is_a_value() {
    let body = "IF gate IS NULL AND NOT (n = 1 OR gate = 2) THEN SELECT 1; END IF; \
                IF n <> 1 THEN SELECT 2; ELSE SELECT 3; END IF;";
    check(
        "gate INT, n INT",
        body,
        &[("SELECT 1", &[])],
        "impossible: Taken `gate IS NULL AND NOT (n = 1 OR gate = 2)`",
    );
    check("gate INT, n INT", body, &[("SELECT 3", &[])], "a.gate=2 a.n=1");
    let column = "DECLARE g INT; SELECT gate INTO :g FROM flights WHERE id = :f; IF g IS NULL THEN SELECT 1; END IF;";
    check("f INT", column, &[("SELECT gate", &["flights"]), ("SELECT 1", &[])], "a.f=1 flights.gate=NULL flights.id=1");
}

#[test]
fn decimals_have_digits_behind_the_point() {
    let body = "DECLARE b DECIMAL(12,2); SELECT balance INTO :b FROM accounts WHERE id = :id; \
                IF b * 2 = 25.5 AND b > amount AND amount > 12.7 THEN SELECT 1; END IF;";
    let passes: &[(&str, &[&str])] = &[("SELECT balance", &["accounts"]), ("SELECT 1", &[])];
    check("id INT, amount DECIMAL(10,2)", body, passes, "a.amount=12.71 a.id=1 accounts.balance=12.75 accounts.id=1");
    check(
        "id INT, amount DECIMAL(10,1)",
        body,
        passes,
        "impossible: Taken `b * 2 = 25.5 AND b > amount AND amount > 12.7`",
    );
}

#[test]
fn texts_are_equal_or_not() {
    let body = "DECLARE s TEXT; SELECT status INTO :s FROM accounts WHERE id = :id; \
                IF s <> 'open' AND kind = 'transfer' AND note <> kind THEN SELECT 1; END IF;";
    let passes: &[(&str, &[&str])] = &[("SELECT status", &["accounts"]), ("SELECT 1", &[])];
    check(
        "id INT, kind VARCHAR(10), note CHAR(1)",
        body,
        passes,
        "a.id=1 a.kind='transfer' a.note='a' accounts.id=1 accounts.status='closed'",
    );
    check(
        "id INT, kind VARCHAR(10), note CHAR(1)",
        &body.replace("note <> kind", "s <> 'closed'"),
        passes,
        "impossible: Taken `s <> 'open' AND kind = 'transfer' AND s <> 'closed'`",
    );
    check("note TEXT", "IF note < 'x' THEN SELECT 1; END IF;", &[("SELECT 1", &[])], "a.note='a' (perhaps)");
}

#[test]
fn divisions_are_safe_behind_a_guard() {
    let body = "IF n <> 0 AND 100 DIV n = 7 THEN SELECT 1; ELSEIF 10 % n = 1 THEN SELECT 2; END IF;";
    check("n INT", body, &[("SELECT 1", &[])], "a.n=13");
    check("n INT", body, &[("SELECT 2", &[])], "a.n=3");
    check(
        "n INT",
        "IF 1 DIV n = 0 AND n < 2 AND n > -2 THEN SELECT 1; END IF;",
        &[("SELECT 1", &[])],
        "impossible: Succeeds `1 DIV n = 0 AND n < 2 AND n > -2`, Taken `1 DIV n = 0 AND n < 2 AND n > -2`",
    );
}

#[test]
fn what_cannot_be_expressed_is_free() {
    let sum =
        "DECLARE s INT; SELECT SUM(seats) INTO :s FROM bookings WHERE flight = :f; IF s > 9 THEN SELECT 1; END IF;";
    check(
        "f INT",
        sum,
        &[("SELECT SUM", &["bookings"]), ("SELECT 1", &[])],
        "a.f=1 bookings.flight=1 flights.id=1 (perhaps)",
    );
    check("x INT", "IF ANY() AND x = 4 THEN SELECT 1; END IF;", &[("SELECT 1", &[])], "a.x=4 (perhaps)");
    // A free value does not help where nothing does.
    check(
        "x INT",
        "IF ANY() AND x = 4 AND x = 5 THEN SELECT 1; END IF;",
        &[("SELECT 1", &[])],
        "impossible: Taken `ANY() AND x = 4 AND x = 5`",
    );
    // Floating-point numbers are not only whole.
    let rate = "DECLARE r DOUBLE PRECISION; SELECT rate INTO :r FROM accounts WHERE id = :id; \
                IF r > 1 AND r < 2 THEN SELECT 1; END IF;";
    check("id INT", rate, &[("SELECT rate", &["accounts"]), ("SELECT 1", &[])], "unknown");
}

#[test]
fn found_and_row_count_are_about_the_focus() {
    let body = "UPDATE flights SET avail = avail - :n WHERE id = :f AND avail >= :n; \
                IF ROW_COUNT() = 0 THEN SELECT 1; ELSE SELECT 2; END IF;";
    check(
        "f INT, n INT",
        body,
        &[("UPDATE", &["flights"]), ("SELECT 2", &[])],
        "a.f=1 a.n=2 flights.avail=2 flights.id=1",
    );
    check(
        "f INT, n INT",
        body,
        &[("UPDATE", &["flights"]), ("SELECT 1", &[])],
        "impossible: Meets(\"flights\") `UPDATE flights SET avail = avail - :n WHERE id = :f AND avail >= :n`, \
         Taken `ROW_COUNT() = 0`",
    );
    // Without a meeting on the row, it is still the row that is asked for.
    check("f INT, n INT", body, &[("SELECT 1", &[])], "a.f=1 a.n=2 flights.avail=1 flights.id=1");
    let cursor = "DECLARE a INT; FOR a IN (SELECT avail FROM flights WHERE id = :f) DO \
                  IF a = 7 THEN SELECT 1; END IF; END FOR; IF FOUND() THEN SELECT 2; END IF;";
    check("f INT", cursor, &[("SELECT 1", &[]), ("SELECT 2", &[])], "a.f=1 flights.avail=7 flights.id=1");
}

#[test]
fn other_rows_of_a_table_may_be_meant() {
    let body = "UPDATE accounts SET balance = balance - 1 WHERE id = :source; \
                UPDATE accounts SET balance = balance + 1 WHERE id = :target; IF source <> target THEN SELECT 1; END IF;";
    check(
        "source INT, target INT",
        body,
        &[("UPDATE accounts SET balance = balance - 1", &["accounts"]), ("SELECT 1", &[])],
        "a.source=1 a.target=2 accounts.balance=1 accounts.id=1",
    );
}

/// Two calls of `book`: B books everything between A's read and A's decision.
#[test]
fn decisions_are_made_on_what_was_read() {
    let mut source = BOOK.to_string();
    source.push_str(&BOOK.replace("book", "again"));
    let story = Story::new(&source);
    let update = "UPDATE";
    let passes = |at: usize| vec![story.pass(at, "SELECT", &["flights"]), story.pass(at, update, &["flights"])];
    let answer = story.find(vec![passes(0), passes(1)], &[(0, Some(0)), (1, None), (0, None)], false);
    let expect = "a.flight=1 a.n=2 b.flight=1 b.n=3 flights.avail=3 flights.id=1";
    assert_eq!(story.show(&answer), expect);
    // One after the other, A sees what B has left.
    let answer = story.find(vec![passes(0), passes(1)], &[(1, None), (0, None)], false);
    assert_eq!(story.show(&answer), "a.flight=1 a.n=2 b.flight=1 b.n=3 flights.avail=5 flights.id=1");
}

#[test]
fn a_rollback_undoes() {
    let body = |end: &str| {
        format!(
            "DECLARE n INT; UPDATE flights SET avail = 9 WHERE id = :f; {end}; \
             SELECT avail INTO :n FROM flights WHERE id = :f; IF n <> 9 THEN SELECT 1; END IF;"
        )
    };
    let passes: &[(&str, &[&str])] = &[("UPDATE", &["flights"]), ("SELECT avail", &["flights"]), ("SELECT 1", &[])];
    check("f INT", &body("ROLLBACK"), passes, "a.f=1 flights.avail=1 flights.id=1");
    assert!(story("f INT", &body("COMMIT")).one(passes).starts_with("impossible"));
}

#[test]
fn new_rows_have_new_keys_and_refer_to_the_focus() {
    let source = "
        CREATE PROCEDURE a(id INT, flight INT, n INT) BEGIN
          INSERT INTO bookings (id, flight, seats) VALUES (:id, :flight, :n);
        END;
        CREATE PROCEDURE b(id INT, flight INT) BEGIN
          DECLARE n INT;
          SELECT avail INTO :n FROM flights WHERE id = :flight;
          INSERT INTO bookings (id, flight, seats) VALUES (:id, :flight, :n);
        END;";
    let story = Story::new(source);
    let passes = vec![vec![story.pass(0, "INSERT", &["bookings"])], vec![story.pass(1, "SELECT", &["flights"])]];
    let answer = story.find(passes, &[(0, None), (1, None)], false);
    assert_eq!(
        story.show(&answer),
        "a.flight=1 a.id=2 a.n=3 b.flight=1 b.id=4 bookings.flight=1 bookings.id=1 flights.avail=1 flights.id=1"
    );
}

#[test]
fn a_row_may_have_to_be_missing() {
    let body = "DECLARE n INT; SELECT COUNT(*) INTO :n FROM flights WHERE id = :f; \
                IF n = 0 THEN INSERT INTO flights (id, avail) VALUES (:f, 10); END IF;";
    let story = story("f INT", body);
    let passes = || vec![vec![story.pass(0, "SELECT", &["flights"]), story.pass(0, "INSERT", &["flights"])]];
    assert_eq!(story.show(&story.find(passes(), &[(0, None)], true)), "a.f=1 flights.id=1 no flights");
    assert!(story.show(&story.find(passes(), &[(0, None)], false)).starts_with("impossible"));
}

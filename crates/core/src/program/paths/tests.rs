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

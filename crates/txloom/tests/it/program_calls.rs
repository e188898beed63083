//! Calls of the corpus's programs: arguments by seed, by our interpreter or by the server itself.

use std::collections::BTreeMap;

use txloom_core::case::{Call, SessionName};
use txloom_core::engine::{Engine, Session, SessionId, SessionSpec};
use txloom_core::generate::random::Random;
use txloom_core::outcome::{Outcome, TxStatus};
use txloom_core::program::interpret::{CallEnd, CallFailure, Instance};
use txloom_core::program::{Mode, Procedure, Program};
use txloom_core::value::Value;

/// How the arguments of a parameter are drawn. Most of them hit rows that the program begins with.
#[derive(Clone, Copy)]
enum Draw {
    /// A number between these.
    Number(i64, i64),
    /// 0, 8 or 16.
    Hour,
    /// A word.
    Word(&'static [&'static str]),
    /// A number that no call had before; sometimes one that a call had.
    Fresh,
    /// NULL as often as not.
    Maybe(&'static Draw),
}

use Draw::{Fresh, Hour, Maybe, Number, Word};

/// By program; a parameter of one procedure only is `procedure.parameter`.
const DRAWS: &[(&str, &[(&str, Draw)])] = &[
    (
        "tpcc",
        &[
            ("p_w_id", Number(1, 2)),
            ("p_d_id", Number(1, 2)),
            ("p_c_w_id", Number(1, 2)),
            ("p_c_d_id", Number(1, 2)),
            ("p_c_id", Maybe(&Number(1, 4))),
            ("new_order.p_c_id", Number(1, 3)),
            ("p_c_last", Word(&["BARBARBAR", "BARBAROUGHT", "NOBODY"])),
            ("p_ol_cnt", Number(1, 4)),
            ("p_i_id", Number(1, 6)),
            ("p_supply_w_id", Number(1, 2)),
            ("p_quantity", Number(1, 10)),
            ("p_amount", Number(100, 500_000)),
            ("p_carrier_id", Number(1, 10)),
            ("p_threshold", Number(10, 60)),
            ("p_now", Fresh),
        ],
    ),
    (
        "seats",
        &[
            ("p_depart_ap_id", Number(1, 4)),
            ("p_arrive_ap_id", Number(1, 4)),
            ("p_start", Number(0, 9)),
            ("p_end", Number(10, 24)),
            ("p_distance", Number(0, 300)),
            ("p_f_id", Number(1, 3)),
            ("find_open_seats.p_f_id", Number(1, 5)),
            ("p_r_id", Number(1, 6)),
            ("p_c_id", Number(1, 5)),
            ("delete_reservation.p_c_id", Maybe(&Number(1, 5))),
            ("p_c_login", Word(&["c1", "c2", "c3", "c4", "nobody"])),
            ("p_seat", Number(1, 6)),
            ("p_price", Number(9_000, 20_000)),
            ("p_attr0", Number(0, 99)),
            ("p_attr1", Maybe(&Number(0, 99))),
        ],
    ),
    (
        "wikipedia",
        &[
            ("p_namespace", Number(0, 1)),
            ("p_title", Word(&["Loom", "Weft"])),
            ("p_address", Word(&["192.0.2.1", "192.0.2.7"])),
            ("p_user", Number(1, 4)),
            ("p_seen", Maybe(&Number(2, 4))),
            ("p_rev_id", Fresh),
            ("p_text", Word(&["Shorter.", "It's longer than it was.", ""])),
            ("p_now", Number(30, 99)),
        ],
    ),
    (
        "twitter",
        &[
            ("p_id", Number(1, 6)),
            ("insert_tweet.p_id", Fresh),
            ("p_uid", Number(1, 6)),
            ("p_followee", Number(1, 6)),
            ("p_text", Word(&["hello", "it's me", "back\\slash", "\u{e9}t\u{e9}"])),
            ("p_now", Number(200, 999)),
        ],
    ),
    (
        "smallbank",
        &[
            ("p_name", Word(&["ada", "ben", "cleo", "dan", "eve", "nobody"])),
            ("p_from", Word(&["ada", "ben", "cleo", "dan"])),
            ("p_to", Word(&["cleo", "dan", "eve"])),
            ("p_amount", Number(-200, 6_000)),
        ],
    ),
    (
        "tatp",
        &[
            ("p_s_id", Number(1, 5)),
            ("p_sf_type", Number(1, 4)),
            ("insert_call_forwarding.p_sf_type", Number(1, 2)),
            ("p_ai_type", Number(1, 4)),
            ("p_bit_1", Number(0, 1)),
            ("p_data_a", Number(0, 255)),
            ("p_sub_nbr", Word(&["000000000000001", "000000000000002", "000000000000004", "000000000000009"])),
            ("p_vlr_location", Number(1, 99_999)),
            ("p_start_time", Hour),
            ("p_end_time", Number(1, 24)),
            ("p_numberx", Word(&["900000000000005", "900000000000006"])),
        ],
    ),
    (
        "voter",
        &[
            ("p_vote_id", Fresh),
            ("p_phone_number", Number(2_125_550_098, 2_125_550_112)),
            ("p_contestant", Number(1, 5)),
        ],
    ),
    ("dirty-write", &[("choice", Number(1, 9))]),
    ("dirty-read", &[("item", Number(1, 2)), ("quantity", Number(1, 4)), ("report", Fresh)]),
    ("lost-update", &[("receipt", Fresh), ("account", Number(1, 2)), ("amount", Number(1, 50))]),
    ("write-skew", &[("customer", Number(1, 2)), ("kind", Number(1, 2)), ("amount", Number(1, 60))]),
    ("doors", &[("door", Number(1, 3))]),
    ("stock", &[("id", Fresh), ("item", Number(1, 2)), ("wanted", Number(1, 3))]),
    ("invoices", &[("id", Fresh), ("year", Number(1, 3))]),
    ("bookings", &[("id", Fresh), ("room", Number(1, 3)), ("starts", Number(8, 15)), ("ends", Number(9, 17))]),
    ("long-fork", &[("sighting", Fresh)]),
    ("agenda-1", &[("flight", Number(1, 4))]),
    ("agenda-2", &[("c_id", Number(1, 3)), ("o_id", Fresh), ("amount", Number(1, 30))]),
    ("agenda-3", &[("in_acct1", Number(1, 3)), ("in_acct2", Number(1, 3)), ("amount", Number(1, 90))]),
];

/// Draws calls.
pub(crate) struct Calls<'p> {
    name: &'p str,
    program: &'p Program,
    random: Random,
    fresh: i64,
}

impl<'p> Calls<'p> {
    pub(crate) fn new(name: &'p str, program: &'p Program, seed: u64) -> Calls<'p> {
        Calls { name: name.trim_end_matches("-fixed"), program, random: Random::new(seed, &[]), fresh: 1_000 }
    }

    fn value(&mut self, draw: Draw) -> Value {
        match draw {
            Number(low, high) => Value::int(self.random.between(low, high)),
            Hour => Value::int(8 * self.random.between(0, 2)),
            Word(words) => Value::text(*self.random.pick(words).expect("there are words")),
            Fresh if self.random.chance(1, 12) => Value::int(self.fresh),
            Fresh => {
                self.fresh += 1;
                Value::int(self.fresh)
            }
            Maybe(_) if self.random.chance(1, 2) => Value::Null,
            Maybe(draw) => self.value(*draw),
        }
    }

    fn draw(&self, procedure: &str, parameter: &str) -> Draw {
        let (_, draws) = DRAWS.iter().find(|(name, _)| *name == self.name).expect("every program has its draws");
        let of = |wanted: &str| draws.iter().find(|(name, _)| *name == wanted).map(|(_, draw)| *draw);
        let own = of(&format!("{procedure}.{parameter}"));
        own.or_else(|| of(parameter)).unwrap_or_else(|| panic!("{}: no draw of {procedure}.{parameter}", self.name))
    }
}

impl Iterator for Calls<'_> {
    type Item = Call;

    fn next(&mut self) -> Option<Call> {
        let program = self.program;
        let procedure = &program.procedures[self.random.below(program.procedures.len())];
        let mut arguments = Vec::new();
        for parameter in procedure.parameters.iter().filter(|parameter| parameter.mode != Mode::Out) {
            let value = self.value(self.draw(&procedure.name, &parameter.name));
            arguments.push((parameter.name.clone(), value));
        }
        Some(Call { procedure: procedure.name.clone(), arguments })
    }
}

/// What came of a call: the values of its outputs, unless it failed; then, why.
pub(crate) type Called = Result<Vec<Value>, String>;

/// Opens a session in which no statement may take long.
pub(crate) fn session(engine: &mut dyn Engine) -> Box<dyn Session> {
    let name = SessionName::new("caller").expect("a name");
    let spec = SessionSpec { id: SessionId(0), name, node: None, level: None };
    let mut session = engine.open(&spec).unwrap_or_else(|error| panic!("{error}"));
    match engine.info().family {
        "postgres" => told(session.as_mut(), "SET statement_timeout = '10s'"),
        "mariadb" => told(session.as_mut(), "SET max_statement_time = 10"),
        _ => Outcome::empty(TxStatus::Idle),
    };
    session
}

/// Sends a statement that must not fail.
fn told(session: &mut dyn Session, sql: &str) -> Outcome {
    let outcome = session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert_eq!(outcome.error, None, "{sql}");
    outcome
}

/// Carries a call out as the interpreter does.
pub(crate) fn interpreted(engine: &dyn Engine, session: &mut dyn Session, program: &Program, call: &Call) -> Called {
    let mut instance =
        Instance::new(program, call, engine.info().dialect).unwrap_or_else(|error| panic!("{call}: {error}"));
    let mut last: Option<Outcome> = None;
    while let Some(message) = instance.next(last.as_ref()) {
        last = Some(session.execute(&message).unwrap_or_else(|error| panic!("{message}: {error}")));
    }
    if let Some(outcome) = last {
        assert_eq!(outcome.status, TxStatus::Idle, "{call} leaves nothing open");
    }
    match instance.result() {
        Some(CallEnd::Returned) => Ok(instance.outputs().to_vec()),
        Some(CallEnd::Failed(CallFailure::Raised { message, .. })) => Err(message.clone()),
        Some(CallEnd::Failed(CallFailure::Database(error))) => Err(error.message.clone()),
        Some(CallEnd::Failed(failure)) => Err(failure.to_string()),
        None => panic!("{call} did not end"),
    }
}

/// Lets the server carry a call out; what a failed one leaves open is rolled back, as an application would.
pub(crate) fn by_server(engine: &dyn Engine, session: &mut dyn Session, procedure: &Procedure, call: &Call) -> Called {
    let dialect = engine.info().dialect;
    let has_variables = engine.info().family == "mariadb";
    let given: BTreeMap<&str, &Value> = call.arguments.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let argument = |name: &String| match given.get(name.as_str()) {
        Some(value) => dialect.literal(value),
        None if has_variables => format!("@{name}"),
        None => "NULL".to_string(),
    };
    let arguments: Vec<String> = procedure.parameters.iter().map(|parameter| argument(&parameter.name)).collect();
    let sql = format!("CALL {}({})", procedure.name, arguments.join(", "));
    let outcome = session.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    if let Some(error) = outcome.error {
        if outcome.status != TxStatus::Idle {
            told(session, "ROLLBACK");
        }
        return Err(error.message);
    }
    assert_eq!(outcome.status, TxStatus::Idle, "{sql} leaves nothing open");
    let outputs: Vec<String> = procedure.outputs().map(|parameter| format!("@{}", parameter.name)).collect();
    let outcome = match outputs.as_slice() {
        [] => return Ok(Vec::new()),
        outputs if has_variables => told(session, &format!("SELECT {}", outputs.join(", "))),
        _ => outcome,
    };
    let rows = outcome.rows().map(|rows| dialect.values(rows)).unwrap_or_default();
    Ok(rows.into_iter().next().unwrap_or_else(|| panic!("{sql} gives its outputs")))
}

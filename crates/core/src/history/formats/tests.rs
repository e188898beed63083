//! Every format: what is read, what is refused, and that what was written is read again.

use proptest::prelude::*;

use super::*;
use crate::history::anomaly::Named;
use crate::history::build::{Builder, Head};
use crate::history::check::budget::CheckBudget;
use crate::history::check::{Checker, Verdict};
use crate::history::explain;
use crate::history::minimize::smallest;
use crate::history::survey::{Standing, Survey};
use crate::history::{Op, Scalar, Status, micro};

/// What a text is, in the notation of [`micro`].
#[track_caller]
fn check(text: &str, expect: &str) {
    let read = read(text.as_bytes(), "").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(micro::print(&read.history), expect, "{text}");
}

/// Why a text is refused.
#[track_caller]
fn refused(text: &str, expect: &str) {
    match read(text.as_bytes(), "") {
        Ok(read) => panic!("{text}\nis read as\n{}", micro::print(&read.history)),
        Err(error) => assert_eq!(error.to_string(), expect, "{text}"),
    }
}

#[test]
fn elle_pairs_invocations_and_completions() {
    let lines = [
        "{:index 0 :type :invoke :process 0 :f :txn :value [[:append :x 1] [:r :x nil]]}",
        "{:index 1, :type :invoke, :process 1, :f :txn, :value [[:append :x 2]]} ; a remark",
        "#jepsen.history.Op{:index 2 :type :ok :process 0 :f :txn :value [[:append :x 1] [:r :x [1]]]}",
        "{:index 3 :type :info :process :nemesis :f :start-partition :value {:n1 #{\"n2\"}}}",
        "#_{:index 3 :type :ok :process 7 :value [[:append :x 9]]}",
        "{:index 4 :type :fail :process 1 :f :txn :value [[:append :x 2]] :error [:deadlock \"no ]\"]}",
        "{:index 5 :type :invoke :process 1 :f :txn :value [[:append :x 3] [:r :x nil]]}",
        "{:index 6 :type :info :process 1 :f :txn :value [[:append :x 3] [:r :x nil]] :error :timeout}",
        "{:index 7 :type :invoke :process 0 :f :txn :value [[:r :y nil]]}",
    ];
    let expect = "@0-2 ax1 rx1 | @7- ry? ?\n@1-4 ax2 ! | @5- ax3 rx? ?";
    check(&lines.join("\n"), expect);
    check(&format!("[{}]", lines.join("\n")), expect);
    check(&format!("  \n[\n{}\n]\n; end", lines.join("\n")), expect);
}

#[test]
fn json_is_the_same() {
    let lines = [
        r#"{"index":0,"type":"invoke","process":0,"f":"txn","time":1,"value":[["w","x",1],["r","y",null]]}"#,
        r#"{"value":[["w","x",1],["r","y",null]],"type":"ok","process":0,"index":1}"#,
        r#"{"type":"ok","process":5,"value":[["r","x",1],["r","x"]]}"#,
    ];
    check(&lines.join("\n"), "@0-1 wx1 ry_\nrx1 rx_");
    check(&format!("[{}]", lines.join(",\n")), "@0-1 wx1 ry_\nrx1 rx_");
    assert_eq!(read(lines[0].as_bytes(), "").unwrap().format, Format::JsonLines);
}

#[test]
fn keys_and_values_are_what_they_are() {
    let text =
        r#"{:type :ok :value [[:append 255 "a b"] [:r 255 ["a b" :c 7 -9223372036854775808]] [:append "255" 1]]}"#;
    let history = read(text.as_bytes(), "").unwrap().history;
    assert_eq!(history.keys, ["255", "\"255\""]);
    assert_eq!(history.texts, ["a b", "c", "-9223372036854775808"]);
}

#[test]
fn a_process_that_comes_back_is_a_new_one() {
    let text = "{:type :invoke :process 0 :value [[:w x 1]]}\n{:type :invoke :process 0 :value [[:w x 2]]}\n\
                {:type :ok :process 0 :value [[:w x 2]]}\n";
    let history = read(text.as_bytes(), "").unwrap().history;
    let sessions: Vec<u32> = history.transactions().map(|(_, transaction)| transaction.session).collect();
    assert_eq!(sessions, [0, elle::UNNAMED_SESSIONS]);
    let without = "{:type :ok :value [[:w x 1]]}\n{:type :ok :value [[:w x 2]]}";
    let history = read(without.as_bytes(), "").unwrap().history;
    assert_ne!(
        history.transaction(crate::history::TxnId(0)).session,
        history.transaction(crate::history::TxnId(1)).session
    );
}

#[test]
fn nothing_in_a_list_is_the_empty_list() {
    let text = "{:type :ok :value [[:r x nil]]}\n{:type :ok :value [[:append x 1]]}";
    check(text, "rx\nax1");
}

#[test]
fn lines_of_numbers_are_read() {
    check("w(0,5,0,0)\nr(0,5,1,1)\nr(1,0,1,1)\nw(0,6,1,-1)\nr(0,0,0,2)\n", "w05 | r0_\nr05 r1_ | w06 !");
    check("w(0,0,0,0)\nr(0,0,1,1)\n", "w00\nr00");
    check("w 0 0\nw 1 0\n-----\nr 0 0\n=====\nr 1 0", "w00 w10 | r00\nr10");
    check("// remark\n[x:=1 y:=2] [x==1]!\n---\n[y==? z==0]\n", "wx1 wy2 | rx1 !\nry_ rz_");
    check(
        "[[{\"events\":[{\"Write\":{\"variable\":0,\"version\":1}}],\"committed\":true}],\n\
           [{\"events\":[{\"Read\":{\"variable\":0,\"version\":null}},{\"Read\":{\"variable\":0,\"version\":1}}],\
           \"committed\":false}]]",
        "w01\nr0_ r01 !",
    );
}

#[test]
fn errors_name_the_line_and_what_was_found() {
    refused("", "line 1: the file is empty: there is no history in it");
    refused(
        "{:type :ok :value [[:append x 1]]}\n{:type :ok :value [[:append",
        "line 2: the file ends in the middle of an operation, which begins with `{:type :ok :value [[:append`",
    );
    refused(
        "\n[{:type :ok :value []}\n {:type :ok\n  :value []}\n\n",
        "line 4: the file ends in the middle of the vector that begins in line 2: its closing bracket is missing",
    );
    refused(
        "\n{:type :ok\n :value [[:cas x 1 2]]}",
        "line 3: unknown operation: expected append, w or r, found `[:cas x 1 2]]`",
    );
    refused("{:type :maybe :value []}", "line 1: unknown type `maybe`; expected invoke, ok, fail or info");
    refused("{:value []}", "line 1: this operation has no type; expected :type or \"type\"");
    refused("{:type :ok}", "line 1: expected a value like [[:append x 1] [:r y [2]]], found `the end of the line`");
    refused(
        "{:type :ok :value [[:append x 1] [:w x 2]]}",
        "line 1: x is used both as a list and as a register; a key is one or the other",
    );
    refused("w(0,0,0)\n", "line 1: expected `w(key,value,session,transaction)` or `r(…)`, found `w(0,0,0)`");
    refused("w(0,0,0,0)\nr(0,one,0,0)\n", "line 2: expected a value, a whole number, found `one`");
    refused("w 0 1\nd 0 1", "line 2: unknown operation `d`; expected r or w");
    refused("[x:=1]\n[x=1]", "line 2: expected `x:=1`, `x==1` or `x==?`, found `x=1`");
    refused("[x:=1", "line 1: expected a transaction like `[x:=1 y==2]`, found `[x:=1`");
    refused(
        "{\"data\":[[{\"events\":[{\"Cas\":{}}]}]]}",
        "line 1: unknown event `{\"Cas\":{}}]}]]}`; expected Write or Read",
    );
    refused("{\"data\":[[\n{\"events\":[", "line 2: the file ends in the middle of a value");
    refused("TXLOOMH\u{1}\u{9}", "line 0: there is an unknown format at byte 9; the file is damaged or was cut off");
}

#[test]
fn names_of_levels_mean_what_the_format_says() {
    let check = |format: Format, name: &str, expect: &str| {
        let requirement = format.convention().requirement(name).map(|requirement| requirement.to_string());
        assert_eq!(requirement.as_deref(), Some(expect), "{name}");
    };
    check(Format::Edn, "read-committed", "read committed");
    check(Format::Awdit, "read-committed", "strong session monotonic atomic view");
    check(Format::Awdit, "PL-2", "strong session read committed");
    check(Format::Plume, "Causal", "strong session causal");
    check(Format::Plume, "plain causal", "causal");
    check(Format::DbcopText, "strong si", "strong snapshot isolation");
    assert_eq!(Format::Edn.convention().requirement("chaos"), None);
}

/// A history: sessions with their transactions, ops as (what, key, value).
fn histories(with_lists: bool) -> impl Strategy<Value = History> {
    let op = (0..4u8, 0..3u8);
    let transaction = (0..3u32, 0..3u8, prop::collection::vec(op, 1..4));
    prop::collection::vec(transaction, 0..8).prop_map(move |transactions| build(&transactions, with_lists))
}

/// Session, status, operations.
type Drawn = (u32, u8, Vec<(u8, u8)>);

fn build(transactions: &[Drawn], with_lists: bool) -> History {
    let mut builder = Builder::default();
    let mut next = 0;
    for (at, (session, status, ops)) in transactions.iter().enumerate() {
        let status = if *status == 2 { Status::Aborted } else { Status::Committed };
        let moment = |end: u64| with_lists.then_some(at as u64 * 2 + end);
        builder.begin(Head { session: *session, status, began: moment(0), ended: moment(1), line: at as u32 + 1 });
        for (what, key) in ops {
            let key = builder.key(["x", "y", "7"][usize::from(*key)]);
            next += 1;
            match (what, with_lists) {
                (0, false) => builder.push(Op::Read(key, None)),
                (1, false) => builder.push(Op::Read(key, Some(Scalar(next / 2 + 1)))),
                (_, false) => builder.push(Op::Write(key, Scalar(next))),
                (0 | 1, true) => {
                    let list: Vec<Scalar> = (1..=i64::from(*what) * 3).map(Scalar).collect();
                    builder.push_list(key, &list);
                }
                (2, true) => builder.push_list(key, &[Scalar(next)]),
                (_, true) => builder.push(Op::Append(key, Scalar(next))),
            }
        }
    }
    builder.finish()
}

/// What is the same in two histories however they were written: transactions by session, with their operations. Reads of
/// what was rolled back may be missing.
fn essence(history: &History) -> Vec<Vec<(Status, Vec<String>)>> {
    let transaction = |id| {
        let status = history.transaction(id).status;
        let counts = |op: &&Op| status == Status::Committed || matches!(op, Op::Write(..) | Op::Append(..));
        let ops = history.ops(id).iter().filter(counts).map(|op| micro::print_op(history, op)).collect();
        (status, ops)
    };
    let mut sessions: Vec<Vec<(Status, Vec<String>)>> =
        write::sessions(history).into_iter().map(|session| session.into_iter().map(transaction).collect()).collect();
    sessions.sort_by_key(|session| format!("{session:?}"));
    sessions
}

proptest! {
    #[test]
    fn lists_survive_elles_formats(history in histories(true)) {
        for format in [Format::Edn, Format::Json, Format::JsonLines] {
            let text = write(&history, format).unwrap();
            if history.is_empty() {
                continue;
            }
            let again = read(&text, "").unwrap();
            prop_assert_eq!(again.format, format);
            prop_assert_eq!(essence(&again.history), essence(&history), "{}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn registers_survive_all_formats(history in histories(false)) {
        for format in [Format::Edn, Format::JsonLines, Format::DbcopText, Format::DbcopJson] {
            let text = write(&history, format).unwrap();
            if history.is_empty() {
                continue;
            }
            let again = read(&text, "").unwrap();
            prop_assert_eq!(again.format, format);
            prop_assert_eq!(essence(&again.history), essence(&history), "{}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn our_own_format_keeps_everything(history in histories(true), other in histories(false)) {
        for history in [history, other] {
            let bytes = binary::write(&history, Format::Plume);
            let again = read(&bytes, "x.txh").unwrap();
            prop_assert_eq!(again, Read { history, format: Format::Plume });
        }
    }

    #[test]
    fn pieces_of_any_size_give_the_same(history in histories(true), size in 1..40usize) {
        let text = write(&history, Format::Edn).unwrap();
        prop_assume!(!history.is_empty());
        let mut reader = Reader::new("x.edn");
        for piece in text.chunks(size) {
            reader.feed(piece).unwrap();
        }
        prop_assert_eq!(reader.finish().unwrap(), read(&text, "").unwrap());
    }

    #[test]
    fn no_text_is_too_strange(start in 0..STARTS.len(), text in "[ -~\n]{0,60}") {
        let _ = read(format!("{}{text}", STARTS[start]).as_bytes(), "x.edn");
    }

    #[test]
    fn no_bytes_are_too_strange(start in 0..STARTS.len(), bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let mut text = STARTS[start].as_bytes().to_vec();
        text.extend(bytes);
        let _ = read(&text, "x.txt");
    }

    #[test]
    fn what_is_cut_off_is_refused_or_shorter(history in histories(true), cut in 0..10_000usize, format in 0..3usize) {
        let text = write(&history, [Format::Edn, Format::Json, Format::Binary][format]).unwrap();
        let _ = read(&text[..cut % (text.len() + 1)], "");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is wrong can be told, and made smaller without becoming something else.
    #[test]
    fn every_violation_is_told_and_made_smaller(lists in histories(true), registers in histories(false)) {
        for history in [lists, registers] {
            let Ok(checker) = Checker::new(&history) else { continue };
            let survey = Survey::of(&history, &checker, CheckBudget::time(&|| false));
            prop_assert!(!survey.is_undecided());
            for found in &survey.anomalies {
                let story = explain::tell(&history, &checker.facts, &found.example, "session");
                prop_assert!(!story.explanation.however.is_empty());
            }
            let violated = survey.standings.iter().rev().find_map(|(requirement, standing)| match standing {
                Standing::Violated(reason) => Some((*requirement, Named::of(reason))),
                _ => None,
            });
            if let Some((requirement, name)) = violated {
                let small = smallest(&history, requirement, &|| false).unwrap();
                prop_assert!(small.op_count() <= history.op_count());
                let again = Checker::new(&small).unwrap().check(requirement, &|| false);
                prop_assert!(matches!(again, Verdict::Violated(reason) if Named::of(&reason) == name));
            }
        }
    }
}

/// Beginnings that lead into every parser.
const STARTS: &[&str] = &[
    "",
    "{:type :ok :value ",
    "{:type :ok :value [[:r x ",
    "[{\"type\":\"ok\",\"value\":",
    "{\"type\":\"ok\",\"value\":[[\"append\",",
    "#jepsen.history.Op{",
    "w(0,",
    "r 0 ",
    "[x:=",
    "[x==1]",
    "{\"data\":[[{\"events\":[",
    "[[{\"events\":[{\"Read\":",
    "TXLOOMH\u{1}\u{0}",
    "TXLOOMH\u{1}\u{0}\u{1}\u{1}x\u{0}\u{1}",
];

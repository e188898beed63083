use super::*;
use crate::graph::notation::graph;
use crate::history::TxnId;

/// What the transactions are found guilty of at a level; nothing if the level holds.
#[track_caller]
fn check(text: &str, level: Level, expect: &str) {
    let found = graph(text).isolation(level).map(|violation| violation.anomaly.to_string()).unwrap_or_default();
    assert_eq!(found, expect, "{text}: {level}");
}

/// Read skew: b reads one row from before a and one from after it.
const READ_SKEW: &str = "b1 T1 sees t1=0 t2=0 outputs t1=0
                         a1 T0 sees t1=0 t2=0 writes t1:0>5 t2:0>5
                         b2 T1 sees t1=5 t2=5 outputs t2=5";

/// The other way round, which is worse: it has seen a already.
const UNSEEN: &str = "a1 T0 sees t1=0 t2=0 writes t1:0>5 t2:0>5
                      b1 T1 sees t1=5 t2=5 outputs t2=5
                      b2 T1 sees t1=0 t2=0 outputs t1=0";

const WRITE_SKEW: &str = "a1 T0 sees t1=0 t2=0 outputs t1=0 t2=0
                          b1 T1 sees t1=0 t2=0 outputs t1=0 t2=0
                          a2 T0 uses t: writes t1:0>5
                          b2 T1 uses t: writes t2:0>6";

#[test]
fn anomalies_and_levels() {
    check(READ_SKEW, Level::SnapshotIsolation, "G-single");
    check(READ_SKEW, Level::MonotonicAtomicView, "");
    check(UNSEEN, Level::MonotonicAtomicView, "OTV");
    check(UNSEEN, Level::ReadCommitted, "");
    check(WRITE_SKEW, Level::Serializable, "write-skew");
    check(WRITE_SKEW, Level::SnapshotIsolation, "");
    // A version that its writer overwrote.
    let intermediate = "a1 T0 sees t1=0 writes t1:0>5\nb1 T1 sees t1=5 outputs t1=5\na2 T0 sees t1=5 writes t1:5>6";
    check(intermediate, Level::ReadCommitted, "G1b");
    check(intermediate, Level::ReadUncommitted, "");
    // Writes that interleave: nobody read anything, and still the order of versions is known.
    let dirty = "a1 T0 uses t: writes t1:0>5\nb1 T1 uses t: writes t1:5>6 t2:0>6\na2 T0 uses t: writes t2:6>7";
    check(dirty, Level::ReadUncommitted, "G0");
    // A transaction that does not see its own write.
    check("a1 T0 sees t1=0 writes t1:0>5\na2 T0 sees t1=0 outputs t1=0", Level::MonotonicAtomicView, "internal");
    // A lost update by way of the application.
    let lost = "a1 T0 sees t1=0 outputs t1=0\nb1 T1 sees t1=0 writes t1:0>5\na2 T0 uses t: writes t1:5>6";
    check(lost, Level::SnapshotIsolation, "P4");
    check(lost, Level::MonotonicAtomicView, "");
}

#[test]
fn predicates_accuse_nobody() {
    // Read skew, but the first row is only looked at.
    check(&READ_SKEW.replace("outputs t1=0", "outputs"), Level::Serializable, "");
    check(&WRITE_SKEW.replace("outputs t1=0 t2=0", ""), Level::Serializable, "");
}

#[test]
fn rows_are_lists_of_versions() {
    let history = graph(
        "a1 T0 uses t: writes t1:->5
         b1 T2 sees t1=5 t2=0 outputs t1=5 t2=0
         b2 T2 sees t1=5 t2=0 writes t1:5>7 t2:0>7
         c1 T3 sees t1=7 t2=7 writes t1:7>-",
    )
    .history();
    let shown = |at: u32| {
        let ops = history.ops(TxnId(at)).iter().map(|op| match op {
            Op::Append(key, element) => format!("append {} {}", history.key_name(*key), history.show(*element)),
            Op::ReadList(key, list) => {
                let list: Vec<String> = history.list(*key, *list).iter().map(|value| history.show(*value)).collect();
                format!("read {} [{}]", history.key_name(*key), list.join(" "))
            }
            other => panic!("{other:?}"),
        });
        ops.collect::<Vec<_>>()
    };
    assert_eq!(shown(0), ["append t(1) 5"]);
    assert!(shown(1).is_empty(), "nothing is known of the second transaction");
    assert_eq!(shown(2), ["read t(1) [5]", "read t(2) []", "append t(1) 7", "append t(2) 7"]);
    assert_eq!(shown(3), ["append t(1) \"dead\""]);
    assert_eq!(shown(4), ["read t(1) [5 7 \"dead\"]", "read t(2) [7]"]);
}

#[test]
fn violations_are_explained() {
    let violation = graph(WRITE_SKEW).isolation(Level::Serializable).unwrap();
    assert_eq!(violation.transactions, [0, 1]);
    assert_eq!(
        violation.explanation.to_string(),
        "Let:
  a row is the list of versions that statements gave it; empty: as it was at first
  T1 (a1, a2): read t(1) [], read t(2) [], append t(1) 5
  T2 (b1, b2): read t(1) [], read t(2) [], append t(2) 6
Then:
  T1 found t(2) empty, and T2 appended 6 to it: T1 is before T2 (rw)
  T2 found t(1) empty, and T1 appended 5 to it: T2 is before T1 (rw)
However:
  then T1 is before itself: T1 → T2 → T1
A contradiction.
"
    );
}

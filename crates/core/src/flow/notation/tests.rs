use super::*;

fn check_error(text: &str, expect: &str) {
    assert_eq!(parse(text).unwrap_err().to_string(), expect, "{text}");
}

const BOOKING: &str = "\
program booking
T1: use flights.avail key flights.fltnum, flight -> avail
H: if avail
T2: maybe def flights.avail <- avail key flights.fltnum, flight, flights.*
T3: insert log(id, at) <- flight; delete log(id, at) key log.id; set y <- avail
T1 -> H
H -> T2 | T3 | end
T2 -> end
T3 -> T1 | end
";

#[test]
fn what_is_printed_is_read_again() {
    let application = parse(BOOKING).unwrap();
    assert_eq!(application.to_string(), BOOKING);
    assert_eq!(parse(&application.to_string()).unwrap().to_string(), BOOKING);
}

#[test]
fn nodes_follow_one_another_unless_there_are_arrows() {
    let application = parse("T1: use t.a -> X # a remark\n\nT2: set y <- x").unwrap();
    let nodes = &application.procedures[0].nodes;
    assert_eq!((nodes[0].successors.as_slice(), nodes[0].may_end, nodes[0].is_transaction), (&[1][..], false, true));
    assert_eq!((nodes[1].successors.as_slice(), nodes[1].may_end, nodes[1].is_transaction), (&[][..], true, false));
    assert_eq!(nodes[0].operations[0].defines, ["x"]);
    assert_eq!(nodes[1].line, 3);
}

#[test]
fn a_scan_reads_the_existence_of_rows() {
    let application = parse("T1: use t.a scan t.b, x -> y; def u.a scan; use t.c key t.id").unwrap();
    let operations = &application.procedures[0].nodes[0].operations;
    let reads = |at: usize| operations[at].reads().map(Element::to_string).collect::<Vec<_>>();
    assert_eq!(reads(0), ["t.a", "t.b", "t.*"]);
    assert_eq!(reads(1), ["u.*"]);
    assert_eq!(reads(2), ["t.c", "t.id"]);
}

#[test]
fn errors_name_the_line_and_what_was_probably_meant() {
    check_error(
        "T1: usse t.a",
        "line 1: unknown operation \"usse\"; did you mean use? (operations: use, def, insert, delete, set, if)\n  T1: usse t.a",
    );
    check_error(
        "T1: use t.a\nT1 -> T2",
        "line 2: there is no node \"T2\" in this program; did you mean T1? (nodes: T1)\n  T1 -> T2",
    );
    check_error("T1: def x", "line 1: expected table.column, found the variable x\n  T1: def x");
    check_error("T1: use t.a -> t.b", "line 1: expected a plain name, found t.b\n  T1: use t.a -> t.b");
    check_error("T1: use t.a by x", "line 1: expected \"<-\", \"->\", key or scan, found \"by\"\n  T1: use t.a by x");
    check_error("T1: use", "line 1: expected a column or a variable, found the end of the operation\n  T1: use");
    check_error("T1: insert t", "line 1: expected the columns of t in parentheses\n  T1: insert t");
    check_error("T1: insert t(a", "line 1: the columns of t need a closing parenthesis\n  T1: insert t(a");
    check_error("T1: use t.a $", "line 1: did not expect \"$\" here\n  T1: use t.a $");
    check_error(
        "T1: use t.a\nT1: use t.b",
        "line 2: there are two nodes called T1; names must be unique within a program\n  T1: use t.b",
    );
    check_error("T1", "line 1: expected \"program NAME\", \"NODE: operations\" or \"NODE -> NODE\"\n  T1");
    check_error("program a\nprogram a", "line 2: there are two programs called a; names must be unique\n  program a");
    check_error("end: use t.a", "line 1: expected the name of a node before \":\", found \"end\"\n  end: use t.a");
}

//! The invariants of a storm: those that are broken and must not be, how many hold, those that the level allows to break.

use super::super::model::storm::{BreachReport, InvariantsReport};
use super::hunt::count;
use super::line::{Line, Role};
use super::page::Page;
use super::storm::when;

/// So many rows of a broken invariant are told; JSON has more of them.
const ROWS_SHOWN: usize = 3;

/// What became of them, at an isolation level of the engine.
pub(super) fn write_invariants(page: &mut Page, level: &str, report: &InvariantsReport) {
    let InvariantsReport { evidence, promised, asked, broken } = report;
    let told = |role: Role, mark: &str, breach: &BreachReport, words: &str| {
        let BreachReport { name, says, after, .. } = breach;
        let words = format!(" is broken {} ({evidence}){words}: {says}", when(after.as_ref()));
        Line::new(role, mark).with(Role::Strong, name.as_str()).with(Role::Plain, words)
    };
    for breach in broken.iter().filter(|breach| !breach.is_allowed) {
        let words = format!(", and must hold from {} on", breach.from);
        page.paragraph(&told(Role::Bad, "✗ ", breach, &words), 0, 2);
        write_rows(page, breach);
    }
    // One that broke after a kill may not have been asked for again.
    match asked.saturating_sub(broken.len()) {
        0 => {}
        holding if broken.is_empty() => {
            let words =
                format!("{} {}", count(holding as u64, "invariant"), if holding == 1 { "holds" } else { "hold" });
            page.line(Line::new(Role::Good, "✓ ").with(Role::Plain, words));
        }
        holding => page.line(Line::plain(format!("{holding} of {} hold", count(*asked as u64, "invariant")))),
    }
    for breach in broken.iter().filter(|breach| breach.is_allowed) {
        let words = match promised {
            Some(_) => format!(", which {level} allows; it must hold from {} on", breach.from),
            None => {
                format!("; it must hold from {} on, and nobody has found out what {level} promises here", breach.from)
            }
        };
        page.paragraph(&told(Role::Wait, "· ", breach, &words), 0, 2);
        write_rows(page, breach);
    }
}

/// `custid 7, held 10, booked 15`.
fn write_rows(page: &mut Page, breach: &BreachReport) {
    for row in breach.rows.iter().take(ROWS_SHOWN) {
        let cells = breach.columns.iter().zip(row).map(|(column, value)| format!("{column} {value}"));
        page.paragraph(&Line::plain(cells.collect::<Vec<_>>().join(", ")), 4, 2);
    }
    let more = breach.row_count.saturating_sub(breach.rows.len().min(ROWS_SHOWN) as u64);
    if more > 0 {
        page.line(Line::new(Role::Faint, format!("    … {more} more")));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::model::storm::FaultCount;
    use super::*;

    fn breach(is_allowed: bool) -> BreachReport {
        let row = ["3", "110", "125"].map(str::to_string).to_vec();
        BreachReport {
            name: "accounts".to_string(),
            says: "each account holds what it should".to_string(),
            from: "cursor stability".to_string(),
            is_allowed,
            after: (!is_allowed).then(|| FaultCount { kind: "kill".to_string(), count: 2 }),
            query: "SELECT 1".to_string(),
            columns: ["custid", "held", "booked"].map(str::to_string).to_vec(),
            rows: vec![row; 4],
            row_count: 9,
        }
    }

    fn check(promised: Option<&str>, broken: Vec<BreachReport>, expect: &str) {
        let (evidence, promised) = ("recorded".to_string(), promised.map(str::to_string));
        let mut page = Page::new(200);
        write_invariants(&mut page, "repeatable read", &InvariantsReport { evidence, promised, asked: 4, broken });
        assert_eq!(page.paint(false), expect);
    }

    #[test]
    fn a_broken_invariant_is_a_finding_or_an_observation() {
        let rows = "    custid 3, held 110, booked 125\n".repeat(3) + "    … 6 more\n";
        check(Some("serializable"), Vec::new(), "✓ 4 invariants hold\n");
        let broken = "✗ accounts is broken after kill 2 (recorded), and must hold from cursor stability on: each account \
                      holds what it should\n";
        check(Some("serializable"), vec![breach(false)], &format!("{broken}{rows}3 of 4 invariants hold\n"));
        let allowed = "· accounts is broken at the end (recorded), which repeatable read allows; it must hold from cursor \
                       stability on: each account holds what it should\n";
        check(Some("read committed"), vec![breach(true)], &format!("3 of 4 invariants hold\n{allowed}{rows}"));
        let unknown = "· accounts is broken at the end (recorded); it must hold from cursor stability on, and nobody has \
                       found out what repeatable read promises here: each account holds what it should\n";
        check(None, vec![breach(true)], &format!("3 of 4 invariants hold\n{unknown}{rows}"));
    }
}

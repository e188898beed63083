//! Circles of waits that are none.
//!
//! An insert waits for every lock on its gap, also for those that others have only asked for. So a server's lists may say
//! that b waits for a *and* for c, while c waits for b:
//!
//! ```text
//!   a   S lock on the gap
//!   c             asks for a lock on b's row, with the gap before it: waits for b
//!   b                       INSERT into the gap: waits for a, and is listed behind c
//! ```
//!
//! InnoDB does not see a deadlock: its detector follows whoever really is in the way, one at a time, and that is a. A real
//! circle is resolved as soon as it is closed. One that lasts is therefore an artefact of the lists: then whoever is also
//! held up by somebody outside of the circle waits for that one.

use super::waits::Edges;

/// The connections that are on a circle.
pub(super) fn on_circles(edges: &Edges) -> Vec<u32> {
    edges.keys().copied().filter(|thread| leads_back(edges, *thread, *thread)).collect()
}

/// Without the waits inside circles, where a waiter has others.
pub(super) fn without_circles(edges: &Edges) -> Edges {
    let outside = |waiter: u32| {
        let holders = edges[&waiter].iter().copied();
        holders.filter(move |holder| holder.is_none_or(|holder| !leads_back(edges, holder, waiter)))
    };
    let mut broken = edges.clone();
    for (waiter, holders) in &mut broken {
        let others: Vec<Option<u32>> = outside(*waiter).collect();
        if !others.is_empty() {
            *holders = others;
        }
    }
    broken
}

/// Whether one connection waits, directly or through others, for another.
fn leads_back(edges: &Edges, from: u32, to: u32) -> bool {
    let mut open = vec![from];
    let mut seen = Vec::new();
    while let Some(thread) = open.pop() {
        for holder in edges.get(&thread).into_iter().flatten().flatten() {
            if *holder == to {
                return true;
            }
            if !seen.contains(holder) {
                seen.push(*holder);
                open.push(*holder);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> Edges {
        let number = |text: &str| text.parse::<u32>().ok();
        let wait = |wait: &str| {
            let (waiter, holders) = wait.split_once(':').unwrap();
            (number(waiter).unwrap(), holders.split(',').map(number).collect())
        };
        text.split(' ').map(wait).collect()
    }

    #[test]
    fn whoever_has_another_holder_waits_for_that_one() {
        let check = |before: &str, circle: &[u32], after: &str| {
            assert_eq!(on_circles(&edges(before)), circle, "{before}");
            assert_eq!(without_circles(&edges(before)), edges(after), "{before}");
        };
        check("2:1,3 3:2", &[2, 3], "2:1 3:2");
        check("2:1 3:2", &[], "2:1 3:2");
        check("2:3 3:2", &[2, 3], "2:3 3:2");
        check("2:-,3 3:2", &[2, 3], "2:- 3:2");
        check("2:1,4 3:2 4:3", &[2, 3, 4], "2:1 3:2 4:3");
    }
}

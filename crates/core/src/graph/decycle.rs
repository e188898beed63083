//! Cycles, and which statements to give up so that there are none.
//!
//! A cycle means that no order of the statements shows all of them what they saw: two transactions that each read what the
//! other wrote over, for example, which most levels allow. Some statement has to go, and the rest runs again, as without it
//! everything may be different. Fewest statements would be best, but that is an NP-hard question (feedback vertex set), so:
//!
//! ```text
//!   while there are components with a cycle
//!       of each, give up the statement with the most ways through it (in × out), by chance among equals
//!   take back whatever turns out to be not in the way of the others
//! ```
//!
//! All present cycles are broken at once, so that one further run is enough unless that run has new ones. As every round
//! gives up at least one statement, there is an end.

use std::collections::VecDeque;

use super::Graph;
use crate::generate::random::Random;

impl Graph {
    /// By statement: those that have to run later, each once.
    pub(super) fn followers(&self) -> Vec<Vec<usize>> {
        let mut followers = vec![Vec::new(); self.statements.len()];
        for edge in self.edges.iter().filter(|edge| edge.from != edge.to) {
            followers[edge.from].push(edge.to);
        }
        for list in &mut followers {
            list.sort_unstable();
            list.dedup();
        }
        followers
    }

    /// The groups of statements that are on cycles with each other, each in ascending order, ordered by their first.
    pub fn cyclic(&self) -> Vec<Vec<usize>> {
        let followers = self.followers();
        components(&followers, &vec![false; followers.len()])
    }

    /// Statements without which there is no cycle, in ascending order; with any one of them back there would be one.
    pub fn to_remove(&self, random: &mut Random) -> Vec<usize> {
        let followers = self.followers();
        let mut gone = vec![false; followers.len()];
        let mut given_up = Vec::new();
        loop {
            let found = components(&followers, &gone);
            if found.is_empty() {
                break;
            }
            for component in found {
                let at = busiest(&followers, &component, random);
                gone[at] = true;
                given_up.push(at);
            }
        }
        for at in given_up {
            gone[at] = false;
            gone[at] = !components(&followers, &gone).is_empty();
        }
        (0..gone.len()).filter(|at| gone[*at]).collect()
    }

    /// A shortest cycle, from its first statement on; the last one leads back to it.
    pub fn shortest_cycle(&self) -> Option<Vec<usize>> {
        let followers = self.followers();
        // `min_by_key` keeps the first of equals: the one that begins earliest.
        (0..followers.len()).filter_map(|start| shortest_through(&followers, start)).min_by_key(Vec::len)
    }
}

/// The statement of a component with the most ways through it; by chance among equals.
fn busiest(followers: &[Vec<usize>], component: &[usize], random: &mut Random) -> usize {
    let is_inside = |at: &usize| component.binary_search(at).is_ok();
    let ways = |at: usize| {
        let out = followers[at].iter().filter(|next| is_inside(next)).count();
        let into = component.iter().filter(|other| followers[**other].binary_search(&at).is_ok()).count();
        out * into
    };
    let most = component.iter().map(|at| ways(*at)).max().unwrap_or(0);
    let equals: Vec<usize> = component.iter().copied().filter(|at| ways(*at) == most).collect();
    *random.pick(&equals).expect("a component has members, and one of them has the most")
}

/// Strongly connected components with more than one member, without those that are gone (Kosaraju: what a walk against the
/// edges reaches, begun in the reverse order of completion of a walk along them).
fn components(followers: &[Vec<usize>], gone: &[bool]) -> Vec<Vec<usize>> {
    let mut leaders = vec![Vec::new(); followers.len()];
    for (at, nexts) in followers.iter().enumerate() {
        nexts.iter().for_each(|next| leaders[*next].push(at));
    }
    let mut met = gone.to_vec();
    let mut completed = Vec::new();
    (0..followers.len()).for_each(|start| walk(followers, start, &mut met, &mut completed));
    let mut met = gone.to_vec();
    let mut components = Vec::new();
    for start in completed.into_iter().rev() {
        let mut component = Vec::new();
        walk(&leaders, start, &mut met, &mut component);
        component.sort_unstable();
        if component.len() > 1 {
            components.push(component);
        }
    }
    components.sort_unstable();
    components
}

/// Whom a walk reaches that nobody has met before, in the order in which it leaves them.
fn walk(next: &[Vec<usize>], start: usize, met: &mut [bool], completed: &mut Vec<usize>) {
    if std::mem::replace(&mut met[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((at, branch)) = path.last_mut() {
        let Some(follower) = next[*at].get(*branch).copied() else {
            completed.push(*at);
            path.pop();
            continue;
        };
        *branch += 1;
        if !std::mem::replace(&mut met[follower], true) {
            path.push((follower, 0));
        }
    }
}

/// A shortest way from a statement back to itself, over those that do not come before it.
fn shortest_through(followers: &[Vec<usize>], start: usize) -> Option<Vec<usize>> {
    let mut came_from = vec![None; followers.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in followers[at].iter().copied() {
            if next == start {
                let mut back: Vec<usize> = std::iter::successors(Some(at), |at| came_from[*at]).collect();
                back.reverse();
                return Some(back);
            }
            if next > start && came_from[next].is_none() {
                came_from[next] = Some(at);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;

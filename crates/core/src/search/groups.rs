//! Which procedures can be on a cycle together, made as they are asked for.
//!
//! A cycle goes from call to call along dependencies, so the procedures of its calls are a closed walk in the graph of
//! the procedures that meet on a table. There are as many such walks as the number of procedures to the power of the
//! number of calls: 200 procedures on one table have more than a million. So they are walked one after the other, those
//! of fewer calls first, and nothing is kept but the place where the walk is.

use std::collections::BTreeSet;

use super::conflicts::Conflicts;

/// The groups of procedures, each ascending and given once. A procedure that is called twice is there twice.
#[derive(Debug)]
pub(super) struct ProcedureGroups {
    /// For each procedure, those that it meets, itself included if two calls of it meet.
    meets: Vec<BTreeSet<u16>>,
    calls_max: usize,
    /// The number of calls of the groups that are being made.
    calls: usize,
    /// The least procedure of the groups that are being made.
    least: u16,
    /// The groups that have been made and not been given, last one first.
    ready: Vec<Vec<u16>>,
    /// The second procedures of the walks that have not been made, last one first.
    seconds: Vec<u16>,
}

impl ProcedureGroups {
    pub(super) fn new(conflicts: &Conflicts, calls_max: usize) -> ProcedureGroups {
        let mut meets = vec![BTreeSet::new(); conflicts.connected];
        let procedure = |site: u16| conflicts.site(site).procedure;
        for edge in &conflicts.edges {
            let (from, to) = (procedure(edge.from), procedure(edge.to));
            meets[usize::from(from)].insert(to);
            meets[usize::from(to)].insert(from);
        }
        let seconds = Self::seconds(&meets, 0);
        ProcedureGroups { meets, calls_max, calls: 2, least: 0, ready: Vec::new(), seconds }
    }

    /// The procedures that a walk from the least one may go to, last one first.
    fn seconds(meets: &[BTreeSet<u16>], least: u16) -> Vec<u16> {
        meets.get(usize::from(least)).map(|own| own.range(least..).rev().copied().collect()).unwrap_or_default()
    }

    /// The closed walks that begin with the least procedure and this second one, each as a group.
    fn walks(&self, second: u16) -> Vec<Vec<u16>> {
        let mut walks = vec![vec![self.least, second]];
        for _ in 2..self.calls {
            let longer = |walk: &Vec<u16>| {
                let last = usize::from(walk[walk.len() - 1]);
                let next = self.meets[last].range(self.least..).copied();
                next.map(|next| [walk.as_slice(), &[next]].concat()).collect::<Vec<_>>()
            };
            walks = walks.iter().flat_map(longer).collect();
        }
        walks.retain(|walk| self.is_closed(walk) && self.is_first(walk));
        walks
            .into_iter()
            .map(|mut walk| {
                walk.sort_unstable();
                walk
            })
            .collect()
    }

    fn is_closed(&self, walk: &[u16]) -> bool {
        walk.iter().zip(walk.iter().cycle().skip(1)).all(|(one, next)| self.meets[usize::from(*one)].contains(next))
    }

    /// Whether no other order of the same procedures is a closed walk and comes before this one.
    fn is_first(&self, walk: &[u16]) -> bool {
        let mut earlier = walk[1..].to_vec();
        earlier.sort_unstable();
        let mut is_first = true;
        permute(&mut earlier, 0, &mut |order| {
            let other = [&walk[..1], order].concat();
            is_first &= other.as_slice() >= walk || !self.is_closed(&other);
        });
        is_first
    }
}

/// Tells of all orders of what stands from a position on.
fn permute(order: &mut Vec<u16>, from: usize, tell: &mut dyn FnMut(&[u16])) {
    if from == order.len() {
        return tell(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        permute(order, from + 1, tell);
        order.swap(from, at);
    }
}

impl Iterator for ProcedureGroups {
    type Item = Vec<u16>;

    fn next(&mut self) -> Option<Vec<u16>> {
        loop {
            if let Some(group) = self.ready.pop() {
                return Some(group);
            }
            if let Some(second) = self.seconds.pop() {
                self.ready = self.walks(second);
                self.ready.reverse();
                continue;
            }
            self.least += 1;
            if usize::from(self.least) >= self.meets.len() {
                (self.least, self.calls) = (0, self.calls + 1);
                if self.calls > self.calls_max || self.meets.is_empty() {
                    return None;
                }
            }
            self.seconds = Self::seconds(&self.meets, self.least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(edges: &[(u16, u16)], count: usize, calls_max: usize) -> Vec<Vec<u16>> {
        let mut meets = vec![BTreeSet::new(); count];
        for (a, b) in edges {
            meets[usize::from(*a)].insert(*b);
            meets[usize::from(*b)].insert(*a);
        }
        let seconds = ProcedureGroups::seconds(&meets, 0);
        ProcedureGroups { meets, calls_max, calls: 2, least: 0, ready: Vec::new(), seconds }.collect()
    }

    #[test]
    fn groups_are_closed_walks_small_ones_first() {
        let found = groups(&[(0, 0), (0, 1), (1, 2), (0, 2), (3, 3)], 4, 3);
        let expected: [&[u16]; 9] =
            [&[0, 0], &[0, 1], &[0, 2], &[1, 2], &[3, 3], &[0, 0, 0], &[0, 0, 1], &[0, 0, 2], &[0, 1, 2]];
        assert_eq!(found, [expected.as_slice(), &[&[3, 3, 3]]].concat());
        assert_eq!(groups(&[], 0, 3), [] as [Vec<u16>; 0]);
        assert_eq!(groups(&[], 3, 4), [] as [Vec<u16>; 0]);
    }

    #[test]
    fn each_group_of_four_is_given_once() {
        let all: Vec<(u16, u16)> = (0..4).flat_map(|a| (a..4).map(move |b| (a, b))).collect();
        let found = groups(&all, 4, 4);
        assert_eq!(found.len(), 10 + 20 + 35);
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
    }
}

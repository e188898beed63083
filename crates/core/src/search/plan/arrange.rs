//! Orders of execution: the cycle's statements in every order, and the rest around them.
//!
//! What matters is in which order the statements of the cycle are executed, and there are few of them. The others are
//! put where they disturb least:
//!
//! ```text
//!   A:  head  node  middle  node  tail          head, middle: directly before the node that they lead to
//!   B:              node  tail                  tail, with the end of the transaction: directly behind the last node
//! ```
//!
//! There are other choices, which come later: all heads at the very beginning, so that snapshots are old; some tails at
//! the very end, so that nobody sees what they commit; and, if a transaction ends between two nodes, or an advisory lock is
//! released there, that directly behind the first one.

use super::steps::Call;

/// Something that is executed: the position of its call, and of the step in it.
pub(super) type Item = (usize, usize);

/// An order of the cycle's statements: for each, the position of its call and which of its nodes it is.
pub(super) type Interleaving = Vec<(usize, usize)>;

/// Where the rest goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// Whether what leads to the first nodes comes at the very beginning.
    pub(super) early_heads: bool,
    /// Whether transactions that end between two nodes do so at once, and locks are released.
    pub(super) early_middles: bool,
    /// For each call, whether what is left comes at the very end.
    pub(super) late_tails: Vec<bool>,
}

/// Every order of the nodes that keeps the order of each call.
pub(super) fn interleavings(calls: &[Call]) -> Vec<Interleaving> {
    let mut all = Vec::new();
    let mut done = vec![0; calls.len()];
    extend(calls, &mut done, &mut Vec::new(), &mut all);
    all
}

fn extend(calls: &[Call], done: &mut [usize], order: &mut Interleaving, all: &mut Vec<Interleaving>) {
    let mut is_complete = true;
    for call in 0..calls.len() {
        if done[call] < calls[call].nodes.len() {
            is_complete = false;
            order.push((call, done[call]));
            done[call] += 1;
            extend(calls, done, order, all);
            done[call] -= 1;
            order.pop();
        }
    }
    if is_complete {
        all.push(order.clone());
    }
}

/// The choices that can make a difference, the simplest first. `heads` says whether it matters where snapshots are
/// taken, `tails` whether each tail may have a place of its own.
pub(super) fn choices(calls: &[Call], heads: bool, tails: bool) -> Vec<Choice> {
    let has_head = calls.iter().any(|call| call.nodes[0] > 0);
    let has_end = |call: &Call| matches!(call.nodes[..], [first, last] if last_end(call, first, last).is_some());
    let flags = |wanted: bool| if wanted { vec![false, true] } else { vec![false] };
    let count = calls.len();
    let mut subsets: Vec<Vec<bool>> = match tails {
        true => (0..1_usize << count).map(|bits| (0..count).map(|at| bits >> at & 1 == 1).collect()).collect(),
        false => vec![vec![false; count], vec![true; count]],
    };
    subsets.sort_by_key(|subset| subset.iter().filter(|late| **late).count());
    let mut choices = Vec::new();
    for early_heads in flags(heads && has_head) {
        // A lock that is released in the middle is in everybody's way until then.
        let releases = calls.iter().flat_map(|call| &call.steps).any(|step| step.releases);
        let middles = if releases { vec![true, false] } else { flags(calls.iter().any(has_end)) };
        for early_middles in middles {
            let choice = |late_tails: &Vec<bool>| Choice { early_heads, early_middles, late_tails: late_tails.clone() };
            choices.extend(subsets.iter().map(choice));
        }
    }
    choices
}

/// The last step between two that ends a transaction, or releases a lock.
fn last_end(call: &Call, first: usize, last: usize) -> Option<usize> {
    (first + 1..last).rev().find(|step| !call.steps[*step].is_statement || call.steps[*step].releases)
}

/// The step behind those that release locks after the last node, and before its transaction ends; these come at once.
fn released_behind(call: &Call, last: usize) -> usize {
    let open = (last + 1..call.steps.len()).take_while(|step| call.steps[*step].is_statement);
    open.filter(|step| call.steps[*step].releases).last().unwrap_or(last) + 1
}

/// Everything in order.
pub(super) fn arrange(calls: &[Call], interleaving: &Interleaving, choice: &Choice) -> Vec<Item> {
    let mut items = Vec::new();
    let mut add = |call: usize, steps: std::ops::Range<usize>| items.extend(steps.map(|step| (call, step)));
    if choice.early_heads {
        (0..calls.len()).for_each(|call| add(call, 0..calls[call].nodes[0]));
    }
    for (call, number) in interleaving {
        let (steps, nodes) = (&calls[*call].steps, &calls[*call].nodes);
        let node = nodes[*number];
        let end = |first| last_end(&calls[*call], first, nodes[nodes.len() - 1]).filter(|_| choice.early_middles);
        let start = match number {
            0 if choice.early_heads => node,
            0 => 0,
            _ => end(nodes[0]).unwrap_or(nodes[0]) + 1,
        };
        add(*call, start..node + 1);
        if *number + 1 < nodes.len()
            && let Some(end) = end(node)
        {
            add(*call, node + 1..end + 1);
        }
        if *number + 1 == nodes.len() {
            let end = if choice.late_tails[*call] { released_behind(&calls[*call], node) } else { steps.len() };
            add(*call, node + 1..end);
        }
    }
    for (call, _) in choice.late_tails.iter().enumerate().filter(|(_, late)| **late) {
        let last = calls[call].nodes[calls[call].nodes.len() - 1];
        add(call, released_behind(&calls[call], last)..calls[call].steps.len());
    }
    items
}

//! Cycles of a given form, by walking a graph with a memory.
//!
//! "No cycle in which two `rw` are never neighbours" is a question about plain cycles in a larger graph: each node comes
//! once per *state*, and the state remembers what the last edge was.
//!
//! ```text
//!   snapshot isolation: ((wr ∪ ww) ; rw?)⁺
//!
//!            wr, ww                rw
//!       ┌──────────────┐   ┌──────────────┐
//!       ↓              │   │              ↓
//!     dependency ──────┘   │             rw
//!       ↑  └───────────────┘              │
//!       └──────────── wr, ww ─────────────┘
//! ```
//!
//! A closed walk in that graph has the form that the level forbids; strongly connected components find one in linear time,
//! breadth-first search inside a component finds a shortest one.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};

use super::super::facts::Node;
use super::graph::{Edge, EdgeKind, Graph};

/// A form of cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// `ww` only.
    Writes,
    /// `ww` and `wr`.
    Dependencies,
    /// `((wr ∪ ww) ; rw?)⁺`
    Snapshot,
    /// `(wr ; rw? ∪ ww)⁺`
    Prefix,
    /// Everything.
    All,
}

impl Walk {
    /// How many states there are.
    fn states(self) -> usize {
        match self {
            Walk::Writes | Walk::Dependencies | Walk::All => 1,
            Walk::Snapshot => 2,
            Walk::Prefix => 3,
        }
    }

    /// The state after an edge; `None` if it must not be taken here.
    fn next(self, state: usize, kind: EdgeKind) -> Option<usize> {
        use EdgeKind::{Implied, Rw, Session, Time, Vanished, Wr, Ww};
        match (self, kind) {
            (Walk::All, _) => Some(0),
            (Walk::Writes | Walk::Dependencies, Ww | Session | Time) => Some(0),
            (Walk::Dependencies, Wr) => Some(0),
            (Walk::Writes, Wr) | (Walk::Writes | Walk::Dependencies, Rw) | (_, Implied(_) | Vanished) => None,
            // States of snapshot isolation: 0 after a dependency, 1 after rw.
            (Walk::Snapshot, Rw) => (state == 0).then_some(1),
            (Walk::Snapshot, _) => Some(0),
            // States of prefix: 0 after ww, 1 after wr and the like, 2 after rw.
            (Walk::Prefix, Ww) => Some(0),
            (Walk::Prefix, Rw) => (state == 1).then_some(2),
            (Walk::Prefix, _) => Some(1),
        }
    }
}

/// A cycle: nodes with the edge that leaves each; the last edge leads to the first node.
pub type Cycle = Vec<(Node, Edge)>;

/// A graph, walked in one form.
pub struct Walker<'a> {
    graph: &'a Graph,
    walk: Walk,
    /// The component of each node in each state; those of a component alone have [`ALONE`].
    components: Vec<u32>,
}

const ALONE: u32 = u32::MAX;

/// From how many nodes of a component a shortest cycle is looked for.
const STARTS_MAX: usize = 64;

impl<'a> Walker<'a> {
    /// Finds the components.
    pub fn new(graph: &'a Graph, walk: Walk) -> Walker<'a> {
        Walker { graph, walk, components: Tarjan::new(graph, walk).run() }
    }

    /// Whether there is no cycle of this form.
    pub fn is_acyclic(&self) -> bool {
        self.components.iter().all(|component| *component == ALONE)
    }

    /// The component of a node in the first state, if it is on a cycle.
    pub fn component(&self, node: Node) -> Option<u32> {
        Some(self.components[node as usize * self.walk.states()]).filter(|component| *component != ALONE)
    }

    /// Short cycles, the shortest first: from several places of every component, so many in all. When the time is over,
    /// those that were found; one is found if there is any.
    pub fn cycles(&self, count_max: usize, should_stop: &dyn Fn() -> bool) -> Vec<Cycle> {
        let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, component) in self.components.iter().enumerate().filter(|(_, component)| **component != ALONE) {
            members.entry(*component).or_default().push(at);
        }
        let mut cycles: BTreeMap<(usize, Vec<Node>), Cycle> = BTreeMap::new();
        for places in members.values().take(count_max) {
            let step = places.len().div_ceil(STARTS_MAX).max(1);
            for cycle in places.iter().step_by(step).filter_map(|start| self.shortest_through(*start)) {
                let mut nodes: Vec<Node> = cycle.iter().map(|(node, _)| *node).collect();
                nodes.sort_unstable();
                cycles.insert((cycle.len(), nodes), cycle);
                if should_stop() {
                    return cycles.into_values().take(count_max).collect();
                }
            }
        }
        cycles.into_values().take(count_max).collect()
    }

    /// A shortest cycle through a place (a node in a state), inside its component. Barriers cost nothing.
    fn shortest_through(&self, start: usize) -> Option<Cycle> {
        let states = self.walk.states();
        let mut came: HashMap<usize, (usize, Edge)> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(place) = queue.pop_front() {
            let (node, state) = ((place / states) as Node, place % states);
            for edge in self.graph.edges(node) {
                let Some(next) = self.walk.next(state, edge.kind) else { continue };
                let target = edge.to as usize * states + next;
                if self.components[target] != self.components[start] {
                    continue;
                }
                if target == start {
                    return Some(self.trace_back(start, place, *edge, &came));
                }
                if let Entry::Vacant(entry) = came.entry(target) {
                    entry.insert((place, *edge));
                    if self.graph.is_barrier(edge.to) { queue.push_front(target) } else { queue.push_back(target) }
                }
            }
        }
        None
    }

    fn trace_back(&self, start: usize, last: usize, closing: Edge, came: &HashMap<usize, (usize, Edge)>) -> Cycle {
        let states = self.walk.states();
        let mut cycle = vec![((last / states) as Node, closing)];
        let mut place = last;
        while place != start {
            let (before, edge) = came[&place];
            cycle.push(((before / states) as Node, edge));
            place = before;
        }
        cycle.reverse();
        self.without_barriers(cycle)
    }

    /// Real time leads through barriers; a reader wants to see who came before whom.
    fn without_barriers(&self, mut cycle: Cycle) -> Cycle {
        let Some(first) = cycle.iter().position(|(node, _)| !self.graph.is_barrier(*node)) else { return cycle };
        cycle.rotate_left(first);
        let mut short: Cycle = Vec::new();
        for (node, edge) in cycle {
            match short.last_mut() {
                Some((_, last)) if self.graph.is_barrier(node) => last.to = edge.to,
                _ => short.push((node, edge)),
            }
        }
        short
    }
}

/// Tarjan's algorithm, with a stack of its own: histories are longer than ours.
struct Tarjan<'a> {
    graph: &'a Graph,
    walk: Walk,
    index: Vec<u32>,
    low: Vec<u32>,
    components: Vec<u32>,
    stack: Vec<u32>,
    next_index: u32,
    next_component: u32,
}

const UNSEEN: u32 = u32::MAX;
/// Marks what is on the stack, until its component is known.
const OPEN: u32 = u32::MAX - 1;

impl<'a> Tarjan<'a> {
    fn new(graph: &'a Graph, walk: Walk) -> Tarjan<'a> {
        let count = graph.len() * walk.states();
        Tarjan {
            graph,
            walk,
            index: vec![UNSEEN; count],
            low: vec![0; count],
            components: vec![ALONE; count],
            stack: Vec::new(),
            next_index: 0,
            next_component: 0,
        }
    }

    fn run(mut self) -> Vec<u32> {
        for start in 0..self.index.len() {
            if self.index[start] == UNSEEN {
                self.visit(start);
            }
        }
        self.components
    }

    fn visit(&mut self, start: usize) {
        let states = self.walk.states();
        let mut path: Vec<(u32, u32)> = vec![(start as u32, 0)];
        self.enter(start);
        while let Some((place, at)) = path.last_mut() {
            let (here, position) = (*place as usize, *at as usize);
            let (node, state) = ((here / states) as Node, here % states);
            let Some(edge) = self.graph.edges(node).get(position) else {
                path.pop();
                self.leave(here);
                if let Some((before, _)) = path.last() {
                    let before = *before as usize;
                    self.low[before] = self.low[before].min(self.low[here]);
                }
                continue;
            };
            *at += 1;
            let Some(next) = self.walk.next(state, edge.kind) else { continue };
            let target = edge.to as usize * states + next;
            if self.index[target] == UNSEEN {
                self.enter(target);
                path.push((target as u32, 0));
            } else if self.components[target] == OPEN {
                self.low[here] = self.low[here].min(self.index[target]);
            }
        }
    }

    fn enter(&mut self, place: usize) {
        self.index[place] = self.next_index;
        self.low[place] = self.next_index;
        self.next_index += 1;
        self.components[place] = OPEN;
        self.stack.push(place as u32);
    }

    fn leave(&mut self, place: usize) {
        if self.low[place] != self.index[place] {
            return;
        }
        let from = self.stack.iter().rposition(|other| *other as usize == place).unwrap_or(0);
        let is_alone = self.stack.len() - from == 1;
        let component = if is_alone { ALONE } else { self.next_component };
        self.next_component += u32::from(!is_alone);
        for member in self.stack.drain(from..) {
            self.components[member as usize] = component;
        }
    }
}

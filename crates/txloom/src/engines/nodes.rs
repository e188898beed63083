//! Sets of nodes, and who can talk to whom: what the clusters share.

/// How many nodes there may be.
pub(in crate::engines) const NODES_MAX: usize = 9;

/// A set of nodes, by position from 0; the ledger of `replicas` counts as one more, the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::engines) struct Nodes(u16);

impl Nodes {
    /// The first so many nodes.
    pub(in crate::engines) fn first(count: usize) -> Nodes {
        (0..count).collect()
    }

    pub(in crate::engines) fn insert(&mut self, node: usize) {
        self.0 |= 1 << node;
    }

    pub(in crate::engines) fn contains(self, node: usize) -> bool {
        self.0 & (1 << node) != 0
    }

    pub(in crate::engines) fn iter(self) -> impl Iterator<Item = usize> {
        (0..=NODES_MAX).filter(move |node| self.contains(*node))
    }
}

impl FromIterator<usize> for Nodes {
    fn from_iter<T: IntoIterator<Item = usize>>(nodes: T) -> Nodes {
        let mut set = Nodes::default();
        nodes.into_iter().for_each(|node| set.insert(node));
        set
    }
}

/// Who can talk to whom: groups of nodes.
#[derive(Debug, Clone)]
pub(in crate::engines) struct Network {
    count: usize,
    groups: Vec<Nodes>,
}

impl Network {
    /// So many nodes, all connected.
    pub(in crate::engines) fn new(count: usize) -> Network {
        Network { count, groups: vec![Nodes::first(count)] }
    }

    /// How many nodes there are.
    pub(in crate::engines) fn count(&self) -> usize {
        self.count
    }

    /// The group that a node belongs to.
    pub(in crate::engines) fn group_of(&self, node: usize) -> Nodes {
        self.groups.iter().copied().find(|group| group.contains(node)).unwrap_or_default()
    }

    /// Connects everybody with everybody.
    pub(in crate::engines) fn heal(&mut self) {
        self.groups = vec![Nodes::first(self.count)];
    }

    /// Cuts the network into these groups, written as in a case; or says why that is no partition of it.
    pub(in crate::engines) fn cut(&mut self, groups: &[Vec<u32>]) -> Result<(), String> {
        for node in groups.iter().flatten() {
            self.position(*node)?;
        }
        let named = |node: &usize| groups.iter().flatten().any(|other| *other as usize == node + 1);
        if let Some(missing) = (0..self.count).find(|node| !named(node)) {
            return Err(format!("a partition that does not say where node {} belongs", missing + 1));
        }
        self.groups = groups.iter().map(|group| group.iter().map(|node| *node as usize - 1).collect()).collect();
        Ok(())
    }

    /// The position of a node that a case names by its number, from 1; or what is wrong with the number.
    pub(in crate::engines) fn position(&self, number: u32) -> Result<usize, String> {
        match (number as usize).checked_sub(1).filter(|node| *node < self.count) {
            Some(node) => Ok(node),
            None => Err(format!("node {number} (it has the nodes 1 to {})", self.count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_who_can_talk() {
        let mut network = Network::new(3);
        assert_eq!(network.group_of(2).iter().collect::<Vec<_>>(), [0, 1, 2]);
        network.cut(&[vec![1], vec![2, 3]]).unwrap();
        assert_eq!(network.group_of(2).iter().collect::<Vec<_>>(), [1, 2]);
        assert!(!network.group_of(0).contains(1));
        for (groups, expect) in [
            (&[vec![1], vec![2]][..], "where node 3 belongs"),
            (&[vec![1], vec![2, 3, 4]], "node 4 (it has the nodes 1 to 3)"),
            (&[vec![0], vec![1, 2, 3]], "node 0"),
        ] {
            let problem = network.cut(groups).unwrap_err();
            assert!(problem.contains(expect), "{problem}");
        }
        assert_eq!(network.group_of(0).iter().collect::<Vec<_>>(), [0], "what was refused changed nothing");
        network.heal();
        assert!(network.group_of(0).contains(2));
    }
}

//! The connections of a pool that have room for a call: the least laden first, among equals the most recently
//! used one.
//!
//! The most recently used one, because then a load keeps just as many connections busy as it needs, their
//! state still in the caches of both ends, and those that are too many fall idle together and can be closed
//! by the server without harm. In turn, every connection would be used just often enough to stay open, and
//! each would be as old as can be when its call comes: most likely to be closed by the server at that moment.

use httperf_engine::ConnId;

/// Connections in lists, by the calls they carry. Everything takes constant time but the search for the first
/// list that is not empty.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// The most recent one for each number of calls.
    tops: Vec<u32>,
    /// By the slot of the connection.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    conn: ConnId,
    /// Which list it is in; [`NONE`] if in none.
    list: u32,
    above: u32,
    below: u32,
}

const NONE: u32 = u32::MAX;

impl Shelf {
    /// Puts a connection with so many calls on top of its list, wherever it was before.
    pub(super) fn put(&mut self, conn: ConnId, calls: u32) {
        self.remove(conn);
        let (slot, list) = (conn.index(), calls as usize);
        if self.nodes.len() <= slot {
            self.nodes.resize(slot + 1, Node { conn: ConnId::NONE, list: NONE, above: NONE, below: NONE });
        }
        if self.tops.len() <= list {
            self.tops.resize(list + 1, NONE);
        }
        let below = std::mem::replace(&mut self.tops[list], slot as u32);
        if let Some(node) = self.nodes.get_mut(below as usize) {
            node.above = slot as u32;
        }
        self.nodes[slot] = Node { conn, list: calls, above: NONE, below };
    }

    /// Takes a connection out, if it is in.
    pub(super) fn remove(&mut self, conn: ConnId) {
        let Some(node) = self.nodes.get_mut(conn.index()).filter(|node| node.list != NONE) else { return };
        let Node { list, above, below, .. } = *node;
        node.list = NONE;
        match self.nodes.get_mut(above as usize) {
            Some(node) => node.below = below,
            None => self.tops[list as usize] = below,
        }
        if let Some(node) = self.nodes.get_mut(below as usize) {
            node.above = above;
        }
    }

    /// The connection that the next call should take.
    #[inline]
    pub(super) fn first(&self) -> Option<ConnId> {
        let top = self.tops.iter().find(|top| **top != NONE)?;
        self.nodes.get(*top as usize).map(|node| node.conn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conn(slot: u64) -> ConnId {
        ConnId::from_bits(1 << 32 | slot)
    }

    #[test]
    fn the_least_laden_comes_first_and_among_equals_the_latest() {
        let mut shelf = Shelf::default();
        assert_eq!(shelf.first(), None);
        for (slot, calls) in [(0, 1), (1, 0), (2, 0), (3, 2), (4, 0)] {
            shelf.put(conn(slot), calls);
        }
        shelf.put(conn(2), 1);
        shelf.remove(conn(9));
        let mut order = Vec::new();
        while let Some(first) = shelf.first() {
            order.push(first.index());
            shelf.remove(first);
        }
        assert_eq!(order, [4, 1, 2, 0, 3]);
    }

    #[test]
    fn whatever_is_put_and_removed_the_lists_stay_whole() {
        let mut random = httperf_engine::sim::Random::new(5);
        let (mut shelf, mut model) = (Shelf::default(), Vec::<(u64, u32)>::new());
        for _ in 0..20_000 {
            let (slot, calls) = (random.below(12), random.below(4) as u32);
            model.retain(|(other, _)| *other != slot);
            if random.chance(600) {
                shelf.put(conn(slot), calls);
                model.push((slot, calls));
            } else {
                shelf.remove(conn(slot));
            }
            let least = model.iter().map(|(_, calls)| *calls).min();
            let first =
                model.iter().rev().find(|(_, calls)| Some(*calls) == least).map(|(slot, _)| conn(*slot));
            assert_eq!(shelf.first(), first);
        }
    }
}

//! Objects by number: ids with generations, the slab they live in, tables beside it.
//!
//! An id is good until its object is removed; after that it finds nothing, even when
//! the slot is in use again.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use crate::conn::{Call, Conn};
use crate::session::Session;

/// The number of a connection.
pub type ConnId = Id<Conn>;
/// The number of a call.
pub type CallId = Id<Call>;
/// The number of a session.
pub type SessionId = Id<Session>;

/// A slot and the generation of the object in it.
pub struct Id<T> {
    index: u32,
    generation: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// The id that never finds anything.
    pub const NONE: Self = Self { index: u32::MAX, generation: 0, kind: PhantomData };

    /// The slot; ids of objects that live at the same time differ in it.
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// Slot and generation in one number, as a kernel event carries it.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// The id from [`to_bits`](Id::to_bits).
    pub fn from_bits(bits: u64) -> Self {
        Self { index: bits as u32, generation: (bits >> 32) as u32, kind: PhantomData }
    }

    /// Whether this is [`NONE`](Id::NONE).
    pub fn is_none(self) -> bool {
        self.index == u32::MAX
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}
impl<T> Eq for Id<T> {}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_bits().hash(state);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

/// Objects in slots that are used again; grows to the largest number that lived at once.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: u32,
    live: usize,
}

/// A generation is odd while an object lives in the slot, and no id of an even one is ever given out: to
/// compare generations is all it takes to find an object.
#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    /// The next free slot, if this one is free.
    next: u32,
    object: T,
}

const END: u32 = u32::MAX;

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: END, live: 0 }
    }
}

impl<T> Slab<T> {
    /// Puts an object into a slot.
    #[inline]
    pub(crate) fn insert(&mut self, object: T) -> Id<T> {
        self.live += 1;
        let index = self.free;
        if let Some(slot) = self.slots.get_mut(index as usize) {
            self.free = slot.next;
            slot.generation = slot.generation.wrapping_add(1);
            slot.object = object;
            return Id { index, generation: slot.generation, kind: PhantomData };
        }
        let index = self.slots.len() as u32;
        self.slots.push(Slot { generation: 1, next: END, object });
        Id { index, generation: 1, kind: PhantomData }
    }

    /// The object of this id, if it still lives.
    #[inline]
    pub(crate) fn get(&self, id: Id<T>) -> Option<&T> {
        let slot = self.slots.get(id.index as usize)?;
        (slot.generation == id.generation).then_some(&slot.object)
    }

    /// The object of this id, if it still lives.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: Id<T>) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.index as usize)?;
        (slot.generation == id.generation).then_some(&mut slot.object)
    }

    /// Gives up an object; its id finds nothing from now on. What is left of it stays in the slot until
    /// another one comes: whoever removes it takes out what is dear.
    #[inline]
    pub(crate) fn remove(&mut self, id: Id<T>) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.index as usize)?;
        if slot.generation != id.generation {
            return None;
        }
        slot.generation = slot.generation.wrapping_add(1);
        slot.next = self.free;
        self.free = id.index;
        self.live -= 1;
        Some(&mut slot.object)
    }

    /// How many objects live.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// The ids of all objects that live, in the order of their slots.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id<T>> {
        let living = self.slots.iter().enumerate().filter(|(_, slot)| slot.generation % 2 == 1);
        living.map(|(index, slot)| Id { index: index as u32, generation: slot.generation, kind: PhantomData })
    }
}

/// What a workload or a collector keeps for each object, by its id.
#[derive(Debug)]
pub struct Table<K, V> {
    rows: Vec<V>,
    key: PhantomData<fn() -> K>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { rows: Vec::new(), key: PhantomData }
    }
}

impl<K, V: Default> Table<Id<K>, V> {
    /// Sets the value of an object.
    pub fn set(&mut self, id: Id<K>, value: V) {
        if self.rows.len() <= id.index() {
            self.rows.resize_with(id.index() + 1, V::default);
        }
        self.rows[id.index()] = value;
    }

    /// The value of an object: what was last [`set`](Table::set) for its slot.
    ///
    /// # Panics
    /// If nothing was ever set for it.
    pub fn get(&mut self, id: Id<K>) -> &mut V {
        &mut self.rows[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_finds_nothing_after_its_object_is_gone() {
        let mut slab = Slab::default();
        let a = slab.insert('a');
        let b = slab.insert('b');
        assert_eq!((slab.get(a), slab.get(b), slab.len()), (Some(&'a'), Some(&'b'), 2));
        assert_eq!(slab.remove(a), Some(&mut 'a'));
        assert_eq!((slab.get(a), slab.len()), (None, 1));
        assert_eq!(slab.remove(a), None);
        let c = slab.insert('c');
        assert_eq!(c.index(), a.index());
        assert_ne!(c, a);
        assert_eq!((slab.get(a), slab.get(c)), (None, Some(&'c')));
        assert_eq!(slab.ids().collect::<Vec<_>>(), [c, b]);
    }

    #[test]
    fn an_id_survives_the_trip_through_the_kernel() {
        let mut slab = Slab::default();
        let id = slab.insert(());
        assert_eq!(Id::from_bits(id.to_bits()), id);
        assert!(slab.get(Id::NONE).is_none());
    }
}

//! The slots of messages: `sender.cpp` and `pool.cpp`, without sockets and sizes. They are private to
//! the publisher; their contents are read by whoever has a lease.

use std::sync::Arc;

use loom::cell::UnsafeCell;

use crate::ring::{Lease, Message, RingWriter, Slot, NOWHERE};

/// What the slots hold. Loom reports every access to one that the protocol does not order.
pub struct Contents(Vec<UnsafeCell<u64>>);

// SAFETY: whether this is safe is what is checked.
unsafe impl Sync for Contents {}
unsafe impl Send for Contents {}

impl Contents {
    fn write(&self, slot: Slot, number: u64) {
        self.0[slot as usize].with_mut(|content| unsafe { *content = number });
    }

    pub fn read(&self, lease: &Lease) -> u64 {
        let slot = lease.message.offset as usize;
        assert!(slot < self.0.len(), "the entry is torn: no such slot");
        self.0[slot].with(|content| unsafe { *content })
    }
}

pub struct Sender {
    pub contents: Arc<Contents>,
    uses: Vec<u32>,
    is_here: Vec<bool>,
    free: Vec<Slot>,
    pub writers: Vec<RingWriter>,
    published: u64,
}

impl Sender {
    /// With as many slots as it may ever need. To need more is a fault.
    pub fn new(slots: u64, writers: Vec<RingWriter>) -> Self {
        Self {
            contents: Arc::new(Contents((0..slots).map(|_| UnsafeCell::new(0)).collect())),
            uses: vec![0; slots as usize],
            is_here: vec![false; slots as usize],
            free: (0..slots).rev().collect(),
            writers,
            published: 0,
        }
    }

    fn give_back(&mut self, slots: Vec<Slot>) {
        for slot in slots {
            let uses = &mut self.uses[slot as usize];
            assert!(*uses > 0, "a slot came back twice");
            *uses -= 1;
            if *uses == 0 {
                self.is_here[slot as usize] = false;
                self.free.push(slot);
            }
        }
    }

    pub fn collect(&mut self) {
        let mut free = Vec::new();
        for writer in &mut self.writers {
            writer.collect(&mut free);
        }
        self.give_back(free);
    }

    fn prepare(&mut self) -> Slot {
        self.collect();
        let slot = self.free.pop().expect("slots do not come back");
        self.uses[slot as usize] = 1;
        slot
    }

    fn put(&mut self, slot: Slot, offset: u64) {
        self.published += 1;
        let sequence = self.published;
        let mut free = vec![slot];
        for writer in &mut self.writers {
            self.uses[slot as usize] += 1;
            writer.put(Message { offset, sequence }, slot, &mut free);
        }
        self.give_back(free);
    }

    /// Message n contains n.
    pub fn publish(&mut self) {
        let slot = self.prepare();
        self.contents.write(slot, self.published + 1);
        self.put(slot, slot);
    }

    /// A message whose content is to be had if it is asked for.
    pub fn publish_nowhere(&mut self) {
        let slot = self.prepare();
        self.put(slot, NOWHERE);
    }

    pub fn take_back(&mut self) {
        self.writers.iter_mut().for_each(RingWriter::take_back);
    }

    pub fn miss(&mut self, count: u64) {
        let mut free = Vec::new();
        for writer in &mut self.writers {
            writer.miss(count, &mut free);
        }
        self.published += count;
        self.give_back(free);
    }

    /// Gives the only subscription the content that it has asked for.
    pub fn answer_if_wanted(&mut self) {
        let mut free = Vec::new();
        let wanted = self.writers[0].wanted(&mut free);
        self.give_back(free);
        if let Some(slot) = wanted {
            self.uses[slot as usize] += 1;
            if !std::mem::replace(&mut self.is_here[slot as usize], true) {
                self.contents.write(slot, self.writers[0].oldest());
            }
            self.writers[0].answer(slot);
        }
    }

    pub fn in_use(&self) -> usize {
        self.uses.iter().filter(|uses| **uses > 0).count()
    }
}

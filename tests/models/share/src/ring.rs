//! `libtakt/memory/src/ring.cpp`, with the layout of `layout.hpp`.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::Arc;

use loom::sync::atomic::AtomicU64;

use crate::parts::{acquire, fence, has, release, Part};

/// A number of the caller's, of the memory that holds a message. In the model it is also where.
pub type Slot = u64;
pub const NO_SLOT: Slot = !0;
pub const NOWHERE: u64 = !0;

fn word() -> AtomicU64 {
    AtomicU64::new(0)
}

pub struct RingEntry {
    number: AtomicU64,
    offset: AtomicU64,
    sequence: AtomicU64,
}

impl RingEntry {
    fn new() -> Self {
        Self {
            number: word(),
            offset: word(),
            sequence: word(),
        }
    }
}

pub struct Ring {
    newest: AtomicU64,
    answered: AtomicU64,
    answer: RingEntry,
    entries: Vec<RingEntry>,
}

pub struct SubscriberPage {
    armed: AtomicU64,
    taken: AtomicU64,
    wanted: AtomicU64,
    leases: Vec<AtomicU64>,
}

#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub offset: u64,
    pub sequence: u64,
}

fn write_message(to: &RingEntry, message: Message) {
    to.offset.store(message.offset, Relaxed);
    to.sequence.store(message.sequence, Relaxed);
}

fn read_message(from: &RingEntry) -> Message {
    Message {
        offset: from.offset.load(Relaxed),
        sequence: from.sequence.load(Relaxed),
    }
}

struct Aside {
    number: u64,
    slot: Slot,
}

pub struct RingWriter {
    depth: u64,
    ring: Arc<Ring>,
    page: Arc<SubscriberPage>,
    slots: Vec<Slot>,
    aside: Vec<Aside>,
    newest: u64,
    dropped: u64,
    woken: u64,
    wanted: u64,
    asked: u64,
    answer: Aside,
}

pub struct RingReader {
    depth: u64,
    ring: Arc<Ring>,
    page: Arc<SubscriberPage>,
    taken: u64,
    overrun: u64,
    waits: u64,
    wants: u64,
    is_asking: bool,
}

#[derive(Clone, Copy)]
pub struct Lease {
    pub number: u64,
    pub message: Message,
    word: usize,
}

/// Both ends of a ring for a subscription of that depth, with so many words for leases.
pub fn make(depth: u64, most_leases: u64) -> (RingWriter, RingReader) {
    let entries = depth as usize + 1;
    let ring = Arc::new(Ring {
        newest: word(),
        answered: word(),
        answer: RingEntry::new(),
        entries: (0..entries).map(|_| RingEntry::new()).collect(),
    });
    let page = Arc::new(SubscriberPage {
        armed: word(),
        taken: word(),
        wanted: word(),
        leases: (0..most_leases).map(|_| word()).collect(),
    });
    let writer = RingWriter {
        depth,
        ring: ring.clone(),
        page: page.clone(),
        slots: vec![NO_SLOT; entries],
        aside: Vec::new(),
        newest: 0,
        dropped: 0,
        woken: 0,
        wanted: 0,
        asked: 0,
        answer: Aside {
            number: 0,
            slot: NO_SLOT,
        },
    };
    let reader = RingReader {
        depth,
        ring,
        page,
        taken: 0,
        overrun: 0,
        waits: 0,
        wants: 0,
        is_asking: false,
    };
    (writer, reader)
}

impl RingWriter {
    fn entry(&self, number: u64) -> &RingEntry {
        &self.ring.entries[number as usize % self.slots.len()]
    }

    fn slot_of(&mut self, number: u64) -> &mut Slot {
        let entries = self.slots.len();
        &mut self.slots[number as usize % entries]
    }

    fn is_leased(&self, number: u64) -> bool {
        let leases = &self.page.leases;
        leases
            .iter()
            .any(|word| word.load(acquire(Part::ScanLeases)) == number)
    }

    fn drop_oldest(&mut self, free: &mut Vec<Slot>) {
        self.dropped += 1;
        let number = self.dropped;
        let slot = std::mem::replace(self.slot_of(number), NO_SLOT);
        if has(Part::NumberTakenOff) {
            self.entry(number).number.store(0, Relaxed);
        }
        if slot == NO_SLOT {
            return;
        }
        fence(Part::DropFence, SeqCst);
        self.free_unless_leased(number, slot, free);
    }

    fn free_unless_leased(&mut self, number: u64, slot: Slot, free: &mut Vec<Slot>) {
        if has(Part::LookAtLeases) && self.is_leased(number) {
            self.aside.push(Aside { number, slot });
        } else {
            free.push(slot);
        }
    }

    pub fn put(&mut self, message: Message, slot: Slot, free: &mut Vec<Slot>) {
        let number = self.newest + 1;
        let to = self.entry(number);
        write_message(to, message);
        to.number.store(number, release(Part::PutNumber));
        *self.slot_of(number) = slot;
        self.newest = number;
        let head = &self.ring;
        head.newest.store(number, release(Part::PutNewest));
        if self.newest - self.dropped > self.depth {
            self.drop_oldest(free);
        }
    }

    pub fn take_back(&mut self) {
        self.entry(self.newest).number.store(0, Relaxed);
    }

    pub fn collect(&mut self, free: &mut Vec<Slot>) {
        let page = &self.page;
        self.wanted = page.wanted.load(acquire(Part::CollectWanted));
        let taken = page.taken.load(Relaxed);
        while self.dropped < taken.min(self.newest) {
            self.drop_oldest(free);
        }
        if self.wanted != self.asked && self.answer.slot != NO_SLOT {
            let slot = std::mem::replace(&mut self.answer.slot, NO_SLOT);
            self.free_unless_leased(self.answer.number, slot, free);
        }
        for held in std::mem::take(&mut self.aside) {
            if has(Part::LookAtLeasesAside) && self.is_leased(held.number) {
                self.aside.push(held);
            } else {
                free.push(held.slot);
            }
        }
    }

    pub fn miss(&mut self, count: u64, free: &mut Vec<Slot>) {
        let newest = self.newest + count;
        while self.dropped < self.newest && newest - self.dropped > self.depth {
            self.drop_oldest(free);
        }
        self.dropped = self.dropped.max(newest.saturating_sub(self.depth));
        self.newest = newest;
        let head = &self.ring;
        head.newest.store(newest, release(Part::MissNewest));
    }

    pub fn wanted(&mut self, free: &mut Vec<Slot>) -> Option<Slot> {
        self.collect(free);
        if self.wanted == 0 || self.answer.slot != NO_SLOT {
            return None;
        }
        self.asked = self.wanted;
        while self.dropped < self.newest {
            let slot = *self.slot_of(self.dropped + 1);
            if slot != NO_SLOT {
                return Some(slot);
            }
            self.drop_oldest(free);
        }
        None
    }

    pub fn answer(&mut self, offset: u64) {
        let number = self.dropped + 1;
        let mut message = read_message(self.entry(number));
        message.offset = offset;
        let to = &self.ring;
        write_message(&to.answer, message);
        to.answer.number.store(number, Relaxed);
        to.answered.store(self.asked, release(Part::Answered));
        self.answer = Aside {
            number,
            slot: *self.slot_of(number),
        };
    }

    pub fn is_to_be_woken(&mut self) -> bool {
        fence(Part::WakeFence, SeqCst);
        let page = &self.page;
        let wanted = page.wanted.load(Relaxed);
        if wanted != 0 && (wanted != self.asked || self.answer.slot == NO_SLOT) {
            return false;
        }
        let armed = page.armed.load(Relaxed);
        if armed == 0 || armed == self.woken {
            return false;
        }
        self.woken = armed;
        true
    }

    /// The last wait for which the subscription was woken.
    pub fn woken(&self) -> u64 {
        self.woken
    }

    /// The number of the oldest message that the ring holds, or of the next one.
    pub fn oldest(&self) -> u64 {
        self.dropped + 1
    }
}

impl RingReader {
    pub fn newest(&self) -> u64 {
        let head = &self.ring;
        head.newest.load(acquire(Part::Newest))
    }

    fn entry(&self, number: u64) -> &RingEntry {
        &self.ring.entries[number as usize % self.ring.entries.len()]
    }

    pub fn next(&mut self) -> u64 {
        let last = self.newest();
        if last > self.taken && last - self.taken > self.depth {
            self.overrun += last - self.depth - self.taken;
            self.skip_to(last - self.depth);
        }
        while self.taken < last && self.entry(self.taken + 1).number.load(Relaxed) != self.taken + 1
        {
            self.overrun += 1;
            self.skip_to(self.taken + 1);
        }
        self.taken + 1
    }

    pub fn unread(&mut self) -> u64 {
        let from = self.next();
        let last = self.newest();
        if last < from {
            0
        } else {
            (last - from + 1).min(self.depth)
        }
    }

    pub fn overrun(&self) -> u64 {
        self.overrun
    }

    fn look(&self, number: u64) -> Option<Message> {
        let from = self.entry(number);
        if number == 0 || from.number.load(acquire(Part::LookNumber)) != number {
            return None;
        }
        let message = read_message(from);
        fence(Part::LookFence, Acquire);
        if has(Part::SecondLook) && from.number.load(Relaxed) != number {
            return None;
        }
        Some(message)
    }

    fn free_word(&self) -> Option<usize> {
        self.page
            .leases
            .iter()
            .position(|one| one.load(Relaxed) == 0)
    }

    pub fn lease(&mut self, number: u64) -> Option<Lease> {
        let index = self.free_word()?;
        let word = &self.page.leases[index];
        if has(Part::LeaseWritten) {
            word.store(number, release(Part::LeaseWord));
        }
        fence(Part::LeaseFence, SeqCst);
        let message = self.look(number);
        if message.is_none() {
            word.store(0, Relaxed);
        }
        Some(Lease {
            number,
            message: message?,
            word: index,
        })
    }

    pub fn release(&mut self, lease: Lease) {
        let leases = &self.page.leases;
        leases[lease.word].store(0, release(Part::ReleaseWord));
    }

    pub fn skip_to(&mut self, number: u64) {
        if number <= self.taken {
            return;
        }
        self.taken = number;
        let page = &self.page;
        page.taken.store(number, Relaxed);
    }

    pub fn want(&mut self) -> bool {
        if self.is_asking {
            return false;
        }
        self.is_asking = true;
        self.wants += 1;
        let page = &self.page;
        page.wanted.store(self.wants, release(Part::WantWanted));
        true
    }

    pub fn take_answer(&mut self) -> Option<Lease> {
        let head = self.ring.clone();
        if !self.is_asking || head.answered.load(acquire(Part::TakeAnswered)) != self.wants {
            return None;
        }
        let index = self.free_word()?;
        let word = &self.page.leases[index];
        let number = head.answer.number.load(Relaxed);
        let message = read_message(&head.answer);
        word.store(number, release(Part::TakeWord));
        if number > self.taken {
            self.overrun += number - self.taken - 1;
        }
        self.skip_to(number);
        self.stop_asking();
        Some(Lease {
            number,
            message,
            word: index,
        })
    }

    pub fn stop_asking(&mut self) {
        self.is_asking = false;
        let page = &self.page;
        page.wanted.store(0, release(Part::StopWanted));
    }

    pub fn arm(&mut self) {
        self.waits += 1;
        let page = &self.page;
        page.armed.store(self.waits, Relaxed);
        fence(Part::ArmFence, SeqCst);
    }

    pub fn disarm(&mut self) {
        let page = &self.page;
        page.armed.store(0, Relaxed);
    }
}

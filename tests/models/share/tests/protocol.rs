//! What is checked of the port, and that each of its parts is needed.

use std::panic::catch_unwind;
use std::sync::Arc;

use loom::model::Builder;
use loom::thread;
use takt_share_model::parts::{remove, Part, ALL};
use takt_share_model::ring::{make, Lease, RingReader};
use takt_share_model::store::{Contents, Sender};

/// A subscription and what it has taken.
struct Subscription {
    ring: RingReader,
    contents: Arc<Contents>,
    taken: Vec<u64>,
}

impl Subscription {
    fn read(&mut self, lease: Lease) {
        assert_eq!(lease.message.sequence, lease.number, "the entry is torn");
        let content = self.contents.read(&lease);
        assert_eq!(content, lease.number, "the content is torn");
        assert!(
            self.taken.last().map_or(true, |last| *last < content),
            "doubled, or out of order"
        );
        self.taken.push(content);
    }

    /// Takes the next message if it is there, whatever the newest one is.
    fn lease_next(&mut self) -> Option<Lease> {
        let number = self.ring.next();
        let lease = self.ring.lease(number)?;
        self.ring.skip_to(number);
        Some(lease)
    }

    fn take_next(&mut self) {
        if let Some(lease) = self.lease_next() {
            self.read(lease);
            self.ring.release(lease);
        }
    }

    fn take_all(&mut self) {
        while self.ring.unread() > 0 {
            self.take_next();
        }
    }

    /// Takes what is left, after the publisher's last message. Whatever was not taken must have
    /// fallen out of the ring.
    fn end(&mut self, published: u64, depth: u64) {
        self.take_all();
        assert_eq!(
            self.taken.len() as u64 + self.ring.overrun(),
            published,
            "lost and not counted"
        );
        for number in published.saturating_sub(depth) + 1..=published {
            assert!(self.taken.contains(&number), "{number} is lost");
        }
    }
}

/// With as many slots as may be needed: for what the rings keep, for each lease and each answer, and
/// for the message that is written.
fn connect(
    subscriptions: usize,
    depth: u64,
    most_leases: u64,
    answers: u64,
) -> (Sender, Vec<Subscription>) {
    let (writers, readers): (Vec<_>, Vec<_>) =
        (0..subscriptions).map(|_| make(depth, most_leases)).unzip();
    let slots = depth + subscriptions as u64 * (most_leases + answers) + 1;
    let sender = Sender::new(slots, writers);
    let connected = readers
        .into_iter()
        .map(|ring| Subscription {
            ring,
            contents: sender.contents.clone(),
            taken: Vec::new(),
        })
        .collect();
    (sender, connected)
}

fn all_slots_come_back(mut sender: Sender) {
    sender.collect();
    assert_eq!(sender.in_use(), 0, "a slot does not come back");
}

/// A publisher that is faster than a subscription of depth 1.
fn overrun() {
    let (mut sender, mut subscriptions) = connect(1, 1, 1, 0);
    let mut subscription = subscriptions.remove(0);
    let reader = thread::spawn(move || {
        subscription.take_next();
        subscription.take_next();
        subscription
    });
    for _ in 0..3 {
        sender.publish();
    }
    let mut subscription = reader.join().unwrap();
    subscription.end(3, 1);
    all_slots_come_back(sender);
}

/// Messages that are kept beyond those that come after them.
fn leased() {
    let (mut sender, mut subscriptions) = connect(1, 1, 2, 0);
    let mut subscription = subscriptions.remove(0);
    let reader = thread::spawn(move || {
        let first = subscription.lease_next();
        let second = subscription.lease_next();
        for lease in [first, second].into_iter().flatten() {
            subscription.read(lease);
            subscription.ring.release(lease);
        }
        subscription
    });
    for _ in 0..3 {
        sender.publish();
    }
    let mut subscription = reader.join().unwrap();
    subscription.end(3, 1);
    all_slots_come_back(sender);
}

/// A subscription that is deep enough for all messages, of which one never was there.
fn deep() {
    let (mut sender, mut subscriptions) = connect(1, 3, 1, 0);
    let mut subscription = subscriptions.remove(0);
    let reader = thread::spawn(move || {
        subscription.take_all();
        subscription
    });
    sender.publish();
    sender.miss(1);
    sender.publish();
    let mut subscription = reader.join().unwrap();
    subscription.take_all();
    assert_eq!(subscription.taken, [1, 3]);
    assert_eq!(subscription.ring.overrun(), 1);
    all_slots_come_back(sender);
}

/// A message that the middleware refuses, while it may be taken.
fn taken_back() {
    let (mut sender, mut subscriptions) = connect(1, 2, 1, 0);
    let mut subscription = subscriptions.remove(0);
    let reader = thread::spawn(move || {
        subscription.take_next();
        subscription.take_next();
        subscription
    });
    sender.publish();
    sender.take_back();
    sender.publish();
    let mut subscription = reader.join().unwrap();
    subscription.take_all();
    assert!(subscription.taken.contains(&2));
    assert_eq!(
        subscription.taken.len() as u64 + subscription.ring.overrun(),
        2
    );
    all_slots_come_back(sender);
}

/// Two subscriptions of one publisher, which have slots in common.
fn two() {
    let (mut sender, subscriptions) = connect(2, 1, 1, 0);
    let readers: Vec<_> = subscriptions
        .into_iter()
        .map(|mut subscription| {
            thread::spawn(move || {
                subscription.take_next();
                subscription
            })
        })
        .collect();
    for _ in 0..2 {
        sender.publish();
    }
    for reader in readers {
        reader.join().unwrap().end(2, 1);
    }
    all_slots_come_back(sender);
}

/// A subscription that waits until it has seen two messages.
fn waiting() {
    let (mut sender, mut subscriptions) = connect(1, 2, 1, 0);
    let mut ring = subscriptions.remove(0).ring;
    let reader = thread::spawn(move || {
        let mut seen = 0;
        let mut waits = 0;
        while seen < 2 {
            ring.arm();
            waits += 1;
            let newest = ring.newest();
            if newest == seen {
                return Some(waits); // it would wait now
            }
            seen = newest;
        }
        ring.disarm();
        None
    });
    for _ in 0..2 {
        sender.publish();
        sender.writers[0].is_to_be_woken();
    }
    if let Some(wait) = reader.join().unwrap() {
        assert_eq!(sender.writers[0].woken(), wait, "it waits for ever");
    }
}

/// A subscription that asks for contents, and holds the first while it asks for another.
fn asked() {
    let (mut sender, mut subscriptions) = connect(1, 2, 2, 1);
    let mut subscription = subscriptions.remove(0);
    sender.publish_nowhere();
    sender.publish_nowhere();
    let reader = thread::spawn(move || {
        subscription.ring.want();
        let first = subscription.ring.take_answer();
        subscription.ring.want();
        let second = subscription.ring.take_answer();
        for lease in [first, second].into_iter().flatten() {
            subscription.read(lease);
            subscription.ring.release(lease);
        }
        subscription
    });
    for _ in 0..3 {
        sender.answer_if_wanted();
    }
    let mut subscription = reader.join().unwrap();
    subscription.ring.stop_asking();
    subscription.ring.skip_to(2);
    all_slots_come_back(sender);
}

/// The same while newer messages push the older ones out, with a single word for leases.
fn asked_and_overrun() {
    let (mut sender, mut subscriptions) = connect(1, 1, 1, 1);
    let mut subscription = subscriptions.remove(0);
    sender.publish_nowhere();
    subscription.ring.want();
    sender.answer_if_wanted();
    let reader = thread::spawn(move || {
        let first = subscription.ring.take_answer();
        subscription.ring.want();
        if let Some(lease) = first {
            subscription.read(lease);
            subscription.ring.release(lease);
        }
        if let Some(lease) = subscription.ring.take_answer() {
            subscription.read(lease);
            subscription.ring.release(lease);
        }
        subscription
    });
    sender.publish_nowhere();
    sender.answer_if_wanted();
    sender.publish();
    sender.publish();
    let mut subscription = reader.join().unwrap();
    subscription.ring.stop_asking();
    subscription.ring.skip_to(4);
    all_slots_come_back(sender);
}

/// Runs a scenario in every order that needs at most so many preemptions, or
/// LOOM_MAX_PREEMPTIONS. More than these take minutes.
const PREEMPTIONS: usize = 3;

fn check(scenario: fn()) {
    let mut builder = Builder::new();
    builder.preemption_bound.get_or_insert(PREEMPTIONS);
    builder.check(scenario);
}

macro_rules! nothing_is_found_in {
    ($($scenario:ident)*) => {
        mod nothing_is_found_in {
            $(#[test]
            fn $scenario() {
                super::check(super::$scenario);
            })*
        }
    };
}

nothing_is_found_in! { overrun leased deep taken_back two waiting asked asked_and_overrun }

/// A scenario that goes wrong without this part.
fn that_misses(part: Part) -> fn() {
    match part {
        Part::DropFence | Part::LookFence | Part::LeaseFence => overrun,
        Part::WakeFence | Part::ArmFence => waiting,
        Part::ScanLeases | Part::PutNumber | Part::PutNewest => deep,
        Part::MissNewest | Part::Newest | Part::LookNumber => deep,
        Part::LeaseWord | Part::ReleaseWord => taken_back,
        Part::CollectWanted | Part::Answered | Part::WantWanted => asked_and_overrun,
        Part::TakeAnswered | Part::TakeWord | Part::StopWanted => asked_and_overrun,
        Part::NumberTakenOff | Part::SecondLook => overrun,
        Part::LeaseWritten | Part::LookAtLeases | Part::LookAtLeasesAside => taken_back,
    }
}

#[test]
fn each_part_is_missed() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {})); // what is found is meant to be
    let kept: Vec<_> = ALL
        .iter()
        .filter(|part| {
            remove(Some(**part));
            let found = catch_unwind(|| check(that_misses(**part)));
            remove(None);
            found.is_ok()
        })
        .collect();
    std::panic::set_hook(hook);
    assert!(kept.is_empty(), "nobody misses {kept:?}");
}

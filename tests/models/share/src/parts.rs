//! The parts of the protocol that can be removed, one at a time, to see that it is missed.

use std::cell::Cell;
use std::sync::atomic::Ordering;

macro_rules! parts {
    ($($part:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Part { $($part,)* }
        pub const ALL: &[Part] = &[$(Part::$part,)*];
    };
}

parts! {
    // Fences.
    DropFence,
    WakeFence,
    LookFence,
    LeaseFence,
    ArmFence,
    // Loads that acquire, and stores that release.
    ScanLeases,
    PutNumber,
    PutNewest,
    CollectWanted,
    MissNewest,
    Answered,
    Newest,
    LookNumber,
    LeaseWord,
    ReleaseWord,
    WantWanted,
    TakeAnswered,
    TakeWord,
    StopWanted,
    // Steps: the lease, and that each end acknowledges what the other has written.
    NumberTakenOff,
    LeaseWritten,
    SecondLook,
    LookAtLeases,
    LookAtLeasesAside,
}

thread_local! {
    static REMOVED: Cell<Option<Part>> = const { Cell::new(None) };
}

/// Removes one part, or none, from all that this thread checks from now on.
pub fn remove(part: Option<Part>) {
    REMOVED.set(part);
}

/// Whether this step is done.
pub fn has(part: Part) -> bool {
    REMOVED.get() != Some(part)
}

pub fn release(part: Part) -> Ordering {
    if has(part) {
        Ordering::Release
    } else {
        Ordering::Relaxed
    }
}

pub fn acquire(part: Part) -> Ordering {
    if has(part) {
        Ordering::Acquire
    } else {
        Ordering::Relaxed
    }
}

pub fn fence(part: Part, order: Ordering) {
    if has(part) {
        loom::sync::atomic::fence(order);
    }
}

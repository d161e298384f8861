//! The processor time of this thread: unlike the clock on the wall it does not depend on what else
//! the machine does.

use std::os::raw::{c_int, c_long};

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

const CLOCK_THREAD_CPUTIME_ID: c_int = 3;

/// Nanoseconds since the thread began.
pub fn now() -> u64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    let status = unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "every Linux has this clock");
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

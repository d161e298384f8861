//! How long messages take from one process to another by iceoryx2, woken by an event.
//!
//!     takt-iceoryx2 BYTES MESSAGES copy|loan
//!
//! Prints the nanoseconds of each message, as `share_benchmark` does. `copy` has the publisher copy
//! each message from memory of its own, and the subscriber into memory of its own. `loan` has both use
//! the shared memory: the publisher writes number and time, and the subscriber reads them.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::mem::MaybeUninit;
use std::process::{id, Command, Stdio};
use std::time::Duration;

use iceoryx2::prelude::*;

const PERIOD: Duration = Duration::from_millis(2);
const DEPTH: usize = 10;

/// CLOCK_MONOTONIC, which all processes share, in nanoseconds.
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it is written there alone.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn field(bytes: &[u8], index: usize) -> u64 {
    u64::from_ne_bytes(bytes[8 * index..8 * index + 8].try_into().unwrap())
}

fn head(number: u64) -> [u8; 16] {
    let mut head = [0; 16];
    head[..8].copy_from_slice(&number.to_ne_bytes());
    head[8..].copy_from_slice(&now().to_ne_bytes());
    head
}

fn as_uninit(bytes: &[u8]) -> &[MaybeUninit<u8>] {
    // SAFETY: what is initialised may be called what need not be.
    unsafe { std::mem::transmute(bytes) }
}

fn main() -> Result<(), Box<dyn Error>> {
    set_log_level(LogLevel::Error);
    let arguments: Vec<String> = std::env::args().collect();
    let size: usize = arguments[1].parse()?;
    let messages: u64 = arguments[2].parse()?;
    let copies = arguments[3] == "copy";
    let name = arguments.get(4).cloned();
    let is_subscriber = name.is_some();
    let name = name.unwrap_or_else(|| format!("takt/{}", id()));

    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let service = node
        .service_builder(&name.as_str().try_into()?)
        .publish_subscribe::<[u8]>()
        .subscriber_max_buffer_size(DEPTH)
        .open_or_create()?;
    let event = node
        .service_builder(&name.as_str().try_into()?)
        .event()
        .open_or_create()?;

    if is_subscriber {
        let subscriber = service.subscriber_builder().buffer_size(DEPTH).create()?;
        let listener = event.listener_builder().create()?;
        println!("ready");
        let mut own = vec![1; size];
        let mut taken = Vec::new();
        let mut newest = 0;
        while newest < messages {
            while let Some(sample) = subscriber.receive()? {
                let payload = sample.payload();
                let read = if copies {
                    own.copy_from_slice(payload);
                    &own[..]
                } else {
                    payload
                };
                newest = field(read, 0);
                taken.push(now() - field(read, 1));
            }
            if newest < messages {
                listener.blocking_wait(|_| {})?;
            }
        }
        for time in taken {
            println!("{time}");
        }
        return Ok(());
    }

    let publisher = service
        .publisher_builder()
        .initial_max_slice_len(size)
        .create()?;
    let notifier = event.notifier_builder().create()?;
    let mut subscriber = Command::new(std::env::current_exe()?)
        .args(&arguments[1..4])
        .arg(&name)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(subscriber.stdout.take().unwrap()).lines();
    lines.next().ok_or("no subscriber")??;
    let mut own = vec![1; size];
    for number in 1..=messages {
        std::thread::sleep(PERIOD);
        let head = head(number);
        let mut sample = publisher.loan_slice_uninit(size)?;
        if copies {
            own[..16].copy_from_slice(&head);
            sample.payload_mut().copy_from_slice(as_uninit(&own));
        } else {
            sample.payload_mut()[..16].copy_from_slice(as_uninit(&head));
        }
        // SAFETY: of what is not initialised nothing is read.
        let sample = unsafe { sample.assume_init() };
        sample.send()?;
        notifier.notify()?;
    }
    for line in lines {
        println!("{}", line?);
    }
    subscriber.wait()?;
    Ok(())
}

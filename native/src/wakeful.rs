//! Keeping a processor awake: a thread that spins at idle priority for as long as it is told to.
//!
//! When the server waits for the disk its processor has nothing to do, and is halted; on a virtual machine the host takes
//! it away, and it comes back late. The same goes for the processor on which a client's bytes arrive, while the client
//! waits for the server. A thread that spins there keeps it. At idle priority it gets no time that anybody else wants, and
//! gives it up at once.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{self, Thread};
use std::time::Instant;

const SPINS_BETWEEN_LOOKS: u32 = 200;

struct Orders {
    since: Instant,
    /// Until when to spin, in nanoseconds since `since`.
    until: AtomicU64,
    processor: AtomicI32,
    asleep: AtomicBool,
}

impl Orders {
    fn now(&self) -> u64 {
        self.since.elapsed().as_nanos() as u64
    }
}

pub struct Wakeful {
    orders: Arc<Orders>,
    thread: Thread,
}

impl Wakeful {
    pub fn new() -> io::Result<Wakeful> {
        let orders = Arc::new(Orders {
            since: Instant::now(),
            until: AtomicU64::new(0),
            processor: AtomicI32::new(-1),
            asleep: AtomicBool::new(false),
        });
        let own = Arc::downgrade(&orders);
        let thread = thread::Builder::new().name("penstock-awake".into()).spawn(move || watch(&own))?;
        Ok(Wakeful { orders, thread: thread.thread().clone() })
    }

    /// Keep a processor awake for so long.
    pub fn stay(&self, processor: i32, seconds: f64) {
        let orders = &self.orders;
        orders.processor.store(processor, Ordering::Relaxed);
        orders.until.store(orders.now() + (seconds * 1e9) as u64, Ordering::Relaxed);
        if orders.asleep.load(Ordering::Acquire) {
            self.thread.unpark();
        }
    }
}

impl Drop for Wakeful {
    fn drop(&mut self) {
        self.thread.unpark(); // it finds that there is nobody left
    }
}

/// The processor that this thread is on.
pub fn here() -> i32 {
    // SAFETY: no pointers.
    unsafe { libc::sched_getcpu() }
}

fn watch(orders: &Weak<Orders>) {
    if !at_idle_priority() {
        return;
    }
    let mut there = -1;
    loop {
        let Some(told) = orders.upgrade() else { return };
        let wanted = told.processor.load(Ordering::Relaxed);
        if wanted != there && wanted >= 0 {
            go_to(wanted);
            there = wanted;
        }
        if told.now() < told.until.load(Ordering::Relaxed) {
            for _ in 0..SPINS_BETWEEN_LOOKS {
                std::hint::spin_loop();
            }
            continue;
        }
        told.asleep.store(true, Ordering::Release);
        let again = told.now() < told.until.load(Ordering::Relaxed);
        drop(told);
        if !again {
            thread::park();
        }
        if let Some(told) = orders.upgrade() {
            told.asleep.store(false, Ordering::Release);
        }
    }
}

fn at_idle_priority() -> bool {
    let nothing_more = libc::sched_param { sched_priority: 0 };
    // SAFETY: the system reads the struct; 0 is this thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &nothing_more) == 0 }
}

fn go_to(processor: i32) {
    // SAFETY: a set of processors may be all zeros, and the system reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor as usize, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_sleeps_when_its_time_is_over() {
        let wakeful = Wakeful::new().unwrap();
        wakeful.stay(here(), 0.05);
        assert!(wakeful.orders.now() < wakeful.orders.until.load(Ordering::Relaxed));
        while !wakeful.orders.asleep.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(1)); // at idle priority it may take its time
        }
    }
}

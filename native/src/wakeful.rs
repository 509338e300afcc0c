//! Keeping a processor awake: a thread that spins at idle priority for as long as it is told to.
//!
//! When the server waits for the disk its processor has nothing to do, and is halted; on a virtual machine the host takes
//! it away, and it comes back late. The same goes for the processor on which a client's bytes arrive, while the client
//! waits for the server. A thread that spins there keeps it. At idle priority it gets no time that anybody else wants, and
//! gives it up at once.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Instant;

const SPINS_BETWEEN_LOOKS: u32 = 200;

struct Orders {
    since: Instant,
    /// Until when to spin, in nanoseconds since `since`.
    until: AtomicU64,
    processor: AtomicI32,
    asleep: AtomicBool,
    over: AtomicBool,
}

impl Default for Orders {
    fn default() -> Orders {
        Orders {
            since: Instant::now(),
            until: AtomicU64::new(0),
            processor: AtomicI32::new(0),
            asleep: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }
}

impl Orders {
    fn now(&self) -> u64 {
        self.since.elapsed().as_nanos() as u64
    }
}

/// The thread is begun when it is first needed.
#[derive(Default)]
pub struct Wakeful {
    orders: Arc<Orders>,
    thread: OnceLock<Option<Thread>>,
}

impl Wakeful {
    /// Keep a processor awake for so long.
    pub fn stay(&self, processor: i32, seconds: f64) {
        let orders = &self.orders;
        orders.processor.store(processor, Ordering::Relaxed);
        orders.until.store(orders.now() + (seconds * 1e9) as u64, Ordering::Relaxed);
        if let Some(thread) = self.thread.get_or_init(|| begun(orders.clone()))
            && orders.asleep.load(Ordering::Acquire)
        {
            thread.unpark();
        }
    }
}

impl Drop for Wakeful {
    fn drop(&mut self) {
        self.orders.over.store(true, Ordering::Release);
        if let Some(Some(thread)) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// None if there is no thread to be had; then nothing is kept awake.
fn begun(orders: Arc<Orders>) -> Option<Thread> {
    let watching = thread::Builder::new().name("penstock-awake".into()).spawn(move || watch(&orders));
    watching.ok().map(|handle| handle.thread().clone())
}

/// The processor that this thread is on.
pub fn here() -> i32 {
    // SAFETY: no pointers.
    unsafe { libc::sched_getcpu() }
}

fn watch(orders: &Orders) {
    let mut there = -1;
    if !at_idle_priority() {
        return;
    }
    while !orders.over.load(Ordering::Acquire) {
        let wanted = orders.processor.load(Ordering::Relaxed);
        if wanted != there {
            go_to(wanted);
            there = wanted;
        }
        if orders.now() < orders.until.load(Ordering::Relaxed) {
            for _ in 0..SPINS_BETWEEN_LOOKS {
                std::hint::spin_loop();
            }
            continue;
        }
        orders.asleep.store(true, Ordering::Release);
        if orders.now() >= orders.until.load(Ordering::Relaxed) && !orders.over.load(Ordering::Acquire) {
            thread::park();
        }
        orders.asleep.store(false, Ordering::Release);
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
    fn it_sleeps_when_its_time_is_over_and_ends_when_nobody_wants_it() {
        let wakeful = Wakeful::default();
        wakeful.stay(here(), 0.05);
        let orders = wakeful.orders.clone();
        while !orders.asleep.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(1)); // at idle priority it may take its time
        }
        drop(wakeful);
        while Arc::strong_count(&orders) > 1 {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

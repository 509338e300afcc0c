//! What Python has decided once for requests that are alike: who they are of, that they may, and what is to be done.
//!
//! It holds for as long as nothing has changed by which it was decided: the directory of identities has a version, and
//! the record of a queue counts its revisions (`stores/sqlite/catalogue.py`). Whoever comes with one that does not hold
//! any more is decided about anew, by Python.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::content::Cipher;
use crate::journal::Frame;
use crate::wire::Entry;

/// Places in the numbers of a queue, as `stores/sqlite/catalogue.py` has them; the first are how many messages there are
/// in each state.
pub const READY: usize = 0;
pub const IN_FLIGHT: usize = 1;
pub const DELAYED: usize = 2;
pub const BYTES: usize = 4;
pub const GROUPS: usize = 5;
pub const FRESH: usize = 6;
pub const REACH: usize = 7;
pub const PLACED: usize = 8;
pub const AGED: usize = 9;
pub const OLDEST: usize = 10;
const REVISION: usize = 11;
const NUMBERS: usize = 12;
pub const NOTHING: i64 = -1;

pub struct Granted {
    pub queue: i64,
    pub shelf: i64,
    pub retention_ms: i64,
    pub journal: Option<Frame>,
    pub terms: Terms,
    /// Of a FIFO queue.
    pub order: Option<Order>,
    /// For Python, which is told what was done.
    pub who: Py<PyAny>,
    version: i64,
    revision: i64,
    numbers: PyBuffer<i64>,
}

pub enum Terms {
    Send(Sending),
    Receive { most: usize, visibility_ms: i64, in_flight: i64 },
    Delete,
}

/// What FIFO queues have beside.
pub struct Order {
    /// Whether deduplication ids are those of a group, and not of the queue.
    pub by_group: bool,
    /// Whether a message without one has that of its content.
    pub by_content: bool,
    pub remembered_ms: i64,
    /// How often a message may be received, if that is limited.
    pub most_receives: Option<i64>,
}

pub struct Sending {
    pub sender: String,
    pub delay_ms: Option<i64>,
    pub largest: usize,
    pub key: Option<Allowance>,
}

impl Sending {
    /// What encrypts so many messages, which count as encrypted from now on.
    pub fn cipher_for(&self, messages: usize) -> Option<&Cipher> {
        self.key.as_ref().map(|key| {
            key.left.fetch_sub(messages as i64, Ordering::Relaxed);
            key.cipher.get()
        })
    }
}

/// To encrypt so many messages up to this time.
pub struct Allowance {
    pub cipher: Py<Cipher>,
    pub until: i64,
    pub left: AtomicI64,
}

impl Granted {
    /// The numbers of the queue: Python and native code change them in turn, with the interpreter's lock held.
    pub fn numbers<'py>(&'py self, py: Python<'py>) -> &'py [Cell<i64>] {
        slice(py, &self.numbers).expect("it was one when it was granted")
    }

    /// Whether there is a place for everything that is said of these messages, and all that has to be said is there.
    pub fn suits(&self, entries: &[Entry]) -> bool {
        let Terms::Send(sending) = &self.terms else {
            return true;
        };
        entries.iter().all(|entry| {
            let fits = match &self.order {
                Some(order) => entry.group.is_some() && (order.by_content || entry.deduplication.is_some()),
                None => entry.group.is_none() && entry.deduplication.is_none(),
            };
            fits && entry.text.len() <= sending.largest
        })
    }

    /// Whether so many messages more can be encrypted by it.
    pub fn suffices(&self, messages: usize) -> bool {
        match &self.terms {
            Terms::Send(Sending { key: Some(key), .. }) => key.left.load(Ordering::Relaxed) >= messages as i64,
            _ => true,
        }
    }

    pub fn holds(&self, py: Python<'_>, version: i64) -> bool {
        self.version == version && self.numbers(py)[REVISION].get() == self.revision
    }
}

fn slice<'a>(_py: Python<'a>, numbers: &'a PyBuffer<i64>) -> Option<&'a [Cell<i64>]> {
    let pointer = numbers.as_slice_ptr().filter(|_| !numbers.readonly())?;
    // SAFETY: an array does not move or shrink while its buffer is held, and whoever changes it has the interpreter's
    // lock, as the caller has.
    Some(unsafe { &*(pointer.as_ptr() as *const [Cell<i64>]) })
}

/// What its lines in the journal have in common, and whether bodies are in them.
type Journal = (Vec<u8>, Vec<u8>, Vec<u8>, bool);
/// Who sends, the delay, the largest size; what encrypts, until when, and how many.
type Sends = (String, Option<i64>, usize, Option<(Py<Cipher>, i64, i64)>);
/// How many at once, for how long they are hidden, and how many may be hidden.
type Receives = (usize, i64, i64);
/// As `Order` has them.
type Orders = (bool, bool, i64, Option<i64>);

#[pyclass(frozen)]
pub struct Permit {
    pub granted: Arc<Granted>,
}

#[pymethods]
impl Permit {
    /// To send if it says how, or to receive if it says how, or else to delete.
    #[new]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (who, version, numbers, queue, shelf, retention_ms, journal, sending=None, receiving=None, order=None))]
    fn new(
        py: Python<'_>,
        who: Py<PyAny>,
        version: i64,
        numbers: &Bound<'_, PyAny>,
        queue: i64,
        shelf: i64,
        retention_ms: i64,
        journal: Option<Journal>,
        sending: Option<Sends>,
        receiving: Option<Receives>,
        order: Option<Orders>,
    ) -> PyResult<Permit> {
        let numbers: PyBuffer<i64> = PyBuffer::get(numbers)?;
        let revision = slice(py, &numbers).filter(|numbers| numbers.len() == NUMBERS).map(|each| each[REVISION].get());
        let revision = revision.ok_or_else(|| PyValueError::new_err("these are not the numbers of a queue"))?;
        let terms = match (sending, receiving) {
            (Some((sender, delay_ms, largest, key)), _) => {
                let key = key.map(|(cipher, until, left)| Allowance { cipher, until, left: left.into() });
                Terms::Send(Sending { sender, delay_ms, largest, key })
            }
            (_, Some((most, visibility_ms, in_flight))) => Terms::Receive { most, visibility_ms, in_flight },
            _ => Terms::Delete,
        };
        let journal = journal.map(|(before, between, behind, bodies)| Frame { before, between, behind, bodies });
        let order = order.map(|(by_group, by_content, remembered_ms, most_receives)| Order {
            by_group,
            by_content,
            remembered_ms,
            most_receives,
        });
        let granted = Granted { queue, shelf, retention_ms, journal, terms, order, who, version, revision, numbers };
        Ok(Permit { granted: Arc::new(granted) })
    }
}

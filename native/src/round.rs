//! A round: what is done for whom, and what it changes of the numbers of queues. `rounds.rs` has the transaction around it,
//! `round_standard.rs` and `round_fifo.rs` the steps for the two kinds of queues.

use std::cell::Cell;
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyList, PySet};

use crate::content::pack_array;
use crate::journal::{Lines, PACKED};
use crate::lane::Lane;
use crate::party::Party;
use crate::permit::{AGED, BYTES, FRESH, GROUPS, Granted, IN_FLIGHT, NOTHING, OLDEST, PLACED, READY, Sending, Terms};
use crate::rows::STATES;

/// What a round is about: `core/store.py` says what each of these is.
#[derive(FromPyObject)]
pub struct Asked<'py> {
    pub lane: PyRef<'py, Lane>,
    pub now: i64,
    pub wall: i64,
    pub version: i64,
    pub watched: Bound<'py, PyDict>,
    pub called: Bound<'py, PySet>,
    pub waiting: Vec<Py<Party>>,
    pub handle_key: PyBackedBytes,
    pub date: PyBackedBytes,
}

/// What was done: for whom, to which queue, for how many requests; the sizes of what was sent, and the numbers of what was
/// received and deleted. Those who waited come first.
pub type Told = (Py<PyAny>, i64, usize, Vec<usize>, usize, usize);

/// What was done by which permit, and the number of messages that were received or deleted.
pub type Carried = (Arc<Granted>, usize);

pub struct Round<'a, 'py> {
    pub py: Python<'py>,
    pub now: i64,
    pub asked: &'a Asked<'py>,
    pub numbers_end: i64,
    pub next_due: i64,
    pub ciphers: &'a Bound<'py, PyDict>,
    /// Which messages are where (`stores/sqlite/runs.py`).
    pub runs: &'a Bound<'py, PyAny>,
    /// The last that was given.
    pub number: i64,
    pub seq: i64,
    /// Those who were served; and of those who waited.
    pub done: Vec<(Py<Party>, Carried)>,
    pub waited: Vec<(Py<Party>, Carried)>,
    pub left: Vec<Py<Party>>,
    pub touched: Vec<Arc<Granted>>,
    pub events: Vec<Vec<u8>>,
    pub soonest: Option<i64>,
    pub requests: usize,
    pub begun: bool,
}

pub fn add(number: &Cell<i64>, more: i64) {
    number.set(number.get() + more);
}

impl<'py> Round<'_, 'py> {
    /// All of them, if they may all be served here and now.
    pub fn all_granted(&mut self, parties: &Bound<'py, PyList>) -> PyResult<Option<Vec<Py<Party>>>> {
        let mut coming = Vec::with_capacity(parties.len());
        for party in parties {
            let party = party.cast_into::<Party>()?.unbind();
            if self.granted(&party)?.is_none() {
                return Ok(None);
            }
            self.requests += party.borrow(self.py).requests.len();
            coming.push(party);
        }
        Ok(Some(coming))
    }

    /// By what they may be served here and now, if they may: their permit holds, and nothing is to be done first.
    pub fn granted(&self, party: &Py<Party>) -> PyResult<Option<Arc<Granted>>> {
        let party = party.borrow(self.py);
        let Some(granted) = party.permit.clone().filter(|granted| granted.holds(self.py, self.asked.version)) else {
            return Ok(None);
        };
        let numbers = granted.numbers(self.py);
        let settled = self.next_due > self.now && numbers[OLDEST].get() > self.now - granted.retention_ms;
        let fits = settled
            && (granted.order.is_some() || numbers[GROUPS].get() == 0)
            && match &granted.terms {
                Terms::Send(sending) => self.may_send(&party, &granted, sending)?,
                _ => true,
            };
        Ok(Some(granted).filter(|_| fits))
    }

    fn may_send(&self, party: &Party, granted: &Granted, sending: &Sending) -> PyResult<bool> {
        let messages = party.entries.len() as i64;
        let in_time = sending.key.as_ref().is_none_or(|key| self.now < key.until);
        Ok(in_time
            && granted.numbers(self.py)[AGED].get() == 0
            && granted.suffices(party.entries.len())
            && self.number + messages <= self.numbers_end
            && granted.suits(&party.entries)
            && self.may_tell(granted.queue)?)
    }

    /// Whether nobody waits at a queue who is to be told of a message before its sender is, and was not called for it.
    fn may_tell(&self, queue: i64) -> PyResult<bool> {
        let (watched, called) = (&self.asked.watched, &self.asked.called);
        Ok(watched.is_empty() || !watched.contains(queue)? || called.contains(queue)?)
    }

    /// Whether a receiver would find nothing here.
    pub fn hopeless(&self, granted: &Granted) -> bool {
        let Terms::Receive { in_flight, .. } = granted.terms else {
            return false;
        };
        let numbers = granted.numbers(self.py);
        let line_is_plain = numbers[PLACED].get() == 0 && numbers[FRESH].get() != NOTHING;
        granted.order.is_none() && !line_is_plain || numbers[READY].get() <= 0 || numbers[IN_FLIGHT].get() >= in_flight
    }

    /// Of those who delete: whether any handle of theirs is good. Who brought another is Python's again.
    pub fn opened(&self, party: &mut Party, granted: &Granted) -> bool {
        !matches!(granted.terms, Terms::Delete) || party.open_handles(&self.asked.handle_key, granted.queue)
    }

    /// How many messages may be handed out to these.
    pub fn room(&self, party: &Party, granted: &Granted, most: usize, in_flight: i64) -> usize {
        let numbers = granted.numbers(self.py);
        let room = (in_flight - numbers[IN_FLIGHT].get()).min(numbers[READY].get()) as usize;
        room.min(most * party.requests.len())
    }

    /// Lines for the journal, if it is to be told.
    pub fn lines(&self, granted: &Granted) -> PyResult<Option<Bound<'py, Lines>>> {
        let lines = granted.journal.as_ref().map(|frame| Lines::of(frame, self.now, self.seq));
        lines.map(|lines| Bound::new(self.py, lines)).transpose()
    }

    // What has changed

    /// Messages of a party came, with the next numbers.
    pub fn came(&mut self, party: &Party, granted: &Granted, state: usize) -> PyResult<()> {
        let (first, messages) = (self.number + 1, party.entries.len() as i64);
        self.number += messages;
        self.runs.call_method1(intern!(self.py, "add"), (granted.shelf, first, self.number))?;
        let numbers = granted.numbers(self.py);
        add(&numbers[state], messages);
        add(&numbers[BYTES], party.entries.iter().map(|entry| entry.text.len() as i64).sum());
        numbers[OLDEST].set(numbers[OLDEST].get().min(self.now));
        Ok(())
    }

    /// So many messages are in flight.
    pub fn delivered(&mut self, granted: &Granted, messages: usize, due: i64) {
        let numbers = granted.numbers(self.py);
        add(&numbers[READY], -(messages as i64));
        add(&numbers[IN_FLIGHT], messages as i64);
        self.hidden_until(Some(due));
    }

    /// So many messages of each state are gone, and so many bytes. How many in all.
    pub fn counted_off(&mut self, granted: &Granted, states: [usize; STATES], bytes: i64) -> usize {
        let numbers = granted.numbers(self.py);
        for (state, gone) in states.into_iter().enumerate() {
            add(&numbers[state], -(gone as i64));
        }
        add(&numbers[BYTES], -bytes);
        states.iter().sum()
    }

    pub fn hidden_until(&mut self, due: Option<i64>) {
        self.soonest = self.soonest.into_iter().chain(due).min();
    }

    pub fn changed(&mut self, granted: &Arc<Granted>, lines: Option<Bound<'py, Lines>>) {
        if !self.touched.iter().any(|touched| touched.queue == granted.queue) {
            self.touched.push(granted.clone());
        }
        if let Some(lines) = lines.as_ref().map(Bound::borrow).filter(|lines| lines.count > 0) {
            self.seq += lines.count as i64;
            self.events.push(lines.pack());
        }
    }

    /// Events, if there are any, as the outbox has them (`core/outbox.py`).
    pub fn packed(&self) -> Option<Vec<u8>> {
        if self.events.is_empty() {
            return None;
        }
        let mut packed = Vec::with_capacity(self.events.iter().map(Vec::len).sum::<usize>() + 6);
        packed.push(PACKED);
        pack_array(&mut packed, self.events.len() as u32);
        self.events.iter().for_each(|event| packed.extend_from_slice(event));
        Some(packed)
    }

    /// Everyone is told, who waited before the others. Receivers for whom there was nothing are left, each by himself.
    pub fn answer(&mut self) -> PyResult<Vec<Told>> {
        let (date, handle_key) = (&self.asked.date, &self.asked.handle_key);
        let mut told = Vec::with_capacity(self.done.len() + self.waited.len());
        for (party, (granted, messages)) in self.waited.iter().chain(&self.done) {
            let mut party = party.borrow_mut(self.py);
            let (mut sizes, mut received, mut deleted, queue) = (Vec::new(), 0, 0, granted.queue);
            let answered = match granted.terms {
                Terms::Send(_) => {
                    sizes = party.sizes();
                    party.acknowledge(date, None)?
                }
                Terms::Receive { .. } => {
                    received = *messages;
                    party.pass_on(date, handle_key, queue)
                }
                Terms::Delete => {
                    deleted = *messages;
                    party.settle(date, None)
                }
            };
            told.push((granted.who.clone_ref(self.py), queue, answered, sizes, received, deleted));
            for alone in party.apart() {
                self.left.push(Py::new(self.py, alone)?);
            }
        }
        Ok(told)
    }
}

//! A round: parties whose like were let in before are carried out, committed and answered at once, without Python.
//!
//! What is done is what `stores/sqlite/wholesale.py` does, and what `database.py` does around it: rows, counters and
//! events in one transaction, one sync, then the replies. The rules stand there; here they are followed where everything
//! is as usual. What is not is left to Python, before anything of it was done: a party whose permit does not hold, a
//! receiver for whom there is nothing, a message that is not plain. If something fails Python undoes the transaction, and
//! serves everybody itself.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PySet};

use crate::content::pack_array;
use crate::journal::{Lines, PACKED};
use crate::lane::Lane;
use crate::party::Party;
use crate::permit::{
    AGED, BYTES, DELAYED, FRESH, GROUPS, Granted, IN_FLIGHT, NOTHING, OLDEST, PLACED, REACH, READY, Sending, Terms,
};
use crate::rows::STATES;
use crate::shelf::Shelf;
use crate::sqlite::{Failure, Statement, Value};
use crate::tally::{self, Counters, ROWS, Ring};

const SETTLE: &str = "UPDATE queue SET ready=?1, in_flight=?2, delayed=?3, bytes=?4, groups=?5,
    fresh_number=?6 WHERE id=?7";
/// Requests in one commit, about.
const SHARE_AT_MOST: usize = 512;

/// What a round is about: `core/store.py` says what each of these is.
#[derive(FromPyObject)]
struct Asked<'py> {
    lane: PyRef<'py, Lane>,
    now: i64,
    wall: i64,
    version: i64,
    watched: Bound<'py, PyDict>,
    called: Bound<'py, PySet>,
    waiting: Vec<Py<Party>>,
    handle_key: PyBackedBytes,
    date: PyBackedBytes,
}

/// How things stand in the store: the last number that a message was given and the last that may be, the last number of
/// an event, when the first message is due that is hidden, whether the time is to be noted, and whether there is company.
type Standing = (i64, i64, i64, i64, bool, bool);

/// What was done: for whom, to which queue, for how many requests; the sizes of what was sent, and the numbers of what was
/// received and deleted. Those who waited come first.
type Told = (Py<PyAny>, i64, usize, Vec<usize>, usize, usize);

/// Events of a commit: their first and their last number, and they themselves, packed.
type Batch<'py> = (i64, i64, Bound<'py, PyBytes>);

/// Those who are left for Python, what was done, for how many of those who waited, its events, the last number of a
/// message, when the first of those is due that were hidden, and how many requests there were.
type Done<'py> = (Vec<Py<Party>>, Vec<Told>, usize, Option<Batch<'py>>, i64, Option<i64>, usize);

#[pyclass(unsendable)]
pub struct Rounds {
    shelf: Py<Shelf>,
    begin: Statement,
    commit: Statement,
    settle: Statement,
    tally: Statement,
    outbox: Statement,
    time: Statement,
    /// The queues that a round which failed had to do with.
    #[pyo3(get)]
    touched: Vec<i64>,
}

#[pymethods]
impl Rounds {
    #[new]
    fn new(py: Python<'_>, shelf: Py<Shelf>) -> PyResult<Rounds> {
        let connection = shelf.borrow(py).connection.clone();
        Ok(Rounds {
            shelf,
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            settle: connection.prepare(SETTLE)?,
            tally: connection.prepare("INSERT OR REPLACE INTO tally VALUES (?1, ?2, ?3)")?,
            outbox: connection.prepare("INSERT INTO outbox VALUES (?1, ?2, ?3)")?,
            time: connection.prepare("INSERT OR REPLACE INTO keepsake VALUES ('time', ?1)")?,
            touched: Vec::new(),
        })
    }

    /// Serve these, and those who come meanwhile if there is company; they are put to these. None if they are not all to
    /// be served here: then nothing was done.
    #[allow(clippy::too_many_arguments)]
    fn serve<'py>(
        &mut self,
        py: Python<'py>,
        parties: &Bound<'py, PyList>,
        asked: Asked<'py>,
        standing: Standing,
        ring: &Bound<'py, Ring>,
        ciphers: &Bound<'py, PyDict>,
        runs: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Done<'py>>> {
        self.touched.clear();
        let (number, numbers_end, seq, next_due, note_time, company) = standing;
        let mut round = Round {
            py,
            now: asked.now,
            asked: &asked,
            numbers_end,
            next_due,
            ciphers,
            runs,
            number,
            seq,
            done: Vec::new(),
            waited: Vec::new(),
            left: Vec::new(),
            touched: Vec::new(),
            events: Vec::new(),
            soonest: None,
            requests: 0,
            begun: false,
        };
        let Some(coming) = round.all_granted(parties)? else {
            return Ok(None);
        };
        self.carry_out_all(&mut round, coming, parties, company)?;
        let events = round.packed();
        if round.begun {
            if note_time {
                self.time.run(&[Value::Int(asked.now)], |_| false)?;
            }
            self.finish(&round, ring, (seq + 1, events.as_deref()))?;
        }
        let told = round.answer()?;
        let batch = events.map(|events| (seq + 1, round.seq, PyBytes::new(py, &events)));
        Ok(Some((round.left, told, round.waited.len(), batch, round.number, round.soonest, round.requests)))
    }
}

impl Rounds {
    /// Those who are there, those who come meanwhile, and then those who waited for what they bring.
    fn carry_out_all<'py>(
        &mut self,
        round: &mut Round<'_, 'py>,
        mut coming: Vec<Py<Party>>,
        parties: &Bound<'py, PyList>,
        company: bool,
    ) -> PyResult<()> {
        let mut others = company || round.requests > 1;
        while !coming.is_empty() {
            for party in coming.drain(..) {
                match self.carry_out(round, &party)? {
                    Some(done) => round.done.push((party, done)),
                    None if party.borrow(round.py).requests.is_empty() => {}
                    None => round.left.push(party),
                }
            }
            if others && round.begun && round.requests < SHARE_AT_MOST {
                for party in round.asked.lane.look(round.asked.wall) {
                    round.requests += party.requests.len();
                    let party = Py::new(round.py, party)?;
                    parties.append(&party)?;
                    coming.push(party);
                }
                others = !coming.is_empty();
            }
        }
        for party in &round.asked.waiting {
            if let Some(done) = self.carry_out(round, party)? {
                round.waited.push((party.clone_ref(round.py), done));
            }
        }
        Ok(())
    }

    /// None if it is not to be done here, and nothing was.
    fn carry_out(&mut self, round: &mut Round<'_, '_>, party: &Py<Party>) -> PyResult<Option<Carried>> {
        let Some(granted) = round.granted(party)? else {
            return Ok(None);
        };
        let (mut party, mut shelf) = (party.borrow_mut(round.py), self.shelf.borrow_mut(round.py));
        if round.hopeless(&granted) || !round.opened(&mut party, &granted) {
            return Ok(None);
        }
        if !round.begun {
            self.begin.run(&[], |_| false)?;
            round.begun = true;
        }
        let lines = granted.journal.as_ref().map(|frame| Lines::of(frame, round.now, round.seq));
        self.touched.push(granted.queue);
        let messages = match &granted.terms {
            Terms::Send(sending) => round.send(&mut shelf, &mut party, &granted, sending, lines)?,
            Terms::Receive { most, visibility_ms, in_flight } => {
                round.receive(&mut shelf, &mut party, &granted, (*most, *visibility_ms, *in_flight), lines)?
            }
            Terms::Delete => Some(round.delete(&mut shelf, &mut party, &granted, lines)?),
        };
        Ok(messages.map(|messages| (granted, messages)))
    }

    /// Counters and events, and then the commit.
    fn finish(
        &mut self,
        round: &Round<'_, '_>,
        ring: &Bound<'_, Ring>,
        (first, events): (i64, Option<&[u8]>),
    ) -> PyResult<()> {
        let rows: Vec<(i64, Counters)> =
            round.touched.iter().map(|one| (one.queue, counters(one.numbers(round.py)))).collect();
        let number = ring.borrow().last + 1;
        if !rows.is_empty() {
            for (queue, counters) in ring.borrow_mut().taken(number - ROWS) {
                let mut values: Vec<Value<'_>> = counters.into_iter().map(Value::from).collect();
                values.push(Value::Int(queue));
                self.settle.run(&values, |_| false)?;
            }
            let packed = tally::pack(&rows);
            self.tally.run(&[Value::Int(number % ROWS), Value::Int(number), Value::Blob(&packed)], |_| false)?;
        }
        if let Some(events) = events {
            self.outbox.run(&[Value::Int(first), Value::Int(round.seq), Value::Blob(events)], |_| false)?;
        }
        let commit = Alone(&mut self.commit);
        round.py.detach(|| commit.run())?;
        if !rows.is_empty() {
            ring.borrow_mut().noted(number, rows.into_iter());
        }
        Ok(())
    }
}

/// A statement whose thread lets go of the interpreter's lock while it runs, and is its thread all the same.
struct Alone<'a>(&'a mut Statement);

// SAFETY: it is not sent anywhere; only the interpreter's lock is given back and taken.
unsafe impl Send for Alone<'_> {}

impl Alone<'_> {
    fn run(self) -> Result<(), Failure> {
        self.0.run(&[], |_| false)
    }
}

/// As the tally has them (`stores/sqlite/tally.py`).
fn counters(numbers: &[Cell<i64>]) -> Counters {
    let fresh = Some(numbers[FRESH].get()).filter(|number| *number != NOTHING);
    let [ready, in_flight, delayed, bytes, groups] =
        [READY, IN_FLIGHT, DELAYED, BYTES, GROUPS].map(|which| Some(numbers[which].get()));
    [ready, in_flight, delayed, bytes, groups, fresh]
}

fn add(number: &Cell<i64>, more: i64) {
    number.set(number.get() + more);
}

/// What was done by which permit, and the number of messages that were received or deleted.
type Carried = (Arc<Granted>, usize);

struct Round<'a, 'py> {
    py: Python<'py>,
    now: i64,
    asked: &'a Asked<'py>,
    numbers_end: i64,
    next_due: i64,
    ciphers: &'a Bound<'py, PyDict>,
    /// Which messages are where (`stores/sqlite/runs.py`).
    runs: &'a Bound<'py, PyAny>,
    /// The last that was given.
    number: i64,
    seq: i64,
    /// Those who were served; and of those who waited.
    done: Vec<(Py<Party>, Carried)>,
    waited: Vec<(Py<Party>, Carried)>,
    left: Vec<Py<Party>>,
    touched: Vec<Arc<Granted>>,
    events: Vec<Vec<u8>>,
    soonest: Option<i64>,
    requests: usize,
    begun: bool,
}

impl<'py> Round<'_, 'py> {
    /// All of them, if they may all be served here and now.
    fn all_granted(&mut self, parties: &Bound<'py, PyList>) -> PyResult<Option<Vec<Py<Party>>>> {
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
    fn granted(&self, party: &Py<Party>) -> PyResult<Option<Arc<Granted>>> {
        let party = party.borrow(self.py);
        let Some(granted) = party.permit.clone().filter(|granted| granted.holds(self.py, self.asked.version)) else {
            return Ok(None);
        };
        let numbers = granted.numbers(self.py);
        let settled = self.next_due > self.now && numbers[OLDEST].get() > self.now - granted.retention_ms;
        let fits = settled
            && numbers[GROUPS].get() == 0
            && match &granted.terms {
                Terms::Send(sending) => self.may_send(&party, &granted, sending)?,
                _ => true,
            };
        Ok(Some(granted).filter(|_| fits))
    }

    fn may_send(&self, party: &Party, granted: &Granted, sending: &Sending) -> PyResult<bool> {
        let messages = party.entries.len() as i64;
        let in_time = sending.key.as_ref().is_none_or(|key| self.now < key.until);
        let plain = |entry: &crate::wire::Entry| {
            entry.text.len() <= sending.largest && entry.group.is_none() && entry.deduplication.is_none()
        };
        Ok(in_time
            && granted.numbers(self.py)[AGED].get() == 0
            && granted.suffices(party.entries.len())
            && self.number + messages <= self.numbers_end
            && party.entries.iter().all(plain)
            && self.may_tell(granted.queue)?)
    }

    /// Whether nobody waits at a queue who is to be told of a message before its sender is, and was not called for it.
    fn may_tell(&self, queue: i64) -> PyResult<bool> {
        let (watched, called) = (&self.asked.watched, &self.asked.called);
        Ok(watched.is_empty() || !watched.contains(queue)? || called.contains(queue)?)
    }

    /// Whether a receiver would find nothing here.
    fn hopeless(&self, granted: &Granted) -> bool {
        let Terms::Receive { in_flight, .. } = granted.terms else {
            return false;
        };
        let numbers = granted.numbers(self.py);
        numbers[PLACED].get() != 0
            || numbers[FRESH].get() == NOTHING
            || numbers[READY].get() <= 0
            || numbers[IN_FLIGHT].get() >= in_flight
    }

    /// Of those who delete: whether any handle of theirs is good. Who brought another is Python's again.
    fn opened(&self, party: &mut Party, granted: &Granted) -> bool {
        !matches!(granted.terms, Terms::Delete) || party.open_handles(&self.asked.handle_key, granted.queue)
    }

    fn send(
        &mut self,
        shelf: &mut Shelf,
        party: &mut Party,
        granted: &Arc<Granted>,
        sending: &Sending,
        mut lines: Option<Lines>,
    ) -> PyResult<Option<usize>> {
        let (now, first, messages) = (self.now, self.number + 1, party.entries.len() as i64);
        let due = sending.delay_ms.map(|delay| now + delay);
        let cipher = sending.key.as_ref().map(|key| {
            key.left.fetch_sub(messages, Ordering::Relaxed);
            key.cipher.get()
        });
        shelf.put(party, granted.shelf, now, due, first, &sending.sender, cipher, lines.as_mut())?;
        self.number += messages;
        self.runs.call_method1(intern!(self.py, "add"), (granted.shelf, first, self.number))?;
        let numbers = granted.numbers(self.py);
        add(&numbers[if due.is_some() { DELAYED } else { READY }], messages);
        add(&numbers[BYTES], party.entries.iter().map(|entry| entry.text.len() as i64).sum());
        numbers[OLDEST].set(numbers[OLDEST].get().min(now));
        let begins = due.is_none() && numbers[FRESH].get() == NOTHING;
        if begins {
            numbers[FRESH].set(first);
        }
        if begins || numbers[REACH].get() == first - 1 {
            numbers[REACH].set(self.number);
        }
        self.hidden_until(due);
        self.changed(granted, lines);
        Ok(Some(0))
    }

    fn receive(
        &mut self,
        shelf: &mut Shelf,
        party: &mut Party,
        granted: &Arc<Granted>,
        (most, visibility_ms, in_flight): (usize, i64, i64),
        mut lines: Option<Lines>,
    ) -> PyResult<Option<usize>> {
        let (now, numbers) = (self.now, granted.numbers(self.py));
        let room = (in_flight - numbers[IN_FLIGHT].get()).min(numbers[READY].get()) as usize;
        let (limit, due) = (room.min(most * party.requests.len()), now + visibility_ms);
        let horizon = now - granted.retention_ms;
        let (messages, (last, reach)) = shelf.hand_out(
            party,
            granted.shelf,
            (numbers[FRESH].get(), numbers[REACH].get()),
            most,
            limit,
            now,
            due,
            horizon,
            self.ciphers,
            self.runs,
            lines.as_mut(),
        )?;
        if messages == 0 {
            return Ok(None);
        }
        numbers[FRESH].set(last + 1);
        numbers[REACH].set(reach);
        add(&numbers[READY], -(messages as i64));
        add(&numbers[IN_FLIGHT], messages as i64);
        self.hidden_until(Some(due));
        self.changed(granted, lines);
        Ok(Some(messages))
    }

    fn delete(
        &mut self,
        shelf: &mut Shelf,
        party: &mut Party,
        granted: &Arc<Granted>,
        mut lines: Option<Lines>,
    ) -> Result<usize, Failure> {
        let (states, bytes): ([usize; STATES], i64) = shelf.take_off(party, granted.shelf, self.now, lines.as_mut())?;
        let messages = states.iter().sum();
        if messages > 0 {
            let numbers = granted.numbers(self.py);
            for (state, gone) in states.into_iter().enumerate() {
                add(&numbers[state], -(gone as i64));
            }
            add(&numbers[BYTES], -bytes);
            self.changed(granted, lines);
        }
        Ok(messages)
    }

    fn hidden_until(&mut self, due: Option<i64>) {
        self.soonest = self.soonest.into_iter().chain(due).min();
    }

    fn changed(&mut self, granted: &Arc<Granted>, lines: Option<Lines>) {
        if !self.touched.iter().any(|touched| touched.queue == granted.queue) {
            self.touched.push(granted.clone());
        }
        if let Some(lines) = lines.filter(|lines| lines.count > 0) {
            self.seq += lines.count as i64;
            self.events.push(lines.pack());
        }
    }

    /// Events, if there are any, as the outbox has them (`core/outbox.py`).
    fn packed(&self) -> Option<Vec<u8>> {
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
    fn answer(&mut self) -> PyResult<Vec<Told>> {
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

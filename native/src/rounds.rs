//! A round: parties whose like were let in before are carried out, committed and answered at once, without Python.
//!
//! What is done is what `stores/sqlite/wholesale.py` does, and what `database.py` does around it: rows, counters and
//! events in one transaction, one sync, then the replies. The rules stand there; here they are followed where everything
//! is as usual. What is not is left to Python, before anything of it was done: a party whose permit does not hold, a
//! receiver for whom there is nothing, a message that is not plain. If something fails Python undoes the transaction, and
//! serves everybody itself.
//!
//! Here is the transaction and the order of steps; what they have in common is in `round.rs`.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::fifo::FifoShelf;
use crate::party::Party;
use crate::permit::{BYTES, DELAYED, FRESH, GROUPS, IN_FLIGHT, NOTHING, READY};
use crate::round::{Asked, Carried, Round, Told};
use crate::shelf::Shelf;
use crate::sqlite::{Failure, Statement, Value};
use crate::tally::{self, Counters, ROWS, Ring};

const SETTLE: &str = "UPDATE queue SET ready=?1, in_flight=?2, delayed=?3, bytes=?4, groups=?5,
    fresh_number=?6 WHERE id=?7";
/// Requests in one commit, about.
const SHARE_AT_MOST: usize = 512;

/// How things stand in the store: the last number that a message was given and the last that may be, the last number of
/// an event, when the first message is due that is hidden, whether the time is to be noted, and whether there is company.
type Standing = (i64, i64, i64, i64, bool, bool);

/// Events of a commit: their first and their last number, and they themselves, packed.
type Batch<'py> = (i64, i64, Bound<'py, PyBytes>);

/// Those who are left for Python, what was done, for how many of those who waited, its events, the last number of a
/// message, when the first of those is due that were hidden, and how many requests there were.
type Done<'py> = (Vec<Py<Party>>, Vec<Told>, usize, Option<Batch<'py>>, i64, Option<i64>, usize);

#[pyclass(unsendable)]
pub struct Rounds {
    shelf: Py<Shelf>,
    fifo: Py<FifoShelf>,
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
    fn new(py: Python<'_>, shelf: Py<Shelf>, fifo: Py<FifoShelf>) -> PyResult<Rounds> {
        let connection = shelf.borrow(py).connection.clone();
        Ok(Rounds {
            shelf,
            fifo,
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
        let mut party = party.borrow_mut(round.py);
        if round.hopeless(&granted) || !round.opened(&mut party, &granted) {
            return Ok(None);
        }
        if !round.begun {
            self.begin.run(&[], |_| false)?;
            round.begun = true;
        }
        self.touched.push(granted.queue);
        let messages = match &granted.order {
            None => round.carry_out(&mut self.shelf.borrow_mut(round.py), &mut party, &granted)?,
            Some(order) => {
                round.carry_out_in_order(&mut self.fifo.borrow_mut(round.py), &mut party, &granted, order)?
            }
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

//! Messages of whole parties put on a shelf of the SQLite store, handed out from it, and taken off it.
//!
//! `stores/sqlite/` says what a shelf is, and its rules; `wholesale.py` there decides when these are followed here: for
//! plain messages of a standard queue without groups. Each step is a part of Python's transaction, counts nothing and
//! remembers nothing, and leaves to Python whatever it finds that is not plain.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::chance::uuid;
use crate::content::{Cipher, checksum, key_number, opened, pack, unpack};
use crate::party::{Given, Party};
use crate::sqlite::{self, Failure, Statement, Value};
use crate::wire::{number, quote};

create_exception!(native, ShelfError, PyException, "SQLite's number for what went wrong, and its words.");

/// A longer content lies apart, as `stores/sqlite/cards.py` has it.
const CARRIED_BYTES: usize = 2000;
const CLAIM_BYTES: usize = 28;
const STATES: usize = 4;

const INSERT: &str =
    "INSERT INTO message (number, shelf, enqueued, state, place, due, grp, size, id, checksum, content)
    VALUES (?1, ?2, ?3, ?4, NULL, ?5, 0, ?6, ?7, ?8, ?9)";
const INSERT_BULK: &str = "INSERT INTO bulk VALUES (?1, ?2)";
const FRESH: &str = "SELECT number, enqueued, size, grp, receives, id, checksum, content FROM message
    WHERE shelf=?1 AND state=0 AND place IS NULL AND enqueued=?2 AND number>=?3
    UNION ALL SELECT number, enqueued, size, grp, receives, id, checksum, content FROM message
    WHERE shelf=?1 AND state=0 AND place IS NULL AND enqueued>?2 ORDER BY enqueued, number";
const DELIVER: &str = "UPDATE message SET state=1, due=?1, receives=1, received=?2, first_received=?2 WHERE number=?3";
const HELD: &str = "SELECT state, size, receives, received, enqueued, id, content IS NULL, grp FROM message
    WHERE number=?1 AND +shelf=?2";
const DELETE: &str = "DELETE FROM message WHERE number=?1";
const DELETE_BULK: &str = "DELETE FROM bulk WHERE number=?1";

/// The lines of a journal: what stands before, between and behind the values of each. `seq` is the last number given.
#[pyclass]
pub struct Lines {
    before: Vec<u8>,
    between: Vec<u8>,
    behind: Vec<u8>,
    seq: i64,
    bodies: bool,
    written: Vec<u8>,
}

#[pymethods]
impl Lines {
    #[new]
    fn new(before: Vec<u8>, between: Vec<u8>, behind: Vec<u8>, seq: i64, bodies: bool) -> Lines {
        Lines { before, between, behind, seq, bodies, written: Vec::new() }
    }

    #[getter]
    fn written<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.written)
    }
}

impl Lines {
    /// A line about the message of this id, with these values before and behind what all have in common.
    fn add(&mut self, id: &[u8], first: &[(&str, i64)], last: Option<(&str, i64)>, body: Option<&[u8]>) {
        self.seq += 1;
        if !self.written.is_empty() {
            self.written.push(b'\n');
        }
        self.written.extend_from_slice(&self.before);
        number(&mut self.written, self.seq);
        self.written.extend_from_slice(&self.between);
        self.written.extend_from_slice(id);
        self.written.push(b'"');
        for (name, value) in first {
            self.value(name, *value);
        }
        self.written.extend_from_slice(&self.behind);
        if let Some((name, value)) = last {
            self.value(name, value);
        }
        if let Some(body) = body.filter(|_| self.bodies) {
            self.written.extend_from_slice(b",\"body\":");
            quote(&mut self.written, body);
        }
        self.written.push(b'}');
    }

    fn value(&mut self, name: &str, value: i64) {
        self.written.extend_from_slice(b",\"");
        self.written.extend_from_slice(name.as_bytes());
        self.written.extend_from_slice(b"\":");
        number(&mut self.written, value);
    }
}

#[pyclass(unsendable)]
pub struct Shelf {
    insert: Statement,
    insert_bulk: Statement,
    fresh: Statement,
    deliver: Statement,
    held: Statement,
    delete: Statement,
    delete_bulk: Statement,
}

/// A fresh message as it was found.
struct Found {
    number: i64,
    enqueued: i64,
    size: i64,
    sent: i64,
}

#[pymethods]
impl Shelf {
    /// For the connection that this library was just loaded into.
    #[new]
    fn new(py: Python<'_>) -> PyResult<Shelf> {
        let connection = sqlite::opened().ok_or_else(|| PyValueError::new_err("no connection was opened"))?;
        let prepare = |sql| connection.prepare(sql).map_err(|failure| raised(py, failure));
        Ok(Shelf {
            insert: prepare(INSERT)?,
            insert_bulk: prepare(INSERT_BULK)?,
            fresh: prepare(FRESH)?,
            deliver: prepare(DELIVER)?,
            held: prepare(HELD)?,
            delete: prepare(DELETE)?,
            delete_bulk: prepare(DELETE_BULK)?,
        })
    }

    /// Put the messages of a party on a shelf, with numbers from `first` on: visible at once, or hidden until `due`.
    #[allow(clippy::too_many_arguments)]
    fn send(
        &mut self,
        py: Python<'_>,
        party: &mut Party,
        shelf: i64,
        now: i64,
        due: Option<i64>,
        first: i64,
        sender: &str,
        cipher: Option<&Cipher>,
        mut lines: Option<PyRefMut<'_, Lines>>,
    ) -> PyResult<()> {
        party.ids = party.entries.iter().map(|_| uuid()).collect();
        for ((entry, id), number) in party.entries.iter().zip(&party.ids).zip(first..) {
            let (body, size) = (entry.text.as_bytes(), entry.text.len() as i64);
            let mut content = pack(body, sender.as_bytes(), now);
            if let Some(cipher) = cipher {
                content = cipher.encrypt(id, &content);
            }
            let carried = content.len() <= CARRIED_BYTES;
            let values = [
                Value::Int(number),
                Value::Int(shelf),
                Value::Int(now),
                Value::Int(if due.is_some() { 2 } else { 0 }),
                due.map_or(Value::Null, Value::Int),
                Value::Int(size),
                Value::Blob(id),
                Value::Int(checksum(id, &content)),
                if carried { Value::Blob(&content) } else { Value::Null },
            ];
            self.insert.run(&values, |_| false).map_err(|failure| raised(py, failure))?;
            if !carried {
                let values = [Value::Int(number), Value::Blob(&content)];
                self.insert_bulk.run(&values, |_| false).map_err(|failure| raised(py, failure))?;
            }
            if let Some(lines) = &mut lines {
                lines.add(id, &[("size", size)], due.map(|due| ("duration_ms", due - now)), Some(body));
            }
        }
        Ok(())
    }

    /// Hand out fresh messages of a shelf, from this time and number on, to the receivers of a party: `most` to each and
    /// `limit` in all, hidden until `due`. How many there were, and the time and number of the last of them. It ends
    /// before the first that is not plain, or not younger than `horizon`; and whoever would be given that one among
    /// others is given nothing here.
    #[allow(clippy::too_many_arguments)]
    fn receive(
        &mut self,
        py: Python<'_>,
        party: &mut Party,
        shelf: i64,
        fresh: (i64, i64),
        most: usize,
        limit: usize,
        now: i64,
        due: i64,
        horizon: i64,
        ciphers: &Bound<'_, PyDict>,
        mut lines: Option<PyRefMut<'_, Lines>>,
    ) -> PyResult<(usize, (i64, i64))> {
        let (mut found, mut odd): (Vec<Found>, bool) = (Vec::new(), false);
        let given = &mut party.given;
        given.clear();
        let values = [Value::Int(shelf), Value::Int(fresh.0), Value::Int(fresh.1)];
        let row = |row: &sqlite::Row<'_>| {
            let message = read(row, shelf, horizon, ciphers);
            let Some((one, what)) = message else {
                odd = true;
                return false;
            };
            found.push(one);
            given.push(what);
            found.len() < limit
        };
        self.fresh.run(&values, row).map_err(|failure| raised(py, failure))?;
        if odd {
            found.truncate(found.len() / most * most);
            party.given.truncate(found.len());
        }
        let mut last = fresh;
        for (one, what) in found.iter().zip(&party.given) {
            let values = [Value::Int(due), Value::Int(now), Value::Int(one.number)];
            self.deliver.run(&values, |_| false).map_err(|failure| raised(py, failure))?;
            last = (one.enqueued, one.number);
            if let Some(lines) = &mut lines {
                let values =
                    [("size", one.size), ("receive_count", 1), ("sent_ms", one.sent), ("first_receive_ms", now)];
                lines.add(&what.id, &values, Some(("duration_ms", now - one.enqueued)), None);
            }
        }
        party.share_out(most);
        Ok((found.len(), last))
    }

    /// Take off a shelf what the claims of a party stand for. How many there were of each state, and their bytes.
    fn delete(
        &mut self,
        py: Python<'_>,
        party: &mut Party,
        shelf: i64,
        now: i64,
        mut lines: Option<PyRefMut<'_, Lines>>,
    ) -> PyResult<([usize; STATES], i64)> {
        let (mut states, mut bytes) = ([0; STATES], 0);
        for claim in &party.claims {
            let Some((of_shelf, message, receives)) = read_claim(claim) else {
                continue;
            };
            if of_shelf != shelf {
                continue;
            }
            let mut held = None;
            let values = [Value::Int(message), Value::Int(shelf)];
            let row = |row: &sqlite::Row<'_>| {
                let id = row.blob(5).map(<[u8]>::to_vec).unwrap_or_default();
                let since = row.int(3).or(row.int(4)).unwrap_or(now);
                held = Some((row.int(0), row.int(1).unwrap_or(0), row.int(2), since, id, row.int(6) == Some(1)));
                false
            };
            self.held.run(&values, row).map_err(|failure| raised(py, failure))?;
            let Some((Some(state @ 0..4), size, Some(received), since, id, bulky)) = held else {
                continue;
            };
            if received != receives {
                continue; // delivered again since
            }
            let number = [Value::Int(message)];
            self.delete.run(&number, |_| false).map_err(|failure| raised(py, failure))?;
            if bulky {
                self.delete_bulk.run(&number, |_| false).map_err(|failure| raised(py, failure))?;
            }
            states[state as usize] += 1;
            bytes += size;
            if let Some(lines) = &mut lines {
                lines.add(&id, &[("receive_count", receives)], Some(("duration_ms", now - since)), None);
            }
        }
        Ok((states, bytes))
    }
}

/// The shelf, the number and the receives in a claim (`stores/sqlite/claims.py`).
fn read_claim(claim: &[u8]) -> Option<(i64, i64, i64)> {
    let claim: &[u8; CLAIM_BYTES] = claim.try_into().ok()?;
    let long = |at: usize| i64::from_be_bytes(claim[at..at + 8].try_into().expect("eight bytes"));
    Some((long(0), long(16), u32::from_be_bytes(claim[24..].try_into().expect("four bytes")) as i64))
}

fn read(row: &sqlite::Row<'_>, shelf: i64, horizon: i64, ciphers: &Bound<'_, PyDict>) -> Option<(Found, Given)> {
    let (number, enqueued, size) = (row.int(0)?, row.int(1)?, row.int(2)?);
    let (id, content) = (row.blob(5)?, row.blob(7)?);
    if enqueued <= horizon || row.int(3)? != 0 || row.int(4)? != 0 || checksum(id, content) != row.int(6)? {
        return None;
    }
    let cipher = match key_number(content) {
        Some(number) => Some(ciphers.get_item(number).ok()??.cast_into::<Cipher>().ok()?),
        None => None,
    };
    let plain = opened(content, id, cipher.as_ref().map(Bound::get))?;
    let (body, sent) = unpack(&plain)?;
    let mut claim = Vec::with_capacity(CLAIM_BYTES);
    for part in [shelf, enqueued, number] {
        claim.extend_from_slice(&part.to_be_bytes());
    }
    claim.extend_from_slice(&1u32.to_be_bytes());
    let given = Given { id: id.try_into().ok()?, body: body.to_vec(), claim };
    Some((Found { number, enqueued, size, sent }, given))
}

/// What Python raised within SQLite, or what SQLite says.
fn raised(py: Python<'_>, failure: Failure) -> PyErr {
    PyErr::take(py).unwrap_or_else(|| ShelfError::new_err((failure.code, failure.message)))
}

//! The rows of messages, and the claims on them, as they are on shelves of either kind: written, read, found, removed.
//!
//! `stores/sqlite/cards.py` and `claims.py` say what is in them. Which of them, and what becomes of groups and of their
//! order, is the business of `shelf` and `fifo`.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::chance::Uuid;
use crate::content::{Cipher, Content, checksum, key_number, opened, pack, unpack};
use crate::party::Given;
use crate::sqlite::{Connection, Failure, Row, Statement, Value};

pub const STATES: usize = 4;

/// A longer content lies apart, as `stores/sqlite/cards.py` has it.
const CARRIED_BYTES: usize = 2000;
const CLAIM_BYTES: usize = 28;
const TIME_BYTES: usize = 6;

const INSERT: &str =
    "INSERT INTO message (number, shelf, enqueued, state, place, due, grp, size, id, checksum, content, room)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
const INSERT_BULK: &str = "INSERT INTO bulk VALUES (?1, ?2)";
const HELD: &str =
    "SELECT state, size, receives, received, enqueued, id, content IS NULL, grp, due, number FROM message
    WHERE number BETWEEN ?1 AND ?2 AND +shelf=?3";
const DELETE: &str = "DELETE FROM message WHERE number BETWEEN ?1 AND ?2";
const DELETE_BULK: &str = "DELETE FROM bulk WHERE number=?1";

pub struct Rows {
    insert: Statement,
    insert_bulk: Statement,
    held: Statement,
    delete: Statement,
    delete_bulk: Statement,
}

/// Where a new message lies.
pub struct Spot {
    pub number: i64,
    pub shelf: i64,
    pub place: Option<i64>,
    pub due: Option<i64>,
    pub group: i64,
}

impl Spot {
    /// What its row is going to grow by when it is first handed out (`cards.py` says why). Here a message has a place in
    /// line only if its queue is a FIFO queue, and keeps it.
    fn room(&self) -> &'static [u8] {
        &[0; 24][..TIME_BYTES * (3 + self.place.is_some() as usize - self.due.is_some() as usize)]
    }
}

/// A message that may be deleted. None is what is not the number that it ought to be.
pub struct Held {
    pub state: Option<i64>,
    pub size: i64,
    pub receives: Option<i64>,
    pub since: i64,
    pub id: Vec<u8>,
    pub bulky: bool,
    pub group: i64,
    pub due: Option<i64>,
}

impl Rows {
    pub fn of(connection: &Connection) -> Result<Rows, Failure> {
        Ok(Rows {
            insert: connection.prepare(INSERT)?,
            insert_bulk: connection.prepare(INSERT_BULK)?,
            held: connection.prepare(HELD)?,
            delete: connection.prepare(DELETE)?,
            delete_bulk: connection.prepare(DELETE_BULK)?,
        })
    }

    /// A message that was sent now.
    pub fn put(
        &mut self,
        spot: &Spot,
        id: &Uuid,
        content: &Content<'_>,
        cipher: Option<&Cipher>,
    ) -> Result<(), Failure> {
        let packed = pack(content, id, cipher);
        let carried = packed.len() <= CARRIED_BYTES;
        let values = [
            Value::Int(spot.number),
            Value::Int(spot.shelf),
            Value::Int(content.sent),
            Value::Int(if spot.due.is_some() { 2 } else { 0 }),
            spot.place.into(),
            spot.due.into(),
            Value::Int(spot.group),
            Value::Int(content.body.len() as i64),
            Value::Blob(id),
            Value::Int(checksum(id, &packed)),
            if carried { Value::Blob(&packed) } else { Value::Null },
            Value::Blob(spot.room()),
        ];
        self.insert.run(&values, |_| false)?;
        if !carried {
            self.insert_bulk.run(&[Value::Int(spot.number), Value::Blob(&packed)], |_| false)?;
        }
        Ok(())
    }

    /// The messages of a shelf with these numbers, in their order, with their numbers.
    pub fn held(&mut self, shelf: i64, (first, last): Run, now: i64) -> Result<Vec<(i64, Held)>, Failure> {
        let mut held = Vec::with_capacity((last - first + 1) as usize);
        let row = |row: &Row<'_>| {
            let one = Held {
                state: row.int(0),
                size: row.int(1).unwrap_or(0),
                receives: row.int(2),
                since: row.int(3).or(row.int(4)).unwrap_or(now),
                id: row.blob(5).map(<[u8]>::to_vec).unwrap_or_default(),
                bulky: row.int(6) == Some(1),
                group: row.int(7).unwrap_or(0),
                due: row.int(8),
            };
            held.extend(row.int(9).map(|number| (number, one)));
            true
        };
        self.held.run(&[Value::Int(first), Value::Int(last), Value::Int(shelf)], row)?;
        Ok(held)
    }

    pub fn remove(&mut self, (first, last): Run) -> Result<(), Failure> {
        self.delete.run(&[Value::Int(first), Value::Int(last)], |_| false)
    }

    /// What of a bulky message lies apart.
    pub fn remove_bulk(&mut self, number: i64) -> Result<(), Failure> {
        self.delete_bulk.run(&[Value::Int(number)], |_| false)
    }
}

/// The first and the last of numbers that follow one another.
pub type Run = (i64, i64);

/// Those who sent or took many messages at once have them in a row, and a statement about a row of them takes little
/// longer than about one. The numbers come in their order.
pub fn runs(numbers: impl IntoIterator<Item = i64>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if number <= *last + 1 => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

/// A message that can be handed out, and what its receiver is given.
pub struct Found {
    pub number: i64,
    pub enqueued: i64,
    pub size: i64,
    pub group: i64,
    pub receives: i64,
    pub sent: i64,
    pub group_name: Option<Vec<u8>>,
    pub given: Given,
}

/// What a row begins with: number, enqueued, size, grp, receives, id, checksum, content. None if it is not plain, or not
/// younger than `horizon`.
pub fn read(row: &Row<'_>, shelf: i64, horizon: i64, ciphers: &Bound<'_, PyDict>) -> Option<Found> {
    let (number, enqueued, size) = (row.int(0)?, row.int(1)?, row.int(2)?);
    let (group, receives) = (row.int(3)?, row.int(4).filter(|receives| *receives >= 0)?);
    let (id, content) = (row.blob(5)?, row.blob(7)?);
    if enqueued <= horizon || checksum(id, content) != row.int(6)? {
        return None;
    }
    let cipher = match key_number(content) {
        Some(number) => Some(ciphers.get_item(number).ok()??.cast_into::<Cipher>().ok()?),
        None => None,
    };
    let plain = opened(content, id, cipher.as_ref().map(Bound::get))?;
    let Content { body, sent, group: group_name, .. } = unpack(&plain)?;
    let mut claim = Vec::with_capacity(CLAIM_BYTES);
    for part in [shelf, enqueued, number] {
        claim.extend_from_slice(&part.to_be_bytes());
    }
    claim.extend_from_slice(&u32::try_from(receives + 1).ok()?.to_be_bytes());
    let (from, group_name) = (body.as_ptr().addr() - plain.as_ptr().addr(), group_name.map(<[u8]>::to_vec));
    let body = from..from + body.len();
    let given = Given { id: id.try_into().ok()?, body, content: plain, claim };
    Some(Found { number, enqueued, size, group, receives, sent, group_name, given })
}

/// The number and the receives in a claim on something of this shelf.
pub fn read_claim(claim: &[u8], shelf: i64) -> Option<(i64, i64)> {
    let claim: &[u8; CLAIM_BYTES] = claim.try_into().ok()?;
    let long = |at: usize| i64::from_be_bytes(claim[at..at + 8].try_into().expect("eight bytes"));
    let receives = u32::from_be_bytes(claim[24..].try_into().expect("four bytes"));
    (long(0) == shelf).then(|| (long(16), receives as i64))
}

/// What Python raised within SQLite, or what SQLite says, as the exception that everyone else knows it by.
impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        Python::attach(|py| {
            PyErr::take(py).unwrap_or_else(|| known_as(py, failure).unwrap_or_else(|unexpected| unexpected))
        })
    }
}

fn known_as(py: Python<'_>, failure: Failure) -> PyResult<PyErr> {
    let known = py.import("apsw")?.call_method1("exception_for", (failure.code,))?;
    Ok(PyErr::from_value(known.get_type().call1((failure.message,))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_one_another_are_a_run() {
        assert_eq!(runs([]), []);
        assert_eq!(runs([7]), [(7, 7)]);
        assert_eq!(runs([1, 2, 3, 5, 6, 9]), [(1, 3), (5, 6), (9, 9)]);
        assert_eq!(runs([1, 1, 2, 2]), [(1, 2)]);
    }
}

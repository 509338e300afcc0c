//! Messages of whole parties put on a shelf of the SQLite store, handed out from it, and taken off it.
//!
//! `stores/sqlite/` says what a shelf is, and its rules; `wholesale.py` there decides when these are followed here, or
//! `round_standard.rs`: for plain messages of a standard queue without groups. Each step is a part of somebody else's
//! transaction, counts nothing and remembers nothing, and leaves to Python whatever it finds that is not plain.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::content::{Cipher, Content};
use crate::journal::{Line, Lines};
use crate::party::Party;
use crate::rows::{Found, Held, Rows, Run, STATES, Spot, read, read_claim, runs};
use crate::sqlite::{self, Connection, Row, Statement, Value};

const FRESH: &str = "SELECT number, enqueued, size, grp, receives, id, checksum, content FROM message
    WHERE number BETWEEN ?1 AND ?2 AND +shelf=?3 AND state=0 AND place IS NULL ORDER BY number";
const DELIVER: &str = "UPDATE message SET state=1, due=?1, receives=1, received=?2, first_received=?2, room=NULL
    WHERE number BETWEEN ?3 AND ?4";

#[pyclass(unsendable)]
pub struct Shelf {
    pub connection: Connection,
    rows: Rows,
    fresh: Statement,
    deliver: Statement,
}

#[pymethods]
impl Shelf {
    /// For the connection that this library was just loaded into.
    #[new]
    fn new() -> PyResult<Shelf> {
        let connection = sqlite::opened().ok_or_else(|| PyValueError::new_err("no connection was opened"))?;
        Ok(Shelf {
            rows: Rows::of(&connection)?,
            fresh: connection.prepare(FRESH)?,
            deliver: connection.prepare(DELIVER)?,
            connection,
        })
    }

    /// Put the messages of a party on a shelf, with numbers from `first` on: visible at once, or hidden until `due`.
    #[allow(clippy::too_many_arguments)]
    pub fn send(
        &mut self,
        party: &mut Party,
        shelf: i64,
        now: i64,
        due: Option<i64>,
        first: i64,
        sender: &str,
        cipher: Option<&Cipher>,
        mut lines: Option<PyRefMut<'_, Lines>>,
    ) -> PyResult<()> {
        party.name_messages();
        for ((entry, id), number) in party.entries.iter().zip(&party.ids).zip(first..) {
            let body = entry.text.as_bytes();
            let content = Content { body, sender: sender.as_bytes(), sent: now, ..Content::default() };
            self.rows.put(&Spot { number, shelf, place: None, due, group: 0 }, id, &content, cipher)?;
            if let Some(lines) = &mut lines {
                let (first, duration_ms) = ([("size", body.len() as i64)], due.map(|due| due - now));
                lines.add(Line { id, first: &first, duration_ms, body: Some(body), ..Line::default() });
            }
        }
        Ok(())
    }

    /// Hand out fresh messages of a shelf, from this number on, in a run that reaches to that one and in those that
    /// follow, to the receivers of a party: `most` to each and `limit` in all, hidden until `due`. How many there were,
    /// the number of the last of them, and to where its run reaches. It ends before the first that is not plain, or not
    /// younger than `horizon`; and whoever would be given that one among others is given nothing here.
    #[allow(clippy::too_many_arguments)]
    pub fn receive(
        &mut self,
        party: &mut Party,
        shelf: i64,
        fresh: (i64, i64),
        most: usize,
        limit: usize,
        now: i64,
        due: i64,
        horizon: i64,
        ciphers: &Bound<'_, PyDict>,
        places: &Bound<'_, PyAny>,
        mut lines: Option<PyRefMut<'_, Lines>>,
    ) -> PyResult<(usize, (i64, i64))> {
        let (mut found, mut odd): (Vec<Found>, bool) = (Vec::new(), false);
        let mut take = |row: &Row<'_>| {
            let one = read(row, shelf, horizon, ciphers);
            let Some(one) = one.filter(|one| one.group == 0 && one.receives == 0 && one.group_name.is_none()) else {
                odd = true;
                return false;
            };
            found.push(one);
            found.len() < limit
        };
        let ((mut since, mut reach), mut more) = (fresh, true);
        let mut next: Vec<Run> = Vec::from_iter((since <= reach).then_some(fresh));
        while more {
            if next.is_empty() {
                next = places.call_method1(intern!(places.py(), "ahead"), (shelf, since))?.extract()?;
            }
            if next.is_empty() {
                break;
            }
            for (first, last) in next.drain(..) {
                reach = last;
                let numbers = [Value::Int(first.max(since)), Value::Int(last), Value::Int(shelf)];
                self.fresh.run(&numbers, |row| {
                    more = take(row);
                    more
                })?;
                if !more {
                    break;
                }
                since = last + 1;
            }
        }
        if odd {
            found.truncate(found.len() / most * most);
        }
        for (first, last) in runs(found.iter().map(|one| one.number)) {
            self.deliver.run(&[Value::Int(due), Value::Int(now), Value::Int(first), Value::Int(last)], |_| false)?;
        }
        let number = found.len();
        let last = found.last().map_or(fresh.0, |one| one.number);
        let reach = if more || odd { last } else { reach };
        party.given.clear();
        for one in found {
            if let Some(lines) = &mut lines {
                let first =
                    [("size", one.size), ("receive_count", 1), ("sent_ms", one.sent), ("first_receive_ms", now)];
                let duration_ms = Some(now - one.enqueued);
                lines.add(Line { id: &one.given.id, first: &first, duration_ms, ..Line::default() });
            }
            party.given.push(one.given);
        }
        party.share_out(most);
        Ok((number, (last, reach)))
    }

    /// Take off a shelf what the claims of a party stand for. How many there were of each state, and their bytes.
    pub fn delete(
        &mut self,
        party: &mut Party,
        shelf: i64,
        now: i64,
        mut lines: Option<PyRefMut<'_, Lines>>,
    ) -> PyResult<([usize; STATES], i64)> {
        let claimed: Vec<(i64, i64)> = party.claims.iter().filter_map(|claim| read_claim(claim, shelf)).collect();
        let mut numbers: Vec<i64> = claimed.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        let mut held: Vec<(i64, Held)> = Vec::with_capacity(numbers.len());
        for run in runs(numbers) {
            held.append(&mut self.rows.held(shelf, run, now)?);
        }
        let (mut states, mut bytes, mut gone) = ([0; STATES], 0, vec![false; held.len()]);
        for (number, receives) in claimed {
            let Ok(place) = held.binary_search_by_key(&number, |(number, _)| *number) else {
                continue;
            };
            let Held { state: Some(state @ 0..4), receives: received, size, since, id, bulky, .. } = &held[place].1
            else {
                continue;
            };
            if gone[place] || *received != Some(receives) {
                continue; // deleted by another of them, or delivered again since
            }
            gone[place] = true;
            if *bulky {
                self.rows.remove_bulk(number)?;
            }
            states[*state as usize] += 1;
            bytes += size;
            if let Some(lines) = &mut lines {
                let first = [("receive_count", receives)];
                lines.add(Line { id, first: &first, duration_ms: Some(now - since), ..Line::default() });
            }
        }
        for run in runs(held.iter().zip(gone).filter_map(|((number, _), gone)| gone.then_some(*number))) {
            self.rows.remove(run)?;
        }
        Ok((states, bytes))
    }
}

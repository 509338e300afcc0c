//! Messages of whole parties on a shelf of a FIFO queue: put there unless they are duplicates, handed out one of a group,
//! and taken off.
//!
//! The rules are those of `stores/sqlite/` (`sending`, `groups`, `lines`, `claims`), row by row instead of many at once;
//! `wholesale_fifo.py` there decides when they are followed here, or `round_fifo.rs`. As in `shelf`, each step is a part of
//! somebody else's transaction and counts nothing for the queue. What is not plain is left to Python: duplicates, delays,
//! messages that are damaged, bulky, dead or expired.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::content::{Cipher, Content};
use crate::journal::{Line, Lines};
use crate::party::{Party, deduplication_id};
use crate::rows::{Found, Held, Rows, STATES, Spot, read, read_claim};
use crate::shelf::Shelf;
use crate::sqlite::{Connection, Failure, Statement, Value};

const READY: i64 = 0;
const IN_FLIGHT: i64 = 1;

const RECALL: &str = "SELECT 1 FROM deduplication WHERE shelf=?1 AND scope=?2 AND name=?3 AND expires>?4";
const REMEMBER: &str = "INSERT INTO deduplication VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT DO UPDATE SET id=excluded.id, sequence=excluded.sequence, expires=excluded.expires";
const GROUP: &str = "SELECT id, head, messages FROM message_group WHERE shelf=?1 AND name=?2";
const BEGIN: &str = "INSERT INTO message_group (shelf, name, last_sent, messages, ready, available, head)
    VALUES (?1, ?2, ?3, 1, 1, ?3, ?4) RETURNING id";
const FOLLOW: &str = "UPDATE message_group SET last_sent=?2, messages=messages+1, ready=ready+1 WHERE id=?1";
const LEAD: &str = "UPDATE message_group SET available=?2, head=?3 WHERE id=?1";
const HEADS: &str = "SELECT m.number, m.enqueued, m.size, m.grp, m.receives, m.id, m.checksum, m.content, m.state,
        m.first_received
    FROM message_group AS g CROSS JOIN message AS m ON m.shelf=g.shelf AND m.grp=g.id AND m.place=g.head
    WHERE g.shelf=?1 AND g.noisy=0 AND g.available IS NOT NULL ORDER BY g.available, g.head";
const DELIVER: &str = "UPDATE message SET state=1, shown=?2, due=?1, receives=receives+1, received=?2,
    first_received=coalesce(first_received, ?2), room=NULL WHERE number=?3";
const BLOCK: &str = "UPDATE message_group SET ready=ready-1, in_flight=in_flight+1, available=NULL WHERE id=?1";
const END: &str = "DELETE FROM message_group WHERE messages=1 AND id=?1";
const LEAVE: &str = "UPDATE message_group SET messages=messages-1, ready=ready-?2, in_flight=in_flight-?3,
    (available, head) = (SELECT CASE state WHEN 0 THEN coalesce(shown, enqueued) END, place FROM message
        WHERE shelf=message_group.shelf AND grp=message_group.id AND place IS NOT NULL ORDER BY place LIMIT 1)
    WHERE id=?1";

#[pyclass(unsendable)]
pub struct FifoShelf {
    connection: Connection,
    rows: Rows,
    recall: Statement,
    remember: Statement,
    group: Statement,
    begin: Statement,
    follow: Statement,
    lead: Statement,
    heads: Statement,
    deliver: Statement,
    block: Statement,
    end: Statement,
    leave: Statement,
}

#[pymethods]
impl FifoShelf {
    /// For the connection of the other one.
    #[new]
    fn new(shelf: PyRef<'_, Shelf>) -> PyResult<FifoShelf> {
        let connection = shelf.connection.clone();
        Ok(FifoShelf {
            rows: Rows::of(&connection)?,
            recall: connection.prepare(RECALL)?,
            remember: connection.prepare(REMEMBER)?,
            group: connection.prepare(GROUP)?,
            begin: connection.prepare(BEGIN)?,
            follow: connection.prepare(FOLLOW)?,
            lead: connection.prepare(LEAD)?,
            heads: connection.prepare(HEADS)?,
            deliver: connection.prepare(DELIVER)?,
            block: connection.prepare(BLOCK)?,
            end: connection.prepare(END)?,
            leave: connection.prepare(LEAVE)?,
            connection,
        })
    }

    /// Whether any message of a party is a duplicate: of another of them, or of one that is remembered. A deduplication
    /// id is the same within a group if `by_group`, and else within the queue.
    pub fn has_duplicates(&mut self, party: &Party, shelf: i64, now: i64, by_group: bool) -> PyResult<bool> {
        let mut seen = HashSet::new();
        for entry in &party.entries {
            let key = (scope(entry.group.as_deref(), by_group), deduplication_id(entry));
            let mut found = false;
            let values = [Value::Int(shelf), Value::Text(key.0), Value::Text(&key.1), Value::Int(now)];
            self.recall.run(&values, |_| {
                found = true;
                false
            })?;
            if found || !seen.insert(key) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Put the messages of a party, none of them a duplicate, on a shelf, visible at once. Their numbers from `first` on
    /// are also their sequence numbers. They are remembered until `expires`. How many groups began.
    #[allow(clippy::too_many_arguments)]
    pub fn send(
        &mut self,
        party: &mut Party,
        shelf: i64,
        now: i64,
        expires: i64,
        first: i64,
        by_group: bool,
        sender: &str,
        cipher: Option<&Cipher>,
        mut lines: Option<PyRefMut<'_, Lines>>,
    ) -> PyResult<usize> {
        party.name_messages();
        party.sequences = (first..).take(party.entries.len()).collect();
        let mut begun = 0;
        for ((entry, id), number) in party.entries.iter().zip(&party.ids).zip(first..) {
            let (body, group, name) = (entry.text.as_bytes(), entry.group.as_deref(), deduplication_id(entry));
            let values = [
                Value::Int(shelf),
                Value::Text(scope(group, by_group)),
                Value::Text(&name),
                Value::Blob(id),
                Value::Int(number),
                Value::Int(expires),
            ];
            self.remember.run(&values, |_| false)?;
            let (joined, first) = self.join(shelf, group.unwrap_or_default(), now, number)?;
            begun += first as usize;
            let group = group.map(str::as_bytes);
            let content = Content {
                body,
                sender: sender.as_bytes(),
                sent: now,
                group,
                deduplication: Some(name.as_bytes()),
                sequence: Some(number),
            };
            let spot = Spot { number, shelf, place: Some(number), due: None, group: joined };
            self.rows.put(&spot, id, &content, cipher)?;
            if let Some(lines) = &mut lines {
                let first = [("size", body.len() as i64)];
                lines.add(Line { id, group, first: &first, body: Some(body), ..Line::default() });
            }
        }
        Ok(begun)
    }

    /// Hand out the heads of groups to the receivers of a party, one to each and `limit` in all, hidden until `due`: how
    /// many there were. None at all if one of them is not plain, not younger than `horizon`, or was received
    /// `most_receives` times: what happens to such a one decides about the next.
    #[allow(clippy::too_many_arguments)]
    pub fn receive(
        &mut self,
        party: &mut Party,
        shelf: i64,
        limit: usize,
        now: i64,
        due: i64,
        horizon: i64,
        most_receives: Option<i64>,
        ciphers: &Bound<'_, PyDict>,
        mut lines: Option<PyRefMut<'_, Lines>>,
    ) -> PyResult<usize> {
        let (mut found, mut plain): (Vec<(Found, i64)>, bool) = (Vec::new(), true);
        self.heads.run(&[Value::Int(shelf)], |row| {
            if row.int(8) != Some(READY) {
                return true;
            }
            let one = read(row, shelf, horizon, ciphers);
            let Some(one) = one.filter(|one| most_receives.is_none_or(|most| one.receives < most)) else {
                plain = false;
                return false;
            };
            found.push((one, row.int(9).unwrap_or(now)));
            found.len() < limit
        })?;
        if !plain {
            return Ok(0);
        }
        let number = found.len();
        party.given.clear();
        for (one, first_received) in found {
            self.deliver.run(&[Value::Int(due), Value::Int(now), Value::Int(one.number)], |_| false)?;
            self.block.run(&[Value::Int(one.group)], |_| false)?;
            if let Some(lines) = &mut lines {
                let first = [
                    ("size", one.size),
                    ("receive_count", one.receives + 1),
                    ("sent_ms", one.sent),
                    ("first_receive_ms", first_received),
                ];
                let (id, group) = (&one.given.id, one.group_name.as_deref());
                let duration_ms = Some(now - one.enqueued);
                lines.add(Line { id, group, first: &first, duration_ms, ..Line::default() });
            }
            party.given.push(one.given);
        }
        party.share_out(1);
        Ok(number)
    }

    /// Take off a shelf what the claims of a party stand for, and refuse those that have expired. How many there were of
    /// each state, their bytes, and how many groups ended.
    pub fn delete(
        &mut self,
        party: &mut Party,
        shelf: i64,
        now: i64,
        mut lines: Option<PyRefMut<'_, Lines>>,
    ) -> PyResult<([usize; STATES], i64, usize)> {
        let (mut states, mut bytes, mut ended) = ([0; STATES], 0, 0);
        party.refused = vec![false; party.claims.len()];
        for (claim, refused) in party.claims.iter().zip(&mut party.refused) {
            let Some((number, receives)) = read_claim(claim, shelf) else {
                continue;
            };
            let Some((_, held)) = self.rows.held(shelf, (number, number), now)?.pop() else {
                continue;
            };
            let in_time = held.due.is_some_and(|due| due > now);
            let Held { state: Some(state @ 0..4), receives: Some(received), size, since, id, bulky, group, .. } = held
            else {
                *refused = true;
                continue;
            };
            if received != receives || !in_time {
                *refused = true;
                continue;
            }
            self.rows.remove((number, number))?;
            if bulky {
                self.rows.remove_bulk(number)?;
            }
            ended += self.left(group, state)? as usize;
            states[state as usize] += 1;
            bytes += size;
            if let Some(lines) = &mut lines {
                let first = [("receive_count", receives)];
                lines.add(Line { id: &id, first: &first, duration_ms: Some(now - since), ..Line::default() });
            }
        }
        Ok((states, bytes, ended))
    }
}

impl FifoShelf {
    /// A message becomes the last of its group: the group's id, and whether it is the first, too. (One statement could do
    /// all of it, and takes twice as long.)
    fn join(&mut self, shelf: i64, name: &str, now: i64, number: i64) -> Result<(i64, bool), Failure> {
        let mut known = None;
        self.group.run(&[Value::Int(shelf), Value::Text(name)], |row| {
            known = Some((row.int(0).unwrap_or(0), row.int(1).is_some(), row.int(2) == Some(0)));
            false
        })?;
        if let Some((group, led, empty)) = known {
            self.follow.run(&[Value::Int(group), Value::Int(now)], |_| false)?;
            if !led {
                self.lead.run(&[Value::Int(group), Value::Int(now), Value::Int(number)], |_| false)?;
            }
            return Ok((group, empty));
        }
        let mut group = 0;
        let values = [Value::Int(shelf), Value::Text(name), Value::Int(now), Value::Int(number)];
        self.begin.run(&values, |row| {
            group = row.int(0).unwrap_or(0);
            true
        })?;
        Ok((group, true))
    }

    /// A message of this state has left its group: whether that was the end of it.
    fn left(&mut self, group: i64, state: i64) -> Result<bool, Failure> {
        if group == 0 {
            return Ok(false);
        }
        self.end.run(&[Value::Int(group)], |_| false)?;
        if self.connection.changes() > 0 {
            return Ok(true);
        }
        let (ready, in_flight) = ((state == READY) as i64, (state == IN_FLIGHT) as i64);
        self.leave.run(&[Value::Int(group), Value::Int(ready), Value::Int(in_flight)], |_| false)?;
        Ok(false)
    }
}

fn scope(group: Option<&str>, by_group: bool) -> &str {
    group.filter(|_| by_group).unwrap_or_default()
}

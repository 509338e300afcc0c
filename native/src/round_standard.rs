//! What a round does to a standard queue.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::party::Party;
use crate::permit::{DELAYED, FRESH, Granted, NOTHING, REACH, READY, Sending, Terms};
use crate::round::Round;
use crate::shelf::Shelf;

impl Round<'_, '_> {
    /// How many messages were received or deleted; None if nothing was done.
    pub fn carry_out(
        &mut self,
        shelf: &mut Shelf,
        party: &mut Party,
        granted: &Arc<Granted>,
    ) -> PyResult<Option<usize>> {
        match granted.terms {
            Terms::Send(ref sending) => self.send(shelf, party, granted, sending),
            Terms::Receive { most, visibility_ms, in_flight } => {
                let limit = self.room(party, granted, most, in_flight);
                self.receive(shelf, party, granted, (most, limit), self.now + visibility_ms)
            }
            Terms::Delete => self.delete(shelf, party, granted),
        }
    }

    fn send(
        &mut self,
        shelf: &mut Shelf,
        party: &mut Party,
        granted: &Arc<Granted>,
        sending: &Sending,
    ) -> PyResult<Option<usize>> {
        let (now, first, lines) = (self.now, self.number + 1, self.lines(granted)?);
        let due = sending.delay_ms.map(|delay| now + delay);
        let cipher = sending.cipher_for(party.entries.len());
        let told = lines.as_ref().map(Bound::borrow_mut);
        shelf.send(party, granted.shelf, now, due, first, &sending.sender, cipher, told)?;
        self.came(party, granted, if due.is_some() { DELAYED } else { READY })?;
        let numbers = granted.numbers(self.py);
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
        (most, limit): (usize, usize),
        due: i64,
    ) -> PyResult<Option<usize>> {
        let (now, numbers, lines) = (self.now, granted.numbers(self.py), self.lines(granted)?);
        let (messages, (last, reach)) = shelf.receive(
            party,
            granted.shelf,
            (numbers[FRESH].get(), numbers[REACH].get()),
            most,
            limit,
            now,
            due,
            now - granted.retention_ms,
            self.ciphers,
            self.runs,
            lines.as_ref().map(Bound::borrow_mut),
        )?;
        if messages == 0 {
            return Ok(None);
        }
        numbers[FRESH].set(last + 1);
        numbers[REACH].set(reach);
        self.delivered(granted, messages, due);
        self.changed(granted, lines);
        Ok(Some(messages))
    }

    fn delete(&mut self, shelf: &mut Shelf, party: &mut Party, granted: &Arc<Granted>) -> PyResult<Option<usize>> {
        let lines = self.lines(granted)?;
        let told = lines.as_ref().map(Bound::borrow_mut);
        let (states, bytes) = shelf.delete(party, granted.shelf, self.now, told)?;
        let messages = self.counted_off(granted, states, bytes);
        if messages > 0 {
            self.changed(granted, lines);
        }
        Ok(Some(messages))
    }
}

//! What a round does to a FIFO queue.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::fifo::FifoShelf;
use crate::party::Party;
use crate::permit::{GROUPS, Granted, Order, PLACED, READY, Sending, Terms};
use crate::round::{Round, add};

impl Round<'_, '_> {
    /// As `carry_out` has it for other queues.
    pub fn carry_out_in_order(
        &mut self,
        shelf: &mut FifoShelf,
        party: &mut Party,
        granted: &Arc<Granted>,
        order: &Order,
    ) -> PyResult<Option<usize>> {
        match granted.terms {
            Terms::Send(ref sending) => self.send_in_order(shelf, party, granted, sending, order),
            Terms::Receive { most, visibility_ms, in_flight } => {
                let limit = self.room(party, granted, most, in_flight);
                self.receive_in_order(shelf, party, granted, (limit, order.most_receives), self.now + visibility_ms)
            }
            Terms::Delete => self.delete_in_order(shelf, party, granted),
        }
    }

    /// Duplicates are left to Python.
    fn send_in_order(
        &mut self,
        shelf: &mut FifoShelf,
        party: &mut Party,
        granted: &Arc<Granted>,
        sending: &Sending,
        order: &Order,
    ) -> PyResult<Option<usize>> {
        let (now, by_group, lines) = (self.now, order.by_group, self.lines(granted)?);
        if shelf.has_duplicates(party, granted.shelf, now, by_group)? {
            return Ok(None);
        }
        let cipher = sending.cipher_for(party.entries.len());
        let begun = shelf.send(
            party,
            granted.shelf,
            now,
            now + order.remembered_ms,
            self.number + 1,
            by_group,
            &sending.sender,
            cipher,
            lines.as_ref().map(Bound::borrow_mut),
        )?;
        self.came(party, granted, READY)?;
        let numbers = granted.numbers(self.py);
        add(&numbers[GROUPS], begun as i64);
        numbers[PLACED].set(1);
        self.changed(granted, lines);
        Ok(Some(0))
    }

    fn receive_in_order(
        &mut self,
        shelf: &mut FifoShelf,
        party: &mut Party,
        granted: &Arc<Granted>,
        (limit, most_receives): (usize, Option<i64>),
        due: i64,
    ) -> PyResult<Option<usize>> {
        let (now, lines) = (self.now, self.lines(granted)?);
        let messages = shelf.receive(
            party,
            granted.shelf,
            limit,
            now,
            due,
            now - granted.retention_ms,
            most_receives,
            self.ciphers,
            lines.as_ref().map(Bound::borrow_mut),
        )?;
        if messages == 0 {
            return Ok(None);
        }
        self.delivered(granted, messages, due);
        self.changed(granted, lines);
        Ok(Some(messages))
    }

    fn delete_in_order(
        &mut self,
        shelf: &mut FifoShelf,
        party: &mut Party,
        granted: &Arc<Granted>,
    ) -> PyResult<Option<usize>> {
        let lines = self.lines(granted)?;
        let told = lines.as_ref().map(Bound::borrow_mut);
        let (states, bytes, ended) = shelf.delete(party, granted.shelf, self.now, told)?;
        let messages = self.counted_off(granted, states, bytes);
        if messages > 0 {
            add(&granted.numbers(self.py)[GROUPS], -(ended as i64));
            self.changed(granted, lines);
        }
        Ok(Some(messages))
    }
}

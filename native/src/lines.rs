//! Lines of the journal about messages that are alike: `core/outbox.py` says what stands in them, and how they are kept.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::content::{pack_array, pack_bytes};
use crate::wire::{number, quote};

/// All lines have in common what stands before their number, between it and the message's id, and behind the values of
/// the message. `seq` is the last number that was given.
#[pyclass]
pub struct Lines {
    before: Vec<u8>,
    between: Vec<u8>,
    behind: Vec<u8>,
    seq: i64,
    bodies: bool,
    written: Vec<u8>,
    rows: Vec<u8>,
    #[pyo3(get)]
    count: u32,
}

#[pymethods]
impl Lines {
    #[new]
    fn new(before: Vec<u8>, between: Vec<u8>, behind: Vec<u8>, seq: i64, bodies: bool) -> Lines {
        Lines { before, between, behind, seq, bodies, written: Vec::new(), rows: Vec::new(), count: 0 }
    }

    /// As they are in the journal, each with its end.
    #[getter]
    fn written<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.written)
    }

    /// What they have in common, the first number, and what they have not.
    #[getter]
    fn packed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut packed = Vec::with_capacity(self.rows.len() + self.before.len() + self.between.len() + 64);
        pack_array(&mut packed, 5);
        for part in [&self.before, &self.between, &self.behind] {
            pack_bytes(&mut packed, part);
        }
        packed.push(0xd3);
        packed.extend_from_slice(&(self.seq - self.count as i64 + 1).to_be_bytes());
        pack_array(&mut packed, self.count * 2);
        packed.extend_from_slice(&self.rows);
        PyBytes::new(py, &packed)
    }
}

impl Lines {
    /// A line about the message of this id, with these values before and behind what all have in common.
    pub fn add(&mut self, id: &[u8], first: &[(&str, i64)], last: Option<(&str, i64)>, body: Option<&[u8]>) {
        self.seq += 1;
        self.count += 1;
        let (mut own, mut end) = (Vec::with_capacity(128), Vec::new());
        own.extend_from_slice(id);
        own.push(b'"');
        for (name, value) in first {
            member(&mut own, name, *value);
        }
        if let Some((name, value)) = last {
            member(&mut end, name, value);
        }
        if let Some(body) = body.filter(|_| self.bodies) {
            end.extend_from_slice(b",\"body\":");
            quote(&mut end, body);
        }
        end.extend_from_slice(b"}\n");
        pack_bytes(&mut self.rows, &own);
        pack_bytes(&mut self.rows, &end);
        let written = &mut self.written;
        written.extend_from_slice(&self.before);
        number(written, self.seq);
        for part in [&self.between, &own, &self.behind, &end] {
            written.extend_from_slice(part);
        }
    }
}

fn member(out: &mut Vec<u8>, name: &str, value: i64) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    number(out, value);
}

//! Lines of the journal about messages: `core/outbox.py` says what is in them, and has the lines for everything else.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::wire::{number, quote};

/// What stands before, between and behind the values of each line. `seq` is the last number given
/// before.
#[pyclass]
pub struct Lines {
    before: Vec<u8>,
    between: Vec<u8>,
    behind: Vec<u8>,
    seq: i64,
    bodies: bool,
    /// How many lines were written.
    #[pyo3(get)]
    number: i64,
    written: Vec<u8>,
}

/// What is said of one message: values in the order of `core/journal.py`, some before and one behind what all lines have
/// in common. The body is left out where bodies are not wanted.
#[derive(Default)]
pub struct Line<'a> {
    pub id: &'a [u8],
    pub group: Option<&'a [u8]>,
    pub first: &'a [(&'a str, i64)],
    pub duration_ms: Option<i64>,
    pub body: Option<&'a [u8]>,
}

#[pymethods]
impl Lines {
    #[new]
    fn new(before: &[u8], between: &[u8], behind: &[u8], seq: i64, bodies: bool) -> Lines {
        let (before, between, behind) = (before.to_vec(), between.to_vec(), behind.to_vec());
        Lines { before, between, behind, seq, bodies, number: 0, written: Vec::new() }
    }

    #[getter]
    fn written<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.written)
    }
}

impl Lines {
    pub fn add(&mut self, line: Line<'_>) {
        self.number += 1;
        if !self.written.is_empty() {
            self.written.push(b'\n');
        }
        self.written.extend_from_slice(&self.before);
        number(&mut self.written, self.seq + self.number);
        self.written.extend_from_slice(&self.between);
        self.written.extend_from_slice(line.id);
        self.written.push(b'"');
        if let Some(group) = line.group {
            self.text("group", group);
        }
        for (name, value) in line.first {
            self.value(name, *value);
        }
        self.written.extend_from_slice(&self.behind);
        if let Some(duration_ms) = line.duration_ms {
            self.value("duration_ms", duration_ms);
        }
        if let Some(body) = line.body.filter(|_| self.bodies) {
            self.text("body", body);
        }
        self.written.push(b'}');
    }

    fn value(&mut self, name: &str, value: i64) {
        self.name(name);
        number(&mut self.written, value);
    }

    fn text(&mut self, name: &str, text: &[u8]) {
        self.name(name);
        quote(&mut self.written, text);
    }

    fn name(&mut self, name: &str) {
        self.written.extend_from_slice(b",\"");
        self.written.extend_from_slice(name.as_bytes());
        self.written.extend_from_slice(b"\":");
    }
}

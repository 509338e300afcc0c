//! Lines of the journal about messages: `core/outbox.py` says what is in them, how they are kept, and has the lines for
//! everything else.

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
        Lines { before, between, behind, seq, bodies, written: Vec::new(), rows: Vec::new(), count: 0 }
    }

    /// As they are in the journal, each with its end.
    #[getter]
    fn written<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.written)
    }

    /// What they have in common, the first number, and what they have not: two pieces for each.
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
    pub fn add(&mut self, line: Line<'_>) {
        self.seq += 1;
        self.count += 1;
        let written = &mut self.written;
        written.extend_from_slice(&self.before);
        number(written, self.seq);
        written.extend_from_slice(&self.between);
        let own = written.len();
        write_id(written, line.id);
        if let Some(group) = line.group {
            name(written, "group");
            quote(written, group);
        }
        for (member, value) in line.first {
            name(written, member);
            number(written, *value);
        }
        pack_bytes(&mut self.rows, &written[own..]);
        written.extend_from_slice(&self.behind);
        let end = written.len();
        if let Some(duration_ms) = line.duration_ms {
            name(written, "duration_ms");
            number(written, duration_ms);
        }
        if let Some(body) = line.body.filter(|_| self.bodies) {
            name(written, "body");
            quote(written, body);
        }
        written.extend_from_slice(b"}\n");
        pack_bytes(&mut self.rows, &written[end..]);
    }
}

/// The rest of a string that has begun. An id may have been damaged on the disk, and the line must not be.
fn write_id(out: &mut Vec<u8>, id: &[u8]) {
    if id.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
        out.extend_from_slice(id);
        out.push(b'"');
        return;
    }
    let readable: String = id.iter().map(|byte| if byte.is_ascii() { *byte as char } else { '\u{fffd}' }).collect();
    let begun = out.len();
    quote(out, readable.as_bytes());
    out.remove(begun);
}

fn name(out: &mut Vec<u8>, member: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(member.as_bytes());
    out.extend_from_slice(b"\":");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_about_a_damaged_id_is_a_line() {
        let mut lines = Lines::new(b"{\"seq\":", b",\"message_id\":\"", b"", 6, false);
        lines.add(Line { id: b"a\"b\n\xff", first: &[("size", 3)], ..Line::default() });
        let expected = "{\"seq\":7,\"message_id\":\"a\\\"b\\n\u{fffd}\",\"size\":3}\n";
        assert_eq!(String::from_utf8(lines.written).unwrap(), expected);
    }
}

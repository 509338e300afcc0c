//! Lines of the journal about messages: `core/outbox.py` says what is in them, how they are kept, and has the lines for
//! everything else. Here they are kept in as few bytes as they can be, and become text in another thread.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::chance::{bits, spelt};
use crate::content::{pack_array, pack_bytes, pack_number, pack_text, unpack_number, unpack_text};
use crate::wire::{number, quote};

/// What was packed begins with it, and no line does. The others are MessagePack's.
pub const PACKED: u8 = 0xc1;
const NIL: u8 = 0xc0;
const NEGATIVE: u8 = 0xd3;
const BYTES: u8 = 0xc4;
const MORE_BYTES: u8 = 0xc5;
const MANY_BYTES: u8 = 0xc6;
const ARRAY: u8 = 0xdd;

/// All lines have in common what stands before their number, between it and the message's id, and behind the values of
/// the message. `seq` is the last number that was given.
#[pyclass]
pub struct Lines {
    common: [Vec<u8>; 3],
    seq: i64,
    bodies: bool,
    names: Vec<&'static str>,
    cells: Vec<u8>,
    #[pyo3(get)]
    pub count: u32,
}

/// What is said of one message: values in the order of `core/journal.py`, some before and one behind what all lines have
/// in common. The body is left out where bodies are not wanted.
#[derive(Default)]
pub struct Line<'a> {
    pub id: &'a [u8],
    pub group: Option<&'a [u8]>,
    pub first: &'a [(&'static str, i64)],
    pub duration_ms: Option<i64>,
    pub body: Option<&'a [u8]>,
}

/// What the lines about the messages of a queue have in common, whenever something happens to them: `between` is behind
/// the time.
pub struct Frame {
    pub before: Vec<u8>,
    pub between: Vec<u8>,
    pub behind: Vec<u8>,
    pub bodies: bool,
}

#[pymethods]
impl Lines {
    #[new]
    fn new(before: &[u8], between: &[u8], behind: &[u8], seq: i64, bodies: bool) -> Lines {
        Lines::within([before, between, behind].map(<[u8]>::to_vec), seq, bodies)
    }

    /// What they have in common, the first number, what their values are called, and what is each line's own.
    #[getter]
    fn packed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.pack())
    }
}

impl Lines {
    fn within(common: [Vec<u8>; 3], seq: i64, bodies: bool) -> Lines {
        Lines { common, seq, bodies, names: Vec::new(), cells: Vec::new(), count: 0 }
    }

    /// Of something that happens now.
    pub fn of(frame: &Frame, now: i64, seq: i64) -> Lines {
        let mut between = Vec::with_capacity(frame.between.len() + 32);
        between.extend_from_slice(b",\"ts_ms\":");
        number(&mut between, now);
        between.extend_from_slice(&frame.between);
        Lines::within([frame.before.clone(), between, frame.behind.clone()], seq, frame.bodies)
    }

    pub fn add(&mut self, line: Line<'_>) {
        self.seq += 1;
        if self.count == 0 {
            self.names = line.first.iter().map(|(name, _)| *name).collect();
        }
        self.count += 1;
        let cells = &mut self.cells;
        pack_id(cells, line.id);
        pack_quoted(cells, line.group);
        for (_, value) in line.first {
            pack_value(cells, *value);
        }
        match line.duration_ms {
            Some(duration_ms) => pack_value(cells, duration_ms),
            None => cells.push(NIL),
        }
        pack_quoted(cells, line.body.filter(|_| self.bodies));
    }

    pub fn pack(&self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(self.cells.len() + 512);
        pack_array(&mut packed, 6);
        self.common.iter().for_each(|part| pack_bytes(&mut packed, part));
        pack_number(&mut packed, self.seq - self.count as i64 + 1);
        pack_array(&mut packed, self.names.len() as u32);
        self.names.iter().for_each(|name| pack_text(&mut packed, name.as_bytes()));
        pack_array(&mut packed, self.count * (self.names.len() as u32 + 4));
        packed.extend_from_slice(&self.cells);
        packed
    }
}

/// An id as messages are given it takes less than half of its letters; of any other, what stands between its quotes.
fn pack_id(cells: &mut Vec<u8>, id: &[u8]) {
    if let Some(bits) = bits(id) {
        return pack_bytes(cells, &bits);
    }
    let readable: String = id.iter().map(|byte| if byte.is_ascii() { *byte as char } else { '\u{fffd}' }).collect();
    let mut quoted = Vec::new();
    quote(&mut quoted, readable.as_bytes());
    pack_text(cells, &quoted[1..quoted.len() - 1]);
}

fn pack_value(cells: &mut Vec<u8>, value: i64) {
    if value >= 0 {
        return pack_number(cells, value);
    }
    cells.push(NEGATIVE);
    cells.extend_from_slice(&value.to_be_bytes());
}

fn pack_quoted(cells: &mut Vec<u8>, text: Option<&[u8]>) {
    let Some(text) = text else {
        return cells.push(NIL);
    };
    let mut quoted = Vec::with_capacity(text.len() + 16);
    quote(&mut quoted, text);
    pack_bytes(cells, &quoted);
}

/// The lines of what was kept, packed or not; None if it is not to be read here.
#[pyfunction]
pub fn unpacked(py: Python<'_>, kept: Vec<PyBackedBytes>) -> Option<Bound<'_, PyBytes>> {
    let lines = py.detach(|| {
        let mut out = Vec::with_capacity(kept.iter().map(|one| one.len() * 10).sum());
        kept.iter().try_for_each(|one| write(&mut out, one)).map(|()| out)
    })?;
    Some(PyBytes::new(py, &lines))
}

fn write(out: &mut Vec<u8>, kept: &[u8]) -> Option<()> {
    let Some(packed) = kept.strip_prefix(&[PACKED]) else {
        out.extend_from_slice(kept);
        return Some(());
    };
    let mut rest = Packed { rest: packed };
    for _ in 0..rest.array()? {
        if rest.rest.first() == Some(&ARRAY) {
            write_alike(out, &mut rest)?;
        } else {
            out.extend_from_slice(rest.bytes()?);
        }
    }
    rest.rest.is_empty().then_some(())
}

fn write_alike(out: &mut Vec<u8>, packed: &mut Packed<'_>) -> Option<()> {
    if packed.array()? != 6 {
        return None;
    }
    let (before, between, behind) = (packed.bytes()?, packed.bytes()?, packed.bytes()?);
    let first = packed.value()?;
    let names: Vec<&[u8]> = (0..packed.array()?).map(|_| packed.text()).collect::<Option<_>>()?;
    let lines = packed.array()? as usize / (names.len() + 4);
    for seq in (first..).take(lines) {
        out.extend_from_slice(before);
        number(out, seq);
        out.extend_from_slice(between);
        match packed.rest.first()? {
            &BYTES => out.extend_from_slice(&spelt(packed.bytes()?.try_into().ok()?)),
            _ => out.extend_from_slice(packed.text()?),
        }
        out.push(b'"');
        if let Some(group) = packed.unless_nil(Packed::bytes)? {
            name(out, b"group");
            out.extend_from_slice(group);
        }
        for member in &names {
            name(out, member);
            number(out, packed.value()?);
        }
        out.extend_from_slice(behind);
        if let Some(duration_ms) = packed.unless_nil(Packed::value)? {
            name(out, b"duration_ms");
            number(out, duration_ms);
        }
        if let Some(body) = packed.unless_nil(Packed::bytes)? {
            name(out, b"body");
            out.extend_from_slice(body);
        }
        out.extend_from_slice(b"}\n");
    }
    Some(())
}

fn name(out: &mut Vec<u8>, member: &[u8]) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(member);
    out.extend_from_slice(b"\":");
}

/// What was packed, from some place on. Each step takes what is there, if it is of that kind.
struct Packed<'a> {
    rest: &'a [u8],
}

impl<'a> Packed<'a> {
    fn after(&mut self, mark: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[mark])?;
        Some(())
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn length(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn array(&mut self) -> Option<u32> {
        self.after(ARRAY)?;
        self.length()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = if self.after(BYTES).is_some() {
            self.take(1)?[0] as usize
        } else if self.after(MORE_BYTES).is_some() {
            u16::from_be_bytes(self.take(2)?.try_into().ok()?) as usize
        } else {
            self.after(MANY_BYTES)?;
            self.length()? as usize
        };
        self.take(length)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let (text, rest) = unpack_text(self.rest)?;
        self.rest = rest;
        Some(text)
    }

    fn value(&mut self) -> Option<i64> {
        if self.after(NEGATIVE).is_some() {
            return Some(i64::from_be_bytes(self.take(8)?.try_into().ok()?));
        }
        let (value, rest) = unpack_number(self.rest)?;
        self.rest = rest;
        Some(value)
    }

    fn unless_nil<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.after(NIL).is_some() { Some(None) } else { take(self).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::uuid;

    fn written(kept: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        write(&mut out, kept).map(|()| out)
    }

    fn kept(lines: &Lines) -> Vec<u8> {
        let mut kept = vec![PACKED];
        pack_array(&mut kept, 2);
        pack_bytes(&mut kept, b"{\"seq\":6}\n");
        kept.extend(lines.pack());
        kept
    }

    #[test]
    fn lines_are_read_as_they_were_told() {
        let mut lines = Lines::new(b"{\"seq\":", b",\"message_id\":\"", b",\"principal\":\"p\"", 6, true);
        let id = uuid();
        lines.add(Line { id: &id, first: &[("size", 3)], duration_ms: Some(-70_000), ..Line::default() });
        lines.add(Line {
            id: b"a\"b\n\xff",
            group: Some(b"g\""),
            first: &[("size", 300)],
            body: Some(&[b'x'; 300]),
            ..Line::default()
        });
        let expected = format!(
            "{{\"seq\":6}}\n{{\"seq\":7,\"message_id\":\"{}\",\"size\":3,\"principal\":\"p\",\"duration_ms\":-70000}}\n\
            {{\"seq\":8,\"message_id\":\"a\\\"b\\n\u{fffd}\",\"group\":\"g\\\"\",\"size\":300,\"principal\":\"p\",\"body\":\"{}\"}}\n",
            std::str::from_utf8(&id).unwrap(),
            "x".repeat(300),
        );
        assert_eq!(String::from_utf8(written(&kept(&lines)).unwrap()).unwrap(), expected);
    }

    /// Python writes their lengths in as few bytes as it takes.
    #[test]
    fn lines_that_python_told_may_be_of_any_length() {
        for (mark, length) in
            [(&[BYTES, 200][..], 200), (&[MORE_BYTES, 1, 0], 256), (&[MANY_BYTES, 0, 1, 0, 0], 65_536)]
        {
            let mut kept = vec![PACKED];
            pack_array(&mut kept, 1);
            kept.extend_from_slice(mark);
            kept.resize(kept.len() + length, b'x');
            assert_eq!(written(&kept), Some(vec![b'x'; length]));
        }
    }

    #[test]
    fn what_is_cut_or_longer_is_not_read() {
        let mut lines = Lines::new(b"{", b",", b"", 6, false);
        lines.add(Line { id: &uuid(), first: &[("size", 3)], ..Line::default() });
        let mut whole = kept(&lines);
        for end in 1..whole.len() {
            assert_eq!(written(&whole[..end]), None);
        }
        whole.push(0);
        assert_eq!(written(&whole), None);
    }
}

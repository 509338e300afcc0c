//! A head that is known, and whether a request with such a head was signed by whom it says.
//!
//! Python reads the first requests of a connection, judges their signatures, and teaches what it found
//! (`http_likeness`, `aws.familiar`): the bytes of the head that stay the same, the values between them that vary, and
//! the canonical request with places for these values. So nothing here knows HTTP's or SigV4's rules. A form only ever
//! says yes; whatever does not fit goes back to Python, which finds the reason and the words.

use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ring::digest::{Context, SHA256, digest};

const BLOCK: usize = 64;
const SIGNATURE_DIGITS: usize = 64;
const SKEW_MS: i64 = 15 * 60 * 1000;
const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    Send,
    SendBatch,
    Receive,
    Delete,
    DeleteBatch,
}

impl Operation {
    const ALL: [Operation; 5] =
        [Operation::Send, Operation::SendBatch, Operation::Receive, Operation::Delete, Operation::DeleteBatch];

    fn named(name: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Operation::Send => "SendMessage",
            Operation::SendBatch => "SendMessageBatch",
            Operation::Receive => "ReceiveMessage",
            Operation::Delete => "DeleteMessage",
            Operation::DeleteBatch => "DeleteMessageBatch",
        }
    }

    pub fn is_batch(self) -> bool {
        matches!(self, Operation::SendBatch | Operation::DeleteBatch)
    }
}

/// A piece of the canonical request: bytes as they are, or the value in one of the holes.
enum Segment {
    Fixed(Vec<u8>),
    Hole(usize),
}

/// The three hashes as far as the date takes them: within one second a client's requests have the same.
struct Begun {
    date: [u8; 16],
    canonical: Context,
    inner: Context,
    signed_at_ms: i64,
}

pub struct Known {
    pub operation: Operation,
    pub length: usize,
    pieces: Vec<(usize, Vec<u8>)>,
    holes: Vec<(usize, usize)>,
    length_hole: usize,
    date_hole: usize,
    signature_hole: usize,
    hash_hole: Option<usize>,
    opening: Vec<Segment>,
    rest: Vec<Segment>,
    pub day: Vec<u8>,
    scope: Vec<u8>,
    inner: Context,
    outer: Context,
    begun: Mutex<Option<Begun>>,
    /// The very key that signatures are checked with: Python looks whether it is still the caller's.
    pub key: Py<PyAny>,
    pub lesson: Py<PyAny>,
}

impl Known {
    /// The length of the body, if `data` begins with such a head.
    pub fn body_length(&self, data: &[u8]) -> Option<usize> {
        let head = data.get(..self.length)?;
        for (at, piece) in &self.pieces {
            if &head[*at..at + piece.len()] != piece.as_slice() {
                return None;
            }
        }
        for (start, end) in &self.holes {
            if !head[*start..*end].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
                return None;
            }
        }
        let digits = self.hole(head, self.length_hole);
        if digits.len() > 7 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(digits.iter().fold(0, |sum, digit| sum * 10 + (digit - b'0') as usize))
    }

    /// Whether such a head may begin with `data`.
    pub fn may_begin(&self, data: &[u8]) -> bool {
        let reach = |at: usize| at.min(data.len());
        data.len() < self.length
            && self.pieces.iter().all(|(at, piece)| piece.starts_with(&data[reach(*at)..reach(at + piece.len())]))
    }

    fn hole<'a>(&self, head: &'a [u8], which: usize) -> &'a [u8] {
        let (start, end) = self.holes[which];
        &head[start..end]
    }

    /// Whether the secret that this form was made with signed exactly this, at a time near `now_ms`.
    pub fn confirms(&self, head: &[u8], body: &[u8], now_ms: i64) -> bool {
        let Ok(date) = <[u8; 16]>::try_from(self.hole(head, self.date_hole)) else {
            return false;
        };
        let mut begun = self.begun.lock().expect("no one panics with it");
        if begun.as_ref().is_none_or(|begun| begun.date != date) {
            *begun = self.begin(head, date);
        }
        let Some(begun) = begun.as_ref() else {
            return false;
        };
        if now_ms < begun.signed_at_ms - SKEW_MS || now_ms >= begun.signed_at_ms + SKEW_MS + 1000 {
            return false;
        }
        let payload_hash: [u8; SIGNATURE_DIGITS] = hex(digest(&SHA256, body).as_ref());
        if self.hash_hole.is_some_and(|hash| self.hole(head, hash) != payload_hash) {
            return false;
        }
        let mut canonical = begun.canonical.clone();
        self.fill(&mut canonical, &self.rest, head);
        canonical.update(&payload_hash);
        let mut inner = begun.inner.clone();
        inner.update(&hex::<SIGNATURE_DIGITS>(canonical.finish().as_ref()));
        let mut outer = self.outer.clone();
        outer.update(inner.finish().as_ref());
        same(&hex::<SIGNATURE_DIGITS>(outer.finish().as_ref()), self.hole(head, self.signature_hole))
    }

    fn begin(&self, head: &[u8], date: [u8; 16]) -> Option<Begun> {
        let signed_at_ms = epoch_ms(&date)?;
        if date[..8] != self.day[..] {
            return None;
        }
        let mut canonical = Context::new(&SHA256);
        self.fill(&mut canonical, &self.opening, head);
        let mut inner = self.inner.clone();
        inner.update(b"AWS4-HMAC-SHA256\n");
        inner.update(&date);
        inner.update(b"\n");
        inner.update(&self.scope);
        inner.update(b"\n");
        Some(Begun { date, canonical, inner, signed_at_ms })
    }

    fn fill(&self, hash: &mut Context, segments: &[Segment], head: &[u8]) {
        for segment in segments {
            match segment {
                Segment::Fixed(bytes) => hash.update(bytes),
                Segment::Hole(which) => hash.update(self.hole(head, *which)),
            }
        }
    }
}

/// For Python: made of what it knows of a head, held by it for as long as the head is remembered.
#[pyclass(frozen)]
pub struct Form {
    pub known: Arc<Known>,
}

#[pymethods]
impl Form {
    /// `holes` are the names and places of the values that vary. `opening` and `rest` are the canonical request up to
    /// the hash of the body: bytes, and names of holes.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        operation: &str,
        head: &[u8],
        holes: Vec<(String, usize, usize)>,
        opening: Vec<Bound<'_, PyAny>>,
        rest: Vec<Bound<'_, PyAny>>,
        scope: &str,
        signing_key: &[u8],
        key: Py<PyAny>,
        lesson: Py<PyAny>,
    ) -> PyResult<Form> {
        let operation = Operation::named(operation).ok_or_else(|| PyValueError::new_err("no such operation"))?;
        let named = |name: &str| holes.iter().position(|(hole, _, _)| hole == name);
        let needed = |name: &str| named(name).ok_or_else(|| PyValueError::new_err(format!("no hole for {name}")));
        let segments = |parts: Vec<Bound<'_, PyAny>>| -> PyResult<Vec<Segment>> {
            parts
                .into_iter()
                .map(|part| match part.extract::<String>() {
                    Ok(name) => needed(&name).map(Segment::Hole),
                    Err(_) => Ok(Segment::Fixed(part.extract::<Vec<u8>>()?)),
                })
                .collect()
        };
        let mut pieces = Vec::new();
        let mut at = 0;
        for (_, start, end) in &holes {
            if !(at <= *start && start < end && *end <= head.len()) {
                return Err(PyValueError::new_err("holes are out of order"));
            }
            pieces.push((at, head[at..*start].to_vec()));
            at = *end;
        }
        pieces.push((at, head[at..].to_vec()));
        let signature_hole = needed("authorization")?;
        if holes[signature_hole].2 - holes[signature_hole].1 != SIGNATURE_DIGITS {
            return Err(PyValueError::new_err("a signature has 64 digits"));
        }
        let (inner, outer) = keyed(signing_key);
        let known = Known {
            operation,
            length: head.len(),
            pieces,
            length_hole: needed("content-length")?,
            date_hole: needed("x-amz-date")?,
            signature_hole,
            hash_hole: named("x-amz-content-sha256"),
            opening: segments(opening)?,
            rest: segments(rest)?,
            day: scope.as_bytes()[..8].to_vec(),
            scope: scope.as_bytes().to_vec(),
            inner,
            outer,
            begun: Mutex::new(None),
            key,
            lesson,
            holes: holes.iter().map(|(_, start, end)| (*start, *end)).collect(),
        };
        Ok(Form { known: Arc::new(known) })
    }

    #[getter]
    fn key(&self, py: Python<'_>) -> Py<PyAny> {
        self.known.key.clone_ref(py)
    }
}

/// HMAC's two hashes, each with the key in it.
fn keyed(key: &[u8]) -> (Context, Context) {
    let mut block = [0u8; BLOCK];
    block[..key.len()].copy_from_slice(key);
    let begun = |pad: u8| {
        let mut hash = Context::new(&SHA256);
        hash.update(&block.map(|byte| byte ^ pad));
        hash
    };
    (begun(0x36), begun(0x5c))
}

/// `N` is twice as many as there are bytes.
pub fn hex<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut digits = [0; N];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[(byte >> 4) as usize];
        pair[1] = DIGITS[(byte & 15) as usize];
    }
    digits
}

/// In a time that does not tell where they differ.
pub fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |found, (one, other)| found | (one ^ other)) == 0
}

/// Of `20261117T103000Z`; None if it is not of this form, or no such time.
fn epoch_ms(date: &[u8; 16]) -> Option<i64> {
    if date[8] != b'T' || date[15] != b'Z' {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        date[from..to].iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + (digit - b'0') as i64))
    };
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(9, 11)?, number(11, 13)?, number(13, 15)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + leap as i64,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year < 1970 || day < 1 || day > longest || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since the epoch, by years that begin in March: so the leap day is a year's last.
    let (shifted, of_year) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = shifted / 400;
    let in_era = shifted - era * 400;
    let days = era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + (153 * of_year + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_as_the_time_it_names() {
        assert_eq!(epoch_ms(b"19700101T000000Z"), Some(0));
        assert_eq!(epoch_ms(b"20240229T235959Z"), Some(1_709_251_199_000));
        assert_eq!(epoch_ms(b"20261117T103000Z"), Some(1_794_911_400_000));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in
            [b"20230229T000000Z", b"20261317T103000Z", b"20261117T243000Z", b"20261117 103000Z", b"2026111xT103000Z"]
        {
            assert_eq!(epoch_ms(text), None);
        }
    }
}

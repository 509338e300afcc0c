//! Which row of the tally has the latest counters of a queue: `stores/sqlite/tally.py` says what that is for.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::content::{pack_array, pack_number};

/// In the ring of rows.
pub const ROWS: i64 = 1000;
const COUNTERS: usize = 6;
const NIL: u8 = 0xc0;

/// Ready, in flight, delayed, bytes, groups, and from which number on messages stand in line as they came.
pub type Counters = [Option<i64>; COUNTERS];

#[pyclass]
#[derive(Default)]
pub struct Ring {
    /// The number of the latest commit.
    #[pyo3(get)]
    pub last: i64,
    latest: HashMap<i64, (i64, Counters)>,
    queues: HashMap<i64, Vec<i64>>,
}

impl Ring {
    pub fn noted(&mut self, number: i64, rows: impl Iterator<Item = (i64, Counters)>) {
        self.last = number;
        let mut queues = Vec::new();
        for (queue, counters) in rows {
            self.latest.insert(queue, (number, counters));
            queues.push(queue);
        }
        self.queues.insert(number, queues);
    }

    pub fn taken(&mut self, number: i64) -> Vec<(i64, Counters)> {
        let mut queues = self.queues.remove(&number).unwrap_or_default();
        queues.retain(|queue| self.latest.get(queue).is_some_and(|(latest, _)| *latest == number));
        queues
            .into_iter()
            .filter_map(|queue| self.latest.remove(&queue).map(|(_, counters)| (queue, counters)))
            .collect()
    }
}

#[pymethods]
impl Ring {
    #[new]
    fn new() -> Ring {
        Ring::default()
    }

    fn note(&mut self, number: i64, rows: Vec<Vec<Option<i64>>>) -> PyResult<()> {
        let told = |row: Vec<Option<i64>>| match &row[..] {
            [Some(queue), counters @ ..] => Some((*queue, Counters::try_from(counters).ok()?)),
            _ => None,
        };
        let rows: Option<Vec<_>> = rows.into_iter().map(told).collect();
        self.noted(number, rows.ok_or_else(|| PyValueError::new_err("these are not counters"))?.into_iter());
        Ok(())
    }

    fn take<'py>(&mut self, py: Python<'py>, number: i64) -> PyResult<Vec<(i64, Bound<'py, PyTuple>)>> {
        self.taken(number).into_iter().map(|(queue, counters)| Ok((queue, PyTuple::new(py, counters)?))).collect()
    }

    fn latest<'py>(&self, py: Python<'py>) -> PyResult<HashMap<i64, Bound<'py, PyTuple>>> {
        self.latest.iter().map(|(queue, (_, counters))| Ok((*queue, PyTuple::new(py, counters)?))).collect()
    }
}

/// As one row has them: MessagePack's array of arrays.
pub fn pack(rows: &[(i64, Counters)]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(rows.len() * 40 + 5);
    pack_array(&mut packed, rows.len() as u32);
    for (queue, counters) in rows {
        packed.push(0x90 | (COUNTERS as u8 + 1));
        pack_number(&mut packed, *queue);
        for counter in counters {
            match counter {
                Some(number) => pack_number(&mut packed, *number),
                None => packed.push(NIL),
            }
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Counters = [Some(1), Some(0), Some(0), Some(5), Some(0), None];

    #[test]
    fn a_queue_is_taken_with_the_latest_commit_that_has_it() {
        let mut ring = Ring::default();
        ring.noted(1, [(7, ONE), (8, ONE)].into_iter());
        ring.noted(2, [(8, [None; 6])].into_iter());
        assert_eq!(ring.taken(1), [(7, ONE)]);
        assert_eq!(ring.taken(1), []);
        assert_eq!(ring.taken(2), [(8, [None; 6])]);
        assert_eq!(ring.last, 2);
    }

    #[test]
    fn counters_are_packed_as_arrays_in_an_array() {
        assert_eq!(pack(&[(300, ONE)]), b"\xdd\0\0\0\x01\x97\xcd\x01\x2c\x01\0\0\x05\0\xc0");
    }
}

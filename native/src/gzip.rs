//! Segments of the journal, compressed: what Python's `gzip` does, in a third of the time, and when nobody else wants the
//! processor.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};
use std::thread;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

/// Lines of JSON shrink to a tenth; the next level takes a tenth longer and gains one in a hundred.
const LEVEL: u32 = 2;
const PIECE_BYTES: usize = 1 << 18;
/// Of a file with no name, made at no time, by nobody knows which system.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
const NICEST: i32 = 19;

/// Compress what is left to read of one open file into another. The sum over it is made here: that of the encoder takes
/// as long as half of the encoding.
///
/// It is done without the interpreter's lock to its end: whoever waits behind all others must not hold it.
#[pyfunction]
pub fn compress(py: Python<'_>, plain: RawFd, packed: RawFd) -> PyResult<()> {
    let nicely = move || {
        // SAFETY: no pointers; 0 is this thread.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICEST) };
        pack(plain, packed)
    };
    match py.detach(|| thread::spawn(nicely).join()) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(PyOSError::new_err((error.raw_os_error(), error.to_string()))),
        Err(_) => Err(PyRuntimeError::new_err("a segment could not be compressed")),
    }
}

fn pack(plain: RawFd, packed: RawFd) -> io::Result<()> {
    // SAFETY: whoever opened them closes them, and not before this has returned.
    let open = |file| ManuallyDrop::new(unsafe { File::from_raw_fd(file) });
    let (plain, packed) = (open(plain), open(packed));
    (&*packed).write_all(&HEAD)?;
    let mut encoder = DeflateEncoder::new(&*packed, Compression::new(LEVEL));
    let (mut piece, mut sum, mut length) = (vec![0; PIECE_BYTES], crc32fast::Hasher::new(), 0u32);
    loop {
        match (&*plain).read(&mut piece)? {
            0 => break,
            count => {
                sum.update(&piece[..count]);
                length = length.wrapping_add(count as u32);
                encoder.write_all(&piece[..count])?;
            }
        }
    }
    encoder.finish()?;
    (&*packed).write_all(&[sum.finalize().to_le_bytes(), length.to_le_bytes()].concat())
}

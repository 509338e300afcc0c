//! The log of a database, written in large pieces.
//!
//! SQLite writes a commit to its write-ahead log page by page, in two pieces each, and then syncs it. To a file system the
//! same bytes in a few large pieces are half the work. So they are gathered here up to the last page of a commit, or until
//! something may look at the file: a sync, say. Where they go, their order, and what is on the disk when a sync has
//! returned is as SQLite has it.
//!
//! Only for files that need no padding up to a sector's end: with it, a page is written in parts.

use std::ffi::{c_int, c_void};

use crate::file::{File, Instead, Methods, replace};
use crate::sqlite::{Connection, OK};

const VERSION: c_int = 1;
const POWERSAFE_OVERWRITE: c_int = 0x1000;
/// Asks for the file of the log, or of the journal where there is none.
const JOURNAL_POINTER: c_int = 28;
/// What a page of the log begins with: its number, and the database's size if it is the last of a commit, else 0.
const HEAD_BYTES: usize = 24;
const SIZE: std::ops::Range<usize> = 4..8;
/// The largest page that SQLite knows: files need not take more at once, and those of Unix do not.
const MOST_BYTES: usize = 1 << 16;

/// What was gathered belongs at `start`.
struct Pages {
    start: i64,
    gathered: Vec<u8>,
    /// Whether the next piece is the last page of a commit.
    ends: bool,
}

type Log = Instead<Pages>;

/// Gather what is written to the log of a connection from now on, if it has one.
pub fn gather(connection: &Connection) {
    replace(connection, JOURNAL_POINTER, |file, own| {
        let methods = Methods { version: VERSION, close, read, write, truncate, sync, size, control, ..*own };
        let nothing = Pages { start: 0, gathered: Vec::new(), ends: false };
        // SAFETY: the file is open.
        let powersafe = unsafe { (own.traits)(file) } & POWERSAFE_OVERWRITE != 0;
        powersafe.then_some((methods, nothing))
    });
}

impl Log {
    fn end(&self) -> i64 {
        self.state.start + self.state.gathered.len() as i64
    }

    /// Whatever is to be written is written now. If that fails, whoever asks is told, and it is not tried again.
    fn write_out(&mut self) -> c_int {
        if self.state.gathered.is_empty() {
            return OK;
        }
        let (bytes, count) = (self.state.gathered.as_ptr().cast(), self.state.gathered.len() as c_int);
        // SAFETY: the file is open.
        let code = unsafe { (self.own().write)(self.file, bytes, count, self.state.start) };
        self.state.gathered.clear();
        code
    }
}

// SAFETY (of all that follows): SQLite calls these of a file that has them, one at a time, with what it says it brings.

unsafe extern "C" fn write(file: *mut File, bytes: *const c_void, count: c_int, at: i64) -> c_int {
    let (log, bytes) = unsafe { (Log::of(file), std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize)) };
    if at != log.end() || log.state.gathered.len() + bytes.len() > MOST_BYTES {
        let code = log.write_out();
        if code != OK {
            return code;
        }
        log.state.start = at;
    }
    log.state.gathered.extend_from_slice(bytes);
    let over = std::mem::replace(&mut log.state.ends, bytes.len() == HEAD_BYTES && bytes[SIZE] != [0; 4]);
    if over { log.write_out() } else { OK }
}

/// Write out, and then do what is asked for.
unsafe fn then(file: *mut File, what: impl FnOnce(&'static Methods) -> c_int) -> c_int {
    let log = unsafe { Log::of(file) };
    match log.write_out() {
        OK => what(log.own()),
        code => code,
    }
}

unsafe extern "C" fn read(file: *mut File, to: *mut c_void, count: c_int, at: i64) -> c_int {
    unsafe { then(file, |own| (own.read)(file, to, count, at)) }
}

// SAFETY: as above.

unsafe extern "C" fn truncate(file: *mut File, size: i64) -> c_int {
    unsafe { then(file, |own| (own.truncate)(file, size)) }
}

unsafe extern "C" fn sync(file: *mut File, flags: c_int) -> c_int {
    unsafe { then(file, |own| (own.sync)(file, flags)) }
}

unsafe extern "C" fn size(file: *mut File, to: *mut i64) -> c_int {
    unsafe { then(file, |own| (own.size)(file, to)) }
}

unsafe extern "C" fn control(file: *mut File, what: c_int, with: *mut c_void) -> c_int {
    unsafe { then(file, |own| (own.control)(file, what, with)) }
}

/// What was written and not synced belongs to no commit, and is written nevertheless.
unsafe extern "C" fn close(file: *mut File) -> c_int {
    let code = unsafe { Log::of(file) }.write_out();
    let closed = unsafe { Log::close(file) };
    if code == OK { closed } else { code }
}

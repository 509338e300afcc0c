//! The log of a database, written in large pieces.
//!
//! SQLite writes a commit to its write-ahead log page by page, in two pieces each, and then syncs it. To a file system the
//! same bytes in a few large pieces are half the work. So they are gathered here up to the last page of a commit, or until
//! something may look at the file: a sync, say. Where they go, their order, and what is on the disk when a sync has
//! returned is as SQLite has it.
//!
//! Only for files that need no padding up to a sector's end: with it, a page is written in parts.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use crate::sqlite::{Connection, OK};

/// A file of SQLite's. Behind this are things that only whoever opened it knows.
#[repr(C)]
struct File {
    methods: *const Methods,
}

/// As SQLite has them (`sqlite3_io_methods`), up to those that files other than a log need.
#[repr(C)]
struct Methods {
    version: c_int,
    close: unsafe extern "C" fn(*mut File) -> c_int,
    read: unsafe extern "C" fn(*mut File, *mut c_void, c_int, i64) -> c_int,
    write: unsafe extern "C" fn(*mut File, *const c_void, c_int, i64) -> c_int,
    truncate: unsafe extern "C" fn(*mut File, i64) -> c_int,
    sync: unsafe extern "C" fn(*mut File, c_int) -> c_int,
    size: unsafe extern "C" fn(*mut File, *mut i64) -> c_int,
    lock: unsafe extern "C" fn(*mut File, c_int) -> c_int,
    unlock: unsafe extern "C" fn(*mut File, c_int) -> c_int,
    is_reserved: unsafe extern "C" fn(*mut File, *mut c_int) -> c_int,
    control: unsafe extern "C" fn(*mut File, c_int, *mut c_void) -> c_int,
    sector_bytes: unsafe extern "C" fn(*mut File) -> c_int,
    traits: unsafe extern "C" fn(*mut File) -> c_int,
}

const VERSION: c_int = 1;
const POWERSAFE_OVERWRITE: c_int = 0x1000;
/// Asks for the file of the log, or of the journal where there is none.
const JOURNAL_POINTER: c_int = 28;
/// What a page of the log begins with: its number, and the database's size if it is the last of a commit, else 0.
const HEAD_BYTES: usize = 24;
const SIZE: std::ops::Range<usize> = 4..8;
/// The largest page that SQLite knows: files need not take more at once, and those of Unix do not.
const MOST_BYTES: usize = 1 << 16;

/// In place of a file's own methods. What was gathered belongs at `start`.
#[repr(C)]
struct Log {
    /// First: a pointer to it is a pointer to all of this.
    methods: Methods,
    own: *const Methods,
    start: i64,
    gathered: Vec<u8>,
    /// Whether the next piece is the last page of a commit.
    ends: bool,
}

/// Gather what is written to the log of a connection from now on, if it has one.
pub fn gather(connection: &Connection) {
    let mut file: *mut File = null_mut();
    if connection.control(JOURNAL_POINTER, (&raw mut file).cast()) != OK || file.is_null() {
        return;
    }
    // SAFETY: SQLite has opened the file if it has methods, and keeps it where it is until it closes it.
    unsafe {
        let own = (*file).methods;
        if own.is_null() || ((*own).traits)(file) & POWERSAFE_OVERWRITE == 0 {
            return;
        }
        let methods = Methods {
            version: VERSION,
            close,
            read,
            write,
            truncate,
            sync,
            size,
            control,
            lock: (*own).lock,
            unlock: (*own).unlock,
            is_reserved: (*own).is_reserved,
            sector_bytes: (*own).sector_bytes,
            traits: (*own).traits,
        };
        let log = Box::new(Log { methods, own, start: 0, gathered: Vec::new(), ends: false });
        (*file).methods = Box::into_raw(log).cast();
    }
}

impl Log {
    /// # Safety
    /// The file has these methods, and is used by nobody else meanwhile.
    unsafe fn of<'a>(file: *mut File) -> &'a mut Log {
        // SAFETY: `gather` put it there.
        unsafe { &mut *(*file).methods.cast_mut().cast() }
    }

    fn own(&self) -> &'static Methods {
        // SAFETY: they live as long as the file is open.
        unsafe { &*self.own }
    }

    fn end(&self) -> i64 {
        self.start + self.gathered.len() as i64
    }

    /// Whatever is to be written is written now. If that fails, whoever asks is told, and it is not tried again.
    unsafe fn write_out(&mut self, file: *mut File) -> c_int {
        if self.gathered.is_empty() {
            return OK;
        }
        let (bytes, count) = (self.gathered.as_ptr().cast(), self.gathered.len() as c_int);
        let code = unsafe { (self.own().write)(file, bytes, count, self.start) };
        self.gathered.clear();
        code
    }
}

// SAFETY (of all that follows): SQLite calls these of a file that has them, one at a time, with what it says it brings.

unsafe extern "C" fn write(file: *mut File, bytes: *const c_void, count: c_int, at: i64) -> c_int {
    let (log, bytes) = unsafe { (Log::of(file), std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize)) };
    if at != log.end() || log.gathered.len() + bytes.len() > MOST_BYTES {
        let code = unsafe { log.write_out(file) };
        if code != OK {
            return code;
        }
        log.start = at;
    }
    log.gathered.extend_from_slice(bytes);
    let over = std::mem::replace(&mut log.ends, bytes.len() == HEAD_BYTES && bytes[SIZE] != [0; 4]);
    if over { unsafe { log.write_out(file) } } else { OK }
}

/// Write out, and then do what is asked for.
unsafe fn then(file: *mut File, what: impl FnOnce(&'static Methods) -> c_int) -> c_int {
    let log = unsafe { Log::of(file) };
    match unsafe { log.write_out(file) } {
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
    // SAFETY: it was made by `gather`, and the file has its own methods again before it is gone.
    let mut log = unsafe { Box::from_raw((*file).methods.cast_mut().cast::<Log>()) };
    unsafe {
        let code = log.write_out(file);
        (*file).methods = log.own;
        let closed = (log.own().close)(file);
        if code == OK { closed } else { code }
    }
}

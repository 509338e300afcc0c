//! The log of a database, kept in memory as well, and written in large pieces past the system's cache.
//!
//! SQLite writes a commit to its write-ahead log page by page, in two pieces each, and then syncs it. To a file system the
//! same bytes in a few large pieces are half the work. So they are gathered here up to the last page of a commit, or until
//! something may look at the file: a sync, say. And they are written in whole blocks, which a disk takes from where they
//! lie (`O_DIRECT`): otherwise the system copies them, and the sync looks for the copies. Nor need the log be read from
//! the file again, by a receive or when it is copied into the database. What goes where, in which order, and what is on
//! the disk when a sync has returned is as SQLite has it; behind the last page, up to the end of its block, is what was
//! there before.
//!
//! Only for files that need no padding up to a sector's end: with it, a page is written in parts, and a block of which a
//! part is to stay must not be written again. A log that is longer than what is kept of it here, because somebody reads
//! for long, is left to SQLite until it begins anew.

use std::ffi::{OsString, c_int, c_void};
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::ptr::null_mut;

use crate::file::{File, Instead, Methods, replace};
use crate::sqlite::{Connection, OK};

const VERSION: c_int = 1;
const POWERSAFE_OVERWRITE: c_int = 0x1000;
/// Asks for the file of the log, or of the journal where there is none.
const JOURNAL_POINTER: c_int = 28;
/// What a page of the log begins with: its number, and the database's size if it is the last of a commit, else 0.
const HEAD_BYTES: usize = 24;
const SIZE: Range<usize> = 4..8;
/// The largest page that SQLite knows: files need not take more at once, and those of Unix do not.
const MOST_BYTES: usize = 1 << 16;
/// Past the cache each write waits for the disk, so there is one for nearly every commit.
const MOST_PAST_CACHE: usize = 1 << 20;
/// What disks store at once, and more than most of them do.
const BLOCK_BYTES: usize = 4096;
/// Of a log: half as much again as the longest that is kept by us (`stores/sqlite/file.py`).
const KEPT_BYTES: usize = 96 << 20;
/// SQLite's own files, without anything in between that wants to see what goes by.
const OWN_FILES: &[u8] = b"unix";

/// Room for a log, where blocks begin at addresses that disks can read. None of it is taken before it is used.
struct Room(*mut u8);

impl Room {
    fn new() -> Option<Room> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, which belongs to nobody else.
        let room = unsafe { libc::mmap(null_mut(), KEPT_BYTES, protection, flags | libc::MAP_NORESERVE, -1, 0) };
        (room != libc::MAP_FAILED).then_some(Room(room.cast()))
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: it is ours, and filled with zeros where it was not written.
        unsafe { std::slice::from_raw_parts_mut(self.0, KEPT_BYTES) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: `new` made it.
        unsafe { libc::munmap(self.0.cast(), KEPT_BYTES) };
    }
}

struct Kept {
    room: Room,
    /// Up to here it is as the file, but for what is gathered; None if the log is left to SQLite.
    length: Option<usize>,
    gathered: Range<usize>,
    /// Whether the next piece is the last page of a commit.
    ends: bool,
    past_cache: Option<fs::File>,
}

type Log = Instead<Kept>;

/// Keep what is written to the log of a connection from now on, if it has one, and gather it.
pub fn gather(connection: &Connection) {
    replace(connection, JOURNAL_POINTER, |file, own| {
        let methods = Methods { version: VERSION, close, read, write, truncate, sync, size, control, ..*own };
        // SAFETY: the file is open.
        let powersafe = unsafe { (own.traits)(file) } & POWERSAFE_OVERWRITE != 0;
        let mut room = Room::new().filter(|_| powersafe)?;
        let length = filled(&mut room, file, own);
        Some((methods, Kept { room, length, gathered: 0..0, ends: false, past_cache: past_cache(connection) }))
    });
}

/// As much as the file has, if there is room for it.
fn filled(room: &mut Room, file: *mut File, own: &Methods) -> Option<usize> {
    let mut size = 0;
    // SAFETY: the file is open, and there is room for what it writes.
    unsafe {
        let known = (own.size)(file, &mut size) == OK && (0..KEPT_BYTES as i64).contains(&size);
        (known && (own.read)(file, room.0.cast(), size as c_int, 0) == OK).then_some(size as usize)
    }
}

/// The log once more, for writing past the system's cache, if SQLite itself has opened it and its file system can.
fn past_cache(connection: &Connection) -> Option<fs::File> {
    let own = connection.file_system().is_some_and(|name| name == OWN_FILES);
    let log = OsString::from_vec([connection.path()?, b"-wal"].concat());
    fs::OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(log).ok().filter(|_| own)
}

impl Log {
    fn put(&mut self, bytes: &[u8], at: usize) -> c_int {
        if at == 0 && self.state.length.is_none() {
            self.state.length = Some(0);
            self.state.gathered = 0..0;
        }
        if at != self.state.gathered.end {
            let code = self.write_out();
            if code != OK {
                return code;
            }
            self.state.gathered = at..at;
        }
        let end = at + bytes.len();
        let Some(length) = self.state.length.filter(|_| end <= KEPT_BYTES) else {
            return self.leave_to_sqlite(bytes, at);
        };
        self.state.room.bytes()[at..end].copy_from_slice(bytes);
        self.state.gathered.end = end;
        self.state.length = Some(length.max(end));
        let over = std::mem::replace(&mut self.state.ends, bytes.len() == HEAD_BYTES && bytes[SIZE] != [0; 4]);
        if over {
            self.write_out()
        } else if self.state.gathered.len() >= self.most() {
            self.write_up_to(end - end % BLOCK_BYTES)
        } else {
            OK
        }
    }

    fn leave_to_sqlite(&mut self, bytes: &[u8], at: usize) -> c_int {
        let code = self.write_out();
        if code != OK {
            return code;
        }
        self.state.length = None;
        // SAFETY: the file is open.
        unsafe { (self.own().write)(self.file, bytes.as_ptr().cast(), bytes.len() as c_int, at as i64) }
    }

    /// To be written at once.
    fn most(&self) -> usize {
        if self.state.past_cache.is_some() { MOST_PAST_CACHE } else { MOST_BYTES }
    }

    /// Whatever is gathered, up to the end of its last block.
    fn write_out(&mut self) -> c_int {
        self.write_up_to(self.state.gathered.end.next_multiple_of(BLOCK_BYTES))
    }

    /// If it fails, whoever asks is told, and it is not tried again.
    fn write_up_to(&mut self, end: usize) -> c_int {
        while !self.state.gathered.is_empty() && self.state.gathered.start < end {
            let start = self.state.gathered.start - self.state.gathered.start % BLOCK_BYTES;
            let next = end.min(start + self.most());
            let code = self.write_blocks(start..next);
            self.state.gathered.start =
                if code == OK { next.min(self.state.gathered.end) } else { self.state.gathered.end };
            if code != OK {
                return code;
            }
        }
        OK
    }

    /// What does not go past the cache, SQLite writes in its way: it knows what to say of a disk that is full, or fails.
    fn write_blocks(&mut self, blocks: Range<usize>) -> c_int {
        let (at, own) = (blocks.start, self.own());
        let bytes = &self.state.room.bytes()[blocks];
        let written = self.state.past_cache.as_ref().map(|file| file.write_all_at(bytes, at as u64));
        match written {
            Some(Ok(())) => return OK,
            Some(Err(error)) if error.raw_os_error() == Some(libc::EINVAL) => self.state.past_cache = None,
            _ => {}
        }
        let write = |piece: &[u8], at: usize| {
            // SAFETY: the file is open.
            unsafe { (own.write)(self.file, piece.as_ptr().cast(), piece.len() as c_int, at as i64) }
        };
        let pieces = bytes.chunks(MOST_BYTES).zip((at..).step_by(MOST_BYTES));
        pieces.map(|(piece, at)| write(piece, at)).find(|code| *code != OK).unwrap_or(OK)
    }

    /// What is kept of the file at this place, if it is all kept.
    fn kept(&mut self, at: usize, count: usize) -> Option<&[u8]> {
        let length = self.state.length?;
        (at + count <= length).then(|| &self.state.room.bytes()[at..at + count])
    }
}

// SAFETY (of all that follows): SQLite calls these of a file that has them, one at a time, with what it says it brings.

unsafe extern "C" fn write(file: *mut File, bytes: *const c_void, count: c_int, at: i64) -> c_int {
    let (log, bytes) = unsafe { (Log::of(file), std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize)) };
    log.put(bytes, at as usize)
}

unsafe extern "C" fn read(file: *mut File, to: *mut c_void, count: c_int, at: i64) -> c_int {
    let log = unsafe { Log::of(file) };
    if let Some(bytes) = log.kept(at as usize, count as usize) {
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
        return OK;
    }
    unsafe { then(file, |own| (own.read)(file, to, count, at)) }
}

/// Write out, and then do what is asked for.
unsafe fn then(file: *mut File, what: impl FnOnce(&'static Methods) -> c_int) -> c_int {
    let log = unsafe { Log::of(file) };
    match log.write_out() {
        OK => what(log.own()),
        code => code,
    }
}

// SAFETY: as above.

unsafe extern "C" fn truncate(file: *mut File, size: i64) -> c_int {
    let kept = unsafe { &mut Log::of(file).state };
    kept.length = kept.length.map(|length| length.min(size as usize));
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

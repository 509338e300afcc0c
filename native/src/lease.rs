//! Locks of the log's index that are kept from one transaction to the next.
//!
//! For every transaction SQLite asks the system for six locks on bytes of the index, and gives them back: it does not know
//! whether anybody else is there. Hardly ever anybody is, and they only read: of programs that write there is one. So
//! what is given back here is kept until it is in the way:
//!
//! - The right to write is kept for good. Nobody else may have it while this connection is open.
//! - One right to read is kept, and given back before another is asked for. While there is one, SQLite is not given the
//!   lock with which it would move the mark that belongs to it up to the latest commit. So it goes on with an older mark,
//!   which is right, too: a mark says how far the log may be copied into the database under its reader's eyes.
//! - Whoever copies the log into the database gets every lock as ever, and what is kept is given back to him first. He is
//!   the one who has the lock of a checkpoint, and he is on this connection.
//!
//! Others, who take their locks as ever, find what they would find in the midst of a transaction.

use std::ffi::c_int;
use std::ops::Range;

use crate::file::{File, Instead, Methods, ShmLock, ShmUnmap, replace};
use crate::sqlite::{Connection, OK};

const BUSY: c_int = 5;
/// Asks for the file of the database.
const FILE_POINTER: c_int = 7;
/// Of the methods that files of a database with a log have.
const VERSION: c_int = 2;

/// What is asked for.
const LOCK_SHARED: c_int = 2 | 4;
const UNLOCK_SHARED: c_int = 1 | 4;
const LOCK_EXCLUSIVE: c_int = 2 | 8;
const UNLOCK_EXCLUSIVE: c_int = 1 | 8;

/// Places of locks.
const WRITE: Range<c_int> = 0..1;
const CHECKPOINT: Range<c_int> = 1..2;
const READ: Range<c_int> = 3..8;
/// Of those who read the database and nothing in the log: they need no mark.
const READ_DATABASE: c_int = READ.start;

struct Locks {
    own_lock: ShmLock,
    own_unmap: ShmUnmap,
    may_write: bool,
    /// A right to read, and whether SQLite wants it or it is only kept.
    read: Option<(c_int, bool)>,
    checkpoints: bool,
}

type Lease = Instead<Locks>;

/// Keep the locks of a connection from now on, if its database has a log.
pub fn keep(connection: &Connection) {
    replace(connection, FILE_POINTER, |_, own| {
        let (own_lock, own_unmap) = (own.shm_lock?, own.shm_unmap?);
        let methods = Methods { close, shm_lock: Some(shm_lock), shm_unmap: Some(shm_unmap), ..*own };
        let nothing = Locks { own_lock, own_unmap, may_write: false, read: None, checkpoints: false };
        (own.version >= VERSION).then_some((methods, nothing))
    });
}

impl Lease {
    /// As SQLite would, of the file itself.
    fn ask(&self, what: c_int, places: Range<c_int>) -> c_int {
        // SAFETY: the file is open.
        unsafe { (self.state.own_lock)(self.file, places.start, places.end - places.start, what) }
    }

    fn lock_shared(&mut self, place: c_int) -> c_int {
        if self.state.read.is_none_or(|(kept, _)| kept != place) {
            self.give_back_read(READ);
            let code = self.ask(LOCK_SHARED, place..place + 1);
            if code != OK || self.state.read.is_some() {
                return code;
            }
        }
        self.state.read = Some((place, true));
        OK
    }

    fn unlock_shared(&mut self, place: c_int) -> c_int {
        if self.state.read == Some((place, true)) {
            self.state.read = Some((place, false));
            return OK;
        }
        self.ask(UNLOCK_SHARED, place..place + 1)
    }

    fn lock_exclusive(&mut self, places: Range<c_int>) -> c_int {
        if self.state.may_write && places == WRITE {
            return OK;
        }
        let marked = self.state.read.is_some_and(|(kept, wanted)| !wanted && kept != READ_DATABASE);
        if marked && !self.state.checkpoints && places.len() == 1 && READ.contains(&places.start) {
            return BUSY;
        }
        self.give_back_read(places.clone());
        let code = self.ask(LOCK_EXCLUSIVE, places.clone());
        self.state.may_write |= code == OK && places == WRITE;
        self.state.checkpoints |= code == OK && places == CHECKPOINT;
        code
    }

    fn unlock_exclusive(&mut self, places: Range<c_int>) -> c_int {
        if self.state.may_write && places == WRITE {
            return OK;
        }
        self.state.checkpoints &= places != CHECKPOINT;
        self.ask(UNLOCK_EXCLUSIVE, places)
    }

    /// The right to read, if it is only kept, and one of these.
    fn give_back_read(&mut self, places: Range<c_int>) {
        if let Some((place, false)) = self.state.read
            && places.contains(&place)
        {
            self.state.read = None;
            self.ask(UNLOCK_SHARED, place..place + 1);
        }
    }

    fn give_back_all(&mut self) {
        self.give_back_read(READ);
        if std::mem::take(&mut self.state.may_write) {
            self.ask(UNLOCK_EXCLUSIVE, WRITE);
        }
    }
}

// SAFETY (of all that follows): SQLite calls these of a file that has them, one at a time, with what it says it brings.

unsafe extern "C" fn shm_lock(file: *mut File, place: c_int, count: c_int, what: c_int) -> c_int {
    let (lease, places) = (unsafe { Lease::of(file) }, place..place + count);
    match what {
        LOCK_SHARED if READ.contains(&place) => lease.lock_shared(place),
        UNLOCK_SHARED => lease.unlock_shared(place),
        LOCK_EXCLUSIVE => lease.lock_exclusive(places),
        UNLOCK_EXCLUSIVE => lease.unlock_exclusive(places),
        _ => lease.ask(what, places),
    }
}

/// Whoever uses the index no more has no locks on it.
unsafe extern "C" fn shm_unmap(file: *mut File, remove: c_int) -> c_int {
    let lease = unsafe { Lease::of(file) };
    lease.give_back_all();
    unsafe { (lease.state.own_unmap)(file, remove) }
}

unsafe extern "C" fn close(file: *mut File) -> c_int {
    unsafe { Lease::close(file) }
}

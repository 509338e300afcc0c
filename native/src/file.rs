//! Files of SQLite's, with something of ours between it and them.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use crate::sqlite::{Connection, OK};

/// Behind this are things that only whoever opened it knows.
#[repr(C)]
pub struct File {
    methods: *const Methods,
}

pub type ShmLock = unsafe extern "C" fn(*mut File, c_int, c_int, c_int) -> c_int;
pub type ShmUnmap = unsafe extern "C" fn(*mut File, c_int) -> c_int;

/// As SQLite has them (`sqlite3_io_methods`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Methods {
    pub version: c_int,
    pub close: unsafe extern "C" fn(*mut File) -> c_int,
    pub read: unsafe extern "C" fn(*mut File, *mut c_void, c_int, i64) -> c_int,
    pub write: unsafe extern "C" fn(*mut File, *const c_void, c_int, i64) -> c_int,
    pub truncate: unsafe extern "C" fn(*mut File, i64) -> c_int,
    pub sync: unsafe extern "C" fn(*mut File, c_int) -> c_int,
    pub size: unsafe extern "C" fn(*mut File, *mut i64) -> c_int,
    pub lock: *const c_void,
    pub unlock: *const c_void,
    pub is_reserved: *const c_void,
    pub control: unsafe extern "C" fn(*mut File, c_int, *mut c_void) -> c_int,
    pub sector_bytes: *const c_void,
    pub traits: unsafe extern "C" fn(*mut File) -> c_int,
    // For an index in shared memory, from the second version on
    pub shm_map: *const c_void,
    pub shm_lock: Option<ShmLock>,
    pub shm_barrier: *const c_void,
    pub shm_unmap: Option<ShmUnmap>,
    // From the third version on
    pub fetch: *const c_void,
    pub unfetch: *const c_void,
}

/// Methods in place of a file's own, and what they remember.
#[repr(C)]
pub struct Instead<T> {
    /// First: a pointer to it is a pointer to all of this.
    methods: Methods,
    own: *const Methods,
    pub file: *mut File,
    pub state: T,
}

/// Put something between SQLite and a file that `which` asks a connection for, if there is such a file and `make` wants
/// it: from the file and its own methods it makes those that are to take their place, and what they remember.
pub fn replace<T>(
    connection: &Connection,
    which: c_int,
    make: impl FnOnce(*mut File, &'static Methods) -> Option<(Methods, T)>,
) {
    let mut file: *mut File = null_mut();
    if connection.control(which, (&raw mut file).cast()) != OK || file.is_null() {
        return;
    }
    // SAFETY: SQLite has opened the file if it has methods, and keeps both where they are until it closes it.
    unsafe {
        let own = (*file).methods;
        if let Some(own) = own.as_ref()
            && let Some((methods, state)) = make(file, own)
        {
            (*file).methods = Box::into_raw(Box::new(Instead { methods, own, file, state })).cast();
        }
    }
}

impl<T> Instead<T> {
    /// # Safety
    /// The file has these methods, and is used by nobody else meanwhile.
    pub unsafe fn of<'a>(file: *mut File) -> &'a mut Instead<T> {
        // SAFETY: `replace` put it there.
        unsafe { &mut *(*file).methods.cast_mut().cast() }
    }

    pub fn own(&self) -> &'static Methods {
        // SAFETY: they live as long as the file is open.
        unsafe { &*self.own }
    }

    /// Close the file, which has its own methods again, and forget what was remembered.
    ///
    /// # Safety
    /// As above; and it is not used any more.
    pub unsafe fn close(file: *mut File) -> c_int {
        // SAFETY: `replace` made it.
        let instead = unsafe { Box::from_raw((*file).methods.cast_mut().cast::<Instead<T>>()) };
        // SAFETY: the file is open.
        unsafe {
            (*file).methods = instead.own;
            (instead.own().close)(file)
        }
    }
}

//! SQLite through the door it opens for extensions: the very library, connection and files that Python uses.
//!
//! A library that is loaded as an extension is handed a table of SQLite's functions, whose order never changes: new
//! ones are put at its end. So nothing is linked here, no second SQLite is in the process, and what happens on the
//! connection happens within the transaction that Python has opened, through the same VFS.
//!
//! All of it is called by the thread that owns the connection, with the interpreter's lock held.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;

use crate::{lease, log};

pub const OK: c_int = 0;
const ROW: c_int = 100;
const DONE: c_int = 101;
const INTEGER: c_int = 1;
const BLOB: c_int = 4;
const KEPT_FOR_LONG: u32 = 1;

/// Asks for how files are opened, and where its name is in the answer (`sqlite3_vfs`).
const VFS_POINTER: c_int = 27;
const NAME_OF_VFS: usize = 24;

/// Places in the table (`sqlite3_api_routines`).
const BIND_BLOB: usize = 2;
const BIND_INT64: usize = 5;
const BIND_NULL: usize = 6;
const BIND_TEXT: usize = 10;
const CHANGES: usize = 15;
const COLUMN_BLOB: usize = 19;
const COLUMN_BYTES: usize = 20;
const COLUMN_INT64: usize = 29;
const COLUMN_TYPE: usize = 38;
const ERRMSG: usize = 53;
const FINALIZE: usize = 57;
const RESET: usize = 77;
const STEP: usize = 94;
const FILE_CONTROL: usize = 127;
const EXTENDED_ERRCODE: usize = 166;
const DB_FILENAME: usize = 180;
const PREPARE_V3: usize = 217;

thread_local! {
    static LOADED: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

/// What SQLite calls when Python loads this library into a connection.
///
/// # Safety
/// It is SQLite that calls it, with a connection that is open and a table that lives as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_opened(db: *mut c_void, _error: *mut *mut c_char, api: *const c_void) -> c_int {
    let connection = Connection { db, api: api.cast() };
    log::gather(&connection);
    lease::keep(&connection);
    LOADED.with(|loaded| *loaded.borrow_mut() = Some(connection));
    OK
}

/// The connection that this library was loaded into last, once.
pub fn opened() -> Option<Connection> {
    LOADED.with(|loaded| loaded.borrow_mut().take())
}

/// SQLite's own number for what went wrong, and its words.
#[derive(Debug)]
pub struct Failure {
    pub code: i32,
    pub message: String,
}

#[derive(Clone)]
pub struct Connection {
    db: *mut c_void,
    api: *const *const c_void,
}

macro_rules! function {
    ($self:expr, $place:expr, fn($($argument:ty),*) -> $result:ty) => {{
        // SAFETY: the table has a function of this type at this place.
        let pointer = unsafe { *$self.api.add($place) };
        unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn($($argument),*) -> $result>(pointer) }
    }};
}

impl Connection {
    pub fn prepare(&self, sql: &str) -> Result<Statement, Failure> {
        let text = CString::new(sql).expect("a statement holds no zero");
        let mut raw: *mut c_void = null_mut();
        let prepare = function!(
            self,
            PREPARE_V3,
            fn(*mut c_void, *const c_char, c_int, u32, *mut *mut c_void, *mut *const c_char) -> c_int
        );
        // SAFETY: the connection is open and the text ends with a zero.
        let code = unsafe { prepare(self.db, text.as_ptr(), -1, KEPT_FOR_LONG, &mut raw, null_mut()) };
        if code != OK {
            return Err(self.failure());
        }
        Ok(Statement {
            connection: self.clone(),
            raw,
            bind_int: function!(self, BIND_INT64, fn(*mut c_void, c_int, i64) -> c_int),
            bind_blob: function!(self, BIND_BLOB, fn(*mut c_void, c_int, *const c_void, c_int, isize) -> c_int),
            bind_text: function!(self, BIND_TEXT, fn(*mut c_void, c_int, *const c_void, c_int, isize) -> c_int),
            bind_null: function!(self, BIND_NULL, fn(*mut c_void, c_int) -> c_int),
            step: function!(self, STEP, fn(*mut c_void) -> c_int),
            reset: function!(self, RESET, fn(*mut c_void) -> c_int),
            column_type: function!(self, COLUMN_TYPE, fn(*mut c_void, c_int) -> c_int),
            column_int: function!(self, COLUMN_INT64, fn(*mut c_void, c_int) -> i64),
            column_blob: function!(self, COLUMN_BLOB, fn(*mut c_void, c_int) -> *const c_void),
            column_bytes: function!(self, COLUMN_BYTES, fn(*mut c_void, c_int) -> c_int),
            _not_shared: Rc::new(()),
        })
    }

    /// Ask the files of the database for something (`sqlite3_file_control`).
    pub fn control(&self, what: c_int, with: *mut c_void) -> c_int {
        let control = function!(self, FILE_CONTROL, fn(*mut c_void, *const c_char, c_int, *mut c_void) -> c_int);
        // SAFETY: the connection is open, and what is asked for fits where it is to be put.
        unsafe { control(self.db, c"main".as_ptr(), what, with) }
    }

    /// Of the database.
    pub fn path(&self) -> Option<&[u8]> {
        let path = function!(self, DB_FILENAME, fn(*mut c_void, *const c_char) -> *const c_char);
        // SAFETY: the connection is open, and the path is there as long as it is.
        unsafe { path(self.db, c"main".as_ptr()).as_ref().map(|first| CStr::from_ptr(first).to_bytes()) }
    }

    /// What stands between SQLite and the files of the database is called.
    pub fn file_system(&self) -> Option<&[u8]> {
        let mut vfs: *const u8 = null_mut();
        let code = self.control(VFS_POINTER, (&raw mut vfs).cast());
        // SAFETY: it has a name there, which lives as long as it does.
        unsafe {
            let name = (code == OK && !vfs.is_null()).then(|| vfs.add(NAME_OF_VFS).cast::<*const c_char>().read())?;
            name.as_ref().map(|first| CStr::from_ptr(first).to_bytes())
        }
    }

    /// How many rows the statement changed that was run last.
    pub fn changes(&self) -> c_int {
        let changes = function!(self, CHANGES, fn(*mut c_void) -> c_int);
        // SAFETY: the connection is open.
        unsafe { changes(self.db) }
    }

    fn failure(&self) -> Failure {
        let code = function!(self, EXTENDED_ERRCODE, fn(*mut c_void) -> c_int);
        let message = function!(self, ERRMSG, fn(*mut c_void) -> *const c_char);
        // SAFETY: the connection is open, and its message is read before anything else is done with it.
        unsafe {
            let words = message(self.db);
            let message = if words.is_null() { String::new() } else { CStr::from_ptr(words).to_string_lossy().into() };
            Failure { code: code(self.db), message }
        }
    }
}

/// A statement that is compiled once. What is bound must stay where it is until the statement is `done`.
pub struct Statement {
    connection: Connection,
    raw: *mut c_void,
    bind_int: unsafe extern "C" fn(*mut c_void, c_int, i64) -> c_int,
    bind_blob: unsafe extern "C" fn(*mut c_void, c_int, *const c_void, c_int, isize) -> c_int,
    bind_text: unsafe extern "C" fn(*mut c_void, c_int, *const c_void, c_int, isize) -> c_int,
    bind_null: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    step: unsafe extern "C" fn(*mut c_void) -> c_int,
    reset: unsafe extern "C" fn(*mut c_void) -> c_int,
    column_type: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    column_int: unsafe extern "C" fn(*mut c_void, c_int) -> i64,
    column_blob: unsafe extern "C" fn(*mut c_void, c_int) -> *const c_void,
    column_bytes: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    _not_shared: Rc<()>,
}

pub enum Value<'a> {
    Int(i64),
    Blob(&'a [u8]),
    Text(&'a str),
    Null,
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Value::Null, Value::Int)
    }
}

impl Statement {
    /// Run it with these values; the rows, if any, are read by `row` until it says that it has seen enough.
    pub fn run(&mut self, values: &[Value<'_>], mut row: impl FnMut(&Row<'_>) -> bool) -> Result<(), Failure> {
        // SAFETY (of all calls here): the statement was compiled and is not finalized before it is dropped; values
        // outlive the run, at whose end the statement is reset.
        for (place, value) in values.iter().enumerate() {
            let place = place as c_int + 1;
            let code = match value {
                Value::Int(number) => unsafe { (self.bind_int)(self.raw, place, *number) },
                Value::Blob(bytes) => unsafe {
                    (self.bind_blob)(self.raw, place, bytes.as_ptr().cast(), bytes.len() as c_int, 0)
                },
                Value::Text(text) => unsafe {
                    (self.bind_text)(self.raw, place, text.as_ptr().cast(), text.len() as c_int, 0)
                },
                Value::Null => unsafe { (self.bind_null)(self.raw, place) },
            };
            if code != OK {
                return Err(self.connection.failure());
            }
        }
        let outcome = loop {
            match unsafe { (self.step)(self.raw) } {
                ROW if row(&Row { statement: self }) => {}
                ROW | DONE => break Ok(()),
                _ => break Err(self.connection.failure()),
            }
        };
        unsafe { (self.reset)(self.raw) };
        outcome
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        let finalize = function!(self.connection, FINALIZE, fn(*mut c_void) -> c_int);
        // SAFETY: it was compiled, and this is the end of it. Python closes the connection later.
        unsafe { finalize(self.raw) };
    }
}

pub struct Row<'a> {
    statement: &'a Statement,
}

impl Row<'_> {
    /// The number in this column, and None if it is not a whole one.
    pub fn int(&self, column: i32) -> Option<i64> {
        // SAFETY: the statement stands on a row.
        unsafe {
            ((self.statement.column_type)(self.statement.raw, column) == INTEGER)
                .then(|| (self.statement.column_int)(self.statement.raw, column))
        }
    }

    /// The bytes in this column, and None if it holds something else.
    pub fn blob(&self, column: i32) -> Option<&[u8]> {
        // SAFETY: the statement stands on a row, and the bytes stay until it goes on.
        unsafe {
            if (self.statement.column_type)(self.statement.raw, column) != BLOB {
                return None;
            }
            let bytes = (self.statement.column_blob)(self.statement.raw, column).cast::<u8>();
            let length = (self.statement.column_bytes)(self.statement.raw, column) as usize;
            Some(if length == 0 { &[] } else { std::slice::from_raw_parts(bytes, length) })
        }
    }
}

//! What of Penstock is done for every single message, in native code: `penstock.native`.
//!
//! Nothing is decided here. Python teaches what to recognise, decides what is to be done, and serves whatever is not
//! plain; without this library it serves everything.

use pyo3::prelude::*;

mod chance;
mod content;
mod digest;
mod fifo;
mod file;
mod form;
mod gzip;
mod handle;
mod journal;
mod lane;
mod lease;
mod log;
mod party;
mod permit;
mod round;
mod round_fifo;
mod round_standard;
mod rounds;
mod rows;
mod shelf;
mod sqlite;
mod tally;
mod wakeful;
mod wire;

/// A request is some hundred small pieces of memory: with the system's own allocator they take a twelfth of the time.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pymodule]
mod native {
    #[pymodule_export]
    use crate::content::Cipher;
    #[pymodule_export]
    use crate::fifo::FifoShelf;
    #[pymodule_export]
    use crate::form::Form;
    #[pymodule_export]
    use crate::gzip::compress;
    #[pymodule_export]
    use crate::journal::{Lines, unpacked};
    #[pymodule_export]
    use crate::lane::Lane;
    #[pymodule_export]
    use crate::party::Party;
    #[pymodule_export]
    use crate::permit::Permit;
    #[pymodule_export]
    use crate::rounds::Rounds;
    #[pymodule_export]
    use crate::shelf::Shelf;
    #[pymodule_export]
    use crate::tally::Ring;
}

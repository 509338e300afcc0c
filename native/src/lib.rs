//! What of Penstock is done for every single message, in native code: `penstock.native`.
//!
//! Nothing is decided here. Python teaches what to recognise, decides what is to be done, and serves whatever is not
//! plain; without this library it serves everything.

use pyo3::prelude::*;

mod chance;
mod content;
mod form;
mod gzip;
mod handle;
mod lane;
mod lines;
mod party;
mod shelf;
mod sqlite;
mod wire;

#[pymodule]
mod native {
    #[pymodule_export]
    use crate::content::Cipher;
    #[pymodule_export]
    use crate::form::Form;
    #[pymodule_export]
    use crate::gzip::Gzip;
    #[pymodule_export]
    use crate::lane::Lane;
    #[pymodule_export]
    use crate::lines::Lines;
    #[pymodule_export]
    use crate::party::Party;
    #[pymodule_export]
    use crate::shelf::{Shelf, ShelfError};
}

//! Random identifiers. The system is asked for many bytes at once.

use std::cell::RefCell;

const DRAWN_AT_ONCE: usize = 4096;

struct Pool {
    bytes: Vec<u8>,
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: Vec::new() }) };
}

/// Bytes that nobody can foresee, each given once.
pub fn random<const N: usize>() -> [u8; N] {
    POOL.with(|pool| {
        let bytes = &mut pool.borrow_mut().bytes;
        if bytes.len() < N {
            bytes.resize(DRAWN_AT_ONCE, 0);
            draw(bytes);
        }
        let rest = bytes.len() - N;
        let drawn = bytes[rest..].try_into().expect("so many were left");
        bytes.truncate(rest);
        drawn
    })
}

fn draw(bytes: &mut [u8]) {
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = &mut bytes[filled..];
        // SAFETY: the system writes into what is left of the slice.
        let count = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        assert!(
            count > 0 || std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted,
            "no randomness"
        );
        filled += count.max(0) as usize;
    }
}

pub type Uuid = [u8; 36];

/// A version 4 UUID as text.
pub fn uuid() -> Uuid {
    let mut bits = random::<16>();
    bits[6] = bits[6] & 0x0f | 0x40;
    bits[8] = bits[8] & 0x3f | 0x80;
    let digits: [u8; 32] = crate::form::hex(&bits);
    let mut text = [b'-'; 36];
    for (to, from) in [(0..8, 0..8), (9..13, 8..12), (14..18, 12..16), (19..23, 16..20), (24..36, 20..32)] {
        text[to].copy_from_slice(&digits[from]);
    }
    text
}

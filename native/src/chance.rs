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

pub const ID_BYTES: usize = 16;
pub type Uuid = [u8; 36];

/// Which letters of an id are which digits; between them are dashes.
const DIGITS: [(std::ops::Range<usize>, std::ops::Range<usize>); 5] =
    [(0..8, 0..8), (9..13, 8..12), (14..18, 12..16), (19..23, 16..20), (24..36, 20..32)];

/// A version 4 UUID as text.
pub fn uuid() -> Uuid {
    let mut bits = random::<ID_BYTES>();
    bits[6] = bits[6] & 0x0f | 0x40;
    bits[8] = bits[8] & 0x3f | 0x80;
    spelt(&bits)
}

pub fn spelt(bits: &[u8; ID_BYTES]) -> Uuid {
    let digits: [u8; 32] = crate::form::hex(bits);
    let mut text = [b'-'; 36];
    for (to, from) in DIGITS {
        text[to].copy_from_slice(&digits[from]);
    }
    text
}

/// What is spelt like this, and in no other way.
pub fn bits(text: &[u8]) -> Option<[u8; ID_BYTES]> {
    let text: &Uuid = text.try_into().ok()?;
    let (mut digits, mut bits) = ([0; 32], [0; ID_BYTES]);
    for (from, to) in DIGITS {
        digits[to].copy_from_slice(&text[from]);
    }
    for (byte, pair) in bits.iter_mut().zip(digits.chunks_exact(2)) {
        let value = |digit: u8| (digit as char).to_digit(16);
        *byte = (value(pair[0])? << 4 | value(pair[1])?) as u8;
    }
    (spelt(&bits) == *text).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_spelt_in_one_way() {
        let id = uuid();
        assert_eq!(spelt(&bits(&id).unwrap()), id);
        assert_eq!(bits(&id.to_ascii_uppercase()), None);
        assert_eq!(bits(&id[1..]), None);
        assert_eq!(bits(&[b'0'; 36]), None);
    }
}

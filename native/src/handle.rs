//! Receipt handles: `core/handle.py` says what they are. A handle that does not open here is judged there.

use blake2::Blake2bMac;
use blake2::digest::consts::U16;
use blake2::digest::{KeyInit, Mac};

use crate::form::same;

const VERSION: u8 = 1;
const HEAD_BYTES: usize = 9;
const DIGEST_BYTES: usize = 16;
const LONGEST: usize = 1024;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Of one queue.
pub struct Seal {
    head: [u8; HEAD_BYTES],
    keyed: Blake2bMac<U16>,
}

impl Seal {
    pub fn new(key: &[u8], queue_id: i64) -> Seal {
        let mut head = [VERSION; HEAD_BYTES];
        head[1..].copy_from_slice(&queue_id.to_be_bytes());
        let mut keyed = Blake2bMac::new_from_slice(key).expect("a key has at most 64 bytes");
        keyed.update(&head);
        Seal { head, keyed }
    }

    fn digest(&self, claim: &[u8]) -> [u8; DIGEST_BYTES] {
        let mut keyed = self.keyed.clone();
        keyed.update(claim);
        keyed.finalize().into_bytes().into()
    }

    pub fn seal(&self, out: &mut Vec<u8>, claim: &[u8]) {
        let mut sealed = Vec::with_capacity(HEAD_BYTES + claim.len() + DIGEST_BYTES);
        sealed.extend_from_slice(&self.head);
        sealed.extend_from_slice(claim);
        sealed.extend_from_slice(&self.digest(claim));
        encode(out, &sealed);
    }

    /// The claim in a handle of this queue; None for any other.
    pub fn unseal(&self, handle: &[u8]) -> Option<Vec<u8>> {
        let sealed = decode(handle)?;
        let (head, rest) = sealed.split_at_checked(HEAD_BYTES)?;
        let (claim, digest) = rest.split_at_checked(rest.len().checked_sub(DIGEST_BYTES)?)?;
        (head == self.head && same(digest, &self.digest(claim))).then(|| claim.to_vec())
    }
}

fn encode(out: &mut Vec<u8>, bytes: &[u8]) {
    for three in bytes.chunks(3) {
        let number = three.iter().fold(0u32, |sum, byte| sum << 8 | *byte as u32) << (8 * (3 - three.len()));
        let mut four = [18, 12, 6, 0].map(|shift| LETTERS[(number >> shift & 63) as usize]);
        four[three.len() + 1..].fill(b'=');
        out.extend_from_slice(&four);
    }
}

/// What each letter stands for; NONE for what is no letter.
const VALUES: [u8; 256] = {
    let (mut values, mut value) = ([NONE; 256], 0);
    while value < LETTERS.len() {
        values[LETTERS[value] as usize] = value as u8;
        value += 1;
    }
    values
};
const NONE: u8 = 0x80;

/// Base64 as it is written above, and in no other way.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() % 4 != 0 || text.len() > LONGEST {
        return None;
    }
    let (whole, last) = text.split_last_chunk::<4>()?;
    let padding = last.iter().rev().take(2).take_while(|letter| **letter == b'=').count();
    let mut last = *last;
    last[4 - padding..].fill(LETTERS[0]);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for four in whole.chunks_exact(4) {
        bytes.extend_from_slice(&three(four.try_into().expect("four"))?);
    }
    bytes.extend_from_slice(&three(last)?);
    let unused = bytes.split_off(bytes.len() - padding);
    unused.iter().all(|byte| *byte == 0).then_some(bytes)
}

fn three(letters: [u8; 4]) -> Option<[u8; 3]> {
    let values = letters.map(|letter| VALUES[letter as usize]);
    let number = values.iter().fold(0u32, |sum, value| sum << 6 | *value as u32);
    let [_, one, two, three] = number.to_be_bytes();
    values.iter().all(|value| *value != NONE).then_some([one, two, three])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_opens_for_its_queue_and_key_alone() {
        let (claim, mut handle) = (vec![7; 28], Vec::new());
        Seal::new(&[1; 32], 5).seal(&mut handle, &claim);
        assert_eq!(Seal::new(&[1; 32], 5).unseal(&handle), Some(claim));
        assert_eq!(Seal::new(&[1; 32], 6).unseal(&handle), None);
        assert_eq!(Seal::new(&[2; 32], 5).unseal(&handle), None);
    }

    #[test]
    fn a_handle_with_another_letter_or_length_does_not_open() {
        let (seal, mut handle) = (Seal::new(&[1; 32], 5), Vec::new());
        seal.seal(&mut handle, &[7; 28]);
        for place in 0..handle.len() {
            let mut other = handle.clone();
            other[place] = if other[place] == b'B' { b'C' } else { b'B' };
            assert_eq!(seal.unseal(&other), None, "{place}");
        }
        assert_eq!(seal.unseal(&handle[4..]), None);
        assert_eq!(seal.unseal(b""), None);
    }
}

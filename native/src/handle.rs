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
        for place in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= three.len() { letter } else { b'=' });
        }
    }
}

/// Base64 as it is written above, and in no other way.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() % 4 != 0 || text.len() > LONGEST {
        return None;
    }
    let padding = text.iter().rev().take(2).take_while(|letter| **letter == b'=').count();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut number = 0u32;
    for (place, letter) in text[..text.len() - padding].iter().chain(&LETTERS[..1].repeat(padding)).enumerate() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        number = number << 6 | value as u32;
        if place % 4 == 3 {
            bytes.extend_from_slice(&number.to_be_bytes()[1..]);
            number = 0;
        }
    }
    let unused = bytes.split_off(bytes.len() - padding);
    unused.iter().all(|byte| *byte == 0).then_some(bytes)
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

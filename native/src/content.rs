//! The content of a message as it lies in the store: `stores/sqlite/packing.py` and `data_keys.py` say what it is.
//!
//! Plain is a content without attributes, trace and former queue: its body, who sent it and when, and what a message of
//! a FIFO queue has beside these. Any other is read by Python.

use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes256Gcm, Nonce, Tag};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::chance::random;

/// MessagePack never uses it: a content that begins with it is encrypted.
const MARK: u8 = 0xc1;
const HEADER_BYTES: usize = 7;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;

const NINE: u8 = 0x99;
const NO_ATTRIBUTES: u8 = 0x80;
const NIL: u8 = 0xc0;
/// Enough for all that most contents have beside the texts of body and sender.
const ROOM_BYTES: usize = 64;

/// A data key that encrypts, and decrypts what it has encrypted.
#[pyclass(frozen)]
pub struct Cipher {
    header: [u8; HEADER_BYTES],
    key: Aes256Gcm,
}

#[pymethods]
impl Cipher {
    #[new]
    fn new(number: u64, secret: &[u8]) -> PyResult<Cipher> {
        let mut header = [MARK; HEADER_BYTES];
        header[1..].copy_from_slice(&number.to_be_bytes()[2..]);
        let key = Aes256Gcm::new_from_slice(secret).map_err(|_| PyValueError::new_err("a key has 32 bytes"))?;
        Ok(Cipher { header, key })
    }
}

impl Cipher {
    /// Encrypt, in place, what `write` appends: about so many `bytes`.
    pub fn encrypt(&self, identity: &[u8], bytes: usize, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let nonce = random::<NONCE_BYTES>();
        let mut content = Vec::with_capacity(HEADER_BYTES + NONCE_BYTES + bytes + TAG_BYTES);
        content.extend_from_slice(&self.header);
        content.extend_from_slice(&nonce);
        write(&mut content);
        let (about, text) = (self.about(identity), &mut content[HEADER_BYTES + NONCE_BYTES..]);
        let tag =
            self.key.encrypt_inout_detached(&Nonce::from(nonce), &about, text.into()).expect("it is not that long");
        content.extend_from_slice(&tag);
        content
    }

    fn decrypt(&self, identity: &[u8], content: &[u8]) -> Option<Vec<u8>> {
        let (nonce, rest) = content[HEADER_BYTES..].split_first_chunk::<NONCE_BYTES>()?;
        let (text, tag) = rest.split_last_chunk::<TAG_BYTES>()?;
        let mut plain = text.to_vec();
        let about = self.about(identity);
        self.key
            .decrypt_inout_detached(&Nonce::from(*nonce), &about, plain.as_mut_slice().into(), &Tag::from(*tag))
            .ok()?;
        Some(plain)
    }

    /// What a content is bound to.
    fn about(&self, identity: &[u8]) -> Vec<u8> {
        [&self.header[..], identity].concat()
    }
}

/// A plain one.
#[derive(Default, Debug, PartialEq, Clone)]
pub struct Content<'a> {
    pub body: &'a [u8],
    pub sender: &'a [u8],
    pub sent: i64,
    pub group: Option<&'a [u8]>,
    pub deduplication: Option<&'a [u8]>,
    pub sequence: Option<i64>,
}

/// The number of the data key that a content is encrypted with; None if it is in clear.
pub fn key_number(content: &[u8]) -> Option<u64> {
    let header: &[u8; HEADER_BYTES] = content.first_chunk()?;
    (header[0] == MARK).then(|| header[1..].iter().fold(0, |sum, byte| sum << 8 | *byte as u64))
}

pub fn opened(content: &[u8], identity: &[u8], cipher: Option<&Cipher>) -> Option<Vec<u8>> {
    match cipher {
        Some(cipher) => cipher.decrypt(identity, content),
        None => Some(content.to_vec()),
    }
}

pub fn checksum(identity: &[u8], content: &[u8]) -> i64 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(identity);
    sum.update(content);
    sum.finalize() as i64
}

/// As it lies in the store.
pub fn pack(content: &Content<'_>, identity: &[u8], cipher: Option<&Cipher>) -> Vec<u8> {
    let bytes = content.body.len() + content.sender.len() + ROOM_BYTES;
    if let Some(cipher) = cipher {
        return cipher.encrypt(identity, bytes, |packed| pack_plain(packed, content));
    }
    let mut packed = Vec::with_capacity(bytes);
    pack_plain(&mut packed, content);
    packed
}

fn pack_plain(packed: &mut Vec<u8>, content: &Content<'_>) {
    packed.push(NINE);
    pack_text(packed, content.body);
    pack_text(packed, content.sender);
    pack_number(packed, content.sent);
    packed.extend_from_slice(&[NO_ATTRIBUTES, NIL]);
    for text in [content.group, content.deduplication] {
        match text {
            Some(text) => pack_text(packed, text),
            None => packed.push(NIL),
        }
    }
    match content.sequence {
        Some(sequence) => pack_number(packed, sequence),
        None => packed.push(NIL),
    }
    packed.push(NIL);
}

/// Not less than 0, in as few bytes as it takes.
pub fn pack_number(packed: &mut Vec<u8>, number: i64) {
    let bytes = number.to_be_bytes();
    match number {
        0..0x80 => packed.push(number as u8),
        0x80..0x100 => packed.extend_from_slice(&[0xcc, bytes[7]]),
        0x100..0x1_0000 => packed.extend_from_slice(&[0xcd, bytes[6], bytes[7]]),
        0x1_0000..0x1_0000_0000 => {
            packed.push(0xce);
            packed.extend_from_slice(&bytes[4..]);
        }
        _ => {
            packed.push(0xcf);
            packed.extend_from_slice(&bytes);
        }
    }
}

pub fn pack_text(packed: &mut Vec<u8>, text: &[u8]) {
    match text.len() {
        length @ 0..32 => packed.push(0xa0 | length as u8),
        length @ 32..0x100 => packed.extend_from_slice(&[0xd9, length as u8]),
        length @ 0x100..0x10000 => {
            packed.push(0xda);
            packed.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            packed.push(0xdb);
            packed.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
    packed.extend_from_slice(text);
}

pub fn pack_bytes(packed: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        length @ 0..0x100 => packed.extend_from_slice(&[0xc4, length as u8]),
        length => {
            packed.push(0xc6);
            packed.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
    packed.extend_from_slice(bytes);
}

pub fn pack_array(packed: &mut Vec<u8>, length: u32) {
    packed.push(0xdd);
    packed.extend_from_slice(&length.to_be_bytes());
}

/// None if it is not plain.
pub fn unpack(content: &[u8]) -> Option<Content<'_>> {
    let rest = content.strip_prefix(&[NINE])?;
    let (body, rest) = unpack_text(rest)?;
    let (sender, rest) = unpack_text(rest)?;
    let (sent, rest) = unpack_number(rest)?;
    let rest = rest.strip_prefix(&[NO_ATTRIBUTES, NIL])?;
    let (group, rest) = unless_nil(rest, unpack_text)?;
    let (deduplication, rest) = unless_nil(rest, unpack_text)?;
    let (sequence, rest) = unless_nil(rest, unpack_number)?;
    (rest == [NIL]).then_some(Content { body, sender, sent, group, deduplication, sequence })
}

fn unless_nil<'a, T>(
    packed: &'a [u8],
    unpack: impl Fn(&'a [u8]) -> Option<(T, &'a [u8])>,
) -> Option<(Option<T>, &'a [u8])> {
    match packed.strip_prefix(&[NIL]) {
        Some(rest) => Some((None, rest)),
        None => unpack(packed).map(|(value, rest)| (Some(value), rest)),
    }
}

pub fn unpack_number(packed: &[u8]) -> Option<(i64, &[u8])> {
    let (mark, rest) = packed.split_first()?;
    let length = match mark {
        0..0x80 => return Some((*mark as i64, rest)),
        0xcc..=0xcf => 1 << (mark - 0xcc),
        _ => return None,
    };
    let (bytes, rest) = rest.split_at_checked(length)?;
    let number = bytes.iter().fold(0, |sum: u64, byte| sum << 8 | *byte as u64);
    Some((number.try_into().ok()?, rest))
}

pub fn unpack_text(packed: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mark, rest) = packed.split_first()?;
    let (length, rest) = match mark {
        0xa0..0xc0 => ((mark & 0x1f) as usize, rest),
        0xd9 => (*rest.first()? as usize, &rest[1..]),
        0xda => (u16::from_be_bytes(*rest.first_chunk()?) as usize, &rest[2..]),
        0xdb => (u32::from_be_bytes(*rest.first_chunk()?) as usize, &rest[4..]),
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const APPLES: Content<'_> = Content {
        body: b"two apples",
        sender: b"AIDA",
        sent: 1_794_911_400_000,
        group: Some(b"fruit"),
        deduplication: Some(b"1"),
        sequence: Some(300),
    };

    #[test]
    fn a_plain_content_is_unpacked_as_it_was_packed() {
        for length in [0, 1, 31, 32, 255, 256, 65_535, 65_536] {
            let body = &vec![b'x'; length][..];
            let content = Content { body, group: None, deduplication: None, sequence: None, ..APPLES };
            assert_eq!(unpack(&pack(&content, b"id", None)), Some(content));
        }
    }

    #[test]
    fn so_is_one_of_a_fifo_queue_whatever_its_number() {
        for number in [0, 127, 128, 255, 256, 65_535, 65_536, 0xffff_ffff, 0x1_0000_0000, i64::MAX] {
            let content = Content { sequence: Some(number), ..APPLES };
            assert_eq!(unpack(&pack(&content, b"id", None)), Some(content));
        }
    }

    #[test]
    fn a_content_that_is_cut_or_longer_is_not_plain() {
        let packed = pack(&APPLES, b"id", None);
        for end in 0..packed.len() {
            assert_eq!(unpack(&packed[..end]), None);
        }
        assert_eq!(unpack(&[&packed[..], b"\xc0"].concat()), None);
    }

    #[test]
    fn what_was_encrypted_opens_for_its_message_alone() {
        let cipher = Cipher::new(7, &[1; 32]).unwrap();
        let content = cipher.encrypt(b"id", 10, |plain| plain.extend_from_slice(b"two apples"));
        assert_eq!(key_number(&content), Some(7));
        assert_eq!(opened(&content, b"id", Some(&cipher)).as_deref(), Some(&b"two apples"[..]));
        assert_eq!(opened(&content, b"other", Some(&cipher)), None);
        assert_eq!(opened(&content[..content.len() - 1], b"id", Some(&cipher)), None);
        assert_eq!(opened(&content[..9], b"id", Some(&cipher)), None);
    }
}

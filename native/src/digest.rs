//! MD5 sums of many bodies, sixteen at a time: as long as nothing of one depends on another, a processor that adds eight
//! numbers at once, and begins the next such step before one has ended, makes sixteen sums in the time of four or five.
//! They tell a body from a damaged one, and are no secret.

use md5::{Digest, Md5};

pub type Sum = [u8; 16];

const LANES: usize = 16;
/// To sum up fewer together takes as long as one after the other.
const FEWEST: usize = 4;
const BLOCK: usize = 64;
/// Longer ones are summed up alone: others would wait for them.
const LONGEST: usize = 4096;

type Words = [u32; LANES];

const BEGIN: [u32; 4] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
];

/// One for each, in their order.
pub fn sums(bodies: &[&[u8]]) -> Vec<Sum> {
    bodies.chunks(LANES).flat_map(|some| if some.len() >= FEWEST { together(some) } else { alone(some) }).collect()
}

fn alone(bodies: &[&[u8]]) -> Vec<Sum> {
    bodies.iter().map(|body| Md5::digest(body).into()).collect()
}

fn together(bodies: &[&[u8]]) -> Vec<Sum> {
    if bodies.iter().any(|body| body.len() > LONGEST) {
        return alone(bodies);
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has it.
        return unsafe { together_wide(bodies) };
    }
    in_lanes(bodies)
}

/// The same, compiled for processors that add eight numbers at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn together_wide(bodies: &[&[u8]]) -> Vec<Sum> {
    in_lanes(bodies)
}

/// At most as many as there are lanes; the others have nothing in them. The sum of a body is what its lane holds after
/// its last block, whatever becomes of it while others go on.
#[inline(always)]
fn in_lanes(bodies: &[&[u8]]) -> Vec<Sum> {
    let mut sums = vec![[0; 16]; bodies.len()];
    let mut state = BEGIN.map(|word| [word; LANES]);
    let longest = bodies.iter().map(|body| blocks(body)).max().unwrap_or(0);
    for number in 0..longest {
        let mut words = [[0; LANES]; BLOCK / 4];
        for (lane, body) in bodies.iter().enumerate().filter(|(_, body)| number < blocks(body)) {
            for (word, four) in words.iter_mut().zip(block(body, number).chunks_exact(4)) {
                word[lane] = u32::from_le_bytes(four.try_into().expect("four"));
            }
        }
        add(&mut state, &words);
        for (lane, sum) in sums.iter_mut().enumerate().filter(|(lane, _)| number + 1 == blocks(bodies[*lane])) {
            for (four, word) in sum.chunks_exact_mut(4).zip(&state) {
                four.copy_from_slice(&word[lane].to_le_bytes());
            }
        }
    }
    sums
}

/// With a mark and its length in bits behind it, in whole blocks.
fn blocks(body: &[u8]) -> usize {
    (body.len() + 8) / BLOCK + 1
}

#[inline(always)]
fn block(body: &[u8], number: usize) -> [u8; BLOCK] {
    let (mut block, from) = ([0; BLOCK], number * BLOCK);
    let own = &body[from.min(body.len())..(from + BLOCK).min(body.len())];
    block[..own.len()].copy_from_slice(own);
    if (from..from + BLOCK).contains(&body.len()) {
        block[own.len()] = 0x80;
    }
    if number + 1 == blocks(body) {
        block[BLOCK - 8..].copy_from_slice(&(body.len() as u64 * 8).to_le_bytes());
    }
    block
}

#[inline(always)]
fn add(state: &mut [Words; 4], words: &[Words; BLOCK / 4]) {
    let mut four = *state;
    round::<0>(&mut four, words, |step| step, |x, y, z| z ^ (x & (y ^ z)));
    round::<1>(&mut four, words, |step| 5 * step + 1, |x, y, z| y ^ (z & (x ^ y)));
    round::<2>(&mut four, words, |step| 3 * step + 5, |x, y, z| x ^ y ^ z);
    round::<3>(&mut four, words, |step| 7 * step, |x, y, z| y ^ (x | !z));
    for (word, more) in state.iter_mut().zip(four) {
        *word = each(|lane| word[lane].wrapping_add(more[lane]));
    }
}

#[inline(always)]
fn round<const NUMBER: usize>(
    [a, b, c, d]: &mut [Words; 4],
    words: &[Words; BLOCK / 4],
    place: impl Fn(usize) -> usize,
    mix: impl Fn(u32, u32, u32) -> u32,
) {
    for step in 0..16 {
        let (word, sine, shift) = (&words[place(step) % 16], SINES[NUMBER * 16 + step], SHIFTS[NUMBER][step % 4]);
        let next = each(|lane| {
            let mixed = mix(b[lane], c[lane], d[lane]);
            let sum = a[lane].wrapping_add(mixed).wrapping_add(sine).wrapping_add(word[lane]);
            b[lane].wrapping_add(sum.rotate_left(shift))
        });
        (*a, *b, *c, *d) = (*d, next, *b, *c);
    }
}

#[inline(always)]
fn each(of_lane: impl Fn(usize) -> u32) -> Words {
    let mut words = [0; LANES];
    for (lane, word) in words.iter_mut().enumerate() {
        *word = of_lane(lane);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_are_summed_up_as_each_is_alone() {
        let bytes: Vec<u8> = (0..10_000u32).map(|number| (number * 7 + number / 251) as u8).collect();
        let lengths = (0..300).chain([1000, 4095, 4096, 4097, 9000]);
        let bodies: Vec<&[u8]> = lengths.map(|length| &bytes[length % 97..length % 97 + length]).collect();
        for count in [0, 1, 3, 4, 10, 15, 16, 17, 20, bodies.len()] {
            assert_eq!(sums(&bodies[..count]), alone(&bodies[..count]));
        }
        let backwards: Vec<&[u8]> = bodies.iter().rev().copied().collect();
        assert_eq!(sums(&backwards), alone(&backwards));
    }

    #[test]
    fn narrow_processors_find_the_same() {
        let bodies: Vec<&[u8]> = vec![b"", b"a", b"two apples", &[7; 55], &[7; 56], &[7; 64], &[7; 200]];
        assert_eq!(in_lanes(&bodies), alone(&bodies));
    }
}

//! MD5, SHA-1 and SHA-256 once more, written from RFC 1321 and FIPS 180-4, to check those of the compiler.

/// Returns the digest with this name.
///
/// # Panics
///
/// If there is none.
pub fn of(name: &str, bytes: &[u8]) -> Vec<u8> {
    match name {
        "md5" => md5(bytes),
        "sha1" => sha1(bytes),
        "sha256" => sha256(bytes),
        _ => panic!("there is no digest {name}"),
    }
}

/// Returns the bytes of pairs of hexadecimal digits; `None` if it is no such text.
pub fn hex(text: &[u8], has_capitals: bool) -> Option<Vec<u8>> {
    let digits: &[u8; 16] = if has_capitals { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let digit = |byte: &u8| digits.iter().position(|digit| digit == byte);
    text.chunks(2).map(|pair| Some((digit(&pair[0])? * 16 + digit(pair.get(1)?)?) as u8)).collect()
}

/// Returns the bytes with a bit, zeros and their number of bits, in blocks of 64 bytes.
fn padded(bytes: &[u8], is_big: bool) -> Vec<[u32; 16]> {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    let bits = bytes.len() as u64 * 8;
    padded.extend(if is_big { bits.to_be_bytes() } else { bits.to_le_bytes() });
    let word = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("four bytes");
        if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    padded.chunks(64).map(|block| std::array::from_fn(|place| word(&block[4 * place..4 * place + 4]))).collect()
}

fn md5(bytes: &[u8]) -> Vec<u8> {
    const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state = [0x6745_2301u32, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];
    for block in padded(bytes, false) {
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64 {
            let (mixed, place) = match step / 16 {
                0 => (b & c | !b & d, step),
                1 => (d & b | !d & c, 5 * step + 1),
                2 => (b ^ c ^ d, 3 * step + 5),
                _ => (c ^ (b | !d), 7 * step),
            };
            let sine = (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(mixed).wrapping_add(sine).wrapping_add(block[place % 16]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(TURNS[step / 16][step % 4]));
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d]) {
            *word = word.wrapping_add(add);
        }
    }
    state.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn sha1(bytes: &[u8]) -> Vec<u8> {
    let mut state = [0x6745_2301u32, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
    for block in padded(bytes, true) {
        let mut words = block.to_vec();
        for place in 16..80 {
            words.push((words[place - 3] ^ words[place - 8] ^ words[place - 14] ^ words[place - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (step, word) in words.into_iter().enumerate() {
            let (mixed, constant) = match step / 20 {
                0 => (b & c | !b & d, 0x5A82_7999u32),
                1 => (b ^ c ^ d, 0x6ED9_EBA1),
                2 => (b & c | b & d | c & d, 0x8F1B_BCDC),
                _ => (b ^ c ^ d, 0xCA62_C1D6),
            };
            let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant).wrapping_add(word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d, e]) {
            *word = word.wrapping_add(add);
        }
    }
    state.into_iter().flat_map(u32::to_be_bytes).collect()
}

/// Returns the first 32 bits of the fraction of a root of each of the first primes, the square or the cube root.
fn fractions(count: usize, is_cube: bool) -> Vec<u32> {
    let is_prime = |number: &u128| (2..*number).all(|factor| !number.is_multiple_of(factor));
    let power = |root: u128| if is_cube { root * root * root } else { root * root };
    (2..)
        .filter(is_prime)
        .take(count)
        .map(|prime| {
            // The root times 2^32, rounded down, bit by bit.
            let goal = prime << if is_cube { 96 } else { 64 };
            let root = (0..36)
                .rev()
                .map(|bit| 1 << bit)
                .fold(0, |root, bit| if power(root | bit) <= goal { root | bit } else { root });
            root as u32
        })
        .collect()
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    let constants = fractions(64, true);
    let mut state = fractions(8, false);
    for block in padded(bytes, true) {
        let mut words = block.to_vec();
        for place in 16..64 {
            let (near, far) = (words[place - 15], words[place - 2]);
            let near = near.rotate_right(7) ^ near.rotate_right(18) ^ near >> 3;
            let far = far.rotate_right(17) ^ far.rotate_right(19) ^ far >> 10;
            words.push(words[place - 16].wrapping_add(near).wrapping_add(words[place - 7]).wrapping_add(far));
        }
        let mut now = state.clone();
        for (word, constant) in words.into_iter().zip(&constants) {
            let (a, e) = (now[0], now[4]);
            let chosen = e & now[5] ^ !e & now[6];
            let majority = a & now[1] ^ a & now[2] ^ now[1] & now[2];
            let first = (e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25))
                .wrapping_add(now[7])
                .wrapping_add(chosen)
                .wrapping_add(*constant)
                .wrapping_add(word);
            let second = (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)).wrapping_add(majority);
            now.rotate_right(1);
            (now[0], now[4]) = (first.wrapping_add(second), now[4].wrapping_add(first));
        }
        for (word, add) in state.iter_mut().zip(now) {
            *word = word.wrapping_add(add);
        }
    }
    state.into_iter().flat_map(u32::to_be_bytes).collect()
}

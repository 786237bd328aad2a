//! Base 16, 32 and 64 (RFC 4648).

pub(super) const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(super) const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
pub(super) const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(super) fn base16(bytes: &[u8], digits: [u8; 16], output: &mut Vec<u8>) {
    output.extend(bytes.iter().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]));
}

pub(super) fn base32(bytes: &[u8], output: &mut Vec<u8>) {
    for group in bytes.chunks(5) {
        characters::<5>(group, BASE32, 8, output);
        output.resize(output.len() + 8 - (group.len() * 8).div_ceil(5), b'=');
    }
}

pub(super) fn base64(bytes: &[u8], alphabet: &[u8; 64], is_padded: bool, output: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        characters::<6>(group, alphabet, 4, output);
        if is_padded {
            output.resize(output.len() + 3 - group.len(), b'=');
        }
    }
}

/// Appends the characters of a group, each for `BITS` bits, the highest first. A full group has `all` characters.
fn characters<const BITS: usize>(group: &[u8], alphabet: &[u8], all: usize, output: &mut Vec<u8>) {
    let value = group.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    let value = value << (all * BITS - group.len() * 8);
    let characters = (group.len() * 8).div_ceil(BITS);
    output.extend((0..characters).map(|at| {
        let character = value >> ((all - 1 - at) * BITS) & ((1 << BITS) - 1);
        alphabet[character as usize]
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfc_are_right() {
        let all = |coded: &dyn Fn(&[u8], &mut Vec<u8>)| {
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| {
                let mut output = Vec::new();
                coded(text.as_bytes(), &mut output);
                String::from_utf8(output).unwrap_or_default()
            })
        };
        let found = all(&|bytes, output| base64(bytes, BASE64, true, output));
        assert_eq!(found, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
        let found = all(&|bytes, output| base64(bytes, BASE64_URL, false, output));
        assert_eq!(found, ["", "Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy"]);
        let found = all(&base32);
        let expected = ["", "MY======", "MZXQ====", "MZXW6===", "MZXW6YQ=", "MZXW6YTB", "MZXW6YTBOI======"];
        assert_eq!(found, expected);
    }
}

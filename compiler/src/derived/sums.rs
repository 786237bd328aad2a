//! Checksums. The values of a checksum never change between versions.

/// A checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// CRC-32 of ISO 3309, as in PNG, ZIP and gzip.
    Crc32,
    /// CRC-32C (Castagnoli), as in iSCSI (RFC 3720).
    Crc32c,
    /// CRC-16 with the polynomial 0x8005, both reflected, from 0, as in ARC and LHA.
    Crc16Arc,
    /// CRC-16 with the polynomial 0x1021, from 0, as in XMODEM.
    Crc16Xmodem,
    /// CRC-16 with the polynomial 0x1021, from 0xFFFF, often called CCITT.
    Crc16Ccitt,
    /// CRC-16 with the polynomial 0x8005, both reflected, from 0xFFFF, as in Modbus.
    Crc16Modbus,
    /// Adler-32 (RFC 1950, section 8.2).
    Adler32,
    /// Fletcher's sums modulo 255 of bytes, the second one in the high byte (RFC 1146).
    Fletcher16,
    /// Sum of the bytes.
    Sum,
    /// Sum of the bytes modulo 256.
    Sum8,
    /// Exclusive or of the bytes.
    Xor8,
    /// Sum for the Internet's protocols: the complement of the ones' complement sum of 16-bit words (RFC 1071).
    Internet,
}

/// Parameters of a CRC: bits, polynomial with the lowest bit first if it is reflected, first and last value.
struct Crc {
    bits: u32,
    polynomial: u32,
    is_reflected: bool,
    first: u32,
    last: u32,
}

impl Sum {
    /// All checksums.
    pub const ALL: [Sum; 12] = [
        Sum::Crc32,
        Sum::Crc32c,
        Sum::Crc16Arc,
        Sum::Crc16Xmodem,
        Sum::Crc16Ccitt,
        Sum::Crc16Modbus,
        Sum::Adler32,
        Sum::Fletcher16,
        Sum::Sum,
        Sum::Sum8,
        Sum::Xor8,
        Sum::Internet,
    ];

    /// Returns the name that a grammar calls it by.
    pub fn name(self) -> &'static str {
        match self {
            Sum::Crc32 => "crc32",
            Sum::Crc32c => "crc32c",
            Sum::Crc16Arc => "crc16arc",
            Sum::Crc16Xmodem => "crc16xmodem",
            Sum::Crc16Ccitt => "crc16ccitt",
            Sum::Crc16Modbus => "crc16modbus",
            Sum::Adler32 => "adler32",
            Sum::Fletcher16 => "fletcher16",
            Sum::Sum => "sum",
            Sum::Sum8 => "sum8",
            Sum::Xor8 => "xor8",
            Sum::Internet => "inet16",
        }
    }

    /// Returns the checksum with this name.
    pub fn by_name(name: &str) -> Option<Sum> {
        Sum::ALL.into_iter().find(|sum| sum.name() == name)
    }

    /// Returns the greatest value.
    pub fn greatest(self) -> u64 {
        match self {
            Sum::Crc32 | Sum::Crc32c | Sum::Adler32 => u32::MAX.into(),
            Sum::Crc16Arc | Sum::Crc16Xmodem | Sum::Crc16Ccitt | Sum::Crc16Modbus | Sum::Fletcher16 | Sum::Internet => {
                u16::MAX.into()
            }
            Sum::Sum8 | Sum::Xor8 => u8::MAX.into(),
            Sum::Sum => u64::MAX,
        }
    }

    /// Returns the checksum of some bytes.
    pub fn of(self, bytes: &[u8]) -> u64 {
        let crc =
            |bits, polynomial, is_reflected, first, last| Crc { bits, polynomial, is_reflected, first, last }.of(bytes);
        match self {
            Sum::Crc32 => crc(32, 0xEDB8_8320, true, u32::MAX, u32::MAX),
            Sum::Crc32c => crc(32, 0x82F6_3B78, true, u32::MAX, u32::MAX),
            Sum::Crc16Arc => crc(16, 0xA001, true, 0, 0),
            Sum::Crc16Modbus => crc(16, 0xA001, true, 0xFFFF, 0),
            Sum::Crc16Xmodem => crc(16, 0x1021, false, 0, 0),
            Sum::Crc16Ccitt => crc(16, 0x1021, false, 0xFFFF, 0),
            Sum::Adler32 => {
                let (low, high) = pair(bytes, 65_521, 1);
                high << 16 | low
            }
            Sum::Fletcher16 => {
                let (low, high) = pair(bytes, 255, 0);
                high << 8 | low
            }
            Sum::Sum => total(bytes),
            Sum::Sum8 => total(bytes) & 0xFF,
            Sum::Xor8 => bytes.iter().fold(0, |all, byte| all ^ byte).into(),
            Sum::Internet => {
                let word = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).copied().map_or(0, u64::from);
                let mut sum: u64 = bytes.chunks(2).map(word).sum();
                while sum > 0xFFFF {
                    sum = (sum & 0xFFFF) + (sum >> 16);
                }
                !sum & 0xFFFF
            }
        }
    }
}

fn total(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte)).sum()
}

/// Returns the sum of the bytes and the sum of these sums, from a first value on.
fn pair(bytes: &[u8], modulus: u64, first: u64) -> (u64, u64) {
    bytes.iter().fold((first, 0), |(low, high), &byte| {
        let low = (low + u64::from(byte)) % modulus;
        (low, (high + low) % modulus)
    })
}

impl Crc {
    fn of(&self, bytes: &[u8]) -> u64 {
        let table = self.table();
        let high = self.bits - 8;
        let state = bytes.iter().fold(self.first, |state, &byte| {
            if self.is_reflected {
                state >> 8 ^ table[usize::from(state as u8 ^ byte)]
            } else {
                (state << 8 ^ table[usize::from((state >> high) as u8 ^ byte)]) & (u32::MAX >> (32 - self.bits))
            }
        });
        u64::from(state ^ self.last)
    }

    /// Returns what each byte adds to the state.
    fn table(&self) -> [u32; 256] {
        std::array::from_fn(|byte| {
            let byte = byte as u32;
            if self.is_reflected {
                (0..8).fold(byte, |state, _| state >> 1 ^ if state & 1 == 1 { self.polynomial } else { 0 })
            } else {
                let top = 1 << (self.bits - 1);
                let mask = u32::MAX >> (32 - self.bits);
                let first = byte << (self.bits - 8);
                (0..8).fold(first, |state, _| (state << 1 ^ if state & top != 0 { self.polynomial } else { 0 }) & mask)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the catalogue of CRCs (Cook), and of the RFCs.
    #[test]
    fn checksums_of_known_texts() {
        let digits = b"123456789";
        let known = [
            (Sum::Crc32, 0xCBF4_3926),
            (Sum::Crc32c, 0xE306_9283),
            (Sum::Crc16Arc, 0xBB3D),
            (Sum::Crc16Xmodem, 0x31C3),
            (Sum::Crc16Ccitt, 0x29B1),
            (Sum::Crc16Modbus, 0x4B37),
            (Sum::Adler32, 0x091E_01DE),
            (Sum::Sum, 477),
            (Sum::Sum8, 477 & 0xFF),
            (Sum::Xor8, 0x31),
        ];
        for (sum, value) in known {
            assert_eq!(sum.of(digits), value, "{}", sum.name());
            assert!(sum.of(digits) <= sum.greatest());
        }
        assert_eq!(Sum::Fletcher16.of(b"abcde"), 0xC8F0);
        // RFC 1071, section 3: the complement of ddf2.
        assert_eq!(Sum::Internet.of(&[0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7]), 0x220D);
        assert_eq!(Sum::ALL.map(|sum| Sum::by_name(sum.name())), Sum::ALL.map(Some));
    }
}

//! The separators between inputs.

use clap::ValueEnum;
use gramjet::{Batch, Inputs, Producer};

use crate::output::chunk::Chunk;
use crate::units::display_size;

/// The separator as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SeparatorArgument {
    /// A line feed after each input; inputs may contain line feeds themselves.
    Newline,
    /// A zero byte after each input.
    Nul,
    /// Nothing.
    None,
    /// The length in bytes before each input, as 32 bits, little endian.
    Len32,
}

/// The bytes before or after each input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// Nothing.
    None,
    /// This byte after it.
    Byte(u8),
    /// Its length before it, as 32 bits, little endian.
    Length,
}

impl Separator {
    /// Returns the separator that the argument names.
    pub fn of(argument: SeparatorArgument) -> Separator {
        match argument {
            SeparatorArgument::Newline => Separator::Byte(b'\n'),
            SeparatorArgument::Nul => Separator::Byte(0),
            SeparatorArgument::None => Separator::None,
            SeparatorArgument::Len32 => Separator::Length,
        }
    }

    /// Returns how many bytes it adds to each input.
    pub fn len(self) -> u64 {
        match self {
            Separator::None => 0,
            Separator::Byte(_) => 1,
            Separator::Length => 4,
        }
    }

    /// Returns one input with its separator.
    pub fn around(self, mut input: Vec<u8>) -> Vec<u8> {
        match self {
            Separator::None => {}
            Separator::Byte(byte) => input.push(byte),
            Separator::Length => {
                // An output has at most 1 GiB.
                let len = input.len() as u32;
                input.splice(0..0, len.to_le_bytes());
            }
        }
        input
    }

    /// Appends to `chunk` up to `asked` of the next inputs, of at most `longest` bytes each, until it has `full` bytes;
    /// returns how many.
    ///
    /// # Errors
    ///
    /// If an input is longer or does not fit the length field; the chunk ends before it then.
    #[inline]
    pub fn append<P: Producer>(
        self,
        chunk: &mut Chunk,
        inputs: &mut Inputs<P>,
        asked: u64,
        full: usize,
        longest: u64,
    ) -> Result<u64, InputTooLong> {
        let (first, before) = (chunk.ends.len(), chunk.bytes.len());
        match self {
            Separator::None => {
                let batch = Batch::new(asked, &mut chunk.ends).until_full(full);
                inputs.append_batch(&mut chunk.bytes, batch);
            }
            Separator::Byte(byte) => {
                let separator = [byte];
                let batch = Batch::new(asked, &mut chunk.ends).until_full(full).separator(&separator);
                inputs.append_batch(&mut chunk.bytes, batch);
            }
            Separator::Length => {
                chunk.bytes.extend([0; 4]);
                inputs.append_to(&mut chunk.bytes);
                let length = chunk.bytes.len().saturating_sub(before + 4) as u64;
                let Ok(field) = u32::try_from(length) else {
                    chunk.bytes.truncate(before);
                    return Err(InputTooLong::LengthField { length });
                };
                chunk.bytes[before..before + 4].copy_from_slice(&field.to_le_bytes());
                chunk.ends.push(chunk.bytes.len());
            }
        }
        // All inputs together are hardly ever longer than one may be.
        if (chunk.bytes.len() - before) as u64 > longest {
            let mut start = before;
            for index in first..chunk.ends.len() {
                if (chunk.ends[index] - start) as u64 > longest.saturating_add(self.len()) {
                    chunk.truncate(index);
                    return Err(InputTooLong::Memory { most: longest });
                }
                start = chunk.ends[index];
            }
        }
        Ok((chunk.ends.len() - first) as u64)
    }
}

/// Reasons why an input cannot be part of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputTooLong {
    /// Input that was cut short to keep memory bounded.
    #[error(
        "an input has more than {}: set `--max-len`, or a smaller `--max-depth` (a greater `--max-len` allows longer inputs)",
        display_size(*.most)
    )]
    Memory {
        /// The greatest length in bytes.
        most: u64,
    },
    /// Its length does not fit 32 bits.
    #[error("an input of {length} bytes is too long for `--separator len32`")]
    LengthField {
        /// The length in bytes.
        length: u64,
    },
}

#[cfg(test)]
mod tests {
    use gramjet::{Choices, Limits, LimitsError};

    use super::*;
    use crate::tally::Tally;

    /// Its inputs are `ab`, the empty one, `c`, and `abc`.
    struct Fixed(usize);

    impl Producer for Fixed {
        fn min_len(&self) -> u64 {
            0
        }

        fn limits(&self) -> Limits {
            Limits::new()
        }

        fn set_limits(&mut self, _: Limits) -> Result<(), LimitsError> {
            Ok(())
        }

        fn produce(&mut self, _: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
            output.extend(["ab", "", "c", "abc"][self.0].bytes());
            self.0 += 1;
            0
        }
    }

    #[test]
    fn separators() {
        for (argument, expected) in [
            (SeparatorArgument::Newline, &b"ab\n\nc\n"[..]),
            (SeparatorArgument::Nul, b"ab\0\0c\0"),
            (SeparatorArgument::None, b"abc"),
            (SeparatorArgument::Len32, b"\x02\0\0\0ab\0\0\0\0\x01\0\0\0c"),
        ] {
            let separator = Separator::of(argument);
            let mut chunk = Chunk::default();
            let mut inputs = Inputs::new(Fixed(0), 1);
            let mut made = 0;
            while made < 3 {
                made += separator.append(&mut chunk, &mut inputs, 3 - made, 1 << 20, 2).unwrap();
            }
            let before = chunk.bytes.clone();
            let too_long = separator.append(&mut chunk, &mut inputs, 1, 1 << 20, 2);
            assert_eq!(too_long, Err(InputTooLong::Memory { most: 2 }));
            assert_eq!(chunk.bytes, before);
            assert_eq!(chunk.bytes, expected);
            assert_eq!(chunk.ends.len(), 3);
            assert_eq!(chunk.bytes.len() as u64, 3 + 3 * separator.len());
            let all = chunk.bytes.len();
            assert_eq!(chunk.complete_within(all), Tally { inputs: 3, bytes: all as u64 });
            assert_eq!(chunk.complete_within(all - 1), Tally { inputs: 2, bytes: chunk.ends[1] as u64 });
            chunk.truncate(1);
            assert_eq!(chunk.bytes.len(), chunk.ends[0]);
        }
    }
}

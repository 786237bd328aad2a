//! Instructions of x86-64 as text, in the notation of NASM: those that this compiler writes, and their near relatives.
//! What it does not know stands as a byte of data, and so does what an instruction lacks at the end of the code.
//!
//! A full disassembler takes as long to build as all of the JIT. The tests compare with one.

use std::fmt::Write as _;

/// An instruction.
pub(in crate::jit) struct Decoded {
    /// The offset of its first byte.
    pub(in crate::jit) at: usize,
    pub(in crate::jit) mnemonic: String,
    /// The operands, except for the place that a jump or call leads to.
    pub(in crate::jit) operands: String,
    /// The offset that a jump or call leads to.
    pub(in crate::jit) target: Option<u64>,
}

/// Returns all instructions of `code`.
pub(in crate::jit) fn decoded(code: &[u8]) -> Vec<Decoded> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let mut decoder = Decoder::new(code, at);
        let instruction = decoder.instruction();
        let (mnemonic, operands, target) =
            instruction.unwrap_or_else(|| ("db".to_string(), hex(code[at].into()), None));
        all.push(Decoded { at, mnemonic, operands, target });
        at = if decoder.is_known { decoder.next } else { at + 1 };
    }
    all
}

/// The mnemonic, the operands, and where a jump or call leads.
type Parts = (String, String, Option<u64>);

/// The arithmetic operations, in the order of their numbers in opcodes.
const ARITHMETIC: [&str; 8] = ["add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"];
const SHIFTS: [&str; 8] = ["rol", "ror", "rcl", "rcr", "shl", "shr", "sal", "sar"];
const CONDITIONS: [&str; 16] = ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"];

/// Operations on whole vectors, behind the prefix 66 and the byte 0F.
const VECTOR: [(u8, &str); 17] = [
    (0x60, "punpcklbw"),
    (0x64, "pcmpgtb"),
    (0x67, "packuswb"),
    (0x6F, "movdqa"),
    (0x74, "pcmpeqb"),
    (0xD4, "paddq"),
    (0xD8, "psubusb"),
    (0xDB, "pand"),
    (0xDC, "paddusb"),
    (0xDF, "pandn"),
    (0xE4, "pmulhuw"),
    (0xEB, "por"),
    (0xEF, "pxor"),
    (0xF8, "psubb"),
    (0xFC, "paddb"),
    (0xFD, "paddw"),
    (0xFE, "paddd"),
];

/// Width of an operand, in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Byte = 1,
    Word = 2,
    Double = 4,
    Quad = 8,
    Vector = 16,
}

/// One of the operands that a ModRM byte names.
enum Operand {
    Register(u8),
    Memory(String),
}

struct Decoder<'a> {
    code: &'a [u8],
    next: usize,
    is_known: bool,
    /// The bits of a REX prefix.
    rex: Option<u8>,
    is_word: bool,
    repeated: Option<u8>,
}

impl<'a> Decoder<'a> {
    fn new(code: &'a [u8], at: usize) -> Decoder<'a> {
        Decoder { code, next: at, is_known: false, rex: None, is_word: false, repeated: None }
    }

    fn instruction(&mut self) -> Option<Parts> {
        let mut opcode = self.byte()?;
        loop {
            match opcode {
                0x66 => self.is_word = true,
                0xF2 | 0xF3 => self.repeated = Some(opcode),
                _ => break,
            }
            opcode = self.byte()?;
        }
        if opcode & 0xF0 == 0x40 {
            self.rex = Some(opcode);
            opcode = self.byte()?;
        }
        let parts = match opcode {
            0x0F => self.two_bytes()?,
            0xC4 => self.andn()?,
            _ => self.one_byte(opcode)?,
        };
        self.is_known = true;
        Some(parts)
    }

    fn one_byte(&mut self, opcode: u8) -> Option<Parts> {
        let width = if opcode & 1 == 0 { Width::Byte } else { self.width() };
        Some(match opcode {
            0x00..=0x3F if opcode & 7 < 4 => {
                let name = ARITHMETIC[usize::from(opcode >> 3)];
                self.pair(name, width, opcode & 2 != 0)?
            }
            0x00..=0x3F if opcode & 7 < 6 => {
                let name = ARITHMETIC[usize::from(opcode >> 3)];
                self.with_immediate(name, register(0, width, true), width)?
            }
            0x50..=0x57 => plain("push", register(self.low(opcode), Width::Quad, true)),
            0x58..=0x5F => plain("pop", register(self.low(opcode), Width::Quad, true)),
            0x63 => {
                let (reg, place) = self.operands()?;
                let to = register(reg, self.width(), true);
                plain("movsxd", format!("{to},{}", self.text(&place, Width::Double)))
            }
            0x68 | 0x6A => {
                let value = if opcode == 0x68 { self.signed(4)? } else { self.signed(1)? };
                plain("push", hex(value as u64))
            }
            0x69 | 0x6B => {
                let (reg, place) = self.operands()?;
                let width = self.width();
                let (to, from) = (register(reg, width, true), self.text(&place, width));
                let value = self.signed(if opcode == 0x6B { 1 } else { self.immediate_len(width) })?;
                let value = hex(truncated(value, width));
                plain("imul", if to == from { format!("{to},{value}") } else { format!("{to},{from},{value}") })
            }
            0x70..=0x7F => self.jump(&format!("j{}", CONDITIONS[usize::from(opcode & 15)]), 1)?,
            0x80 | 0x81 | 0x83 => {
                let (operation, place) = self.operation()?;
                let width = if opcode == 0x80 { Width::Byte } else { self.width() };
                let to = self.sized(&place, width);
                let len = if opcode == 0x81 { self.immediate_len(width) } else { 1 };
                let value = hex(truncated(self.signed(len)?, width));
                plain(ARITHMETIC[usize::from(operation)], format!("{to},{value}"))
            }
            0x84 | 0x85 => self.pair("test", width, false)?,
            0x86 | 0x87 => self.pair("xchg", width, false)?,
            0x88..=0x8B => self.pair("mov", width, opcode & 2 != 0)?,
            0x8D => {
                let (reg, place) = self.operands()?;
                let to = register(reg, self.width(), true);
                plain("lea", format!("{to},{}", self.text(&place, Width::Quad)))
            }
            0x90 if self.repeated.is_none() => plain("nop", String::new()),
            0x98 if self.is_wide() => plain("cdqe", String::new()),
            0xA4 | 0xA5 | 0xAA | 0xAB if self.repeated == Some(0xF3) => {
                let name = if opcode < 0xAA { "movs" } else { "stos" };
                plain("rep", format!("{name}{}", suffix(width)))
            }
            0xA8 | 0xA9 => self.with_immediate("test", register(0, width, true), width)?,
            0xB0..=0xB7 => {
                let to = register(self.low(opcode), Width::Byte, self.rex.is_some());
                plain("mov", format!("{to},{}", hex(truncated(self.signed(1)?, Width::Byte))))
            }
            0xB8..=0xBF => {
                let width = self.width();
                let to = register(self.low(opcode), width, true);
                let value = truncated(self.signed(width as usize)?, width);
                plain("mov", format!("{to},{}", hex(value)))
            }
            0xC0 | 0xC1 | 0xD0..=0xD3 => {
                let (operation, place) = self.operation()?;
                let to = self.sized(&place, width);
                let count = match opcode {
                    0xC0 | 0xC1 => hex(self.byte()?.into()),
                    0xD0 | 0xD1 => "1".to_string(),
                    _ => "cl".to_string(),
                };
                plain(SHIFTS[usize::from(operation)], format!("{to},{count}"))
            }
            0xC3 => plain("ret", String::new()),
            0xC6 | 0xC7 => {
                let (operation, place) = self.operation()?;
                let to = self.sized(&place, width);
                let value = hex(truncated(self.signed(self.immediate_len(width))?, width));
                if operation != 0 {
                    return None;
                }
                plain("mov", format!("{to},{value}"))
            }
            0xCC => plain("int3", String::new()),
            0xE8 => self.jump("call", 4)?,
            0xE9 => self.jump("jmp", 4)?,
            0xEB => self.jump("jmp", 1)?,
            0xF6 | 0xF7 => {
                let (operation, place) = self.operation()?;
                let to = self.sized(&place, width);
                match operation {
                    0 => {
                        let value = hex(truncated(self.signed(self.immediate_len(width))?, width));
                        plain("test", format!("{to},{value}"))
                    }
                    1 => return None,
                    _ => plain(["not", "neg", "mul", "imul", "div", "idiv"][usize::from(operation) - 2], to),
                }
            }
            0xFE | 0xFF => {
                let (operation, place) = self.operation()?;
                match (operation, opcode) {
                    (0, _) => plain("inc", self.sized(&place, width)),
                    (1, _) => plain("dec", self.sized(&place, width)),
                    (2, 0xFF) => plain("call", self.sized(&place, Width::Quad)),
                    (4, 0xFF) => plain("jmp", self.sized(&place, Width::Quad)),
                    (6, 0xFF) => plain("push", self.sized(&place, Width::Quad)),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// Returns the instructions that begin with 0F.
    fn two_bytes(&mut self) -> Option<Parts> {
        let opcode = self.byte()?;
        let condition = CONDITIONS[usize::from(opcode & 15)];
        Some(match opcode {
            0x10 | 0x11 if !self.is_word && self.repeated.is_none() => {
                self.pair("movups", Width::Vector, opcode == 0x10)?
            }
            0x1F => {
                let (_, place) = self.operation()?;
                plain("nop", self.sized(&place, self.width()))
            }
            0x38 if self.is_word && self.byte()? == 0x00 => self.pair("pshufb", Width::Vector, true)?,
            0x40..=0x4F => self.pair(&format!("cmov{condition}"), self.width(), true)?,
            0x6E | 0x7E if self.is_word => {
                let (reg, place) = self.operands()?;
                let (name, width) = if self.is_wide() { ("movq", Width::Quad) } else { ("movd", Width::Double) };
                let (vector, other) = (register(reg, Width::Vector, true), self.text(&place, width));
                plain(name, if opcode == 0x6E { format!("{vector},{other}") } else { format!("{other},{vector}") })
            }
            0x7E if self.repeated == Some(0xF3) => self.pair("movq", Width::Vector, true)?,
            0xD6 if self.is_word => self.pair("movq", Width::Vector, false)?,
            0xD7 if self.is_word => {
                let (reg, place) = self.operands()?;
                let to = register(reg, Width::Double, true);
                plain("pmovmskb", format!("{to},{}", self.text(&place, Width::Vector)))
            }
            0x6F if self.repeated == Some(0xF3) => self.pair("movdqu", Width::Vector, true)?,
            0x7F if self.repeated == Some(0xF3) => self.pair("movdqu", Width::Vector, false)?,
            0x7F if self.is_word => self.pair("movdqa", Width::Vector, false)?,
            0x80..=0x8F => self.jump(&format!("j{condition}"), 4)?,
            0x90..=0x9F => {
                let (_, place) = self.operation()?;
                plain(&format!("set{condition}"), self.sized(&place, Width::Byte))
            }
            0xAF => self.pair("imul", self.width(), true)?,
            0xB6 | 0xB7 | 0xBE | 0xBF => {
                let (reg, place) = self.operands()?;
                let to = register(reg, self.width(), true);
                let from = self.sized(&place, if opcode & 1 == 0 { Width::Byte } else { Width::Word });
                plain(if opcode < 0xB8 { "movzx" } else { "movsx" }, format!("{to},{from}"))
            }
            0xBC | 0xBD => {
                let names = if self.repeated == Some(0xF3) { ["tzcnt", "lzcnt"] } else { ["bsf", "bsr"] };
                self.pair(names[usize::from(opcode & 1)], self.width(), true)?
            }
            0xB8 if self.repeated == Some(0xF3) => self.pair("popcnt", self.width(), true)?,
            _ if self.is_word => {
                let (_, name) = VECTOR.into_iter().find(|(code, _)| *code == opcode)?;
                self.pair(name, Width::Vector, true)?
            }
            _ => return None,
        })
    }

    /// Returns `andn`, the one instruction here that begins with a VEX prefix.
    fn andn(&mut self) -> Option<Parts> {
        let (first, second) = (self.byte()?, self.byte()?);
        if first & 0x1F != 2 || second & 7 != 0 || self.byte()? != 0xF2 {
            return None;
        }
        // The bits of REX are inverted here, except for W, which stands at the top.
        self.rex = Some(0x40 | (!first >> 5 & 7) | (second >> 7 << 3));
        let (reg, place) = self.operands()?;
        let width = self.width();
        let middle = register(!(second >> 3) & 15, width, true);
        let operands = format!("{},{middle},{}", register(reg, width, true), self.text(&place, width));
        Some(plain("andn", operands))
    }

    /// Returns two operands of one width, of which the register is the first one or the second.
    fn pair(&mut self, name: &str, width: Width, is_first: bool) -> Option<Parts> {
        let (reg, place) = self.operands()?;
        let own = register(reg, width, self.rex.is_some() || width != Width::Byte);
        let other = self.text(&place, width);
        Some(plain(name, if is_first { format!("{own},{other}") } else { format!("{other},{own}") }))
    }

    fn with_immediate(&mut self, name: &str, to: String, width: Width) -> Option<Parts> {
        let value = truncated(self.signed(self.immediate_len(width))?, width);
        Some(plain(name, format!("{to},{}", hex(value))))
    }

    /// Returns a jump or call by a distance of `len` bytes.
    fn jump(&mut self, name: &str, len: usize) -> Option<Parts> {
        let distance = self.signed(len)?;
        let target = (self.next as u64).wrapping_add_signed(distance);
        Some((name.to_string(), hex(target), Some(target)))
    }

    /// Returns the operation that the middle of a ModRM byte chooses, and the operand.
    fn operation(&mut self) -> Option<(u8, Operand)> {
        let (reg, place) = self.operands()?;
        Some((reg & 7, place))
    }

    /// Returns the register and the other operand that a ModRM byte names.
    fn operands(&mut self) -> Option<(u8, Operand)> {
        let modrm = self.byte()?;
        let reg = modrm >> 3 & 7 | self.rex_bit(2);
        let base = modrm & 7;
        if modrm >> 6 == 3 {
            return Some((reg, Operand::Register(base | self.rex_bit(0))));
        }
        let mut parts = Vec::new();
        let mut has_base = true;
        if base == 4 {
            let sib = self.byte()?;
            let (index, base) = (sib >> 3 & 7 | self.rex_bit(1), sib & 7);
            has_base = base != 5 || modrm >> 6 != 0;
            if has_base {
                parts.push(register(base | self.rex_bit(0), Width::Quad, true));
            }
            if index != 4 {
                let name = register(index, Width::Quad, true);
                parts.push(if sib >> 6 == 0 { name } else { format!("{name}*{}", 1 << (sib >> 6)) });
            }
        } else if base == 5 && modrm >> 6 == 0 {
            let distance = self.signed(4)?;
            // From the end of the instruction, which an immediate value would make longer: none has one here.
            let address = (self.next as u64).wrapping_add_signed(distance);
            return Some((reg, Operand::Memory(format!("[rel {}]", hex(address)))));
        } else {
            parts.push(register(base | self.rex_bit(0), Width::Quad, true));
        }
        let displacement = match modrm >> 6 {
            0 if has_base => 0,
            1 => self.signed(1)?,
            _ => self.signed(4)?,
        };
        let mut text = format!("[{}", parts.join("+"));
        if displacement != 0 || parts.is_empty() {
            let sign = if displacement < 0 { "-" } else { "+" };
            let sign = if parts.is_empty() { "" } else { sign };
            let _ = write!(text, "{sign}{}", hex(displacement.unsigned_abs()));
        }
        text.push(']');
        Some((reg, Operand::Memory(text)))
    }

    fn text(&self, place: &Operand, width: Width) -> String {
        match place {
            Operand::Register(number) => register(*number, width, self.rex.is_some() || width != Width::Byte),
            Operand::Memory(text) => text.clone(),
        }
    }

    /// Returns an operand whose width no other one shows.
    fn sized(&self, place: &Operand, width: Width) -> String {
        let text = self.text(place, width);
        let name = match width {
            Width::Byte => "byte",
            Width::Word => "word",
            Width::Double => "dword",
            Width::Quad => "qword",
            Width::Vector => "oword",
        };
        if matches!(place, Operand::Memory(_)) { format!("{name} {text}") } else { text }
    }

    /// Returns the width of operands that are no bytes.
    fn width(&self) -> Width {
        match (self.is_wide(), self.is_word) {
            (true, _) => Width::Quad,
            (false, true) => Width::Word,
            (false, false) => Width::Double,
        }
    }

    fn immediate_len(&self, width: Width) -> usize {
        (width as usize).min(4)
    }

    fn is_wide(&self) -> bool {
        self.rex_bit(3) != 0
    }

    /// Returns 8 if a bit of the REX prefix is set.
    fn rex_bit(&self, bit: u8) -> u8 {
        (self.rex.unwrap_or(0) >> bit & 1) << 3
    }

    /// Returns the register that the end of an opcode names.
    fn low(&self, opcode: u8) -> u8 {
        opcode & 7 | self.rex_bit(0)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.code.get(self.next)?;
        self.next += 1;
        Some(byte)
    }

    /// Returns a signed number of `len` bytes.
    fn signed(&mut self, len: usize) -> Option<i64> {
        let bytes = self.code.get(self.next..self.next + len)?;
        self.next += len;
        let mut word = [if bytes[len - 1] >= 0x80 { 0xFF } else { 0 }; 8];
        word[..len].copy_from_slice(bytes);
        Some(i64::from_le_bytes(word))
    }
}

fn plain(name: &str, operands: String) -> Parts {
    (name.to_string(), operands, None)
}

/// Returns the bits of a number that an operand has.
fn truncated(value: i64, width: Width) -> u64 {
    let bits = 8 * width as u32;
    if bits >= 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) }
}

/// Returns the letter by which operations on strings end.
fn suffix(width: Width) -> &'static str {
    match width {
        Width::Byte => "b",
        Width::Word => "w",
        Width::Double => "d",
        _ => "q",
    }
}

/// Returns the name of a register. Without a REX prefix, four bytes are the second ones of registers.
fn register(number: u8, width: Width, has_rex: bool) -> String {
    const OLD: [&str; 8] = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"];
    let Some(old) = OLD.get(usize::from(number)).filter(|_| width != Width::Vector) else {
        return match width {
            Width::Byte => format!("r{number}b"),
            Width::Word => format!("r{number}w"),
            Width::Double => format!("r{number}d"),
            Width::Quad => format!("r{number}"),
            Width::Vector => format!("xmm{number}"),
        };
    };
    match width {
        Width::Byte if number < 4 => format!("{}l", &old[..1]),
        Width::Byte if has_rex => format!("{old}l"),
        Width::Byte => ["ah", "ch", "dh", "bh"][usize::from(number) - 4].to_string(),
        Width::Word => (*old).to_string(),
        Width::Double => format!("e{old}"),
        Width::Quad | Width::Vector => format!("r{old}"),
    }
}

/// Returns a number as NASM has it: hexadecimal from 10 on, with a digit at its beginning.
fn hex(value: u64) -> String {
    let digits = format!("{value:X}");
    match value {
        0..=9 => digits,
        _ if digits.starts_with(|first: char| first.is_ascii_digit()) => format!("{digits}h"),
        _ => format!("0{digits}h"),
    }
}

//! Texts with parts whose bytes follow from other parts: their lengths, their bytes, and a check of each of these parts
//! in a text that another implementation has made (E7).

use std::rc::Rc;

use gramjet_compiler::derived::{Bits, Derived, Measure, NumberForm, Order, Padding, Radix, Term, Value};
use gramjet_compiler::ir::Codec;

use crate::digests;

/// A text in which some bytes are still to be found, as a list of pieces.
#[derive(Clone, Debug, Default)]
pub struct Text {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
    /// The number of rounds of each part that is a repetition.
    counts: Vec<u64>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// The next bytes, as many as this.
    Bytes(usize),
    /// The beginning of a part.
    Begin(usize),
    /// The end of a part.
    End(usize),
    /// Bytes that follow from parts.
    Derived(Rc<Derived<usize>>),
    /// A repetition of as many rounds as a number says, and this number of rounds.
    Times(Rc<Value<usize>>, u64),
    /// The beginning of a coded part.
    BeginCode,
    /// The end of a coded part, and its length if it is complete.
    EndCode(Codec, Option<u64>),
}

/// Returns the number of bytes of bit fields.
pub fn bytes_of<L>(bits: &Bits<L>) -> u64 {
    bits.fields.iter().map(|(width, _)| u64::from(*width)).sum::<u64>() / 8
}

/// Returns the bits of bytes, each byte from its highest or from its lowest bit on.
fn bits_of(bytes: &[u8], order: Order) -> Vec<bool> {
    let place = |bit: u32| if order == Order::Big { 7 - bit } else { bit };
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> place(bit) & 1 == 1)).collect()
}

/// Returns the number that bits are, from the highest or from the lowest one on.
fn number_of(bits: &[bool], order: Order) -> u128 {
    let add = |number: u128, &bit: &bool| number << 1 | u128::from(bit);
    if order == Order::Big { bits.iter().fold(0, add) } else { bits.iter().rev().fold(0, add) }
}

/// Returns the number of filler bytes after a part of this length.
pub fn filler(len: u64, padding: &Padding) -> u64 {
    let to = u64::from(padding.to);
    if padding.is_exact {
        return to.saturating_sub(len);
    }
    // The length is not known yet while facts are found.
    (0..to)
        .find(|&more| len.saturating_add(more) == u64::MAX || (len + more).is_multiple_of(to))
        .expect("one of them is")
}

/// A search for lengths or bytes of pieces that need each other.
#[derive(Clone, Debug)]
enum Found<T> {
    Not,
    Open,
    Known(T),
}

impl Text {
    /// Returns the numbers of further parts, which have not begun yet.
    pub fn add_parts(&mut self, count: usize) -> std::ops::Range<usize> {
        let first = self.counts.len();
        self.counts.resize(first + count, 0);
        first..self.counts.len()
    }

    /// Appends bytes.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        match self.pieces.last_mut() {
            Some(Piece::Bytes(count)) => *count += bytes.len(),
            _ => self.pieces.push(Piece::Bytes(bytes.len())),
        }
    }

    /// Returns the bytes that were appended, without those that follow from parts.
    pub fn plain(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes of a part that has ended, without those that follow from parts.
    pub fn plain_of(&self, part: usize) -> Vec<u8> {
        let pieces = self.pieces_of(part).expect("the part has ended");
        let len = |pieces: &[Piece]| -> usize {
            pieces.iter().map(|piece| if let Piece::Bytes(count) = piece { *count } else { 0 }).sum()
        };
        let from = len(&self.pieces[..pieces.start]);
        self.bytes[from..from + len(&self.pieces[pieces])].to_vec()
    }

    /// Returns the number of bytes and pieces.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.pieces.len()
    }

    /// Returns a length that the text has at least, whatever follows. It may have parts that have not ended.
    pub fn least_len(&self) -> u64 {
        let (mut len, mut begins, mut lengths) = (0u64, vec![0; self.counts.len()], vec![0; self.counts.len()]);
        let mut codes = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(count) => len = (*count as u64).saturating_add(len),
                Piece::Begin(part) => begins[*part] = len,
                Piece::End(part) => lengths[*part] = len - begins[*part],
                Piece::Times(..) => {}
                Piece::BeginCode => codes.push(len),
                Piece::EndCode(_, coded) => {
                    let begin = codes.pop().unwrap_or(0);
                    len = coded.map_or(len, |coded| begin + coded);
                }
                Piece::Derived(derived) => {
                    let own: u64 = match &**derived {
                        Derived::Copy(part) => lengths[*part],
                        Derived::Number(_, form) => form.fixed_width().unwrap_or(1),
                        Derived::Bits(bits) => bytes_of(bits),
                        Derived::Padding(..) => 0,
                    };
                    len = own.saturating_add(len);
                }
            }
        }
        len
    }

    /// Begins a coded part.
    pub fn begin_code(&mut self) {
        self.pieces.push(Piece::BeginCode);
    }

    /// Ends a coded part. It has the length of its bytes if it is complete, else the greatest that it can have.
    pub fn end_code(&mut self, codec: Codec, is_complete: bool) {
        let begin = self.open_code(self.pieces.len()).expect("a coded part is open");
        let len = is_complete.then(|| {
            let bytes = Settling::new(self).of_pieces(begin + 1..self.pieces.len());
            let mut coded = Vec::new();
            codec.coding.encode(&bytes, &mut coded);
            coded.len() as u64
        });
        self.pieces.push(Piece::EndCode(codec, len));
    }

    /// Returns the beginning of the innermost coded part around a piece.
    fn open_code(&self, piece: usize) -> Option<usize> {
        let mut closed = 0;
        (0..piece).rev().find(|&piece| match self.pieces[piece] {
            Piece::EndCode(..) => {
                closed += 1;
                false
            }
            Piece::BeginCode if closed > 0 => {
                closed -= 1;
                false
            }
            Piece::BeginCode => true,
            _ => false,
        })
    }

    /// Returns the end of the coded part that begins at a piece.
    fn end_of_code(&self, begin: usize) -> usize {
        let mut open = 0;
        let is_end = |piece: &Piece| {
            match piece {
                Piece::BeginCode => open += 1,
                Piece::EndCode(..) => open -= 1,
                _ => {}
            }
            open == 0
        };
        begin + self.pieces[begin..].iter().position(is_end).expect("the coded part has ended")
    }

    /// Returns true if a part has begun.
    pub fn has_begun(&self, part: usize) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Begin(begun) if *begun == part))
    }

    /// Begins a part.
    pub fn begin(&mut self, part: usize) {
        self.pieces.push(Piece::Begin(part));
    }

    /// Ends a part.
    pub fn end(&mut self, part: usize) {
        self.pieces.push(Piece::End(part));
    }

    /// Counts a round of a part.
    pub fn count(&mut self, part: usize) {
        self.counts[part] += 1;
    }

    /// Appends bytes that follow from parts.
    pub fn add_derived(&mut self, derived: Derived<usize>) {
        self.pieces.push(Piece::Derived(derived.into()));
    }

    /// Notes that as many rounds follow as a number says, and returns how many.
    ///
    /// # Panics
    ///
    /// If they follow from a part whose length depends on what comes later.
    pub fn add_times(&mut self, rounds: Value<usize>) -> u64 {
        let mut lengths = Lengths::new(self);
        let count = lengths.value(&rounds).expect("rounds follow from parts whose lengths are known");
        self.pieces.push(Piece::Times(rounds.into(), count));
        count
    }

    /// Returns the length, and whether each number of fixed width that measures parts fits into its field, and each
    /// coded text is no longer than `longest`. All parts must have ended.
    pub fn measure(&self, longest: Option<u64>) -> (u64, bool) {
        let mut lengths = Lengths::new(self);
        let len = lengths.of_pieces(0..self.pieces.len()).expect("all parts have ended");
        let mut codes = (0..self.pieces.len()).filter(|&piece| matches!(self.pieces[piece], Piece::BeginCode));
        let are_short = longest.is_none_or(|longest| {
            codes.all(|begin| lengths.of_pieces(begin + 1..self.end_of_code(begin)).is_some_and(|len| len <= longest))
        });
        let fits = are_short
            && self.pieces.iter().all(|piece| {
                let Piece::Derived(derived) = piece else { return true };
                if let Derived::Bits(bits) = &**derived {
                    let mut fits =
                        |width: u8, value| lengths.value(value).is_some_and(|value| u128::from(value) < 1 << width);
                    return bits.fields.iter().all(|(width, value)| fits(*width, value));
                }
                let Derived::Number(value, form) = &**derived else { return lengths.bounds_padded(derived) };
                value.terms.iter().any(|term| term.measure.is_of_content())
                    || lengths.value(value).is_some_and(|value| value <= form.greatest())
            });
        (len, fits)
    }

    /// Returns the value of a number that measures parts, which must have ended.
    pub fn value(&self, value: &Value<usize>) -> u64 {
        Lengths::new(self).value(value).expect("all parts have ended")
    }

    /// Returns the bytes. All parts must have ended.
    pub fn settled(&self) -> Vec<u8> {
        let mut settling = Settling::new(self);
        settling.of_pieces(0..self.pieces.len())
    }

    /// Returns where in `output` something is not as the grammar has it, if `output` is a text with the same decisions
    /// as this one. Numbers are read and compared with what they measure in `output` itself.
    pub fn fault(&self, output: &[u8]) -> Option<String> {
        // Other decoders judge what is coded.
        if self.pieces.iter().any(|piece| matches!(piece, Piece::BeginCode)) {
            return (self.settled() != output).then(|| "it has other coded parts".to_string());
        }
        let mut lengths = Lengths::new(self);
        let mut begins = vec![0; self.pieces.len() + 1];
        for piece in 0..self.pieces.len() {
            begins[piece + 1] = begins[piece] + lengths.of_piece(piece).expect("all parts have ended") as usize;
        }
        if begins[self.pieces.len()] != output.len() {
            return Some(format!("{} bytes instead of {}", output.len(), begins[self.pieces.len()]));
        }
        let place = |part: usize, is_end: bool| {
            let is_it = |piece: &Piece| match piece {
                Piece::Begin(begun) => !is_end && *begun == part,
                Piece::End(ended) => is_end && *ended == part,
                _ => false,
            };
            begins[self.pieces.iter().position(is_it).expect("the part is in the text")]
        };
        let part = |part: usize| &output[place(part, false)..place(part, true)];
        // The bytes of a part as they count in a checksum in it: some are others.
        let summed = |of: usize, number: &Value<usize>, own: &std::ops::Range<usize>| {
            let (begin, mut bytes) = (place(of, false), part(of).to_vec());
            if let Some(blank) = &number.blank {
                let others = blank.part.map_or(own.clone(), |field| place(field, false)..place(field, true));
                others.for_each(|at| bytes[at - begin] = blank.byte);
            }
            bytes
        };
        let value = |value: &Value<usize>, own: &std::ops::Range<usize>| {
            let sum = value.undivided(|term| match term.measure {
                Measure::Len => part(term.label).len() as u64,
                Measure::Count => self.counts[term.label],
                Measure::Offset | Measure::Base => place(term.label, false) as u64,
                Measure::Sum(sum) => sum.of(&summed(term.label, value, own)),
                Measure::Digest(_) => panic!("a digest is no number"),
            });
            // A quotient is rounded up.
            (sum.max(0) as u64).div_ceil(value.divisor.into())
        };
        let mut literal = 0;
        self.pieces.iter().enumerate().find_map(|(number, piece)| {
            let place_of_own = begins[number]..begins[number + 1];
            let found = &output[place_of_own.clone()];
            let is_right = match piece {
                Piece::Bytes(count) => {
                    literal += count;
                    found == &self.bytes[literal - count..literal]
                }
                Piece::Begin(_) | Piece::End(_) | Piece::BeginCode | Piece::EndCode(..) => true,
                Piece::Times(rounds, count) => value(rounds, &place_of_own) == *count,
                Piece::Derived(derived) => match &**derived {
                    Derived::Copy(label) => found == part(*label),
                    Derived::Bits(bits) => {
                        let mut rest = bits_of(found, bits.order);
                        bits.fields.iter().all(|(width, number)| {
                            let own: Vec<bool> = rest.drain(..usize::from(*width)).collect();
                            number_of(&own, bits.order) == u128::from(value(number, &place_of_own))
                        })
                    }
                    Derived::Padding(label, padding) => {
                        let (len, to) = (part(*label).len() + found.len(), padding.to as usize);
                        let is_least = found.len() < to || padding.is_exact;
                        let is_long_enough = if padding.is_exact { len == to } else { len % to == 0 };
                        is_long_enough && is_least && found.iter().all(|&byte| byte == padding.filler)
                    }
                    Derived::Number(number, form) if number.digest().is_some() => {
                        let (digest, &label) = number.digest().expect("it is one");
                        let shown = match form {
                            NumberForm::Text(Radix::Hex, _) => digests::hex(found, false),
                            NumberForm::Text(Radix::UpperHex, _) => digests::hex(found, true),
                            _ => Some(found.to_vec()),
                        };
                        shown == Some(digests::of(digest.name(), &summed(label, number, &place_of_own)))
                    }
                    Derived::Number(number, form) => {
                        let is_cut = number.terms.iter().any(|term| term.measure.is_of_content());
                        let read = form.read(found);
                        let greatest = u128::from(form.greatest()) + 1;
                        let expected = u128::from(value(number, &place_of_own));
                        read.map(u128::from) == Some(if is_cut { expected % greatest } else { expected })
                    }
                },
            };
            (!is_right).then(|| format!("at {}: {piece:?} is {}", begins[number], found.escape_ascii()))
        })
    }

    /// Returns the pieces of a part; `None` if it has not ended.
    fn pieces_of(&self, part: usize) -> Option<std::ops::Range<usize>> {
        let is_begin = |piece: &Piece| matches!(piece, Piece::Begin(begun) if *begun == part);
        let is_end = |piece: &Piece| matches!(piece, Piece::End(ended) if *ended == part);
        let end = self.pieces.iter().rposition(is_end)?;
        Some(self.pieces[..end].iter().rposition(is_begin)? + 1..end)
    }
}

struct Lengths<'t> {
    text: &'t Text,
    found: Vec<Found<u64>>,
}

impl<'t> Lengths<'t> {
    fn new(text: &'t Text) -> Lengths<'t> {
        Lengths { text, found: vec![Found::Not; text.pieces.len()] }
    }

    /// Returns the length of a piece; `None` if it follows from a part that has not ended.
    fn of_piece(&mut self, piece: usize) -> Option<u64> {
        match self.found[piece] {
            Found::Known(len) => return Some(len),
            Found::Open => panic!("lengths follow from each other"),
            Found::Not => {}
        }
        self.found[piece] = Found::Open;
        let text = self.text;
        let len = match &text.pieces[piece] {
            Piece::Bytes(count) => *count as u64,
            Piece::Begin(_) | Piece::End(_) | Piece::Times(..) | Piece::BeginCode | Piece::EndCode(..) => 0,
            Piece::Derived(derived) => match &**derived {
                Derived::Copy(label) => self.of_part(*label)?,
                Derived::Bits(bits) => bytes_of(bits),
                Derived::Padding(label, padding) => filler(self.of_part(*label)?, padding),
                Derived::Number(value, form) => match form.fixed_width() {
                    Some(width) => width,
                    None => form.width(self.value(value)?),
                },
            },
        };
        self.found[piece] = Found::Known(len);
        Some(len)
    }

    /// Returns true if a part that is filled up to a length, if it is one, is no longer.
    fn bounds_padded(&mut self, derived: &Derived<usize>) -> bool {
        let Derived::Padding(part, padding) = derived else { return true };
        !padding.is_exact || self.of_part(*part).is_some_and(|len| len <= padding.to.into())
    }

    fn of_part(&mut self, part: usize) -> Option<u64> {
        let pieces = self.text.pieces_of(part)?;
        self.of_pieces(pieces)
    }

    /// Returns the length of some pieces; `None` if not all are known.
    fn of_pieces(&mut self, pieces: std::ops::Range<usize>) -> Option<u64> {
        let (mut sum, mut piece) = (0u64, pieces.start);
        while piece < pieces.end {
            if matches!(self.text.pieces[piece], Piece::BeginCode) {
                let end = self.text.end_of_code(piece);
                let Piece::EndCode(codec, coded) = self.text.pieces[end] else { return None };
                let len = match coded {
                    Some(coded) => coded,
                    None => codec.coding.longest(self.of_pieces(piece + 1..end)?, codec.growth),
                };
                sum = len.saturating_add(sum);
                piece = end;
            } else {
                sum = self.of_piece(piece)?.saturating_add(sum);
            }
            piece += 1;
        }
        Some(sum)
    }

    /// Returns the number of bytes before a part; `None` if it has not begun, or some of them are not known.
    fn place(&mut self, part: usize) -> Option<u64> {
        let is_begin = |piece: &Piece| matches!(piece, Piece::Begin(begun) if *begun == part);
        let begin = self.text.pieces.iter().position(is_begin)?;
        let first = self.text.open_code(begin).map_or(0, |code| code + 1);
        self.of_pieces(first..begin)
    }

    /// Returns the value of a number that measures lengths, counts and places.
    fn value(&mut self, value: &Value<usize>) -> Option<u64> {
        let mut is_known = true;
        let value = value.of(|term| match term.measure {
            Measure::Count => {
                is_known &= self.text.pieces_of(term.label).is_some();
                self.text.counts[term.label]
            }
            Measure::Offset | Measure::Base => self.place(term.label).unwrap_or_else(|| {
                is_known = false;
                0
            }),
            Measure::Len | Measure::Sum(_) | Measure::Digest(_) => self.of_part(term.label).unwrap_or_else(|| {
                is_known = false;
                0
            }),
        });
        is_known.then_some(value.max(0) as u64)
    }
}

struct Settling<'t> {
    text: &'t Text,
    lengths: Lengths<'t>,
    found: Vec<Found<Vec<u8>>>,
}

impl<'t> Settling<'t> {
    fn new(text: &'t Text) -> Settling<'t> {
        Settling { text, lengths: Lengths::new(text), found: vec![Found::Not; text.pieces.len()] }
    }

    fn of_pieces(&mut self, pieces: std::ops::Range<usize>) -> Vec<u8> {
        let (mut bytes, mut piece) = (Vec::new(), pieces.start);
        while piece < pieces.end {
            if matches!(self.text.pieces[piece], Piece::BeginCode) {
                let end = self.text.end_of_code(piece);
                let Piece::EndCode(codec, _) = self.text.pieces[end] else { return bytes };
                let inner = self.of_pieces(piece + 1..end);
                codec.coding.encode(&inner, &mut bytes);
                piece = end;
            } else {
                bytes.extend(self.of_piece(piece));
            }
            piece += 1;
        }
        bytes
    }

    fn of_part(&mut self, part: usize) -> Vec<u8> {
        self.of_pieces(self.text.pieces_of(part).expect("all parts have ended"))
    }

    /// Returns the bytes of a part, those of some pieces in it as a byte. None of these is in a coding within the part.
    fn of_part_without(&mut self, part: usize, without: std::ops::Range<usize>, byte: u8) -> Vec<u8> {
        let pieces = self.text.pieces_of(part).expect("all parts have ended");
        let mut bytes = self.of_pieces(pieces.start..without.start);
        let others = self.lengths.of_pieces(without.clone()).expect("all parts have ended");
        bytes.resize(bytes.len() + others as usize, byte);
        bytes.extend(self.of_pieces(without.end..pieces.end));
        bytes
    }

    fn of_piece(&mut self, piece: usize) -> Vec<u8> {
        match &self.found[piece] {
            Found::Known(bytes) => return bytes.clone(),
            Found::Open => panic!("bytes follow from each other"),
            Found::Not => {}
        }
        self.found[piece] = Found::Open;
        let text = self.text;
        let bytes = match &text.pieces[piece] {
            Piece::Bytes(count) => {
                let lengths =
                    text.pieces[..piece].iter().map(|piece| if let Piece::Bytes(count) = piece { *count } else { 0 });
                let begin: usize = lengths.sum();
                text.bytes[begin..begin + count].to_vec()
            }
            Piece::Begin(_) | Piece::End(_) | Piece::Times(..) | Piece::BeginCode | Piece::EndCode(..) => Vec::new(),
            Piece::Derived(derived) => match &**derived {
                Derived::Copy(label) => self.of_part(*label),
                Derived::Bits(bits) => {
                    let mut all = Vec::new();
                    for (width, value) in &bits.fields {
                        let number = self.lengths.value(value).expect("all parts have ended");
                        let from_lowest = (0..*width).map(|bit| number >> bit & 1 == 1);
                        let mut own: Vec<bool> = from_lowest.collect();
                        if bits.order == Order::Big {
                            own.reverse();
                        }
                        all.append(&mut own);
                    }
                    all.chunks(8).map(|byte| number_of(byte, bits.order) as u8).collect()
                }
                Derived::Padding(label, padding) => {
                    let len = self.lengths.of_part(*label).expect("all parts have ended");
                    vec![padding.filler; filler(len, padding) as usize]
                }
                Derived::Number(value, form) => {
                    let sums: Vec<Vec<u8>> = value
                        .terms
                        .iter()
                        .map(|term| match (term.measure.is_of_content(), &value.blank) {
                            (true, None) => self.of_part(term.label),
                            (true, Some(blank)) => {
                                let own = blank.part.map_or(Some(piece..piece + 1), |part| text.pieces_of(part));
                                self.of_part_without(term.label, own.expect("all parts have ended"), blank.byte)
                            }
                            (false, _) => Vec::new(),
                        })
                        .collect();
                    let mut contents = sums.iter();
                    let measured = |term: &Term<usize>| {
                        let content = contents.next().expect("there is one for each term");
                        match term.measure {
                            Measure::Len => self.lengths.of_part(term.label).expect("all parts have ended"),
                            Measure::Count => text.counts[term.label],
                            Measure::Offset | Measure::Base => {
                                self.lengths.place(term.label).expect("all parts have ended")
                            }
                            Measure::Sum(sum) => sum.of(content),
                            Measure::Digest(_) => 0,
                        }
                    };
                    let amount = value.amount(measured, |_| &sums[0]);
                    let mut bytes = Vec::new();
                    form.write_amount(&amount, &mut bytes);
                    bytes
                }
            },
        };
        self.found[piece] = Found::Known(bytes.clone());
        bytes
    }
}

//! Escapes in literals and sets, and the sets themselves.

use crate::charset::{CharSet, RangeList, Unit};
use crate::ordered::{Map, Set};

/// The number of a code point may begin with zeros, but has at most this many digits.
const MAX_DIGITS: usize = 16;
/// The greatest length of a property's name in bytes.
const MAX_NAME: usize = 80;

/// An error in an escape, and the length of the escape in bytes.
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) length: usize,
}

/// Returns the code point of the escape at the beginning of `text` (a backslash), and the length of the escape in
/// bytes. It may be a surrogate, which is not a character.
pub(super) fn code_point(text: &str) -> Result<(u32, usize), Problem> {
    let mut characters = text.chars();
    characters.next();
    let Some(letter) = characters.next() else {
        return Err(Problem { message: "nothing follows this backslash".to_string(), length: 1 });
    };
    let length = 1 + letter.len_utf8();
    let plain = |character| Ok((u32::from(character), length));
    match letter {
        'n' => plain('\n'),
        'r' => plain('\r'),
        't' => plain('\t'),
        'b' => plain('\u{8}'),
        'f' => plain('\u{C}'),
        'u' => {
            let behind = &text[length..];
            let (digits, length) = match behind.strip_prefix('{') {
                Some(braced) => {
                    // No code point has more digits.
                    let close = braced.bytes().take(MAX_DIGITS + 1).position(|byte| byte == b'}');
                    let digits = &braced[..close.unwrap_or(0)];
                    (digits, length + digits.len() + 2)
                }
                None => (behind.get(..4).unwrap_or(""), length + 4),
            };
            let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let value = u32::from_str_radix(digits, 16).ok().filter(|&value| is_number && value <= 0x10_FFFF);
            match value {
                Some(value) => Ok((value, length)),
                None => Err(Problem { message: "this is not the number of a code point".to_string(), length: 2 }),
            }
        }
        '\n' | '\r' => Err(Problem { message: "nothing follows this backslash".to_string(), length: 1 }),
        // `\\`, `\'`, `\]`, `\-`. A character that needs no backslash stands for itself.
        other => plain(other),
    }
}

/// The sets of properties that were looked up, by name and whether they are negated.
pub(super) type Properties = Map<(String, bool), Option<CharSet>>;

/// One item of a set.
enum Item {
    Member(u32),
    Property(CharSet),
}

/// Returns the set at the beginning of `text` (a bracket), or an error message. Also its length in bytes.
pub(super) fn set(text: &str, properties: &mut Properties) -> (Result<CharSet, String>, usize) {
    let mut ranges = RangeList::default();
    // The properties that the set has already.
    let mut seen = Set::new();
    let mut problem = None;
    // The first member of a possible range, and whether a hyphen has followed it.
    let mut low: Option<u32> = None;
    let mut hyphen = false;
    let mut position = 1;
    loop {
        let rest = &text[position..];
        let Some(first) = rest.chars().next().filter(|&first| first != '\n' && first != '\r') else {
            return (Err("this set is not closed".to_string()), position);
        };
        let (item, length) = match first {
            ']' => {
                position += 1;
                break;
            }
            '\\' if rest[1..].starts_with(['p', 'P']) => match property(rest, properties) {
                Ok((set, length)) => {
                    let is_new = seen.insert(&rest[..length]);
                    (Item::Property(if is_new { set } else { CharSet::empty(Unit::Char) }), length)
                }
                Err((message, length)) => {
                    problem.get_or_insert(message);
                    position += length;
                    continue;
                }
            },
            // A surrogate may be the bound of a range. The characters in the range count.
            '\\' => match code_point(rest) {
                Ok((value, length)) => (Item::Member(value), length),
                Err(Problem { message, length }) => {
                    problem.get_or_insert(message);
                    position += length;
                    continue;
                }
            },
            '-' if low.is_some() && !hyphen && !rest[1..].starts_with(']') => {
                hyphen = true;
                position += 1;
                continue;
            }
            other => (Item::Member(u32::from(other)), other.len_utf8()),
        };
        position += length;
        match item {
            Item::Property(set) => {
                ranges.extend(low.take().map(|member| (member, member)));
                ranges.extend(set.ranges().iter().copied());
                hyphen = false;
            }
            Item::Member(high) if hyphen => {
                let from = low.take().unwrap_or(high);
                if from > high {
                    problem.get_or_insert("the bounds of this range are reversed".to_string());
                }
                ranges.push(from, high);
                hyphen = false;
            }
            Item::Member(member) => {
                ranges.extend(low.replace(member).map(|member| (member, member)));
            }
        }
    }
    ranges.extend(low.map(|member| (member, member)));
    let set = CharSet::new(Unit::Char, ranges.into_merged());
    match problem {
        Some(message) => (Err(message), position),
        None => (Ok(set), position),
    }
}

/// Returns the set of `\p{...}` or `\P{...}` at the beginning of `text`, or an error message. Also its length in bytes.
fn property(text: &str, properties: &mut Properties) -> Result<(CharSet, usize), (String, usize)> {
    let end = text.bytes().take(MAX_NAME + 4).position(|byte| byte == b'}');
    let Some(end) = end.filter(|_| text[2..].starts_with('{')) else {
        return Err(("a property is written `\\p{Lu}`".to_string(), 2));
    };
    let name = &text[3..end];
    let length = end + 1;
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '=' | ' ')) {
        return Err(("this is not the name of a property".to_string(), length));
    }
    let negated = text[1..].starts_with('P');
    let place = (name.to_string(), negated);
    let set = properties.entry(place).or_insert_with(|| {
        let set = named_property(name)?;
        Some(if negated { CharSet::new(Unit::Char, [(0, 0x10_FFFF)]).difference(&set) } else { set })
    });
    match set {
        Some(set) => Ok((set.clone(), length)),
        None => Err((format!("the Unicode property `{name}` is not known"), length)),
    }
}

fn named_property(name: &str) -> Option<CharSet> {
    if let Some((_, (low, high))) = BLOCKS.iter().find(|(block, _)| block.eq_ignore_ascii_case(name)) {
        return Some(CharSet::new(Unit::Char, [(*low, *high)]));
    }
    // A few names have the form `EmojiPresentation=EmojiDefault`, which only ANTLR has.
    let name = match name {
        "EmojiPresentation=EmojiDefault" => "Emoji_Presentation",
        "EmojiPresentation=TextDefault" | "EmojiRK" | "EmojiNRK" => "Emoji",
        other => other,
    };
    let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?;
    let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = hir.kind() else { return None };
    let ranges = class.ranges().iter().map(|range| (u32::from(range.start()), u32::from(range.end())));
    Some(CharSet::new(Unit::Char, ranges))
}

/// Blocks that grammars name. `regex-syntax` knows other properties, but no blocks.
const BLOCKS: &[(&str, (u32, u32))] = &[
    ("InBasic_Latin", (0x00, 0x7F)),
    ("InLatin_1_Supplement", (0x80, 0xFF)),
    ("InLatin_Extended_A", (0x100, 0x17F)),
    ("InLatin_Extended_B", (0x180, 0x24F)),
    ("InGreek_and_Coptic", (0x370, 0x3FF)),
    ("InCyrillic", (0x400, 0x4FF)),
    ("InHebrew", (0x590, 0x5FF)),
    ("InArabic", (0x600, 0x6FF)),
    ("InDevanagari", (0x900, 0x97F)),
    ("InThai", (0xE00, 0xE7F)),
    ("InHiragana", (0x3040, 0x309F)),
    ("InKatakana", (0x30A0, 0x30FF)),
    ("InCJK_Unified_Ideographs", (0x4E00, 0x9FFF)),
    ("InHangul_Syllables", (0xAC00, 0xD7AF)),
    ("InMiscellaneous_Symbols", (0x2600, 0x26FF)),
    ("InEmoticons", (0x1F600, 0x1F64F)),
];

//! The rules that all schemas share: blanks, strings, numbers and any value.

use super::Reader;
use super::list::Member;
use super::make::Make;
use crate::ast::{Expr, Name, Rule};

/// The names of the shared rules.
pub(super) const NAMES: [&str; 11] =
    ["document", "never", "blanks", "string", "character", "control", "integer", "fraction", "number", "any", "escape"];

const DIGIT: (u32, u32) = (0x30, 0x39);
const HEX: [(u32, u32); 3] = [DIGIT, (0x41, 0x46), (0x61, 0x66)];

impl Reader<'_, '_> {
    /// Returns the name of a shared rule, which is added when it is first asked for.
    pub(super) fn shared(&mut self, name: &'static str) -> &'static str {
        if self.shared.insert(name) {
            let make = Make(self.doc.span(0));
            let body = match name {
                "blanks" => {
                    let blank = make.class(&[(0x20, 0x20), (0x09, 0x0A), (0x0D, 0x0D)]);
                    make.any_or_read([make.empty()], [make.many(blank, 1, None)])
                }
                "string" => self.any_string(make),
                "character" => {
                    let escape = make.rule(self.shared("escape"));
                    let plain = make.class(&[(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E), (0xE9, 0xE9), (0x20AC, 0x20AC)]);
                    let others = make.class(&[(0x7F, 0xE8), (0xEA, 0x20AB), (0x20AD, 0x10_FFFF)]);
                    make.any_or_read([plain], [others, escape])
                }
                "escape" => escape(make),
                "control" => {
                    let code = make.seq([make.text("u00"), make.class(&[(0x30, 0x31)]), make.class(&HEX)]);
                    let letters = ["b", "f", "n", "r", "t"].map(|letter| make.text(letter));
                    make.seq([make.text("\\"), make.any(letters.into_iter().chain([code]))])
                }
                "any" => self.any_value(make),
                _ => number(name, make),
            };
            self.add(Rule::new(Name { text: name.to_string(), span: make.0 }, body));
        }
        name
    }

    fn any_string(&mut self, make: Make) -> Expr {
        let characters = make.many(make.rule(self.shared("character")), 0, None);
        let escape = make.rule(self.shared("escape"));
        let with_escape = make.seq([characters.clone(), escape, characters.clone()]);
        let inner = make.any([characters, with_escape]);
        make.seq([make.text("\""), inner, make.text("\"")])
    }

    fn any_value(&mut self, make: Make) -> Expr {
        let blanks = make.rule(self.shared("blanks"));
        let item = make.seq([make.rule("any"), blanks.clone()]);
        let comma = make.seq([make.text(","), blanks.clone()]);
        let items = make.seq([item.clone(), make.many(make.seq([comma.clone(), item.clone()]), 0, None)]);
        let array = make.seq([make.text("["), blanks.clone(), make.maybe(items), make.text("]")]);
        let colon = || make.seq([blanks.clone(), make.text(":"), blanks.clone(), item.clone()]);
        let letters = [(0x61, 0x66), (0x67, 0x6D), (0x6E, 0x7A)];
        let key = |letters: (u32, u32)| {
            let rest = make.many(make.class(&[DIGIT, (0x5F, 0x5F), (0x61, 0x7A)]), 0, Some(7));
            make.seq([make.text("\""), make.class(&[letters]), rest, make.text("\"")])
        };
        let members = letters.map(|letters| Member { expr: make.seq([key(letters), colon()]), is_required: false });
        let stem = std::mem::replace(&mut self.stem, "any".to_string());
        let count = super::facts::Count { min: 0, max: None };
        let drawn = self.list(members.to_vec(), count, make);
        self.stem = stem;
        let member = make.seq([make.rule(self.shared("string")), colon()]);
        let read = make.seq([member.clone(), make.many(make.seq([comma, member]), 0, None)]);
        let body = make.any_or_read(drawn, [read]);
        let object = make.seq([make.text("{"), blanks, body, make.text("}")]);
        let words = ["null", "true", "false"].map(|word| make.text(word));
        let simple = [make.rule(self.shared("number")), make.rule(self.shared("string"))];
        make.any(words.into_iter().chain(simple).chain([array, object]))
    }
}

fn escape(make: Make) -> Expr {
    let hex = |count| make.many(make.class(&HEX), count, Some(count));
    let any = |letters: [char; 3]| make.class(&letters.map(|c| (c.into(), c.into())));
    // Code points that are no halves of pairs, then pairs.
    let low = make.class(&[DIGIT, (0x41, 0x43), (0x45, 0x46), (0x61, 0x63), (0x65, 0x66)]);
    let d = make.class(&[(0x44, 0x44), (0x64, 0x64)]);
    let single = make.any([make.seq([low, hex(3)]), make.seq([d.clone(), make.class(&[(0x30, 0x37)]), hex(2)])]);
    let first = make.seq([d.clone(), make.class(&[(0x38, 0x39), (0x41, 0x42), (0x61, 0x62)]), hex(2)]);
    let second = make.seq([d, make.class(&[(0x43, 0x46), (0x63, 0x66)]), hex(2)]);
    let pair = make.seq([first, make.text("\\u"), second]);
    let short = make.any([any(['"', '\\', '/']), any(['b', 'f', 'n']), make.class(&[(0x72, 0x72), (0x74, 0x74)])]);
    let code = make.seq([make.text("u"), make.any([single, pair])]);
    make.seq([make.text("\\"), make.any([short, code])])
}

fn number(name: &str, make: Make) -> Expr {
    let digits = |min| make.many(make.class(&[DIGIT]), min, None);
    let not_zero = || make.class(&[(0x31, 0x39)]);
    let whole = make.any([make.text("0"), make.seq([not_zero(), digits(0)])]);
    let minus = make.maybe(make.text("-"));
    let exponent = |digits: Expr| {
        let sign = make.maybe(make.class(&[(0x2B, 0x2B), (0x2D, 0x2D)]));
        make.seq([make.class(&[(0x45, 0x45), (0x65, 0x65)]), sign, digits])
    };
    match name {
        "integer" => {
            let drawn = make.any([make.text("0"), make.seq([minus, not_zero(), digits(0)])]);
            let zeros = make.seq([make.text("."), make.many(make.text("0"), 1, None)]);
            let negative = make.text("-0");
            let end = make.any_or_read([make.empty()], [zeros]);
            make.seq([make.any_or_read([drawn], [negative]), end])
        }
        "fraction" => make.seq([minus, whole, make.text("."), digits(0), not_zero()]),
        _ => {
            let few = make.many(make.class(&[DIGIT]), 1, Some(2));
            let end = make.any_or_read([make.empty(), exponent(few)], [exponent(digits(3))]);
            make.seq([minus, whole, make.maybe(make.seq([make.text("."), digits(1)])), end])
        }
    }
}

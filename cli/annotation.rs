//! A table for people of what stands where in a text: places, bytes, rules and labels, and what they mean.

mod layout;

use std::fmt::Write as _;

use gramjet_compiler::Compiled;
use gramjet_compiler::outline::{Outline, Piece, What, number, title};

use crate::terminal::{is_hidden, visible};
use crate::units::plural;
use layout::Layout;

/// Begins a table whose places are not those of the file.
const OTHER: &str = "This is the text that gramjet writes for the same choices. The file is written in another way.";
/// At most this number of bytes is shown, and of characters.
const BYTES: usize = 8;
const CHARACTERS: usize = 40;
/// Names are indented by at most this number of columns, and filled up to the other one.
const INDENTED: usize = 40;
const NAME: usize = 40;

/// Returns the table of a text, given choice bytes that produce it, but for the forms of coded parts. If the text is
/// another one, for other reasons, the table is of the text that they produce.
pub fn table(compiled: &Compiled, choices: &[u8], text: &[u8]) -> String {
    let outline = Outline::of(&compiled.lowered, &compiled.pools, choices);
    let of_own_text = || Layout::of(&outline, &outline.text);
    let of_file = Layout::of(&outline, text);
    let lines = if of_file.is_some() { String::new() } else { format!("{OTHER}\n") };
    let Some(layout) = of_file.or_else(of_own_text) else { return String::new() };
    let mut table = Table { compiled, outline: &outline, layout: &layout, lines };
    table.line(["offset", "bytes", "part", "value"]);
    table.pieces();
    visible(&table.lines).into_owned()
}

/// Returns true if a text can be shown as it is.
pub fn is_printable(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| !text.chars().any(|character| is_hidden(character) && character != '\r'))
}

/// A table of which the lines are being written.
struct Table<'t> {
    compiled: &'t Compiled,
    outline: &'t Outline,
    layout: &'t Layout,
    lines: String,
}

impl Table<'_> {
    fn line(&mut self, [offset, bytes, name, value]: [&str; 4]) {
        let line = format!("{offset:>8}  {bytes:<26}  {name:<NAME$}  {value}");
        let _ = writeln!(self.lines, "{}", line.trim_end());
    }

    /// Writes the lines of all pieces that have bytes and that the user knows.
    fn pieces(&mut self) {
        let pieces = &self.outline.pieces;
        let mut around: Vec<u32> = Vec::new();
        let mut next = 0;
        while next < pieces.len() {
            let (first, count) = (next, self.alike(next));
            next += count;
            let piece = &pieces[first];
            let is_unknown = matches!(piece.what, What::Rule(rule) if self.compiled.is_part(rule));
            if piece.place.is_empty() || is_unknown {
                continue;
            }
            while around.last().is_some_and(|&depth| depth >= piece.depth) {
                around.pop();
            }
            self.piece(first, count, around.len());
            around.push(piece.depth);
        }
    }

    /// Returns the number of pieces from this one on that follow each other, are of one rule and one length, and have
    /// no pieces in them.
    fn alike(&self, first: usize) -> usize {
        let pieces = &self.outline.pieces[first..];
        let is_alike = |&number: &usize| {
            let (before, piece) = (&pieces[number - 1], &pieces[number]);
            matches!(piece.what, What::Rule(_))
                && (piece.what, piece.depth, piece.within) == (before.what, before.depth, before.within)
                && piece.place.start == before.place.end
                && piece.place.end - piece.place.start == before.place.end - before.place.start
        };
        let alike = 1 + (1..pieces.len()).take_while(is_alike).count();
        // The last one may have pieces in it.
        match pieces.get(alike) {
            Some(after) if alike > 1 && after.depth > pieces[0].depth => alike - 1,
            _ => alike,
        }
    }

    /// Writes the line of pieces that follow each other.
    fn piece(&mut self, first: usize, count: usize, depth: usize) {
        let piece = &self.outline.pieces[first];
        let place = piece.place.start..self.outline.pieces[first + count - 1].place.end;
        let (offset, bytes) = self.layout.bytes(&Piece { place, ..piece.clone() });
        let offset = if piece.within.is_some() { format!("+{offset}") } else { offset.to_string() };
        let times = if count > 1 { format!(" x {count}") } else { String::new() };
        let indent = " ".repeat((2 * depth).min(INDENTED));
        let name = format!("{indent}{}{times}", self.name(piece.what));
        let value = self.value(first, piece.what, bytes);
        self.line([&offset, &hexadecimal(bytes), &name, &value]);
    }

    fn name(&self, what: What) -> String {
        match what {
            What::Rule(rule) => self.compiled.told(rule).to_string(),
            What::Label(label) => format!("{}:", self.compiled.lowered.label_name(label).unwrap_or_default()),
            What::Derived(node) => title(&self.compiled.lowered, node),
            What::Coded(coding) => format!("${}", coding.name()),
        }
    }

    /// Returns what the bytes of a piece mean: a number, a text, or how much they stand for.
    fn value(&self, piece: usize, what: What, bytes: &[u8]) -> String {
        let number = match what {
            What::Derived(node) => number(&self.compiled.lowered, node, bytes),
            What::Coded(_) => Some(format!("stands for {}", plural(self.layout.decoded_len(piece) as u64, "byte"))),
            What::Rule(_) | What::Label(_) => None,
        };
        number.or_else(|| quoted(bytes)).unwrap_or_default()
    }
}

/// Returns the first bytes of a part.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut shown: Vec<String> = bytes.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > BYTES {
        shown.push("..".to_string());
    }
    shown.join(" ")
}

/// Returns the first characters of a printable text in quotes.
fn quoted(bytes: &[u8]) -> Option<String> {
    let text = str::from_utf8(bytes).ok()?;
    let is_hidden = |character: char| character == '\0' || character.escape_debug().take(2).eq("\\u".chars());
    let is_printable = !text.chars().any(is_hidden);
    let cut: String = text.chars().take(CHARACTERS).collect();
    let dots = if cut.len() < text.len() { ".." } else { "" };
    is_printable.then(|| format!("\"{}\"{dots}", cut.escape_debug()))
}

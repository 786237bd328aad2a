//! Contents of brackets: of marks, keywords such as `if` and `fi`, and tags of equal names.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::asked::Asked;
use crate::lex::{TokenKind, closing};
use crate::nested::letters::{Cell, Letter, Letters, Reading};

/// A letter with one of its texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    pub letter: usize,
    pub text: Vec<u8>,
}

/// A sequence of items, and what stands around it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occurrence {
    pub before: Vec<u8>,
    pub after: Vec<u8>,
    pub items: Vec<Item>,
}

/// Sequences that stand between brackets of a kind and can stand for each other; the first content is that of samples.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub opens: u8,
    pub occurrences: Vec<Occurrence>,
    /// The brackets around it.
    pub pairs: BTreeSet<(Vec<u8>, Vec<u8>)>,
    /// Tags of some occurrences, if they are tags.
    pub tags: Vec<Tags>,
    /// Texts of the occurrences.
    texts: Vec<Vec<u8>>,
}

/// Texts around the names of two tags.
#[derive(Clone, Debug)]
pub(crate) struct Tags {
    before: Vec<u8>,
    between: Vec<u8>,
    after: Vec<u8>,
    /// Text after the name in the closing tag.
    pub end: Vec<u8>,
}

/// Tags of a content that are kept.
const TAGS: usize = 4;

impl Tags {
    /// Returns the text with these names.
    pub fn with(&self, open: &[u8], close: &[u8]) -> Vec<u8> {
        [&self.before[..], open, &self.between, close, &self.after].concat()
    }
}

/// A keyword that opens, and the one that closes.
pub(crate) type Pair = (Vec<u8>, Vec<u8>);

/// A bracket that is open: its cells, and what was read since.
struct Open {
    cells: Range<usize>,
    kind: u8,
    items: Vec<Item>,
}

/// Stands for tags and keywords among brackets.
const TAG: u8 = b'<';
const KEYWORD: u8 = b'k';

/// Returns the contents of all samples.
pub(crate) fn find(readings: &[Reading], letters: &mut Letters, asked: &mut Asked<'_>) -> Vec<Content> {
    let pairs = keyword_pairs(readings, letters, asked);
    let mut contents = vec![Content::default()];
    for reading in readings {
        let items = read(reading, &pairs, letters, &mut contents, asked);
        contents[0].occurrences.push(Occurrence { before: Vec::new(), after: Vec::new(), items });
    }
    for content in &mut contents {
        content.occurrences.sort_by_key(|occurrence| occurrence.items.len());
        content.occurrences.dedup();
    }
    contents
}

/// Returns the cells of the bracket that begins here, with its kind and what closes it.
fn opening(
    reading: &Reading,
    at: usize,
    pairs: &BTreeSet<Pair>,
    partners: &BTreeMap<usize, usize>,
) -> Option<(Range<usize>, u8)> {
    let text = |at: usize| reading.cells.get(at).map_or(&b""[..], |cell| &reading.text[cell.span.clone()]);
    let cell = &reading.cells[at];
    match cell.kind {
        TokenKind::Mark if partners.contains_key(&at) => match text(at) {
            [open @ (b'(' | b'[' | b'{')] => Some((at..at + 1, *open)),
            b"<" => Some((at..at + 2, TAG)),
            _ => None,
        },
        TokenKind::Word if partners.contains_key(&at) => {
            pairs.iter().any(|pair| pair.0 == text(at)).then_some((at..at + 1, KEYWORD))
        }
        _ => None,
    }
}

/// Returns the cell that closes for each one that opens.
fn partners(reading: &Reading, pairs: &BTreeSet<Pair>) -> BTreeMap<usize, usize> {
    let mut partners = BTreeMap::new();
    let mut open: Vec<(usize, Vec<u8>)> = Vec::new();
    let text = |at: usize| reading.cells.get(at).map_or(&b""[..], |cell| &reading.text[cell.span.clone()]);
    for at in 0..reading.cells.len() {
        let (kind, here) = (reading.cells[at].kind, text(at));
        let is_word = reading.cells.get(at + 1).is_some_and(|cell| cell.kind == TokenKind::Word);
        let closer = match kind {
            TokenKind::Mark => match here {
                b"(" | b"[" | b"{" => {
                    open.push((at, vec![closing(here[0])]));
                    continue;
                }
                b")" | b"]" | b"}" => here.to_vec(),
                b"<" if text(at + 1) == b"/" => [b"</", text(at + 2)].concat(),
                b"<" if is_word => {
                    open.push((at, [b"</", text(at + 1)].concat()));
                    continue;
                }
                _ => continue,
            },
            TokenKind::Word => match pairs.iter().find(|pair| pair.0 == here) {
                Some(pair) => {
                    open.push((at, pair.1.clone()));
                    continue;
                }
                None if pairs.iter().any(|pair| pair.1 == here) => here.to_vec(),
                None => continue,
            },
            _ => continue,
        };
        if let Some(found) = open.iter().rposition(|one| one.1 == closer) {
            partners.insert(open[found].0, at);
            open.truncate(found);
        }
    }
    partners
}

fn read(
    reading: &Reading,
    pairs: &BTreeSet<Pair>,
    letters: &mut Letters,
    contents: &mut Vec<Content>,
    asked: &mut Asked<'_>,
) -> Vec<Item> {
    let partners = partners(reading, pairs);
    let ends: BTreeMap<usize, usize> = partners.iter().map(|(open, close)| (*close, *open)).collect();
    let mut open: Vec<Open> = vec![Open { cells: 0..0, kind: 0, items: Vec::new() }];
    let mut at = 0;
    while at < reading.cells.len() {
        if let Some((cells, kind)) = opening(reading, at, pairs, &partners) {
            at = cells.end;
            open.push(Open { cells, kind, items: Vec::new() });
            continue;
        }
        if ends.contains_key(&at) && open.len() > 1 {
            let Some(group) = open.pop() else { continue };
            let mut end = at + if group.kind == TAG { 3 } else { 1 };
            let is_closed =
                |at: usize| reading.cells.get(at).is_some_and(|cell| &reading.text[cell.span.clone()] == b">");
            if group.kind == TAG && is_closed(end) {
                end += 1;
            }
            let end = end.min(reading.cells.len());
            let item = group_item(reading, group, at..end, letters, contents, asked);
            if let Some(last) = open.last_mut() {
                last.items.push(item);
            }
            at = end;
            continue;
        }
        let cell = &reading.cells[at];
        if let Some(last) = open.last_mut() {
            last.items.push(Item { letter: cell.letter, text: reading.text[cell.span.clone()].to_vec() });
        }
        at += 1;
    }
    // Brackets that nothing closes do not occur, as only those with a partner are opened.
    open.into_iter().flat_map(|one| one.items).collect()
}

/// Returns the item for a group; its content may be new.
fn group_item(
    reading: &Reading,
    group: Open,
    close: Range<usize>,
    letters: &mut Letters,
    contents: &mut Vec<Content>,
    asked: &mut Asked<'_>,
) -> Item {
    let start = reading.cells[group.cells.start].span.start;
    let inner = reading.cells[group.cells.end - 1].span.end..reading.cells[close.start].span.start;
    let end = reading.cells[close.end - 1].span.end;
    let text = &reading.text;
    let (before, after) = (text[..inner.start].to_vec(), text[inner.end..].to_vec());
    let content = text[inner.clone()].to_vec();
    let open = text[start..inner.start].to_vec();
    let shut = text[inner.end..end].to_vec();
    let found = (1..contents.len()).find(|&number| {
        let one = &contents[number];
        let is_same = group.kind != KEYWORD || one.pairs.iter().any(|pair| pair.0 == open);
        one.opens == group.kind && is_same && {
            let count = one.occurrences.len();
            let some = [0, count / 2, count - 1];
            some.iter().all(|&at| {
                let other = &one.occurrences[at];
                asked.accepts(&[&before, one.texts[at].as_slice(), &after].concat())
                    && asked.accepts(&[&other.before, content.as_slice(), &other.after].concat())
            })
        }
    });
    let number = found.unwrap_or_else(|| {
        contents.push(Content { opens: group.kind, ..Content::default() });
        contents.len() - 1
    });
    let name = reading.cells[group.cells.end - 1].span.len();
    let is_whole = open.len() == 1 + name && shut.starts_with(&[b"</", &open[1..]].concat());
    if group.kind == TAG && is_whole && contents[number].tags.len() < TAGS {
        contents[number].tags.push(Tags {
            before: before[..before.len() - name].to_vec(),
            between: [&content[..], b"</"].concat(),
            after: after[2 + name..].to_vec(),
            end: shut[2 + name..].to_vec(),
        });
    }
    contents[number].pairs.insert((open, shut));
    contents[number].texts.push(content);
    contents[number].occurrences.push(Occurrence { before, after, items: group.items });
    let letter = letters.number(Letter::Group(number));
    let full = text[start..end].to_vec();
    letters.add(letter, &full, (&text[..start], &text[end..]));
    Item { letter, text: full }
}

/// Returns pairs of keywords that stand around something like brackets: one such part can stand within another.
fn keyword_pairs(readings: &[Reading], letters: &Letters, asked: &mut Asked<'_>) -> BTreeSet<Pair> {
    let mut words: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for reading in readings {
        let is_keyword =
            |cell: &&Cell| cell.kind == TokenKind::Word && matches!(letters.all[cell.letter], Letter::Literal(_));
        for cell in reading.cells.iter().filter(is_keyword) {
            *words.entry(reading.text[cell.span.clone()].to_vec()).or_default() += 1;
        }
    }
    let mut found = BTreeSet::new();
    for (open, count) in &words {
        for (close, _) in words.iter().filter(|(close, other)| *other == count && *close != open) {
            if let Some(groups) = groups_of(readings, open, close)
                && nests(readings, &groups, asked)
            {
                found.insert((open.clone(), close.clone()));
            }
        }
    }
    found
}

/// Returns the groups of a pair of words, each as a sample and its cells, if they match in all samples.
fn groups_of(readings: &[Reading], open: &[u8], close: &[u8]) -> Option<Vec<(usize, Range<usize>)>> {
    let mut groups = Vec::new();
    for (number, reading) in readings.iter().enumerate() {
        let mut stack: Vec<usize> = Vec::new();
        for (at, cell) in reading.cells.iter().enumerate() {
            let text = &reading.text[cell.span.clone()];
            if cell.kind != TokenKind::Word {
                continue;
            }
            if text == open {
                stack.push(at);
            } else if text == close {
                groups.push((number, stack.pop()?..at + 1));
            }
        }
        if !stack.is_empty() {
            return None;
        }
    }
    Some(groups)
}

/// Parts of a group that another one is tried in place of.
const WINDOWS: usize = 4;

/// Returns true if a group can stand within itself, where neither its first nor its last word can.
fn nests(readings: &[Reading], groups: &[(usize, Range<usize>)], asked: &mut Asked<'_>) -> bool {
    let Some((number, cells)) = groups.iter().filter(|group| group.1.len() > 2).min_by_key(|group| group.1.len())
    else {
        return false;
    };
    let reading = &readings[*number];
    let span = |cells: &Range<usize>| reading.cells[cells.start].span.start..reading.cells[cells.end - 1].span.end;
    let whole = reading.text[span(cells)].to_vec();
    let first = reading.text[span(&(cells.start..cells.start + 1))].to_vec();
    let last = reading.text[span(&(cells.end - 1..cells.end))].to_vec();
    let inner = cells.start + 1..cells.end - 1;
    for len in 1..=WINDOWS {
        for start in inner.clone() {
            if start + len > inner.end {
                break;
            }
            let span = span(&(start..start + len));
            let mut with =
                |part: &[u8]| asked.accepts(&[&reading.text[..span.start], part, &reading.text[span.end..]].concat());
            if with(&whole) && !with(&first) && !with(&last) && !with(&[&whole[..], b" ", &last].concat()) {
                return true;
            }
        }
    }
    false
}

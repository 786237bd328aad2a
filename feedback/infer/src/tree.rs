//! Samples as trees: tokens are leaves, and what stands between matching brackets is a node (TreeVada).

use std::ops::Range;

use crate::asked::Asked;

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Digits,
    Word,
    /// A text in quotation marks of this kind.
    Quoted(u8),
    /// A single character of punctuation.
    Mark,
    Space,
    /// The end of a line outside of brackets.
    Line,
    /// Brackets, with what stands between them. The field is the opening one.
    Group(u8),
    /// A sequence of siblings that stands where one of another kind can.
    Bubble,
    /// A whole sample.
    Root,
}

impl Kind {
    pub fn is_blank(self) -> bool {
        matches!(self, Kind::Space | Kind::Line)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: Kind,
    pub sample: usize,
    pub span: Range<usize>,
    pub children: Vec<usize>,
}

/// The samples and their trees.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    pub texts: Vec<Vec<u8>>,
    pub nodes: Vec<Node>,
}

/// The bracket that closes.
pub(crate) fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

impl Forest {
    /// The trees of texts.
    pub fn new(texts: Vec<Vec<u8>>) -> Forest {
        let mut forest = Forest { texts, nodes: Vec::new() };
        for sample in 0..forest.texts.len() {
            forest.read(sample);
        }
        forest
    }

    /// The text of a node.
    pub fn text(&self, node: usize) -> &[u8] {
        let node = &self.nodes[node];
        &self.texts[node.sample][node.span.clone()]
    }

    /// What stands between the brackets of a group, or the whole sample.
    pub fn content(&self, node: usize) -> Range<usize> {
        let Node { kind, span, .. } = &self.nodes[node];
        if let Kind::Group(_) = kind { span.start + 1..span.end - 1 } else { span.clone() }
    }

    /// A sample with this in place of a part.
    pub fn with(&self, sample: usize, span: &Range<usize>, part: &[u8]) -> Vec<u8> {
        let text = &self.texts[sample];
        [&text[..span.start], part, &text[span.end..]].concat()
    }

    fn add(&mut self, kind: Kind, sample: usize, span: Range<usize>, children: Vec<usize>) -> usize {
        self.nodes.push(Node { kind, sample, span, children });
        self.nodes.len() - 1
    }

    /// Makes a bubble of these children of a node.
    pub fn bubble(&mut self, parent: usize, window: Range<usize>) -> usize {
        let children = self.nodes[parent].children[window.clone()].to_vec();
        let span = self.nodes[children[0]].span.start..self.nodes[children[children.len() - 1]].span.end;
        let bubble = self.add(Kind::Bubble, self.nodes[parent].sample, span, children);
        self.nodes[parent].children.splice(window, [bubble]);
        bubble
    }

    fn read(&mut self, sample: usize) {
        let text = self.texts[sample].clone();
        let tokens = tokens(&text);
        let partners = partners(&text, &tokens);
        let mut open: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new())];
        for (number, (kind, span)) in tokens.into_iter().enumerate() {
            match partners[number] {
                Some(partner) if partner > number => open.push((span.start, Vec::new())),
                Some(_) => {
                    // The brackets match, so one is open.
                    let Some((start, children)) = open.pop() else { continue };
                    let group = self.add(Kind::Group(text[start]), sample, start..span.end, children);
                    open.last_mut().expect("the root is open").1.push(group);
                }
                None => {
                    let is_line = kind == Kind::Space && open.len() == 1 && text[span.clone()].contains(&b'\n');
                    let kind = if is_line { Kind::Line } else { kind };
                    let leaf = self.add(kind, sample, span, Vec::new());
                    open.last_mut().expect("the root is open").1.push(leaf);
                }
            }
        }
        let (_, children) = open.swap_remove(0);
        self.add(Kind::Root, sample, 0..text.len(), children);
    }
}

/// For each token that is a bracket with a partner, the number of the partner.
fn partners(text: &[u8], tokens: &[(Kind, Range<usize>)]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (number, (kind, span)) in tokens.iter().enumerate() {
        let byte = text[span.start];
        match (kind, byte) {
            (Kind::Mark, b'(' | b'[' | b'{') => open.push(number),
            (Kind::Mark, b')' | b']' | b'}') => {
                let matching = open.iter().rposition(|&at| closing(text[tokens[at].1.start]) == byte);
                if let Some(at) = matching {
                    partners[open[at]] = Some(number);
                    partners[number] = Some(open[at]);
                    open.truncate(at);
                }
            }
            _ => {}
        }
    }
    partners
}

fn run(text: &[u8], start: usize, is_part: impl Fn(&u8) -> bool) -> usize {
    start + text[start..].iter().take_while(|byte| is_part(byte)).count()
}

/// The tokens of a text.
fn tokens(text: &[u8]) -> Vec<(Kind, Range<usize>)> {
    let mut tokens: Vec<(Kind, Range<usize>)> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let follows_digits = matches!(tokens.last(), Some((Kind::Digits, _)));
        let (kind, end) = match text[at] {
            byte if byte.is_ascii_whitespace() => (Kind::Space, run(text, at, u8::is_ascii_whitespace)),
            b'0'..=b'9' => (Kind::Digits, run(text, at, u8::is_ascii_digit)),
            // The exponent of a number is not part of its mark.
            byte if byte.is_ascii_alphabetic() && follows_digits => {
                (Kind::Word, run(text, at, u8::is_ascii_alphabetic))
            }
            byte if is_wordish(byte) => (Kind::Word, run(text, at, |&byte| is_wordish(byte))),
            quote @ (b'"' | b'\'') => match end_of_quoted(text, at) {
                Some(end) => (Kind::Quoted(quote), end),
                None => (Kind::Mark, at + 1),
            },
            _ => (Kind::Mark, at + 1),
        };
        tokens.push((kind, at..end));
        at = end;
    }
    tokens
}

fn is_wordish(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The end of a text in quotation marks on one line.
fn end_of_quoted(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while at < text.len() && text[at] != b'\n' {
        match text[at] {
            b'\\' => at += 2,
            byte if byte == text[start] => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// The text without the white space that it does not need, and one blank or line end where it needs some.
pub(crate) fn without_blanks(text: &[u8], asked: &mut Asked<'_>) -> Vec<u8> {
    let mut text = text.to_vec();
    // From the end on, as earlier tokens stay where they are.
    let spans: Vec<Range<usize>> =
        tokens(&text).into_iter().filter(|(kind, _)| *kind == Kind::Space).map(|(_, span)| span).collect();
    for span in spans.into_iter().rev() {
        let is_outside = depth(&text[..span.start]) == 0;
        let has_line = text[span.clone()].contains(&b'\n');
        let is_outer = span.start == 0 || span.end == text.len();
        let joins = !is_outer && is_wordish(text[span.start - 1]) && is_wordish(text[span.end]);
        let one: &[u8] = if has_line && is_outside { b"\n" } else { b" " };
        let may_go = is_outer || !(joins || has_line && is_outside);
        for part in [b"".as_slice(), one] {
            let shorter = [&text[..span.start], part, &text[span.end..]].concat();
            if (!part.is_empty() || may_go) && asked.accepts(&shorter) {
                text = shorter;
                break;
            }
        }
    }
    text
}

/// The number of brackets that are open at the end of a text.
fn depth(text: &[u8]) -> usize {
    let tokens = tokens(text);
    let partners = partners(text, &tokens);
    let opens = |(number, (kind, span)): (usize, &(Kind, Range<usize>))| {
        *kind == Kind::Mark && partners[number].is_none() && matches!(text[span.start], b'(' | b'[' | b'{')
    };
    tokens.iter().enumerate().filter(|&one| opens(one)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_brackets_make_a_tree() {
        let forest = Forest::new(vec![br#"{"a}": [1.5e3, x_1]) "#.to_vec()]);
        let root = forest.nodes.last().unwrap();
        // The brace and the parenthesis have no partner.
        let kinds: Vec<Kind> = root.children.iter().map(|&child| forest.nodes[child].kind).collect();
        let expected =
            [Kind::Mark, Kind::Quoted(b'"'), Kind::Mark, Kind::Space, Kind::Group(b'['), Kind::Mark, Kind::Space];
        assert_eq!(kinds, expected);
        let list = &forest.nodes[root.children[4]];
        let texts: Vec<&[u8]> = list.children.iter().map(|&child| forest.text(child)).collect();
        assert_eq!(texts, [&b"1"[..], b".", b"5", b"e", b"3", b",", b" ", b"x_1"]);
    }
}

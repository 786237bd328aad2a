//! Samples as trees: tokens are leaves, and what stands between matching brackets is a node (TreeVada). What stands
//! between line ends, semicolons, and commas within brackets is a node, too.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::asked::Asked;
use crate::lex::{self, TokenKind, join, partners};
use crate::without_blanks::{Gap, Lean};

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum NodeKind {
    Token(TokenKind),
    /// Brackets, with what stands between them. The field is the opening one.
    Group(u8),
    /// Sequence that stands between separators.
    Segment,
    /// A sequence of siblings that stands where one of another kind can.
    Bubble,
    /// A whole sample.
    Root,
}

impl NodeKind {
    pub fn is_blank(self) -> bool {
        matches!(self, NodeKind::Token(kind) if kind.is_blank())
    }

    pub fn is_mark(self) -> bool {
        self == NodeKind::Token(TokenKind::Mark)
    }

    pub fn is_line(self) -> bool {
        self == NodeKind::Token(TokenKind::Line)
    }

    pub fn is_word(self) -> bool {
        self == NodeKind::Token(TokenKind::Word)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: NodeKind,
    pub sample: usize,
    pub span: Range<usize>,
    pub children: Vec<usize>,
}

/// The samples and their trees.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    pub samples: Vec<Lean>,
    pub nodes: Vec<Node>,
    /// Whether blanks keep words apart somewhere.
    pub has_joints: bool,
    /// Whether blanks can be part of texts, so that white space cannot be left out or added anywhere.
    pub is_free: bool,
    /// Marks that texts stand between.
    pub quotes: &'static [u8],
}

/// Marks that separate segments: in whole samples, and within each kind of brackets.
#[derive(Debug, Default)]
struct Separators {
    /// The opening bracket, or 0 for whole samples, with a mark, or a line end.
    found: BTreeSet<(u8, u8)>,
}

impl Separators {
    fn of(samples: &[Lean]) -> Separators {
        let mut separators = Separators::default();
        for lean in samples {
            let partners = partners(&lean.text, &lean.tokens);
            let mut open = vec![0];
            for (number, token) in lean.tokens.iter().enumerate() {
                let byte = lean.text[token.span.start];
                let inner = open.last().copied().unwrap_or(0);
                match (partners[number], token.kind) {
                    (Some(partner), _) if partner > number => open.push(byte),
                    (Some(_), _) => drop(open.pop()),
                    (None, TokenKind::Line) => drop(separators.found.insert((inner, b'\n'))),
                    (None, TokenKind::Mark) if byte == b';' || byte == b',' && inner != 0 => {
                        separators.found.insert((inner, byte));
                    }
                    _ => {}
                }
            }
        }
        separators
    }

    /// Returns the separators within a kind of brackets, the loosest first.
    fn within(&self, open: u8) -> Vec<u8> {
        let mut found: Vec<u8> = b"\n;,".iter().copied().filter(|&mark| self.found.contains(&(open, mark))).collect();
        if found.contains(&b';') {
            found.retain(|&mark| mark != b',');
        }
        found
    }
}

impl Forest {
    /// Returns the trees of samples, with segments or without.
    pub fn new(samples: Vec<Lean>, has_segments: bool) -> Forest {
        let has_joints = samples.iter().any(|lean| lean.gaps.values().any(|gap| gap.is_joint));
        let separators = if has_segments { Separators::of(&samples) } else { Separators::default() };
        let mut forest = Forest { samples, nodes: Vec::new(), has_joints, is_free: false, quotes: lex::QUOTES };
        for sample in 0..forest.samples.len() {
            forest.read(sample, &separators);
        }
        forest
    }

    /// Returns the text of a node.
    pub fn text(&self, node: usize) -> &[u8] {
        let node = &self.nodes[node];
        &self.samples[node.sample].text[node.span.clone()]
    }

    /// Returns what stands between the brackets of a group, or the whole of another node.
    pub fn content(&self, node: usize) -> Range<usize> {
        let Node { kind, span, .. } = &self.nodes[node];
        if let NodeKind::Group(_) = kind { span.start + 1..span.end - 1 } else { span.clone() }
    }

    /// Returns a sample with this in place of a part.
    pub fn with(&self, sample: usize, span: &Range<usize>, part: &[u8]) -> Vec<u8> {
        let text = &self.samples[sample].text;
        [&text[..span.start], part, &text[span.end..]].concat()
    }

    /// Returns true if the oracle accepts a sample with this in place of a part. It must not become one word with what
    /// is beside it: `f` for `1+` in `1+x` makes `fx`. Where blanks keep words apart, one does so here.
    pub fn takes(&self, sample: usize, span: &Range<usize>, part: &[u8], asked: &mut Asked<'_>) -> bool {
        let text = &self.samples[sample].text;
        let joins = [join(&text[..span.start], part), join(part, &text[span.end..])];
        match joins {
            [false, false] => asked.accepts(&self.with(sample, span, part)),
            _ if !self.has_joints => false,
            [before, after] => {
                let blank = |is_needed: bool| if is_needed { &b" "[..] } else { b"" };
                asked.accepts(&self.with(sample, span, &[blank(before), part, blank(after)].concat()))
            }
        }
    }

    /// Returns the white space of the sample at this place.
    pub fn gap(&self, sample: usize, at: usize) -> Option<&Gap> {
        self.samples[sample].gaps.get(&at)
    }

    /// Returns the kind of the token that ends at this place.
    pub fn token_before(&self, sample: usize, at: usize) -> Option<TokenKind> {
        let tokens = &self.samples[sample].tokens;
        let number = tokens.partition_point(|token| token.span.end < at);
        tokens.get(number).filter(|token| token.span.end == at).map(|token| token.kind)
    }

    fn add(&mut self, kind: NodeKind, sample: usize, span: Range<usize>, children: Vec<usize>) -> usize {
        self.nodes.push(Node { kind, sample, span, children });
        self.nodes.len() - 1
    }

    fn add_over(&mut self, kind: NodeKind, children: Vec<usize>) -> usize {
        let (first, last) = (&self.nodes[children[0]], &self.nodes[children[children.len() - 1]]);
        let (sample, span) = (first.sample, first.span.start..last.span.end);
        self.add(kind, sample, span, children)
    }

    /// Makes a bubble of these children of a node.
    pub fn bubble(&mut self, parent: usize, window: Range<usize>) -> usize {
        let children = self.nodes[parent].children[window.clone()].to_vec();
        let bubble = self.add_over(NodeKind::Bubble, children);
        self.nodes[parent].children.splice(window, [bubble]);
        bubble
    }

    fn read(&mut self, sample: usize, separators: &Separators) {
        let tokens = self.samples[sample].tokens.clone();
        let partners = partners(&self.samples[sample].text, &tokens);
        let mut open: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new())];
        for (number, token) in tokens.into_iter().enumerate() {
            let child = match partners[number] {
                Some(partner) if partner > number => {
                    open.push((token.span.start, Vec::new()));
                    continue;
                }
                Some(_) => {
                    // The brackets match, so one is open.
                    let Some((start, children)) = open.pop() else { continue };
                    let bracket = self.samples[sample].text[start];
                    let children = self.segments(children, &separators.within(bracket));
                    self.add(NodeKind::Group(bracket), sample, start..token.span.end, children)
                }
                None => self.add(NodeKind::Token(token.kind), sample, token.span, Vec::new()),
            };
            if let Some((_, children)) = open.last_mut() {
                children.push(child);
            }
        }
        let (_, children) = open.swap_remove(0);
        let children = self.segments(children, &separators.within(0));
        let len = self.samples[sample].text.len();
        self.add(NodeKind::Root, sample, 0..len, children);
    }

    /// Returns the children with those between separators in segments, if there are separators.
    fn segments(&mut self, children: Vec<usize>, separators: &[u8]) -> Vec<usize> {
        let Some((&separator, inner)) = separators.split_first() else { return children };
        let mut all = Vec::new();
        let mut segment = Vec::new();
        for child in children.into_iter().map(Some).chain([None]) {
            let is_end = child.is_none_or(|child| self.separates(child, separator));
            if !is_end {
                segment.extend(child);
                continue;
            }
            let parts = self.segments(std::mem::take(&mut segment), inner);
            if !parts.is_empty() {
                all.push(self.add_over(NodeKind::Segment, parts));
            }
            all.extend(child);
        }
        all
    }

    fn separates(&self, child: usize, separator: u8) -> bool {
        let kind = self.nodes[child].kind;
        if separator == b'\n' { kind.is_line() } else { kind.is_mark() && self.text(child) == [separator] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::tokens;

    fn shown(forest: &Forest, node: usize) -> String {
        let children: Vec<String> = forest.nodes[node].children.iter().map(|&child| shown(forest, child)).collect();
        match forest.nodes[node].kind {
            NodeKind::Token(_) => String::from_utf8_lossy(forest.text(node)).into_owned(),
            NodeKind::Group(open) => format!("{}{}", open as char, children.join(" ")),
            _ => format!("<{}>", children.join(" ")),
        }
    }

    #[test]
    fn tokens_and_brackets_make_a_tree() {
        let text = br#"{"a":1,"b":[2,(c]}]"#.to_vec();
        let lean = Lean { tokens: tokens(&text, lex::QUOTES), text, ..Lean::default() };
        let forest = Forest::new(vec![lean], true);
        // The parenthesis and the last bracket have no partner.
        assert_eq!(shown(&forest, forest.nodes.len() - 1), r#"<{<"a" : 1> , <"b" : [<2> , <( c>> ]>"#);
    }
}

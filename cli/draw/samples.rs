//! Sample inputs with their derivations: texts in which each part tells its rule, and trees.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gramjet_compiler::Compiled;
use gramjet_compiler::reference::{self, Instance, Limits, Trace};

use super::tree::{Node, Text};
use super::words::{self, escape};

/// The number of inputs that samples are chosen from.
const TRIES: u64 = 200;
/// Bytes of inputs after which no more are made.
const ENOUGH: usize = 4 << 20;
/// The longest sample, in bytes, if shorter ones can be found.
const LONGEST: usize = 400;
/// The most choice bytes of a sample.
const CHOICES: usize = 4096;
/// The most instances of rules of a sample, so that its tree can be read.
const INSTANCES: usize = 400;
/// The most lines of a tree.
const MOST_LINES: usize = 200;
/// The most bytes of a text that are shown.
const MOST_BYTES: usize = 2000;
/// The most columns of a text in a line of a tree.
const EXCERPT: usize = 28;

/// Returns samples that have as many different rules as possible, short ones first. Equal seeds give equal samples.
pub fn samples(compiled: &Compiled, max_depth: Option<u32>, count: usize, seed: u64) -> Vec<Text> {
    let mut made: Vec<Text> = Vec::new();
    let mut known = BTreeSet::new();
    let mut bytes = 0;
    for number in 0..TRIES {
        if !made.is_empty() && bytes > ENOUGH {
            break;
        }
        let sample = sample(compiled, max_depth, seed.wrapping_mul(TRIES).wrapping_add(number));
        bytes += sample.bytes.len();
        if known.insert(sample.bytes.clone()) {
            made.push(sample);
        }
    }
    let are_short = made.iter().any(is_short);
    made.retain(|sample| is_short(sample) == are_short);
    if !are_short {
        made.sort_by_key(|sample| sample.bytes.len());
        made.truncate(count);
    }
    choose(made, count)
}

/// Chooses samples one by one: the next has the most rules that the others lack.
fn choose(mut made: Vec<Text>, count: usize) -> Vec<Text> {
    let (mut chosen, mut seen) = (Vec::new(), BTreeSet::new());
    while chosen.len() < count && !made.is_empty() {
        let gain = |sample: &Text| {
            let rules: BTreeSet<_> = sample.instances.iter().map(|instance| instance.rule).collect();
            rules.difference(&seen).count()
        };
        let best = (0..made.len()).max_by_key(|&at| (gain(&made[at]), std::cmp::Reverse(at))).unwrap_or(0);
        let sample = made.remove(best);
        seen.extend(sample.instances.iter().map(|instance| instance.rule));
        chosen.push(sample);
    }
    chosen.sort_by_key(|sample| sample.bytes.len());
    chosen
}

fn sample(compiled: &Compiled, max_depth: Option<u32>, seed: u64) -> Text {
    let mut trace = Trace::default();
    let mut text = Vec::new();
    let mut bytes = random_bytes(seed).take(CHOICES);
    let limits = Limits { max_depth, max_len: None };
    reference::run(&compiled.lowered, &compiled.pools, limits, &mut || bytes.next(), &mut text, Some(&mut trace));
    Text::new(compiled, text, trace)
}

/// Returns pseudo-random bytes (SplitMix64, Steele, Lea and Flood 2014).
fn random_bytes(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed;
    std::iter::from_fn(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Some((mixed ^ (mixed >> 31)).to_le_bytes())
    })
    .flatten()
}

/// Returns true if a sample can be read at a glance.
fn is_short(sample: &Text) -> bool {
    sample.bytes.len() <= LONGEST && sample.instances.len() <= INSTANCES
}

/// A sample in the making.
struct Written<'a> {
    sample: &'a Text,
    nodes: Vec<Node>,
    name: &'a dyn Fn(usize) -> String,
    link: &'a dyn Fn(usize) -> Option<String>,
    html: String,
    lines: usize,
}

/// Returns a sample as HTML: its text, and its tree. `number` gives the rule of an instance, if it is known.
pub fn html(
    sample: &Text,
    number: &dyn Fn(&Instance) -> Option<usize>,
    name: &dyn Fn(usize) -> String,
    link: &dyn Fn(usize) -> Option<String>,
) -> String {
    let nodes = sample.nodes(number);
    let mut written = Written { sample, nodes, name, link, html: String::new(), lines: 0 };
    written.html += "<div class=\"sample\">\n<pre class=\"text\">";
    match written.nodes.is_empty() {
        true => written.text(0..sample.bytes.len()),
        false => written.spans(0),
    }
    written.html += "</pre>\n<ul class=\"tree\">\n";
    if !written.nodes.is_empty() {
        written.item(0);
    }
    written.html += "</ul>\n";
    if sample.bytes.len() > MOST_BYTES {
        let _ = writeln!(written.html, "<p class=\"dim\">The text is cut after {MOST_BYTES} bytes.</p>");
    }
    if written.lines > MOST_LINES {
        let _ = writeln!(written.html, "<p class=\"dim\">The tree is cut after {MOST_LINES} lines.</p>");
    }
    written.html + "</div>\n"
}

impl Written<'_> {
    /// Writes the text of a node, each part in a span that tells its rules.
    fn spans(&mut self, node: usize) {
        let range = self.nodes[node].range.clone();
        let path: Vec<String> = self.nodes[node].rules.iter().map(|&rule| (self.name)(rule)).collect();
        let _ = write!(self.html, "<span title=\"{}\">", escape(&path.join(" \u{203A} ")));
        let mut at = range.start;
        for child in self.nodes[node].children.clone() {
            if at > MOST_BYTES {
                break;
            }
            let begin = self.nodes[child].range.start;
            self.text(at..begin);
            self.spans(child);
            at = self.nodes[child].range.end;
        }
        self.text(at..range.end);
        self.html += "</span>";
    }

    /// Writes some bytes of the text. Those that cannot be seen become escapes.
    fn text(&mut self, range: std::ops::Range<usize>) {
        let range = range.start.min(MOST_BYTES)..range.end.min(MOST_BYTES);
        for chunk in self.sample.bytes.get(range).unwrap_or_default().utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    ' ' => self.html.push(' '),
                    '\n' => self.html += "<i>\\n</i>\n",
                    _ => {
                        let mut shown = String::new();
                        words::push(character, &mut shown);
                        match shown.chars().eq([character]) || character == '\\' {
                            true => self.html += &escape(&character.to_string()),
                            false => self.html += &format!("<i>{}</i>", escape(&shown)),
                        }
                    }
                }
            }
            chunk.invalid().iter().for_each(|byte| self.html += &format!("<i>\\x{byte:02X}</i>"));
        }
    }

    /// Writes a line of the tree for a node, and those of its parts.
    fn item(&mut self, node: usize) {
        self.lines += 1;
        if self.lines > MOST_LINES {
            return;
        }
        let Node { rules, range, children, hidden, .. } = &self.nodes[node];
        let (children, hidden) = (children.clone(), *hidden);
        let names: Vec<String> = rules.iter().map(|&rule| self.linked(rule)).collect();
        // A character has at most four bytes.
        let beginning = range.start..range.end.min(range.start + 4 * EXCERPT + 4);
        let text = words::literal(self.sample.bytes.get(beginning).unwrap_or_default());
        let excerpt = words::fitting(&text, EXCERPT);
        let dots = if excerpt.len() < text.len() { "\u{2026}" } else { "" };
        let _ = write!(self.html, "<li>{} <q>{}{dots}</q>", names.join(" \u{203A} "), escape(excerpt));
        if hidden > 0 {
            let _ = write!(self.html, " <span class=\"dim\">{hidden} more inside</span>");
        }
        if !children.is_empty() {
            self.html += "\n<ul>\n";
            children.into_iter().for_each(|child| self.item(child));
            self.html += "</ul>";
        }
        self.html += "</li>\n";
    }

    fn linked(&self, rule: usize) -> String {
        let name = escape(&(self.name)(rule));
        match (self.link)(rule) {
            Some(link) => format!("<a href=\"{}\">{name}</a>", escape(&link)),
            None => format!("<b>{name}</b>"),
        }
    }
}

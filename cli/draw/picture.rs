//! The tree of a text as an SVG file: a line for each part, with its rules and the beginning of its text.
//!
//! Lines that a wide screen has more room for are in the file twice, and its stylesheet shows one of both. A reader of
//! SVG that knows no stylesheets for screens of some width shows the narrow ones.

use std::fmt::Write as _;

use super::block::COLUMN;
use super::page::{NARROW, WIDE};
use super::style;
use super::tree::{Node, Text};
use super::words::{self, escape};

/// Height of a line.
const LINE: i32 = 24;
/// Height of a box.
const HEIGHT: i32 = 18;
/// Space around the tree.
const MARGIN: i32 = 8;
/// Space between a text and the sides of its box.
const PADDING: i32 = 6;
/// Width that the deepest line is indented by, at most.
const INDENTED: i32 = 144;
/// The most characters of a text that appears when the pointer is on a line.
const MOST_OF_TITLE: usize = 600;
/// Mark between a rule and one within that derives the same text.
const INTO: &str = " \u{203A} ";

/// Returns the tree of a text as an SVG file, without parts that derive nothing. `name` gives the name of a rule of the
/// compiled grammar.
pub fn picture(text: Text, name: &dyn Fn(usize) -> String) -> String {
    let text = &text.without_empty_parts();
    let nodes = text.nodes(&|instance| Some(instance.rule.index()));
    let deepest = nodes.iter().map(|node| node.depth).max().unwrap_or(0).max(1) as i32;
    let picture = Picture { text, nodes: &nodes, name, step: (INDENTED / deepest).clamp(3, 16) };
    let lines: String = (0..nodes.len()).map(|node| picture.line(node)).collect();
    let hidden: usize = nodes.iter().map(|node| node.hidden).sum();
    let height = picture.top(nodes.len() + usize::from(hidden > 0)) + MARGIN;
    let note = match hidden {
        0 => String::new(),
        _ => small(
            MARGIN,
            picture.top(nodes.len()) + 13,
            &format!("\u{2026} {hidden} more instances of rules are not drawn"),
        ),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" width=\"{NARROW}\" height=\"{height}\">\n\
         <style>\n{}.wide {{ display: none; }}\n@media (min-width: 1060px) {{\n.drawing {{ width: {WIDE}px; }}\n\
         .wide {{ display: inline; }}\n.narrow {{ display: none; }}\n}}\n</style>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<path class=\"rail\" d=\"{}\"/>\n{lines}{note}</svg>\n",
        style::of_diagrams(),
        picture.rails(),
    )
}

/// A picture in the making. Each node has the line of its number.
struct Picture<'a> {
    text: &'a Text,
    nodes: &'a [Node],
    name: &'a dyn Fn(usize) -> String,
    /// Width by which a line is indented more than the one around it.
    step: i32,
}

impl Picture<'_> {
    fn left(&self, node: usize) -> i32 {
        MARGIN + self.step * self.nodes[node].depth as i32
    }

    /// Returns the top of the box of a line.
    fn top(&self, line: usize) -> i32 {
        MARGIN + LINE * line as i32
    }

    /// Returns the path of the rails from each part to the parts of it.
    fn rails(&self) -> String {
        let mut path = String::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(&last) = node.children.last() else { continue };
            let middle = |child: usize| self.top(child) + HEIGHT / 2;
            let trunk = self.left(number) + self.step / 2;
            let _ = write!(path, "M{trunk} {}V{}", self.top(number) + HEIGHT, middle(last));
            for &child in &node.children {
                let _ = write!(path, "M{trunk} {}H{}", middle(child), self.left(child));
            }
        }
        path
    }

    /// Returns a line, for narrow and for wide screens; once, if both are equal.
    fn line(&self, node: usize) -> String {
        let (narrow, wide) = (self.elements(node, NARROW), self.elements(node, WIDE));
        let title = escape(&self.title(node));
        match narrow == wide {
            true => format!("<g><title>{title}</title>{narrow}</g>\n"),
            false => {
                format!("<g><title>{title}</title><g class=\"narrow\">{narrow}</g><g class=\"wide\">{wide}</g></g>\n")
            }
        }
    }

    /// Returns the elements of a line: a box with its rules, and beside it the beginning of its text.
    fn elements(&self, number: usize, width: i32) -> String {
        let (node, x, y) = (&self.nodes[number], self.left(number), self.top(number));
        let more = if node.hidden > 0 { format!("{} more inside", node.hidden) } else { String::new() };
        let room = (width - MARGIN - x - 4 * PADDING) / COLUMN - words::columns(&more) as i32;
        let names = self.short_names(node, (room * 3 / 5).max(8) as usize);
        let taken = words::columns(&names) as i32;
        let mut line = boxed("rule", 0, (x, y), &names);
        let x = x + boxed_width(&names) + PADDING;
        let excerpt = self.excerpt(node, (room - taken).max(6) as usize);
        match node.children.is_empty() && node.hidden == 0 {
            true => line += &boxed("literal", 9, (x, y), &excerpt),
            false => {
                let _ = write!(line, "<text class=\"excerpt\" x=\"{x}\" y=\"{}\">{}</text>", y + 13, escape(&excerpt));
            }
        }
        if !more.is_empty() {
            line += &small(x + boxed_width(&excerpt) + PADDING, y + 13, &more);
        }
        line
    }

    fn names(&self, node: &Node) -> Vec<String> {
        node.rules.iter().map(|&rule| words::name(&(self.name)(rule))).collect()
    }

    /// Returns the names of the rules of a node; the first and the last one, or their beginnings, if there is no room.
    fn short_names(&self, node: &Node, columns: usize) -> String {
        let names = self.names(node);
        let all = names.join(INTO);
        if words::columns(&all) <= columns {
            return all;
        }
        match &names[..] {
            [first, .., last] if words::columns(first) + words::columns(last) + 7 <= columns => {
                let dots = if names.len() > 2 { format!("{INTO}\u{2026}") } else { String::new() };
                format!("{first}{dots}{INTO}{last}")
            }
            [.., last] if names.len() > 1 => cut(&format!("\u{2026}{INTO}{last}"), columns),
            _ => cut(&all, columns),
        }
    }

    fn excerpt(&self, node: &Node, columns: usize) -> String {
        cut(&self.literal(node, columns), columns)
    }

    /// Returns the beginning of the text of a node as a literal, of this number of characters or more if there are any.
    fn literal(&self, node: &Node, characters: usize) -> String {
        // A character has at most four bytes.
        let end = node.range.end.min(node.range.start + 4 * characters + 4);
        words::literal(self.text.bytes.get(node.range.start..end).unwrap_or_default())
    }

    fn title(&self, node: usize) -> String {
        let node = &self.nodes[node];
        let (names, text) = (self.names(node).join(INTO), self.literal(node, MOST_OF_TITLE));
        let (start, end) = (node.range.start, node.range.end);
        format!("{names}, bytes {start}..{end}: {}", cut(&text, MOST_OF_TITLE))
    }
}

/// Returns a text that fits into some columns, with an ellipsis if some of it is left out.
fn cut(text: &str, columns: usize) -> String {
    match words::columns(text) <= columns {
        true => text.to_string(),
        false => format!("{}\u{2026}", words::fitting(text, columns.saturating_sub(1))),
    }
}

fn boxed_width(text: &str) -> i32 {
    words::columns(text) as i32 * COLUMN + 2 * PADDING
}

/// Returns a box with a text, of a look that diagrams have.
fn boxed(class: &str, radius: i32, (x, y): (i32, i32), text: &str) -> String {
    let width = boxed_width(text);
    format!(
        "<g class=\"{class}\"><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"{radius}\"/>\
         <text x=\"{}\" y=\"{}\">{}</text></g>",
        x + width / 2,
        y + 13,
        escape(text)
    )
}

fn small(x: i32, y: i32, text: &str) -> String {
    format!("<text class=\"caption\" x=\"{x}\" y=\"{y}\">{}</text>", escape(text))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use gramjet_compiler::ir::RuleId;
    use gramjet_compiler::reference::{self, Limits, Trace};
    use gramjet_compiler::{Options, SourceFile, compile};
    use gramjet_parse::{Budget, Parser};

    use super::super::tests::assert_well_formed;
    use super::super::tree::MOST_NODES;
    use super::*;

    /// Returns the tree of a text that conforms to a grammar.
    fn drawn(grammar: &str, text: &str) -> String {
        let compiled = compile(&SourceFile::new("g.ebnf", grammar), &Options::default()).expect("a grammar").0;
        let parsed = Parser::new(&compiled.lowered).parse(text.as_bytes(), &Budget::default()).expect("it conforms");
        let (mut bytes, mut trace, mut output) = (parsed.choices.iter().copied(), Trace::default(), Vec::new());
        let limits = Limits::default();
        let lowered = &compiled.lowered;
        reference::run(lowered, &compiled.pools, limits, &mut || bytes.next(), &mut output, Some(&mut trace));
        picture(Text::new(&compiled, output, trace), &|rule| compiled.told(RuleId::new(rule)).to_string())
    }

    /// Returns what the lines of a picture say.
    fn lines(picture: &str) -> String {
        let body = picture.split_once("</style>").expect("a stylesheet").1;
        let texts = |line: &str| -> Vec<String> {
            line.split_inclusive("</text>")
                .filter_map(|text| text.strip_suffix("</text>"))
                .map(|text| text.rsplit('>').next().unwrap_or_default().to_string())
                .collect()
        };
        let lines: Vec<String> =
            body.lines().map(|line| texts(line).join(" | ")).filter(|line| !line.is_empty()).collect();
        lines.join("\n").trim().to_string()
    }

    const NESTED: &str = "list ::= '[' (item (',' item)*)? ']' blank?\nitem ::= [0-9] | list\nblank ::= ' '?";

    #[test]
    fn lines_have_rules_and_texts() {
        expect![[r#"
            list | &quot;[1,[]]&quot;
            item | &quot;1&quot;
            item › list | &quot;[]&quot;"#]]
        .assert_eq(&lines(&drawn(NESTED, "[1,[]]")));
        // What a wide screen has room for comes second.
        expect!["… › rule_of_a_long_na… | &quot;the beginning … | rule_of_a_long_name_one › rule_of_a_long_name_two | &quot;the beginning of a long text&quot;"]
        .assert_eq(&lines(&drawn(
            "rule_of_a_long_name_one ::= rule_of_a_long_name_two\nrule_of_a_long_name_two ::= [a-z ]+",
            "the beginning of a long text",
        )));
    }

    #[test]
    fn texts_are_escaped() {
        let picture = drawn("s ::= a 'x'\na ::= '<script>&' #x202E #xA", "<script>&\u{202E}\nx");
        assert_well_formed("escaped", &picture);
        assert!(picture.contains("&lt;script&gt;&amp;\\u{202e}\\n") && !picture.contains('\u{202E}'), "{picture}");
    }

    #[test]
    fn large_trees_are_cut() {
        let wide = format!("[{}1]", "1,".repeat(9999));
        let picture = drawn(NESTED, &wide);
        assert_eq!(picture.matches("<title>").count(), MOST_NODES);
        let left_out = 10_001 - MOST_NODES;
        assert!(picture.contains(&format!("\u{2026} {left_out} more instances of rules are not drawn")), "{picture}");
        let picture = drawn(NESTED, &format!("{}{}", "[".repeat(5000), "]".repeat(5000)));
        assert_eq!(picture.matches("<title>").count(), 41);
        assert!(picture.contains("9918 more inside"), "{picture}");
        assert_well_formed("deep", &picture);
    }
}

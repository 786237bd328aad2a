//! The tree of a text as an SVG file: a line for each part, with its rules and the beginning of its text.
//!
//! In a picture for screens of any width, lines that a wide screen has more room for are in the file twice, and its
//! stylesheet shows one of both. A reader of SVG that knows no stylesheets for screens of some width shows the narrow
//! ones.

use std::fmt::Write as _;

use super::block::{COLUMN, SMALL_COLUMN};
use super::page::{NARROW, WIDE};
use super::style;
use super::svg::fitted;
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
/// The fewest columns of a text beside its rules. Where there is room for fewer, the text is left out.
const LEAST_EXCERPT: usize = 6;
/// The most characters of a text that appears when the pointer is on a line.
const MOST_OF_TITLE: usize = 600;
/// Name of the picture, for those who cannot see it.
const NAME: &str = "Tree of a text";
/// Mark between a rule and one within that derives the same text.
const INTO: &str = " \u{203A} ";

/// Stylesheet of a picture for screens of any width.
const SWITCH: &str = "\
.wide { display: none; }
@media (min-width: 1060px) {
.drawing { width: 1000px; }
.wide { display: inline; }
.narrow { display: none; }
}
";

/// Returns the tree of a text as an SVG file, without parts that derive nothing. The picture has this width in pixels,
/// or a greater one if that is too little; `None` is for screens of any width. `name` gives the name of a rule of the
/// compiled grammar.
pub fn picture(text: Text, width: Option<i32>, name: &dyn Fn(usize) -> String) -> String {
    let text = &text.without_empty_parts();
    let nodes = text.nodes(&|instance| Some(instance.rule.index()));
    let deepest = nodes.iter().map(|node| node.depth).max().unwrap_or(0).max(1) as i32;
    let narrow = width.unwrap_or(NARROW).max(NARROW);
    let widths = (narrow, if width.is_none() { WIDE } else { narrow });
    let picture = Picture { text, nodes: &nodes, name, step: (INDENTED / deepest).clamp(3, 16), widths };
    let (note, height) = picture.note();
    let lines: String = (0..nodes.len()).map(|node| picture.line(node)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" width=\"{narrow}\" height=\"{height}\" role=\"img\" \
         aria-label=\"{NAME}\">\n<title>{NAME}</title>\n<style>\n{}{}</style>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<path class=\"rail\" d=\"{}\"/>\n{lines}{note}</svg>\n",
        style::of_diagrams(),
        if width.is_none() { SWITCH } else { "" },
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
    /// The widths on narrow and on wide screens.
    widths: (i32, i32),
}

impl Picture<'_> {
    fn left(&self, node: usize) -> i32 {
        MARGIN + self.step * self.nodes[node].depth as i32
    }

    /// Returns the top of the box of a line.
    fn top(&self, line: usize) -> i32 {
        MARGIN + LINE * line as i32
    }

    /// Returns a remark about what is left out, if there is such, and the height of the picture.
    fn note(&self) -> (String, i32) {
        let (end, hidden) = (self.nodes.len(), self.nodes.iter().map(|node| node.hidden).sum::<usize>());
        match hidden {
            0 => (String::new(), self.top(end) + MARGIN),
            _ => {
                let note = format!("\u{2026} {hidden} more instances are not drawn");
                (small(MARGIN, self.top(end) + 13, &note), self.top(end + 1) + MARGIN)
            }
        }
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
        let (narrow, wide) = (self.elements(node, self.widths.0), self.elements(node, self.widths.1));
        let title = escape(&self.title(node));
        match narrow == wide {
            true => format!("<g><title>{title}</title>{narrow}</g>\n"),
            false => {
                format!("<g><title>{title}</title><g class=\"narrow\">{narrow}</g><g class=\"wide\">{wide}</g></g>\n")
            }
        }
    }

    /// Returns the elements of a line: a box with its rules, beside it the beginning of its text if there is room, and
    /// a remark about parts that are not drawn.
    fn elements(&self, number: usize, width: i32) -> String {
        let (node, x, y) = (&self.nodes[number], self.left(number), self.top(number));
        let more = if node.hidden > 0 { format!("{} more inside", node.hidden) } else { String::new() };
        let remark = if node.hidden > 0 { words::columns(&more) as i32 * SMALL_COLUMN + PADDING } else { 0 };
        // Boxes begin at `x` and may end here.
        let end = width - MARGIN - remark;
        let all = columns_within(end - x);
        let names = self.short_names(node, (all * 3 / 5).max(8).min(all));
        let mut line = boxed("rule", 0, (x, y), &names);
        let mut x = x + boxed_width(&names) + PADDING;
        let left = columns_within(end - x);
        if left >= LEAST_EXCERPT {
            let excerpt = self.excerpt(node, left);
            line += &match node.children.is_empty() && node.hidden == 0 {
                true => boxed("literal", 9, (x, y), &excerpt),
                false => beside(x, y + 13, &excerpt),
            };
            x += boxed_width(&excerpt) + PADDING;
        }
        if node.hidden > 0 {
            line += &small(x, y + 13, &more);
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

/// Returns the columns of the longest text whose box has this width.
fn columns_within(width: i32) -> usize {
    ((width - 2 * PADDING) / COLUMN).max(0) as usize
}

fn boxed_width(text: &str) -> i32 {
    words::columns(text) as i32 * COLUMN + 2 * PADDING
}

/// Returns a box with a text, of a look that diagrams have.
fn boxed(class: &str, radius: i32, (x, y): (i32, i32), text: &str) -> String {
    let width = boxed_width(text);
    format!(
        "<g class=\"{class}\"><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"{radius}\"/>\
         <text x=\"{}\" y=\"{}\"{}>{}</text></g>",
        x + width / 2,
        y + 13,
        fitted(text),
        escape(text)
    )
}

/// Returns a text beside a box.
fn beside(x: i32, y: i32, text: &str) -> String {
    format!("<text class=\"excerpt\" x=\"{x}\" y=\"{y}\"{}>{}</text>", fitted(text), escape(text))
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

    /// Returns the tree of a text that conforms to a grammar, for screens of any width.
    fn drawn(grammar: &str, text: &str) -> String {
        drawn_within(grammar, text, None)
    }

    fn drawn_within(grammar: &str, text: &str, width: Option<i32>) -> String {
        let compiled = compile(&SourceFile::new("g.ebnf", grammar), &Options::default()).expect("a grammar").0;
        let parsed = Parser::new(&compiled.lowered).parse(text.as_bytes(), &Budget::default()).expect("it conforms");
        let (mut bytes, mut trace, mut output) = (parsed.choices.iter().copied(), Trace::default(), Vec::new());
        let limits = Limits::default();
        let lowered = &compiled.lowered;
        reference::run(lowered, &compiled.pools, limits, &mut || bytes.next(), &mut output, Some(&mut trace));
        picture(Text::new(&compiled, output, trace), width, &|rule| compiled.told(RuleId::new(rule)).to_string())
    }

    /// Returns the value of an attribute of the first element.
    fn attribute<'p>(element: &'p str, name: &str) -> Option<&'p str> {
        element.split_once(&format!(" {name}=\""))?.1.split('"').next()
    }

    /// Returns where the boxes and texts of some elements end.
    fn ends(elements: &str) -> Vec<i32> {
        let number = |element: &str, name| attribute(element, name).and_then(|value| value.parse::<i32>().ok());
        let of_texts = elements.split("<text ").skip(1).filter_map(|text| {
            let text = &format!(" {}", text.split("</text>").next()?);
            let column = match attribute(text, "class")? {
                "caption" => SMALL_COLUMN,
                _ => COLUMN,
            };
            let shown = text.split_once('>')?.1.replace("&quot;", "\"").replace("&#39;", "'");
            Some(number(text, "x")? + words::columns(&shown) as i32 * column)
        });
        let of_boxes =
            elements.split("<rect").skip(1).filter_map(|rect| Some(number(rect, "x")? + number(rect, "width")?));
        of_texts.chain(of_boxes).collect()
    }

    /// Checks that nothing in a picture is cut by its sides, on narrow and on wide screens.
    fn assert_fits(grammar: &str, text: &str, width: Option<i32>) {
        let picture = drawn_within(grammar, text, width);
        let narrow = width.unwrap_or(NARROW);
        let mut count = 0;
        for line in picture.split_once("</style>").expect("a stylesheet").1.lines() {
            let (narrow_part, wide_part) = line.split_once("<g class=\"wide\">").unwrap_or((line, ""));
            for (elements, width) in [(narrow_part, narrow), (wide_part, WIDE)] {
                let ends = ends(elements);
                count += ends.len();
                assert!(ends.iter().all(|&end| end <= width - MARGIN), "{width}: {ends:?}: {elements}");
            }
        }
        assert!(count > 1, "{count}: {picture}");
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
        expect!["… › rule_of_a_long_nam… | &quot;the beginnin… | rule_of_a_long_name_one › rule_of_a_long_name_two | &quot;the beginning of a long text&quot;"]
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
        assert_eq!(picture.matches("<g><title>").count(), MOST_NODES);
        let left_out = 10_001 - MOST_NODES;
        assert!(picture.contains(&format!("\u{2026} {left_out} more instances are not drawn")), "{picture}");
        let picture = drawn(NESTED, &format!("{}{}", "[".repeat(5000), "]".repeat(5000)));
        assert_eq!(picture.matches("<g><title>").count(), 41);
        assert!(picture.contains("9918 more inside"), "{picture}");
        assert_well_formed("deep", &picture);
    }

    #[test]
    fn nothing_is_wider_than_the_picture() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let long = "the beginning of a long text that no screen has room for ".repeat(9);
        for width in [None, Some(NARROW), Some(613)] {
            for depth in [1, 2, 20, 41, 42, 60] {
                assert_fits(NESTED, &nested(depth), width);
            }
            assert_fits("a_rule_whose_name_is_far_too_long_for_a_line ::= [a-z ]* s\ns ::= [a-z ]*", &long, width);
            assert_fits("s ::= t t\nt ::= #x4E00 [a-z]*", "\u{4E00}abc\u{4E00}", width);
        }
        assert_fits(NESTED, &nested(5000), None);
        assert_fits(NESTED, &format!("[{}1]", "1,".repeat(9999)), None);
    }

    /// Some fonts have such characters in a width of their own.
    #[test]
    fn texts_of_other_scripts_are_fitted() {
        let picture = drawn("s ::= t 'x' t\nt ::= #x4E00 #x4E01", "\u{4E00}\u{4E01}x\u{4E00}\u{4E01}");
        assert!(
            picture.contains(" textLength=\"48\" lengthAdjust=\"spacingAndGlyphs\">&quot;\u{4E00}\u{4E01}&quot;<"),
            "{picture}"
        );
        assert!(picture.contains("class=\"excerpt\"") && picture.matches("textLength").count() == 3, "{picture}");
    }

    #[test]
    fn a_picture_has_a_name_and_the_width_that_is_asked_for() {
        let picture = drawn_within(NESTED, "[1,2]", Some(613));
        let head = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" width=\"613\" height=\"88\" role=\"img\" aria-label=\"Tree of a text\">\n<title>Tree of a text</title>\n";
        assert!(picture.starts_with(head), "{picture}");
        assert!(!picture.contains("class=\"wide\"") && !picture.contains("min-width"), "{picture}");
        let narrow = format!(" width=\"{NARROW}\" ");
        assert!(drawn_within(NESTED, "[1,2]", Some(100)).contains(&narrow));
        assert!(drawn(NESTED, "[1,2]").contains(&narrow));
    }
}

//! Diagrams as SVG.

use std::fmt::Write as _;

use super::block::{
    AROUND, Block, Branch, COLUMN, END, GAP, LINE, Leaf, Look, MARGIN, Part, RADIUS, below, loop_level, part_name,
    places, skip_level,
};
use super::words::{self, escape};

/// Height of the name of a part.
const CAPTION: i32 = 22;

/// A diagram that is drawn.
pub struct Drawn {
    /// Elements of SVG.
    pub elements: String,
    /// Its width in pixels.
    pub width: i32,
    /// Its height in pixels.
    pub height: i32,
}

/// Draws a rule, and below it the parts of it that have diagrams of their own. `link` says where a reference to a rule
/// leads, if it leads anywhere. `is_used` says whether a corpus uses the rule, if there is one.
pub fn draw(blocks: &[Block], is_used: Option<bool>, link: &dyn Fn(usize) -> Option<String>) -> Drawn {
    let mut canvas = Canvas { link, shapes: String::new(), rails: String::new(), unused: String::new(), off: 0 };
    let (mut width, mut height) = (0, MARGIN);
    for (number, block) in blocks.iter().enumerate() {
        if number > 0 {
            height += CAPTION;
            canvas.text("caption", MARGIN, height - 6, &format!("{}:", part_name(number)));
        }
        let size = block.size;
        let y = height + size.up.max(10);
        canvas.part(is_used, |canvas| canvas.diagram(block, y));
        width = width.max(size.width + AROUND);
        height = y + size.drop + size.down.max(10) + MARGIN;
    }
    let mut elements = String::new();
    // Rails that a used branch shares with others are used.
    for (class, path) in [("rail unused", &canvas.unused), ("rail", &canvas.rails)] {
        if !path.is_empty() {
            let _ = writeln!(elements, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }
    elements += &canvas.shapes;
    Drawn { elements, width, height }
}

/// Paths and boxes as they are drawn. Rails are few paths, so a diagram of many is small.
struct Canvas<'l> {
    link: &'l dyn Fn(usize) -> Option<String>,
    shapes: String,
    rails: String,
    /// Rails that a corpus does not use.
    unused: String,
    /// Number of unused parts around.
    off: u32,
}

impl Canvas<'_> {
    fn rail(&mut self, path: std::fmt::Arguments<'_>) {
        let rails = if self.off > 0 { &mut self.unused } else { &mut self.rails };
        let _ = rails.write_fmt(path);
    }

    fn text(&mut self, class: &str, x: i32, y: i32, text: &str) {
        let _ = writeln!(self.shapes, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escape(text));
    }

    /// Draws a block with marks at its beginning and its end.
    fn diagram(&mut self, block: &Block, y: i32) {
        let x = MARGIN + END;
        self.rail(format_args!("M{MARGIN} {}v16m4-16v16m0-8H{x}", y - 8));
        self.block(block, x, y);
        let (end, out) = (x + block.size.width, y + block.size.drop);
        self.rail(format_args!("M{end} {out}h{}m0-8v16m4-16v16", END - 4));
    }

    /// Draws a part, in the colour of what a corpus does not use if it is such.
    fn part(&mut self, is_used: Option<bool>, draw: impl FnOnce(&mut Self)) {
        let is_off = is_used == Some(false);
        if is_off {
            self.shapes += "<g class=\"unused\">\n";
        }
        self.off += u32::from(is_off);
        draw(self);
        self.off -= u32::from(is_off);
        if is_off {
            self.shapes += "</g>\n";
        }
    }

    /// Draws a block whose rail enters at a point.
    fn block(&mut self, block: &Block, x: i32, y: i32) {
        match &block.part {
            Part::Rail => self.rail(format_args!("M{x} {y}h{}", block.size.width)),
            Part::Leaf(leaf) => self.leaf(leaf, block, x, y),
            Part::Row(blocks) => self.row(blocks, x, y),
            Part::Rows(rows) => self.rows(rows, block, x, y),
            Part::Choice(branches, weights) => self.choice(branches, *weights, block, x, y),
            Part::Skip(inner, is_used) => self.skip(inner, *is_used, block, x, y),
            Part::Loop(inner, remark) => self.again(inner, remark, block, x, y),
            Part::Frame(inner, caption) => self.frame(inner, caption, block, x, y),
        }
    }

    fn leaf(&mut self, leaf: &Leaf, block: &Block, x: i32, y: i32) {
        let size = block.size;
        let (class, radius) = match leaf.look {
            Look::Literal => ("literal", 12),
            Look::Class => ("class", 12),
            Look::Rule => ("rule", 0),
            Look::Derived => ("derived", 4),
            Look::Part => ("part", 4),
            Look::Note => ("note", 4),
        };
        let link = leaf.target.and_then(self.link);
        let (open, close) = match link {
            Some(link) => (format!("<a class=\"{class}\" href=\"{}\">", escape(&link)), "</a>"),
            None => (format!("<g class=\"{class}\">"), "</g>"),
        };
        self.shapes += &open;
        if let Some(title) = &leaf.title {
            let _ = write!(self.shapes, "<title>{}</title>", escape(title));
        }
        let (top, height) = (y - size.up, size.up + size.down);
        let _ = writeln!(
            self.shapes,
            "<rect x=\"{x}\" y=\"{top}\" width=\"{}\" height=\"{height}\" rx=\"{radius}\"/>",
            size.width
        );
        for (number, line) in leaf.lines.iter().enumerate() {
            let at = top + 4 + (number as i32) * LINE + 12;
            let middle = x + size.width / 2;
            let _ = writeln!(self.shapes, "<text x=\"{middle}\" y=\"{at}\"{}>{}</text>", fitted(line), escape(line));
        }
        self.shapes += close;
        self.shapes.push('\n');
    }

    fn row(&mut self, blocks: &[Block], x: i32, y: i32) {
        let (mut x, mut y) = (x, y);
        for (number, block) in blocks.iter().enumerate() {
            if number > 0 {
                self.rail(format_args!("M{x} {y}h{GAP}"));
                x += GAP;
            }
            self.block(block, x, y);
            x += block.size.width;
            y += block.size.drop;
        }
    }

    fn rows(&mut self, rows: &[Block], block: &Block, x: i32, y: i32) {
        const R: i32 = RADIUS;
        let (right, left, mut y) = (x + block.size.width, x + 2 * R, y);
        self.rail(format_args!("M{x} {y}H{left}"));
        for (number, row) in rows.iter().enumerate() {
            self.block(row, left, y);
            y += row.size.drop;
            let end = left + row.size.width;
            let Some(next) = rows.get(number + 1) else {
                self.rail(format_args!("M{end} {y}H{right}"));
                return;
            };
            let (back, enter) = below(row, next);
            let (back, enter) = (y + back, y + enter);
            self.rail(format_args!(
                "M{end} {y}a{R} {R} 0 0 1 {R} {R}V{}a{R} {R} 0 0 1-{R} {R}H{}a{R} {R} 0 0 0-{R} {R}V{}a{R} {R} 0 0 0 {R} {R}",
                back - R,
                x + 2 * R,
                enter - R
            ));
            y = enter;
        }
    }

    fn choice(&mut self, branches: &[Branch], weights: i32, block: &Block, x: i32, y: i32) {
        const R: i32 = RADIUS;
        let (left, right, exit) = (x + 2 * R, x + block.size.width, y + block.size.drop);
        for (branch, place) in branches.iter().zip(places(branches)) {
            let (at, size) = (y + place, branch.block.size);
            let (begin, end, out) = (left + weights, left + weights + size.width, at + size.drop);
            self.part(branch.is_used, |canvas| {
                if let Some(weight) = &branch.weight {
                    canvas.text("weight", left, at - 4, weight);
                }
                match place {
                    0 => canvas.rail(format_args!("M{x} {at}H{begin}M{end} {out}H{right}")),
                    _ => canvas.rail(format_args!(
                        "M{x} {y}a{R} {R} 0 0 1 {R} {R}V{}a{R} {R} 0 0 0 {R} {R}H{begin}\
                         M{end} {out}H{}a{R} {R} 0 0 0 {R}-{R}V{}a{R} {R} 0 0 1 {R}-{R}",
                        at - R,
                        right - 2 * R,
                        exit + R
                    )),
                }
                canvas.block(&branch.block, begin, at);
            });
        }
    }

    fn skip(&mut self, inner: &Block, is_used: Option<bool>, block: &Block, x: i32, y: i32) {
        const R: i32 = RADIUS;
        let (right, exit, level) = (x + block.size.width, y + block.size.drop, y - skip_level(inner));
        self.rail(format_args!(
            "M{x} {y}a{R} {R} 0 0 0 {R}-{R}V{}a{R} {R} 0 0 1 {R}-{R}H{}a{R} {R} 0 0 1 {R} {R}V{}a{R} {R} 0 0 0 {R} {R}",
            level + R,
            right - 2 * R,
            exit - R
        ));
        self.part(is_used, |canvas| {
            canvas.rail(format_args!("M{x} {y}h{}M{} {exit}H{right}", 2 * R, right - 2 * R));
            canvas.block(inner, x + 2 * R, y);
        });
    }

    fn again(&mut self, inner: &Block, remark: &str, block: &Block, x: i32, y: i32) {
        const R: i32 = RADIUS;
        let (begin, end, exit) = (x + R, x + block.size.width - R, y + block.size.drop);
        let level = exit + loop_level(inner);
        let room = end - begin - inner.size.width;
        let (enter, leave) = (begin + room / 2, begin + room / 2 + inner.size.width);
        self.rail(format_args!(
            "M{x} {y}H{enter}M{leave} {exit}H{}M{end} {exit}a{R} {R} 0 0 1 {R} {R}V{}a{R} {R} 0 0 1-{R} {R}\
             H{begin}a{R} {R} 0 0 1-{R}-{R}V{}a{R} {R} 0 0 1 {R}-{R}",
            end + R,
            level - R,
            y + R
        ));
        let middle = (begin + end) / 2;
        let _ = writeln!(self.shapes, "<path class=\"arrow\" d=\"M{} {level}l7-4v8z\"/>", middle - 4);
        if !remark.is_empty() {
            self.text("remark", middle, level + 13, remark);
        }
        self.block(inner, enter, y);
    }

    fn frame(&mut self, inner: &Block, caption: &str, block: &Block, x: i32, y: i32) {
        let size = block.size;
        let room = size.width - inner.size.width;
        let (begin, exit) = (x + room / 2, y + size.drop);
        let (top, height) = (y - size.up, size.up + size.bottom());
        let _ = writeln!(
            self.shapes,
            "<rect class=\"frame\" x=\"{x}\" y=\"{top}\" width=\"{}\" height=\"{height}\" rx=\"4\"/>",
            size.width
        );
        self.text("caption", x + 6, top + 12, caption);
        self.rail(format_args!("M{x} {y}H{begin}M{} {exit}H{}", begin + inner.size.width, x + size.width));
        self.block(inner, begin, y);
    }
}

/// Returns the attributes that keep a line within its columns, if it has characters that many fonts have in another
/// width than their own.
pub fn fitted(line: &str) -> String {
    let is_of_any_font = |character| matches!(character, '\0'..='\u{24F}' | '\u{2000}'..='\u{206F}');
    match line.chars().all(is_of_any_font) {
        true => String::new(),
        false => {
            format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", words::columns(line) as i32 * COLUMN)
        }
    }
}

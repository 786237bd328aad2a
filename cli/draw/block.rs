//! Blocks of a railroad diagram: each has a size, and is made of smaller ones. The rail enters on the left and leaves
//! on the right, at the same height or below.

use super::words;

/// Radius of the curves of rails.
pub const RADIUS: i32 = 7;
/// Width of a column of text.
pub const COLUMN: i32 = 8;
/// Width of a column of a small text.
pub const SMALL_COLUMN: i32 = 7;
/// Height of a line of text.
pub const LINE: i32 = 16;
/// Space around a diagram.
pub const MARGIN: i32 = 6;
/// Width of the marks at which a diagram begins and ends.
pub const END: i32 = 18;
/// Width that the marks and the space around a diagram take.
pub const AROUND: i32 = 2 * (MARGIN + END);
/// Space between a text and the sides of its box.
const PADDING: i32 = 8;
/// Space between the boxes of a sequence.
pub const GAP: i32 = 10;
/// Space between blocks that stand above each other.
const VERTICAL_GAP: i32 = 6;
/// Height of the caption of a frame.
const CAPTION: i32 = 17;
/// The most lines of a box.
const MOST_LINES: usize = 4;
/// The most characters of a text that appears when the pointer is on a box.
const MOST_OF_TITLE: usize = 600;

/// The size of a block, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Its width.
    pub width: i32,
    /// Height above the rail that enters.
    pub up: i32,
    /// Difference of height between the rail that enters and the one that leaves, which is not above it.
    pub drop: i32,
    /// Height below the rail that leaves.
    pub down: i32,
}

/// The look of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Literal bytes.
    Literal,
    /// One of a set of characters.
    Class,
    /// A reference to a rule.
    Rule,
    /// Bytes that follow from others, and what the drawing has no form for.
    Derived,
    /// A part that is drawn below.
    Part,
    /// A remark about what is left out.
    Note,
}

/// A box with a text.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Lines of its text.
    pub lines: Vec<String>,
    /// Its look.
    pub look: Look,
    /// The whole text, if some of it is left out.
    pub title: Option<String>,
    /// The rule that it leads to, by number.
    pub target: Option<usize>,
}

/// A branch of a choice.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The block.
    pub block: Block,
    /// Its weight, as text.
    pub weight: Option<String>,
    /// Whether a corpus uses it, if there is one.
    pub is_used: Option<bool>,
}

/// The kinds of blocks.
#[derive(Clone, Debug)]
pub enum Part {
    /// A rail alone.
    Rail,
    /// A box.
    Leaf(Leaf),
    /// Blocks one after the other.
    Row(Vec<Block>),
    /// Rows, one below the other.
    Rows(Vec<Block>),
    /// One of several branches; the width of their weights.
    Choice(Vec<Branch>, i32),
    /// A block, and a rail around it; whether a corpus takes the block, if there is one.
    Skip(Box<Block>, Option<bool>),
    /// A block, and a rail back to its beginning, with a remark.
    Loop(Box<Block>, String),
    /// A block within a frame that has a caption.
    Frame(Box<Block>, String),
}

/// A block with its size.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its size.
    pub size: Size,
    /// Its kind.
    pub part: Part,
}

impl Block {
    /// Returns a rail alone.
    pub fn rail() -> Block {
        Block { size: Size { width: GAP, up: 6, drop: 0, down: 6 }, part: Part::Rail }
    }

    /// Returns a box that is at most `width` wide, if it can be.
    pub fn leaf(text: &str, look: Look, width: i32) -> Block {
        let columns = ((width - 2 * PADDING) / COLUMN).max(12) as usize;
        let broken = words::broken(text, columns, MOST_LINES);
        let title = broken.is_cut.then(|| words::fitting(text, MOST_OF_TITLE).to_string());
        let columns = broken.lines.iter().map(|line| words::columns(line)).max().unwrap_or(0) as i32;
        let half = (broken.lines.len().max(1) as i32 * LINE + 8) / 2;
        let size = Size { width: (columns * COLUMN + 2 * PADDING).max(24), up: half, drop: 0, down: half };
        Block { size, part: Part::Leaf(Leaf { lines: broken.lines, look, title, target: None }) }
    }

    /// Returns a box that leads to a rule.
    pub fn reference(name: &str, target: Option<usize>, width: i32) -> Block {
        let mut block = Block::leaf(name, Look::Rule, width);
        if let Part::Leaf(leaf) = &mut block.part {
            leaf.target = target;
        }
        block
    }

    /// Returns blocks one after the other, in rows that are at most `width` wide, if they can be.
    pub fn sequence(mut blocks: Vec<Block>, width: i32) -> Block {
        if blocks.len() == 1 {
            return blocks.remove(0);
        }
        let row = Block::row(blocks);
        match row.part {
            Part::Row(blocks) if row.size.width > width => Block::rows(blocks, within_rows(width)),
            part => Block { part, size: row.size },
        }
    }

    fn row(blocks: Vec<Block>) -> Block {
        if blocks.is_empty() {
            return Block::rail();
        }
        let (mut width, mut drop, mut up, mut bottom) = (0, 0, 0, 0);
        for Block { size, .. } in &blocks {
            width += size.width + if width > 0 { GAP } else { 0 };
            up = up.max(size.up - drop);
            drop += size.drop;
            bottom = bottom.max(drop + size.down);
        }
        Block { size: Size { width, up, drop, down: bottom - drop }, part: Part::Row(blocks) }
    }

    fn rows(blocks: Vec<Block>, width: i32) -> Block {
        let (mut rows, mut row, mut taken) = (Vec::new(), Vec::new(), 0);
        for block in blocks {
            if taken > 0 && taken + GAP + block.size.width > width {
                rows.push(Block::row(std::mem::take(&mut row)));
                taken = 0;
            }
            taken += block.size.width + if taken > 0 { GAP } else { 0 };
            row.push(block);
        }
        rows.push(Block::row(row));
        if rows.len() == 1 {
            return rows.remove(0);
        }
        let (mut drop, mut widest) = (0, 0);
        for (number, row) in rows.iter().enumerate() {
            drop += row.size.drop + if number > 0 { below(&rows[number - 1], row).1 } else { 0 };
            widest = widest.max(row.size.width);
        }
        let (up, down) = (rows[0].size.up, rows[rows.len() - 1].size.down);
        Block { size: Size { width: widest + 4 * RADIUS, up, drop, down }, part: Part::Rows(rows) }
    }

    /// Returns one of several branches.
    pub fn choice(mut branches: Vec<Branch>) -> Block {
        let weights = branches.iter().filter_map(|branch| branch.weight.as_deref());
        let weights = weights.map(|weight| words::columns(weight) as i32 * SMALL_COLUMN + 6).max().unwrap_or(0);
        for branch in branches.iter_mut().filter(|branch| branch.weight.is_some()) {
            branch.block.size.up = branch.block.size.up.max(14);
        }
        let widest = branches.iter().map(|branch| branch.block.size.width).max().unwrap_or(0);
        let first = branches.first().map(|branch| branch.block.size).unwrap_or_default();
        let places = places(&branches);
        let bottoms = branches.iter().zip(&places).map(|(branch, at)| at + branch.block.size.bottom());
        let down = bottoms.max().unwrap_or(0) - first.drop;
        let size = Size { width: widest + weights + 4 * RADIUS, down, ..first };
        Block { size, part: Part::Choice(branches, weights) }
    }

    /// Returns a block that need not be taken.
    pub fn skip(block: Block, is_used: Option<bool>) -> Block {
        let size = Size { width: block.size.width + 4 * RADIUS, up: skip_level(&block) + 2, ..block.size };
        Block { size, part: Part::Skip(Box::new(block), is_used) }
    }

    /// Returns a block that can be taken again.
    pub fn again(block: Block, remark: String) -> Block {
        let remark_width = words::columns(&remark) as i32 * SMALL_COLUMN;
        let down = loop_level(&block) + if remark.is_empty() { 4 } else { 17 };
        let size = Size { width: block.size.width.max(remark_width) + 2 * RADIUS, down, ..block.size };
        Block { size, part: Part::Loop(Box::new(block), remark) }
    }

    /// Returns a block within a frame.
    pub fn frame(block: Block, caption: String) -> Block {
        let width = block.size.width.max(words::columns(&caption) as i32 * SMALL_COLUMN) + 2 * PADDING;
        let size = Size { width, up: block.size.up + CAPTION, drop: block.size.drop, down: block.size.down + 6 };
        Block { size, part: Part::Frame(Box::new(block), caption) }
    }
}

impl Size {
    /// Returns the height below the rail that enters.
    pub fn bottom(&self) -> i32 {
        self.drop + self.down
    }
}

/// Returns the height of the rail that goes around a block, above the rail that enters.
pub fn skip_level(block: &Block) -> i32 {
    (block.size.up + VERTICAL_GAP).max(2 * RADIUS)
}

/// Returns the height of the rail that goes back, below the rail that leaves the block.
pub fn loop_level(block: &Block) -> i32 {
    (block.size.down + VERTICAL_GAP).max(2 * RADIUS)
}

/// Returns the heights below the rail that leaves a row: of the rail that leads back to the left, and of the rail that
/// enters the next row.
pub fn below(row: &Block, next: &Block) -> (i32, i32) {
    let back = (row.size.down + VERTICAL_GAP).max(2 * RADIUS);
    (back, back + (next.size.up + VERTICAL_GAP).max(2 * RADIUS))
}

/// Returns the heights of the rails that enter the branches of a choice, below the rail that enters the choice.
pub fn places(branches: &[Branch]) -> Vec<i32> {
    let mut places: Vec<i32> = Vec::with_capacity(branches.len());
    for (number, branch) in branches.iter().enumerate() {
        let place = match number.checked_sub(1) {
            None => 0,
            Some(before) => {
                let size = branches[before].block.size;
                let apart = size.down + VERTICAL_GAP + branch.block.size.up;
                places[before] + size.drop + apart.max(2 * RADIUS)
            }
        };
        places.push(place);
    }
    places
}

/// Returns the width that a choice leaves to its branches, where weights are this many columns wide.
pub fn within_choice(width: i32, weight: usize) -> i32 {
    let weights = if weight == 0 { 0 } else { weight as i32 * SMALL_COLUMN + 6 };
    width - 4 * RADIUS - weights
}

/// Returns the width that rows leave to what is in them.
pub fn within_rows(width: i32) -> i32 {
    width - 4 * RADIUS
}

/// Returns the width that a block leaves that can be skipped.
pub fn within_skip(width: i32) -> i32 {
    width - 4 * RADIUS
}

/// Returns the width that a block leaves that can be taken again.
pub fn within_loop(width: i32) -> i32 {
    width - 2 * RADIUS
}

/// Returns the width that a frame leaves.
pub fn within_frame(width: i32) -> i32 {
    width - 2 * PADDING
}

/// Returns the name of a part that is drawn below its rule.
pub fn part_name(number: usize) -> String {
    format!("part {number}")
}

//! The conditions for a program to be run: the interpreter does not check them again.

use super::draft::MAX_DEEPER;
use super::program::{Code, Exit, Limited, NO_LEVEL, OTHER, Op, OpOffset, Program, RETURN, Site, Word};
use super::text::Text;

impl Program {
    /// Checks that every reference is in range and that no op runs unbuilt.
    ///
    /// # Errors
    ///
    /// The first violation, described.
    pub fn verify(&self) -> Result<(), String> {
        let greatest: Vec<u8> = self.tables.chunks(256).map(|table| table.iter().copied().max().unwrap_or(0)).collect();
        if self.sites.len() != self.ops.len()
            || !self.others.is_multiple_of(Op::SIZE)
            || !self.tables.len().is_multiple_of(256)
        {
            return Err("ops and sites".into());
        }
        if let Some(exit) = self.exits.iter().find(|exit| !self.holds_exit(exit)) {
            return Err(format!("exit {exit:?}"));
        }
        if let Some(text) = self.texts.iter().find(|text| text.len() > Text::MAX) {
            return Err(format!("text {text:?}"));
        }
        if let Some(pc) = (0..self.ops.len()).find(|&pc| !self.holds_op(pc, &greatest)) {
            return Err(format!("op {pc}: {:?} {:?}", self.ops[pc], self.sites[pc]));
        }
        if let Some(word) = self.words.iter().find(|word| !self.holds_word(word)) {
            return Err(format!("word {word:?}"));
        }
        if let Some(run) = self.runs.iter().find(|run| !self.has_table(run.table) || run.bound > 256) {
            return Err(format!("run {run:?}"));
        }
        if self.is_built(self.start) { Ok(()) } else { Err("the start is not built".into()) }
    }

    fn op_at(&self, place: OpOffset) -> Option<&Op> {
        self.ops.get((place / Op::SIZE) as usize).filter(|_| place.is_multiple_of(Op::SIZE))
    }

    fn is_built(&self, place: OpOffset) -> bool {
        self.op_at(place).is_some_and(|op| op.code != Code::Unset)
    }

    fn has_table(&self, start: u32) -> bool {
        start.is_multiple_of(256) && (start as usize) < self.tables.len()
    }

    fn holds_word(&self, word: &Word) -> bool {
        let heads = word.heads.iter().all(|&head| self.has_table(head)) && word.count as usize <= Word::HEADS;
        heads && self.has_table(word.tail)
    }

    fn holds_exit(&self, exit: &Exit) -> bool {
        let growth = i8::from(exit.push != RETURN) - i8::from(exit.next == RETURN);
        self.is_built(exit.next)
            && self.is_built(exit.push)
            && self.op_at(exit.next).is_some_and(|op| op.argument == exit.argument)
            && (exit.next != RETURN || exit.push == RETURN)
            && exit.growth == growth
            && exit.deeper <= MAX_DEEPER
    }

    fn holds_op(&self, pc: usize, greatest: &[u8]) -> bool {
        let (op, site) = (&self.ops[pc], &self.sites[pc]);
        let has_options = op.code != Code::Site || self.has_table(op.argument) && holds_site(op, site, greatest);
        let first = (self.others / Op::SIZE) as usize + 2 * pc;
        let is_other = |op: &Op| op.code != Code::Unset && op.level == NO_LEVEL;
        let level = op.level == NO_LEVEL
            || op.level >= 0 && self.ops.get(first..first + 2).is_some_and(|others| others.iter().all(is_other));
        has_options
            && self.has_argument(op, site)
            && level
            && self.holds_limits(op, site)
            && is_list(&self.exits, op.exits, op.exit_count(site))
            && is_list(&self.texts, op.texts, op.text_count(site))
            && matches!(op.mask, 0 | -1)
            && (op.code == Code::Site) == (op.reads != OTHER)
    }

    fn holds_limits(&self, op: &Op, site: &Site) -> bool {
        let ends = self.slot_ends.get(site.ends as usize..).unwrap_or_default();
        let weights = site.bits == 0 || ends.get(site.count as usize - 1) == Some(&(1 << site.bits));
        let costs = match site.limited {
            Limited::No => true,
            _ => site.costs as usize + site.count as usize <= self.costs.len(),
        };
        let shortest = site.limited != Limited::Pool || (site.shortest as usize) < self.longs.len();
        let sized = op.code != Code::Large || site.count > 1;
        site.count > 0 && weights && costs && shortest && sized
    }
}

/// Returns true if every choice byte leads to an option. Without a choice byte of its own, a site looks at the next
/// op's.
fn holds_site(op: &Op, site: &Site, greatest: &[u8]) -> bool {
    let greatest = greatest[(op.argument / 256) as usize];
    op.reads == u8::from(site.count > 1) && u32::from(greatest) < site.count
}

/// Returns true if `count` items follow each other from `start` on, in bytes.
fn is_list<T>(list: &[T], start: u32, count: u32) -> bool {
    start.is_multiple_of(Op::SIZE) && (start / Op::SIZE) as usize + count as usize <= list.len()
}

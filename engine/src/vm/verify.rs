//! What must hold for a program to be run.

use super::program::{Code, Exit, Limited, NO_LEVEL, OTHER, Op, Pc, Program, RETURN, Word};
use super::text::Text;

impl Program {
    /// Checks that every reference is in range and that no op runs unbuilt.
    ///
    /// # Errors
    ///
    /// The first violation, described.
    pub fn verify(&self) -> Result<(), String> {
        if self.exit_costs.len() != self.exits.len() {
            return Err("exits without costs".into());
        }
        if let Some(exit) = self.exits.iter().find(|exit| !self.holds_exit(exit)) {
            return Err(format!("exit {exit:?}"));
        }
        if let Some(pc) = (0..self.ops.len()).find(|&pc| !self.holds_op(pc)) {
            return Err(format!("op {pc}: {:?}", self.ops[pc]));
        }
        if let Some(word) = self.words.iter().find(|word| !self.holds_word(word)) {
            return Err(format!("word {word:?}"));
        }
        if let Some(run) = self.runs.iter().find(|run| !self.has_table(run.table) || run.bound > 256) {
            return Err(format!("run {run:?}"));
        }
        if self.is_built(self.start) { Ok(()) } else { Err("the start is not built".into()) }
    }

    fn is_built(&self, pc: Pc) -> bool {
        self.ops.get(pc as usize).is_some_and(|op| op.code != Code::Unset)
    }

    fn has_table(&self, start: u32) -> bool {
        start as usize + 256 <= self.tables.len()
    }

    fn holds_word(&self, word: &Word) -> bool {
        let heads = word.heads.iter().all(|&head| self.has_table(head)) && word.count as usize <= Word::HEADS;
        heads && self.has_table(word.tail)
    }

    fn holds_exit(&self, exit: &Exit) -> bool {
        let growth = i8::from(exit.push != 0) - i8::from(exit.next == RETURN);
        exit.text.len() <= Text::MAX
            && self.is_built(exit.next)
            && self.is_built(exit.push)
            && exit.argument == self.ops[exit.next as usize].argument
            && (exit.next != RETURN || exit.push == 0)
            && exit.growth == growth
    }

    fn holds_op(&self, pc: usize) -> bool {
        let op = &self.ops[pc];
        let argument = op.argument as usize;
        let known = match op.code {
            Code::Unset | Code::Halt | Code::Count => true,
            Code::Site => self.has_table(op.argument) && self.holds_site(op),
            Code::Large => op.count > 1 && self.holds_weights(op),
            Code::Pool => self.pools.get(argument).is_some_and(|pool| {
                pool.costs.len() == op.count as usize && (pool.first + op.count) as usize <= self.longs.len()
            }),
            Code::Member => argument < self.classes.len(),
            Code::Long => argument < self.longs.len(),
            Code::Word => argument < self.words.len(),
            Code::Run => argument < self.runs.len(),
            Code::Round => argument < self.rounds.len(),
        };
        let exits = (u64::from(op.exits) + u64::from(op.exit_count())) as usize <= self.exits.len()
            && (u64::from(op.texts) + u64::from(op.text_count())) as usize <= self.exits.len();
        let shortest = op.limited != Limited::Pool || (op.shortest as usize) < self.longs.len();
        let level = op.level == NO_LEVEL
            || (pc > 0 && self.is_built(pc as Pc - 1) && self.ops[pc - 1].level == NO_LEVEL);
        known && exits && shortest && level && matches!(op.mask, 0 | -1) && (op.code == Code::Site || op.reads == OTHER)
    }

    /// Whether every choice byte leads to an option.
    fn holds_site(&self, op: &Op) -> bool {
        let table = self.table(op.argument);
        let read = if op.reads == 0 { &table[..1] } else { &table[..] };
        // Without a choice byte of its own, a site sees the next op's.
        let single = op.reads > 0 || table.iter().all(|&option| option == 0);
        let in_range = read.iter().all(|&option| u32::from(option) < op.count);
        op.reads <= 1 && single && in_range && self.holds_weights(op)
    }

    fn holds_weights(&self, op: &Op) -> bool {
        let ends = self.slot_ends.get(op.ends as usize..).unwrap_or_default();
        op.bits == 0 || ends.get(op.count as usize - 1) == Some(&(1 << op.bits))
    }
}

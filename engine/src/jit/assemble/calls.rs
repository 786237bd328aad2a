//! Functions, references to rules, instances in place, and what stands for them beyond the depth limit.

use dynasmrt::{DynasmApi, DynasmLabelApi};
use gramjet_compiler::analysis::jumps::jumps_to;
use gramjet_compiler::ir::{NodeId, RuleId};

use super::strings::Strings;
use super::thunks::STACK_LOW;
use super::{Assembler, Flow, asm};

/// A rule that refers to no others is expanded where it is referred to if its body has at most so many nodes.
const MAX_EXPANDED: u32 = 12;

impl<'g> Assembler<'g> {
    /// The function of a residual rule, with the code that stands out of its way. Callers have seen to it that the
    /// instance is within the depth limit.
    pub(super) fn function(&mut self, rule: RuleId, body: NodeId) {
        let Some(label) = self.functions[rule.index()] else { return };
        (self.flow, self.stack) = (Flow::default(), 0);
        let ops = &mut self.ops;
        asm!(ops ; =>label);
        if self.guarded[rule.index()] {
            self.guard();
        }
        if jumps_to(self.ir, body, rule) {
            // The levels below the instance are those in the register: as if it stood one instance above.
            self.tail_loop(rule, body, -1);
        } else {
            self.node(body, 0);
        }
        self.flush();
        let ops = &mut self.ops;
        asm!(ops ; ret);
        while let Some(cold) = self.cold.pop() {
            (self.flow, self.stack) = (cold.flow, cold.stack);
            self.place(cold.label);
            (cold.emit)(self);
        }
    }

    /// Goes on upon another stack where this one is used up.
    fn guard(&mut self) {
        let (deeper, body) = (self.thunks.deeper, self.label());
        let low = self.cold(move |assembler| {
            let ops = &mut assembler.ops;
            asm!(ops ; lea rax, [=>body] ; jmp =>deeper);
        });
        let ops = &mut self.ops;
        asm!(ops ; cmp rsp, [context + STACK_LOW] ; jb =>low ; =>body);
    }

    /// A reference to a rule.
    pub(super) fn reference(&mut self, rule: RuleId, offset: i32) {
        if let Some(body) = self.expanded(rule) {
            return match jumps_to(self.ir, body, rule) {
                true => self.tail_loop(rule, body, offset),
                false => self.inlined(rule, body, offset),
            };
        }
        let Some(function) = self.functions[rule.index()] else { return };
        self.flush();
        let levels = offset + 1;
        if self.kind.depth {
            let back = self.label();
            let beyond = self.cold(move |assembler| {
                assembler.pool(rule);
                assembler.flush();
                assembler.jump(back);
            });
            self.jump_if_beyond(levels, beyond);
            self.take_depth(levels);
            let ops = &mut self.ops;
            asm!(ops ; call =>function);
            self.give_depth(levels);
            self.place(back);
        } else {
            let ops = &mut self.ops;
            asm!(ops ; call =>function);
        }
        self.flow = Flow::default();
    }

    /// The body of a rule that is expanded where it is referred to.
    fn expanded(&self, rule: RuleId) -> Option<NodeId> {
        let body = self.ir.body(rule)?;
        let small = self.ir.shape(body).size <= MAX_EXPANDED;
        // Rules that refer to others could multiply.
        (small && self.references[rule.index()].is_empty()).then_some(body)
    }

    /// An instance whose body stands in place.
    pub(super) fn inlined(&mut self, rule: RuleId, body: NodeId, offset: i32) {
        let Some(pool) = self.pools.get(rule).filter(|_| self.kind.depth) else {
            return self.node(body, offset + 1);
        };
        self.flush();
        let before = self.flow;
        let back = self.label();
        let is_empty = matches!(&*pool.strings, [only] if only.is_empty());
        let beyond = if is_empty { back } else { self.label() };
        self.jump_if_beyond(offset + 1, beyond);
        self.node(body, offset + 1);
        self.flush();
        if is_empty {
            self.join(before);
        } else {
            let after = self.flow;
            self.cold_at(beyond, before, move |assembler| {
                assembler.pool(rule);
                assembler.resume(back, after);
            });
        }
        self.place(back);
    }

    /// A string of a rule's pool, which stands for an instance beyond the depth limit.
    pub(super) fn pool(&mut self, rule: RuleId) {
        let Some(pool) = self.pools.get(rule) else { return };
        let min_len = self.ir.rule(rule).facts.min_len;
        self.strings(&Strings {
            strings: pool.strings.iter().map(|string| &**string).collect(),
            slots: None,
            min_len,
            shortest: pool.shortest.as_deref(),
        });
    }
}

//! Functions, references to rules, instances in place, and their replacements beyond the depth limit.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi};
use gramjet_compiler::analysis::form::Strings;
use gramjet_compiler::analysis::recursion::recursion;
use gramjet_compiler::ir::{Composition, Ir, NodeId, RuleId};

use super::strings::OfPool;
use super::thunks::STACK_LOW;
use super::{Assembler, Flow, asm};

/// Functions leave this part of a stretch to their callers. Most of them do not need it.
const RETURNED: Flow = Flow { choice: 0, output: 0, reads: 64, writes: 512, due: (0, 0) };

/// A rule is expanded where it is referred to if its body has at most this size (as [`size`] counts).
const MAX_EXPANDED: u32 = 24;

/// A rule that was expanded counts as one that refers to others with this size.
const MAX_NESTED: u32 = 150;

/// Returns for each rule whether references to it are expanded: small rules that do not derive themselves.
pub(super) fn expanded(ir: &Ir) -> Vec<bool> {
    let recursion = recursion(ir);
    let mut expanded = vec![false; ir.rules().len()];
    // With all that is expanded in it.
    let mut sizes = vec![0; ir.rules().len()];
    for &rule in recursion.bottom_up() {
        let Some(body) = ir.body(rule) else { continue };
        let own = size(ir, body, MAX_EXPANDED, &|_| 1);
        let all =
            size(ir, body, MAX_NESTED, &|callee| if expanded[callee.index()] { sizes[callee.index()] } else { 1 });
        sizes[rule.index()] = all;
        let small = own <= MAX_EXPANDED && all <= MAX_NESTED;
        expanded[rule.index()] = small && !recursion.is_recursive(rule) && rule != ir.start();
    }
    expanded
}

/// Returns the number of nodes, where a choice among literals is one. Stops counting beyond `most`.
fn size(ir: &Ir, node: NodeId, most: u32, of_rule: &impl Fn(RuleId) -> u32) -> u32 {
    if ir.literals(node).is_some() {
        return 1;
    }
    let mut size = ir.node(node).reference().map_or(1, of_rule);
    for &child in ir.children(node) {
        if size > most {
            break;
        }
        size += self::size(ir, child, most, of_rule);
    }
    size
}

impl<'g> Assembler<'g> {
    /// Emits the function of a residual rule, with the code that is placed after it. Callers have checked that the
    /// instance is within the depth limit.
    pub(super) fn function(&mut self, rule: RuleId, body: NodeId) {
        let Some(label) = self.rules[rule.index()].function else { return };
        self.begin_function(label);
        if self.rules[rule.index()].is_guarded {
            self.guard();
        }
        if self.forms.is_loop(rule, body) {
            // The levels below the instance are those in the register: as if it stood one instance above.
            self.tail_loop(rule, body, self.forms.run_of(rule, body), -1);
        } else {
            self.node(body, 0);
        }
        self.end_function();
    }

    /// Emits the function of the option-0 derivation of a rule. It has no guard: each call in it leads to a rule of
    /// less height.
    pub(super) fn shortest_function(&mut self, body: Option<NodeId>, label: DynamicLabel) {
        self.begin_function(label);
        body.into_iter().for_each(|body| self.node(body, 0));
        self.end_function();
    }

    fn begin_function(&mut self, label: DynamicLabel) {
        (self.flow, self.frame.stack) = (Flow::default(), 0);
        let ops = &mut self.ops;
        asm!(ops ; =>label);
    }

    fn end_function(&mut self) {
        self.flush();
        if !self.frame.is_dead && (self.flow.reads < RETURNED.reads || self.flow.writes < RETURNED.writes) {
            self.check();
        }
        let ops = &mut self.ops;
        asm!(ops ; ret);
        while let Some(cold) = self.frame.cold.pop() {
            self.place(cold.label);
            (self.flow, self.frame.stack) = (cold.flow, cold.stack);
            (cold.emit)(self);
        }
    }

    /// Continues on another stack if this one is used up.
    fn guard(&mut self) {
        let (deeper, body) = (self.thunks.deeper, self.label());
        let low = self.cold(move |assembler| {
            let ops = &mut assembler.ops;
            asm!(ops ; lea rax, [=>body] ; jmp =>deeper);
        });
        let ops = &mut self.ops;
        asm!(ops ; cmp rsp, [context + STACK_LOW] ; jb =>low ; =>body);
    }

    /// Emits a reference to a rule that is not expanded.
    pub(super) fn reference(&mut self, rule: RuleId, offset: i32) {
        let function = self.rules[rule.index()].function;
        debug_assert!(function.is_some(), "a call of a rule without a function");
        let Some(function) = function else { return };
        self.flush();
        let levels = offset + 1;
        if self.kept.depth {
            let back = self.label();
            let beyond = self.cold(move |assembler| {
                assembler.pool(rule);
                assembler.resume(back, RETURNED);
            });
            self.jump_if_beyond(levels, beyond);
            self.take_depth(levels);
            let ops = &mut self.ops;
            asm!(ops ; call =>function);
            self.give_depth(levels);
            self.place(back);
        } else {
            self.call(function);
        }
        self.flow = RETURNED;
    }

    /// Emits a call of a function.
    pub(super) fn call(&mut self, function: DynamicLabel) {
        self.flush();
        let ops = &mut self.ops;
        asm!(ops ; call =>function);
        self.flow = RETURNED;
    }

    /// Returns the instance that a node is, if its body is to stand here: the rule and the body.
    pub(super) fn instance(&self, node: NodeId) -> Option<(RuleId, NodeId)> {
        if let Composition::Instance(rule, Some(body)) = self.ir.node(node).composition() {
            return Some((rule, body));
        }
        let rule = self.ir.node(node).reference().filter(|rule| self.rules[rule.index()].is_expanded)?;
        Some((rule, self.ir.body(rule)?))
    }

    /// Emits an instance whose body is in place.
    pub(super) fn inlined(&mut self, rule: RuleId, body: NodeId, offset: i32) {
        // Instances right within each other are within the limit if the innermost is.
        let (mut rules, mut body) = (vec![rule], body);
        while let Some((inner, inside)) = self.instance(body)
            && !self.forms.is_loop(inner, inside)
        {
            rules.push(inner);
            body = inside;
        }
        let inner = offset + rules.len() as i32;
        if !self.kept.depth {
            return self.node(body, inner);
        }
        self.flush();
        let before = self.flow;
        let back = self.label();
        let is_empty = |rule: &RuleId| {
            self.pools.get(*rule).is_none_or(|pool| matches!(&*pool.strings, [only] if only.is_empty()))
        };
        let are_empty = rules.iter().all(is_empty);
        let near = if are_empty { back } else { self.label() };
        self.jump_if_beyond(inner, near);
        self.node(body, inner);
        self.flush();
        if are_empty {
            self.join(before);
        } else {
            let after = self.flow;
            self.cold_at(near, before, move |assembler| assembler.pool_near(&rules, offset, back, after));
        }
        self.place(back);
    }

    /// Emits a string for the outermost of these instances, each right within the one before, that is beyond the limit;
    /// the innermost is. The first stands `offset` + 1 below what the depth register counts from.
    pub(super) fn pool_near(&mut self, rules: &[RuleId], offset: i32, back: DynamicLabel, after: Flow) {
        self.flush();
        let before = self.flow;
        for (level, &rule) in rules.iter().enumerate() {
            let next = self.label();
            if let Some(&inner) = rules.get(level + 1) {
                if self.has_same_pool(rule, inner) {
                    continue;
                }
                let levels = offset + 1 + level as i32;
                let ops = &mut self.ops;
                asm!(ops ; cmp depth, levels ; jge =>next);
            }
            self.flow = before;
            self.pool(rule);
            self.resume(back, after);
            self.place(next);
        }
    }

    fn has_same_pool(&self, a: RuleId, b: RuleId) -> bool {
        let (Some(a), Some(b)) = (self.pools.get(a), self.pools.get(b)) else { return false };
        a.strings == b.strings && a.shortest == b.shortest
    }

    /// Emits a string of a rule's pool, which replaces an instance beyond the depth limit.
    pub(super) fn pool(&mut self, rule: RuleId) {
        let Some(pool) = self.pools.get(rule).filter(|_| !self.is_too_large()) else { return };
        if pool.strings.is_empty() {
            return self.call_shortest(rule);
        }
        let strings = Strings::of_pool(pool, self.ir.rule(rule).facts.min_len);
        self.strings(&strings, Some(OfPool { rule, shortest: pool.shortest.as_deref() }));
    }
}

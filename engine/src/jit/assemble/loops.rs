//! Loops: right recursion and repetition. Rounds of single bytes are decided by one look at eight choice bytes.

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler};
use gramjet_compiler::analysis::form::Repetition;
use gramjet_compiler::analysis::runs::{ByteItem, Stop, TailRun, byte_pool};
use gramjet_compiler::ir::{NodeId, RuleId};

use super::looks::{Look, ROUNDS};
use super::{Assembler, Flow, Scope, asm};

/// A run of single bytes.
struct Run {
    node: NodeId,
    item: ByteItem,
    /// The item is also derived in the round that stops.
    plus: bool,
}

impl Run {
    /// Returns the run, if nothing or one more item is derived in the round that stops.
    fn new(TailRun { item, bytes, stops, .. }: TailRun) -> Option<Run> {
        (stops != Stop::Other).then_some(Run { node: item, item: bytes, plus: stops == Stop::Item })
    }
}

/// The bytes that a run emits where it meets the depth limit.
struct LastRounds {
    /// Replaces the member of the last instance within the limit, by choice byte.
    member: Option<[u8; 256]>,
    /// Replaces the instance beyond the limit, by choice byte; `None` if nothing does.
    behind: Option<[u8; 256]>,
}

impl<'g> Assembler<'g> {
    /// Emits an instance, in place, of a rule that jumps back to itself.
    pub(super) fn tail_loop(&mut self, rule: RuleId, body: NodeId, run: Option<TailRun>, offset: i32) {
        let Some(run) = run.and_then(Run::new) else { return self.looping_instance(rule, body, offset) };
        let look = Look::at(&run.item, self.features);
        // The last member may be stored once more, up to twice the rounds after the pointer.
        self.need(4 * ROUNDS, 2 * ROUNDS);
        self.flush();
        self.used(4 * ROUNDS, 2 * ROUNDS);
        let (back, after) = (self.label(), self.flow);
        let one_by_one = self.cold(move |assembler| {
            assembler.looping_instance(rule, body, offset);
            assembler.resume(back, after);
        });
        match self.last_rounds(rule, &run) {
            Some(last) => self.rounds_within_depth(&run, &look, &last, offset, one_by_one),
            None if self.kept.depth || self.kept.length => self.rounds_that_stop(&run, &look, offset, one_by_one),
            None => self.rounds_far_from_limits(&run, &look, one_by_one),
        }
        self.place(back);
    }

    /// Returns the bytes that a run emits where it meets the depth limit, if they can be looked up; only for code
    /// without a length limit.
    fn last_rounds(&self, rule: RuleId, run: &Run) -> Option<LastRounds> {
        if !self.kept.depth || self.kept.length || run.item.layers > 1 {
            return None;
        }
        let pool = &self.pools.get(rule)?.strings;
        let behind = if run.plus {
            Some(byte_pool(pool)?)
        } else {
            let is_empty = matches!(&**pool, [only] if only.is_empty());
            return is_empty.then_some(LastRounds { member: self.last_member(run)?, behind: None });
        };
        Some(LastRounds { member: self.last_member(run)?, behind })
    }

    /// Returns the bytes that the item emits in the last instance within the limit, if they differ from the other
    /// instances.
    fn last_member(&self, run: &Run) -> Option<Option<[u8; 256]>> {
        match self.ir.node(run.node).instance() {
            Some(rule) => Some(Some(byte_pool(&self.pools.get(rule)?.strings)?)),
            None => Some(None),
        }
    }

    /// Emits rounds up to the one that stops, or up to the depth limit: both without a branch.
    fn rounds_within_depth(
        &mut self,
        run: &Run,
        look: &Look,
        last: &LastRounds,
        offset: i32,
        one_by_one: DynamicLabel,
    ) {
        self.find_end(look, one_by_one);
        // rdx has the number of instances within the limit. It is at least 0, as the instance around this one is within
        // it. Each instance reads two choice bytes, but the one that stops reads one. The lesser of these is read:
        // twice the rounds, or twice the instances less one; and one more. The place of the bit that was found, divided
        // by 8, is twice the rounds. The next read waits for this number, so it is computed separately.
        let ops = &mut self.ops;
        asm!(ops
            ; lea rdx, [depth - offset]
            ; lea r9, [rdx + rdx - 1]
            ; mov r8d, ecx
            ; shr r8d, 3
            ; cmp r8, r9
            ; cmovg r8, r9
            ; shr ecx, 4
            ; cmp rcx, rdx
            ; cmovg rcx, rdx
            ; cmp ecx, ROUNDS
            ; jae =>one_by_one
        );
        if last.member.is_some() || last.behind.is_some() {
            // If the place is after those that count, its exact value does not matter.
            asm!(ops ; mov r10d, 2 * ROUNDS - 1);
        }
        if last.member.is_some() {
            asm!(ops ; lea r9, [rdx - 1] ; cmp r9, r10 ; cmova r9, r10);
        }
        if last.behind.is_some() {
            let ops = &mut self.ops;
            asm!(ops ; cmp rdx, r10 ; cmova rdx, r10 ; mov r10, rdx);
        }
        self.put_members(look);
        if let Some(member) = &last.member {
            let table = self.data.tables.add(member.to_vec(), 1);
            let ops = &mut self.ops;
            asm!(ops
                ; movzx eax, BYTE [BYTE choice + r9*2 + 1]
                ; movzx eax, BYTE [tables + rax + table]
                ; mov BYTE [output + r9], al
            );
        }
        if let Some(behind) = &last.behind {
            let table = self.data.tables.add(behind.to_vec(), 1);
            let ops = &mut self.ops;
            asm!(ops
                ; movzx eax, BYTE [choice + r10*2]
                ; movzx eax, BYTE [tables + rax + table]
                ; mov BYTE [output + r10], al
            );
        }
        let further = i8::from(run.plus);
        let ops = &mut self.ops;
        asm!(ops
            ; lea choice, [BYTE choice + r8 + 1 + further]
            ; lea output, [BYTE output + rcx + further]
        );
    }

    /// Emits rounds up to the one that stops, where no limit can be met.
    fn rounds_far_from_limits(&mut self, run: &Run, look: &Look, one_by_one: DynamicLabel) {
        self.find_end(look, one_by_one);
        let ops = &mut self.ops;
        asm!(ops ; cmp ecx, 64 ; je =>one_by_one);
        let further = i8::from(run.plus);
        self.put_members(look);
        let ops = &mut self.ops;
        // The place of the bit that was found is 7 more than 16 times the rounds.
        asm!(ops
            ; mov eax, ecx
            ; shr eax, 3
            ; shr ecx, 4
            ; lea output, [BYTE output + rcx + further]
            ; lea choice, [BYTE choice + rax + 1 + further]
        );
    }

    /// Emits rounds up to the one that stops, as long as the limits are far.
    fn rounds_that_stop(&mut self, run: &Run, look: &Look, offset: i32, one_by_one: DynamicLabel) {
        // Each round that goes on is a level deeper. The item may be deeper still, in the last round that goes on, or
        // in the round that stops.
        self.look_ahead(look, one_by_one);
        let layers = run.item.layers as i32;
        let levels = offset + 1 + if run.plus { layers } else { (layers - 1).max(0) };
        self.bound_rounds(one_by_one);
        let Self { kept, ops, .. } = self;
        if kept.depth {
            asm!(ops ; lea rdx, [depth - levels] ; cmp rcx, rdx ; jg =>one_by_one);
        }
        if kept.length {
            // In the round that stops, going on must be offered too, or the site would read nothing.
            let most = i32::try_from(run.item.max_cost.max(1)).unwrap_or(i32::MAX);
            asm!(ops ; lea rdx, [slack - most] ; cmp rcx, rdx ; jg =>one_by_one ; sub slack, rcx);
        }
        self.put_members(look);
        let further = i8::from(run.plus);
        let ops = &mut self.ops;
        asm!(ops
            ; lea choice, [BYTE choice + rcx*2 + 1 + further]
            ; lea output, [BYTE output + rcx + further]
        );
    }

    /// Emits an instance of a rule that jumps back to itself, round by round.
    pub(super) fn looping_instance(&mut self, rule: RuleId, body: NodeId, offset: i32) {
        let levels = offset + 1;
        self.flush();
        let (head, exit) = (self.label(), self.label());
        if self.kept.depth {
            self.push_depth();
        }
        let has_pool = self.kept.depth && self.pools.get(rule).is_some();
        let beyond = if has_pool { self.label() } else { exit };
        if has_pool && levels > 0 {
            self.take_depth(levels);
            let ops = &mut self.ops;
            asm!(ops ; js =>beyond);
        }
        self.place(head);
        self.flow = Flow::default();
        self.frame.scopes.push(Scope { rule, head, beyond, stack: self.frame.stack });
        self.node(body, 0);
        self.frame.scopes.pop();
        self.flush();
        if has_pool {
            let after = self.flow;
            self.cold_at(beyond, Flow::default(), move |assembler| {
                assembler.pool(rule);
                assembler.resume(exit, after);
            });
        }
        self.place(exit);
        if self.kept.depth {
            self.pop_depth();
        }
    }

    /// Emits a jump back to an enclosing instance, one level deeper.
    pub(super) fn jump_back(&mut self, rule: RuleId, offset: i32) {
        // The verifier holds that there is such a scope.
        let Some(&scope) = self.frame.scopes.iter().rev().find(|scope| scope.rule == rule) else { return };
        self.flush();
        let surplus = 8 * (self.frame.stack - scope.stack);
        let ops = &mut self.ops;
        if surplus > 0 {
            asm!(ops ; add rsp, surplus);
        }
        if self.kept.depth {
            self.take_depth(offset + 1);
            let ops = &mut self.ops;
            asm!(ops ; jns =>scope.head);
            self.jump(scope.beyond);
        } else {
            self.jump(scope.head);
        }
        self.frame.is_dead = true;
    }

    pub(super) fn repeat(&mut self, repetition: Repetition, offset: i32) {
        let Repetition { item, min, max, bytes } = repetition;
        self.flush();
        if max == Some(min) {
            return self.fixed_rounds(item, min, offset);
        }
        match bytes.filter(ByteItem::is_plain) {
            Some(bytes) if min <= MAX_FIRST => self.byte_rounds(item, &bytes, min, max, offset),
            _ => self.rounds(item, min, max, offset),
        }
    }

    pub(super) fn fixed_rounds(&mut self, item: NodeId, rounds: u32, offset: i32) {
        let head = self.label();
        let ops = &mut self.ops;
        push_word(ops, rounds);
        asm!(ops ; =>head);
        self.pushed(1);
        self.flow = Flow::default();
        self.node(item, offset);
        self.flush();
        let ops = &mut self.ops;
        asm!(ops ; dec QWORD [rsp] ; jnz =>head ; pop rax);
        self.frame.stack -= 1;
    }

    /// Emits a repetition of single bytes.
    fn byte_rounds(&mut self, item: NodeId, bytes: &ByteItem, min: u32, max: Option<u32>, offset: i32) {
        let look = Look::at(bytes, self.features);
        // The items may begin a new stretch, so the look is counted after them.
        for _ in 0..min {
            self.node(item, offset);
        }
        self.need(2 * ROUNDS, ROUNDS);
        self.flush();
        self.used(2 * ROUNDS, ROUNDS);
        let further = max.map(|max| max - min);
        let (back, after) = (self.label(), self.flow);
        let one_by_one = self.cold(move |assembler| {
            assembler.rounds(item, 0, further, offset);
            assembler.resume(back, after);
        });
        self.look_ahead(&look, one_by_one);
        let Some(most) = further.filter(|&further| further <= ROUNDS as u32) else {
            self.bound_rounds(one_by_one);
            if self.kept.length {
                let ops = &mut self.ops;
                asm!(ops ; lea rdx, [slack - 1] ; cmp rcx, rdx ; jg =>one_by_one ; sub slack, rcx);
            }
            self.put_members(&look);
            let ops = &mut self.ops;
            asm!(ops ; lea choice, [BYTE choice + rcx*2 + 1] ; add output, rcx ; =>back);
            return;
        };
        // All possible rounds are looked at; there is no site after the last.
        let most = most as i32;
        let Self { kept, ops, .. } = self;
        asm!(ops ; mov edx, most ; cmp ecx, edx ; cmova ecx, edx);
        if kept.length {
            asm!(ops ; cmp slack, most ; jl =>one_by_one ; sub slack, rcx);
        }
        self.put_members(&look);
        let ops = &mut self.ops;
        asm!(ops
            ; xor eax, eax
            ; cmp ecx, most
            ; setb al
            ; add output, rcx
            ; lea rcx, [rcx*2 + rax]
            ; add choice, rcx
            ; =>back
        );
    }

    /// Goes to `one_by_one` if none of the rounds of the look stops.
    fn bound_rounds(&mut self, one_by_one: DynamicLabel) {
        let ops = &mut self.ops;
        asm!(ops ; cmp ecx, ROUNDS ; jae =>one_by_one);
    }

    /// Emits a repetition, round by round: first those without a site, then one site a round. The item stands once, so
    /// that nested repetitions do not multiply.
    fn rounds(&mut self, item: NodeId, min: u32, max: Option<u32>, offset: i32) {
        let (head, exit, site, round) = (self.label(), self.label(), self.label(), self.label());
        let words = i32::from(max.is_some()) + i32::from(min > 0);
        // The rounds without a site are counted in the word on top, the others in that below it.
        let ops = &mut self.ops;
        if let Some(max) = max {
            push_word(ops, max - min);
        }
        if min > 0 {
            push_word(ops, min);
        }
        self.pushed(words);
        let below = 8 * i8::from(min > 0);
        self.place(head);
        self.flow = Flow::default();
        let ops = &mut self.ops;
        if min > 0 {
            asm!(ops ; dec QWORD [rsp] ; jns =>round ; mov QWORD [rsp], 0);
        }
        self.place(site);
        if max.is_some() {
            let ops = &mut self.ops;
            asm!(ops ; dec QWORD [BYTE rsp + below] ; js =>exit);
        }
        self.need(1, 0);
        self.go_site(item, exit);
        let after = if max.is_some() { Flow::default() } else { self.flow };
        if min > 0 {
            self.flow = Flow::default();
        }
        self.place(round);
        self.node(item, offset);
        self.flush();
        self.jump(head);
        self.place(exit);
        if words > 0 {
            let ops = &mut self.ops;
            asm!(ops ; add rsp, BYTE (8 * words) as i8);
        }
        self.frame.stack -= words;
        self.flow = after;
    }

    /// Emits the site that decides on a further round: goes to `exit` if there is none.
    fn go_site(&mut self, item: NodeId, exit: DynamicLabel) {
        let cost = self.ir.facts(item).min_len;
        if self.kept.length && cost > 0 {
            self.compare_slack(cost);
            let ops = &mut self.ops;
            // One option is offered: nothing is read.
            asm!(ops ; jl =>exit);
        }
        self.used(1, 0);
        let ops = &mut self.ops;
        asm!(ops ; inc choice ; cmp BYTE [BYTE choice - 1], 0 ; jns =>exit);
        if self.kept.length && cost > 0 {
            self.pay_constant(cost);
        }
    }
}

pub(super) fn push_word(ops: &mut VecAssembler<X64Relocation>, word: u32) {
    match i32::try_from(word) {
        Ok(word) => asm!(ops ; push word),
        Err(_) => asm!(ops ; mov eax, word as i32 ; push rax),
    }
}

/// At most this number of rounds without a site is written out before a run.
const MAX_FIRST: u32 = 8;

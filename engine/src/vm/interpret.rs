//! The interpreter's loop. It has no recursion; its stack is a vector of frames: where to go on, and what was left of the
//! depth there.

use std::hint::select_unpredictable;

use gramjet::rt::RunEnd;
use gramjet::rt::raw::{Machine, State};
use gramjet::{Choices, Limits};

use super::program::{Code, Exit, HALT, NO_LEVEL, Op, Pc, Program, RETURN, Round, Site};

/// Beyond so many frames (256 MiB) the machine finishes.
const MAX_FRAMES: usize = (256 << 20) / size_of::<u64>();

/// A stack of more frames than this is not kept for the next input.
const KEPT_FRAMES: usize = 1 << 16;

const FIRST_FRAMES: usize = 64;

/// What every op may read and write without a reservation of its own: the choice bytes of a site; two short texts.
const CHOICES: usize = 3;
const OUTPUT: usize = 32;

/// Runs a program for one input; returns the number of choice bytes read.
pub(super) fn produce(
    program: &Program,
    min_len: u64,
    limits: Limits,
    choices: &mut Choices<'_>,
    output: &mut Vec<u8>,
    stack: &mut Box<[u64]>,
) -> u64 {
    if stack.is_empty() {
        *stack = vec![0; FIRST_FRAMES].into();
    }
    // What is left must fit into the upper half of a frame with its sign; no derivation is deeper than that.
    let left = limits.depth().map_or(0, |depth| i64::from(depth.min(i32::MAX as u32)));
    let mut run = Interpreter { program, machine: Machine::new(min_len, limits, choices, output), finished: false };
    let frames = std::mem::take(stack);
    let (state, frames) = match (limits.depth().is_some(), limits.length().is_some()) {
        (false, false) => run.run::<false, false>(left, frames),
        (false, true) => run.run::<false, true>(left, frames),
        (true, false) => run.run::<true, false>(left, frames),
        (true, true) => run.run::<true, true>(left, frames),
    };
    if frames.len() <= KEPT_FRAMES {
        *stack = frames;
    }
    // SAFETY: the run returned this machine's state, and each op read and wrote only what was reserved.
    unsafe { run.machine.end(state) }
}

struct Interpreter<'r, 'm, 's> {
    program: &'r Program,
    machine: Machine<'m, 's>,
    finished: bool,
}

impl<'r> Interpreter<'r, '_, '_> {
    /// Runs the program from its start. All that changes with each op is held in local variables whose addresses are never
    /// taken, so that it stays in registers.
    fn run<const DEPTH: bool, const LEN: bool>(&mut self, mut left: i64, mut stack: Box<[u64]>) -> (State, Box<[u64]>) {
        let program = self.program;
        let ops = &*program.ops;
        let mut s = self.machine.start();
        let mut pc = program.start;
        stack[0] = u64::from(HALT);
        let mut top = 1;
        loop {
            let mut op: &Op = &ops[pc as usize];
            if DEPTH && left < i64::from(op.level) {
                debug_assert!(op.level != NO_LEVEL);
                op = &ops[pc as usize - 1];
            }
            // SAFETY: `s` is this machine's state. An op reads one site of at most three choice bytes and writes its own
            // text and one option's or exit's, 15 bytes each at most; the ops that need more say so below.
            unsafe {
                s = self.machine.reserve(s, CHOICES, OUTPUT);
                self.machine.put_short(&mut s, op.text.counted());
            }
            // Without branches, as what follows is as unpredictable as the choice before it.
            macro_rules! follow {
                ($exit:expr, $done:expr, $push_deeper:expr) => {{
                    let (way, deeper) = ($exit.way, i64::from($exit.deeper) + $done);
                    if top + 1 >= stack.len() {
                        (s, stack) = self.grow(s, stack);
                    }
                    stack[top] = way.push() | (((left - i64::from($push_deeper)) as u64) << 32);
                    let last = stack[top - 1];
                    let returns = way.next() == RETURN;
                    pc = select_unpredictable(returns, last as Pc, way.next());
                    if DEPTH {
                        left = select_unpredictable(returns, (last as i64) >> 32, left - deeper);
                    }
                    top = top + usize::from(way.push() != 0) - usize::from(returns);
                    continue;
                }};
                ($op:expr) => {
                    follow!($op, 0, 0u16)
                };
            }
            macro_rules! take {
                ($exit:expr, $done:expr) => {{
                    let exit: &Exit = $exit;
                    // SAFETY: the text of one exit is reserved.
                    unsafe { self.machine.put_short(&mut s, exit.text.counted()) };
                    follow!(exit, $done, exit.push_deeper)
                }};
                ($exit:expr) => {
                    take!($exit, 0)
                };
            }
            match op.code {
                Code::Go => follow!(op, 0, op.argument),
                Code::Choice => {
                    let index;
                    (s, index) = self.small::<LEN>(s, op, &program.exit_costs);
                    take!(&program.exits[op.argument as usize + index])
                }
                Code::Byte => {
                    // SAFETY: reserved above.
                    unsafe {
                        let index = self.machine.pick8(&mut s, u32::from(op.small) + 1);
                        self.machine.put_byte(&mut s, program.bytes[op.argument as usize + index]);
                    }
                    follow!(op)
                }
                Code::Short => {
                    let index;
                    (s, index) = self.small::<LEN>(s, op, &program.short_costs);
                    // SAFETY: reserved above.
                    unsafe { self.machine.put_short(&mut s, program.shorts[op.argument as usize + index].counted()) };
                    follow!(op)
                }
                Code::ShortPool if !LEN => {
                    // SAFETY: reserved above.
                    unsafe {
                        let index = self.machine.pick(&mut s, u32::from(op.small) + 1);
                        let first = program.pools[op.argument as usize].first as usize;
                        self.machine.put_short(&mut s, program.shorts[first + index].counted());
                    }
                    follow!(op)
                }
                Code::ShortPool | Code::Pool => {
                    s = self.pool::<LEN>(s, op);
                    follow!(op)
                }
                Code::Run => {
                    let (state, exit, done) = self.rounds::<DEPTH, LEN>(s, op.argument, left);
                    s = state;
                    take!(exit, done)
                }
                Code::Site => {
                    let site = &program.sites[op.argument as usize];
                    let index;
                    (s, index) = self.site::<LEN>(s, site, &program.exit_costs);
                    take!(&program.exits[site.first as usize + index])
                }
                Code::ShortSite => {
                    let site = &program.sites[op.argument as usize];
                    let index;
                    (s, index) = self.site::<LEN>(s, site, &program.short_costs);
                    // SAFETY: reserved above.
                    unsafe { self.machine.put_short(&mut s, program.shorts[site.first as usize + index].counted()) };
                    follow!(op)
                }
                Code::Member => {
                    s = self.member::<LEN>(s, op.argument);
                    follow!(op)
                }
                Code::Long => {
                    // SAFETY: `s` is this machine's state.
                    s = unsafe { self.machine.put_slice(s, &program.longs[op.argument as usize]) };
                    follow!(op)
                }
                Code::Count => {
                    stack[top] = 0;
                    top += 1;
                    follow!(op)
                }
                Code::Round => {
                    let round = &program.rounds[op.argument as usize];
                    let done = stack[top - 1];
                    let further;
                    (s, further) = self.further::<LEN>(s, round, done);
                    stack[top - 1] = done + 1;
                    top -= usize::from(!further);
                    take!(&program.exits[round.exits as usize + usize::from(further)])
                }
                Code::Unset | Code::Halt => return (s, stack),
            }
        }
    }

    /// Decides a site that is written in its op; `costs` are those of the whole table.
    #[inline(always)]
    fn small<const LEN: bool>(&mut self, mut s: State, op: &Op, costs: &[u64]) -> (State, usize) {
        let count = u32::from(op.small) + 1;
        if LEN {
            let costs = &costs[op.argument as usize..][..count as usize];
            let index = self.within(&mut s, costs);
            self.machine.slack -= costs[index];
            return (s, index);
        }
        // SAFETY: the loop has reserved the site.
        let index = unsafe { self.machine.pick8(&mut s, count) };
        (s, index)
    }

    /// Decides a site of equally probable options under the length limit.
    #[inline(always)]
    fn within(&mut self, s: &mut State, costs: &[u64]) -> usize {
        let slack = self.machine.slack;
        let offered = match costs.last() {
            Some(&most) if most <= slack => costs.len(),
            _ => costs.partition_point(|&cost| cost <= slack),
        };
        // SAFETY: the loop has reserved the site.
        unsafe { self.machine.pick(s, offered as u32) }
    }

    /// Decides any site; `costs` are those of the whole table.
    #[inline(always)]
    fn site<const LEN: bool>(&mut self, mut s: State, site: &Site, costs: &[u64]) -> (State, usize) {
        // Weights that need one byte are frequent.
        if !LEN && let Some(map) = site.map {
            // SAFETY: the loop has reserved the site.
            let index = unsafe { self.machine.pick_mapped(&mut s, &self.program.tables[map as usize]) };
            return (s, index);
        }
        self.large_site::<LEN>(s, site, costs)
    }

    #[inline(never)]
    fn large_site<const LEN: bool>(&mut self, mut s: State, site: &Site, costs: &[u64]) -> (State, usize) {
        let count = site.count as usize;
        let costs = &costs[site.first as usize..][..count];
        let offered = match LEN {
            true => costs.partition_point(|&cost| cost <= self.machine.slack),
            false => count,
        };
        // SAFETY: the loop has reserved the site: at most three bytes.
        let index = unsafe {
            match site.map {
                _ if site.bits == 0 || offered <= 1 => self.machine.pick(&mut s, offered as u32),
                Some(map) if offered == count => self.machine.pick_mapped(&mut s, &self.program.tables[map as usize]),
                _ => {
                    let ends = &self.program.slot_ends[site.ends as usize..][..offered];
                    let value = self.machine.value(&mut s, site.bits);
                    // The slots of the options that are not offered are left out.
                    let slot = ((u64::from(value) * u64::from(ends[offered - 1])) >> site.bits) as u32;
                    ends.partition_point(|&end| end <= slot)
                }
            }
        };
        if LEN {
            self.machine.slack -= costs[index];
        }
        (s, index)
    }

    #[inline(never)]
    fn member<const LEN: bool>(&mut self, mut s: State, class: u32) -> State {
        let class = &self.program.classes[class as usize];
        let offered = if LEN { class.offered(self.machine.slack) } else { class.within[3] };
        // SAFETY: the loop has reserved a site and a short text.
        unsafe {
            let index = self.machine.pick(&mut s, offered);
            let member = class.encoded(index as u32);
            if LEN {
                self.machine.slack -= member.len() as u64 - u64::from(class.min_len);
            }
            self.machine.put_short(&mut s, member.counted());
        }
        s
    }

    /// Emits a string of a pool.
    #[inline(never)]
    fn pool<const LEN: bool>(&mut self, mut s: State, op: &Op) -> State {
        let pool = &self.program.pools[op.argument as usize];
        let index = if LEN {
            if pool.costs[0] > self.machine.slack {
                // A pool whose strings all cost something has a shortest string.
                let shortest = pool.shortest.map_or(&[][..], |shortest| &self.program.longs[shortest as usize]);
                // SAFETY: `s` is this machine's state.
                return unsafe { self.machine.put_slice(s, shortest) };
            }
            let index = self.within(&mut s, &pool.costs);
            self.machine.slack -= pool.costs[index];
            index
        } else {
            // SAFETY: the loop has reserved the site.
            unsafe { self.machine.pick(&mut s, u32::from(op.small) + 1) }
        };
        // SAFETY: `s` is this machine's state; the loop has reserved a short text.
        unsafe {
            if op.code == Code::ShortPool {
                self.machine.put_short(&mut s, self.program.shorts[pool.first as usize + index].counted());
                s
            } else {
                self.machine.put_slice(s, &self.program.longs[pool.first as usize + index])
            }
        }
    }

    /// Does rounds of a run; returns the exit to take and by how much the depth is less.
    #[inline(always)]
    fn rounds<const DEPTH: bool, const LEN: bool>(&mut self, s: State, run: u32, left: i64) -> (State, &'r Exit, i64) {
        let program = self.program;
        let run = &program.runs[run as usize];
        let mut cap = u64::MAX;
        if DEPTH {
            let depth = (left - i64::from(run.depth)).max(0) as u64;
            cap = match run.deepens {
                true => depth,
                false if left < i64::from(run.depth) => 0,
                false => u64::MAX,
            };
        }
        if LEN {
            cap = cap.min(self.machine.slack.saturating_sub(run.slack));
        }
        let table = &program.tables[run.table as usize];
        // SAFETY: `s` is this machine's state. The run reserves what it touches; behind it, the text of an exit is reserved
        // anew.
        let (s, end, done) = unsafe {
            let (s, end, done) = match run.plus {
                true => self.machine.run::<true>(s, table, run.bound, cap),
                false => self.machine.run::<false>(s, table, run.bound, cap),
            };
            (self.machine.reserve(s, 0, OUTPUT), end, done)
        };
        if LEN {
            self.machine.slack -= done + u64::from(end == RunEnd::Other);
        }
        let index = match end {
            RunEnd::Stopped => 0,
            RunEnd::Other => 1,
            RunEnd::Capped => 2,
        };
        let deeper = if index > 0 { run.deepens } else { run.stops_deeper };
        (s, &program.exits[run.exits as usize + index], if deeper { done as i64 } else { 0 })
    }

    /// Whether a counted repetition goes on after so many rounds.
    #[inline(always)]
    fn further<const LEN: bool>(&mut self, mut s: State, round: &Round, done: u64) -> (State, bool) {
        if done < u64::from(round.min) {
            return (s, true);
        }
        let ended = round.max.is_some_and(|max| done >= u64::from(max));
        if ended || (LEN && round.cost > self.machine.slack) {
            return (s, false);
        }
        // SAFETY: the loop has reserved the site.
        let further = unsafe { self.machine.pick8(&mut s, 2) == 1 };
        if LEN && further {
            self.machine.slack -= round.cost;
        }
        (s, further)
    }

    /// Makes room for frames; where there are too many, the machine finishes: shortest derivations need a bounded number more.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, mut s: State, stack: Box<[u64]>) -> (State, Box<[u64]>) {
        if stack.len() >= MAX_FRAMES && !self.finished {
            self.finished = true;
            // SAFETY: `s` is this machine's state; the next op reserves anew.
            s = unsafe { self.machine.finished(s) };
        }
        let mut stack = stack.into_vec();
        stack.resize(stack.len() * 2, 0);
        (s, stack.into_boxed_slice())
    }
}

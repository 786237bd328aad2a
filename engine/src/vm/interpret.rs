//! The interpreter's loop. It has no recursion; its stack is a vector of frames: where to go on, and what was left of the
//! depth there.

use gramjet::rt::RunEnd;
use gramjet::rt::raw::{Machine, State};
use gramjet::{Choices, Limits};

use super::program::{Code, Exit, HALT, NO_LEVEL, Op, Pc, Program, RETURN, Site};

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
    stack: &mut Vec<u64>,
) -> u64 {
    if stack.len() < FIRST_FRAMES {
        stack.resize(FIRST_FRAMES, 0);
    }
    let left = limits.depth().map_or(0, i64::from);
    let mut run = Interpreter { program, machine: Machine::new(min_len, limits, choices, output), stack, finished: false };
    let state = match (limits.depth().is_some(), limits.length().is_some()) {
        (false, false) => run.run::<false, false>(left),
        (false, true) => run.run::<false, true>(left),
        (true, false) => run.run::<true, false>(left),
        (true, true) => run.run::<true, true>(left),
    };
    let machine = run.machine;
    if stack.len() > KEPT_FRAMES {
        *stack = Vec::new();
    }
    // SAFETY: the run returned this machine's state, and each op read and wrote only what was reserved.
    unsafe { machine.end(state) }
}

struct Interpreter<'r, 'm, 's> {
    program: &'r Program,
    machine: Machine<'m, 's>,
    stack: &'r mut Vec<u64>,
    finished: bool,
}

fn frame(pc: Pc, left: i64) -> u64 {
    // Where a frame is pushed, what is left fits 32 bits without a sign: it comes from a limit of so many.
    u64::from(pc) | ((left as u64) << 32)
}

impl<'r> Interpreter<'r, '_, '_> {
    fn run<const DEPTH: bool, const LEN: bool>(&mut self, mut left: i64) -> State {
        let program = self.program;
        let mut s = self.machine.start();
        let mut pc = program.start;
        self.stack[0] = frame(HALT, 0);
        let mut top = 1;
        loop {
            let mut op: &Op = &program.ops[pc as usize];
            if DEPTH && left < i64::from(op.level) {
                debug_assert!(op.level != NO_LEVEL);
                op = &program.ops[pc as usize - 1];
            }
            // SAFETY: `s` is this machine's state. An op reads one site of at most three choice bytes and writes its own
            // text and one option's or exit's, 15 bytes each at most; the ops that need more say so below.
            unsafe {
                s = self.machine.reserve(s, CHOICES, OUTPUT);
                self.machine.put_short(&mut s, op.text.counted());
            }
            let mut exit = Follow { next: op.next, push: op.push, deeper: i64::from(op.deeper) };
            match op.code {
                Code::Go => {}
                Code::Choice => {
                    let index = self.small::<LEN>(&mut s, op, &program.exit_costs);
                    exit = self.take(&mut s, &program.exits[op.argument as usize + index]);
                }
                Code::Byte => {
                    // SAFETY: reserved above.
                    unsafe {
                        let index = self.machine.pick8(&mut s, u32::from(op.small) + 1);
                        self.machine.put_byte(&mut s, program.bytes[op.argument as usize + index]);
                    }
                }
                Code::Short => {
                    let index = self.small::<LEN>(&mut s, op, &program.short_costs);
                    // SAFETY: reserved above.
                    unsafe { self.machine.put_short(&mut s, program.shorts[op.argument as usize + index].counted()) };
                }
                Code::ShortPool | Code::Pool => s = self.pool::<LEN>(s, op),
                Code::Run => {
                    let (state, taken, done) = self.rounds::<DEPTH, LEN>(s, op.argument, left);
                    s = state;
                    exit = self.take(&mut s, taken);
                    exit.deeper += done;
                }
                Code::Site => {
                    let site = &program.sites[op.argument as usize];
                    let index = self.site::<LEN>(&mut s, site, &program.exit_costs);
                    exit = self.take(&mut s, &program.exits[site.first as usize + index]);
                }
                Code::ShortSite => {
                    let site = &program.sites[op.argument as usize];
                    let index = self.site::<LEN>(&mut s, site, &program.short_costs);
                    // SAFETY: reserved above.
                    unsafe { self.machine.put_short(&mut s, program.shorts[site.first as usize + index].counted()) };
                }
                Code::Member => self.member::<LEN>(&mut s, op.argument),
                Code::Long => {
                    // SAFETY: `s` is this machine's state.
                    s = unsafe { self.machine.put_slice(s, &program.longs[op.argument as usize]) };
                }
                Code::Count => {
                    self.stack[top] = 0;
                    top += 1;
                }
                Code::Round => {
                    let round = &program.rounds[op.argument as usize];
                    let further = self.further::<LEN>(&mut s, op.argument, top - 1);
                    top -= usize::from(!further);
                    exit = self.take(&mut s, &program.exits[round.exits as usize + usize::from(further)]);
                }
                Code::Unset | Code::Halt => return s,
            }
            if top + 1 >= self.stack.len() {
                s = self.grow(s);
            }
            // Without branches, as what follows is as unpredictable as the choice before it.
            self.stack[top] = frame(exit.push, left);
            let last = self.stack[top - 1];
            let returns = exit.next == RETURN;
            pc = if returns { last as Pc } else { exit.next };
            if DEPTH {
                left = if returns { (last >> 32) as i64 } else { left - exit.deeper };
            }
            top = top + usize::from(exit.push != 0) - usize::from(returns);
        }
    }

    /// Emits the text of an exit.
    #[inline(always)]
    fn take(&self, s: &mut State, exit: &Exit) -> Follow {
        // SAFETY: the loop has reserved the text of one exit.
        unsafe { self.machine.put_short(s, exit.text.counted()) };
        Follow { next: exit.next, push: exit.push, deeper: i64::from(exit.deeper) }
    }

    /// Decides a site that is written in its op; `costs` are those of the whole table.
    #[inline(always)]
    fn small<const LEN: bool>(&mut self, s: &mut State, op: &Op, costs: &[u64]) -> usize {
        let count = u32::from(op.small) + 1;
        if LEN {
            let costs = &costs[op.argument as usize..][..count as usize];
            let index = self.within(s, costs);
            self.machine.slack -= costs[index];
            return index;
        }
        // SAFETY: the loop has reserved the site.
        unsafe { self.machine.pick8(s, count) }
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

    /// Decides any site.
    fn site<const LEN: bool>(&mut self, s: &mut State, site: &Site, costs: &[u64]) -> usize {
        let count = site.count as usize;
        let costs = &costs[site.first as usize..][..count];
        let offered = match LEN {
            true => costs.partition_point(|&cost| cost <= self.machine.slack),
            false => count,
        };
        // SAFETY: the loop has reserved the site: at most three bytes.
        let index = unsafe {
            match &site.map {
                _ if site.bits == 0 || offered <= 1 => self.machine.pick(s, offered as u32),
                Some(map) if offered == count => self.machine.pick_mapped(s, map),
                _ => {
                    let ends = &self.program.slot_ends[site.ends as usize..][..offered];
                    let value = self.machine.value(s, site.bits);
                    // The slots of the options that are not offered are left out.
                    let slot = ((u64::from(value) * u64::from(ends[offered - 1])) >> site.bits) as u32;
                    ends.partition_point(|&end| end <= slot)
                }
            }
        };
        if LEN {
            self.machine.slack -= costs[index];
        }
        index
    }

    fn member<const LEN: bool>(&mut self, s: &mut State, class: u32) {
        let class = &self.program.classes[class as usize];
        let offered = if LEN { class.offered(self.machine.slack) } else { class.within[3] };
        // SAFETY: the loop has reserved a site and a short text.
        unsafe {
            let index = self.machine.pick(s, offered);
            let member = class.encoded(index as u32);
            if LEN {
                self.machine.slack -= member.len() as u64 - u64::from(class.min_len);
            }
            self.machine.put_short(s, member.counted());
        }
    }

    /// Emits a string of a pool.
    #[inline(always)]
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
            match pool.shorts {
                Some(shorts) => {
                    self.machine.put_short(&mut s, self.program.shorts[shorts as usize + index].counted());
                    s
                }
                None => self.machine.put_slice(s, &self.program.longs[pool.first as usize + index]),
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

    /// Whether a counted repetition, whose counter is the frame `counter`, goes on.
    fn further<const LEN: bool>(&mut self, s: &mut State, round: u32, counter: usize) -> bool {
        let round = &self.program.rounds[round as usize];
        let done = self.stack[counter];
        let further = if done < u64::from(round.min) {
            true
        } else if (done >= u64::from(round.max) && round.max != u32::MAX) || (LEN && round.cost > self.machine.slack) {
            false
        } else {
            if LEN {
                // SAFETY: the loop has reserved the site.
                let further = unsafe { self.machine.pick8(s, 2) == 1 };
                self.machine.slack -= if further { round.cost } else { 0 };
                further
            } else {
                // SAFETY: the loop has reserved the site.
                unsafe { self.machine.pick8(s, 2) == 1 }
            }
        };
        self.stack[counter] = done + u64::from(further);
        further
    }

    /// Makes room for frames; where there are too many, the machine finishes: shortest derivations need a bounded number more.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, mut s: State) -> State {
        if self.stack.len() >= MAX_FRAMES && !self.finished {
            self.finished = true;
            // SAFETY: `s` is this machine's state; the next op reserves anew.
            s = unsafe { self.machine.finished(s) };
        }
        let frames = self.stack.len() * 2;
        self.stack.resize(frames, 0);
        s
    }
}

/// How an op ends.
struct Follow {
    next: Pc,
    push: Pc,
    deeper: i64,
}

//! The interpreter's loop. It has no recursion; its stack is a vector of frames.

use std::hint::select_unpredictable;

use gramjet::rt::RunEnd;
use gramjet::rt::raw::{Machine, State};
use gramjet::{Choices, Limits};

use super::program::{Code, Exit, HALT, Limited, NO_LEVEL, OTHER, Op, Pc, Program, RETURN, Round};
use super::text::Text;

/// Where to go on, and what was left of the depth there; or a counter of rounds.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub(super) struct Frame {
    pc: Pc,
    left: i32,
}

impl Frame {
    /// The end of the run.
    const LAST: Frame = Frame { pc: HALT, left: 0 };

    /// A counter. To follow it would end the run.
    const fn counter(rounds: u32) -> Frame {
        Frame { pc: HALT, left: rounds as i32 }
    }
}

/// Beyond so many frames (256 MiB) the machine finishes.
const MAX_FRAMES: usize = (256 << 20) / size_of::<Frame>();

/// A stack of more frames than this is not kept for the next input.
const KEPT_FRAMES: usize = 1 << 16;

const FIRST_FRAMES: usize = 64;

/// What every op may read and write without a reservation of its own: the choice bytes of a site; two texts.
const CHOICES: usize = 3;
const OUTPUT: usize = 2 * Text::MAX;

/// Runs a program for one input; returns the number of choice bytes read.
pub(super) fn produce(
    program: &Program,
    min_len: u64,
    limits: Limits,
    choices: &mut Choices<'_>,
    output: &mut Vec<u8>,
    stack: &mut Box<[Frame]>,
) -> u64 {
    if stack.is_empty() {
        *stack = vec![Frame::LAST; FIRST_FRAMES].into();
    }
    // No derivation is deeper than what fits.
    let left = limits.depth().map_or(0, |depth| depth.min(i32::MAX as u32) as i32);
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
    ///
    /// The program is verified: what an exit refers to is there, and so is what the ops refer to that exits lead to. What
    /// frames refer to was taken from exits.
    fn run<const DEPTH: bool, const LEN: bool>(
        &mut self,
        mut left: i32,
        mut stack: Box<[Frame]>,
    ) -> (State, Box<[Frame]>) {
        let program = self.program;
        let (ops, exits, tables) = (&*program.ops, &*program.exits, &*program.tables);
        let mut s = self.machine.start();
        let mut pc = program.start;
        // The next op's argument is known before the op is: its site is decided while the op is loaded.
        let mut argument = ops[pc as usize].argument;
        // Nothing pops more than the second frame.
        stack[..2].fill(Frame::LAST);
        let mut top = 2;
        loop {
            // SAFETY: the program is verified.
            let mut op = unsafe { ops.get_unchecked(pc as usize) };
            if DEPTH && left < i32::from(op.level) {
                debug_assert!(op.level != NO_LEVEL);
                // SAFETY: the program is verified: there is an op before each at which an instance begins.
                op = unsafe { ops.get_unchecked(pc as usize - 1) };
                argument = op.argument;
            }
            debug_assert_eq!(argument, op.argument);
            // SAFETY: `s` is this machine's state. An op reads one site of at most three choice bytes and writes two texts;
            // those that need more say so below.
            s = unsafe { self.machine.reserve(s, CHOICES, OUTPUT) };
            macro_rules! exit {
                ($at:expr) => {{
                    let at: usize = $at;
                    debug_assert!(at < exits.len());
                    // SAFETY: the program is verified.
                    unsafe { exits.get_unchecked(at) }
                }};
            }
            macro_rules! emit {
                ($exit:expr) => {{
                    let text = &$exit.text;
                    // SAFETY: the text is reserved.
                    unsafe { self.machine.put_block(&mut s, text.block(), text.len()) };
                }};
            }
            // Without branches, as what follows is as unpredictable as the choice before it.
            macro_rules! follow {
                ($exit:expr, $done:expr) => {{
                    let exit: &Exit = $exit;
                    if top + 1 >= stack.len() {
                        (s, stack) = self.grow(s, stack);
                    }
                    // SAFETY: there is room for a frame, and one more was never popped than pushed.
                    let (last, last_argument) = unsafe {
                        *stack.get_unchecked_mut(top) =
                            Frame { pc: exit.push, left: left.wrapping_sub(i32::from(exit.push_deeper)) };
                        let last = *stack.get_unchecked(top - 1);
                        (last, ops.get_unchecked(last.pc as usize).argument)
                    };
                    let returns = exit.next == RETURN;
                    // Selected together, lest the compiler select what to load, which would take longer.
                    let joined = |pc: Pc, argument: u32| u64::from(argument) | (u64::from(pc) << 32);
                    let target = select_unpredictable(
                        returns,
                        joined(last.pc, last_argument),
                        joined(exit.next, exit.argument),
                    );
                    (pc, argument) = ((target >> 32) as Pc, target as u32);
                    if DEPTH {
                        let deeper: i32 = i32::from(exit.deeper) + $done;
                        left = select_unpredictable(returns, last.left, left.wrapping_sub(deeper));
                    }
                    top = top.wrapping_add_signed(isize::from(exit.growth));
                    continue;
                }};
            }
            macro_rules! take {
                ($exit:expr) => {{
                    let exit: &Exit = $exit;
                    emit!(exit);
                    follow!(exit, 0)
                }};
            }
            if op.reads != OTHER && !(LEN && op.limited != Limited::No) {
                // SAFETY: the choice byte is reserved, and the table is there as the program is verified.
                let option = unsafe {
                    let options = tables.get_unchecked(argument as usize..argument as usize + 256);
                    self.machine.look_up(&mut s, options, usize::from(op.reads))
                };
                emit!(exit!(op.texts as usize + option));
                follow!(exit!(op.exits as usize + (option & op.mask as usize)), 0)
            }
            match op.code {
                Code::Site | Code::Large | Code::Pool => {
                    let (state, exit) = self.decide::<LEN>(s, op);
                    // What a pool emits may be long.
                    // SAFETY: `s` is this machine's state.
                    s = unsafe { self.machine.reserve(state, 0, OUTPUT) };
                    follow!(exit, 0)
                }
                Code::Word => {
                    emit!(exit!(op.texts as usize));
                    let word = &program.words[op.argument as usize];
                    let heads = word.heads.map(|head| program.table(head));
                    let (count, tail) = (word.count as usize, program.table(word.tail));
                    // SAFETY: `s` is this machine's state. The word reserves what it touches; behind it, the text of an
                    // exit is reserved anew.
                    s = unsafe {
                        let s = self.machine.word::<LEN>(s, heads, count, tail, word.further);
                        self.machine.reserve(s, 0, OUTPUT)
                    };
                    take!(exit!(op.exits as usize))
                }
                Code::Run => {
                    emit!(exit!(op.texts as usize));
                    let (state, option, done) = self.rounds::<DEPTH, LEN>(s, op.argument, left);
                    s = state;
                    let exit = exit!(op.exits as usize + option);
                    emit!(exit);
                    follow!(exit, done)
                }
                Code::Member => {
                    emit!(exit!(op.texts as usize));
                    s = self.member::<LEN>(s, op.argument);
                    take!(exit!(op.exits as usize))
                }
                Code::Long => {
                    emit!(exit!(op.texts as usize));
                    // SAFETY: `s` is this machine's state.
                    s = unsafe {
                        let s = self.machine.put_slice(s, &program.longs[op.argument as usize]);
                        self.machine.reserve(s, 0, OUTPUT)
                    };
                    take!(exit!(op.exits as usize))
                }
                Code::Count => {
                    emit!(exit!(op.texts as usize));
                    stack[top] = Frame::counter(op.argument);
                    top += 1;
                    take!(exit!(op.exits as usize))
                }
                Code::Round => {
                    emit!(exit!(op.texts as usize));
                    let round = &program.rounds[op.argument as usize];
                    let done = stack[top - 1].left as u32;
                    let further;
                    (s, further) = self.further::<LEN>(s, round, done);
                    stack[top - 1] = Frame::counter(done.saturating_add(1));
                    // At least the last frame stays, whatever the program.
                    top = (top - usize::from(!further)).max(1);
                    take!(exit!(op.exits as usize + usize::from(further)))
                }
                Code::Unset | Code::Halt => return (s, stack),
            }
        }
    }

    /// Decides any site and emits its option's text; returns the exit to follow.
    #[inline(never)]
    fn decide<const LEN: bool>(&mut self, mut s: State, op: &Op) -> (State, &'r Exit) {
        let program = self.program;
        let count = op.count as usize;
        let long = (op.code == Code::Pool).then(|| &program.pools[op.argument as usize]);
        if long.is_some() {
            let text = &program.exits[op.texts as usize].text;
            // SAFETY: the loop has reserved a text.
            unsafe { self.machine.put_block(&mut s, text.block(), text.len()) };
        }
        let costs = match long {
            Some(pool) => &*pool.costs,
            None => &program.exit_costs[op.texts as usize..][..count],
        };
        let limited = LEN && op.limited != Limited::No;
        let offered = if limited { costs.partition_point(|&cost| cost <= self.machine.slack) } else { count };
        if offered == 0 {
            // A pool whose strings all cost something has a shortest string.
            // SAFETY: `s` is this machine's state.
            s = unsafe { self.machine.put_slice(s, &program.longs[op.shortest as usize]) };
            return (s, &program.exits[op.exits as usize]);
        }
        // SAFETY: the loop has reserved the site: at most three bytes.
        let option = unsafe {
            match offered {
                1 => 0,
                _ if op.bits == 0 => self.machine.pick(&mut s, offered as u32),
                _ => {
                    let bits = u32::from(op.bits);
                    let ends = &program.slot_ends[op.ends as usize..][..offered];
                    let value = self.machine.value(&mut s, bits);
                    // The slots of the options that are not offered are left out.
                    let slot = ((u64::from(value) * u64::from(ends[offered - 1])) >> bits) as u32;
                    ends.partition_point(|&end| end <= slot)
                }
            }
        };
        if limited {
            self.machine.slack -= costs[option];
        }
        // SAFETY: `s` is this machine's state; the loop has reserved a text.
        unsafe {
            match long {
                Some(pool) => s = self.machine.put_slice(s, &program.longs[pool.first as usize + option]),
                None => {
                    let text = &program.exits[op.texts as usize + option].text;
                    self.machine.put_block(&mut s, text.block(), text.len());
                }
            }
        }
        (s, &program.exits[op.exits as usize + (option & op.mask as usize)])
    }

    #[inline(never)]
    fn member<const LEN: bool>(&mut self, mut s: State, class: u32) -> State {
        let class = &self.program.classes[class as usize];
        let offered = if LEN { class.offered(self.machine.slack) } else { class.within[3] };
        // SAFETY: the loop has reserved a site; what follows is reserved here.
        unsafe {
            let index = self.machine.pick(&mut s, offered);
            let mut block = [0; Text::MAX];
            let len = class.member(index as u32).encode_utf8(&mut block).len();
            if LEN {
                self.machine.slack -= len as u64 - u64::from(class.min_len);
            }
            s = self.machine.reserve(s, 0, 4 + OUTPUT);
            self.machine.put_block(&mut s, &block, len);
        }
        s
    }

    /// Does rounds of a run; returns which exit to take and by how much the depth is less.
    #[inline(always)]
    fn rounds<const DEPTH: bool, const LEN: bool>(&mut self, s: State, run: u32, left: i32) -> (State, usize, i32) {
        let program = self.program;
        let run = &program.runs[run as usize];
        let mut cap = u64::MAX;
        if DEPTH {
            let depth = (i64::from(left) - i64::from(run.depth)).max(0) as u64;
            cap = match run.deepens {
                true => depth,
                false if i64::from(left) < i64::from(run.depth) => 0,
                false => u64::MAX,
            };
        }
        if LEN {
            cap = cap.min(self.machine.slack.saturating_sub(run.slack));
        }
        let table = program.table(run.table);
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
        (s, index, if deeper { done as i32 } else { 0 })
    }

    /// Whether a counted repetition goes on after so many rounds.
    #[inline(always)]
    fn further<const LEN: bool>(&mut self, mut s: State, round: &Round, done: u32) -> (State, bool) {
        if done < round.min {
            return (s, true);
        }
        let ended = round.max.is_some_and(|max| done >= max);
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
    fn grow(&mut self, mut s: State, stack: Box<[Frame]>) -> (State, Box<[Frame]>) {
        if stack.len() >= MAX_FRAMES && !self.finished {
            self.finished = true;
            // SAFETY: `s` is this machine's state; the next op reserves anew.
            s = unsafe { self.machine.finished(s) };
        }
        let mut stack = stack.into_vec();
        stack.resize(stack.len() * 2, Frame::LAST);
        (s, stack.into_boxed_slice())
    }
}

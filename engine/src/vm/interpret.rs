//! The interpreter's loop. It has no recursion; its stack is a vector of frames.

use std::hint::select_unpredictable;

use gramjet::rt::raw::{Machine, State};
use gramjet::rt::{CREDIT_CHOICES, CREDIT_OUTPUT, RunEnd};
use gramjet::{Batch, Choices, Limits};
use gramjet_compiler::ir::Ir;
use gramjet_compiler::labels::Labels;

use super::labels::Labelled;
use super::program::{Code, Exit, HALT, Limited, NO_LEVEL, OTHER, Op, OpOffset, Program, Round, Run, Site};
use super::text::Text;

/// Place to go on, and the depth left there; or a counter of rounds.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub(super) struct Frame {
    pc: OpOffset,
    left: i32,
}

impl Frame {
    /// The end of the run.
    const LAST: Frame = Frame { pc: HALT * Op::SIZE, left: 0 };

    /// Returns a counter. To follow it would end the run.
    const fn counter(rounds: u32) -> Frame {
        Frame { pc: HALT * Op::SIZE, left: rounds as i32 }
    }
}

/// With more frames than this (1 GiB, as much stack as machine code has) the machine finishes.
const MAX_FRAMES: usize = (1 << 30) / size_of::<Frame>();

/// A stack of more frames than this is not kept for the next input.
const KEPT_FRAMES: usize = 1 << 16;

const FIRST_FRAMES: usize = 64;

/// The output that is reserved anew after a part without a bound: two texts.
const OUTPUT: usize = 2 * Text::MAX;

// An op uses no more of the credit than a word: its text, four bytes and a batch of rounds, and the text of an exit.
const _: () = assert!(CREDIT_CHOICES >= 12 && CREDIT_OUTPUT >= OUTPUT + 8);

/// Runs a program for one input; returns the number of choice bytes read.
pub(super) fn produce(
    program: &Program,
    ir: &Ir,
    min_len: u64,
    limits: Limits,
    choices: &mut Choices<'_>,
    output: &mut Vec<u8>,
    stack: &mut Box<[Frame]>,
) -> u64 {
    let base = output.len();
    let limits = limits.max_len(Labels::limit(ir, limits.length()));
    let machine = Machine::new(min_len, limits, choices, output);
    let labelled = ir.has_labels().then(|| Labelled::new(ir));
    let mut run = Interpreter { program, machine, labelled, finished: false };
    let start = run.machine.start();
    let state = run.derive(start, limits, stack);
    let Interpreter { machine, labelled, .. } = run;
    // SAFETY: the run returned this machine's state, and each op read and wrote only what was reserved.
    let read = unsafe { machine.end(state) };
    if let Some(mut labelled) = labelled {
        labelled.settle(output, base);
    }
    read
}

/// Runs a program for each input of a batch; returns the number of choice bytes read.
pub(super) fn produce_batch(
    program: &Program,
    min_len: u64,
    limits: Limits,
    choices: &mut Choices<'_>,
    output: &mut Vec<u8>,
    batch: &mut Batch<'_>,
    stack: &mut Box<[Frame]>,
) -> u64 {
    let mut read = 0;
    while batch.has_room(output.len()) {
        let machine = Machine::new(min_len, limits, choices, output);
        let mut run = Interpreter { program, machine, labelled: None, finished: false };
        let mut state = run.machine.start();
        let mut goes_on = true;
        while goes_on {
            state = run.derive(state, limits, stack);
            // SAFETY: as for one input. A run that has finished leaves only zeros to read, so no other follows.
            (state, goes_on) = unsafe { run.machine.close(state, batch, min_len, limits) };
        }
        // SAFETY: as for one input.
        read += unsafe { run.machine.end(state) };
    }
    read
}

/// Returns the option of a site that offers its first `offered` options, at least one.
///
/// # Safety
///
/// `s` must be the machine's state, with the site reserved: at most three bytes.
#[inline(always)]
pub(super) unsafe fn pick(
    machine: &mut Machine<'_, '_>,
    s: &mut State,
    program: &Program,
    site: &Site,
    offered: usize,
) -> usize {
    // SAFETY: as for this function.
    unsafe {
        match offered {
            0 | 1 => 0,
            _ if site.bits == 0 => machine.pick(s, offered as u32),
            _ => {
                let bits = u32::from(site.bits);
                let ends = &program.slot_ends[site.ends as usize..][..offered];
                let value = machine.value(s, bits);
                // The slots of the options that are not offered are left out.
                let slot = ((u64::from(value) * u64::from(ends[offered - 1])) >> bits) as u32;
                ends.partition_point(|&end| end <= slot)
            }
        }
    }
}

struct Interpreter<'r, 'm, 's> {
    program: &'r Program,
    machine: Machine<'m, 's>,
    /// The labelled parts, in a grammar that has some.
    labelled: Option<Labelled<'r>>,
    finished: bool,
}

impl<'r> Interpreter<'r, '_, '_> {
    /// Derives an input from `state` on.
    fn derive(&mut self, state: State, limits: Limits, stack: &mut Box<[Frame]>) -> State {
        if stack.is_empty() {
            *stack = vec![Frame::LAST; FIRST_FRAMES].into();
        }
        // No derivation is deeper than an `i32` can count.
        let left = limits.depth().map_or(0, |depth| depth.min(i32::MAX as u32) as i32);
        let frames = std::mem::take(stack);
        // Texts with labels always have a limit on the length.
        let (state, frames) = match (limits.depth().is_some(), limits.length().is_some(), self.labelled.is_some()) {
            (false, false, _) => self.run::<false, false, false>(state, left, frames),
            (false, true, false) => self.run::<false, true, false>(state, left, frames),
            (true, false, _) => self.run::<true, false, false>(state, left, frames),
            (true, true, false) => self.run::<true, true, false>(state, left, frames),
            (false, true, true) => self.run::<false, true, true>(state, left, frames),
            (true, true, true) => self.run::<true, true, true>(state, left, frames),
        };
        if frames.len() <= KEPT_FRAMES {
            *stack = frames;
        }
        state
    }

    /// Runs the program from its start. The state that changes with each op is in local variables whose addresses are
    /// never taken, so that it stays in registers.
    ///
    /// The program is verified: the ops that exits refer to exist, and so do the tables that these ops refer to. The
    /// references in frames were taken from exits.
    ///
    /// Inlined, the kinds of programs would share one frame, and the registers of the loop would not suffice.
    #[inline(never)]
    fn run<const DEPTH: bool, const LEN: bool, const LABELS: bool>(
        &mut self,
        mut s: State,
        mut left: i32,
        mut stack: Box<[Frame]>,
    ) -> (State, Box<[Frame]>) {
        let program = self.program;
        let mut pc = program.start;
        // The next op's argument is known before the op is: its site is decided while the op is loaded.
        let mut argument = program.op(pc).argument;
        // Nothing pops more than the second frame.
        stack[..2].fill(Frame::LAST);
        let mut top = 2;
        loop {
            // SAFETY: the program is verified.
            let mut op = unsafe { program.op_unchecked(pc) };
            if DEPTH && left <= i32::from(op.level) {
                debug_assert!(op.level != NO_LEVEL);
                let at_limit = left == i32::from(op.level);
                pc = program.others + 2 * pc + Op::SIZE * u32::from(at_limit);
                op = program.op(pc);
                argument = op.argument;
            }
            debug_assert_eq!(argument, op.argument);
            // SAFETY: `s` is this machine's state. The credit covers what an op reads and writes; those that need more
            // say so below.
            s = unsafe { self.machine.ensure(s) };
            macro_rules! emit {
                ($option:expr) => {{
                    // SAFETY: the program is verified, and the text is reserved.
                    unsafe {
                        let text = program.text_unchecked(op, $option);
                        self.machine.put_short(&mut s, text.counted());
                    }
                }};
            }
            // Without branches, as the next op is as unpredictable as the choice before it.
            macro_rules! follow {
                ($option:expr, $done:expr) => {{
                    // SAFETY: the program is verified.
                    let exit: &Exit = unsafe { program.exit_unchecked(op, $option) };
                    if top + 1 >= stack.len() {
                        (s, stack) = self.grow(s, stack);
                    }
                    // SAFETY: there is room for a frame, and the popped frame was pushed or is the last frame.
                    let (last, last_argument) = unsafe {
                        *stack.get_unchecked_mut(top) =
                            Frame { pc: exit.push, left: left.wrapping_sub(i32::from(exit.push_deeper)) };
                        let last = *stack.get_unchecked(top - 1);
                        (last, program.op_unchecked(last.pc).argument)
                    };
                    let returns = exit.growth < 0;
                    // Selected together; otherwise the compiler would select the address to load from, which takes
                    // longer.
                    let joined = |pc: OpOffset, argument: u32| u64::from(argument) | (u64::from(pc) << 32);
                    let target =
                        select_unpredictable(returns, joined(last.pc, last_argument), joined(exit.next, exit.argument));
                    (pc, argument) = ((target >> 32) as OpOffset, target as u32);
                    if DEPTH {
                        let deeper: i32 = i32::from(exit.deeper) + $done;
                        left = select_unpredictable(returns, last.left, left.wrapping_sub(deeper));
                    }
                    top = top.wrapping_add_signed(isize::from(exit.growth));
                    continue;
                }};
            }
            // Ops other than sites have the texts of their exits after their own.
            macro_rules! take {
                ($option:expr, $done:expr) => {{
                    let option: usize = $option;
                    emit!(option + 1);
                    follow!(option, $done)
                }};
            }
            if op.reads != OTHER && !(LEN && program.site(pc).limited != Limited::No) {
                // SAFETY: the choice byte is reserved, and the table is there as the program is verified.
                let option = unsafe {
                    let options = program.table_unchecked(argument);
                    self.machine.look_up(&mut s, options, usize::from(op.reads))
                };
                emit!(option);
                follow!(option & op.mask as usize, 0)
            }
            match op.code {
                Code::Site | Code::Large => {
                    let option;
                    (s, option) = self.decide::<LEN>(s, program.site(pc));
                    if let Some(option) = option {
                        emit!(option);
                    }
                    follow!(option.unwrap_or(0) & op.mask as usize, 0)
                }
                Code::Pool => {
                    emit!(0);
                    s = self.long_string::<LEN>(s, argument, program.site(pc));
                    take!(0, 0)
                }
                Code::Word => {
                    emit!(0);
                    let word = &program.words[argument as usize];
                    let heads = word.heads.map(|head| program.table(head));
                    let (count, tail) = (word.count as usize, program.table(word.tail));
                    // SAFETY: the credit covers the text before, the word, and the text of an exit after it.
                    s = unsafe { self.machine.word::<LEN>(s, heads, count, tail, word.further) };
                    take!(0, 0)
                }
                Code::Run => {
                    emit!(0);
                    let (state, option, done) = self.rounds::<DEPTH, LEN>(s, argument, left);
                    s = state;
                    take!(option, done)
                }
                Code::Member => {
                    emit!(0);
                    s = self.member::<LEN>(s, argument);
                    take!(0, 0)
                }
                Code::Long => {
                    emit!(0);
                    // SAFETY: `s` is this machine's state.
                    s = unsafe {
                        let s = self.machine.put_slice(s, &program.longs[argument as usize]);
                        self.machine.reserve(s, 0, OUTPUT)
                    };
                    take!(0, 0)
                }
                Code::Count => {
                    emit!(0);
                    stack[top] = Frame::counter(argument);
                    top += 1;
                    take!(0, 0)
                }
                Code::Round => {
                    emit!(0);
                    let round = &program.rounds[argument as usize];
                    let done = stack[top - 1].left as u32;
                    let further;
                    (s, further) = self.further::<LEN>(s, round, done);
                    stack[top - 1] = Frame::counter(done.saturating_add(1));
                    // At least the last frame stays, whatever the program.
                    top = (top - usize::from(!further)).max(1);
                    take!(usize::from(further), 0)
                }
                Code::Label if LABELS => {
                    emit!(0);
                    if let Some(labelled) = &mut self.labelled {
                        // SAFETY: `s` is this machine's state.
                        s = unsafe { labelled.begin(&mut self.machine, s, argument) };
                    }
                    take!(0, 0)
                }
                Code::Leave if LABELS => {
                    emit!(0);
                    if let Some(labelled) = &mut self.labelled {
                        // SAFETY: `s` is this machine's state.
                        s = unsafe { labelled.leave(&mut self.machine, s, argument) };
                    }
                    take!(0, 0)
                }
                Code::Times if LABELS => {
                    emit!(0);
                    let rounds = self.labelled.as_ref().map_or(0, |labelled| labelled.rounds(argument));
                    stack[top] = Frame::counter(rounds);
                    top += 1;
                    take!(0, 0)
                }
                Code::Left if LABELS => {
                    emit!(0);
                    let left = stack[top - 1].left as u32;
                    stack[top - 1] = Frame::counter(left.saturating_sub(1));
                    // At least the last frame stays, whatever the program.
                    top = (top - usize::from(left == 0)).max(1);
                    take!(usize::from(left > 0), 0)
                }
                Code::Open if LABELS => {
                    emit!(0);
                    let option = match &mut self.labelled {
                        // SAFETY: `s` is this machine's state, and the loop has reserved the site.
                        Some(labelled) => unsafe {
                            // A copy, as the address of `s` would keep it out of registers in all ops.
                            let mut state = s;
                            let taken =
                                labelled.choose(&mut self.machine, &mut state, program, argument, program.site(pc));
                            s = state;
                            taken
                        },
                        None => 0,
                    };
                    emit!(option + 1);
                    follow!(option & op.mask as usize, 0)
                }
                Code::Further | Code::Least if LABELS => {
                    emit!(0);
                    let done = stack[top - 1].left as u32;
                    let further = match &mut self.labelled {
                        // SAFETY: `s` is this machine's state, and the loop has reserved the site.
                        Some(labelled) => unsafe {
                            // A copy, as the address of `s` would keep it out of registers in all ops.
                            let mut state = s;
                            let taken =
                                labelled.further(&mut self.machine, &mut state, argument, done, op.code == Code::Least);
                            s = state;
                            taken
                        },
                        None => false,
                    };
                    stack[top - 1] = Frame::counter(done.saturating_add(1));
                    top = (top - usize::from(!further)).max(1);
                    take!(usize::from(further), 0)
                }
                Code::Use | Code::Nearest if LABELS => {
                    emit!(0);
                    let is_taken = match &mut self.labelled {
                        // SAFETY: `s` is this machine's state, and the loop has reserved the site.
                        Some(labelled) => unsafe {
                            // A copy, as the address of `s` would keep it out of registers in all ops.
                            let mut state = s;
                            let taken =
                                labelled.take_name(&mut self.machine, &mut state, argument, op.code == Code::Nearest);
                            s = state;
                            taken
                        },
                        None => false,
                    };
                    take!(usize::from(!is_taken), 0)
                }
                // Programs without labels have no ops for them.
                Code::Unset | Code::Halt | Code::Label | Code::Leave | Code::Times | Code::Left => return (s, stack),
                Code::Open | Code::Further | Code::Least | Code::Use | Code::Nearest => return (s, stack),
            }
        }
    }

    /// Decides any site; `None` if the length limit leaves no option: the shortest string was emitted then.
    #[inline(never)]
    fn decide<const LEN: bool>(&mut self, mut s: State, site: &Site) -> (State, Option<usize>) {
        let program = self.program;
        let count = site.count as usize;
        let limited = LEN && site.limited != Limited::No;
        let costs = if limited { &program.costs[site.costs as usize..][..count] } else { &[] };
        let offered = if limited { costs.partition_point(|&cost| cost <= self.machine.slack) } else { count };
        // SAFETY: the loop has reserved the site: at most three bytes. After the string, a text is reserved anew.
        let option = unsafe {
            if offered == 0 {
                // A pool whose strings all cost something has a shortest string.
                s = self.machine.put_slice(s, &program.longs[site.shortest as usize]);
                return (self.machine.reserve(s, 0, OUTPUT), None);
            }
            pick(&mut self.machine, &mut s, program, site, offered)
        };
        if limited {
            self.machine.slack -= costs[option];
        }
        (s, Some(option))
    }

    /// Emits one of the long texts from `first` on.
    #[inline(never)]
    fn long_string<const LEN: bool>(&mut self, s: State, first: u32, site: &Site) -> State {
        let (mut s, option) = self.decide::<LEN>(s, site);
        // SAFETY: `s` is this machine's state.
        unsafe {
            if let Some(option) = option {
                s = self.machine.put_slice(s, &self.program.longs[first as usize + option]);
            }
            self.machine.reserve(s, 0, OUTPUT)
        }
    }

    #[inline(never)]
    fn member<const LEN: bool>(&mut self, mut s: State, class: u32) -> State {
        let class = &self.program.classes[class as usize];
        let offered = if LEN { class.offered(self.machine.slack) } else { class.within[3] };
        // SAFETY: the loop has reserved a site; the emitted bytes are reserved here.
        unsafe {
            let index = self.machine.pick(&mut s, offered);
            let text = Text::of_char(class.member(index as u32));
            if LEN {
                self.machine.slack -= text.len() as u64 - u64::from(class.min_len);
            }
            s = self.machine.reserve(s, 0, OUTPUT);
            self.machine.put_short(&mut s, text.counted());
        }
        s
    }

    /// Does rounds of a run; returns which exit to take and by how much the depth is less.
    #[inline(always)]
    fn rounds<const DEPTH: bool, const LEN: bool>(&mut self, mut s: State, run: u32, left: i32) -> (State, usize, i32) {
        let program = self.program;
        let run = &program.runs[run as usize];
        let mut cap = u64::MAX;
        if DEPTH {
            // Below the depth that a round needs, none is done; else as many as there are levels, or any number.
            let room = i64::from(left) - i64::from(run.depth);
            cap = (room | run.unbounded).max(0) as u64;
        }
        if LEN {
            cap = cap.min(self.machine.slack.saturating_sub(run.slack));
        }
        let table = program.table(run.table);
        // SAFETY: the credit covers the text before, the rounds, and the text of an exit after them.
        let short = unsafe { self.machine.short_run(&mut s, table, run.bound, usize::from(run.plus), cap) };
        let (option, done) = match short {
            Some((stopped, done)) => (usize::from(!stopped), done),
            None => {
                let (state, option, done) = self.long_run(s, run, cap);
                s = state;
                (option, done)
            }
        };
        if LEN {
            self.machine.slack -= done + u64::from(option == Run::OTHER);
        }
        (s, option, done as i32 & run.deepens[option])
    }

    #[inline(never)]
    fn long_run(&mut self, s: State, run: &Run, cap: u64) -> (State, usize, u64) {
        let table = self.program.table(run.table);
        // SAFETY: `s` is this machine's state. The run fills the credit up as it goes on and leaves enough of it for
        // the text of an exit.
        let (s, end, done) = unsafe {
            if run.plus {
                self.machine.run::<true>(s, table, run.bound, cap)
            } else {
                self.machine.run::<false>(s, table, run.bound, cap)
            }
        };
        let option = match end {
            RunEnd::Stopped => Run::STOPPED,
            RunEnd::Other => Run::OTHER,
            RunEnd::Capped => Run::CAPPED,
        };
        (s, option, done)
    }

    /// Decides whether a counted repetition goes on after `done` rounds.
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

    /// Makes room for frames; where there are too many, the machine finishes: shortest derivations need a bounded
    /// number more.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, mut s: State, stack: Box<[Frame]>) -> (State, Box<[Frame]>) {
        if stack.len() >= MAX_FRAMES && !self.finished {
            self.finished = true;
            // SAFETY: `s` is this machine's state; the next op reserves anew.
            s = unsafe { self.machine.finished(s) };
        }
        let more = if self.finished { stack.len() / 8 } else { stack.len() };
        let mut stack = stack.into_vec();
        stack.reserve_exact(more);
        stack.resize(stack.len() + more, Frame::LAST);
        (s, stack.into_boxed_slice())
    }
}

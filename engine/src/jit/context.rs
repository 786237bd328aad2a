//! The state of a run outside of registers, in the layout that machine code knows, and the slow paths that machine code
//! calls.

use gramjet::Batch;
use gramjet::rt::raw::native::{Cursor, Input};
use gramjet::rt::raw::{READ_SLOP, STORE_SLOP};
use gramjet_compiler::ir;

use super::code::Code;
use super::sites::Site;
use super::stack::{CALLER_STACK, FINISHING_HERE, Region};

mod labels;

use labels::Labelled;

/// A stretch of straight code reads at most this many choice bytes, and writes at most this many output bytes.
pub(super) const MARGIN: (i32, i32) = (128, 1024);

/// The context of a run. Machine code knows the first fields by their offsets. It stores the pointers and the slack
/// there before it calls a slow path, and loads them with their limits afterwards.
#[repr(C)]
pub(super) struct Context<'r, 's> {
    pub choice: *const u8,
    pub output: *mut u8,
    pub choice_limit: usize,
    pub output_limit: usize,
    pub slack: i64,
    /// Below this address, recursive functions continue on another stack.
    pub stack_low: usize,
    /// The stack pointer of the caller's stack while machine code runs on another one, else 0.
    pub home: usize,
    pub doors: &'static [Door; Doors::COUNT],
    pub inputs: Inputs,
    code: &'r Code,
    input: Input<'r, 's>,
    /// Bytes of stack that a deep recursion may have.
    region: usize,
    deep: Option<Box<Deep>>,
    /// Further arguments of a door.
    pub operands: [i64; 2],
    /// The labelled parts of the text, if slow paths need them.
    labelled: Option<Labelled<'r>>,
}

/// The inputs of a batch, which machine code begins and ends one after the other.
#[repr(C)]
pub(super) struct Inputs {
    /// Place where the current input began; null if the context's `input` knows it already.
    pub begun: (*const u8, *mut u8),
    /// The slack that an input begins with.
    pub first_slack: i64,
    /// The place where the end of this input is stored, and the end of these places.
    pub ends: *mut usize,
    pub ends_limit: *mut usize,
    /// The text after each input; all eight bytes are stored, and `separator_len` of them count.
    pub separator: [u8; MAX_SEPARATOR],
    pub separator_len: usize,
    /// Place where the output begins.
    pub base: usize,
    /// From here on no further input begins: the batch is full, or a stretch has no room, or there are no choice bytes.
    pub full: usize,
    /// The length at which the batch is full.
    full_len: usize,
}

/// Machine code does not write longer separators.
pub(super) const MAX_SEPARATOR: usize = 8;

/// The state of a run that recursed deeper than its caller's stack should allow.
pub(super) struct Deep {
    region: Option<Region>,
    level: Level,
    /// `stack_low` on the caller's stack.
    caller_low: usize,
}

impl Deep {
    fn new(region: Option<Region>) -> Box<Deep> {
        Box::new(Deep { region, level: Level::Caller, caller_low: 0 })
    }

    /// Returns the state that a run of `code` must have before it begins, with a region of `region` bytes; `None` if it
    /// needs none.
    ///
    /// # Errors
    ///
    /// If the system has no room for it: the code must not run.
    #[inline(always)]
    pub fn beforehand(code: &Code, region: usize) -> Result<Option<Box<Deep>>, NoRoom> {
        match code.finishing {
            ..=FINISHING_HERE => Ok(None),
            _ => Deep::mapped(code, region).map(Some),
        }
    }

    #[cold]
    fn mapped(code: &Code, region: usize) -> Result<Box<Deep>, NoRoom> {
        Ok(Deep::new(Some(Region::map(region, code.finishing).ok_or(NoRoom)?)))
    }
}

/// The system has no room for a stack that code needs.
pub(super) struct NoRoom;

/// The position of a run on the native stack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Caller,
    Region,
    /// Finishing: no check can help any more.
    Last,
}

/// A slow path: gets the context, with all that is in registers stored to it, and a number.
pub(super) type Door = unsafe extern "sysv64" fn(*mut Context<'_, '_>, usize) -> usize;

/// The slow paths, by their place in [`Context::doors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doors {
    /// Makes a stretch readable and writable.
    Replenish,
    /// Another stack for a deep recursion; returns its top, or 0 if there is none and the machine finishes.
    Deeper,
    /// Back on the caller's stack.
    Shallower,
    /// Decides the site with this number under the length limit; returns the option.
    PickWithin,
    /// Emits a string of the site with this number under the length limit.
    StringWithin,
    /// Emits the literal with this number.
    Copy,
    /// Emits the bytes of the leaf with this number, which follow from labelled parts.
    Emit,
    /// Begins the labelled part with this number, or another node that has an end.
    Begin,
    /// Ends a labelled part, or a scope of labels or names.
    Close,
    /// Ends another node, which may write.
    Leave,
    /// Decides the choice with this number, whose options cost what the text so far says; returns the option.
    Choose,
    /// Decides on a further round of the repetition with this number; returns 1 if there is one, else 0.
    Further,
    /// Notes that a further round begins, which fits.
    GoOn,
    /// Notes that a round begins that no site decides on.
    Round,
    /// Returns the number of rounds of the node with this number.
    Rounds,
    /// Takes a name at the node with this number; returns 1, or 0 if the part is to be derived.
    Name,
    /// Takes the nearest name, without reading.
    Nearest,
    /// Ends a text of a batch.
    Settle,
    /// Gives a part as a name, as the node with this number says; the operands are its place and its length.
    Declare,
    /// Copies bytes of the output; the operands are their place and their number.
    CopyPart,
    /// Decides the site with this number, whose options have copies of a part; the first operand is the number of bytes
    /// that each costs beyond the least. Returns the option.
    PickCopies,
}

impl Doors {
    pub const COUNT: usize = 21;
    /// The doors that all code has.
    const PLAIN: [Doors; 6] =
        [Doors::Replenish, Doors::Deeper, Doors::Shallower, Doors::PickWithin, Doors::StringWithin, Doors::Copy];
    /// The doors of code for labels.
    const OF_LABELS: [Doors; 15] = [
        Doors::Emit,
        Doors::Begin,
        Doors::Close,
        Doors::Leave,
        Doors::Choose,
        Doors::Further,
        Doors::GoOn,
        Doors::Round,
        Doors::Rounds,
        Doors::Name,
        Doors::Nearest,
        Doors::Settle,
        Doors::Declare,
        Doors::CopyPart,
        Doors::PickCopies,
    ];

    /// Returns the doors of code for a grammar with labels or without.
    pub fn of(has_labels: bool) -> impl Iterator<Item = Doors> {
        Doors::PLAIN.into_iter().chain(Doors::OF_LABELS.into_iter().filter(move |_| has_labels))
    }

    pub fn name(self) -> &'static str {
        match self {
            Doors::Emit => "emit_derived",
            Doors::Begin => "begin_part",
            Doors::Close => "close_part",
            Doors::Leave => "leave_part",
            Doors::Choose => "choose",
            Doors::Further => "further_round",
            Doors::GoOn => "go_on",
            Doors::Round => "begin_round",
            Doors::Rounds => "rounds",
            Doors::Name => "take_name",
            Doors::Nearest => "take_nearest_name",
            Doors::Settle => "settle",
            Doors::Declare => "declare",
            Doors::CopyPart => "copy_part",
            Doors::PickCopies => "pick_copies",
            Doors::Replenish => "replenish",
            Doors::Deeper => "deeper",
            Doors::Shallower => "shallower",
            Doors::PickWithin => "pick_within",
            Doors::StringWithin => "string_within",
            Doors::Copy => "copy",
        }
    }
}

static DOORS: [Door; Doors::COUNT] = [
    replenish,
    deeper,
    shallower,
    pick_within,
    string_within,
    copy,
    labels::emit,
    labels::begin,
    labels::close,
    labels::leave,
    labels::choose,
    labels::further,
    labels::go_on,
    labels::round,
    labels::rounds,
    labels::name,
    labels::nearest,
    labels::settle,
    labels::declare,
    copy_part,
    pick_copies,
];

/// Returns a bound as a signed number; larger bounds are never reached.
#[inline(always)]
fn signed(slack: u64) -> i64 {
    i64::try_from(slack).unwrap_or(i64::MAX)
}

/// Returns the place of `choice` or `output` up to which a stretch may begin.
#[inline(always)]
fn limit(end: usize, margin: i32, slop: usize) -> usize {
    end.saturating_sub(margin as usize + slop)
}

impl<'r, 's> Context<'r, 's> {
    /// Returns the context of a run of `code` for `input`, which begins at `cursor`, with the result of
    /// [`Deep::beforehand`].
    #[inline(always)]
    pub fn new(
        code: &'r Code,
        input: Input<'r, 's>,
        cursor: Cursor,
        slack: u64,
        (region, deep): (usize, Option<Box<Deep>>),
    ) -> Self {
        let base = input.base() as usize;
        Context {
            choice: cursor.choice,
            output: cursor.output,
            choice_limit: limit(cursor.choice_end as usize, MARGIN.0, READ_SLOP),
            output_limit: limit(cursor.output_end as usize, MARGIN.1, STORE_SLOP),
            slack: signed(slack),
            stack_low: stack_pointer().saturating_sub(CALLER_STACK),
            home: 0,
            doors: &DOORS,
            inputs: Inputs {
                begun: (std::ptr::null(), std::ptr::null_mut()),
                first_slack: signed(slack),
                ends: std::ptr::null_mut(),
                ends_limit: std::ptr::null_mut(),
                separator: [0; MAX_SEPARATOR],
                separator_len: 0,
                base,
                full: 0,
                full_len: 0,
            },
            code,
            input,
            region,
            deep,
            operands: [0; 2],
            labelled: None,
        }
    }

    /// Ends the input; returns the number of choice bytes read.
    ///
    /// # Safety
    ///
    /// The pointers must be the ones that machine code left.
    #[inline(always)]
    pub unsafe fn end(&mut self, choice: *const u8, output: *mut u8) -> u64 {
        // SAFETY: machine code moved the pointers over bytes that the input reserved, and wrote all before `output`.
        unsafe { self.input.end(choice, output) }
    }

    /// Runs the code for inputs of a batch, whose separator is short enough; returns the number of choice bytes read.
    pub fn run_batch(&mut self, depth: i64, batch: &mut Batch<'_>) -> u64 {
        let separator = batch.between();
        self.inputs.separator[..separator.len()].copy_from_slice(separator);
        self.inputs.separator_len = separator.len();
        self.inputs.full_len = batch.full();
        loop {
            self.find_full();
            let open = batch.open_ends().as_mut_ptr_range();
            (self.inputs.ends, self.inputs.ends_limit) = (open.start.cast(), open.end.cast());
            let ends = self.code.run_batch(self, depth);
            // SAFETY: the code left these pointers, and stored the ends of all inputs that it made. An input whose
            // choice source panicked is the last one, and does not count.
            unsafe {
                let closed = self.inputs.ends.offset_from_unsigned(open.start.cast());
                batch.close_many(closed - usize::from(self.input.has_panicked()));
                self.tell();
                let len = ends.output.offset_from_unsigned(self.input.base());
                if !(batch.has_room(len) && self.input.goes_on()) {
                    return self.input.end(ends.choice, ends.output);
                }
                self.input.begin(ends.choice, ends.output);
                let cursor = self.input.resume(ends.choice, ends.output);
                self.set_cursor(cursor);
            }
        }
    }

    /// Reports to `input` the inputs of a batch that machine code made since the last report.
    unsafe fn tell(&mut self) {
        let (choice, output) = std::mem::replace(&mut self.inputs.begun, (std::ptr::null(), std::ptr::null_mut()));
        if !choice.is_null() {
            // SAFETY: an input began there, in the window and the output that `input` has.
            unsafe { self.input.begin(choice, output) };
        }
    }

    fn find_full(&mut self) {
        self.inputs.base = self.input.base() as usize;
        self.inputs.full = if self.input.goes_on() {
            self.inputs.base.saturating_add(self.inputs.full_len).min(self.output_limit + 1)
        } else {
            0
        };
    }

    /// Returns how much of the stack that is kept for finishing was used, in bytes.
    #[cfg(test)]
    pub fn used_for_finishing(&self) -> usize {
        let region = self.deep.as_ref().and_then(|deep| deep.region.as_ref());
        region.map_or(0, Region::used_for_finishing)
    }

    fn set_cursor(&mut self, cursor: Cursor) {
        (self.choice, self.output) = (cursor.choice, cursor.output);
        self.choice_limit = limit(cursor.choice_end as usize, MARGIN.0, READ_SLOP);
        self.output_limit = limit(cursor.output_end as usize, MARGIN.1, STORE_SLOP);
        self.find_full();
    }

    /// Makes room for a stretch, and for writing as much.
    unsafe fn reserve(&mut self, output: usize) {
        let output = output.max(MARGIN.1 as usize);
        // SAFETY: machine code moved the pointers over reserved bytes only.
        let cursor = unsafe {
            self.tell();
            self.input.replenish(self.choice, self.output, MARGIN.0 as usize, output)
        };
        self.set_cursor(cursor);
    }

    /// Decides a site, whose choice bytes are reserved.
    unsafe fn pick(&mut self, site: ir::Site<'_>) -> usize {
        let mut value = 0;
        for index in 0..site.width() {
            // SAFETY: as for this function.
            unsafe {
                value |= u32::from(*self.choice) << (8 * index);
                self.choice = self.choice.add(1);
            }
        }
        site.option_of(value) as usize
    }

    /// Returns how many of these ascending costs are within the slack.
    fn offered(&self, costs: &[u64]) -> usize {
        costs.partition_point(|&cost| cost <= self.slack as u64)
    }

    /// Emits bytes of any length.
    unsafe fn put(&mut self, bytes: &[u8]) {
        // SAFETY: the bytes are reserved before they are written, and no other code has the output.
        unsafe {
            self.reserve(bytes.len());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.output, bytes.len());
            self.output = self.output.add(bytes.len());
        }
    }
}

/// Returns the address of the current stack frame, about.
#[inline(always)]
fn stack_pointer() -> usize {
    let marker = 0u8;
    (&raw const marker) as usize
}

// SAFETY of all doors: machine code calls them with the context of its run, whose fields it has brought up to date, and
// with numbers below the lengths of the lists; before sites it has reserved a stretch.

unsafe extern "sysv64" fn replenish(context: *mut Context<'_, '_>, _: usize) -> usize {
    // SAFETY: see above.
    unsafe { (*context).reserve(0) };
    0
}

unsafe extern "sysv64" fn deeper(context: *mut Context<'_, '_>, _: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    let deep = context.deep.get_or_insert_with(|| Deep::new(Region::map(context.region, context.code.finishing)));
    if let (Level::Caller, Some(region)) = (deep.level, &deep.region) {
        (deep.caller_low, context.stack_low) = (context.stack_low, region.low());
        deep.level = Level::Region;
        return region.top();
    }
    deep.level = Level::Last;
    // SAFETY: see above.
    let cursor = unsafe {
        context.tell();
        context.input.finish(context.choice, context.output)
    };
    context.set_cursor(cursor);
    context.stack_low = 0;
    0
}

unsafe extern "sysv64" fn shallower(context: *mut Context<'_, '_>, _: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    if let Some(deep) = &mut context.deep {
        context.stack_low = deep.caller_low;
        deep.level = Level::Caller;
    }
    0
}

unsafe extern "sysv64" fn pick_within(context: *mut Context<'_, '_>, site: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    let code = context.code;
    let Site { costs, slots, .. } = &code.sites[site];
    let offered = context.offered(costs);
    // SAFETY: see above.
    let option = unsafe { context.pick(ir::Site::new(offered as u32, slots.as_ref())) };
    context.slack -= costs[option] as i64;
    option
}

unsafe extern "sysv64" fn string_within(context: *mut Context<'_, '_>, site: usize) -> usize {
    // SAFETY: see above.
    unsafe {
        let code = (*context).code;
        let Site { costs, strings, shortest, .. } = &code.sites[site];
        if (*context).offered(costs) == 0 {
            // Costs are those above the shortest string: without one, the first string costs nothing.
            (*context).put(shortest.as_deref().unwrap_or_default());
        } else {
            let option = pick_within(context, site);
            (*context).put(&strings[option]);
        }
        (*context).reserve(0);
    }
    0
}

unsafe extern "sysv64" fn copy(context: *mut Context<'_, '_>, literal: usize) -> usize {
    // SAFETY: see above.
    unsafe {
        let code = (*context).code;
        (*context).put(&code.literals[literal]);
        (*context).reserve(0);
    }
    0
}

unsafe extern "sysv64" fn copy_part(context: *mut Context<'_, '_>, _: usize) -> usize {
    // SAFETY: see above; the bytes were written, and the output that is reserved is after them.
    unsafe {
        let [from, len] = (*context).operands.map(|operand| operand as usize);
        (*context).reserve(len);
        let Context { input, output, .. } = &mut *context;
        std::ptr::copy_nonoverlapping(input.base().add(from), *output, len);
        *output = output.add(len);
        (*context).reserve(0);
    }
    0
}

unsafe extern "sysv64" fn pick_copies(context: *mut Context<'_, '_>, site: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    let code = context.code;
    let Site { costs, copies, slots, .. } = &code.sites[site];
    let (longer, slack) = (i128::from(context.operands[0]), i128::from(context.slack));
    let costs = || costs.iter().zip(copies).map(|(&cost, &copies)| i128::from(cost) + i128::from(copies) * longer);
    // The first option is always there.
    let offered = costs().take_while(|&cost| cost <= slack).count().max(1);
    // SAFETY: see above.
    let option = unsafe { context.pick(ir::Site::new(costs().len() as u32, slots.as_ref()).narrowed(offered as u32)) };
    context.slack -= costs().nth(option).unwrap_or(0) as i64;
    option
}

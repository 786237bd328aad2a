//! What a run has outside of registers, in the layout that machine code knows, and the slow paths that machine code calls.

use gramjet::rt::raw::native::{Cursor, Input};
use gramjet::rt::raw::{READ_SLOP, STORE_SLOP};
use gramjet::{Batch, Limits};

use super::code::Code;
use super::sites::Site;
use super::stack::{CALLER_STACK, FINISHING_HERE, Region};

/// A stretch of straight code reads at most this many choice bytes, and writes at most this many output bytes.
pub(super) const MARGIN: (i32, i32) = (128, 1024);

/// The context of a run. Machine code knows the first fields by their offsets. It stores the pointers and the slack there
/// before it calls a slow path, and loads them with their limits afterwards.
#[repr(C)]
pub(super) struct Context<'r, 's> {
    pub choice: *const u8,
    pub output: *mut u8,
    pub choice_limit: usize,
    pub output_limit: usize,
    pub slack: i64,
    /// Recursive functions go on elsewhere below this address of the stack.
    pub stack_low: usize,
    /// The stack pointer of the caller's stack while machine code is upon another, else 0.
    pub home: usize,
    pub doors: &'static [Door; Doors::COUNT],
    code: &'r Code,
    input: Input<'r, 's>,
    /// Bytes of stack that a deep recursion may have.
    region: usize,
    deep: Option<Box<Deep>>,
}

/// What a run has that recursed deeper than its caller's stack should bear.
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

    /// What a run of `code` must have before it begins, for a region of `region` bytes.
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

/// Where a run stands on the native stack.
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
}

impl Doors {
    pub const COUNT: usize = 6;
    pub const ALL: [Doors; Doors::COUNT] =
        [Doors::Replenish, Doors::Deeper, Doors::Shallower, Doors::PickWithin, Doors::StringWithin, Doors::Copy];

    pub fn name(self) -> &'static str {
        match self {
            Doors::Replenish => "replenish",
            Doors::Deeper => "deeper",
            Doors::Shallower => "shallower",
            Doors::PickWithin => "pick_within",
            Doors::StringWithin => "string_within",
            Doors::Copy => "copy",
        }
    }
}

static DOORS: [Door; Doors::COUNT] = [replenish, deeper, shallower, pick_within, string_within, copy];

/// Bounds that are not small enough are never reached.
#[inline(always)]
fn signed(slack: u64) -> i64 {
    i64::try_from(slack).unwrap_or(i64::MAX)
}

/// The place of `choice` or `output` up to which a stretch may begin.
#[inline(always)]
fn limit(end: usize, margin: i32, slop: usize) -> usize {
    end.saturating_sub(margin as usize + slop)
}

impl<'r, 's> Context<'r, 's> {
    /// The context of a run of `code` for `input`, which begins at `cursor`, with what [`Deep::beforehand`] gave.
    #[inline(always)]
    pub fn new(
        code: &'r Code,
        input: Input<'r, 's>,
        cursor: Cursor,
        slack: u64,
        region: usize,
        deep: Option<Box<Deep>>,
    ) -> Self {
        Context {
            choice: cursor.choice,
            output: cursor.output,
            choice_limit: limit(cursor.choice_end as usize, MARGIN.0, READ_SLOP),
            output_limit: limit(cursor.output_end as usize, MARGIN.1, STORE_SLOP),
            slack: signed(slack),
            stack_low: stack_pointer().saturating_sub(CALLER_STACK),
            home: 0,
            doors: &DOORS,
            code,
            input,
            region,
            deep,
        }
    }

    /// Ends the input; returns the number of choice bytes read.
    ///
    /// # Safety
    ///
    /// The pointers must be those that machine code left.
    #[inline(always)]
    pub unsafe fn end(&mut self, choice: *const u8, output: *mut u8) -> u64 {
        // SAFETY: machine code moved the pointers over bytes that the input reserved, and wrote all before `output`.
        unsafe { self.input.end(choice, output) }
    }

    /// Ends an input of a batch and begins the next one; if that needs a new context, returns the number of choice bytes
    /// read.
    ///
    /// # Safety
    ///
    /// The pointers must be those that machine code left.
    #[inline]
    pub unsafe fn close(
        &mut self,
        choice: *const u8,
        output: *mut u8,
        batch: &mut Batch<'_>,
        limits: Limits,
        slack: u64,
    ) -> Option<u64> {
        // SAFETY: as for `end`.
        let (goes_on, cursor) = unsafe { self.input.close(choice, output, batch, limits) };
        (self.choice, self.output) = (choice, output);
        if let Some(cursor) = cursor {
            self.set_cursor(cursor);
        }
        if goes_on {
            self.slack = signed(slack);
            return None;
        }
        // SAFETY: the pointers are those of the input's end.
        Some(unsafe { self.input.end(self.choice, self.output) })
    }

    /// How much of the stack that is kept for finishing was used, in bytes.
    #[cfg(test)]
    pub fn used_for_finishing(&self) -> usize {
        let region = self.deep.as_ref().and_then(|deep| deep.region.as_ref());
        region.map_or(0, Region::used_for_finishing)
    }

    fn set_cursor(&mut self, cursor: Cursor) {
        (self.choice, self.output) = (cursor.choice, cursor.output);
        self.choice_limit = limit(cursor.choice_end as usize, MARGIN.0, READ_SLOP);
        self.output_limit = limit(cursor.output_end as usize, MARGIN.1, STORE_SLOP);
    }

    /// Makes room for a stretch, and for writing as much.
    unsafe fn reserve(&mut self, output: usize) {
        let output = output.max(MARGIN.1 as usize);
        // SAFETY: machine code moved the pointers over reserved bytes only.
        let cursor = unsafe { self.input.replenish(self.choice, self.output, MARGIN.0 as usize, output) };
        self.set_cursor(cursor);
    }

    /// Reads the value of a site of `bits` bits, which are reserved.
    unsafe fn value(&mut self, bits: u32) -> u64 {
        let mut value = 0;
        for index in 0..bits / 8 {
            // SAFETY: as for this function.
            unsafe {
                value |= u64::from(*self.choice) << (8 * index);
                self.choice = self.choice.add(1);
            }
        }
        value
    }

    /// Decides a site of so many equally probable options, whose choice bytes are reserved.
    unsafe fn pick(&mut self, count: usize) -> usize {
        let bits = match count {
            0 | 1 => return 0,
            2..=256 => 8,
            257..=65536 => 16,
            _ => 24,
        };
        // SAFETY: as for this function.
        let value = unsafe { self.value(bits) };
        ((value * count as u64) >> bits) as usize
    }

    /// How many of these ascending costs are within the slack.
    fn offered(&self, costs: &[u64]) -> usize {
        costs.partition_point(|&cost| cost <= self.slack as u64)
    }

    /// Emits bytes of any length.
    unsafe fn put(&mut self, bytes: &[u8]) {
        // SAFETY: the bytes are reserved before they are written, and the output is nobody else's.
        unsafe {
            self.reserve(bytes.len());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.output, bytes.len());
            self.output = self.output.add(bytes.len());
        }
    }
}

/// The address of the current stack frame, nearly.
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
    let cursor = unsafe { context.input.finish(context.choice, context.output) };
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
    let option = match slots {
        Some((bits, ends)) if offered > 1 => {
            // SAFETY: see above.
            let value = unsafe { context.value(*bits) };
            // The slots of the options that are not offered are left out.
            let slot = ((value * u64::from(ends[offered - 1])) >> bits) as u32;
            ends.partition_point(|&end| end <= slot)
        }
        // SAFETY: see above.
        _ => unsafe { context.pick(offered) },
    };
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

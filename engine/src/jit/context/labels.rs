//! The slow paths for what follows from labelled parts. Each is one operation of [`Labels`], with the place in the
//! output and the slack of the run; it gets the number of a node.
//!
//! A panic does not pass through machine code: the input finishes, and ends with the panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gramjet_compiler::ir::{Ir, NodeId, Site};
use gramjet_compiler::labels::Labels;

use super::{Context, MARGIN, signed};

/// The labelled parts of the texts of a run.
pub(super) struct Labelled<'r> {
    ir: &'r Ir,
    labels: &'r mut Labels,
}

/// From this on, a slack is no limit.
const FREE: i64 = 1 << 62;

/// Returns the slack as [`Labels`] counts it.
fn counted(slack: i64) -> u64 {
    if slack >= FREE { u64::MAX } else { slack.max(0).unsigned_abs() }
}

impl<'r> Context<'r, '_> {
    /// Keeps the labelled parts of a grammar that has some.
    #[inline(always)]
    pub fn set_labels(&mut self, ir: &'r Ir, labels: Option<&'r mut Labels>) {
        self.labelled = labels.map(|labels| Labelled { ir, labels });
    }

    /// Does an operation with the slack, which also returns the slack after it. Returns its result; the default after a
    /// panic.
    fn with_labels_do<T: Default>(&mut self, call: impl FnOnce(&mut Labels, &'r Ir, u64) -> (T, u64)) -> T {
        let Some(Labelled { ir, labels }) = &mut self.labelled else { return T::default() };
        let slack = counted(self.slack);
        match catch_unwind(AssertUnwindSafe(|| call(labels, ir, slack))) {
            Ok((result, slack)) => {
                self.slack = signed(slack);
                result
            }
            Err(panic) => {
                self.labelled = None;
                // SAFETY: machine code moved the pointers over reserved bytes only.
                let cursor = unsafe {
                    self.tell();
                    self.input.stop(self.choice, self.output, panic)
                };
                self.set_cursor(cursor);
                T::default()
            }
        }
    }

    /// Does an operation that appends to the output, in which the text begins at the fourth argument. It gets the slack
    /// and returns the slack after it.
    fn append(&mut self, call: impl FnOnce(&mut Labels, &'r Ir, &mut Vec<u8>, usize, u64) -> u64) {
        // SAFETY: machine code moved the pointers over reserved bytes only.
        unsafe {
            self.tell();
            let Some(Labelled { ir, labels }) = &mut self.labelled else { return self.reserve(0) };
            let mut slack = counted(self.slack);
            let cursor = self.input.append(self.choice, self.output, MARGIN.1 as usize, |output, base| {
                slack = call(labels, ir, output, base, slack);
            });
            self.slack = signed(slack);
            if self.input.has_panicked() {
                self.labelled = None;
            }
            self.set_cursor(cursor);
        }
    }

    /// Returns the place where the text begins.
    fn begin(&self) -> *const u8 {
        let begun = self.inputs.begun.1.cast_const();
        if begun.is_null() { self.input.beginning() } else { begun }
    }

    /// Returns the length of the text so far.
    fn emitted(&self) -> u64 {
        // SAFETY: the text begins there, before the output pointer.
        unsafe { self.output.cast_const().offset_from_unsigned(self.begin()) as u64 }
    }
}

// SAFETY of all doors: as for those of `context`. The numbers are those of nodes of the grammar.

pub(super) unsafe extern "sysv64" fn emit(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    context.append(|labels, ir, output, base, slack| {
        let node = NodeId::new(node);
        if let Some(leaf) = ir.node(node).leaf() {
            labels.emit(node, leaf, output, base);
        }
        slack
    });
    0
}

pub(super) unsafe extern "sysv64" fn begin(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    let emitted = context.emitted();
    context.with_labels_do(|labels, ir, slack| (0, labels.begin(ir, NodeId::new(node), emitted, slack)))
}

pub(super) unsafe extern "sysv64" fn close(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    // SAFETY: all of the text was written, and machine code writes no more of it during the operation.
    let text = unsafe { std::slice::from_raw_parts(context.begin(), context.emitted() as usize) };
    context.with_labels_do(|labels, ir, slack| (0, labels.close(ir, NodeId::new(node), text, slack)))
}

pub(super) unsafe extern "sysv64" fn leave(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    context.append(|labels, ir, output, base, slack| labels.end(ir, NodeId::new(node), output, base, slack));
    0
}

pub(super) unsafe extern "sysv64" fn choose(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    let Some(ir) = context.labelled.as_ref().map(|labelled| labelled.ir) else { return 0 };
    let node = NodeId::new(node);
    let Some(choice) = ir.node(node).choice() else { return 0 };
    let offered = context.with_labels_do(|labels, ir, slack| (labels.offered(ir, node, choice, slack), slack));
    // SAFETY: the site is reserved.
    let option = unsafe { context.pick(choice.site().narrowed(offered.max(1))) };
    context.with_labels_do(|labels, ir, slack| ((), labels.choose(ir, choice, choice.options[option], slack)));
    option
}

pub(super) unsafe extern "sysv64" fn further(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    let node = NodeId::new(node);
    let further = context.with_labels_do(|labels, ir, slack| (labels.further(ir, node, slack), slack));
    let Some(slack) = further else { return 0 };
    // SAFETY: the site is reserved.
    let goes_on = unsafe { context.pick(Site::even(2)) };
    if goes_on == 1 {
        context.with_labels_do(|labels, ir, _| (labels.begin_round(ir, node, true), slack));
    }
    goes_on
}

pub(super) unsafe extern "sysv64" fn go_on(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    let node = NodeId::new(node);
    context.with_labels_do(|labels, ir, slack| {
        let left = labels.further(ir, node, slack);
        labels.begin_round(ir, node, true);
        (0, left.unwrap_or(slack))
    })
}

pub(super) unsafe extern "sysv64" fn round(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    context.with_labels_do(|labels, ir, slack| (labels.begin_round(ir, NodeId::new(node), false), slack));
    0
}

pub(super) unsafe extern "sysv64" fn rounds(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    context.with_labels_do(|labels, ir, slack| {
        let times = ir.node(NodeId::new(node)).times().filter(|&(item, _)| !ir.node(item).is_empty());
        let rounds = times.map_or(0, |(_, rounds)| labels.rounds(rounds));
        (u32::try_from(rounds).unwrap_or(u32::MAX) as usize, slack)
    })
}

pub(super) unsafe extern "sysv64" fn name(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    unsafe { take_name(&mut *context, NodeId::new(node), false) }
}

pub(super) unsafe extern "sysv64" fn nearest(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    unsafe { take_name(&mut *context, NodeId::new(node), true) }
}

/// Takes a name; with `is_nearest` the nearest one, without reading. Returns 1 if it is written. Makes room for a
/// stretch.
unsafe fn take_name(context: &mut Context<'_, '_>, node: NodeId, is_nearest: bool) -> usize {
    let seen = context.with_labels_do(|labels, ir, slack| (labels.names_seen(ir, node), slack));
    let number = match seen {
        0 => seen,
        _ if is_nearest => 0,
        // SAFETY: the site is reserved.
        _ => unsafe { context.pick(Site::even(seen + 1)) as u32 },
    };
    let fits = context.with_labels_do(|labels, ir, slack| (labels.name_fits(ir, (node, number), slack), slack));
    if seen == 0 || !fits {
        // SAFETY: machine code moved the pointers over reserved bytes only.
        unsafe { context.reserve(0) };
        return 0;
    }
    context.append(|labels, ir, output, base, slack| labels.take_name(ir, (node, number), slack, output, base));
    1
}

pub(super) unsafe extern "sysv64" fn settle(context: *mut Context<'_, '_>, _: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    if context.labelled.as_ref().is_some_and(|labelled| !labelled.labels.is_settled()) {
        context.append(|labels, ir, output, base, slack| {
            labels.settle(ir, output, base);
            slack
        });
    }
    context.with_labels_do(|labels, _, slack| (labels.restart(), slack));
    0
}

pub(super) unsafe extern "sysv64" fn declare(context: *mut Context<'_, '_>, node: usize) -> usize {
    // SAFETY: see above.
    let context = unsafe { &mut *context };
    let [from, len] = context.operands.map(i64::unsigned_abs);
    let from = (context.input.base() as u64 + from).saturating_sub(context.begin() as u64);
    context.with_labels_do(|labels, ir, slack| {
        if let Some(kind) = ir.node(NodeId::new(node)).naming().and_then(|(naming, _)| naming.given()) {
            labels.declare_part(*kind, (from, from + len));
        }
        (0, slack)
    })
}

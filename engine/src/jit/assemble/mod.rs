//! From residual IR to machine code: one function per residual rule, with the code of each node once in its place.
//!
//! Straight code keeps no pointer up to date. The bytes read and written since the last update of the pointers are
//! known ([`Flow`]) and become a displacement. In the same way it is known how much of the stretch that was checked
//! last is left. So a check is only needed where the stretch is used up, and where code begins that other code jumps
//! to.

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler};
use gramjet_compiler::analysis::form::{Form, Forms};
use gramjet_compiler::analysis::guards::{MAX_UNGUARDED, guarded, most_calls};
use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::analysis::runs::called_beside_chains;
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::ir::{Ir, NodeId, RuleId};
use rustc_hash::FxHashMap;

use super::NotCompiled;
use super::code::{Draft, Entries, Symbol};
use super::context::MARGIN;
use super::memory::PAGE;
use super::regs::asm;
use super::sites::Site;
use super::tables::Tables;

mod calls;
mod chains;
mod choices;
mod copies;
mod joints;
mod labels;
mod literals;
mod looks;
mod loops;
mod members;
mod narrow;
mod picks;
mod strings;
mod thunks;

use labels::Labelled;
use members::Pieces;
use thunks::Thunks;

/// The limits that code keeps; others cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KeptLimits {
    pub depth: bool,
    pub length: bool,
}

/// The features of the processor beyond the baseline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    /// `pshufb`.
    pub ssse3: bool,
    /// `andn`, `tzcnt`.
    pub bmi1: bool,
}

impl Features {
    /// Returns the features of this processor.
    pub fn detect() -> Features {
        Features {
            ssse3: std::arch::is_x86_feature_detected!("ssse3"),
            bmi1: std::arch::is_x86_feature_detected!("bmi1"),
        }
    }
}

/// The state of the pointers at a place in the code.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Distance of the next choice byte and of the next output byte ahead of their registers.
    choice: i32,
    output: i32,
    /// Bytes that are left of the stretch that was checked last.
    reads: i32,
    writes: i32,
    /// Bytes that were counted against the stretch and are not used yet.
    due: (i32, i32),
}

/// An instance that can be jumped back to.
#[derive(Clone, Copy)]
struct Scope {
    rule: RuleId,
    head: DynamicLabel,
    /// Target for an instance that is beyond the depth limit.
    beyond: DynamicLabel,
    /// The words on the stack at the head.
    stack: i32,
}

/// Code that is out of the way, after the function.
struct Cold<'g> {
    label: DynamicLabel,
    flow: Flow,
    stack: i32,
    emit: Emit<'g>,
}

type Emit<'g> = Box<dyn FnOnce(&mut Assembler<'g>) + 'g>;

pub(super) struct Assembler<'g> {
    ir: &'g Ir,
    forms: Forms<'g>,
    pools: &'g Pools,
    kept: KeptLimits,
    features: Features,
    max_code: usize,
    ops: VecAssembler<X64Relocation>,
    thunks: Thunks,
    data: Data<'g>,
    /// The code of each rule.
    rules: Vec<RuleCode>,
    frame: Frame<'g>,
    flow: Flow,
    /// The most words pushed in any function.
    most_stack: i32,
    labelled: Labelled,
}

/// The data that instructions refer to.
struct Data<'g> {
    tables: Tables,
    /// The beginning of the tables, after the instructions.
    begin: DynamicLabel,
    /// Table entries that hold the place of a label.
    jumps: Vec<(usize, DynamicLabel)>,
    sites: Vec<Site>,
    literals: Vec<Box<[u8]>>,
    /// Bytes of data for slow paths.
    slow_len: usize,
    /// The literals that slow paths copy and where they are. Looked up only, never iterated.
    known_literals: FxHashMap<&'g [u8], i32>,
    /// The tables of large classes, likewise.
    known_classes: FxHashMap<&'g CharSet, Pieces>,
}

impl Data<'_> {
    fn new(begin: DynamicLabel) -> Self {
        Data {
            tables: Tables::default(),
            begin,
            jumps: Vec::new(),
            sites: Vec::new(),
            literals: Vec::new(),
            slow_len: 0,
            known_literals: FxHashMap::default(),
            known_classes: FxHashMap::default(),
        }
    }
}

/// The code of a rule.
struct RuleCode {
    /// Whether its body stands where it is referred to.
    is_expanded: bool,
    is_guarded: bool,
    /// The beginning of its function, if it has one.
    function: Option<DynamicLabel>,
    /// The site of its pool, and the rows of its pool if they have a table.
    pool_site: Option<i32>,
    pool_rows: Option<i32>,
}

/// The function that is being emitted.
#[derive(Default)]
struct Frame<'g> {
    scopes: Vec<Scope>,
    cold: Vec<Cold<'g>>,
    /// Words pushed since the beginning of the function.
    stack: i32,
    /// Whether code here is never reached, as it follows a jump.
    is_dead: bool,
}

/// Functions begin at multiples of this.
const FUNCTION_ALIGNMENT: usize = 16;
const NOP: u8 = 0x90;
/// The tables begin at least this far after the last instruction, as the processor may fetch their bytes with the
/// instructions.
const TABLE_DISTANCE: usize = 128;
const INT3: u8 = 0xCC;

/// Assembles code that keeps these limits.
pub(super) fn assemble(
    ir: &Ir,
    pools: &Pools,
    kept: KeptLimits,
    features: Features,
    max_code: usize,
) -> Result<Draft, NotCompiled> {
    let mut ops = VecAssembler::new(0);
    let thunks = Thunks::new(&mut ops);
    let begin_of_tables = ops.new_dynamic_label();
    let (expanded, called) = (calls::expanded(ir), called_beside_chains(ir));
    let guarded = if ir.is_ordered() { guarded(ir) } else { vec![false; ir.rules().len()] };
    let code_of = |rule: RuleId| {
        let (is_expanded, is_guarded) = (expanded[rule.index()], guarded[rule.index()]);
        let has_function = ir.body(rule).is_some() && !is_expanded && called[rule.index()];
        let function = has_function.then(|| ops.new_dynamic_label());
        RuleCode { is_expanded, is_guarded, function, pool_site: None, pool_rows: None }
    };
    let rules = ir.rule_ids().map(code_of).collect();
    let mut forms = Forms::new(ir, kept.length);
    if !kept.depth && !kept.length {
        // The part after the rounds of a chain must not jump back to an instance around them.
        forms = forms.with_chains();
    }
    let mut assembler = Assembler {
        ir,
        forms,
        pools,
        kept,
        features,
        max_code,
        ops,
        thunks,
        data: Data::new(begin_of_tables),
        rules,
        frame: Frame::default(),
        flow: Flow::default(),
        most_stack: 0,
        labelled: Labelled::new(ir),
    };
    let mut symbols = Vec::new();
    for (rule, body) in ir.bodies() {
        if assembler.rules[rule.index()].function.is_none() {
            continue;
        }
        symbols.push(assembler.begin_symbol(ir.rule(rule).name.clone())?);
        assembler.function(rule, body);
    }
    assembler.shortest_functions(&mut symbols)?;
    let entries = assembler.thunks(&mut symbols);
    assembler.finish(entries, symbols, max_code)
}

impl<'g> Assembler<'g> {
    /// Assembles the option-0 derivations that are called, which are those of rules with labels.
    fn shortest_functions(&mut self, symbols: &mut Vec<Symbol>) -> Result<(), NotCompiled> {
        if self.labelled.open.is_empty() {
            return Ok(());
        }
        let homes = self.ir.homes();
        self.labelled.is_shortest = true;
        while let Some((rule, label)) = self.labelled.open.pop() {
            symbols.push(self.begin_symbol(format!("{}, shortest", self.ir.rule(rule).name))?);
            self.shortest_function(homes[rule.index()], label);
        }
        self.labelled.is_shortest = false;
        Ok(())
    }

    /// Returns the name of a function that begins here, unless the code is too large already.
    fn begin_symbol(&mut self, name: String) -> Result<Symbol, NotCompiled> {
        self.ops.align(FUNCTION_ALIGNMENT, NOP);
        if self.is_too_large() {
            return Err(NotCompiled::TooLarge { bytes: self.max_code });
        }
        Ok(Symbol { at: self.ops.offset().0, name })
    }

    fn finish(mut self, entries: Entries, symbols: Vec<Symbol>, max_code: usize) -> Result<Draft, NotCompiled> {
        if self.is_too_large() {
            return Err(NotCompiled::TooLarge { bytes: max_code });
        }
        let end = self.ops.offset().0;
        // The gap is never reached; int3 would show it.
        self.ops.extend([INT3; TABLE_DISTANCE]);
        self.ops.align(PAGE, INT3);
        let begin = self.data.begin;
        self.place(begin);
        let finishing = self.finishing();
        let target = |label: &DynamicLabel| self.ops.labels().resolve_dynamic(*label).map(|offset| offset.0);
        let jumps: Result<Vec<(usize, usize)>, _> =
            self.data.jumps.iter().map(|(place, label)| Ok((*place, target(label)?))).collect();
        // Labels are all placed and code is below 2^31 bytes, so that this fails only for code beyond the budget.
        let too_large = NotCompiled::TooLarge { bytes: max_code };
        let jumps = jumps.map_err(|_: dynasmrt::DynasmError| too_large.clone())?;
        let instructions = self.ops.take().map_err(|_| too_large.clone())?;
        if instructions.len() + self.data.tables.bytes.len() > max_code {
            return Err(too_large);
        }
        let keeps_labels = self.ir.has_labels() && !self.labelled.copies.are_all();
        Ok(Draft {
            instructions,
            end,
            entries,
            tables: self.data.tables.finish(),
            jumps,
            symbols,
            sites: self.data.sites,
            literals: self.data.literals,
            finishing,
            keeps_labels,
        })
    }

    /// Returns true if the code will be refused: then nothing more is added to it.
    fn is_too_large(&self) -> bool {
        self.ops.offset().0.saturating_add(self.data.tables.bytes.len()).saturating_add(self.data.slow_len)
            > self.max_code
    }

    /// Returns the most by which the stack grows below the bound that guards compare with.
    ///
    /// A frame has the words that a function pushes and the address that a call from it pushes. The last function whose
    /// guard found the stack pointer at the bound or above has a frame. So have the functions without a guard that it
    /// leads to, of which at most [`MAX_UNGUARDED`] follow each other. The next guard finds the pointer below the
    /// bound, so every site takes option 0 from there on. Whatever is pending in any of the frames, up to the first, is
    /// now derived with the lowest height. Each call leads to a rule of less height than its caller's, so at most as
    /// many frames as the height of a rule, and one, are on top of each other. The innermost may call a thunk.
    ///
    /// Where a depth limit is unfolded, nothing recurses and there are no guards: these are all frames that there may
    /// be.
    fn finishing(&self) -> usize {
        let frames = if self.ir.is_ordered() {
            let rules = self.ir.bodies().map(|(rule, _)| self.ir.rule(rule));
            let height = rules.map(|rule| rule.facts.height as usize).max().unwrap_or(0);
            1 + MAX_UNGUARDED + height + 1
        } else {
            most_calls(self.ir) + 1
        };
        frames.saturating_mul(8 * (self.most_stack as usize + 1)).saturating_add(thunks::STACK)
    }

    fn label(&mut self) -> DynamicLabel {
        self.ops.new_dynamic_label()
    }

    /// Places a label here.
    fn place(&mut self, label: DynamicLabel) {
        self.frame.is_dead = false;
        self.flow.due = (0, 0);
        let ops = &mut self.ops;
        asm!(ops ; =>label);
    }

    fn jump(&mut self, label: DynamicLabel) {
        let ops = &mut self.ops;
        asm!(ops ; jmp =>label);
    }

    /// Keeps code that is emitted later, with the present state; the label is its beginning.
    fn cold(&mut self, emit: impl FnOnce(&mut Assembler<'g>) + 'g) -> DynamicLabel {
        let label = self.label();
        self.frame.cold.push(Cold { label, flow: self.flow, stack: self.frame.stack, emit: Box::new(emit) });
        label
    }

    /// Keeps code that is emitted later, at a label that is there already, with the state `flow`.
    fn cold_at(&mut self, label: DynamicLabel, flow: Flow, emit: impl FnOnce(&mut Assembler<'g>) + 'g) {
        self.frame.cold.push(Cold { label, flow, stack: self.frame.stack, emit: Box::new(emit) });
    }

    /// Goes back from cold code to where `flow` is known.
    fn resume(&mut self, back: DynamicLabel, flow: Flow) {
        self.flush();
        if self.flow.reads < flow.reads || self.flow.writes < flow.writes {
            self.check();
        }
        self.jump(back);
    }

    /// Moves the pointers to where they ought to be. Keeps the processor's flags.
    fn flush(&mut self) {
        if self.frame.is_dead {
            (self.flow.choice, self.flow.output) = (0, 0);
            return;
        }
        let Flow { choice: read, output: written, .. } = self.flow;
        let ops = &mut self.ops;
        match read {
            0 => {}
            -128..128 => asm!(ops ; lea choice, [BYTE choice + read as i8]),
            _ => asm!(ops ; lea choice, [choice + read]),
        }
        match written {
            0 => {}
            -128..128 => asm!(ops ; lea output, [BYTE output + written as i8]),
            _ => asm!(ops ; lea output, [output + written]),
        }
        (self.flow.choice, self.flow.output) = (0, 0);
    }

    /// Makes sure that `reads` choice bytes may be read and `writes` output bytes be written from here on. Keeps rax.
    fn need(&mut self, reads: i32, writes: i32) {
        debug_assert!(reads <= MARGIN.0 && writes <= MARGIN.1);
        if self.flow.reads < reads || self.flow.writes < writes {
            self.check();
        }
        self.flow.reads -= reads;
        self.flow.writes -= writes;
        self.flow.due.0 += reads;
        self.flow.due.1 += writes;
    }

    /// Records the most bytes that the instructions here read and write: no more than was counted since the last check.
    fn used(&mut self, reads: i32, writes: i32) {
        let due = &mut self.flow.due;
        debug_assert!(reads <= due.0 && writes <= due.1, "{reads} and {writes} bytes are used of {due:?} counted");
        due.0 -= reads;
        due.1 -= writes;
    }

    /// Begins a stretch here.
    fn begin_stretch(&mut self) {
        (self.flow.reads, self.flow.writes) = MARGIN;
        self.flow.due = (0, 0);
    }

    /// Makes sure that a stretch may begin here. Keeps rax.
    fn check(&mut self) {
        self.flush();
        let (slow, back) = (self.label(), self.label());
        let ops = &mut self.ops;
        asm!(ops
            ; cmp choice, choice_limit
            ; ja =>slow
            ; cmp output, output_limit
            ; ja =>slow
            ; =>back
        );
        let replenish = self.thunks.replenish;
        self.cold_at(slow, self.flow, move |assembler| {
            let ops = &mut assembler.ops;
            asm!(ops ; call =>replenish ; jmp =>back);
        });
        self.begin_stretch();
    }

    /// Takes the state where code arrives from here and from a place with `other`; both must have flushed.
    fn join(&mut self, other: Flow) {
        debug_assert_eq!((self.flow.choice, self.flow.output, other.choice, other.output), (0, 0, 0, 0));
        self.flow.reads = self.flow.reads.min(other.reads);
        self.flow.writes = self.flow.writes.min(other.writes);
        self.flow.due = (self.flow.due.0.min(other.due.0), self.flow.due.1.min(other.due.1));
    }

    fn pushed(&mut self, words: i32) {
        self.frame.stack += words;
        self.most_stack = self.most_stack.max(self.frame.stack);
    }

    fn push_depth(&mut self) {
        let ops = &mut self.ops;
        asm!(ops ; push depth);
        self.pushed(1);
    }

    fn pop_depth(&mut self) {
        let ops = &mut self.ops;
        asm!(ops ; pop depth);
        self.frame.stack -= 1;
    }

    /// Takes a level or more from the depth; leaves the sign in the processor's flags.
    fn take_depth(&mut self, levels: i32) {
        let ops = &mut self.ops;
        match levels {
            -128..128 => asm!(ops ; sub depth, BYTE levels as i8),
            _ => asm!(ops ; sub depth, levels),
        }
    }

    fn give_depth(&mut self, levels: i32) {
        let ops = &mut self.ops;
        match levels {
            -128..128 => asm!(ops ; add depth, BYTE levels as i8),
            _ => asm!(ops ; add depth, levels),
        }
    }

    /// Jumps to `beyond` if an instance that stands `levels` below the depth register is beyond the limit.
    fn jump_if_beyond(&mut self, levels: i32, beyond: DynamicLabel) {
        let ops = &mut self.ops;
        asm!(ops ; cmp depth, levels ; jl =>beyond);
    }

    /// Emits a node that stands `offset` instances below what the depth register counts from.
    fn node(&mut self, node: NodeId, offset: i32) {
        if self.is_too_large() {
            return;
        }
        if self.labelled.is_shortest {
            return self.first(node);
        }
        let form = match self.instance(node) {
            Some((rule, body)) => self.forms.of_instance(rule, body),
            None => self.forms.of(node),
        };
        match form {
            Form::Literal(bytes) => self.bytes(bytes),
            Form::Strings(strings) => self.strings(&strings, None),
            Form::Member(set) => self.member(set),
            Form::Nested(nested) => self.nested(&nested),
            Form::Chain(chain) => self.chain(chain, offset),
            Form::Branches(choice) => self.choice(node, choice, offset),
            Form::Sequence(items) => items.iter().for_each(|&item| self.node(item, offset)),
            Form::Repetition(_) if self.is_open(node) => self.open_rounds(node, offset),
            Form::Repetition(repetition) => self.repeat(repetition, offset),
            Form::Call(rule) => self.reference(rule, offset),
            Form::Instance(rule, body) => self.inlined(rule, body, offset),
            Form::Loop(rule, body, run) => self.tail_loop(rule, body, run, offset),
            Form::JumpBack(rule) => self.jump_back(rule, offset),
            Form::Labels(_) => self.with_labels(node, offset),
        }
    }
}

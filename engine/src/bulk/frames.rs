//! A grammar as a machine with a stack of *frames*. A frame leads to text, other frames, or a choice among options with
//! probabilities.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gramjet_compiler::Compiled;
use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::analysis::recursion::recursion;
use gramjet_compiler::ir::{Choice, Composition, Ir, NodeId, RuleId};

use rustc_hash::FxHashMap;

use super::classes::{self, ByteSet, Codes};

/// Something still to be derived: a place in the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Frame {
    /// A text (see [`Grammar::text`]) from a byte on.
    Text { text: u32, from: u32 },
    /// A node.
    Node(NodeId),
    /// The items of a sequence from one on.
    Rest { seq: NodeId, at: u32 },
    /// Rounds of a repetition that are derived in any case.
    Exactly { repeat: NodeId, left: u32 },
    /// Rounds of a repetition that may end before each; [`UNBOUNDED`] has no bound.
    Rounds { repeat: NodeId, left: u32 },
    /// A string of a rule's pool.
    Pool(RuleId),
    /// A byte of a set.
    Set(u32),
    /// The end of an input; the next one follows.
    End,
}

/// Rounds without a bound.
pub(crate) const UNBOUNDED: u32 = u32::MAX;
/// Bounds on rounds that may end before each are kept by this one: more rounds have a probability below 2^-128.
const MAX_ROUNDS: u32 = 128;

/// Depth of the instance that a frame belongs to: the depth left below the limit plus one, so that 0 is an instance
/// beyond the limit. [`Depth::ANY`] where the limit cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Depth(u32);

/// A depth of which only a least value is known is counted down from here.
const FREE: u32 = 1 << 24;

impl Depth {
    /// No limit matters any more.
    pub(crate) const ANY: Depth = Depth(u32::MAX);
    /// At least as much as there are zones.
    pub(crate) const MUCH: Depth = Depth(FREE);

    /// Returns a depth of which exactly this is left.
    pub(crate) fn exactly(left: u32) -> Depth {
        debug_assert!(left < FREE / 2);
        Depth(left)
    }

    /// Returns how much less this is than `base`, which must be of the same kind; `None` if no limit matters.
    pub(crate) fn below(self, base: Depth) -> Option<u32> {
        (self != Depth::ANY).then(|| base.0 - self.0)
    }

    /// Returns the depth with this much less left.
    pub(crate) fn less(self, by: u32) -> Depth {
        if self == Depth::ANY { self } else { Depth(self.0 - by) }
    }

    /// Returns the least depth left; 0 if none is known.
    fn at_least(self, zones: u32) -> u32 {
        match self.0 {
            left if left < FREE / 2 => left,
            u32::MAX => u32::MAX,
            left => zones.saturating_sub(FREE - left),
        }
    }

    fn is_exact(self) -> bool {
        self.0 < FREE / 2
    }
}

/// A frame and its depth.
pub(crate) type Item = (Frame, Depth);

/// Options with their probabilities.
pub(crate) type Options = Arc<[(f64, Arc<[Item]>)]>;

/// The next step of a frame.
pub(crate) enum Step {
    /// This text, whole.
    Text(u32, u32),
    /// These frames in its place, the first one first.
    Push([Option<Item>; 2]),
    /// These frames in its place.
    PushAll(Arc<[Item]>),
    /// A choice: see [`Grammar::options`].
    Choice,
    /// The end of an input.
    End,
    /// Step that depends on the depth left, which is not known here.
    Unknown,
}

/// The grammar and the data for its frames.
pub(crate) struct Grammar {
    ir: Arc<Ir>,
    pools: Pools,
    max_depth: Option<u32>,
    /// For each node, the depth left at an instance with which no limit is reached.
    needs: Vec<u32>,
    codes: Codes,
    /// For choices of which several options are one byte each and have a code: those bytes, and the other options.
    byte_options: FxHashMap<NodeId, (ByteSet, Box<[usize]>)>,
    /// For each rule the options of its pool, filled in when they are asked for.
    pool_options: Mutex<FxHashMap<RuleId, Options>>,
    /// The options of other choices, by the least depth left where it is only known to be much.
    known_options: Mutex<FxHashMap<(Item, u32), Options>>,
    tables: Mutex<Interned>,
}

#[derive(Default)]
struct Interned {
    texts: Vec<Arc<[u8]>>,
    text_ids: FxHashMap<Arc<[u8]>, u32>,
    sets: Vec<ByteSet>,
    set_ids: BTreeMap<ByteSet, u32>,
    /// For long sequences, the need of the items from each one on.
    suffixes: FxHashMap<NodeId, Box<[u32]>>,
}

impl Grammar {
    /// Returns a view of a compiled grammar with a depth limit or without; `texts` are others that come into the
    /// output.
    pub(crate) fn new(compiled: &Compiled, max_depth: Option<u32>, texts: &[&[u8]]) -> Grammar {
        let (ir, pools) = (compiled.lowered.clone(), compiled.pools.clone());
        let codes = Codes::choose(&ir, &pools, max_depth.is_some(), texts);
        let nodes = (0..ir.node_count()).map(NodeId::new);
        let byte_options = nodes
            .filter_map(|node| Some((node, classes::byte_options(&ir, node)?)))
            .filter(|(_, (set, _))| codes.code(set).is_some())
            .collect();
        let needs = if max_depth.is_some() { needs(&ir) } else { vec![0; ir.node_count()] };
        Grammar {
            ir,
            pools,
            max_depth,
            needs,
            codes,
            byte_options,
            pool_options: Mutex::default(),
            known_options: Mutex::default(),
            tables: Mutex::default(),
        }
    }

    fn tables(&self) -> MutexGuard<'_, Interned> {
        // No change is left half done while this lock is held.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn node_count(&self) -> usize {
        self.ir.node_count()
    }

    pub(crate) fn codes(&self) -> &Codes {
        &self.codes
    }

    /// Returns the depth of the start rule's instance.
    pub(crate) fn start_depth(&self) -> Option<u32> {
        self.max_depth.map(|max_depth| max_depth + 1)
    }

    /// Returns the frame of the start rule.
    pub(crate) fn start(&self, depth: Depth, zones: u32) -> Item {
        let body = self.ir.body(self.ir.start()).expect("the start rule has a body");
        self.settle(Frame::Node(body), depth, zones)
    }

    /// Returns a text by its number.
    pub(crate) fn text(&self, text: u32) -> Arc<[u8]> {
        Arc::clone(&self.tables().texts[text as usize])
    }

    fn intern(&self, text: &[u8]) -> u32 {
        let mut tables = self.tables();
        if let Some(&id) = tables.text_ids.get(text) {
            return id;
        }
        let id = tables.texts.len() as u32;
        let text: Arc<[u8]> = text.into();
        tables.texts.push(Arc::clone(&text));
        tables.text_ids.insert(text, id);
        id
    }

    /// Returns the frame that draws a byte of a set.
    fn set(&self, set: ByteSet) -> Item {
        if set.len() == 1 {
            let text = self.intern(&set.iter().collect::<Vec<u8>>());
            return (Frame::Text { text, from: 0 }, Depth::ANY);
        }
        if let Some(code) = self.codes.code(&set) {
            return (Frame::Text { text: self.intern(&[code]), from: 0 }, Depth::ANY);
        }
        let mut tables = self.tables();
        let next = tables.sets.len() as u32;
        let id = *tables.set_ids.entry(set).or_insert(next);
        if id == next {
            tables.sets.push(set);
        }
        (Frame::Set(id), Depth::ANY)
    }

    /// Returns the frames of a product; neighbouring bytes that need no choice are one text.
    fn product(&self, product: &[ByteSet]) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        let mut text: Vec<u8> = Vec::new();
        for set in product {
            match if set.len() == 1 { set.iter().next() } else { self.codes.code(set) } {
                Some(byte) => text.push(byte),
                None => {
                    if !text.is_empty() {
                        items.push((Frame::Text { text: self.intern(&text), from: 0 }, Depth::ANY));
                        text.clear();
                    }
                    items.push(self.set(*set));
                }
            }
        }
        if !text.is_empty() {
            items.push((Frame::Text { text: self.intern(&text), from: 0 }, Depth::ANY));
        }
        items
    }

    /// Returns the frame with its depth, or [`Depth::ANY`] if the depth left suffices for all derivations of the frame.
    fn settle(&self, frame: Frame, depth: Depth, zones: u32) -> Item {
        if depth == Depth::ANY || self.max_depth.is_none() {
            return (frame, Depth::ANY);
        }
        let need = match frame {
            Frame::Node(node) => self.needs[node.index()],
            Frame::Rest { seq, at } => self.suffix_need(seq, at),
            Frame::Exactly { repeat, .. } | Frame::Rounds { repeat, .. } => self.needs[repeat.index()],
            Frame::Text { .. } | Frame::Pool(_) | Frame::Set(_) | Frame::End => 0,
        };
        (frame, if need <= depth.at_least(zones) { Depth::ANY } else { depth })
    }

    /// Returns the same item where more may be known about the depth left.
    pub(crate) fn settled(&self, (frame, depth): Item, zones: u32) -> Item {
        self.settle(frame, depth, zones)
    }

    fn suffix_need(&self, seq: NodeId, at: u32) -> u32 {
        let mut tables = self.tables();
        let suffixes = tables.suffixes.entry(seq).or_insert_with(|| {
            let mut need = 0;
            let mut suffixes: Vec<u32> = self
                .ir
                .children(seq)
                .iter()
                .rev()
                .map(|child| {
                    need = need.max(self.needs[child.index()]);
                    need
                })
                .collect();
            suffixes.reverse();
            suffixes.into()
        });
        suffixes[at as usize]
    }

    /// Returns the next step of a frame. `zones`: the least depth left where it is only known to be much.
    pub(crate) fn step(&self, (frame, depth): Item, zones: u32) -> Step {
        let one = |frame, depth| Step::Push([Some(self.settle(frame, depth, zones)), None]);
        match frame {
            Frame::Text { text, from } => Step::Text(text, from),
            Frame::End => Step::End,
            Frame::Rest { seq, at } => {
                let items = self.ir.children(seq);
                let first = self.settle(Frame::Node(items[at as usize]), depth, zones);
                let rest =
                    (at as usize + 1 < items.len()).then(|| self.settle(Frame::Rest { seq, at: at + 1 }, depth, zones));
                Step::Push([Some(first), rest])
            }
            Frame::Exactly { repeat, left: 1 } => one(Frame::Node(self.item_of(repeat)), depth),
            // In halves, so that there are few different numbers of rounds.
            Frame::Exactly { repeat, left } => {
                let half = |left| Some(self.settle(Frame::Exactly { repeat, left }, depth, zones));
                Step::Push([half(left / 2), half(left - left / 2)])
            }
            Frame::Rounds { .. } => Step::Choice,
            Frame::Set(_) => Step::Choice,
            Frame::Pool(rule) => match &*self.pool_options(rule) {
                [(_, items)] => Step::PushAll(Arc::clone(items)),
                _ => Step::Choice,
            },
            Frame::Node(node) => match self.ir.node(node).composition() {
                Composition::Bytes([]) => Step::Push([None, None]),
                Composition::Bytes(bytes) => Step::Text(self.intern(bytes), 0),
                Composition::All(_) => one(Frame::Rest { seq: node, at: 0 }, depth),
                Composition::One(choice) => match self.split(node, choice) {
                    (Some((_, set)), Some([])) => Step::Push([Some(self.set(set)), None]),
                    _ => Step::Choice,
                },
                Composition::Class(set) => match &*classes::products(set) {
                    [(_, product)] => Step::PushAll(self.product(product).into()),
                    _ => Step::Choice,
                },
                Composition::Rounds { min, max, .. } => {
                    let left = max.map_or(UNBOUNDED, |max| (max - min).min(MAX_ROUNDS));
                    let rounds = (left > 0).then_some(Frame::Rounds { repeat: node, left });
                    let exactly = (min > 0).then_some(Frame::Exactly { repeat: node, left: min });
                    let item = |frame| self.settle(frame, depth, zones);
                    match exactly {
                        Some(exactly) => Step::Push([Some(item(exactly)), rounds.map(item)]),
                        None => Step::Push([rounds.map(item), None]),
                    }
                }
                // Refused before.
                Composition::Derived(_)
                | Composition::Times { .. }
                | Composition::Label(..)
                | Composition::Scope(_)
                | Composition::Naming(..)
                | Composition::Coded(..) => Step::Push([None, None]),
                Composition::Instance(rule, _) if depth == Depth::ANY => one(Frame::Node(self.body(rule)), depth),
                Composition::Instance(rule, _) => {
                    let instance = depth.less(1);
                    match instance.at_least(zones) {
                        0 if instance.is_exact() => Step::Push([Some((Frame::Pool(rule), Depth::ANY)), None]),
                        0 => Step::Unknown,
                        _ => one(Frame::Node(self.body(rule)), instance),
                    }
                }
            },
        }
    }

    /// Returns the options of a choice that are one byte each and equally probable, as a set with their probability, if
    /// it is drawn by a code; and the numbers of the others, if they are not all.
    fn split(&self, node: NodeId, choice: &Choice) -> (Option<(f64, ByteSet)>, Option<&[usize]>) {
        match self.byte_options.get(&node) {
            Some((set, others)) => (Some((set.len() as f64 / choice.options.len() as f64, *set)), Some(others)),
            None => (None, None),
        }
    }

    /// Returns the strings of a rule's pool: those of a length together if they are a product of sets.
    fn pool_options(&self, rule: RuleId) -> Options {
        let mut known = self.pool_options.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(options) = known.get(&rule) {
            return Arc::clone(options);
        }
        let strings = &self.pools.get(rule).expect("with a depth limit all rules have pools").strings;
        let share = 1.0 / strings.len() as f64;
        let mut options = Vec::new();
        for same_len in strings.chunk_by(|a, b| a.len() == b.len()) {
            match classes::product_of(same_len) {
                Some(product) => options.push((share * same_len.len() as f64, self.product(&product).into())),
                None => options.extend(same_len.iter().map(|string| (share, self.literal(string).into()))),
            }
        }
        let options: Options = options.into();
        known.insert(rule, Arc::clone(&options));
        options
    }

    /// Returns the frames of bytes.
    fn literal(&self, bytes: &[u8]) -> Vec<Item> {
        match bytes {
            [] => Vec::new(),
            bytes => {
                debug_assert!(self.codes.sets().all(|(_, code)| !bytes.contains(&code)), "a literal with a code");
                vec![(Frame::Text { text: self.intern(bytes), from: 0 }, Depth::ANY)]
            }
        }
    }

    fn body(&self, rule: RuleId) -> NodeId {
        self.ir.body(rule).expect("a rule that is referred to has a body")
    }

    fn item_of(&self, repeat: NodeId) -> NodeId {
        self.ir.children(repeat)[0]
    }

    /// Returns the options of a frame that is a choice, with their probabilities.
    pub(crate) fn options(&self, item: Item, zones: u32) -> Options {
        if let Frame::Pool(rule) = item.0 {
            return self.pool_options(rule);
        }
        let known = || self.known_options.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(options) = known().get(&(item, zones)) {
            return Arc::clone(options);
        }
        let options: Options =
            self.make_options(item, zones).into_iter().map(|(share, items)| (share, items.into())).collect();
        known().insert((item, zones), Arc::clone(&options));
        options
    }

    fn make_options(&self, (frame, depth): Item, zones: u32) -> Vec<(f64, Vec<Item>)> {
        match frame {
            Frame::Rounds { repeat, left } => {
                let mut more = vec![self.settle(Frame::Node(self.item_of(repeat)), depth, zones)];
                match left {
                    1 => {}
                    UNBOUNDED => more.push((frame, depth)),
                    _ => more.push(self.settle(Frame::Rounds { repeat, left: left - 1 }, depth, zones)),
                }
                vec![(0.5, Vec::new()), (0.5, more)]
            }
            Frame::Set(set) => {
                let set = self.tables().sets[set as usize];
                set.iter().map(|byte| (1.0 / set.len() as f64, self.literal(&[byte]))).collect()
            }
            Frame::Node(node) => match self.ir.node(node).composition() {
                Composition::One(choice) => {
                    let (set, others) = self.split(node, choice);
                    let item = |index: usize| self.settle(Frame::Node(choice.options[index]), depth, zones);
                    let option = |index: usize| (choice.share(index), vec![item(index)]);
                    let set = set.map(|(share, set)| (share, vec![self.set(set)]));
                    match others {
                        Some(others) => others.iter().map(|&index| option(index)).chain(set).collect(),
                        None => (0..choice.options.len()).map(option).collect(),
                    }
                }
                Composition::Class(set) => {
                    let total = f64::from(set.len());
                    classes::products(set)
                        .iter()
                        .map(|(strings, product)| (strings / total, self.product(product)))
                        .collect()
                }
                Composition::Bytes(_)
                | Composition::Instance(..)
                | Composition::All(_)
                | Composition::Rounds { .. } => unreachable!("not a choice"),
                Composition::Derived(_)
                | Composition::Times { .. }
                | Composition::Label(..)
                | Composition::Scope(_)
                | Composition::Naming(..)
                | Composition::Coded(..) => {
                    unreachable!("not a choice")
                }
            },
            _ => unreachable!("not a choice"),
        }
    }

    /// Returns how many options a frame that is a choice has.
    pub(crate) fn option_count(&self, frame: Frame) -> usize {
        match frame {
            Frame::Rounds { .. } => 2,
            Frame::Set(set) => self.tables().sets[set as usize].len(),
            Frame::Pool(rule) => self.pool_options(rule).len(),
            Frame::Node(node) => match self.ir.node(node).composition() {
                Composition::One(choice) => {
                    self.split(node, choice).1.map_or(choice.options.len(), |others| others.len() + 1)
                }
                Composition::Class(set) => classes::products(set).len(),
                Composition::Bytes(_)
                | Composition::Instance(..)
                | Composition::All(_)
                | Composition::Rounds { .. } => 1,
                Composition::Derived(_)
                | Composition::Times { .. }
                | Composition::Label(..)
                | Composition::Scope(_)
                | Composition::Naming(..)
                | Composition::Coded(..) => 1,
            },
            _ => 1,
        }
    }

    /// Drops data that only serves while tables are made.
    pub(crate) fn forget_options(&mut self) {
        self.known_options = Mutex::default();
    }

    /// Returns option 0 of a frame that is a choice: it leads to a shortest text.
    fn first_option(&self, (frame, depth): Item) -> Arc<[Item]> {
        if let Frame::Node(node) = frame
            && let Some(choice) = self.ir.node(node).choice()
        {
            return [self.settle(Frame::Node(choice.options[0]), depth, 0)].into();
        }
        // Rounds end with the first, sets and products ascend.
        match frame {
            Frame::Pool(rule) => Arc::clone(&self.pool_options(rule)[0].1),
            _ => self.make_options((frame, depth), 0).swap_remove(0).1.into(),
        }
    }

    /// Appends the shortest text that `items` derive (design, choice map, item 5). It completes an input that has grown
    /// beyond its bound.
    pub(crate) fn finish(&self, items: &[Item], output: &mut Vec<u8>) {
        let mut stack: Vec<Item> = items.iter().rev().copied().collect();
        while let Some(item) = stack.pop() {
            match self.step(item, 0) {
                Step::Text(text, from) => {
                    output.extend_from_slice(&self.tables().texts[text as usize][from as usize..]);
                }
                Step::Push(items) => stack.extend(items.into_iter().flatten().rev()),
                Step::PushAll(items) => stack.extend(items.iter().rev()),
                Step::Choice => stack.extend(self.first_option(item).iter().rev()),
                Step::End => return,
                Step::Unknown => unreachable!("depths are exact when inputs run"),
            }
        }
    }
}

/// Returns for each node the depth left at its instance with which it reaches no limit, whatever it derives.
fn needs(ir: &Ir) -> Vec<u32> {
    let recursion = recursion(ir);
    let mut needs = vec![0u32; ir.node_count()];
    let mut rules = vec![u32::MAX; ir.rules().len()];
    // Children stand before their parents, but rules in any order: bodies of rules that are referred to first.
    let mut stack: Vec<(NodeId, bool)> = Vec::new();
    for &rule in recursion.bottom_up() {
        let Some(body) = ir.body(rule) else { continue };
        stack.push((body, false));
        while let Some((node, done)) = stack.pop() {
            if !done {
                stack.push((node, true));
                stack.extend(ir.children(node).iter().map(|&child| (child, false)));
                continue;
            }
            let children = ir.children(node).iter().map(|child| needs[child.index()]).max().unwrap_or(0);
            needs[node.index()] = match ir.node(node).instance() {
                // The instance is one deeper, and it must be within the limit.
                Some(rule) => rules[rule.index()].max(1).saturating_add(1),
                None => children,
            };
        }
        rules[rule.index()] = if recursion.is_recursive(rule) { u32::MAX } else { needs[body.index()] };
    }
    needs
}

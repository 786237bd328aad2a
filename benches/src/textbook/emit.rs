//! The emitter: flat rules to Rust text that calls the package's `textbook_runtime`.

use std::fmt::Write as _;

use gramjet_compiler::ast::Grammar;
use gramjet_compiler::charset::CharSet;

use super::flat::{Body, Flat, Item};
use super::pools::pools;

/// Returns the textbook producer of a grammar: a Rust module `module_name` with one function
/// `produce(session, max_depth, output)`, which appends one input to `output`.
///
/// # Errors
///
/// Says what is wrong with the grammar; see [`Flat::new`].
pub fn emit(grammar: &Grammar, module_name: &str) -> Result<String, String> {
    let flat = Flat::new(grammar)?;
    let mut emitter = Emitter { pools: pools(&flat), flat: &flat, text: String::new() };
    emitter.module(module_name);
    Ok(emitter.text)
}

/// Returns how many of the values of a choice select each of `count` options: 256 values in all, or 65536 if there are
/// more options than that.
pub fn option_slots(count: usize, weights: Option<&[f64]>) -> Vec<u32> {
    let values = if count <= 256 { 256 } else { 65536 };
    let behind = |option: usize| (option as u64 * u64::from(values)).div_ceil(count as u64);
    let even = || (0..count).map(|option| (behind(option + 1) - behind(option)) as u32).collect();
    weights.and_then(|weights| largest_remainder(weights, values)).unwrap_or_else(even)
}

/// Shares `values` among the weights in proportion, at least one for each; `None` if there are too few.
fn largest_remainder(weights: &[f64], values: u32) -> Option<Vec<u32>> {
    let total: f64 = weights.iter().sum();
    let exact: Vec<f64> = weights.iter().map(|weight| weight / total * f64::from(values)).collect();
    let mut slots: Vec<u32> = exact.iter().map(|exact| (exact.floor() as u32).max(1)).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    let lacks = |slots: &[u32], index: usize| exact[index] - f64::from(slots[index]);
    while slots.iter().sum::<u32>() != values {
        let too_many = slots.iter().sum::<u32>() > values;
        order.sort_by(|&a, &b| lacks(&slots, b).total_cmp(&lacks(&slots, a)).then(a.cmp(&b)));
        if too_many {
            let richest = order.iter().rev().copied().find(|&index| slots[index] > 1)?;
            slots[richest] -= 1;
        } else {
            slots[order[0]] += 1;
        }
    }
    Some(slots)
}

struct Emitter<'a> {
    flat: &'a Flat,
    pools: Vec<Vec<Vec<u8>>>,
    text: String,
}

impl Emitter<'_> {
    fn line(&mut self, indent: usize, line: &str) {
        self.text.extend(std::iter::repeat_n("    ", indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn module(&mut self, name: &str) {
        self.line(0, "// Written by `textbook::emit`; see there.");
        // One proof for all blocks: the text calls the runtime only as the contract of `Session::run` asks, with the
        // bounds computed below.
        self.line(0, "#[allow(warnings, clippy::all, clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]");
        self.line(0, &format!("pub mod {name} {{"));
        self.line(1, "use gramjet_benches::textbook_runtime::*;");
        self.line(1, "use gramjet_benches::{choose, choose_wide};");
        self.line(1, "use std::ptr::copy_nonoverlapping;");
        self.line(1, "/// Appends one input to `output`.");
        self.line(1, "#[inline]");
        self.line(1, "pub fn produce(session: &mut Session, max_depth: u32, output: &mut Vec<u8>) {");
        let bounds =
            format!("Bounds {{ per_choice: {}, per_level: {} }}", self.bytes_per_choice(), self.bytes_per_level());
        let start = self.call(0);
        self.line(2, &format!("static BOUNDS: Bounds = {bounds};"));
        self.line(2, "// SAFETY: the functions below write through `out` alone, and no more than BOUNDS says.");
        self.line(2, "unsafe { session.run(output, max_depth, &BOUNDS, |mut out| {");
        self.line(3, "let left = max_depth as i32 + 1;");
        self.line(3, &start);
        self.line(3, "out");
        self.line(2, "}) }");
        self.line(1, "}");
        for rule in 0..self.flat.rules.len() {
            self.rule(rule);
        }
        self.line(0, "}");
    }

    /// Writes the function of a rule. `left` is the number of levels that are left for the rule itself.
    fn rule(&mut self, rule: usize) {
        let flat = self.flat;
        let name = self.function(rule);
        self.line(1, &format!("unsafe fn {name}(mut out: *mut u8, left: i32) -> *mut u8 {{"));
        if flat.rules[rule].counted {
            self.line(2, "if left < 0 {");
            self.pool(rule);
            self.line(3, "return out;");
            self.line(2, "}");
        }
        match &flat.rules[rule].body {
            Body::Alternatives { sequences, weights } => {
                let options: Vec<String> = sequences.iter().map(|items| self.sequence(items)).collect();
                self.options(&options, weights.as_deref());
            }
            Body::Class(set) if set.len() <= 256 => {
                let members = set.iter().map(|member| write_bytes(set.encode(member).as_ref())).collect::<Vec<_>>();
                self.options(&members, None);
            }
            Body::Class(set) => self.wide_class(set),
            Body::Repeat { item, min, max } => {
                let round = self.sequence(item);
                self.line(2, &format!("for _ in 0..{min} {{ {round} }}"));
                let head = match max {
                    Some(max) => format!("for _ in {min}..{}", max.max(min)),
                    None => "loop".to_string(),
                };
                self.line(2, &format!("{head} {{ if choose!(out, 2) == 0 {{ break; }} {round} }}"));
            }
        }
        self.line(2, "out");
        self.line(1, "}");
    }

    fn pool(&mut self, rule: usize) {
        let pool = &self.pools[rule];
        let strings: Vec<String> = pool.iter().map(|string| byte_string(string)).collect();
        let count = pool.len();
        let same_length = pool.iter().all(|string| string.len() == pool[0].len());
        let lines = match count {
            0 => vec![],
            1 => vec![write_bytes(&pool[0])],
            _ if same_length => vec![
                format!("static POOL: [[u8; {}]; {count}] = [*{}];", pool[0].len(), strings.join(", *")),
                format!("let string = POOL.get_unchecked(choose!(out, {count}) as usize);"),
                format!("copy_nonoverlapping(string.as_ptr(), out, {0}); out = out.add({0});", pool[0].len()),
            ],
            _ => vec![
                format!("static POOL: [&[u8]; {count}] = [{}];", strings.join(", ")),
                format!("let string = POOL.get_unchecked(choose!(out, {count}) as usize);"),
                "copy_nonoverlapping(string.as_ptr(), out, string.len()); out = out.add(string.len());".to_string(),
            ],
        };
        for line in lines {
            self.line(3, &line);
        }
    }

    /// Writes a choice among options, given their texts.
    fn options(&mut self, options: &[String], weights: Option<&[f64]>) {
        let count = options.len();
        if let [only] = options {
            return self.line(2, only);
        }
        let value = match weights {
            None if count <= 256 => format!("choose!(out, {count})"),
            None => format!("choose_wide!(out, {count})"),
            Some(weights) => {
                let slots = option_slots(count, Some(weights));
                let values: u32 = slots.iter().sum();
                let map: Vec<String> = slots
                    .iter()
                    .enumerate()
                    .flat_map(|(option, &slots)| std::iter::repeat_n(option.to_string(), slots as usize))
                    .collect();
                let unsigned = if count <= 256 { "u8" } else { "u16" };
                self.line(2, &format!("static MAP: [{unsigned}; {values}] = [{}];", map.join(",")));
                let chosen = if values == 256 { "choose" } else { "choose_wide" };
                format!("*MAP.get_unchecked({chosen}!(out, {values}) as usize)")
            }
        };
        self.line(2, &format!("match {value} {{"));
        for (index, option) in options.iter().enumerate() {
            let pattern = if index + 1 < count { index.to_string() } else { "_".to_string() };
            self.line(3, &format!("{pattern} => {{ {option} }}"));
        }
        self.line(2, "}");
    }

    fn wide_class(&mut self, set: &CharSet) {
        let mut ranges = String::new();
        for &(low, high) in set.ranges() {
            // Writing to a String cannot fail.
            let _ = write!(ranges, "({low}, {}), ", high - low + 1);
        }
        self.line(2, &format!("static RANGES: [(u32, u32); {}] = [{ranges}];", set.ranges().len()));
        self.line(2, &format!("let index = choose_wide!(out, {});", set.len()));
        self.line(2, "out = write_member(out, index, &RANGES);");
    }

    fn sequence(&self, items: &[Item]) -> String {
        let texts: Vec<String> = items
            .iter()
            .map(|item| match item {
                Item::Bytes(bytes) => write_bytes(bytes),
                Item::Rule(rule) => self.call(*rule),
            })
            .collect();
        texts.join(" ")
    }

    fn call(&self, rule: usize) -> String {
        let left = if self.flat.rules[rule].counted { "left - 1" } else { "left" };
        format!("out = {}(out, {left});", self.function(rule))
    }

    fn function(&self, rule: usize) -> String {
        let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let name: String = self.flat.rules[rule].name.chars().map(word).collect();
        format!("r{rule}_{name}")
    }

    /// Returns an upper bound of the bytes that a sequence writes without choosing: its literals, and those of rules
    /// that have no choice. Every other byte is counted to a choice. Recursion ends because a rule without a choice
    /// that refers to itself would derive no finite string.
    fn bytes_without_a_choice(&self, items: &[Item]) -> u64 {
        let bytes = items.iter().map(|item| match item {
            Item::Bytes(bytes) => bytes.len() as u64,
            Item::Rule(rule) => {
                let body = match &self.flat.rules[*rule].body {
                    Body::Alternatives { sequences, .. } if sequences.len() > 1 => 0,
                    Body::Class(_) => 0,
                    _ => self.bytes_behind_a_choice(*rule),
                };
                let pool = if let [only] = self.pools[*rule].as_slice() { only.len() as u64 } else { 0 };
                body.max(pool)
            }
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns an upper bound of the bytes that a rule's body writes with its first choice, if it has one, and no
    /// further one.
    fn bytes_behind_a_choice(&self, rule: usize) -> u64 {
        match &self.flat.rules[rule].body {
            Body::Alternatives { sequences, .. } => {
                sequences.iter().map(|items| self.bytes_without_a_choice(items)).max().unwrap_or(0)
            }
            Body::Class(set) => set.max_len(),
            Body::Repeat { min: 0, .. } => 0,
            Body::Repeat { item, min, .. } => self.bytes_without_a_choice(item).saturating_mul(u64::from(*min)),
        }
    }

    /// Returns an upper bound of the bytes that one choice accounts for.
    fn bytes_per_choice(&self) -> u64 {
        let pooled = self.pools.iter().flatten().map(|string| string.len() as u64);
        let bodies = (0..self.flat.rules.len()).map(|rule| {
            let round = match &self.flat.rules[rule].body {
                Body::Repeat { item, .. } => self.bytes_without_a_choice(item),
                _ => 0,
            };
            round.max(self.bytes_behind_a_choice(rule))
        });
        pooled.chain(bodies).max().unwrap_or(0)
    }

    /// Returns an upper bound of the bytes that are pending after the calls of a counted rule and the helpers nested in
    /// it.
    fn bytes_per_level(&self) -> u64 {
        let helpers = self.flat.rules.iter().filter(|rule| !rule.counted).count() as u64;
        self.bytes_per_choice().saturating_mul(helpers + 1)
    }
}

/// Returns bare stores rather than a call: only then does the compiler turn a `match` over single bytes into a table.
fn write_bytes(bytes: &[u8]) -> String {
    match bytes {
        [] => String::new(),
        [byte] => format!("*out = {byte}; out = out.add(1);"),
        _ => {
            let count = bytes.len();
            format!("copy_nonoverlapping({}.as_ptr(), out, {count}); out = out.add({count});", byte_string(bytes))
        }
    }
}

fn byte_string(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}

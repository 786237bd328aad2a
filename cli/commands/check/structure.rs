//! The structure of a grammar: its rules, its sizes, its shortest input.

use std::collections::BTreeSet;
use std::fmt;

use gramjet_compiler::Compiled;
use gramjet_compiler::analysis::recursion::recursion;

use crate::units::plural;

/// At most this number of names of recursive rules is shown.
const NAMES: usize = 12;

/// The structure of a grammar, as `gramjet check` reports it.
#[derive(Debug)]
pub struct Structure {
    /// The rule that inputs are derived from.
    pub start: String,
    /// Number of rules that can be reached.
    pub rules: usize,
    /// The names of those that derive themselves.
    pub recursive: Vec<String>,
    /// Numbers of nodes that the grammar has when it is lowered, and when it is optimised.
    pub nodes: (usize, usize),
    /// Number of strings that the pools hold, and of their bytes.
    pub pools: (usize, usize),
    /// A rule whose minimum-depth strings are too long to be kept.
    pub rule_without_pool: Option<String>,
    /// The length of the shortest input in bytes.
    pub min_len: u64,
}

impl Structure {
    /// Returns the structure of a grammar.
    pub fn new(compiled: &Compiled) -> Structure {
        let ir = &compiled.lowered;
        let components = recursion(ir);
        let recursive =
            ir.bodies().filter(|&(rule, _)| components.is_recursive(rule)).map(|(rule, _)| compiled.told(rule));
        let mut known = BTreeSet::new();
        let pools = ir.bodies().filter_map(|(rule, _)| compiled.pools.get(rule));
        Structure {
            start: compiled.told(ir.start()).to_string(),
            rules: ir.bodies().count(),
            recursive: recursive.filter(|name| known.insert(*name)).map(str::to_string).collect(),
            nodes: (ir.node_count(), compiled.residual.node_count()),
            pools: pools.fold((0, 0), |(strings, bytes), pool| {
                (strings + pool.strings.len(), bytes + pool.strings.iter().map(|string| string.len()).sum::<usize>())
            }),
            rule_without_pool: compiled.rule_without_pool().map(str::to_string),
            min_len: compiled.min_len(),
        }
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut recursive: Vec<&str> = self.recursive.iter().map(String::as_str).take(NAMES).collect();
        let more = format!("and {} more", self.recursive.len() - recursive.len());
        if self.recursive.len() > recursive.len() {
            recursive.push(&more);
        }
        let recursion =
            if recursive.is_empty() { "none; the grammar has no recursion".to_string() } else { recursive.join(", ") };
        let pools = match &self.rule_without_pool {
            None => String::new(),
            Some(rule) => format!("; none for `{rule}`, whose strings are too long, so no maximum depth can be kept"),
        };
        write!(
            f,
            "start      {}\n\
             rules      {}\n\
             recursive  {recursion}\n\
             nodes      {} lowered, {} optimised\n\
             pools      {}, {}{pools}\n\
             shortest   {}\n",
            self.start,
            self.rules,
            self.nodes.0,
            self.nodes.1,
            plural(self.pools.0 as u64, "string"),
            plural(self.pools.1 as u64, "byte"),
            plural(self.min_len, "byte"),
        )
    }
}

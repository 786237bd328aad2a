//! Texts that are not in a language, each a change away from one that is.

use std::collections::BTreeMap;

use gramjet_compiler::Compiled;
use gramjet_compiler::ir::{Ir, NodeId};
use gramjet_compiler::limits::Limits;
use gramjet_parse::{Budget, ParseError, Parser};

use super::case::Case;
use super::edits::{Base, Edit, Kind};
use super::lead::{Demands, Lead, Led};
use super::paths::TooMany;
use super::unique::{Known, Novelty};
use super::walk::Otherwise;

/// A valid text has about this many bytes at most.
const LONGEST_BASE: u64 = 200;
/// Each valid text is changed at most this often by each kind of change.
const CHANGES: usize = 4;
/// A kind of change is given up after this many valid texts in a row that it has not made invalid.
const TRIES: u32 = 2000;
/// The most steps of the parser for a text. Those that take more are not used.
const STEPS: u64 = 1 << 22;

/// Texts that are not in the language.
#[derive(Clone, Debug, Default)]
pub struct Invalid {
    /// The texts.
    pub cases: Vec<Case>,
    /// The number of texts of each kind of change.
    pub by_kind: Vec<(&'static str, u64)>,
    /// The number of changed texts that were valid all the same.
    pub valid: u64,
    /// The number of changed texts of which the parser could not say whether they are valid.
    pub unclear: u64,
}

/// Makes texts that are not in the language.
struct Maker<'c> {
    lead: Lead<'c>,
    parser: &'c Parser,
    literals: Vec<Box<[u8]>>,
    known: Known,
    made: Invalid,
    /// For each kind how often it was tried in vain since its last text.
    in_vain: [u32; Kind::ALL.len()],
    count: u64,
}

/// Returns up to `count` texts that a parser refuses. Valid texts are those of a grammar; the parser may accept more.
/// `is_over` is asked whether to stop.
///
/// # Errors
///
/// If the grammar is too large.
pub fn invalid(
    compiled: &Compiled,
    parser: &Parser,
    limits: Limits,
    (count, seed): (u64, u64),
    is_over: &dyn Fn() -> bool,
) -> Result<Invalid, TooMany> {
    let longest = limits.max_len.unwrap_or(u64::MAX).min(LONGEST_BASE.max(2 * compiled.min_len()));
    let lead = Lead::new(compiled, 1, Limits { max_len: Some(longest), ..limits }, seed)?;
    let mut maker = Maker {
        literals: literals(lead.ir),
        lead,
        parser,
        known: Known::new(Known::MOST),
        made: Invalid { by_kind: Kind::ALL.map(|kind| (kind.name(), 0)).to_vec(), ..Invalid::default() },
        in_vain: [0; Kind::ALL.len()],
        count,
    };
    while maker.goes_on() && !is_over() {
        maker.change_a_text();
    }
    Ok(maker.made)
}

impl Maker<'_> {
    fn goes_on(&self) -> bool {
        (self.made.cases.len() as u64) < self.count && self.in_vain.iter().any(|&tries| tries < TRIES)
    }

    /// Makes a valid text that has a step drawn at random, and changes it once in each way.
    fn change_a_text(&mut self) {
        let path = self.lead.random.below(self.lead.paths.len().max(1)) as u32;
        let spine =
            if self.lead.paths.is_empty() { Vec::new() } else { self.lead.ways[0].to(self.lead.paths.steps(path)[0]) };
        let forced = BTreeMap::new();
        let otherwise = Otherwise::Drawn;
        let demands = Demands { spine: &spine, covered: &[], beside: 0, near: &[], forced: &forced, otherwise };
        let led = self.lead.derive(&demands);
        let (ir, deriver) = (self.lead.ir, self.lead.deriver.clone());
        let literals = std::mem::take(&mut self.literals);
        let base = Base::new(ir, &led, &deriver, &literals);
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            // Kinds that are rare go on when others have enough.
            let has_enough = self.made.by_kind[number].1 * Kind::ALL.len() as u64 >= self.count;
            let others_go_on = (0..Kind::ALL.len()).any(|other| {
                other != number
                    && self.in_vain[other] < TRIES
                    && self.made.by_kind[other].1 < self.made.by_kind[number].1
            });
            if self.in_vain[number] >= TRIES || !self.goes_on() || has_enough && others_go_on {
                continue;
            }
            let is_made = (0..CHANGES).any(|_| self.change(&base, &led, number, kind));
            self.in_vain[number] = if is_made { 0 } else { self.in_vain[number] + 1 };
        }
        self.literals = literals;
    }

    /// Changes a text; returns true if the result is new and invalid.
    fn change(&mut self, base: &Base<'_>, led: &Led, number: usize, kind: Kind) -> bool {
        let Some(edit) = base.draw(kind, &mut self.lead.random) else { return false };
        let text = edit.apply(&led.derivation.text);
        if text == led.derivation.text || self.known.add(&text) != Novelty::New {
            return false;
        }
        let budget = Budget { max_steps: Some(STEPS), ..Budget::default() };
        match self.parser.parse(&text, &budget) {
            Ok(_) => self.made.valid += 1,
            Err(ParseError::Mismatch(mismatch)) => {
                let told = mismatch.to_string();
                self.made.cases.push(self.case(base, kind, &edit, text, &told));
                self.made.by_kind[number].1 += 1;
                return true;
            }
            Err(_) => self.made.unclear += 1,
        }
        false
    }

    fn case(&self, base: &Base<'_>, kind: Kind, edit: &Edit, text: Vec<u8>, told: &str) -> Case {
        let rule = base.tokens.rule_at(edit.at).map(|rule| self.lead.rule_name(rule));
        let within = rule.as_deref().map_or(String::new(), |rule| format!(" in {rule}"));
        let why = format!("{}{within} at byte {}; {told}", kind.name(), edit.at);
        let name = format!("{}-{}", kind.name(), rule.as_deref().unwrap_or("text"));
        let case = Case::valid(&name, text, why);
        Case { is_valid: false, rule, kind: Some(kind.name()), at: Some(edit.at), ..case }
    }
}

/// Returns the literals of a grammar, each once.
fn literals(ir: &Ir) -> Vec<Box<[u8]>> {
    let nodes = (0..ir.node_count()).map(NodeId::new);
    let mut literals: Vec<Box<[u8]>> =
        nodes.filter_map(|node| Some(ir.node(node).literal().filter(|bytes| !bytes.is_empty())?.into())).collect();
    literals.sort_unstable();
    literals.dedup();
    literals
}

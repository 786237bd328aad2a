//! The grammar is checked: the oracle is asked about its texts, generalisations that prove wrong are undone, and all
//! samples must have a derivation.

use std::collections::BTreeMap;

use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_parse::{Budget, Parser};

use crate::asked::Asked;
use crate::expr::{Expr, Undone};
use crate::generate::Generator;
use crate::names::named;
use crate::print;
use crate::write::Rule;

/// Texts of a grammar that the oracle is asked about.
const TEXTS: u32 = 300;

/// Rejected texts that are looked into, and generalisations of each.
const BLAMED: usize = 12;
const KEYS: usize = 24;

/// Generalisations that are tried without.
const ROUNDS: u32 = 24;

/// A share of rejected texts that is good enough.
const GOOD: f64 = 0.03;

/// A generalisation is undone if no more than this part of the rejected texts is left without it.
const GAIN: f64 = 0.9;

/// Answers of the oracle about texts of a grammar.
#[derive(Debug, Default)]
struct Judged {
    texts: u32,
    rejected: u32,
    /// For each generalisation, the texts that use it: those accepted, and those rejected.
    by_key: BTreeMap<String, [u32; 2]>,
    /// The numbers of some rejected texts.
    numbers: Vec<u64>,
}

impl Judged {
    fn new(rules: &[Rule], undone: &Undone, seed: u64, asked: &mut Asked<'_>) -> Judged {
        let exprs: Vec<Expr> = rules.iter().map(|rule| rule.expr.clone()).collect();
        let mut generator = Generator::new(&exprs, undone);
        let mut judged = Judged::default();
        for number in 0..TEXTS {
            generator.make(0, seed ^ u64::from(number));
            let is_accepted = asked.accepts(&generator.text);
            if asked.is_over() {
                break;
            }
            judged.texts += 1;
            judged.rejected += u32::from(!is_accepted);
            if !is_accepted && judged.numbers.len() < BLAMED {
                judged.numbers.push(seed ^ u64::from(number));
            }
            for key in &generator.used {
                judged.by_key.entry(key.clone()).or_default()[usize::from(!is_accepted)] += 1;
            }
        }
        judged
    }

    fn share(&self) -> f64 {
        f64::from(self.rejected) / f64::from(self.texts.max(1))
    }

    /// Returns the generalisation without which most of the rejected texts would be accepted: each is made again
    /// without each generalisation that it uses.
    fn blamed(&self, rules: &[Rule], undone: &Undone, tried: &Undone, asked: &mut Asked<'_>) -> Option<String> {
        let exprs: Vec<Expr> = rules.iter().map(|rule| rule.expr.clone()).collect();
        let mut blames: BTreeMap<String, u32> = BTreeMap::new();
        for &number in &self.numbers {
            let mut generator = Generator::new(&exprs, undone);
            generator.make(0, number);
            let (text, used) = (generator.text.clone(), generator.used.clone());
            for key in used.into_iter().filter(|key| !tried.contains(key)).take(KEYS) {
                let mut without = undone.clone();
                without.insert(key.clone());
                let mut generator = Generator::new(&exprs, &without);
                generator.make(0, number);
                if generator.text != text && asked.accepts(&generator.text) {
                    *blames.entry(key).or_default() += 1;
                }
            }
        }
        blames.into_iter().rev().max_by_key(|(_, count)| *count).map(|(key, _)| key)
    }

    /// Returns the generalisation that is most likely wrong, other than those that were tried.
    fn suspect(&self, tried: &Undone) -> Option<String> {
        let score = |[accepted, rejected]: [u32; 2]| {
            let share = f64::from(rejected) / f64::from(accepted + rejected);
            f64::from(rejected) * (share - self.share() * 0.8).max(0.0)
        };
        let candidates = self.by_key.iter().filter(|(key, _)| !tried.contains(*key));
        let scored = candidates.map(|(key, &counts)| (score(counts), key));
        let best = scored.filter(|(score, _)| *score > 0.0).rev().max_by(|one, other| one.0.total_cmp(&other.0));
        best.map(|(_, key)| key.clone())
    }
}

/// Undoes generalisations until the oracle accepts nearly all texts, or until it helps no more.
pub(crate) fn repair(
    seed: u64,
    asked: &mut Asked<'_>,
    rules: &mut dyn FnMut(&Undone, &mut Asked<'_>) -> Vec<Rule>,
) -> (Vec<Rule>, Undone) {
    let (mut undone, mut tried) = (Undone::new(), Undone::new());
    let mut current = rules(&undone, asked);
    let mut judged = Judged::new(&current, &undone, seed, asked);
    for _ in 0..ROUNDS {
        if judged.share() <= GOOD || asked.is_over() {
            break;
        }
        let suspect = judged.blamed(&current, &undone, &tried, asked).or_else(|| judged.suspect(&tried));
        let Some(suspect) = suspect else { break };
        let mut without = undone.clone();
        without.insert(suspect.clone());
        let changed = rules(&without, asked);
        let better = Judged::new(&changed, &without, seed, asked);
        tried.insert(suspect);
        if better.texts == TEXTS && better.share() < judged.share() * GAIN {
            (undone, current, judged) = (without, changed, better);
        }
    }
    // Some keys were suspected only because other keys were wrong.
    for key in undone.clone() {
        let mut with = undone.clone();
        with.remove(&key);
        let changed = rules(&with, asked);
        let again = Judged::new(&changed, &with, seed, asked);
        if again.texts == TEXTS && again.share() <= judged.share().max(GOOD) {
            (undone, current) = (with, changed);
        }
    }
    (current, undone)
}

/// Returns the grammar as a text, its number of rules, and the samples that it has as they are, since it would not
/// derive them.
pub(crate) fn complete(rules: &[Rule], undone: &Undone, samples: &[&[u8]]) -> Result<(String, usize, usize), String> {
    let mut named = named(rules, undone);
    let missed = missed(&print::grammar(&named), samples)?;
    if !missed.is_empty() {
        let start = std::mem::replace(&mut named[0].1, Expr::empty());
        let parts = missed.iter().map(Expr::literal);
        named[0].1 = Expr::Alt(std::iter::once(start).chain(parts).collect()).resolved(&Undone::new());
        let text = print::grammar(&named);
        return match self::missed(&text, samples)?.len() {
            0 => Ok((text, count(&named), missed.len())),
            left => Err(format!("{left} samples have no derivation")),
        };
    }
    Ok((print::grammar(&named), count(&named), 0))
}

/// Returns the number of rules of a grammar as it is written.
fn count(named: &[(String, Expr)]) -> usize {
    named.len() + print::beyond(named).len()
}

/// Returns the samples that a grammar does not derive.
pub(crate) fn missed<'s>(grammar: &str, samples: &[&'s [u8]]) -> Result<Vec<&'s [u8]>, String> {
    let file = SourceFile::new("inferred.ebnf", grammar);
    let (compiled, _) = compile(&file, &Options::default())
        .map_err(|diagnostics| format!("the grammar does not compile: {diagnostics:?}\n{grammar}"))?;
    let parser = Parser::new(&compiled.lowered);
    Ok(samples.iter().copied().filter(|sample| parser.parse(sample, &Budget::default()).is_err()).collect())
}

//! The Nautilus generator of LibAFL on a flat grammar. Its limit is the number of rules in a tree, not their depth.

use libafl::generators::nautilus::{NautilusContext, NautilusGenerator};
use libafl::inputs::nautilus::NautilusInput;
use libafl_bolts::rands::StdRand;

use crate::Rival;
use crate::flat::{Body, Flat, Item};

/// Larger classes and repetitions are not written out as rules.
const MAX_RULES: u32 = 4096;

/// Returns the grammar in Nautilus's own form: one rule an alternative, `{NAME}` for a reference.
pub fn context(flat: &Flat, max_rules: usize) -> Result<NautilusContext, String> {
    let mut rules: Vec<(String, Vec<u8>)> = Vec::new();
    let name = |rule: usize| format!("R{rule}");
    for (index, rule) in flat.rules.iter().enumerate() {
        match &rule.body {
            Body::Alternatives { weights: Some(_), .. } => return Err("Nautilus has no weights".to_string()),
            Body::Alternatives { sequences, weights: None } => {
                rules.extend(sequences.iter().map(|items| (name(index), format(items))));
            }
            Body::Class(set) if set.len() <= MAX_RULES => {
                let member = |member| (name(index), format(&[Item::Bytes(set.encode(member).as_ref().to_vec())]));
                rules.extend(set.iter().map(member));
            }
            Body::Class(_) => return Err("the class is too large to be written out as rules".to_string()),
            Body::Repeat { item, min, max } => {
                let least = format(item).repeat(*min as usize);
                match max {
                    Some(max) if max - min > MAX_RULES => return Err("too many rounds".to_string()),
                    Some(max) => {
                        // One name for each number of rounds that remain.
                        let remaining = |rounds: u32| format!("R{index}-{rounds}");
                        let go_on = |rounds| reference(&remaining(rounds));
                        rules.push((name(index), [least, go_on(max - min)].concat()));
                        for rounds in 0..=max - min {
                            rules.push((remaining(rounds), Vec::new()));
                            if rounds > 0 {
                                rules.push((remaining(rounds), [format(item), go_on(rounds - 1)].concat()));
                            }
                        }
                    }
                    None => {
                        let more = format!("R{index}-more");
                        rules.push((name(index), [least, reference(&more)].concat()));
                        rules.push((more.clone(), Vec::new()));
                        rules.push((more.clone(), [format(item), reference(&more)].concat()));
                    }
                }
            }
        }
    }
    rules.push(("BACKSLASH".to_string(), b"\\".to_vec()));
    let rules: Vec<(&str, &[u8])> = rules.iter().map(|(name, rule)| (name.as_str(), rule.as_slice())).collect();
    let context = NautilusContext::with_rules(max_rules, &rules).ok_or("no rules")?;
    let least = context.ctx.get_min_len_for_nt(context.ctx.nt_id("START"));
    if least <= max_rules { Ok(context) } else { Err(format!("the smallest derivation of Nautilus has {least} rules")) }
}

fn reference(name: &str) -> Vec<u8> {
    format!("{{{name}}}").into_bytes()
}

/// Returns a sequence in the notation of Nautilus's rules. A backslash gets a rule of its own, for it cannot be
/// escaped.
fn format(items: &[Item]) -> Vec<u8> {
    let mut text = Vec::new();
    for item in items {
        match item {
            Item::Rule(rule) => text.extend(reference(&format!("R{rule}"))),
            Item::Bytes(bytes) => {
                for &byte in bytes {
                    match byte {
                        b'{' => text.extend(b"\\{"),
                        b'}' => text.extend(b"\\}"),
                        b'\\' => text.extend(b"{BACKSLASH}"),
                        _ => text.push(byte),
                    }
                }
            }
        }
    }
    text
}

/// The generator and its buffers for an input.
pub struct Nautilus<'c> {
    context: &'c NautilusContext,
    generator: NautilusGenerator<'c>,
    random: StdRand,
    input: NautilusInput,
}

impl<'c> Nautilus<'c> {
    /// Returns a generator of inputs of the context's grammar.
    pub fn new(context: &'c NautilusContext) -> Nautilus<'c> {
        let generator = NautilusGenerator::new(context);
        Nautilus { context, generator, random: StdRand::with_seed(1), input: NautilusInput::empty() }
    }
}

impl Rival for Nautilus<'_> {
    fn next(&mut self, buffer: &mut Vec<u8>) {
        let start = self.generator.nonterminal("START");
        let limit = self.context.ctx.get_random_len_for_nt(&start);
        self.input = NautilusInput::empty();
        self.generator.generate_from_nonterminal(&mut self.random, &mut self.input, start, limit);
        self.input.unparse(self.context, buffer);
    }
}

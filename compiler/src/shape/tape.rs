//! The terms of a model as instructions for a stack of numbers: each comes after those of its parts. Generating
//! functions are evaluated so ([`super::boltzmann`]), a thousand times for a grammar.

use super::term::{Laws, Term};

/// The terms of all rules.
#[derive(Default)]
pub(super) struct Tape {
    instructions: Vec<Instruction>,
    /// The end of the instructions of each rule.
    ends: Vec<u32>,
}

enum Instruction {
    /// The number 1.
    One,
    /// The value of a rule.
    Rule(u32),
    /// The product of the last numbers.
    Product(u32),
    /// The sum of the last numbers, each times the probability of an option.
    Sum { decision: u32, options: u32 },
    /// The sum over the rounds of a repetition.
    Rounds { decision: u32, min: u32 },
    /// A power of the last number.
    Times(u32),
}

impl Tape {
    /// Returns the terms of these rules; `None` stands for a rule that is not reachable.
    pub fn new(rules: &[Option<Term>]) -> Tape {
        let mut tape = Tape::default();
        for term in rules {
            term.iter().for_each(|term| tape.add(term));
            tape.ends.push(tape.instructions.len() as u32);
        }
        tape
    }

    fn add(&mut self, term: &Term) {
        let parts = match term {
            Term::Bytes(_) | Term::Rule(_) => &[],
            Term::Seq(items) | Term::Choice(_, items) => &items[..],
            Term::Rounds(_, item, _) | Term::Times(item, _) => std::slice::from_ref(&**item),
        };
        parts.iter().for_each(|part| self.add(part));
        let count = parts.len() as u32;
        self.instructions.push(match term {
            Term::Bytes(_) => Instruction::One,
            Term::Rule(rule) => Instruction::Rule(*rule as u32),
            Term::Seq(_) => Instruction::Product(count),
            Term::Choice(decision, _) => Instruction::Sum { decision: *decision as u32, options: count },
            Term::Rounds(decision, _, min) => Instruction::Rounds { decision: *decision as u32, min: *min },
            Term::Times(_, times) => Instruction::Times(*times),
        });
    }

    /// Returns the number of terms of a rule.
    pub fn size(&self, rule: usize) -> usize {
        self.of(rule).len()
    }

    fn of(&self, rule: usize) -> &[Instruction] {
        let start = if rule == 0 { 0 } else { self.ends[rule - 1] };
        &self.instructions[start as usize..self.ends[rule] as usize]
    }

    /// Evaluates the term of a rule where rules have these values. `rounds` gives the value of a repetition by its
    /// decision, from that of a round; `power` a power. `stack` is memory that is used again.
    pub fn value(
        &self,
        rule: usize,
        (priors, values): (&Laws, &[f64]),
        rounds: impl Fn(usize, u32, f64) -> f64,
        power: impl Fn(f64, u32) -> f64,
        stack: &mut Vec<f64>,
    ) -> f64 {
        // Plain loops: iterators take longer where little is inlined.
        stack.clear();
        for instruction in self.of(rule) {
            let number = match *instruction {
                Instruction::One => 1.0,
                Instruction::Rule(rule) => values[rule as usize],
                Instruction::Product(count) => {
                    let start = stack.len() - count as usize;
                    let mut product = 1.0;
                    for value in &stack[start..] {
                        product *= value;
                    }
                    stack.truncate(start);
                    product
                }
                Instruction::Sum { decision, options } => {
                    let (start, priors) = (stack.len() - options as usize, &priors[decision as usize][..]);
                    let mut sum = 0.0;
                    for (value, prior) in stack[start..].iter().zip(priors) {
                        sum += prior * value;
                    }
                    stack.truncate(start);
                    sum
                }
                Instruction::Rounds { decision, min } => {
                    let one = stack.pop().unwrap_or(1.0);
                    rounds(decision as usize, min, one)
                }
                Instruction::Times(times) => power(stack.pop().unwrap_or(1.0), times),
            };
            stack.push(number);
        }
        stack.pop().unwrap_or(1.0)
    }
}

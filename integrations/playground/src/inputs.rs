//! Inputs of a grammar.

use gramjet::{Inputs, Producer};
use gramjet_compiler::shape::ByDefault;
use gramjet_engine::vm::Vm;
use serde_json::{Value, json};

use super::grammar::Asked;

/// The most inputs.
const MOST_INPUTS: u64 = 1000;
/// The most bytes of an input. It is completed then.
const MOST_OUTPUT: u64 = 64 << 10;
/// Bytes of inputs after which no more are made.
const ENOUGH: usize = 1 << 20;

/// Returns the inputs that `gramjet gen` makes of this seed, and notes on them: why there are fewer than asked for, or
/// shorter ones, and whether the weights are not the grammar's own.
pub fn inputs(asked: &Asked, seed: u64, count: u64) -> Result<Value, String> {
    let compiled = asked.for_inputs()?;
    let mut producer = Vm::new(&compiled);
    let limits = producer.limits().max_output(MOST_OUTPUT);
    producer.set_limits(limits).map_err(|error| error.to_string())?;
    let (mut made, mut bytes, mut are_completed) = (Vec::new(), 0, false);
    for input in Inputs::new(producer, seed).take(count.min(MOST_INPUTS) as usize) {
        bytes += input.len();
        are_completed |= input.len() as u64 > limits.output();
        made.push(shown(&input));
        if bytes > ENOUGH {
            break;
        }
    }
    let by_default =
        compiled.by_default.filter(ByDefault::is_surprising).map(|decision| format!("Default weights: {decision}."));
    let few = ((made.len() as u64) < count)
        .then(|| format!("{} inputs are shown: at most {MOST_INPUTS}, and no more after 1 MiB.", made.len()));
    let completed = are_completed.then(|| "Inputs of more than 64 KiB are completed early.".to_string());
    let notes: Vec<String> = [by_default, few, completed].into_iter().flatten().collect();
    Ok(json!({ "inputs": made, "note": notes.join(" ") }))
}

/// Returns an input as text if it is text, else in hexadecimal digits.
fn shown(input: &[u8]) -> Value {
    let is_shown = |character: char| !character.is_control() || matches!(character, '\n' | '\t' | '\r');
    match std::str::from_utf8(input) {
        Ok(text) if text.chars().all(is_shown) => json!({ "text": text, "bytes": input.len() }),
        _ => {
            let digits: Vec<String> = input.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "hex": digits.join(" "), "bytes": input.len() })
        }
    }
}

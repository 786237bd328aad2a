//! A text that is parsed, with its tree.

use gramjet_compiler::Compiled;
use gramjet_compiler::ir::RuleId;
use gramjet_compiler::reference::{self, Limits, Trace};
use gramjet_parse::{Budget, Mismatch, ParseError, Parser};
use serde_json::{Value, json};

use super::draw::{Text, picture};
use super::grammar::Asked;

/// Bounds on the cost of a text: a fraction of the memory that the page has.
const BUDGET: Budget = Budget { max_memory: 128 << 20, max_steps: Some(256 << 20) };
/// The greatest width of a tree, in pixels.
const WIDEST: u64 = 4000;

/// Returns the tree of a text as SVG of some width in pixels, or why the text does not conform to the grammar, with the
/// place.
pub fn tree(asked: &Asked, text: &str, width: u64) -> Result<Value, String> {
    let compiled = asked.for_texts()?;
    Ok(match Parser::new(&compiled.lowered).parse(text.as_bytes(), &BUDGET) {
        Ok(parsed) => json!({ "tree": drawn(&compiled, &parsed.choices, width.min(WIDEST) as i32) }),
        Err(error) => refused(text, &error),
    })
}

fn drawn(compiled: &Compiled, choices: &[u8], width: i32) -> String {
    let (mut bytes, mut trace, mut output) = (choices.iter().copied(), Trace::default(), Vec::new());
    let limits = Limits::default();
    reference::run(&compiled.lowered, &compiled.pools, limits, &mut || bytes.next(), &mut output, Some(&mut trace));
    let name = |rule| compiled.told(RuleId::new(rule)).to_string();
    picture(Text::new(compiled, output, trace), Some(width), &name)
}

fn refused(text: &str, error: &ParseError) -> Value {
    let message = match error {
        ParseError::Mismatch(mismatch) => within(mismatch),
        ParseError::Steps { .. } | ParseError::Memory { .. } | ParseError::TooLong { .. } => error.to_string(),
    };
    let place = error.place(text.as_bytes()).map(|(line, column)| json!({ "line": line, "column": column }));
    json!({ "refused": message, "place": place })
}

fn within(mismatch: &Mismatch) -> String {
    let rule = mismatch.within.as_ref().map_or_else(String::new, |(rule, _)| format!(", in `{rule}`"));
    format!("{}{rule}", mismatch.message())
}

//! The weights that a strategy has come to.

use gramjet_compiler::shape::learn::How;
use gramjet_search::State;

use crate::arguments::grammar::{GrammarArgs, ShapeArgs};
use crate::commands::learn;
use crate::failure::{Failure, say};
use crate::files::shown;
use crate::samples;
use crate::source::Source;
use crate::units::plural;

/// The file, in the folder of the search.
const WEIGHTS: &str = "weights";

/// Is added to the count of each alternative, so that all stay possible.
const SMOOTHING: f64 = 0.5;

/// Writes the weights of the last texts that the strategy has made.
pub(super) fn write(state: &State, source: Source, grammar: &GrammarArgs, texts: &[Vec<u8>]) -> Result<(), Failure> {
    if texts.is_empty() {
        return Ok(());
    }
    let mut grammar = grammar.clone();
    grammar.how.shape = ShapeArgs::default();
    let prepared = learn::prepare_source(source, &grammar, false)?;
    let found = samples::count_texts(prepared.compiled()?, texts);
    if found.parsed.0 == 0 {
        return Ok(());
    }
    let (place, last) = (state.folder().join(WEIGHTS), plural(found.parsed.0, "text"));
    say!("gramjet: the weights of the last {last} are in {}", shown(&place));
    learn::say_how_to_read(&prepared, &grammar);
    learn::finish(prepared, &found, &How { smoothing: SMOOTHING, ..How::COMMON }, Some(&place))
}

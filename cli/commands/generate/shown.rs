//! Descriptions of inputs that a terminal cannot show.

use gramjet_compiler::Compiled;
use gramjet_parse::{Budget, Parser};

use crate::annotation;
use crate::output::shown::Describe;

/// Returns a function that describes inputs of a grammar which are no printable text: by a table of their parts.
pub fn describing(compiled: Compiled) -> Describe {
    let mut parser = None;
    Box::new(move |input| {
        if annotation::is_printable(input) {
            return None;
        }
        let parser = parser.get_or_insert_with(|| Parser::new(&compiled.lowered));
        // An input of a very ambiguous grammar can be too costly to read.
        Some(match parser.parse(input, &Budget::default()) {
            Ok(parsed) => annotation::table(&compiled, &parsed.choices, input),
            Err(_) => format!("{}\n", input.escape_ascii()),
        })
    })
}

//! The playground: what the page asks for, and the answers.
//!
//! A request and its answer are JSON. The page writes a request into memory ([`exports`]), calls, and reads the answer.
//! Each request holds all that it needs. So nothing is kept from one to the next, and a worker can be ended at any
//! time.

// The drawings of the command, from its own files: a crate of them would be one more to publish. The page draws no
// samples, no corpora and no files of diagrams alone.
#[allow(dead_code, unused_imports)]
#[path = "../../../cli/draw/mod.rs"]
mod draw;
mod exports;
mod grammar;
mod inputs;
mod request;
mod text;

use serde_json::{Value, json};

use grammar::Asked;
use request::Request;

/// Returns the answer to a request, both as JSON. An answer that has `error` has nothing else.
pub fn answer(request: &str) -> String {
    let answer = match serde_json::from_str::<Value>(request) {
        Ok(request) => answer_to(&Request(request)),
        Err(error) => Err(format!("the request is no JSON: {error}")),
    };
    answer.unwrap_or_else(|error| json!({ "error": error })).to_string()
}

/// Returns the answer, or an error for the user.
fn answer_to(request: &Request) -> Result<Value, String> {
    match request.text("task")? {
        "lists" => Ok(grammar::lists()),
        "grammar" => Ok(Asked::new(request)?.diagnostics()),
        "drawing" => Asked::new(request)?.drawing(request.is("whole")?),
        "inputs" => inputs::inputs(&Asked::new(request)?, request.number("seed")?, request.number("count")?),
        "tree" => text::tree(&Asked::new(request)?, request.text("text")?, request.number("width")?),
        other => Err(format!("no such task: {other:?}")),
    }
}

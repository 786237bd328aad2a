//! Drawings of grammars and of texts: railroad diagrams of rules, the graph of the rules, sample inputs with their
//! trees, and the tree of a text. They are pages and SVG files that need neither scripts nor a network.
//!
//! These files know nothing of the command, as the playground compiles them, too (`integrations/playground`). A drawing
//! says what it leaves out. What a grammar or a text says is escaped in one place, `words`, and colours are in one
//! place, `style`.

mod block;
mod corpus;
mod diagram;
mod graph;
mod page;
mod picture;
mod rules;
pub mod samples;
mod style;
mod svg;
#[cfg(test)]
mod tests;
mod tree;
mod words;

pub use corpus::Usage;
pub use page::{Drawing, MOST_RULES, TooLarge};
pub use picture::picture;
pub use rules::Rules;
pub use tree::Text;

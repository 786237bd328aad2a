//! Repairs a grammar by a program that says which texts it accepts.
//!
//! Texts near the language that the program accepts and the grammar does not are found among mutants. The parser says
//! where they fail, and holes in the grammar what is lacking there. Edits that would take these texts are ranked by how
//! many they take, and judged by fresh texts that show what is new: the program is to accept them. The other way round,
//! texts of the grammar that the program rejects are made smaller, and what their derivations use is left out, if the
//! program rejects whatever has it. This is the repair of grammars of Le et al. 2019 (*SAFFRON*, phase I), with the
//! operators of Offutt, Ammann & Liu 2006, repetitions, classes and alternatives.
//!
//! ```no_run
//! use gramjet_infer::refine::{Settings, Source, refine};
//!
//! let text = "list ::= '[' item (',' item)* ']'  -- comments stay\nitem ::= [0-9]+ | list\n";
//! let source = Source::ebnf("list.ebnf", text).expect("a grammar");
//! # fn accepts(_: &[u8]) -> bool { false }
//! let mut program = |text: &[u8]| Some(accepts(text));
//! let mut tell = |edit: &gramjet_infer::refine::Edit| println!("{}", edit.what);
//! let report = refine(&source, &[], &Settings::default(), &mut program, &|| false, &mut tell);
//! print!("{}", gramjet_infer::refine::unified(text, &report.edited.text, "a/list.ebnf", "b/list.ebnf"));
//! ```

mod candidate;
mod class;
mod diff;
mod evidence;
mod focus;
mod generalise;
mod holes;
mod home;
mod mutants;
mod notation;
mod place;
mod reader;
mod repair;
mod report;
mod source;
#[cfg(test)]
mod testing;
mod tighten;
mod widen;

pub use diff::unified;
pub use notation::Notation;
pub use repair::{Settings, recall, refine, survey};
pub use report::{Apply, Change, Direction, Edit, Edited, Report, Share, Source};

//! Grammars over tokens: rules of a parser whose terminals are tokens, and the lexer that cuts a text into them.
//! [`expand`] turns the two into one grammar over characters. The lexer cuts each of its outputs into exactly the
//! tokens that the parser's rules derive.
//!
//! The model of the lexer: at each place the rule of the current mode with the longest match wins, the first of several
//! with that length. A lazy repetition ends as early as it can. Rules may hide their match from the parser, switch
//! modes, and leave their match to be continued by the next one.
//!
//! The steps, in the order of [`expand`]: The lexer's modes become automata (`recursion`, `nfa`, `dfa`). The parser's
//! rules are specialised to the modes at their beginning and end, so that each terminal is a lexer rule, and to the
//! expected next tokens (`modes`, `paths`, `expectations`, `flat`). Separators go between neighbours that the lexer
//! would cut differently (`separators`, `boundaries`, `separate`). For texts from other sources, hidden matches may
//! stand anywhere (`gaps`). Lexer rules become rules over characters, without the strings that the lexer takes for
//! another rule (`language`, `patterns`).

use std::str::FromStr;

use crate::charset::CharSet;
use crate::check::closest;
use crate::diagnostics::Span;

mod alphabet;
mod bits;
mod boundaries;
mod dfa;
mod edges;
mod excursions;
mod expand;
mod expectations;
mod flat;
mod gaps;
mod hidden;
mod language;
mod layout;
mod levels;
mod modes;
mod nfa;
mod pairs;
mod paths;
mod patterns;
mod recursion;
mod separate;
mod separators;
mod sets;
mod states;
mod stays;
mod words;

pub use alphabet::Alphabet;
pub(crate) use expand::MAX_MODES;
pub use expand::expand;
pub use expectations::Expectation;
pub use layout::{DEDENT, INDENT, Indent, Indentation, Layout, NEWLINE, TokenName, TokenNames, Unit, lay_out};
pub(crate) use levels::give_levels;
pub(crate) use sets::{Sets, each_part};
pub use words::{Word, Written, without_keywords};

/// A parser's rules and its lexer.
#[derive(Clone, Debug, Default)]
pub struct TokenGrammar {
    /// The parser's rules.
    pub rules: Vec<Rule>,
    /// The start rule's place in `rules`.
    pub start: usize,
    /// The lexer.
    pub lexer: Lexer,
    /// Whether code outside the grammar also decides which texts are valid. Then separators are kept plain.
    pub has_code: bool,
}

/// A rule of the parser.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name. Rules that stand for one rule at several levels share theirs.
    pub name: String,
    /// The place of the name.
    pub span: Span,
    /// The expression that it derives.
    pub body: Syntax,
}

/// An expression over tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// A token, by its place in [`Lexer::tokens`].
    Token(usize),
    /// Any token but these.
    NotTokens(Vec<usize>),
    /// The end of the text.
    End,
    /// Derives nothing, but requires the next token to meet a condition, in whatever rule it is.
    Expect(Expectation),
    /// A rule, by its place in [`TokenGrammar::rules`].
    Rule(usize),
    /// Expressions one after the other. The empty sequence derives the empty text.
    Seq(Vec<Syntax>),
    /// One of several expressions. The empty choice derives no text.
    Choice(Vec<Syntax>),
    /// `item` at least `min` and, if given, at most `max` times.
    Repeat {
        /// The repeated expression.
        item: Box<Syntax>,
        /// The least number of rounds.
        min: u32,
        /// The greatest number of rounds.
        max: Option<u32>,
    },
}

/// The lexer, which cuts a text into tokens.
#[derive(Clone, Debug, Default)]
pub struct Lexer {
    /// The names of the tokens.
    pub tokens: Vec<String>,
    /// The number of modes. The text begins in mode 0.
    pub modes: usize,
    /// The rules, in order of priority within each mode.
    pub rules: Vec<LexerRule>,
    /// Patterns that others refer to.
    pub fragments: Vec<Fragment>,
    /// The tokens that stand for the layout of lines, if there are any.
    pub layout: Option<LayoutTokens>,
}

/// Tokens for the ends of lines and for indentation.
#[derive(Clone, Copy, Debug)]
pub struct LayoutTokens {
    /// The end of a line. Of the texts of its lexer rule, only a line break is used.
    pub newline: Option<usize>,
    /// The beginning of a block. It has no lexer rule.
    pub indent: usize,
    /// The end of a block. It has no lexer rule.
    pub dedent: usize,
    /// The indentation of blocks.
    pub indentation: Indentation,
}

/// A rule of the lexer.
#[derive(Clone, Debug)]
pub struct LexerRule {
    /// Its name.
    pub name: String,
    /// The place of the name.
    pub span: Span,
    /// The mode that it belongs to.
    pub mode: usize,
    /// The pattern that it matches.
    pub pattern: Pattern,
    /// The use of its match.
    pub outcome: Outcome,
    /// The changes of the stack of modes.
    pub moves: Vec<Move>,
}

/// The use of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Token with this number.
    Token(usize),
    /// The parser does not see it.
    Hidden,
    /// Beginning of the next match.
    More,
}

/// A change of the stack of modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Move {
    /// Another mode in place of the current one.
    Switch(usize),
    /// Another mode upon the current one.
    Push(usize),
    /// Back to the mode below.
    Pop,
}

/// A pattern that others refer to.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Its name.
    pub name: String,
    /// The place of the name.
    pub span: Span,
    /// The pattern that it matches.
    pub pattern: Pattern,
}

/// A pattern of a lexer rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One character of a set. If it is `listed`, all members are drawn as written. Otherwise readable members are
    /// preferred.
    Set {
        /// The characters.
        set: CharSet,
        /// Whether the grammar lists the members, instead of the characters that are excluded.
        listed: bool,
    },
    /// A fragment, by its place in [`Lexer::fragments`].
    Fragment(usize),
    /// Patterns one after the other.
    Seq(Vec<Pattern>),
    /// One of several patterns. The empty choice matches nothing; at the end of a pattern it stands for the end of the
    /// text.
    Choice(Vec<Pattern>),
    /// `item` at least `min` and, if given, at most `max` times.
    Repeat {
        /// The repeated pattern.
        item: Box<Pattern>,
        /// The least number of rounds.
        min: u32,
        /// The greatest number of rounds.
        max: Option<u32>,
        /// Whether it ends as early as it can.
        lazy: bool,
    },
}

impl Pattern {
    /// Returns a pattern that matches exactly this text.
    pub fn text(text: &str) -> Pattern {
        let single = |character| CharSet::single(crate::charset::Unit::Char, u32::from(character));
        Pattern::Seq(text.chars().map(|character| Pattern::Set { set: single(character), listed: true }).collect())
    }

    /// Returns the only text that this matches, if that is easy to see.
    pub fn as_text(&self) -> Option<String> {
        match self {
            Pattern::Set { set, .. } if set.len() == 1 => set.nth(0).and_then(char::from_u32).map(String::from),
            Pattern::Seq(items) => items.iter().map(Pattern::as_text).collect(),
            Pattern::Choice(items) if items.len() == 1 => items[0].as_text(),
            _ => None,
        }
    }
}

/// The user's options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The places of separators.
    pub separators: SeparatorPolicy,
    /// The characters that sets written as complements draw from.
    pub alphabet: Alphabet,
}

/// The places of separators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeparatorPolicy {
    /// Between tokens that the lexer would otherwise cut differently.
    #[default]
    Auto,
    /// Between all tokens.
    Space,
    /// Nowhere.
    None,
    /// Wherever the lexer accepts them. Any number of hidden matches stands before any token, at least one where
    /// [`SeparatorPolicy::Auto`] has a separator. For texts that were not produced by the grammar.
    Any,
}

impl SeparatorPolicy {
    /// The policies and their names.
    pub const ALL: &'static [(&'static str, SeparatorPolicy)] = &[
        ("auto", SeparatorPolicy::Auto),
        ("space", SeparatorPolicy::Space),
        ("none", SeparatorPolicy::None),
        ("any", SeparatorPolicy::Any),
    ];

    /// Returns the policy called `name`.
    pub fn by_name(name: &str) -> Option<SeparatorPolicy> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|&(_, policy)| policy)
    }

    /// Returns the default alphabet of the policy. Texts from other sources contain any character.
    pub fn alphabet(self) -> Alphabet {
        match self {
            SeparatorPolicy::Any => Alphabet::All,
            SeparatorPolicy::Auto | SeparatorPolicy::Space | SeparatorPolicy::None => Alphabet::default(),
        }
    }
}

impl FromStr for SeparatorPolicy {
    type Err = String;

    fn from_str(name: &str) -> Result<SeparatorPolicy, String> {
        SeparatorPolicy::by_name(name).ok_or_else(|| unknown("separator policy", name, SeparatorPolicy::ALL))
    }
}

/// Returns the message that no member of `all` is called `name`.
pub(crate) fn unknown<T>(what: &str, name: &str, all: &[(&str, T)]) -> String {
    let known: Vec<&str> = all.iter().map(|&(known, _)| known).collect();
    let similar = closest(name, known.iter().copied());
    let (name, known) = (name.escape_debug(), known.join(", "));
    match similar {
        Some(similar) => format!("unknown {what} `{name}`; did you mean `{similar}`? (known: {known})"),
        None => format!("unknown {what} `{name}` (known: {known})"),
    }
}

#[cfg(test)]
mod tests;

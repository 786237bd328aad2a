//! The contents of one `.g4` file. Literals and sets are decoded, names are not resolved.

use super::conditions::{Condition, Special, is_lexical};
use crate::ast::Name;
use crate::charset::CharSet;
use crate::diagnostics::Span;

/// The kinds of grammars, by the rules that they may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GrammarKind {
    #[default]
    Combined,
    Lexer,
    Parser,
}

/// One file.
#[derive(Clone, Debug, Default)]
pub(super) struct Grammar {
    pub(super) kind: GrammarKind,
    pub(super) name: Option<Name>,
    /// The grammar's options: name and value.
    pub(super) options: Vec<(Name, Name)>,
    pub(super) imports: Vec<Name>,
    /// Token types that `tokens { ... }` declares.
    pub(super) tokens: Vec<Name>,
    pub(super) rules: Vec<Rule>,
    /// Whether it is the file that the user has named, so that its spans are places in that file.
    pub(super) is_own: bool,
    /// Whether a feature was left out that needs code in another language.
    pub(super) has_code: bool,
}

impl Grammar {
    /// Returns the value of an option, if the file sets it.
    pub(super) fn option(&self, name: &str) -> Option<&Name> {
        self.options.iter().find(|(option, _)| option.text == name).map(|(_, value)| value)
    }
}

/// A rule of the parser or of the lexer.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: Name,
    pub(super) is_fragment: bool,
    /// The lexer mode that it stands in; `None` for the default mode.
    pub(super) mode: Option<Name>,
    /// The rule's own `caseInsensitive`.
    pub(super) case_insensitive: Option<bool>,
    pub(super) alternatives: Vec<Alternative>,
}

impl Rule {
    /// Returns true if the rule describes tokens: its name begins with a capital.
    pub(super) fn is_lexical(&self) -> bool {
        is_lexical(&self.name.text)
    }

    /// Returns the effect of well-known code in one of its alternatives.
    pub(super) fn special(&self) -> Option<Special> {
        self.alternatives.iter().find_map(|alternative| alternative.special)
    }
}

/// One alternative with its lexer commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Alternative {
    pub(super) elements: Vec<Element>,
    pub(super) commands: Vec<Command>,
    /// Whether its operator is right-associative.
    pub(super) is_right: bool,
    /// The effect of well-known code here, in addition to the commands.
    pub(super) special: Option<Special>,
}

/// `-> name` or `-> name(argument)`.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) name: Name,
    pub(super) argument: Option<Name>,
}

/// A part of an alternative, with its place.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) kind: ElementKind,
    pub(super) span: Span,
}

/// The kinds of elements.
#[derive(Clone, Debug)]
pub(super) enum ElementKind {
    /// `'text'`.
    Literal(String),
    /// `[a-z]` or `'a'..'z'`.
    Set(CharSet),
    /// A reference to a rule, a token, or `EOF`.
    Name(String),
    /// `.`
    Wildcard,
    /// `~ element`
    Not(Box<Element>),
    /// A known predicate.
    Predicate(Condition),
    /// `( ... | ... )`
    Block(Vec<Alternative>),
    /// `? * +`, with a second `?` if it is lazy.
    Repeat { item: Box<Element>, min: u32, max: Option<u32>, lazy: bool },
}

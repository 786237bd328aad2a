//! How tightly operators bind: `%left`, `%right`, `%nonassoc`, `%precedence` and `%prec`.
//!
//! A parser of yacc that has read `a + b` and sees a token compares the level of the rule, which is that of its last
//! token or of the token after `%prec`, with the level of the token that it sees. It goes on with the token if that
//! binds tighter, or if one of the two has no level.

use super::symbols::{Symbol, Symbols};
use crate::levels::{Binding, Chaining};
use crate::ordered::Map;

/// A token: its bytes, and whether they are a text instead of a name.
type Token = (Vec<u8>, bool);

/// The levels that the declarations give to tokens.
#[derive(Default)]
pub(super) struct Levels {
    /// The number of levels so far.
    count: u32,
    /// The chaining of the level that is being declared. `None` in declarations without levels.
    current: Option<Chaining>,
    tokens: Map<Token, (u32, Chaining)>,
}

/// Tells the names of tokens from those of rules.
pub(super) struct Names<'n> {
    /// The tokens that are declared with a text, by that text.
    pub(super) by_text: &'n Map<&'n [u8], &'n str>,
    /// Returns the text that a token is declared with.
    pub(super) text: &'n dyn Fn(&str) -> Option<&'n [u8]>,
    /// Returns true if a name is that of a rule.
    pub(super) is_rule: &'n dyn Fn(&str) -> bool,
}

impl Levels {
    /// Begins the declaration of a level. Returns false if the directive declares none.
    pub(super) fn begin(&mut self, directive: &str) -> bool {
        self.current = match directive {
            "left" => Some(Chaining::Left),
            // Without an associativity, bison goes on with the token.
            "right" | "precedence" => Some(Chaining::Right),
            "nonassoc" | "binary" => Some(Chaining::Never),
            _ => None,
        };
        self.count += u32::from(self.current.is_some());
        self.current.is_some()
    }

    /// Gives a token the level that is being declared, if there is one.
    pub(super) fn add(&mut self, token: &[u8], is_text: bool) {
        if let Some(chaining) = self.current {
            self.tokens.entry((token.to_vec(), is_text)).or_insert((self.count, chaining));
        }
    }

    /// Returns the level of a symbol. `None` if it is a rule, or a token without a level.
    fn level(&self, symbol: &Symbol, names: &Names<'_>) -> Option<(u32, Chaining)> {
        let known = |token: &[u8], is_text| self.tokens.get(&(token.to_vec(), is_text)).copied();
        match symbol {
            Symbol::Name(name, _) => {
                let text = || (names.text)(name).and_then(|text| known(text, true));
                known(name.as_bytes(), false).or_else(text)
            }
            Symbol::Text(text, _) => {
                let named = || names.by_text.get(text.as_slice()).and_then(|name| known(name.as_bytes(), false));
                known(text, true).or_else(named)
            }
        }
    }

    /// Returns how tightly an alternative binds.
    pub(super) fn binding(&self, alternative: &Symbols, names: &Names<'_>) -> Binding {
        let Symbols { symbols, prec } = alternative;
        let is_rule = |symbol: &&Symbol| matches!(symbol, Symbol::Name(name, _) if (names.is_rule)(name));
        let last = prec.as_ref().or_else(|| symbols.iter().rev().find(|symbol| !is_rule(symbol)));
        let operator = symbols.get(1).and_then(|symbol| self.level(symbol, names)).map(|(level, _)| level);
        let (operand, chaining) = last.and_then(|symbol| self.level(symbol, names)).unwrap_or((0, Chaining::Right));
        Binding { operator: operator.unwrap_or(u32::MAX), operand, chaining }
    }
}

//! The meaning of an action's code: the token that it makes of a match, and the start condition that follows.

use super::code::Token;
use super::lookups::{closed, words};
use crate::ordered::{Map, Set};

/// Words of code that reports a mistake. A rule that makes no token and has one of them is not drawn.
const COMPLAINTS: &[&str] = &[
    "err",
    "exit",
    "abort",
    "fatal",
    "throw",
    "warn",
    "invalid",
    "illegal",
    "unknown",
    "unrecogni",
    "unexpected",
    "bad ",
];

/// Words of code that changes what is matched.
const CHANGES: &[&str] = &["REJECT", "yyless", "unput", "yyunput", "input", "yyinput"];

/// Words that change the start condition.
const MOVES: &[&str] = &["BEGIN", "yy_push_state", "yy_pop_state"];

/// The meaning of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) made: Made,
    /// The changes of the start condition.
    pub(super) moves: Vec<Change>,
    /// Whether the next match goes on with this one.
    pub(super) goes_on: bool,
    /// The reason why it is not read as a whole.
    pub(super) doubt: Option<Doubt>,
}

/// The use that an action makes of its match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Made {
    /// Nothing: the match is skipped.
    #[default]
    Nothing,
    /// A token, by its number.
    Token(usize),
    /// The token that is the first character of the match.
    FirstCharacter,
    /// Tokens that are looked up by their texts, and the token of all other texts.
    Words(Vec<(String, usize)>, Option<usize>),
    /// Something that is never drawn: a mistake, or a token that the grammar does not have.
    Unused,
}

/// A change of the start condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Begin(String),
    Push(String),
    Pop,
}

/// A part of an action that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// Code changes what is matched.
    Changes,
    /// Code decides which token it is.
    Decides,
    /// One of several tokens is taken.
    OneOfSeveral,
    /// The token is made only under a condition.
    Sometimes,
}

/// Facts about the file and its grammar that actions need.
pub(super) struct Facts<'f> {
    /// Returns the number of the token with a name.
    pub(super) named: &'f dyn Fn(&str) -> Option<usize>,
    /// Returns the number of the token that is a character.
    pub(super) character: &'f dyn Fn(&str) -> Option<usize>,
    /// The code of the file outside of its rules.
    pub(super) code: &'f [Token<'f>],
    /// The functions in it.
    pub(super) functions: Map<&'f str, &'f [Token<'f>]>,
}

/// A value that an action returns, and whether it does so only under a condition.
struct Returned {
    value: Value,
    is_conditional: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Token(usize),
    FirstCharacter,
    /// The token is one of several.
    Several(usize),
    /// A number, or a token that the grammar does not have.
    Unused,
    /// A variable, or a call of the function of this name.
    Code(String),
}

impl Facts<'_> {
    /// Returns the meaning of an action.
    pub(super) fn action(&self, code: &[Token<'_>]) -> Action {
        let moves = self.moves(code);
        let is_changed = CHANGES.iter().any(|word| code.iter().any(|token| token.is(word)) || self.calls(code, word))
            || MOVES.iter().any(|word| self.calls(code, word));
        if is_changed || moves.is_none() {
            return Action { made: Made::Unused, doubt: Some(Doubt::Changes), ..Action::default() };
        }
        let (made, doubt) = self.made(code);
        let goes_on = made == Made::Nothing && code.iter().any(|token| token.is("yymore"));
        Action { made, moves: moves.unwrap_or_default(), goes_on, doubt }
    }

    /// Returns true if a function of the file that code calls has a word.
    fn calls(&self, code: &[Token<'_>], word: &str) -> bool {
        let is_called = |token: &Token<'_>| match token {
            Token::Word(name) => self.functions.get(name).is_some_and(|body| body.iter().any(|token| token.is(word))),
            _ => false,
        };
        code.iter().any(is_called)
    }

    /// Returns the changes of the start condition. `None` if code computes one, or makes one of several.
    fn moves(&self, code: &[Token<'_>]) -> Option<Vec<Change>> {
        let mut moves: Vec<Change> = Vec::new();
        for (at, token) in code.iter().enumerate() {
            let Token::Word(word) = token else { continue };
            if !MOVES.contains(word) {
                continue;
            }
            if *word == "yy_pop_state" {
                moves.push(Change::Pop);
                continue;
            }
            let argument = match code.get(at + 1..)? {
                [Token::Sign('('), Token::Word(name) | Token::Number(name), Token::Sign(')' | ','), ..] => *name,
                [Token::Word(name) | Token::Number(name), ..] => *name,
                _ => return None,
            };
            let name = if argument == "0" { "INITIAL" } else { argument }.to_string();
            moves.push(if *word == "BEGIN" { Change::Begin(name) } else { Change::Push(name) });
        }
        moves.dedup();
        (moves.len() < 2).then_some(moves)
    }

    fn made(&self, code: &[Token<'_>]) -> (Made, Option<Doubt>) {
        let returned = self.returned(code);
        let plain = returned.iter().filter(|one| !one.is_conditional).map(|one| &one.value).next_back();
        let mut tokens: Vec<&Value> = returned.iter().map(|one| &one.value).filter(|value| value.is_token()).collect();
        tokens.dedup();
        let decided =
            returned.iter().find_map(|one| if let Value::Code(name) = &one.value { Some(name) } else { None });
        if let Some(name) = decided {
            return self.looked_up(name, code, tokens.first().copied());
        }
        let sometimes = (plain.is_none() && !tokens.is_empty()).then_some(Doubt::Sometimes);
        let doubt = if tokens.len() > 1 { Some(Doubt::OneOfSeveral) } else { sometimes };
        match plain.or(tokens.first().copied()) {
            Some(Value::Token(token)) => (Made::Token(*token), doubt),
            Some(Value::Several(token)) => (Made::Token(*token), Some(Doubt::OneOfSeveral)),
            Some(Value::FirstCharacter) => (Made::FirstCharacter, doubt),
            Some(Value::Unused | Value::Code(_)) => (Made::Unused, None),
            None if complains(code) => (Made::Unused, None),
            None => (Made::Nothing, None),
        }
    }

    /// Returns what an action makes that returns the result of a function, or a variable.
    fn looked_up(&self, name: &str, code: &[Token<'_>], other: Option<&Value>) -> (Made, Option<Doubt>) {
        let mut assigned: Vec<usize> = self.names_in(code);
        assigned.dedup();
        let other = match other {
            Some(Value::Token(token) | Value::Several(token)) => Some(*token),
            _ => assigned.first().copied(),
        };
        let body = self.functions.get(name).copied();
        let mut words = words(code, self.named);
        words.extend(words_of_all(self, body.is_some() || other.is_none()));
        let listed: Set<usize> = words.iter().map(|&(_, token)| token).collect();
        let mut results: Vec<usize> = body.map_or_else(Vec::new, |body| self.results(body));
        results.retain(|token| !listed.contains(token));
        let other = other.or(results.first().copied());
        if words.is_empty() && other.is_none() {
            return (Made::Unused, Some(Doubt::Decides));
        }
        let doubt = (words.is_empty() || results.len() > 1).then_some(Doubt::Decides);
        (Made::Words(words, other), doubt)
    }

    /// Returns the tokens that a function returns.
    fn results(&self, body: &[Token<'_>]) -> Vec<usize> {
        let returned = self.returned(body).into_iter();
        let mut tokens: Vec<usize> =
            returned.filter_map(|one| if let Value::Token(token) = one.value { Some(token) } else { None }).collect();
        tokens.dedup();
        tokens
    }

    /// Returns the tokens that code names.
    fn names_in(&self, code: &[Token<'_>]) -> Vec<usize> {
        let named = |token: &Token<'_>| if let Token::Word(word) = token { (self.named)(word) } else { None };
        code.iter().filter_map(named).collect()
    }

    /// Returns the values that code returns, in their order.
    fn returned(&self, code: &[Token<'_>]) -> Vec<Returned> {
        let mut found = Vec::new();
        // For each open brace, whether a condition stands before it.
        let mut blocks: Vec<bool> = Vec::new();
        let mut is_guarded = false;
        let mut is_statement = true;
        let mut at = 0;
        while at < code.len() {
            let is_conditional = is_guarded || blocks.contains(&true);
            let begins = std::mem::replace(&mut is_statement, matches!(code[at], Token::Sign(';' | '{' | '}')));
            match &code[at] {
                Token::Word("if" | "while" | "for" | "switch") => {
                    is_guarded = true;
                    is_statement = true;
                    at = closed(code, at + 1, ('(', ')')).unwrap_or(code.len());
                    continue;
                }
                Token::Word("else" | "do") => (is_guarded, is_statement) = (true, true),
                Token::Word("return") => {
                    let end = end_of_statement(code, at);
                    found.push(Returned { value: self.value(&code[at + 1..end]), is_conditional });
                    at = end;
                    continue;
                }
                Token::Word("yyterminate") => found.push(Returned { value: Value::Unused, is_conditional }),
                Token::Word(name) if begins && !matches!(*name, "BEGIN" | "yy_push_state") => {
                    // A macro such as `RETURN(TOKEN)`.
                    let end = end_of_statement(code, at);
                    if code.get(at + 1) == Some(&Token::Sign('('))
                        && let [token] = self.names_in(&code[at + 1..end])[..]
                        && !code.iter().any(|token| token.is("return"))
                    {
                        found.push(Returned { value: Value::Token(token), is_conditional });
                    }
                }
                Token::Sign('{') => blocks.push(std::mem::take(&mut is_guarded)),
                Token::Sign('}') => drop(blocks.pop()),
                Token::Sign(';') => is_guarded = false,
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// Returns the value of an expression.
    fn value(&self, code: &[Token<'_>]) -> Value {
        let mut tokens = self.names_in(code);
        if tokens.is_empty() {
            let character =
                |token: &Token<'_>| if let Token::Char(text) = token { (self.character)(text) } else { None };
            tokens = code.iter().filter_map(character).collect();
        }
        tokens.dedup();
        match tokens[..] {
            [token] => return Value::Token(token),
            [token, ..] => return Value::Several(token),
            [] => {}
        }
        let reads_text = code.iter().any(|token| token.is("yytext") || token.is("YYText"));
        let word = code.iter().find_map(|token| if let Token::Word(word) = token { Some(*word) } else { None });
        let is_call = code.windows(2).any(|pair| matches!(pair, [Token::Word(_), Token::Sign('(')]));
        let is_constant = |word: &str| !word.chars().any(char::is_lowercase);
        match word {
            Some(_) if reads_text && is_first(code) => Value::FirstCharacter,
            None => Value::Unused,
            Some(word) if !is_call && is_constant(word) => Value::Unused,
            Some(word) => Value::Code(word.to_string()),
        }
    }
}

impl Value {
    fn is_token(&self) -> bool {
        matches!(self, Value::Token(_) | Value::Several(_) | Value::FirstCharacter)
    }
}

/// Returns the words of all tables of a file, if they are asked for.
fn words_of_all(facts: &Facts<'_>, are_asked: bool) -> Vec<(String, usize)> {
    if are_asked { words(facts.code, facts.named) } else { Vec::new() }
}

/// Returns true if code has `yytext[0]` or `*yytext`.
fn is_first(code: &[Token<'_>]) -> bool {
    let is_text = |token: &Token<'_>| token.is("yytext") || token.is("YYText");
    let is_indexed =
        |part: &[Token<'_>]| is_text(&part[0]) && part[1..] == [Token::Sign('['), Token::Number("0"), Token::Sign(']')];
    let is_pointed = |part: &[Token<'_>]| part[0] == Token::Sign('*') && is_text(&part[1]);
    let is_called = code.iter().any(|token| token.is("YYText")) && code.contains(&Token::Number("0"));
    code.windows(4).any(is_indexed) || code.windows(2).any(is_pointed) || is_called
}

/// Returns the place of the semicolon that ends the statement at `start`.
fn end_of_statement(code: &[Token<'_>], start: usize) -> usize {
    let length = code[start..].iter().position(|token| *token == Token::Sign(';'));
    length.map_or(code.len(), |length| start + length)
}

/// Returns true if code reports a mistake.
fn complains(code: &[Token<'_>]) -> bool {
    code.iter().any(|token| {
        let (Token::Word(_) | Token::Text(_)) = token else { return false };
        let text = match token {
            Token::Word(word) => word.to_ascii_lowercase(),
            Token::Text(text) => text.to_ascii_lowercase(),
            _ => return false,
        };
        COMPLAINTS.iter().any(|mark| text.contains(mark))
    })
}

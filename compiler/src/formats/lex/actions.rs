//! The meaning of an action's code: the token that it makes of a match, and the start condition that follows.

use std::rc::Rc;

use super::code::Token;
use super::lookups::{Effects, MOVES, changes, closings, words};
use crate::ordered::{Map, Set};

/// Parts of names and texts that report a mistake. A rule that makes no token and has one of them is not drawn.
const COMPLAINTS: &[&str] =
    &["error", "abort", "fatal", "warning", "invalid", "illegal", "unknown", "unrecogni", "unexpected", "unterminated"];
/// Words that report a mistake as whole parts of a name, or as words of a text.
const SHORT_COMPLAINTS: &[&str] = &["err", "warn", "throw", "bad", "die", "panic"];

/// The most tokens of C between the parentheses of a macro that makes a token.
const MAX_ARGUMENTS: usize = 64;

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
    /// Tokens that are looked up by their texts.
    Words(Words),
    /// Something that is never drawn: a mistake, or a token that the grammar does not have.
    Unused,
}

/// Words that code looks up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The words of the action itself, each with its token.
    pub(super) own: Vec<(String, usize)>,
    /// Whether the tables of the whole file also count.
    pub(super) has_tables: bool,
    /// The token of all other texts.
    pub(super) other: Option<usize>,
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
    /// Code changes the start condition under a condition, or where its change is not seen.
    Turns,
    /// Code decides which token it is.
    Decides,
    /// One of several tokens is taken.
    OneOfSeveral,
    /// The token is made only under a condition.
    Sometimes,
    /// Code seems to report a mistake.
    Mistake,
}

/// Facts about the file and its grammar that actions need.
pub(super) struct Facts<'f> {
    /// Returns the number of the token with a name.
    named: &'f dyn Fn(&str) -> Option<usize>,
    /// Returns the number of the token that is a character.
    character: &'f dyn Fn(&str) -> Option<usize>,
    /// The number of the token that is never drawn.
    unused: usize,
    /// The words of the file's tables.
    pub(super) words: Rc<[(String, usize)]>,
    /// The tokens of these words.
    listed: Set<usize>,
    effects: Effects<'f>,
    /// The tokens that each function returns.
    results: Map<&'f str, Vec<usize>>,
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

/// The effect of an action on the start condition, and on what is matched.
enum Turn {
    Moves(Vec<Change>),
    /// Nothing that is certain, or seen.
    Unknown,
    /// Text is read or given back.
    Changes,
}

impl<'f> Facts<'f> {
    /// Returns the facts about a file, given its code, and the functions and macros in it.
    pub(super) fn new(
        named: &'f dyn Fn(&str) -> Option<usize>,
        character: &'f dyn Fn(&str) -> Option<usize>,
        unused: usize,
        code: &[Token<'f>],
        functions: &Map<&'f str, &[Token<'f>]>,
        macros: &Map<&'f str, Vec<Token<'f>>>,
    ) -> Facts<'f> {
        let bodies = functions.iter().map(|(name, body)| (*name, *body));
        let effects = Effects::new(bodies, macros.iter().map(|(name, body)| (*name, body.as_slice())));
        let words: Rc<[_]> = words(code, named).into();
        let listed = words.iter().map(|&(_, token)| token).collect();
        let mut facts = Facts { named, character, unused, words, listed, effects, results: Map::new() };
        let results = functions.iter().map(|(name, body)| (*name, facts.results_of(body))).collect();
        facts.results = results;
        facts
    }

    /// Returns the meaning of an action.
    pub(super) fn action(&self, code: &[Token<'_>]) -> Action {
        let statements = self.statements(code);
        let moves = match self.turn(code, &statements.guarded) {
            Turn::Moves(moves) => moves,
            Turn::Unknown => return Action::unread(Doubt::Turns),
            Turn::Changes => return Action::unread(Doubt::Changes),
        };
        let (made, doubt) = self.made(code, &statements.returned);
        let mut more = code.iter().enumerate().filter(|(_, token)| token.is("yymore")).map(|(at, _)| at);
        let goes_on = made == Made::Nothing && more.clone().next().is_some();
        if goes_on && more.any(|at| statements.guarded[at]) {
            return Action::unread(Doubt::Changes);
        }
        Action { made, moves, goes_on, doubt }
    }

    /// Returns the changes of the start condition. Code may change it under a condition, compute the next one, or make
    /// one of several changes.
    fn turn(&self, code: &[Token<'_>], guarded: &[bool]) -> Turn {
        let mut moves: Vec<Change> = Vec::new();
        let mut is_unknown = false;
        for (at, token) in code.iter().enumerate() {
            let Token::Word(word) = token else { continue };
            if changes(code, at) || self.effects.changing.contains(word) {
                return Turn::Changes;
            }
            is_unknown |= self.effects.moving.contains(word);
            if MOVES.contains(word) {
                is_unknown |= guarded[at];
                match change(word, &code[at + 1..]) {
                    Some(change) => moves.push(change),
                    None => is_unknown = true,
                }
            }
        }
        moves.dedup();
        if is_unknown || moves.len() > 1 { Turn::Unknown } else { Turn::Moves(moves) }
    }

    fn made(&self, code: &[Token<'_>], returned: &[Returned]) -> (Made, Option<Doubt>) {
        let plain = returned.iter().filter(|one| !one.is_conditional).map(|one| &one.value).next_back();
        let mut tokens: Vec<&Value> = returned.iter().map(|one| &one.value).filter(|value| value.is_token()).collect();
        tokens.dedup();
        let decided =
            returned.iter().find_map(|one| if let Value::Code(name) = &one.value { Some(name) } else { None });
        if let Some(name) = decided {
            return self.looked_up(name, code, &tokens);
        }
        let sometimes = (plain.is_none() && !tokens.is_empty()).then_some(Doubt::Sometimes);
        let doubt = if tokens.len() > 1 { Some(Doubt::OneOfSeveral) } else { sometimes };
        let drawn = tokens.iter().find(|value| !matches!(value, Value::Token(token) if *token == self.unused));
        match plain.or(drawn.or(tokens.first()).copied()) {
            Some(Value::Token(token)) => (Made::Token(*token), doubt),
            Some(Value::Several(token)) => (Made::Token(*token), Some(Doubt::OneOfSeveral)),
            Some(Value::FirstCharacter) => (Made::FirstCharacter, doubt),
            Some(Value::Unused | Value::Code(_)) => (Made::Unused, None),
            None if code.iter().any(|token| self.has_hidden_return(token)) => (Made::Unused, Some(Doubt::Decides)),
            None if complains(code) => (Made::Unused, Some(Doubt::Mistake)),
            None => (Made::Nothing, None),
        }
    }

    /// Returns true if a token is a macro that returns.
    fn has_hidden_return(&self, token: &Token<'_>) -> bool {
        matches!(token, Token::Word(word) if self.effects.returning.contains(word))
    }

    /// Returns what an action makes that returns the result of a function, or a variable.
    fn looked_up(&self, name: &str, code: &[Token<'_>], returned: &[&Value]) -> (Made, Option<Doubt>) {
        let own = words(code, self.named);
        let of_own: Set<usize> = own.iter().map(|&(_, token)| token).collect();
        let is_word = |token: usize| of_own.contains(&token);
        let other = returned.iter().find_map(|value| match value {
            Value::Token(token) | Value::Several(token) if !is_word(*token) => Some(*token),
            Value::Token(_) | Value::Several(_) | Value::FirstCharacter | Value::Unused | Value::Code(_) => None,
        });
        let other = other.or_else(|| self.assigned(code));
        // A variable may hold the result of a function.
        let is_set =
            |part: &[Token<'_>]| part[0].is(name) && part[1] == Token::Sign('=') && part[3] == Token::Sign('(');
        let called = code.windows(4).find(|part| is_set(part)).and_then(|part| match &part[2] {
            Token::Word(called) => self.results.get(called),
            Token::Number(_) | Token::Text(_) | Token::Char(_) | Token::Sign(_) => None,
        });
        let function = self.results.get(name).or(called);
        let has_tables = function.is_some() || other.is_none();
        let is_listed = |token: usize| is_word(token) || has_tables && self.listed.contains(&token);
        let results = function.map_or(&[][..], Vec::as_slice);
        let mut others = results.iter().copied().filter(|token| !is_listed(*token));
        let other = other.or(others.next());
        if of_own.is_empty() && (!has_tables || self.listed.is_empty()) && other.is_none() {
            return (Made::Unused, Some(Doubt::Decides));
        }
        let doubt = others.next().map(|_| Doubt::Decides);
        (Made::Words(Words { own, has_tables, other }), doubt)
    }

    /// Returns the first token that code assigns to a variable, of those that are drawn if there are any.
    fn assigned(&self, code: &[Token<'_>]) -> Option<usize> {
        let mut first = None;
        let is_sign =
            |at: usize, signs: &[char]| matches!(code.get(at), Some(Token::Sign(sign)) if signs.contains(sign));
        let mut is_value = false;
        for (at, token) in code.iter().enumerate() {
            match token {
                Token::Sign('=') => {
                    let compares = at > 0 && is_sign(at - 1, &['=', '!', '<', '>']) || is_sign(at + 1, &['=']);
                    is_value = !compares;
                }
                Token::Sign(';' | '{' | '}' | ')' | '!' | '<' | '>') => is_value = false,
                Token::Word(word) if is_value && let Some(token) = (self.named)(word) => {
                    first = first.or(Some(token));
                    if token != self.unused {
                        return Some(token);
                    }
                }
                Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Char(_) | Token::Sign(_) => {}
            }
        }
        first
    }

    /// Returns the tokens that a function returns.
    fn results_of(&self, body: &[Token<'_>]) -> Vec<usize> {
        let returned = self.statements(body).returned.into_iter();
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

    /// Returns the values that code returns, in their order, and what of the code stands under a condition.
    fn statements(&self, code: &[Token<'_>]) -> Statements {
        let has_return = code.iter().any(|token| token.is("return"));
        let mut walk = Walk { closings: closings(code), guarded: vec![false; code.len()], ..Walk::default() };
        let mut returned = Vec::new();
        let mut begins = true;
        let mut at = 0;
        while at < code.len() {
            let is_conditional = walk.is_guarded();
            walk.guarded[at] = is_conditional || walk.is_chosen || walk.has_left;
            let begins_here = std::mem::replace(&mut begins, matches!(code[at], Token::Sign(';' | '{' | '}')));
            match &code[at] {
                Token::Word("if" | "while" | "for" | "switch") => {
                    (walk.is_next_guarded, begins) = (true, true);
                    let head = walk.closings.get(at + 1).copied().flatten().unwrap_or(at + 1);
                    walk.guarded[at..head].fill(true);
                    at = head;
                    continue;
                }
                Token::Word("else" | "do") => (walk.is_next_guarded, begins) = (true, true),
                Token::Word("return") => {
                    let end = end_of_statement(code, at);
                    let value = self.value(&code[at + 1..end]);
                    walk.guarded[at..end].fill(is_conditional || walk.has_left);
                    walk.has_left |= value != Value::Unused;
                    returned.push(Returned { value, is_conditional });
                    at = end;
                    continue;
                }
                Token::Word("yyterminate") => returned.push(Returned { value: Value::Unused, is_conditional }),
                Token::Word(name) if begins_here && !has_return && !MOVES.contains(name) => {
                    let value = self.made_by_macro(code, at + 1, &walk.closings);
                    returned.extend(value.map(|value| Returned { value, is_conditional }));
                }
                Token::Sign('{') => walk.open(),
                Token::Sign('}') => walk.close(),
                Token::Sign(';') => (walk.is_next_guarded, walk.is_chosen) = (false, false),
                Token::Sign('?' | '&' | '|') => walk.is_chosen = true,
                Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Char(_) | Token::Sign(_) => {}
            }
            at += 1;
        }
        Statements { returned, guarded: walk.guarded }
    }

    /// Returns the token that a macro such as `RETURN(TOKEN)` makes, whose arguments begin at `open`.
    fn made_by_macro(&self, code: &[Token<'_>], open: usize, closings: &[Option<usize>]) -> Option<Value> {
        let end = closings.get(open).copied().flatten()?;
        if code[open] != Token::Sign('(') || end - open > MAX_ARGUMENTS {
            return None;
        }
        match self.names_in(&code[open..end])[..] {
            [token] => Some(Value::Token(token)),
            _ => None,
        }
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
            // A token that is drawn says more than one that is not.
            [first, ..] => {
                return Value::Several(tokens.iter().copied().find(|token| *token != self.unused).unwrap_or(first));
            }
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

impl Action {
    /// Returns the meaning of code that is not read.
    fn unread(doubt: Doubt) -> Action {
        Action { made: Made::Unused, doubt: Some(doubt), ..Action::default() }
    }
}

impl Value {
    fn is_token(&self) -> bool {
        matches!(self, Value::Token(_) | Value::Several(_) | Value::FirstCharacter)
    }
}

/// The statements of code.
struct Statements {
    returned: Vec<Returned>,
    /// Marks of the tokens that stand under a condition, or after a place at which the code may be left.
    guarded: Vec<bool>,
}

/// A walk over the statements of code.
#[derive(Default)]
struct Walk {
    closings: Vec<Option<usize>>,
    guarded: Vec<bool>,
    /// For each open brace, whether a condition stands before it.
    blocks: Vec<bool>,
    /// The number of open braces after a condition.
    guards: usize,
    /// Whether a condition stands before the next statement.
    is_next_guarded: bool,
    /// Whether an operator of this statement chooses what is evaluated.
    is_chosen: bool,
    /// Whether a token may have been returned before this place.
    has_left: bool,
}

impl Walk {
    fn is_guarded(&self) -> bool {
        self.is_next_guarded || self.guards > 0
    }

    fn open(&mut self) {
        self.guards += usize::from(self.is_next_guarded);
        self.blocks.push(std::mem::take(&mut self.is_next_guarded));
        self.is_chosen = false;
    }

    fn close(&mut self) {
        self.guards -= usize::from(self.blocks.pop().unwrap_or_default());
        self.is_chosen = false;
    }
}

/// Returns the change of the start condition that a word makes, given the code after it. `None` if code computes it.
fn change(word: &str, behind: &[Token<'_>]) -> Option<Change> {
    if word == "yy_pop_state" {
        return Some(Change::Pop);
    }
    let argument = match behind {
        [Token::Sign('('), Token::Word(name) | Token::Number(name), Token::Sign(')' | ','), ..] => *name,
        [Token::Word(name) | Token::Number(name), ..] => *name,
        _ => return None,
    };
    let name = if argument == "0" { "INITIAL" } else { argument }.to_string();
    Some(if word == "BEGIN" { Change::Begin(name) } else { Change::Push(name) })
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
    code.iter().any(|token| match token {
        Token::Word(text) => is_complaint(text),
        Token::Text(text) => is_complaint(text),
        Token::Number(_) | Token::Char(_) | Token::Sign(_) => false,
    })
}

/// Returns true if a name or text reports a mistake. `stderr` and `terrain` do not.
fn is_complaint(text: &str) -> bool {
    let lower = text.to_lowercase();
    text == "exit"
        || COMPLAINTS.iter().any(|mark| lower.contains(mark))
        || parts(text).any(|part| SHORT_COMPLAINTS.contains(&part.as_str()))
}

/// Returns the parts of a name such as `lexError` or `lex_error`, and the words of a text, in lower case.
fn parts(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.flat_map(|word| {
        let begins = word.char_indices().zip(word.chars().skip(1));
        let bumps = begins.filter(|((_, before), c)| before.is_lowercase() && c.is_uppercase());
        let mut cuts: Vec<usize> = bumps.map(|((at, before), _)| at + before.len_utf8()).collect();
        cuts.push(word.len());
        let mut from = 0;
        let part = move |to: usize| word[std::mem::replace(&mut from, to)..to].to_lowercase();
        cuts.into_iter().map(part)
    })
}

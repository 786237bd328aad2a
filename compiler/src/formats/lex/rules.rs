//! Makes the rules of a lexer from those of a file of lex.

use std::ops::Range;
use std::rc::Rc;

use super::actions::{Action, Change, Doubt, Facts, Made, Words};
use super::code;
use super::definitions::Definitions;
use super::file::{self, File, Rule, Text};
use super::lookups::functions;
use super::matching::Matching;
use super::patterns::{self, Context, Matched};
use super::strings::join_parts;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use crate::formats::builder::Builder;
use crate::formats::given::from_another;
use crate::ordered::{Map, Set};
use crate::tokens::{Fragment, LexerRule, Move, Outcome, Pattern};

/// The most rules of all start conditions together.
const MAX_RULES: usize = 1 << 15;
/// The most parts of a name that are taken for a prefix.
const MAX_PREFIXES: usize = 16;
/// The least number of characters in a set that matches whatever nothing else does.
const MANY: usize = 64;

/// The tokens that a grammar has.
pub(in crate::formats) struct Wanted<'w> {
    /// Their names, of which those in apostrophes are characters.
    pub(in crate::formats) names: &'w [String],
    /// The names of tokens that the grammar only declares.
    pub(in crate::formats) declared: &'w Set<&'w str>,
    /// The number of a token that the grammar never uses.
    pub(in crate::formats) unused: usize,
    /// The place that the rules are given.
    pub(in crate::formats) span: Span,
}

/// The lexer that a file of lex describes.
pub(in crate::formats) struct Lexed {
    pub(in crate::formats) modes: usize,
    pub(in crate::formats) rules: Vec<LexerRule>,
    pub(in crate::formats) fragments: Vec<Fragment>,
    /// Whether some actions are not read, so that they may make other tokens.
    pub(in crate::formats) has_unread: bool,
    /// Whether the beginnings of lines matter.
    pub(in crate::formats) minds_lines: bool,
}

/// A rule of the lexer before its name is known.
pub(super) struct Draft {
    pub(super) mode: usize,
    pub(super) pattern: Pattern,
    pub(super) outcome: Outcome,
    pub(super) moves: Vec<Move>,
    /// Whether it is never drawn.
    pub(super) is_unread: bool,
}

/// Reads a file of lex. `None` if it has errors; these are reported.
pub(in crate::formats) fn read(file: &SourceFile, wanted: &Wanted<'_>, diagnostics: &mut Diagnostics) -> Option<Lexed> {
    let mut found = Diagnostics::default();
    let lexed = if crate::formats::refuse_huge_file(file, &mut found) {
        None
    } else {
        let mut builder = Builder::new(&mut found);
        let parsed = file::read(file.text(), &mut builder);
        lexed(&parsed, wanted, &mut builder)
    };
    found.sort();
    from_another(file, &found).for_each(|diagnostic| diagnostics.push(diagnostic));
    lexed.filter(|_| !found.has_errors())
}

fn lexed(file: &File<'_>, wanted: &Wanted<'_>, builder: &mut Builder<'_>) -> Option<Lexed> {
    let numbers: Map<&str, usize> =
        file.definitions.iter().enumerate().map(|(number, definition)| (definition.name, number)).collect();
    let context = Context { definitions: &numbers, ignores_case: file.ignores_case };
    let mut definitions = Definitions::read(&file.definitions, &context, wanted.span);
    let mut making = Making {
        file,
        wanted,
        definitions: &mut definitions,
        modes: file.states.iter().enumerate().map(|(number, state)| (state.name, number)).collect(),
        drafts: Vec::new(),
        trailing: Vec::new(),
        has_unread: false,
        minds_lines: false,
        builder,
    };
    making.rules(&context);
    making.keep_trailing();
    let Making { mut drafts, has_unread, minds_lines, .. } = making;
    definitions.report(&context, builder);
    join_parts(&mut drafts, file.states.len(), |mode| file.states[mode].is_exclusive);
    let rules = drafts.into_iter().map(|draft| named(draft, wanted)).collect();
    Some(Lexed { modes: file.states.len(), rules, fragments: definitions.fragments, has_unread, minds_lines })
}

fn named(draft: Draft, wanted: &Wanted<'_>) -> LexerRule {
    let Draft { mode, pattern, outcome, moves, .. } = draft;
    let name = match outcome {
        Outcome::Token(token) => wanted.names.get(token).map_or("unused", String::as_str),
        Outcome::Hidden => "skipped",
        Outcome::More => "part",
    };
    LexerRule { name: name.to_string(), span: wanted.span, mode, pattern, outcome, moves }
}

struct Making<'m, 't, 'b, 'd> {
    file: &'m File<'t>,
    wanted: &'m Wanted<'m>,
    definitions: &'m mut Definitions<'t>,
    modes: Map<&'t str, usize>,
    drafts: Vec<Draft>,
    /// The places of rules with a trailing context, each with the pattern before it and its token.
    trailing: Vec<(Range<usize>, Pattern, usize)>,
    has_unread: bool,
    minds_lines: bool,
    builder: &'b mut Builder<'d>,
}

/// The words and characters that actions may look up.
struct Looked<'l> {
    /// The words of the file's tables.
    tables: Rc<[(String, usize)]>,
    matching: Matching<'l>,
    /// The characters that are tokens, in ascending order.
    characters: Vec<(u32, usize)>,
}

impl<'t> Making<'_, 't, '_, '_> {
    fn rules(&mut self, context: &Context<'_>) {
        let file = self.file;
        let wanted = self.wanted;
        let by_name: Map<&str, usize> =
            wanted.names.iter().enumerate().map(|(number, name)| (name.as_str(), number)).collect();
        let named = |word: &str| named_token(word, &by_name, wanted);
        let character = |text: &str| by_name.get(format!("'{text}'").as_str()).copied();
        let defined = code::macros(&file.code);
        let code: Vec<code::Token<'_>> = file.code.iter().flat_map(|code| code::tokens(code, &defined)).collect();
        let bodies = defined.iter().map(|(name, body)| (*name, code::tokens(body, &Map::new()))).collect();
        let facts = Facts::new(&named, &character, wanted.unused, &code, &functions(&code), &bodies);
        // A rule without an action has that of the next one, so the last comes first.
        let mut action = Rc::new(Action::default());
        let mut actions: Vec<Rc<Action>> = Vec::new();
        for rule in file.rules.iter().rev() {
            if let Some(code) = rule.action {
                action = Rc::new(facts.action(&code::tokens(code, &defined)));
            }
            actions.push(action.clone());
        }
        let fragments = self.definitions.fragments.clone();
        let mut looked = Looked {
            tables: facts.words.clone(),
            matching: Matching::new(&fragments),
            characters: characters(wanted.names),
        };
        for (rule, action) in file.rules.iter().zip(actions.into_iter().rev()) {
            let is_end = rule.pattern.text == "<<EOF>>";
            if self.builder.gives_up() || self.drafts.len() > MAX_RULES {
                break;
            }
            let before = self.builder.expressions();
            if let Ok(matched) = patterns::rule(rule.pattern, context, self.builder)
                && !is_end
            {
                // Each further start condition has a copy of the pattern.
                let size = self.builder.expressions() - before;
                let copies = rule.states.len().saturating_sub(1);
                if self.builder.count(size.saturating_mul(copies), span_of(rule)).is_ok() {
                    self.rule(rule, matched, &action, &mut looked);
                }
            }
        }
        if self.drafts.len() > MAX_RULES {
            let message = format!("the start conditions have more than {MAX_RULES} rules");
            let help = "use fewer rules, start conditions, or words in tables";
            self.builder.report(Diagnostic::error(Code::TooLarge, None, message).help(help));
        }
    }

    fn rule(&mut self, rule: &Rule<'t>, matched: Matched, action: &Action, looked: &mut Looked<'_>) {
        let span = span_of(rule);
        let Matched { mut pattern, at_line_start, trailing } = matched;
        let whole = trailing.iter().chain([&pattern]);
        if self.definitions.are_placed(whole) {
            self.minds_lines = true;
            let help = "write `^`, `$` and `/` in the rule itself; other rules may match these texts";
            self.builder.approximate(span, "a rule is left out whose definition has `^`, `$` or `/`", help);
            return;
        }
        if at_line_start {
            self.minds_lines = true;
            let help = "at the beginning of a line, texts of other rules may be cut otherwise; write a rule without `^` if \
                        its texts may stand anywhere";
            self.builder.approximate(span, "rules with `^` are left out, as the lines of texts are not followed", help);
            return;
        }
        self.doubt(action, &pattern, span);
        let moves = self.moves(action, span);
        let unread = Action { made: Made::Unused, ..Action::default() };
        let (action, moves) = match moves {
            Some(moves) => (action, moves),
            None => (&unread, Vec::new()),
        };
        let is_hidden = action.made == Made::Nothing && !action.goes_on;
        let kept = trailing.as_ref().filter(|_| !is_hidden).map(|_| pattern.clone());
        if let Some(trailing) = trailing {
            let help = "its token is drawn from rules without that; if there are none, whatever follows";
            self.builder.approximate(span, "what must follow a match, after `/` or `$`, is not asked for", help);
            if kept.is_some() {
                pattern = Pattern::Seq(vec![pattern, trailing]);
            }
        }
        let first = self.drafts.len();
        let made = match (&kept, &action.made) {
            (Some(_), Made::Token(_)) => vec![(pattern, Outcome::Token(self.wanted.unused))],
            _ => self.made(pattern, action, looked, span),
        };
        self.add(&rule.states, &made, &moves);
        if let (Some(kept), Made::Token(token)) = (kept, &action.made) {
            self.trailing.push((first..self.drafts.len(), kept, *token));
        }
    }

    /// Adds rules to start conditions. A change to the same one is none.
    fn add(&mut self, states: &[usize], made: &[(Pattern, Outcome)], moves: &[Move]) {
        for &mode in states {
            let moves: Vec<Move> = moves.iter().copied().filter(|&moved| moved != Move::Switch(mode)).collect();
            for (pattern, outcome) in made {
                if self.drafts.len() > MAX_RULES {
                    return;
                }
                let is_unread = *outcome == Outcome::Token(self.wanted.unused);
                let (pattern, moves) = (pattern.clone(), moves.clone());
                self.drafts.push(Draft { mode, pattern, outcome: *outcome, moves, is_unread });
            }
        }
    }

    /// Reports what is not read of an action.
    fn doubt(&mut self, action: &Action, pattern: &Pattern, span: Span) {
        let Some(doubt) = action.doubt else { return };
        let is_usual = || self.definitions.sets.set(pattern).is_some_and(|set| set.len() as usize >= MANY);
        if doubt == Doubt::Mistake && is_usual() {
            return;
        }
        self.report(doubt, span);
    }

    fn report(&mut self, doubt: Doubt, span: Span) {
        self.has_unread |= matches!(doubt, Doubt::Changes | Doubt::Turns | Doubt::Decides);
        let (message, help) = match doubt {
            Doubt::Changes => (
                "a rule whose code reads, or gives back, text is left out",
                "write one pattern for the whole text in a copy of this file",
            ),
            Doubt::Turns => (
                "a rule is left out whose start condition changes under a condition, or in other code",
                "write `BEGIN(NAME);` in the action itself, in a copy of this file",
            ),
            Doubt::Mistake => (
                "a rule whose code seems to report a mistake is never drawn",
                "if its texts are valid, leave out words such as `error` in a copy of this file",
            ),
            Doubt::Decides => (
                "code that is not read decides which token this is",
                "write a rule for each word, such as `if { return IF; }`, in a copy of this file",
            ),
            Doubt::OneOfSeveral => (
                "an action makes one of several tokens, of which one is taken",
                "write a rule for each of them in a copy of this file",
            ),
            Doubt::Sometimes => (
                "an action makes its token under a condition, which is not asked for",
                "some texts may not be valid; write a pattern for the texts that are in a copy of this file",
            ),
        };
        self.builder.approximate(span, message, help);
    }

    /// Returns the moves of an action. `None` if it begins a start condition that is not declared, which is reported.
    fn moves(&mut self, action: &Action, span: Span) -> Option<Vec<Move>> {
        let mut moves = Vec::new();
        for change in &action.moves {
            let (Change::Begin(name) | Change::Push(name)) = change else {
                moves.push(Move::Pop);
                continue;
            };
            let Some(&mode) = self.modes.get(name.as_str()) else {
                self.has_unread = true;
                let help = "its name is neither declared by `%x` or `%s`, nor `INITIAL`";
                let message = "a rule that begins a start condition which code chooses is left out";
                self.builder.approximate(span, message, help);
                return None;
            };
            moves.push(if matches!(change, Change::Begin(_)) { Move::Switch(mode) } else { Move::Push(mode) });
        }
        Some(moves)
    }

    /// Returns the patterns and outcomes of the rules that a rule becomes.
    fn made(
        &mut self,
        pattern: Pattern,
        action: &Action,
        looked: &mut Looked<'_>,
        span: Span,
    ) -> Vec<(Pattern, Outcome)> {
        let unused = Outcome::Token(self.wanted.unused);
        let (mut made, outcome) = match &action.made {
            Made::Nothing if action.goes_on => (Vec::new(), Outcome::More),
            Made::Nothing => (Vec::new(), Outcome::Hidden),
            Made::Token(token) => (Vec::new(), Outcome::Token(*token)),
            Made::Unused => (Vec::new(), unused),
            Made::Words(words) => {
                (self.words(words, &pattern, looked, span), words.other.map_or(unused, Outcome::Token))
            }
            Made::FirstCharacter => (self.first_characters(&pattern, looked, span), unused),
        };
        made.push((pattern, outcome));
        made
    }

    /// Returns the words that code looks up and that a pattern matches.
    fn words(
        &mut self,
        words: &Words,
        pattern: &Pattern,
        looked: &mut Looked<'_>,
        span: Span,
    ) -> Vec<(Pattern, Outcome)> {
        let Looked { tables, matching, .. } = looked;
        let all = words.own.iter().chain(tables.iter().filter(|_| words.has_tables));
        let mut made = Vec::new();
        let mut is_whole = true;
        for (word, token) in all {
            match matching.is_match(pattern, word) {
                Some(true) => made.push((self.word(word), Outcome::Token(*token))),
                Some(false) => {}
                None => is_whole = false,
            }
            if !is_whole || made.len() > MAX_RULES {
                break;
            }
        }
        // Whatever the code decides, it is one token then.
        let is_one = made.is_empty() && words.other.is_some();
        if made.is_empty() && !is_one || !is_whole {
            self.report(Doubt::Decides, span);
        }
        made
    }

    /// Returns the pattern of a word that code looks up.
    fn word(&self, word: &str) -> Pattern {
        let context = Context { definitions: &Map::new(), ignores_case: self.file.ignores_case };
        let quoted = format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""));
        let text = Text { name: "", text: &quoted, start: 0 };
        let mut unheard = Diagnostics::default();
        let read = patterns::rule(text, &context, &mut Builder::new(&mut unheard));
        read.map_or_else(|_| Pattern::text(word), |matched| matched.pattern)
    }

    /// Returns the characters that are tokens of the grammar and texts of a pattern.
    fn first_characters(&mut self, pattern: &Pattern, looked: &Looked<'_>, span: Span) -> Vec<(Pattern, Outcome)> {
        let Some(set) = self.definitions.sets.set(pattern) else { return Vec::new() };
        if self.builder.count(set.ranges().len() / 16, span).is_err() {
            return Vec::new();
        }
        let mut made = Vec::new();
        for &(low, high) in set.ranges() {
            let begin = looked.characters.partition_point(|&(character, _)| character < low);
            let members = looked.characters[begin..].iter().take_while(|&&(character, _)| character <= high);
            made.extend(members.filter_map(|&(character, token)| {
                let text = char::from_u32(character)?.to_string();
                Some((Pattern::text(&text), Outcome::Token(token)))
            }));
            if made.len() > MAX_RULES {
                break;
            }
        }
        made
    }

    /// Lets the tokens that only rules with a trailing context make be drawn whatever follows.
    fn keep_trailing(&mut self) {
        let made: Set<usize> = self.drafts.iter().filter_map(|draft| draft.token()).collect();
        for (places, pattern, token) in std::mem::take(&mut self.trailing) {
            if made.contains(&token) {
                continue;
            }
            for draft in &mut self.drafts[places] {
                (draft.pattern, draft.outcome, draft.is_unread) = (pattern.clone(), Outcome::Token(token), false);
            }
        }
    }
}

impl Draft {
    /// Returns the token that it makes.
    fn token(&self) -> Option<usize> {
        match self.outcome {
            Outcome::Token(token) => Some(token),
            Outcome::Hidden | Outcome::More => None,
        }
    }
}

fn span_of(rule: &Rule<'_>) -> Span {
    Span::new(rule.pattern.start, rule.pattern.start + rule.pattern.text.len())
}

/// Returns the token that a name in code stands for: its own, or one with a prefix such as `TOK_` and `make_`. A name
/// that the grammar only declares stands for a token that is never drawn.
fn named_token(word: &str, by_name: &Map<&str, usize>, wanted: &Wanted<'_>) -> Option<usize> {
    let known = |name: &str| by_name.get(name).copied().or(wanted.declared.contains(name).then_some(wanted.unused));
    known(word).or_else(|| word.match_indices('_').take(MAX_PREFIXES).find_map(|(at, _)| known(&word[at + 1..])))
}

/// Returns the tokens that are single characters, in ascending order.
fn characters(names: &[String]) -> Vec<(u32, usize)> {
    let only = |name: &str| {
        let mut characters = name.strip_prefix('\'')?.strip_suffix('\'')?.chars();
        characters.next().filter(|_| characters.next().is_none())
    };
    let tokens = names.iter().enumerate().filter_map(|(token, name)| Some((u32::from(only(name)?), token)));
    let mut tokens: Vec<(u32, usize)> = tokens.collect();
    tokens.sort_unstable();
    tokens
}

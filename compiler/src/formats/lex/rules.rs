//! Makes the rules of a lexer from those of a file of lex.

use super::actions::{Action, Change, Doubt, Facts, Made};
use super::code;
use super::file::{self, File, Rule, Text};
use super::lookups::functions;
use super::patterns::{self, Context, Matched};
use super::strings::join_parts;
use crate::charset::{CharSet, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use crate::formats::builder::Builder;
use crate::formats::given::from_another;
use crate::ordered::{Map, Set};
use crate::tokens::{Fragment, LexerRule, Move, Outcome, Pattern};

/// The most rules of all start conditions together.
const MAX_RULES: usize = 1 << 15;

/// The tokens that a grammar has.
pub(in crate::formats) struct Wanted<'w> {
    /// Their names, of which those in apostrophes are characters.
    pub(in crate::formats) names: &'w [String],
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
    from_another(file, &found).for_each(|diagnostic| diagnostics.push(diagnostic));
    lexed.filter(|_| !found.has_errors())
}

fn lexed(file: &File<'_>, wanted: &Wanted<'_>, builder: &mut Builder<'_>) -> Option<Lexed> {
    let numbers: Map<&str, usize> =
        file.definitions.iter().enumerate().map(|(number, definition)| (definition.name, number)).collect();
    let context = Context { definitions: &numbers, ignores_case: file.ignores_case };
    let mut fragments = Vec::new();
    for definition in &file.definitions {
        let pattern = patterns::definition(*definition, &context, builder).unwrap_or(Pattern::Choice(Vec::new()));
        fragments.push(Fragment { name: definition.name.to_string(), span: wanted.span, pattern });
    }
    let mut making = Making {
        file,
        wanted,
        fragments: &fragments,
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
    join_parts(&mut drafts, file.states.len(), |mode| file.states[mode].is_exclusive);
    let rules = drafts.into_iter().map(|draft| named(draft, wanted)).collect();
    Some(Lexed { modes: file.states.len(), rules, fragments, has_unread, minds_lines })
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
    fragments: &'m [Fragment],
    modes: Map<&'t str, usize>,
    drafts: Vec<Draft>,
    /// The places of rules with a trailing context, each with the pattern before it and its token.
    trailing: Vec<(usize, Pattern, usize)>,
    has_unread: bool,
    minds_lines: bool,
    builder: &'b mut Builder<'d>,
}

impl<'m, 't> Making<'m, 't, '_, '_> {
    fn rules(&mut self, context: &Context<'_>) {
        let file = self.file;
        let by_name: Map<&str, usize> =
            self.wanted.names.iter().enumerate().map(|(number, name)| (name.as_str(), number)).collect();
        let named = |word: &str| named_token(word, &by_name);
        let character = |text: &str| by_name.get(format!("'{text}'").as_str()).copied();
        let defined = code::defined(&file.code);
        let code: Vec<code::Token<'_>> = file.code.iter().flat_map(|code| code::tokens(code, &defined)).collect();
        let facts = Facts { named: &named, character: &character, code: &code, functions: functions(&code) };
        let mut action = Action::default();
        // A rule without an action has that of the next one, so the last comes first.
        let mut actions: Vec<Action> = Vec::new();
        for rule in file.rules.iter().rev() {
            if let Some(code) = rule.action {
                action = facts.action(&code::tokens(code, &defined));
            }
            actions.push(action.clone());
        }
        for (rule, action) in file.rules.iter().zip(actions.into_iter().rev()) {
            let is_end = rule.pattern.text == "<<EOF>>";
            if self.builder.gives_up() || self.drafts.len() > MAX_RULES {
                break;
            }
            if let Ok(matched) = patterns::rule(rule.pattern, context, self.builder)
                && !is_end
            {
                self.rule(rule, matched, action);
            }
        }
        if self.drafts.len() > MAX_RULES {
            let message = format!("the start conditions have more than {MAX_RULES} rules");
            self.builder.report(Diagnostic::error(Code::TooLarge, None, message).help("use fewer start conditions"));
        }
    }

    fn rule(&mut self, rule: &Rule<'t>, matched: Matched, mut action: Action) {
        let span = Span::new(rule.pattern.start, rule.pattern.start + rule.pattern.text.len());
        self.doubt(&action, span);
        let Matched { mut pattern, at_line_start, trailing } = matched;
        if at_line_start {
            self.minds_lines = true;
            let help = "write a rule without `^` if its texts may stand anywhere";
            self.builder.approximate(span, "rules with `^` are left out, as the lines of texts are not followed", help);
            return;
        }
        let Some(moves) = self.moves(&action, span) else { return };
        let is_hidden = action.made == Made::Nothing && !action.goes_on;
        let kept = trailing.as_ref().filter(|_| !is_hidden).map(|_| pattern.clone());
        if let Some(trailing) = trailing {
            let help = "its token is drawn from other rules, or, if there are none, whatever follows";
            self.builder.approximate(span, "what must follow a match, after `/` or `$`, is not asked for", help);
            if kept.is_some() {
                pattern = Pattern::Seq(vec![pattern, trailing]);
            }
        }
        if let (Some(kept), Made::Token(token)) = (kept, &action.made) {
            self.trailing.push((self.drafts.len(), kept, *token));
            action.made = Made::Unused;
        }
        for &mode in &rule.states {
            let moves = moves.iter().copied().filter(|&moved| moved != Move::Switch(mode)).collect();
            self.add(mode, &pattern, &action, moves);
        }
    }

    /// Reports what is not read of an action.
    fn doubt(&mut self, action: &Action, span: Span) {
        let Some(doubt) = action.doubt else { return };
        self.has_unread |= matches!(doubt, Doubt::Changes | Doubt::Decides);
        let (message, help) = match doubt {
            Doubt::Changes => (
                "a rule whose code reads, or gives back, text is left out",
                "write one pattern for the whole text in a copy of this file",
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

    /// Returns the moves of an action. `None` if it begins a start condition that is not declared.
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

    /// Adds the rules of the lexer that a rule becomes in a mode.
    fn add(&mut self, mode: usize, pattern: &Pattern, action: &Action, moves: Vec<Move>) {
        let unused = Outcome::Token(self.wanted.unused);
        let outcome = match &action.made {
            Made::Nothing if action.goes_on => Outcome::More,
            Made::Nothing => Outcome::Hidden,
            Made::Token(token) => Outcome::Token(*token),
            Made::Unused => unused,
            Made::Words(words, other) => {
                for (word, token) in words {
                    self.push(mode, self.word(word), Outcome::Token(*token), &moves);
                }
                other.map_or(unused, Outcome::Token)
            }
            Made::FirstCharacter => {
                for (text, token) in self.characters(pattern) {
                    self.push(mode, Pattern::text(&text), Outcome::Token(token), &moves);
                }
                unused
            }
        };
        self.push(mode, pattern.clone(), outcome, &moves);
    }

    fn push(&mut self, mode: usize, pattern: Pattern, outcome: Outcome, moves: &[Move]) {
        let is_unread = outcome == Outcome::Token(self.wanted.unused);
        self.drafts.push(Draft { mode, pattern, outcome, moves: moves.to_vec(), is_unread });
    }

    /// Returns the pattern of a word that code looks up.
    fn word(&self, word: &str) -> Pattern {
        let context = Context { definitions: &Map::new(), ignores_case: self.file.ignores_case };
        let quoted = format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""));
        let text = Text { name: "", text: &quoted, start: 0 };
        let mut unheard = Diagnostics::default();
        let read = patterns::definition(text, &context, &mut Builder::new(&mut unheard));
        read.unwrap_or_else(|_| Pattern::text(word))
    }

    /// Returns the characters that are tokens of the grammar and texts of a pattern.
    fn characters(&self, pattern: &Pattern) -> Vec<(String, usize)> {
        let set = self.set(pattern, 0).unwrap_or_else(|| CharSet::empty(Unit::Char));
        let only = |name: &str| name.strip_prefix('\'')?.strip_suffix('\'').map(str::to_string);
        let names = self.wanted.names.iter().enumerate().filter_map(|(token, name)| Some((only(name)?, token)));
        names
            .filter(|(text, _)| {
                let mut characters = text.chars();
                let first = characters.next().filter(|_| characters.next().is_none());
                first.is_some_and(|first| set.contains(first.into()))
            })
            .collect()
    }

    /// Returns the characters that a pattern matches, if all its texts are single characters.
    fn set(&self, pattern: &Pattern, depth: usize) -> Option<CharSet> {
        const MAX_DEPTH: usize = 50;
        match pattern {
            Pattern::Set { set, .. } => Some(set.clone()),
            Pattern::Fragment(number) if depth < MAX_DEPTH => self.set(&self.fragments[*number].pattern, depth + 1),
            Pattern::Choice(options) if depth < MAX_DEPTH => {
                let sets = options.iter().map(|option| self.set(option, depth + 1));
                sets.reduce(|all, set| Some(all?.union(&set?))).flatten()
            }
            Pattern::Seq(items) if items.len() == 1 => self.set(&items[0], depth),
            Pattern::Fragment(_) | Pattern::Choice(_) | Pattern::Seq(_) | Pattern::Repeat { .. } => None,
        }
    }

    /// Lets the tokens that only rules with a trailing context make be drawn whatever follows.
    fn keep_trailing(&mut self) {
        let made: Set<usize> = self.drafts.iter().filter_map(|draft| draft.token()).collect();
        for (place, pattern, token) in std::mem::take(&mut self.trailing) {
            if made.contains(&token) {
                continue;
            }
            let draft = &mut self.drafts[place];
            (draft.pattern, draft.outcome, draft.is_unread) = (pattern, Outcome::Token(token), false);
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

/// Returns the token that a name in code stands for: its own, or one with a prefix such as `TOK_` and `make_`.
fn named_token(word: &str, by_name: &Map<&str, usize>) -> Option<usize> {
    if let Some(&token) = by_name.get(word) {
        return Some(token);
    }
    let mut ends = word.match_indices('_').map(|(at, _)| &word[at + 1..]);
    ends.find_map(|end| by_name.get(end).copied())
}

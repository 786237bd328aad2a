//! `grammar.json` of tree-sitter. Tokens are strings, patterns and the contents of `token(...)`. A separator from the
//! extras goes between tokens that would run together.

use super::boundaries::{BLANKS, BLANKS_WITHIN_LINES, Lexical, Syntax, blanks, separate};
use super::builder::{Builder, Part, Reported};
use super::given::Given;
use super::json_text::{self, Json, JsonKey, JsonKind};
use super::keywords;
use super::layout::LayoutTokens;
use super::levels::{add_origins, give_levels};
use super::missing;
use super::pattern::{self, Flags};
use super::{Format, Surroundings};
use crate::ast::{Expr, Grammar, Name, Rule};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use crate::ordered::Set;
use crate::tokens::Indent;

mod levels;

use levels::Levels;

/// The `tree-sitter` format.
pub struct TreeSitter;

impl Format for TreeSitter {
    fn name(&self) -> &'static str {
        "tree-sitter"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn has_layout(&self) -> bool {
        true
    }

    /// Looks for an object with a member `rules` that is an object too.
    fn looks_like(&self, text: &str) -> bool {
        let rules = |at: usize| {
            let behind = text[at + "\"rules\"".len()..].trim_start();
            behind.strip_prefix(':').is_some_and(|behind| behind.trim_start().starts_with('{'))
        };
        text.trim_start_matches('\u{FEFF}').trim_start().starts_with('{')
            && text.contains("\"type\"")
            && text.match_indices("\"rules\"").take(10).any(|(at, _)| rules(at))
    }

    fn parse_within(
        &self,
        file: &SourceFile,
        surroundings: &Surroundings<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Grammar {
        let Some(given) = Given::read(file, surroundings, diagnostics) else { return Grammar::default() };
        let Some(value) = json_text::read(file.text(), diagnostics) else { return Grammar::default() };
        let mut builder = Builder::new(diagnostics);
        let JsonKind::Object(members) = value.kind else {
            let message = format!("a grammar is an object, this is {}", value.kind.description());
            builder.error(value.span, message, GRAMMAR_HELP);
            return Grammar::default();
        };
        translate(&members, surroundings, &given, &mut builder)
    }
}

const GRAMMAR_HELP: &str = "it is what `tree-sitter generate` writes to `src/grammar.json`";

/// The members of an object by name.
struct Object<'j>(&'j [(JsonKey, Json)]);

impl<'j> Object<'j> {
    fn get(&self, key: &str) -> Option<&'j Json> {
        self.0.iter().find(|(name, _)| name.text == key).map(|(_, value)| value)
    }

    fn text(&self, key: &str) -> Option<&'j str> {
        match &self.get(key)?.kind {
            JsonKind::String(text) => Some(text),
            _ => None,
        }
    }
}

fn translate(
    members: &[(JsonKey, Json)],
    surroundings: &Surroundings<'_>,
    given: &Given,
    builder: &mut Builder<'_>,
) -> Grammar {
    let grammar = Object(members);
    let Some(Json { kind: JsonKind::Object(rules), .. }) = grammar.get("rules") else {
        builder.error(Span::default(), "the grammar has no rules", GRAMMAR_HELP);
        return Grammar::default();
    };
    let list = |key: &str| match grammar.get(key).map(|value| &value.kind) {
        Some(JsonKind::Array(items)) => items.as_slice(),
        _ => &[],
    };
    let own = rules.iter().filter(|(_, body)| is_token(body)).map(|(name, _)| name.text.as_str());
    let immediate = rules.iter().filter(|(_, body)| is_immediate(body)).map(|(name, _)| name.text.as_str()).collect();
    let defined: Set<&str> = rules.iter().map(|(name, _)| name.text.as_str()).collect();
    let externals: Vec<External<'_>> =
        list("externals").iter().filter_map(External::of).filter(|external| !defined.contains(external.name)).collect();
    let tokens = own.chain(externals.iter().map(|external| external.name)).collect();
    let names = externals.iter().map(|external| external.name);
    let automatic = names.filter(|name| name.contains("automatic_semicolon") && !given.has(name)).collect();
    let mut translator = Translator { tokens, immediate, automatic, used: Set::new(), builder };
    let levels = Levels::of(list("precedences"));
    let (mut syntax, mut lexical, mut bindings) = (Vec::new(), Vec::new(), Vec::new());
    for (key, body) in rules {
        if translator.builder.gives_up() {
            break;
        }
        let name = Name { text: key.text.clone(), span: key.span };
        if translator.tokens.contains(key.text.as_str()) {
            let body = translator.lexical(body).map(|part| part.expr);
            let empty = Expr::empty(key.span);
            lexical.push(Rule::new(name, body.unwrap_or(empty)));
        } else {
            bindings.push(levels.bindings(body, &|members| translator.kept(members)));
            let body = translator.syntax(body).unwrap_or(Syntax::Seq(Vec::new()));
            syntax.push((name, body));
        }
    }
    let start = match rules.first() {
        Some((key, _)) => Name { text: surroundings.start.unwrap_or(&key.text).to_string(), span: key.span },
        None => Name { text: String::new(), span: Span::default() },
    };
    let is_taken = |name: &str| defined.contains(name) || externals.iter().any(|external| external.name == name);
    let origins = give_levels(&mut syntax, &bindings, is_taken, translator.builder);
    let layout = translator.layout(&surroundings.options.indent, &externals, given);
    if let Some(tokens) = &layout {
        lexical.extend(tokens.mark(&mut syntax));
    }
    let is_open = |external: &&External<'_>| !layout.as_ref().is_some_and(|tokens| tokens.has(external.name));
    let missing = translator.externals(externals.iter().filter(is_open), given, &mut lexical);
    if let Err(token) = missing::leave_out(&mut syntax, &missing, &start.text) {
        let span = externals.iter().find(|external| external.name == token).map_or(Span::default(), |found| found.span);
        let message = format!("rule `{}` needs the external token `{token}`, of which nothing is known", start.text);
        let diagnostic = Diagnostic::error(Code::UndefinedRule, span, message);
        translator.builder.report(diagnostic.help(format!("{EXTERNAL_HELP}, or choose another start rule")));
        return Grammar::default();
    }
    let lexical_names: Set<String> = lexical.iter().map(|rule| rule.name.text.clone()).collect();
    let is_taken = |name: &str| defined.contains(name) || lexical_names.contains(name);
    let wanted = externals.iter().map(|external| external.name).filter(|name| translator.used.contains(*name));
    lexical.extend(given.rules(wanted, is_taken, translator.builder));
    // Without extras in the file, white space is the extra.
    let mut extras = Vec::new();
    let known = |extra: &&Json| {
        let name = kind(extra).filter(|&kind| kind == "SYMBOL").and_then(|_| name_of(extra));
        name.is_none_or(|name| defined.contains(name) || given.has(name))
    };
    for extra in list("extras").iter().filter(known) {
        extras.extend(translator.lexical(extra).map(|part| part.expr));
    }
    let mut facts = Lexical::new(&lexical);
    let usual = if layout.is_some() { BLANKS_WITHIN_LINES } else { BLANKS };
    let texts = if grammar.get("extras").is_none() { usual.to_vec() } else { facts.separators(&extras, usual) };
    let words = keywords::exclude(&mut syntax, &mut facts, builder);
    let between = match &layout {
        Some(layout) if !texts.is_empty() => vec![layout.separator()],
        _ => blanks(&texts),
    };
    let mut all = separate(syntax, &mut words.lexical(&lexical), &between, builder);
    words.add_to(&mut all, lexical);
    let first = rules.first().map(|(key, _)| Name { text: key.text.clone(), span: key.span });
    // Extras stand between tokens, and may be in no rule.
    let extras = list("extras").iter().filter_map(name_of).map(str::to_string).collect();
    let grammar = Grammar { start: first, rules: all, class_rules: extras, ..Grammar::default() };
    let mut grammar = match layout {
        Some(layout) => layout.lay_out(grammar, &start, texts.first().copied(), builder),
        None => grammar,
    };
    grammar = grammar.with_own(|name| defined.contains(name));
    add_origins(&mut grammar, origins);
    grammar
}

const EXTERNAL_HELP: &str =
    "code outside of the grammar reads it: say what it is by a rule of its name in a file of tokens";

/// A token that is read by code outside the grammar.
struct External<'j> {
    name: &'j str,
    span: Span,
}

impl<'j> External<'j> {
    fn of(json: &'j Json) -> Option<External<'j>> {
        (kind(json) == Some("SYMBOL")).then(|| Some(External { name: name_of(json)?, span: json.span }))?
    }

    /// Returns the text that its name implies: the end of a line or of a statement.
    fn text(&self) -> Option<&'static str> {
        let is_end =
            ["newline", "line_break", "line_end", "linebreak", "eol"].iter().any(|end| self.name.contains(end));
        match self.name {
            name if name.contains("no_") || name.contains("not_") => None,
            _ if is_end => Some("\n"),
            name if name.contains("semicolon") => Some(";"),
            _ => None,
        }
    }
}

fn name_of(json: &Json) -> Option<&str> {
    match &json.kind {
        JsonKind::Object(members) => Object(members).text("name"),
        _ => None,
    }
}

/// Returns the rule without the wrappers that only affect how it is parsed or shown.
fn without_wrapping(json: &Json) -> &Json {
    std::iter::successors(Some(json), |json| wrapped(json)).last().unwrap_or(json)
}

/// Returns the rule in a wrapper that only affects how it is parsed or shown.
fn wrapped(json: &Json) -> Option<&Json> {
    let JsonKind::Object(members) = &json.kind else { return None };
    let object = Object(members);
    let wraps = matches!(
        object.text("type"),
        Some("FIELD" | "ALIAS" | "PREC" | "PREC_LEFT" | "PREC_RIGHT" | "PREC_DYNAMIC" | "RESERVED")
    );
    object.get("content").filter(|_| wraps)
}

fn kind(json: &Json) -> Option<&str> {
    match &json.kind {
        JsonKind::Object(members) => Object(members).text("type"),
        _ => None,
    }
}

fn is_token(body: &Json) -> bool {
    matches!(kind(without_wrapping(body)), Some("STRING" | "PATTERN" | "TOKEN" | "IMMEDIATE_TOKEN"))
}

fn is_immediate(body: &Json) -> bool {
    kind(without_wrapping(body)) == Some("IMMEDIATE_TOKEN")
}

struct Translator<'j, 'b, 'd> {
    /// The names of rules that are tokens.
    tokens: Set<&'j str>,
    /// The names of rules that directly follow the token before.
    immediate: Set<&'j str>,
    /// External tokens for semicolons that scanners find where none is written. They are left out where there is a
    /// choice: a written one may be something else there.
    automatic: Set<&'j str>,
    /// The names that rules refer to.
    used: Set<String>,
    builder: &'b mut Builder<'d>,
}

impl Translator<'_, '_, '_> {
    fn malformed(&mut self, span: Span, what: &str) -> Reported {
        self.builder.error(span, format!("this is no rule of tree-sitter: {what}"), GRAMMAR_HELP)
    }

    /// Returns the members of a rule object and its type.
    fn object<'j>(&mut self, json: &'j Json) -> Result<(Object<'j>, &'j str), Reported> {
        let JsonKind::Object(members) = &json.kind else {
            return Err(self.malformed(json.span, json.kind.description()));
        };
        let object = Object(members);
        match object.text("type") {
            Some(kind) => Ok((object, kind)),
            None => Err(self.malformed(json.span, "it has no `type`")),
        }
    }

    fn content<'j>(&mut self, object: &Object<'j>, span: Span) -> Result<&'j Json, Reported> {
        object.get("content").ok_or_else(|| self.malformed(span, "it has no `content`"))
    }

    fn members<'j>(&mut self, object: &Object<'j>, span: Span) -> Result<&'j [Json], Reported> {
        match object.get("members").map(|value| &value.kind) {
            Some(JsonKind::Array(items)) => Ok(items),
            _ => Err(self.malformed(span, "it has no `members`")),
        }
    }

    fn syntax(&mut self, json: &Json) -> Result<Syntax, Reported> {
        let json = without_wrapping(json);
        let (object, kind) = self.object(json)?;
        let span = json.span;
        Ok(match kind {
            "BLANK" => Syntax::Seq(Vec::new()),
            "STRING" | "PATTERN" | "TOKEN" => Syntax::Token(self.lexical(json)?),
            "IMMEDIATE_TOKEN" => Syntax::Immediate(self.lexical(json)?),
            "SYMBOL" => {
                let Some(name) = object.text("name") else { return Err(self.malformed(span, "it has no `name`")) };
                let part = self.builder.rule(name, span)?;
                self.used.insert(name.to_string());
                if self.immediate.contains(name) {
                    Syntax::Immediate(part)
                } else if self.tokens.contains(name) {
                    Syntax::Token(part)
                } else {
                    Syntax::Rule(part)
                }
            }
            "SEQ" | "CHOICE" => {
                let members = self.members(&object, span)?;
                let members = if kind == "CHOICE" { self.kept(members) } else { members.iter().collect() };
                let mut parts = Vec::new();
                for member in members {
                    parts.push(self.syntax(member)?);
                }
                if kind == "SEQ" { Syntax::Seq(parts) } else { Syntax::Choice(parts) }
            }
            "REPEAT" | "REPEAT1" => {
                let item = self.content(&object, span)?;
                Syntax::Repeat(Box::new(self.syntax(item)?), u32::from(kind == "REPEAT1"), None)
            }
            other => return Err(self.malformed(span, &format!("unknown type `{}`", other.escape_debug()))),
        })
    }

    /// Returns the alternatives of a choice without the automatic semicolons, if there are others.
    fn kept<'m>(&self, members: &'m [Json]) -> Vec<&'m Json> {
        let is_automatic = |member: &Json| name_of(member).is_some_and(|name| self.automatic.contains(name));
        let leaves_out = !members.iter().all(is_automatic);
        members.iter().filter(|member| !leaves_out || !is_automatic(member)).collect()
    }

    /// Returns the contents of a token, without separators between its parts.
    fn lexical(&mut self, json: &Json) -> Result<Part, Reported> {
        let json = without_wrapping(json);
        let (object, kind) = self.object(json)?;
        let span = json.span;
        match kind {
            "BLANK" => self.builder.seq(Vec::new(), span),
            "STRING" | "PATTERN" => {
                let Some(value) = object.text("value") else { return Err(self.malformed(span, "it has no `value`")) };
                if kind == "STRING" {
                    return self.builder.bytes(value, span);
                }
                let mut flags = Flags::default();
                for letter in object.text("flags").unwrap_or("").chars() {
                    flags.add(letter);
                }
                pattern::part(value, flags, span, self.builder)
            }
            "TOKEN" | "IMMEDIATE_TOKEN" => {
                let content = self.content(&object, span)?;
                self.lexical(content)
            }
            "SYMBOL" => {
                let Some(name) = object.text("name") else { return Err(self.malformed(span, "it has no `name`")) };
                self.builder.rule(name, span)
            }
            "SEQ" | "CHOICE" => {
                let mut parts = Vec::new();
                for member in self.members(&object, span)? {
                    parts.push(self.lexical(member)?);
                }
                if kind == "SEQ" { self.builder.seq(parts, span) } else { self.builder.any(parts, span) }
            }
            "REPEAT" | "REPEAT1" => {
                let item = self.content(&object, span)?;
                let item = self.lexical(item)?;
                self.builder.repeat(item, u32::from(kind == "REPEAT1"), None, span)
            }
            other => Err(self.malformed(span, &format!("unknown type `{}`", other.escape_debug()))),
        }
    }

    /// Returns the tokens that stand for the layout of lines, if there are any.
    fn layout(&mut self, indent: &Indent, externals: &[External<'_>], given: &Given) -> Option<LayoutTokens> {
        let in_use = externals.iter().map(|external| external.name).filter(|name| self.used.contains(*name));
        let (own, open): (Set<&str>, Set<&str>) = in_use.partition(|name| given.has(name));
        let own = own.into_iter().chain(self.tokens.iter().copied().filter(|name| self.used.contains(*name)));
        let own = own.filter(|name| !open.contains(name)).map(str::to_string).collect();
        let open = open.into_iter().map(str::to_string).collect();
        LayoutTokens::find(indent, &open, &own, self.builder)
    }

    /// Reports the treatment of the tokens that are read by code outside the grammar, and adds rules for some. Returns
    /// the unknown ones.
    fn externals<'e>(
        &mut self,
        externals: impl Iterator<Item = &'e External<'e>>,
        given: &Given,
        lexical: &mut Vec<Rule>,
    ) -> Set<String> {
        let mut missing = Set::new();
        for external in externals {
            if !self.used.contains(external.name) || given.has(external.name) {
                continue;
            }
            let shown: String = external.name.chars().take(80).collect();
            let message = match external.text() {
                Some(text) => format!("the external token `{shown}` derives `{}`", text.escape_debug()),
                None => format!("what needs the external token `{shown}` is left out"),
            };
            self.builder.report(Diagnostic::warning(Code::NotContextFree, external.span, message).help(EXTERNAL_HELP));
            match external.text() {
                Some(text) => {
                    let Ok(part) = self.builder.bytes(text, external.span) else { break };
                    let name = Name { text: external.name.to_string(), span: external.span };
                    lexical.push(Rule::new(name, part.expr));
                }
                None => drop(missing.insert(external.name.to_string())),
            }
        }
        missing
    }
}

#[cfg(test)]
mod tests;

//! Translates the definitions of a Lark grammar to rules: expands templates, and makes terminals rules without
//! separators.

use std::collections::VecDeque;

use super::parser::{Definition, File, Item, Kind, is_terminal};
use super::tokens;
use crate::ast::{self, Expr, Grammar, MAX_NESTING, Name};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::formats::Surroundings;
use crate::formats::boundaries::{BLANKS, BLANKS_WITHIN_LINES, Lexical, Syntax, blanks, separate};
use crate::formats::builder::{Builder, Part, Reported};
use crate::formats::given::Given;
use crate::formats::layout::LayoutTokens;
use crate::formats::pattern::{self, Mark};
use crate::formats::{keywords, missing};
use crate::ordered::{Map, Set};
use crate::tokens::Indent;

/// The most different lists of arguments for the templates of a grammar.
const MAX_INSTANCES: usize = 4096;

/// The greatest length of a template's arguments in bytes.
const MAX_ARGUMENTS: usize = 4096;

/// Returns the grammar of a file. The start is the rule that the user has chosen, or `start`.
pub(super) fn translate(
    file: &File,
    surroundings: &Surroundings<'_>,
    given: &Given,
    builder: &mut Builder<'_>,
) -> Grammar {
    let definitions = joined(&file.definitions);
    let templates: Map<&str, &Definition> = file
        .definitions
        .iter()
        .filter(|definition| !definition.parameters.is_empty())
        .map(|definition| (definition.name.text.as_str(), definition))
        .collect();
    let mut translator = Translator {
        templates,
        instances: Map::new(),
        pending: VecDeque::new(),
        arguments: Map::new(),
        looks: Vec::new(),
        builder,
    };
    let (mut syntax, mut lexical) = (Vec::new(), Vec::new());
    for (name, bodies) in definitions {
        if translator.builder.gives_up() {
            break;
        }
        if is_terminal(&name.text) {
            let parts: Result<Vec<Part>, Reported> = bodies.iter().map(|body| translator.lexical(body)).collect();
            let part = parts.and_then(|parts| translator.builder.any(parts, name.span));
            let empty = Expr::empty(name.span);
            lexical.push(ast::Rule::new(name, part.map_or(empty, |part| part.expr)));
        } else {
            let parts: Result<Vec<Syntax>, Reported> = bodies.iter().map(|body| translator.syntax(body)).collect();
            syntax.push((name, parts.map_or(Syntax::Seq(Vec::new()), one_or_choice)));
        }
    }
    while let Some((name, template, arguments)) = translator.pending.pop_front() {
        translator.arguments =
            template.parameters.iter().map(String::as_str).zip(arguments).collect::<Map<&str, Item>>();
        let body = translator.syntax(&template.body).unwrap_or(Syntax::Seq(Vec::new()));
        syntax.push((Name { text: name, span: template.name.span }, body));
    }
    translator.arguments = Map::new();
    let mut ignored = Vec::new();
    for item in &file.ignored {
        ignored.extend(translator.lexical(item).map(|part| part.expr));
    }
    let looks = translator.looks;
    let wanted = surroundings.start.unwrap_or("start");
    let layout = layout(&mut syntax, &mut lexical, &surroundings.options.indent, given, builder);
    if supply(&mut syntax, &mut lexical, wanted, file, given, builder).is_err() {
        return Grammar::default();
    }
    let not_behind = tokens::settle(&mut syntax, &mut lexical, &mut ignored, &looks, builder);
    let mut facts = Lexical::new(&lexical);
    let usual = if layout.is_some() { BLANKS_WITHIN_LINES } else { BLANKS };
    let texts = facts.separators(&ignored, usual);
    let called = |wanted: &str| syntax.iter().find(|(name, _)| name.text == wanted).map(|(name, _)| name.clone());
    let start = called("start");
    // The layout needs a rule to begin with. If the user names none, it is the first one.
    let first = called(wanted).or_else(|| syntax.first().map(|(name, _)| name.clone()));
    let priorities = file.definitions.iter().filter(|definition| definition.priority != 0);
    let priorities = priorities.map(|definition| (definition.name.text.clone(), definition.priority)).collect();
    let words = keywords::exclude_by(&mut syntax, &mut facts, &priorities, builder);
    let mut facts = words.lexical(&lexical);
    facts.forbid(&not_behind);
    let between = match &layout {
        Some(layout) if !texts.is_empty() => vec![layout.separator()],
        _ => blanks(&texts),
    };
    let mut all = separate(syntax, &mut facts, &between, builder);
    words.add_to(&mut all, lexical);
    // Ignored terminals may be in no rule.
    let names = ignored.iter().filter_map(Expr::as_rule).map(str::to_string);
    let grammar = Grammar { start, rules: all, class_rules: names.collect(), ..Grammar::default() };
    let grammar = match layout.zip(first) {
        Some((layout, first)) => layout.lay_out(grammar, &first, texts.first().copied(), builder),
        None => grammar,
    };
    let own: Set<&str> = file.definitions.iter().map(|definition| definition.name.text.as_str()).collect();
    grammar.with_own(|name| own.contains(name))
}

/// Returns the terminals that stand for the layout of lines, if there are any. The rules then refer to rules in their
/// place.
fn layout(
    syntax: &mut [(Name, Syntax)],
    lexical: &mut Vec<ast::Rule>,
    indent: &Indent,
    given: &Given,
    builder: &mut Builder<'_>,
) -> Option<LayoutTokens> {
    let defined: Set<&str> = lexical.iter().map(|rule| rule.name.text.as_str()).collect();
    let (mut declared, mut own) = (Set::new(), Set::new());
    for (_, body) in syntax.iter() {
        each_terminal(body, &mut |name| {
            let is_own = defined.contains(name) || given.has(name);
            if is_own { &mut own } else { &mut declared }.insert(name.to_string());
        });
    }
    let tokens = LayoutTokens::find(indent, &declared, &own, builder)?;
    lexical.extend(tokens.mark(syntax));
    Some(tokens)
}

/// Adds the definitions that the file of tokens has for undefined terminals. Alternatives that need a declared terminal
/// without a definition are left out.
fn supply(
    syntax: &mut Vec<(Name, Syntax)>,
    lexical: &mut Vec<ast::Rule>,
    start: &str,
    file: &File,
    given: &Given,
    builder: &mut Builder<'_>,
) -> Result<(), Reported> {
    let defined: Set<&str> = lexical.iter().map(|rule| rule.name.text.as_str()).collect();
    let mut open: Set<String> = Set::new();
    for (_, body) in syntax.iter() {
        each_terminal(body, &mut |name| {
            if !defined.contains(name) {
                open.insert(name.to_string());
            }
        });
    }
    let rules: Set<&str> = syntax.iter().map(|(name, _)| name.text.as_str()).collect();
    let is_taken = |name: &str| defined.contains(name) || rules.contains(name);
    let supplied = given.rules(open.iter().map(String::as_str), is_taken, builder);
    lexical.extend(supplied);
    let mut missing = Set::new();
    for name in file.declared.iter().filter(|name| open.contains(&name.text) && !given.has(&name.text)) {
        if missing.insert(name.text.clone()) {
            let message = format!("what needs the declared terminal `{}` is left out", name.text);
            let diagnostic = Diagnostic::warning(Code::NotContextFree, name.span, message);
            builder.report(diagnostic.help(DECLARED_HELP));
        }
    }
    missing::leave_out(syntax, &missing, start).map_err(|name| {
        let span =
            file.declared.iter().find(|declared| declared.text == name).map_or(Span::default(), |name| name.span);
        let message = format!("rule `{start}` needs the declared terminal `{name}`, of which nothing is known");
        builder.report(Diagnostic::error(Code::UndefinedRule, span, message).help(DECLARED_HELP))
    })
}

const DECLARED_HELP: &str = "code makes it: say what it is by a rule of its name in a file of tokens";

fn each_terminal(syntax: &Syntax, visit: &mut dyn FnMut(&str)) {
    match syntax {
        Syntax::Token(part) | Syntax::Immediate(part) => {
            part.expr.as_rule().into_iter().for_each(visit);
        }
        Syntax::Blank(_) | Syntax::Rule(_) => {}
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter().for_each(|item| each_terminal(item, visit)),
        Syntax::Repeat(item, ..) => each_terminal(item, visit),
    }
}

fn one_or_choice(mut parts: Vec<Syntax>) -> Syntax {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            Syntax::Choice(parts)
        }
    }
}

/// Returns the alternatives of each name: `%extend` adds some, `%override` replaces them.
fn joined(definitions: &[Definition]) -> Vec<(Name, Vec<&Item>)> {
    let mut all: Vec<(Name, Vec<&Item>)> = Vec::new();
    let mut index: Map<&str, usize> = Map::new();
    let overridden: Set<&str> = definitions
        .iter()
        .filter(|definition| definition.overrides)
        .map(|definition| definition.name.text.as_str())
        .collect();
    for definition in definitions.iter().filter(|definition| definition.parameters.is_empty()) {
        let next = all.len();
        let known = index.get(definition.name.text.as_str()).copied();
        match known {
            Some(place) if definition.extends => all[place].1.push(&definition.body),
            Some(place) if definition.overrides => all[place].1 = vec![&definition.body],
            // A second definition is an error, which the check reports. An imported definition that is overridden comes
            // last.
            Some(_) if overridden.contains(definition.name.text.as_str()) => {}
            _ => {
                index.insert(&definition.name.text, next);
                all.push((definition.name.clone(), vec![&definition.body]));
            }
        }
    }
    all
}

/// A template with its arguments. It is waiting to become a rule.
type Instance<'f> = (String, &'f Definition, Vec<Item>);

struct Translator<'f, 'b, 'd> {
    templates: Map<&'f str, &'f Definition>,
    /// The names of the rules made from templates, by template and arguments.
    instances: Map<String, String>,
    pending: VecDeque<Instance<'f>>,
    /// The arguments of the current template, by parameter.
    arguments: Map<&'f str, Item>,
    /// The lookarounds of patterns.
    looks: Vec<Mark>,
    builder: &'b mut Builder<'d>,
}

impl Translator<'_, '_, '_> {
    fn syntax(&mut self, item: &Item) -> Result<Syntax, Reported> {
        let span = item.span;
        Ok(match &item.kind {
            Kind::Text(..) | Kind::Pattern(..) | Kind::Range(..) => Syntax::Token(self.lexical(item)?),
            Kind::Name(name) => match self.arguments.get(name.as_str()).cloned() {
                Some(argument) => self.without_arguments(&argument)?,
                None if is_terminal(name) => Syntax::Token(self.builder.rule(name.as_str(), span)?),
                None => Syntax::Rule(self.builder.rule(name.as_str(), span)?),
            },
            Kind::Template(name, arguments) => {
                let name = self.instance(name, arguments, span)?;
                Syntax::Rule(self.builder.rule(name, span)?)
            }
            Kind::Seq(items) => {
                Syntax::Seq(items.iter().map(|item| self.syntax(item)).collect::<Result<Vec<Syntax>, Reported>>()?)
            }
            Kind::Choice(items) => {
                Syntax::Choice(items.iter().map(|item| self.syntax(item)).collect::<Result<Vec<Syntax>, Reported>>()?)
            }
            Kind::Repeat(item, min, max) => Syntax::Repeat(Box::new(self.syntax(item)?), *min, *max),
        })
    }

    /// Returns an argument. The parameters of the current template are not known where it was written.
    fn without_arguments(&mut self, item: &Item) -> Result<Syntax, Reported> {
        let arguments = std::mem::take(&mut self.arguments);
        let result = self.syntax(item);
        self.arguments = arguments;
        result
    }

    /// Returns the name of the rule that the template `name` becomes with these arguments.
    fn instance(&mut self, name: &str, arguments: &[Item], span: Span) -> Result<String, Reported> {
        let Some((_, &template)) = self.templates.get_key_value(name) else {
            let message = format!("there is no template `{name}`");
            let diagnostic = Diagnostic::error(Code::UndefinedRule, span, message);
            return Err(self
                .builder
                .report(diagnostic.help("a template is written `name{parameter}: item parameter`")));
        };
        if template.parameters.len() != arguments.len() {
            let message = format!("`{name}` takes {} arguments", template.parameters.len());
            return Err(self.builder.error(span, message, "give one for each parameter"));
        }
        let arguments: Vec<Item> =
            arguments.iter().map(|argument| self.substituted(argument)).collect::<Result<_, _>>()?;
        let mut shown = format!("{name}{{");
        for (number, argument) in arguments.iter().enumerate() {
            shown += if number == 0 { "" } else { "," };
            show(argument, &mut shown);
        }
        shown.push('}');
        if shown.len() > MAX_ARGUMENTS {
            let message = format!("the arguments of `{name}` are too large");
            let diagnostic = Diagnostic::error(Code::TooLarge, span, message);
            return Err(self
                .builder
                .report(diagnostic.help("a template must not use itself with ever larger arguments")));
        }
        if let Some(rule) = self.instances.get(&shown) {
            return Ok(rule.clone());
        }
        if self.instances.len() >= MAX_INSTANCES {
            let message = format!("templates are used with more than {MAX_INSTANCES} different arguments");
            let diagnostic = Diagnostic::error(Code::TooLarge, span, message);
            return Err(self
                .builder
                .report(diagnostic.help("a template must not use itself with ever larger arguments")));
        }
        // No name in Lark contains a full stop.
        let rule = format!("{name}.{}", self.instances.len() + 1);
        self.instances.insert(shown, rule.clone());
        self.pending.push_back((rule.clone(), template, arguments));
        Ok(rule)
    }

    /// Returns the argument, with the arguments of the current template put in.
    fn substituted(&mut self, item: &Item) -> Result<Item, Reported> {
        let (kind, below) = match &item.kind {
            Kind::Name(name) => {
                let found = self.arguments.get(name.as_str()).unwrap_or(item);
                self.builder.count(size(found), item.span)?;
                return Ok(found.clone());
            }
            Kind::Template(name, items) => {
                let (items, below) = self.substituted_all(items)?;
                (Kind::Template(name.clone(), items), below)
            }
            Kind::Seq(items) => {
                let (items, below) = self.substituted_all(items)?;
                (Kind::Seq(items), below)
            }
            Kind::Choice(items) => {
                let (items, below) = self.substituted_all(items)?;
                (Kind::Choice(items), below)
            }
            Kind::Repeat(item, min, max) => {
                let item = self.substituted(item)?;
                let below = item.height;
                (Kind::Repeat(Box::new(item), *min, *max), below)
            }
            Kind::Text(..) | Kind::Pattern(..) | Kind::Range(..) => return Ok(item.clone()),
        };
        self.builder.count(1, item.span)?;
        if below >= MAX_NESTING / 2 {
            return Err(self.builder.too_deep(item.span));
        }
        Ok(Item { kind, span: item.span, height: below + 1 })
    }

    fn substituted_all(&mut self, items: &[Item]) -> Result<(Vec<Item>, u32), Reported> {
        let items: Result<Vec<Item>, Reported> = items.iter().map(|item| self.substituted(item)).collect();
        let items = items?;
        let below = items.iter().map(|item| item.height).max().unwrap_or(0);
        Ok((items, below))
    }

    /// Returns the contents of a terminal, without separators between its parts.
    fn lexical(&mut self, item: &Item) -> Result<Part, Reported> {
        let span = item.span;
        match &item.kind {
            Kind::Text(text, true) => self.builder.any_case(text, span),
            Kind::Text(text, false) => self.builder.bytes(text.as_str(), span),
            Kind::Pattern(text, flags) => pattern::marked(text, *flags, span, &mut self.looks, self.builder),
            Kind::Range(low, high) => {
                self.builder.class(CharSet::new(Unit::Char, [(u32::from(*low), u32::from(*high))]), span)
            }
            Kind::Name(name) => self.builder.rule(name.as_str(), span),
            Kind::Template(..) => {
                Err(self.builder.error(span, "a terminal uses a template", "write out what the template stands for"))
            }
            Kind::Seq(items) => {
                let parts: Result<Vec<Part>, Reported> = items.iter().map(|item| self.lexical(item)).collect();
                self.builder.seq(parts?, span)
            }
            Kind::Choice(items) => {
                let parts: Result<Vec<Part>, Reported> = items.iter().map(|item| self.lexical(item)).collect();
                self.builder.any(parts?, span)
            }
            Kind::Repeat(item, min, max) => {
                let part = self.lexical(item)?;
                self.builder.repeat(part, *min, *max, span)
            }
        }
    }
}

/// Returns the number of expressions in an expression.
fn size(item: &Item) -> usize {
    1 + match &item.kind {
        Kind::Template(_, items) | Kind::Seq(items) | Kind::Choice(items) => items.iter().map(size).sum(),
        Kind::Repeat(item, ..) => size(item),
        Kind::Text(..) | Kind::Pattern(..) | Kind::Range(..) | Kind::Name(_) => 0,
    }
}

/// Writes the argument as text, to compare it with others.
fn show(item: &Item, text: &mut String) {
    let list = |items: &[Item], mark: &str, text: &mut String| {
        for (number, item) in items.iter().enumerate() {
            *text += if number == 0 { "" } else { mark };
            show(item, text);
        }
    };
    match &item.kind {
        Kind::Text(literal, free) => *text += &format!("{literal:?}{}", if *free { "i" } else { "" }),
        Kind::Pattern(pattern, flags) => *text += &format!("/{pattern}/{}", if flags.ignore_case { "i" } else { "" }),
        Kind::Range(low, high) => *text += &format!("{low:?}..{high:?}"),
        Kind::Name(name) => *text += name,
        Kind::Template(name, items) => {
            *text += &format!("{name}{{");
            list(items, ",", text);
            text.push('}');
        }
        Kind::Seq(items) => {
            text.push('(');
            list(items, " ", text);
            text.push(')');
        }
        Kind::Choice(items) => {
            text.push('(');
            list(items, "|", text);
            text.push(')');
        }
        Kind::Repeat(item, min, max) => {
            show(item, text);
            *text += &format!("~{min}..{}", max.map_or_else(String::new, |max| max.to_string()));
        }
    }
}

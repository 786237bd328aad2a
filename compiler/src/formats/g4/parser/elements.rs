//! Parts that rules consist of: alternatives, elements, blocks, commands of lexer rules.

use super::{MAX_GROUPS, Parser, Reported};
use crate::ast::Name;
use crate::charset::{CharSet, Unit};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::formats::MAX_EXPRESSIONS;
use crate::formats::g4::conditions::Condition;
use crate::formats::g4::helpers;
use crate::formats::g4::lexer::{Kind, Literal, Token};
use crate::formats::g4::syntax::{Alternative, Command, Element, ElementKind};

impl Parser<'_, '_> {
    /// Parses alternatives separated by `|`.
    pub(super) fn alternatives(&mut self, is_lexical: bool) -> Result<Vec<Alternative>, Reported> {
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.alternative(is_lexical)?);
            if !self.take_if(&Kind::Bar) {
                return Ok(alternatives);
            }
        }
    }

    fn alternative(&mut self, is_lexical: bool) -> Result<Alternative, Reported> {
        let mut alternative = Alternative::default();
        self.count()?;
        loop {
            match *self.peek() {
                Kind::Bar | Kind::Semicolon | Kind::Close | Kind::End => return Ok(alternative),
                Kind::Arrow if is_lexical => {
                    self.take();
                    loop {
                        self.count()?;
                        alternative.commands.push(self.command()?);
                        if !self.take_if(&Kind::Comma) {
                            break;
                        }
                    }
                }
                Kind::Pound => {
                    self.take();
                    self.name("the label of the alternative")?;
                }
                Kind::Less => alternative.is_right |= self.element_options()?,
                Kind::Action => {
                    self.embedded_code(is_lexical, &mut alternative)?;
                }
                _ => {
                    let (element, is_right) = self.element(is_lexical)?;
                    alternative.elements.push(element);
                    alternative.is_right |= is_right;
                }
            }
        }
    }

    /// Parses `{...}` or `{...}?`. Known code is added to the alternative, other code is reported.
    fn embedded_code(&mut self, is_lexical: bool, alternative: &mut Alternative) -> Result<(), Reported> {
        let span = self.take().span;
        let text: &str = self.lexer.text;
        let text = text[span.start as usize..span.end as usize].trim_start_matches('{').trim_end_matches('}');
        if self.take_if(&Kind::Question) {
            let span = span.to(self.last_span);
            match condition(text, is_lexical, alternative.elements.last()) {
                Some(condition) => {
                    self.grammar.has_code = true;
                    alternative.elements.push(Element { kind: ElementKind::Predicate(condition), span });
                }
                None => self.code(span, "a predicate"),
            }
        } else {
            let superclass = self.grammar.option("superClass").map(|name| name.text.clone());
            match superclass.filter(|_| is_lexical).and_then(|superclass| helpers::command(&superclass, text)) {
                Some(known) => {
                    let name = |text: &str| Name { text: text.to_string(), span };
                    let command = Command { name: name(known.name), argument: known.argument.map(name) };
                    alternative.commands.push(command);
                    alternative.special = alternative.special.or(known.special);
                }
                None => self.code(span, "an action"),
            }
        }
        if *self.peek() == Kind::Less {
            self.element_options()?;
        }
        Ok(())
    }

    /// Parses `<assoc=right>`, `<fail='...'>`. Returns true if they make an operator right-associative.
    fn element_options(&mut self) -> Result<bool, Reported> {
        self.take();
        let (mut is_associativity, mut is_right) = (false, false);
        while !self.take_if(&Kind::Greater) {
            match self.peek() {
                Kind::End | Kind::Semicolon => return Err(self.unexpected("`>`")),
                Kind::Name(name) if is_associativity => is_right = *name == "right",
                Kind::Name(name) => is_associativity = *name == "assoc",
                Kind::Equals => {}
                _ => is_associativity = false,
            }
            self.take();
        }
        Ok(is_right)
    }

    fn command(&mut self) -> Result<Command, Reported> {
        let name = self.name("a lexer command")?;
        let mut argument = None;
        if self.take_if(&Kind::Open) {
            let span = self.next_span();
            argument = Some(match self.peek() {
                Kind::Number => {
                    self.take();
                    Name { text: self.lexer.text[span.start as usize..span.end as usize].to_string(), span }
                }
                _ => self.name("the argument of the command")?,
            });
            self.expect(&Kind::Close, "`)`")?;
        }
        Ok(Command { name, argument })
    }

    /// Counts an element that is kept. If there are too many, the rest of the file is skipped.
    pub(super) fn count(&mut self) -> Result<(), Reported> {
        self.elements += 1;
        if self.elements <= MAX_EXPRESSIONS {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_too_large, true) {
            let message = format!(
                "the grammar has more than {MAX_EXPRESSIONS} elements, alternatives, bytes of literals and ranges of sets"
            );
            let help = "a grammar of this size is generated; leave out what the start rule does not need";
            self.lexer.report(Diagnostic::error(Code::TooLarge, self.last_span, message).help(help));
        }
        self.lexer.position = self.lexer.text.len();
        self.ahead = None;
        Err(Reported)
    }

    /// Parses an element. Also returns whether its options make an operator right-associative.
    fn element(&mut self, is_lexical: bool) -> Result<(Element, bool), Reported> {
        self.count()?;
        let start = self.next_span();
        let mut element = self.primary(is_lexical)?;
        // `label = element`
        if let ElementKind::Name(_) = element.kind
            && matches!(self.peek(), Kind::Equals | Kind::PlusEquals)
        {
            self.take();
            element = self.primary(is_lexical)?;
        }
        let is_right = *self.peek() == Kind::Less && self.element_options()?;
        let (min, max) = match *self.peek() {
            Kind::Question => (0, Some(1)),
            Kind::Star => (0, None),
            Kind::Plus => (1, None),
            _ => return Ok((element, is_right)),
        };
        self.take();
        let lazy = self.take_if(&Kind::Question);
        let span = start.to(self.last_span);
        let kind = ElementKind::Repeat { item: Box::new(element), min, max, lazy };
        Ok((Element { kind, span }, is_right))
    }

    fn primary(&mut self, is_lexical: bool) -> Result<Element, Reported> {
        let Token { kind, span } = match self.peek() {
            Kind::Name(_) | Kind::Literal(_) | Kind::Set(_) | Kind::Dot | Kind::Tilde | Kind::Open => self.take(),
            _ => return Err(self.unexpected("an element, `|` or `;`")),
        };
        let kind = match kind {
            Kind::Literal(literal) if *self.peek() == Kind::Range => return self.range(&literal, span),
            Kind::Literal(Literal { is_broken: true, .. }) => {
                self.lone_surrogate(span, "this literal holds half of a surrogate pair");
                // Neither the lexer nor the parser can ever match it.
                match is_lexical {
                    true => ElementKind::Set(CharSet::empty(Unit::Char)),
                    false => ElementKind::Block(Vec::new()),
                }
            }
            Kind::Set(set) if set.is_empty() && span.end - span.start > 2 => {
                self.lone_surrogate(span, "this set has no members but halves of surrogate pairs");
                ElementKind::Set(set)
            }
            Kind::Literal(literal) => {
                self.elements += literal.text.len();
                ElementKind::Literal(literal.text)
            }
            Kind::Set(set) => {
                self.elements += set.ranges().len();
                ElementKind::Set(set)
            }
            Kind::Dot => ElementKind::Wildcard,
            Kind::Open => return self.block(span, is_lexical),
            Kind::Tilde => {
                let inner = match self.peek() {
                    Kind::Tilde => return Err(self.unexpected("what is not to stand here")),
                    _ => self.primary(is_lexical)?,
                };
                let span = span.to(inner.span);
                return Ok(Element { kind: ElementKind::Not(Box::new(inner)), span });
            }
            Kind::Name(name) => {
                if !is_lexical && *self.peek() == Kind::Arguments {
                    let arguments = self.take().span;
                    self.code(arguments, &format!("the arguments of `{name}`"));
                }
                ElementKind::Name(name.to_string())
            }
            _ => return Err(Reported),
        };
        Ok(Element { kind, span })
    }

    /// Reports a lone surrogate, which no text contains.
    fn lone_surrogate(&mut self, span: Span, message: &str) {
        let help = "no text holds it, so what needs it is left out; write the character itself, or `\\u{1F600}`";
        self.lexer.report(Diagnostic::warning(Code::LoneSurrogate, span, message).help(help));
    }

    /// Parses `'a'..'z'`
    fn range(&mut self, low: &Literal, start: Span) -> Result<Element, Reported> {
        self.take();
        let Kind::Literal(_) = self.peek() else { return Err(self.unexpected("the upper bound of the range")) };
        let Token { kind: Kind::Literal(high), span } = self.take() else { return Err(Reported) };
        let span = start.to(span);
        match (low.only, high.only) {
            (Some(low), Some(high)) if low <= high => {
                let set = CharSet::new(Unit::Char, [(low, high)]);
                if set.is_empty() {
                    self.lone_surrogate(span, "this range has no members but halves of surrogate pairs");
                }
                Ok(Element { kind: ElementKind::Set(set), span })
            }
            _ => {
                let message = "the bounds of a range are two characters in ascending order";
                self.lexer.report(Diagnostic::error(Code::Syntax, span, message).help("write `'a'..'z'`"));
                Err(Reported)
            }
        }
    }

    fn block(&mut self, open: Span, is_lexical: bool) -> Result<Element, Reported> {
        if self.groups == MAX_GROUPS {
            let message = format!("blocks are nested more than {MAX_GROUPS} levels deep");
            self.lexer.report(
                Diagnostic::error(Code::TooDeep, open, message).help("move the inner part into a rule of its own"),
            );
            return Err(Reported);
        }
        self.groups += 1;
        if self.take_word("options") {
            if !self.braced() {
                return Err(self.unexpected("`{`"));
            }
            self.options(false)?;
        }
        while *self.peek() == Kind::At {
            self.named_action()?;
        }
        self.take_if(&Kind::Colon);
        let alternatives = self.alternatives(is_lexical)?;
        self.groups -= 1;
        if !self.take_if(&Kind::Close) {
            let end = self.next_span();
            let diagnostic = Diagnostic::error(Code::Syntax, open, "this block is not closed")
                .related(end, "`)` is missing before this")
                .help("close it with `)`");
            self.lexer.report(diagnostic);
            return Err(Reported);
        }
        Ok(Element { kind: ElementKind::Block(alternatives), span: open.to(self.last_span) })
    }
}

/// Returns the condition of a predicate after the element `last`, if the predicate is known.
fn condition(text: &str, is_lexical: bool, last: Option<&Element>) -> Option<Condition> {
    if !is_lexical {
        return helpers::of_parser(text);
    }
    let is_set =
        |last: &Element| matches!(last.kind, ElementKind::Set(_) | ElementKind::Not(_) | ElementKind::Wildcard);
    let is_known = |condition: &Condition| !matches!(condition, Condition::Previous(_)) || last.is_some_and(is_set);
    helpers::of_lexer(text).filter(is_known)
}

//! Indentation in grammars whose rules are [`Syntax`]: finds the tokens that stand for the layout of lines, and makes
//! rules that need no such tokens.

use super::boundaries::Syntax;
use super::builder::Builder;
use crate::ast::{Expr, Grammar, Name, Rule};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ordered::{Map, Set};
use crate::tokens::{DEDENT, INDENT, Indent, Indentation, Layout, NEWLINE, lay_out};

/// The usual names for the end of a line, without underscores and in lower case.
const NEWLINES: &[&str] = &["newline", "nl", "eol"];

/// The name of the rule for the text between tokens. No grammar can spell it.
const GAP: &str = "\0gap";

/// The tokens that stand for the layout of lines.
pub(super) struct LayoutTokens {
    newline: Option<String>,
    indent: String,
    dedent: String,
    indentation: Indentation,
}

impl LayoutTokens {
    /// Returns the layout tokens that the user has named, or those with usual names. `external` are the used tokens
    /// that only code makes, `own` are the others.
    pub(super) fn find(
        indent: &Indent,
        external: &Set<String>,
        own: &Set<String>,
        builder: &mut Builder<'_>,
    ) -> Option<LayoutTokens> {
        if indent.off {
            return None;
        }
        let indentation = indent.indentation;
        let Some(names) = &indent.names else {
            let usual = |name: &str| name.trim_matches('_').to_ascii_lowercase();
            let called = |wanted: &str| external.iter().find(|name| usual(name) == wanted).cloned();
            let all = || external.iter().chain(own);
            let newline = NEWLINES.iter().find_map(|&wanted| all().find(|name| usual(name) == wanted)).cloned();
            return Some(LayoutTokens { newline, indent: called("indent")?, dedent: called("dedent")?, indentation });
        };
        let mut known = |name: &str| {
            let is_known = external.contains(name) || own.contains(name);
            if !is_known {
                let message = format!("no rule uses the token `{}` for indentation", name.escape_debug());
                let help = "name tokens of the grammar: `--indent tokens=NEWLINE/INDENT/DEDENT`";
                builder.report(Diagnostic::error(Code::UnknownDirective, None, message).help(help));
            }
            is_known.then(|| name.to_string())
        };
        let newline = names.newline.as_ref().map(|name| known(name.as_str()));
        let (begin, end) = (known(names.indent.as_str()), known(names.dedent.as_str()));
        let newline = match newline {
            Some(found) => Some(found?),
            None => None,
        };
        Some(LayoutTokens { newline, indent: begin?, dedent: end?, indentation })
    }

    /// Returns true if the token stands for layout.
    pub(super) fn has(&self, name: &str) -> bool {
        self.newline.as_deref() == Some(name) || self.indent == name || self.dedent == name
    }

    /// Replaces references to layout tokens by references to the rules that stand for them. Returns the lexical rule
    /// for the end of a line, which is needed until [`LayoutTokens::lay_out`].
    pub(super) fn mark(&self, syntax: &mut [(Name, Syntax)]) -> Option<Rule> {
        syntax.iter_mut().for_each(|(_, body)| self.mark_in(body));
        self.newline.as_ref().map(|_| rule(NEWLINE, "\n"))
    }

    fn mark_in(&self, syntax: &mut Syntax) {
        match syntax {
            Syntax::Token(part) | Syntax::Immediate(part) => {
                let Some(name) = part.expr.as_rule_mut() else { return };
                let is_line_end = self.newline.as_ref() == Some(name);
                let stand_in = match () {
                    () if is_line_end => NEWLINE,
                    () if self.indent == *name => INDENT,
                    () if self.dedent == *name => DEDENT,
                    () => return,
                };
                *name = stand_in.to_string();
                // The tokens for blocks have no text.
                *syntax = if is_line_end { Syntax::Token(part.clone()) } else { Syntax::Blank(part.clone()) };
            }
            Syntax::Blank(_) | Syntax::Rule(_) => {}
            Syntax::Seq(items) | Syntax::Choice(items) => items.iter_mut().for_each(|item| self.mark_in(item)),
            Syntax::Repeat(item, ..) => self.mark_in(item),
        }
    }

    /// Returns the separator in the rules that [`LayoutTokens::lay_out`] takes. It is left out at the beginning of a
    /// line.
    pub(super) fn separator(&self) -> Expr {
        Expr::rule(GAP, Span::default())
    }

    /// Returns the grammar without layout tokens. `separator` is the text between tokens.
    pub(super) fn lay_out(
        &self,
        mut grammar: Grammar,
        start: &Name,
        separator: Option<&str>,
        builder: &mut Builder<'_>,
    ) -> Grammar {
        grammar.rules.retain(|rule| rule.name.text != NEWLINE);
        let names: Set<String> = grammar.rules.iter().map(|rule| rule.name.text.clone()).collect();
        grammar.rules.push(rule(GAP, separator.unwrap_or_default()));
        grammar.start = Some(start.clone());
        // The rule for the end of a line is replaced by a line break.
        grammar.class_rules.extend(self.newline.clone());
        let layout = Layout {
            indentation: self.indentation,
            line_end: text("\n", start.span),
            blank_line: Expr::empty(start.span),
            gaps: Set::from([GAP.to_string()]),
        };
        let mut found = Diagnostics::default();
        let result = lay_out(&grammar, start, &layout, &mut found);
        let has_errors = found.has_errors();
        for diagnostic in found.iter() {
            builder.report(diagnostic.clone());
        }
        let Some(mut result) = result else {
            if !has_errors {
                let message = format!("no text with lines and blocks can be derived from `{}`", start.text);
                let help = "`--indent tokens=NEWLINE/INDENT/DEDENT` names other tokens, `--indent none` none";
                builder.report(Diagnostic::error(Code::UnproductiveRule, start.span, message).help(help));
            }
            return Grammar::default();
        };
        result.rules.retain(|rule| rule.name.text != GAP);
        for rule in &mut result.rules {
            rule.body.each_mut(&mut |expr| {
                if expr.as_rule() == Some(GAP) {
                    *expr = text(separator.unwrap_or_default(), expr.span);
                }
            });
        }
        result.origins = origins(&result.rules, &names);
        result
    }
}

fn text(text: &str, span: Span) -> Expr {
    Expr::bytes(text, span)
}

fn rule(name: &str, body: &str) -> Rule {
    let span = Span::default();
    Rule::new(Name { text: name.to_string(), span }, text(body, span))
}

/// Returns for each rule that is not among `names` the name of the rule that it was made from.
fn origins(rules: &[Rule], names: &Set<String>) -> Map<String, String> {
    let made = rules.iter().map(|rule| rule.name.text.as_str()).filter(|name| !names.contains(*name));
    let origin = |name: &str| {
        let mut begins = name.rmatch_indices('.').map(|(end, _)| &name[..end]);
        begins.find(|begin| names.contains(*begin)).map(String::from)
    };
    made.filter_map(|name| Some((name.to_string(), origin(name)?))).collect()
}

#[cfg(test)]
mod tests;

//! The file of tokens: a grammar in any format that defines the tokens which another grammar only names.

use super::boundaries::Lexical;
use super::builder::Builder;
use super::keywords::Converting;
use super::{FormatOptions, Surroundings, lex};
use crate::ast::{Grammar, Rule};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use crate::ordered::{Map, Set, sort_by};
use crate::tokens::{Fragment, Indent, Pattern};

/// The rules of a file of tokens, by name. Their spans are empty, because their places are in another file.
#[derive(Default)]
pub(super) struct Given {
    rules: Map<String, Rule>,
}

impl Given {
    /// Reads the file of tokens that the user has named for the grammar in `file`. Without such a file there are no
    /// rules. `None` if it has errors, or if the grammar is too large; that is reported.
    pub(super) fn read(
        file: &SourceFile,
        surroundings: &Surroundings<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Given> {
        if super::refuse_huge_file(file, diagnostics) {
            return None;
        }
        let Some(name) = surroundings.tokens else { return Some(Given::default()) };
        let file = load(name, surroundings, diagnostics)?;
        if lex::is_lexer(name, surroundings.loader) {
            let message = "a file of lex is a file of tokens for grammars of yacc and bison only";
            let help = "a file of tokens for this grammar has a rule for each token, such as `NUM ::= [0-9]+`";
            diagnostics.push(Diagnostic::error(Code::UnknownDirective, None, message).help(help));
            return None;
        }
        // Tokens for indentation belong to the grammar, not to this file.
        let indent = Indent { off: true, ..Indent::default() };
        let options = FormatOptions { indent, ..surroundings.options };
        let surroundings = Surroundings { options, start: None, tokens: None, ..*surroundings };
        let mut found = Diagnostics::default();
        let grammar = super::detect(&file).parse_within(&file, &surroundings, &mut found);
        report_undefined(&grammar, &mut found);
        from_another(&file, &found).for_each(|diagnostic| diagnostics.push(diagnostic));
        (!found.has_errors()).then(|| Given::of(grammar))
    }

    /// Returns the rules of a grammar.
    pub(super) fn of(grammar: Grammar) -> Given {
        let mut rules = Map::new();
        for mut rule in grammar.rules {
            rule.name.span = Span::default();
            rule.body.each_mut(&mut |expr| expr.span = Span::default());
            rules.entry(rule.name.text.clone()).or_insert(rule);
        }
        Given { rules }
    }

    /// Returns true if the file defines the token `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.rules.contains_key(name)
    }

    /// Returns the rules of `tokens` and of the rules that they refer to, by name. A helper rule gets another name if a
    /// rule of the grammar has its name (`is_taken`).
    pub(super) fn rules<'n>(
        &self,
        tokens: impl Iterator<Item = &'n str>,
        is_taken: impl Fn(&str) -> bool,
        builder: &mut Builder<'_>,
    ) -> Vec<Rule> {
        let tokens: Set<&str> = tokens.filter(|name| self.has(name)).collect();
        let mut reached: Set<String> = tokens.iter().map(|name| name.to_string()).collect();
        let mut pending: Vec<String> = reached.iter().cloned().collect();
        let mut rules = Vec::new();
        while let Some(name) = pending.pop() {
            let Some(rule) = self.rules.get(&name) else { continue };
            let mut rule = rule.clone();
            let mut expressions = 0;
            rule.body.each_mut(&mut |expr| {
                expressions += 1;
                let Some(name) = expr.as_rule_mut() else { return };
                if reached.insert(name.clone()) {
                    pending.push(name.clone());
                }
                if !tokens.contains(name.as_str()) && is_taken(name) {
                    *name = renamed(name);
                }
            });
            if builder.count(expressions, Span::default()).is_err() {
                break;
            }
            if !tokens.contains(name.as_str()) && is_taken(&name) {
                rule.name.text = renamed(&name);
            }
            rules.push(rule);
        }
        sort_by(&mut rules, |a, b| a.name.text.cmp(&b.name.text));
        rules
    }

    /// Returns the patterns of tokens, by name, for a lexer. The rules that they refer to are added to `fragments`.
    pub(super) fn patterns(
        &self,
        tokens: &Set<String>,
        fragments: &mut Vec<Fragment>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<(String, Pattern)> {
        let mut builder = Builder::new(diagnostics);
        let rules = self.rules(tokens.iter().map(String::as_str), |_| false, &mut builder);
        let lexical = Lexical::new(&rules);
        let mut converting = Converting::new(&lexical, std::mem::take(fragments));
        let mut patterns = Vec::new();
        for rule in rules.iter().filter(|rule| tokens.contains(&rule.name.text)) {
            match converting.pattern(&rule.body) {
                Some(pattern) => patterns.push((rule.name.text.clone(), pattern)),
                None => {
                    let message = format!("the token `{}` has bytes in it that are no characters", rule.name.text);
                    let help = "the lexers of ANTLR read characters";
                    builder.report(Diagnostic::error(Code::NotExpressible, None, message).help(help));
                }
            }
        }
        *fragments = converting.finish();
        patterns
    }
}

/// Returns the file of tokens called `name`. `None` if it cannot be read, which is reported.
pub(super) fn load(name: &str, surroundings: &Surroundings<'_>, diagnostics: &mut Diagnostics) -> Option<SourceFile> {
    match surroundings.loader.load(name) {
        Ok(file) => Some(file),
        Err(problem) => {
            let message = format!("the file of tokens `{name}` cannot be read: {problem}");
            diagnostics.push(Diagnostic::error(Code::MissingFile, None, message));
            None
        }
    }
}

/// Returns the new name of a helper rule whose name is taken. No name of the formats with a file of tokens contains a
/// full stop.
fn renamed(name: &str) -> String {
    format!("tokens.{name}")
}

/// Reports undefined references. The checks of the whole grammar could not give their places.
fn report_undefined(grammar: &Grammar, found: &mut Diagnostics) {
    if found.has_errors() {
        return;
    }
    let names: Set<&str> = grammar.rules.iter().map(|rule| rule.name.text.as_str()).collect();
    for rule in &grammar.rules {
        rule.body.each(&mut |expr| {
            if let Some(name) = expr.as_rule()
                && !names.contains(name)
            {
                let shown: String = name.chars().take(80).collect::<String>().escape_debug().to_string();
                let message = format!("rule `{shown}` is not defined");
                found.push(Diagnostic::error(Code::UndefinedRule, expr.span, message));
            }
        });
    }
}

/// Returns the findings in another file, with the place in their messages.
pub(super) fn from_another<'f>(
    file: &'f SourceFile,
    found: &'f Diagnostics,
) -> impl Iterator<Item = Diagnostic> + use<'f> {
    found.iter().map(|diagnostic| {
        let place = diagnostic.span.map_or(String::new(), |span| {
            let (line, column) = file.line_column(span.start);
            format!("{line}:{column}: ")
        });
        let message = format!("{}:{place}{}", file.name(), diagnostic.message);
        Diagnostic { message, span: None, related: Vec::new(), ..diagnostic.clone() }
    })
}

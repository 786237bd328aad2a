//! Expands a grammar over tokens to a grammar over characters.

use super::boundaries::{ANY_FIRST, Boundaries, FirstId, Known};
use super::flat::{FlatGrammar, Lexeme};
use super::gaps::Gaps;
use super::language::NEVER;
use super::layout::{Indentation, Layout, lay_out, with_rules};
use super::modes::flatten;
use super::nfa::MAX_RECURSION;
use super::patterns::{Names, Writer};
use super::separate::{Spaced, SpacedGrammar, separate};
use super::separators::Which;
use super::states::Automata;
use super::{LexerRule, Options, Outcome, SeparatorPolicy, Syntax, TokenGrammar};
use crate::ast::{self, Alternative, Expr, ExprKind, Grammar, Name, Weight};
use crate::check::Index;
use crate::check::productive::productive_rules;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ordered::{Map, Set};

/// The greatest number of modes of a lexer.
pub(crate) const MAX_MODES: usize = 1 << 12;

/// The most pairs of unseparated neighbours that a message names.
const MAX_PAIRS: usize = 8;
/// The most rules nested in themselves that a message names.
const MAX_NAMES: usize = 8;

/// Returns the grammar over characters whose texts the lexer cuts into the tokens that the parser's rules derive.
/// Errors go into `diagnostics`; the result may then be empty.
pub fn expand(grammar: &TokenGrammar, options: &Options, diagnostics: &mut Diagnostics) -> Grammar {
    let Some(start) = grammar.rules.get(grammar.start) else { return Grammar::default() };
    if grammar.lexer.modes > MAX_MODES {
        let message = format!("the lexer has more than {MAX_MODES} modes");
        diagnostics.push(Diagnostic::error(Code::TooLarge, start.span, message));
        return Grammar::default();
    }
    let with_layout = grammar.lexer.layout.map(|tokens| with_rules(grammar, &tokens));
    let grammar = with_layout.as_ref().unwrap_or(grammar);
    let mut automata = Automata::new(&grammar.lexer, options.alphabet);
    report_unknown(grammar, &automata, diagnostics);
    report_cut(grammar, &automata, diagnostics);
    report_shadowed(grammar, &automata, diagnostics);
    let Some(flat) = flatten(grammar, &automata, options.separators) else {
        let message = "the parser's rules are too many, or have too many variants in the modes of the lexer";
        let help = "leave out rules that the start rule does not need, or choose another one with `--start`";
        diagnostics.push(Diagnostic::error(Code::TooLarge, start.span, message).help(help));
        return Grammar::default();
    };
    // Texts from other sources may contain the uncertain cases too.
    let is_any = options.separators == SeparatorPolicy::Any;
    let (flat, separated) = if is_any {
        for (number, _) in grammar.lexer.rules.iter().enumerate().filter(|(_, rule)| rule.outcome == Outcome::Hidden) {
            automata.keep_endable(number);
        }
        (flat, None)
    } else {
        let (restless, separated) = keep_quiet(&mut automata, &flat, grammar, options);
        match without_restless(&flat, &restless, grammar, diagnostics) {
            Some(rest) => (rest, None),
            None => (flat, separated),
        }
    };
    let (mut separated, boundaries) = match separated {
        Some((spaced, known)) => (Some(spaced), Boundaries::of_known(&grammar.lexer, &automata, &flat.lexemes, known)),
        None => (None, Boundaries::new(&grammar.lexer, &automata, &flat.lexemes)),
    };
    for only_certain in [true, false] {
        if only_certain && is_any {
            continue;
        }
        let spaced = match separated.take() {
            Some(spaced) => spaced,
            None => separate(&flat, &boundaries, options.separators, only_certain),
        };
        let mut assembly = Assembly::new(grammar, &automata, &boundaries, &flat, options);
        let result = assembly.grammar(&spaced);
        let result = match grammar.lexer.layout {
            Some(tokens) => assembly.laid_out(result, tokens.indentation, diagnostics),
            None => Some(result),
        };
        if let Some(result) = result.and_then(pruned) {
            report_in_full(grammar, &assembly.writer.in_full, diagnostics);
            if assembly.writer.has_long_ways {
                report_long_ways(start.span, diagnostics);
            }
            if !is_any {
                report_unseparated(grammar, &flat, &spaced, only_certain, diagnostics);
            }
            let origins = origins(grammar, &result);
            return Grammar { origins, ..result };
        }
    }
    let message = format!("no text of the lexer's tokens can be derived from `{}`", start.name);
    let help =
        "its derivations need tokens that no lexer rule matches, or that never stand in the mode of the lexer there";
    diagnostics.push(Diagnostic::error(Code::UnproductiveRule, start.span, message).help(help));
    Grammar::default()
}

/// Returns for each rule of the result with a new name the name of the original rule.
fn origins(grammar: &TokenGrammar, result: &Grammar) -> Map<String, String> {
    let lexer = &grammar.lexer;
    let names = grammar.rules.iter().map(|rule| rule.name.as_str());
    let names = names.chain(lexer.rules.iter().map(|rule| rule.name.as_str()));
    let known: Set<&str> = names.chain(lexer.fragments.iter().map(|fragment| fragment.name.as_str())).collect();
    let origin = |name: &str| {
        let mut begins = name.rmatch_indices('.').map(|(end, _)| &name[..end]);
        if known.contains(name) { None } else { begins.find(|begin| known.contains(begin)).map(String::from) }
    };
    let names = result.rules.iter().map(|rule| &rule.name.text);
    names.filter_map(|name| Some((name.clone(), origin(name)?))).collect()
}

/// Keeps the lexer from continuing beyond tokens where no separator helps. If it does not continue after some texts of
/// a token, only those texts are kept. Returns the lexemes after which it may continue before all their neighbours, and
/// the separated grammar, if the automata are still those that it was made with.
fn keep_quiet(
    automata: &mut Automata,
    flat: &FlatGrammar,
    grammar: &TokenGrammar,
    options: &Options,
) -> (Set<usize>, Option<(SpacedGrammar, Known)>) {
    if options.separators == SeparatorPolicy::None {
        return (Set::new(), None);
    }
    const MAX_ROUNDS: usize = 4;
    let mut round = 0;
    loop {
        round += 1;
        let boundaries = Boundaries::new(&grammar.lexer, automata, &flat.lexemes);
        let spaced = separate(flat, &boundaries, options.separators, true);
        let mut rights: Map<usize, Set<usize>> = Map::new();
        for &(left, right) in &spaced.restless {
            rights.entry(flat.lexemes[left].rule).or_default().insert(right);
        }
        let budget = boundaries.budget();
        let quiet: Vec<_> =
            rights.into_iter().map(|(rule, rights)| (rule, boundaries.quiet_ends(rule, &rights))).collect();
        let known = boundaries.into_known(budget);
        let mut changed = false;
        for (rule, ends) in quiet {
            changed |= automata.keep_ends(rule, &ends);
        }
        if !changed || round == MAX_ROUNDS {
            let lefts: Set<usize> = spaced.restless.iter().map(|&(left, _)| left).collect();
            let restless = lefts.difference(&spaced.calm).copied().collect();
            return (restless, (!changed).then_some((spaced, known)));
        }
    }
}

/// Returns the grammar without the lexemes after which the lexer may always continue, if most lexemes remain. `None` if
/// nothing is left out.
fn without_restless(
    flat: &FlatGrammar,
    restless: &Set<usize>,
    grammar: &TokenGrammar,
    diagnostics: &mut Diagnostics,
) -> Option<FlatGrammar> {
    let is_token = |&&lexeme: &&usize| grammar.lexer.rules[flat.lexemes[lexeme].rule].outcome != Outcome::More;
    let restless: Set<usize> = restless.iter().filter(is_token).copied().collect();
    if restless.is_empty() {
        return None;
    }
    let rest = flat.without(&restless)?;
    if 4 * rest.used().len() < 3 * flat.used().len() {
        return None;
    }
    let names: Set<&str> = restless.iter().map(|&lexeme| token_name(grammar, flat, lexeme)).collect();
    let mut shown: Vec<String> = names.iter().take(MAX_PAIRS).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_PAIRS {
        shown.push(format!("{} more tokens", names.len() - MAX_PAIRS));
    }
    let message = format!("the lexer may go on after {}, whatever follows", shown.join(", "));
    let help = "another lexer rule begins with the same characters, and no hidden rule can stand there that would end it; \
                what needs these tokens is left out";
    let span = grammar.rules[grammar.start].span;
    diagnostics.push(Diagnostic::warning(Code::AmbiguousBoundary, span, message).help(help));
    Some(rest)
}

/// Returns the name of a lexeme's token, or of its rule if the rule is only a part of a token.
fn token_name<'g>(grammar: &'g TokenGrammar, flat: &FlatGrammar, lexeme: usize) -> &'g str {
    let rule = &grammar.lexer.rules[flat.lexemes[lexeme].rule];
    match rule.outcome {
        Outcome::Token(token) => &grammar.lexer.tokens[token],
        _ => &rule.name,
    }
}

/// Reports that the automata of some modes are too large.
fn report_unknown(grammar: &TokenGrammar, automata: &Automata, diagnostics: &mut Diagnostics) {
    let mut modes = automata.unknown_modes();
    let Some(first) = modes.next() else { return };
    let rule = &grammar.lexer.rules[automata.rules_of(first)[0]];
    let others = match modes.count() {
        0 => String::new(),
        1 => ", and in one more mode".to_string(),
        count => format!(", and in {count} more modes"),
    };
    let message = format!("the lexer's rules are too large to compare in the mode of `{}`{others}", rule.name);
    let help = "all tokens are separated there, and what one rule takes from another is not known; some outputs may have \
                other tokens than were derived";
    diagnostics.push(Diagnostic::warning(Code::TooLarge, rule.span, message).help(help));
}

/// Reports the lexer rules that nest in themselves, of which deeper texts are missing.
fn report_cut(grammar: &TokenGrammar, automata: &Automata, diagnostics: &mut Diagnostics) {
    let rules: Vec<&LexerRule> = automata.cut_rules().map(|number| &grammar.lexer.rules[number]).collect();
    let Some(first) = rules.first() else { return };
    let names: Set<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
    let mut shown: Vec<String> = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_NAMES {
        shown.push(format!("{} more lexer rules", names.len() - MAX_NAMES));
    }
    let message =
        format!("texts of {} that nest deeper than {MAX_RECURSION} levels are not looked at", shown.join(", "));
    let help = "no automaton knows a rule that nests in itself; where tokens are told from one another, what nests deeper \
                is taken to match nothing";
    diagnostics.push(Diagnostic::warning(Code::CutRecursion, first.span, message).help(help));
}

/// Reports the lexer rules with too many texts to exclude those of other rules.
fn report_in_full(grammar: &TokenGrammar, in_full: &Set<usize>, diagnostics: &mut Diagnostics) {
    for &number in in_full {
        let rule = &grammar.lexer.rules[number];
        let message = format!(
            "`{}` is too large to be written without the texts that the lexer takes for something else",
            rule.name
        );
        let help = "it is written as it is, so some outputs may have other tokens than were derived";
        diagnostics.push(Diagnostic::warning(Code::TooLarge, rule.span, message).help(help));
    }
}

/// Reports that not all hidden texts are written that lead through other modes.
fn report_long_ways(span: Span, diagnostics: &mut Diagnostics) {
    let message = "hidden texts that lead through other modes are left out where there are too many ways back";
    let help = "texts that have them do not conform; give the modes fewer rules, or fewer rules that change the mode";
    diagnostics.push(Diagnostic::warning(Code::TooLarge, span, message).help(help));
}

/// Reports the lexer rules that the parser needs but that never win.
fn report_shadowed(grammar: &TokenGrammar, automata: &Automata, diagnostics: &mut Diagnostics) {
    let mut used = Set::new();
    for rule in &grammar.rules {
        each_token(&rule.body, &mut |token| {
            used.insert(token);
        });
    }
    for (number, rule) in grammar.lexer.rules.iter().enumerate() {
        let is_used = matches!(rule.outcome, Outcome::Token(token) if used.contains(&token));
        if is_used && !automata.is_possible(number) {
            let message = format!("the lexer never matches `{}`", rule.name);
            let help = "it matches nothing, or all that it matches is an earlier rule's; what needs it is left out";
            diagnostics.push(Diagnostic::warning(Code::ShadowedRule, rule.span, message).help(help));
        }
    }
}

fn each_token(syntax: &Syntax, visit: &mut dyn FnMut(usize)) {
    match syntax {
        Syntax::Token(token) => visit(*token),
        Syntax::NotTokens(_) | Syntax::End | Syntax::Expect(_) | Syntax::Rule(_) => {}
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter().for_each(|item| each_token(item, visit)),
        Syntax::Repeat { item, .. } => each_token(item, visit),
    }
}

/// Reports neighbours that the lexer may cut differently, if no separator helps.
fn report_unseparated(
    grammar: &TokenGrammar,
    flat: &FlatGrammar,
    spaced: &SpacedGrammar,
    left_out: bool,
    diagnostics: &mut Diagnostics,
) {
    let name = |lexeme: usize| token_name(grammar, flat, lexeme).to_string();
    let pairs: Set<(String, String)> =
        spaced.unseparated.iter().map(|&(left, right)| (name(left), name(right))).collect();
    if pairs.is_empty() {
        return;
    }
    let mut shown: Vec<String> =
        pairs.iter().take(MAX_PAIRS).map(|(left, right)| format!("`{left}` and `{right}`")).collect();
    if pairs.len() > MAX_PAIRS {
        shown.push(format!("{} more pairs", pairs.len() - MAX_PAIRS));
    }
    let message = format!("the lexer may not cut between {}", shown.join(", "));
    let help = if left_out {
        "no hidden rule can stand there; derivations with such neighbours are left out where there are others"
    } else {
        "no hidden rule can stand there; some outputs may have other tokens than were derived"
    };
    let span = grammar.rules[grammar.start].span;
    diagnostics.push(Diagnostic::warning(Code::AmbiguousBoundary, span, message).help(help));
}

/// Writes the rules over characters.
struct Assembly<'a> {
    grammar: &'a TokenGrammar,
    boundaries: &'a Boundaries<'a>,
    flat: &'a FlatGrammar,
    writer: Writer<'a>,
    names: Vec<String>,
    separators: Map<Vec<String>, Expr>,
    /// The rules for separators, if lines have a layout.
    spaces: Set<String>,
    /// The texts that may stand before any token, if the policy allows them.
    gaps: Option<Gaps>,
}

impl<'a> Assembly<'a> {
    fn new(
        grammar: &'a TokenGrammar,
        automata: &'a Automata,
        boundaries: &'a Boundaries<'a>,
        flat: &'a FlatGrammar,
        options: &Options,
    ) -> Assembly<'a> {
        let writer = Writer::new(&grammar.lexer, automata, options.alphabet, Names::default());
        let gaps = (options.separators == SeparatorPolicy::Any).then(|| Gaps::new(grammar.lexer.modes));
        let (names, separators, spaces) = (Vec::new(), Map::new(), Set::new());
        Assembly { grammar, boundaries, flat, writer, names, separators, spaces, gaps }
    }

    /// Returns the grammar, which was written without tokens for its layout, with this indentation.
    fn laid_out(&self, grammar: Grammar, indentation: Indentation, diagnostics: &mut Diagnostics) -> Option<Grammar> {
        let start = grammar.start.clone()?;
        let mut gaps = self.spaces.clone();
        gaps.extend(self.gaps.iter().flat_map(Gaps::names).cloned());
        let text = self.grammar.lexer.line_end();
        let line_end = match &self.gaps {
            Some(gaps) => gaps.line_end(self.grammar.lexer.layout_mode(), &text, start.span),
            None => Expr::bytes(text, start.span),
        };
        let blank_line = match &self.gaps {
            Some(gaps) => gaps.blank_line(self.grammar.lexer.layout_mode(), start.span),
            None => Expr::empty(start.span),
        };
        lay_out(&grammar, &start, &Layout { indentation, line_end, blank_line, gaps }, diagnostics)
    }

    fn grammar(&mut self, spaced: &SpacedGrammar) -> Grammar {
        // The parser's own names are given first. So the start rule keeps its name, or with gaps, the rule for the
        // whole text gets it.
        let whole = self.gaps.is_some().then(|| self.writer.names.fresh(&self.flat.rules[self.flat.start].name));
        for rule in &spaced.rules {
            let name = &self.flat.rules[rule.origin].name;
            let name = self.writer.names.fresh(name);
            self.names.push(name);
        }
        let mut rules = Vec::with_capacity(spaced.rules.len());
        for (number, rule) in spaced.rules.iter().enumerate() {
            let span = self.flat.rules[rule.origin].span;
            let body = self.expr(&rule.body, span);
            rules.push(ast::Rule::new(Name { text: self.names[number].clone(), span }, body));
        }
        if let (Some(gaps), Some(first), Some(name)) = (&mut self.gaps, rules.first(), whole) {
            // The gap after the last token is in the mode that texts begin in.
            let span = first.name.span;
            let start = Expr::rule(first.name.text.clone(), span);
            let body = Expr::seq(vec![start, gaps.last(&mut self.writer, 0, span)], span);
            rules.insert(0, ast::Rule::new(Name { text: name, span }, body));
        }
        let start = rules.first().map(|rule| rule.name.clone());
        rules.append(&mut self.writer.rules);
        Grammar { rules, start, ..Grammar::default() }
    }

    fn expr(&mut self, spaced: &Spaced, span: Span) -> Expr {
        let kind = match spaced {
            Spaced::Lexeme { lexeme, first } => return self.lexeme(*lexeme, *first, false, span),
            Spaced::Separator { before, which } => return self.separator(*before, *which, span),
            Spaced::Rule(rule) => ExprKind::Rule(self.names[*rule].clone()),
            Spaced::Seq(items) => match items.as_slice() {
                [only] => return self.expr(only, span),
                [Spaced::Separator { .. }, Spaced::Lexeme { lexeme, first }] if self.gaps.is_some() => {
                    return self.lexeme(*lexeme, *first, true, span);
                }
                _ => ExprKind::Seq(items.iter().map(|item| self.expr(item, span)).collect()),
            },
            // An empty choice derives no text.
            Spaced::Choice(options) if options.is_empty() => ExprKind::Rule(NEVER.to_string()),
            Spaced::Choice(options) => match options.as_slice() {
                [only] => return self.expr(only, span),
                _ => {
                    let option = |option| Alternative { expr: self.expr(option, span), weight: None };
                    ExprKind::Choice(options.iter().map(option).collect())
                }
            },
            Spaced::Repeat { item, min, max } => {
                ExprKind::Repeat { item: Box::new(self.expr(item, span)), min: *min, max: *max }
            }
        };
        Expr { kind, span }
    }

    /// Returns a lexeme with its hidden rules. With gaps, `separated` says whether the gap before it must not be empty.
    fn lexeme(&mut self, lexeme: usize, first: FirstId, separated: bool, span: Span) -> Expr {
        let Lexeme { rule, .. } = self.flat.lexemes[lexeme];
        let mode = self.grammar.lexer.rules[self.flat.lexemes[lexeme].entry()].mode;
        let gap = self.gaps.as_mut().and_then(|gaps| gaps.before(&mut self.writer, mode, separated, span));
        let hidden = self.boundaries.hidden_text(lexeme);
        let hidden = (!hidden.is_empty()).then(|| Expr::bytes(hidden.as_bytes().to_vec(), span));
        let token = match first {
            ANY_FIRST => self.writer.lexer_rule(rule),
            first => self.writer.beginning(rule, first, &self.boundaries.first(first)),
        };
        if gap.is_none() && hidden.is_none() {
            return Expr { span, ..token };
        }
        Expr::seq(gap.into_iter().chain(hidden).chain([token]).collect(), span)
    }

    /// Returns one of the separators before a lexeme: usually the first possible one, now and then a line break.
    fn separator(&mut self, before: usize, which: Which, span: Span) -> Expr {
        let texts = self.boundaries.separators(before);
        let mut allowed =
            texts.iter().enumerate().filter(|(number, _)| which >> number & 1 == 1).map(|(_, text)| &text.text);
        let first = allowed.next().cloned().unwrap_or_default();
        let mut chosen = vec![first];
        // Code outside the grammar may give line breaks a meaning.
        let has_layout = self.grammar.lexer.layout.is_some();
        if !self.grammar.has_code && !has_layout && allowed.any(|text| text == "\n") {
            chosen.push("\n".to_string());
        }
        if let Some(expr) = self.separators.get(&chosen) {
            return Expr { span, ..expr.clone() };
        }
        let bytes = |text: &String| Expr::bytes(text.as_str(), span);
        let expr = match chosen.as_slice() {
            [usual, rare] => {
                let weigh = |value| Some(Weight { value, span });
                let alternatives = vec![
                    Alternative { expr: bytes(usual), weight: weigh(7.0) },
                    Alternative { expr: bytes(rare), weight: weigh(1.0) },
                ];
                let name = self.writer.names.fresh("separator");
                let body = Expr::choice(alternatives, span);
                self.writer.rules.push(ast::Rule::new(Name { text: name.clone(), span }, body));
                Expr::rule(name, span)
            }
            _ if has_layout => {
                let name = self.writer.names.fresh("separator");
                self.writer.rules.push(ast::Rule::new(Name { text: name.clone(), span }, bytes(&chosen[0])));
                self.spaces.insert(name.clone());
                Expr::rule(name, span)
            }
            _ => bytes(&chosen[0]),
        };
        self.separators.insert(chosen, expr.clone());
        expr
    }
}

/// Returns the grammar without unproductive and unreachable rules. `None` if the start rule derives no text.
fn pruned(mut grammar: Grammar) -> Option<Grammar> {
    let name = Name { text: NEVER.to_string(), span: Span::default() };
    let body = Expr::rule(NEVER, Span::default());
    grammar.rules.push(ast::Rule::new(name, body));
    let productive = {
        let index: Index<'_> =
            grammar.rules.iter().enumerate().map(|(number, rule)| (rule.name.text.as_str(), number)).collect();
        let productive = productive_rules(&grammar, &index);
        // Of rules with one name, the last one counts.
        let is_productive = |rule: &&ast::Rule| index.get(&rule.name.text).is_some_and(|&number| productive[number]);
        let names = grammar.rules.iter().filter(is_productive).map(|rule| rule.name.text.clone());
        names.collect::<Set<String>>()
    };
    let start = grammar.rules.first()?.name.text.clone();
    if !productive.contains(&start) {
        return None;
    }
    let mut rules: Map<String, ast::Rule> = Map::new();
    let mut order = Vec::new();
    for rule in grammar.rules.drain(..) {
        order.push(rule.name.text.clone());
        rules.insert(rule.name.text.clone(), rule);
    }
    let mut reached = Set::from([start.clone()]);
    let mut pending = vec![start];
    while let Some(name) = pending.pop() {
        let Some(rule) = rules.get_mut(&name) else { continue };
        if !prune(&mut rule.body, &productive) {
            rule.body = Expr::empty(rule.name.span);
        }
        rule.body.each_reference(&mut |name| {
            if !reached.contains(name) {
                reached.insert(name.to_string());
                pending.push(name.to_string());
            }
        });
    }
    grammar.rules = order.iter().filter(|name| reached.contains(*name)).filter_map(|name| rules.remove(name)).collect();
    Some(grammar)
}

/// Removes the unproductive parts of an expression. Returns true if something is left.
fn prune(expr: &mut Expr, productive: &Set<String>) -> bool {
    if let Some(options) = expr.as_choice_mut() {
        options.retain_mut(|option| prune(&mut option.expr, productive));
        if options.len() > 1 {
            return true;
        }
        let only = options.pop();
        return only.map(|only| *expr = only.expr).is_some();
    }
    let is_left = expr.as_rule().is_none_or(|name| productive.contains(name))
        && expr.children_mut().all(|child| prune(child, productive));
    if !is_left && expr.as_repeat().is_some_and(|rounds| rounds.min == 0) {
        *expr = Expr::empty(expr.span);
        return true;
    }
    is_left
}

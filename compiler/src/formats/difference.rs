//! Differences of classes, `A - B`. They are computed when all rules are known, because the operands may name any of
//! them.
//!
//! Rules and differences form a graph of dependencies that may be as deep as the grammar is long. So it is walked with
//! a stack on the heap, which also finds cycles.

use std::rc::Rc;

use crate::ast::{Expr, Grammar, Rule};
use crate::charset::{CharSet, Unit};
use crate::check::similar;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::ordered::{Map, Set};

/// A difference as written. Its rule holds an empty class with the same span in its place.
pub(super) struct Difference {
    pub(super) left: Expr,
    pub(super) right: Expr,
    pub(super) span: Span,
}

/// The greatest number of ranges that the classes of one grammar may be summed up from.
const MAX_RANGES: usize = 1 << 22;

/// Puts the class of each difference into its place, and notes the rules that were used.
pub(super) fn resolve(
    grammar: &mut Grammar,
    differences: Vec<Difference>,
    rules_with_differences: &[usize],
    report: &mut dyn FnMut(Diagnostic),
) {
    if differences.is_empty() {
        return;
    }
    let mut by_name = Map::new();
    for (number, rule) in grammar.rules.iter().enumerate() {
        by_name.entry(rule.name.text.as_str()).or_insert(number);
    }
    let by_span: Map<Span, usize> = differences.iter().enumerate().map(|(i, d)| (d.span, i)).collect();
    let mut states = Vec::new();
    states.resize_with(grammar.rules.len() + differences.len(), || State::New);
    let mut resolver = Resolver {
        rules: &grammar.rules,
        differences: &differences,
        by_name,
        by_span: &by_span,
        states,
        ranges: 0,
        undefined: Set::new(),
        suggestions: similar::Budget::default(),
        report,
    };
    for number in 0..differences.len() {
        resolver.visit(Node::Difference(number));
    }
    let states = resolver.states;
    let mut visited = states.iter().zip(&grammar.rules).filter(|(state, _)| !matches!(state, State::New));
    grammar.class_rules = visited.by_ref().map(|(_, rule)| rule.name.text.clone()).collect();
    let rule_count = grammar.rules.len();
    for &rule in rules_with_differences {
        fill_in(&mut grammar.rules[rule].body, &|span| match &states[rule_count + by_span.get(&span)?] {
            State::Class(set) => Some(CharSet::clone(set)),
            _ => None,
        });
    }
}

/// Replaces the empty classes that stand for differences.
fn fill_in(expr: &mut Expr, class_at: &impl Fn(Span) -> Option<CharSet>) {
    expr.each_mut(&mut |expr| {
        if expr.as_class().is_some_and(CharSet::is_empty)
            && let Some(class) = class_at(expr.span)
        {
            *expr = Expr::class(class, expr.span);
        }
    });
}

#[derive(Clone, Copy)]
enum Node {
    Rule(usize),
    Difference(usize),
}

enum State {
    New,
    /// Its dependencies are being visited.
    Open,
    Class(Rc<CharSet>),
    Failed(Failure),
}

/// Reason why an expression is not a class.
#[derive(Clone, Copy)]
enum Failure {
    /// The expression at this place is not a class. The text says why.
    NotAClass(Span, &'static str),
    /// The reason has been reported.
    Reported,
}

struct Resolver<'g, 'l> {
    rules: &'g [Rule],
    differences: &'g [Difference],
    by_name: Map<&'g str, usize>,
    by_span: &'g Map<Span, usize>,
    /// The states of the rules, then of the differences.
    states: Vec<State>,
    ranges: usize,
    undefined: Set<&'g str>,
    suggestions: similar::Budget,
    report: &'l mut dyn FnMut(Diagnostic),
}

impl<'g> Resolver<'g, '_> {
    fn state(&mut self, node: Node) -> &mut State {
        match node {
            Node::Rule(number) => &mut self.states[number],
            Node::Difference(number) => &mut self.states[self.rules.len() + number],
        }
    }

    /// Computes the class of `node` after its dependencies.
    fn visit(&mut self, node: Node) {
        let mut stack = vec![node];
        while let Some(&node) = stack.last() {
            match self.state(node) {
                State::New => {
                    *self.state(node) = State::Open;
                    let (rules, differences) = (self.rules, self.differences);
                    match node {
                        Node::Rule(number) => self.push_new(&rules[number].body, &mut stack),
                        Node::Difference(number) => {
                            self.push_new(&differences[number].left, &mut stack);
                            self.push_new(&differences[number].right, &mut stack);
                        }
                    }
                }
                State::Open => {
                    stack.pop();
                    let result = match node {
                        Node::Rule(number) => self.class(&self.rules[number].body),
                        Node::Difference(number) => self.subtract(number),
                    };
                    *self.state(node) = match result {
                        Ok(set) => State::Class(Rc::new(set)),
                        Err(failure) => State::Failed(failure),
                    };
                }
                State::Class(_) | State::Failed(_) => drop(stack.pop()),
            }
        }
    }

    /// Pushes the dependencies of `expr` that were not visited. Expressions that are not classes have none.
    fn push_new(&mut self, expr: &'g Expr, stack: &mut Vec<Node>) {
        for alternative in expr.as_choice().unwrap_or_default() {
            self.push_new(&alternative.expr, stack);
        }
        let rule = expr.as_rule().and_then(|name| self.by_name.get(name)).map(|&number| Node::Rule(number));
        let is_difference = expr.as_class().is_some_and(CharSet::is_empty);
        let difference = self.by_span.get(&expr.span).filter(|_| is_difference).map(|&number| Node::Difference(number));
        let node = rule.or(difference);
        if let Some(node) = node
            && matches!(self.state(node), State::New)
        {
            stack.push(node);
        }
    }

    fn subtract(&mut self, number: usize) -> Result<CharSet, Failure> {
        let Difference { left, right, span } = &self.differences[number];
        let left_set = self.operand(left)?;
        let right_set = self.operand(right)?;
        let unit = common_unit(&left_set, &right_set);
        let Some(unit) = unit else {
            (self.report)(
                Diagnostic::error(Code::ClassDifference, *span, "bytes are subtracted from characters, or the reverse")
                    .help(
                        "bytes and characters beyond ASCII do not mix; write both classes with `#bNN` or both without",
                    ),
            );
            return Err(Failure::Reported);
        };
        let convert = |set: &CharSet| CharSet::new(unit, set.ranges().iter().copied());
        let set = convert(&left_set).difference(&convert(&right_set));
        if set.is_empty() && !left_set.is_empty() {
            (self.report)(
                Diagnostic::error(Code::EmptyClass, *span, "nothing is left of this class")
                    .help("every member of the left side is also in the right side"),
            );
            return Err(Failure::Reported);
        }
        Ok(set)
    }

    /// Returns the class of an operand. Errors in it are reported.
    fn operand(&mut self, expr: &'g Expr) -> Result<CharSet, Failure> {
        self.class(expr).map_err(|failure| {
            if let Failure::NotAClass(place, reason) = failure {
                let mut diagnostic = Diagnostic::error(
                    Code::ClassDifference,
                    expr.span,
                    "this operand of a difference is not a class of single characters",
                )
                .help("both sides of `-` are classes, single characters, alternations of such, or rules that are");
                if place == expr.span {
                    diagnostic.message = format!("{}: it is {reason}", diagnostic.message);
                } else {
                    diagnostic = diagnostic.related(place, format!("because this is {reason}"));
                }
                (self.report)(diagnostic);
            }
            Failure::Reported
        })
    }

    /// Returns the class of the characters that `expr` derives.
    fn class(&mut self, expr: &'g Expr) -> Result<CharSet, Failure> {
        let (mut chars, mut bytes) = (Vec::new(), Vec::new());
        self.collect(expr, &mut chars, &mut bytes)?;
        let chars = CharSet::new(Unit::Char, chars);
        let bytes = CharSet::new(Unit::Byte, bytes);
        let Some(unit) = common_unit(&chars, &bytes) else {
            return Err(Failure::NotAClass(expr.span, "a mixture of bytes and of characters beyond ASCII"));
        };
        Ok(CharSet::new(unit, chars.ranges().iter().chain(bytes.ranges()).copied()))
    }

    /// Adds the members of `expr`, whose parts have been visited.
    fn collect(
        &mut self,
        expr: &'g Expr,
        chars: &mut Vec<(u32, u32)>,
        bytes: &mut Vec<(u32, u32)>,
    ) -> Result<(), Failure> {
        let not_a_class = |reason| Err(Failure::NotAClass(expr.span, reason));
        if let Some(text) = expr.as_bytes() {
            let mut characters = std::str::from_utf8(text).unwrap_or_default().chars();
            match (characters.next(), characters.next(), text) {
                (Some(only), None, _) => chars.push((only.into(), only.into())),
                (None, _, &[byte]) => bytes.push((byte.into(), byte.into())),
                (None, ..) => return not_a_class("the empty string"),
                _ => return not_a_class("a string of several characters"),
            }
            return self.spend(1, expr.span);
        }
        if let Some(alternatives) = expr.as_choice() {
            for alternative in alternatives {
                if let Some(weight) = alternative.weight {
                    return Err(Failure::NotAClass(weight.span, "a weight, and classes have none"));
                }
                self.collect(&alternative.expr, chars, bytes)?;
            }
            return Ok(());
        }
        let place = if let Some(set) = expr.as_class() {
            match self.by_span.get(&expr.span) {
                Some(&number) if set.is_empty() => self.rules.len() + number,
                _ => return self.add(set, expr.span, chars, bytes),
            }
        } else if let Some(name) = expr.as_rule() {
            match self.by_name.get(name) {
                Some(&number) => number,
                None => {
                    // The reference disappears with the difference, so the later checks cannot report it.
                    if self.undefined.insert(name) {
                        let message = format!("rule `{name}` is not defined");
                        let mut diagnostic = Diagnostic::error(Code::UndefinedRule, expr.span, message);
                        diagnostic.help = similar::suggestion(name, &self.by_name, &mut self.suggestions);
                        (self.report)(diagnostic);
                    }
                    return Err(Failure::Reported);
                }
            }
        } else {
            return not_a_class(expr.description());
        };
        match &self.states[place] {
            State::Class(set) => {
                let set = Rc::clone(set);
                self.add(&set, expr.span, chars, bytes)
            }
            State::Failed(failure) => Err(*failure),
            State::New | State::Open => not_a_class("a rule that refers to itself"),
        }
    }

    fn add(
        &mut self,
        set: &CharSet,
        span: Span,
        chars: &mut Vec<(u32, u32)>,
        bytes: &mut Vec<(u32, u32)>,
    ) -> Result<(), Failure> {
        self.spend(set.ranges().len(), span)?;
        match set.unit() {
            Unit::Char => chars.extend_from_slice(set.ranges()),
            Unit::Byte => bytes.extend_from_slice(set.ranges()),
        }
        Ok(())
    }

    /// Counts the work, so that a chain of rules that each extend the last cannot take quadratic time.
    fn spend(&mut self, ranges: usize, span: Span) -> Result<(), Failure> {
        let before = self.ranges;
        self.ranges += ranges;
        if self.ranges <= MAX_RANGES {
            return Ok(());
        }
        if before <= MAX_RANGES {
            let message = "the differences of classes in this grammar are too large";
            (self.report)(
                Diagnostic::error(Code::TooLarge, span, message)
                    .help(format!("at most {MAX_RANGES} ranges are added up for all of them; write the class out")),
            );
        }
        Err(Failure::Reported)
    }
}

/// Returns a unit that can represent the members of both sets, if there is one.
fn common_unit(a: &CharSet, b: &CharSet) -> Option<Unit> {
    let is_ascii = |set: &CharSet| set.ranges().last().is_none_or(|&(_, high)| high <= 0x7F);
    match (a.unit(), b.unit()) {
        (a_unit, b_unit) if a_unit == b_unit || b.is_empty() => Some(a_unit),
        (_, b_unit) if a.is_empty() => Some(b_unit),
        (a_unit, _) if is_ascii(b) => Some(a_unit),
        (_, b_unit) if is_ascii(a) => Some(b_unit),
        _ => None,
    }
}

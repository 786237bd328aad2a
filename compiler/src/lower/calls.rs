//! Lowers parameters of rules, and what stands for them.

use super::Lowering;
use super::labels::Seen;
use crate::analysis::least::Calls;
use crate::analysis::shortest;
use crate::ast::{Expr, Name};
use crate::check::Checked;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::ir::{Ir, Known, LabelId, NodeId, Role, Scope};
use crate::labels;
use crate::shape::Weights;
use crate::sources::Sources;

/// The greatest depth of the shortest text of a rule with parameters, in rules. What follows from parameters is looked
/// for through all of them.
const MAX_DEPTH: u32 = 400;

/// The most references to rules with parameters in a shortest text. Each can have parts of other lengths, so each is
/// walked through.
const MAX_CALLS: u32 = 4096;

/// The parameters of a grammar.
#[derive(Default)]
pub(super) struct Parameters {
    /// The parameters of each rule.
    parameters: Vec<Vec<Known>>,
    /// The labels that are given for each parameter.
    pub given: Vec<(LabelId, LabelId)>,
    /// The references to rules with parameters, by their rules and places.
    pub references: Vec<((usize, u32), NodeId)>,
}

/// The most times that a grammar is lowered until the lengths of what is given to rules are known.
const MAX_ROUNDS: usize = 50;

/// Lowers a grammar as [`super::lower_weighted`] does. How much longer a rule with parameters is for its arguments
/// follows from which of its texts is the shortest, and the other way round. So it is lowered until nothing changes.
pub(super) fn lower_with_calls(
    checked: &Checked<'_>,
    weights: &Weights,
    diagnostics: &mut Diagnostics,
) -> Option<(Ir, Sources)> {
    let mut calls = Calls::default();
    for _ in 0..MAX_ROUNDS {
        let mut own = Diagnostics::default();
        let (lowered, found) = super::lower_once(checked, weights, &calls, &mut own);
        if lowered.is_none() || found == calls {
            own.iter().for_each(|diagnostic| diagnostics.push(diagnostic.clone()));
            return lowered;
        }
        calls = found;
    }
    let message = "which texts of rules with parameters are the shortest follows from too many others";
    let help = "give the rules fewer alternatives that are as short, or pass labels through fewer of them";
    diagnostics.push(Diagnostic::error(Code::TooLarge, None, message).help(help));
    None
}

/// Returns how much longer each reference to a rule is than if what is given to the rule were empty.
pub(super) fn longer_calls(ir: &Ir, calls: &[((usize, u32), NodeId)]) -> Calls {
    if calls.is_empty() {
        return Calls::default();
    }
    let longer = labels::longer_calls(ir, calls.iter().map(|(_, node)| *node));
    calls.iter().map(|(place, _)| *place).zip(longer).filter(|(_, longer)| *longer > 0).collect()
}

impl Lowering<'_, '_> {
    /// Gives all parameters their labels, so that rules may refer to each other in any order.
    pub(super) fn name_parameters(&mut self) {
        let grammar = self.checked.grammar;
        if grammar.rules.iter().all(|rule| rule.parameters.is_empty()) {
            return;
        }
        for (number, rule) in grammar.rules.iter().enumerate() {
            self.rule = number;
            let parameters = rule.parameters.iter().map(|name| self.new_label(name)).collect();
            self.labels.calls.parameters.push(parameters);
        }
        let labels = |parameters: &Vec<Known>| parameters.iter().map(|known| known.label).collect();
        let parameters: Vec<Box<[LabelId]>> = self.labels.calls.parameters.iter().map(labels).collect();
        self.ir.set_parameters(parameters);
    }

    /// Lets the parameters of the current rule be seen.
    pub(super) fn see_parameters(&mut self) {
        let rule = &self.checked.grammar.rules[self.rule];
        let parameters = self.labels.calls.parameters.get(self.rule).into_iter().flatten();
        let seen = |(name, known): (&Name, &Known)| Seen::parameter(&name.text, *known);
        self.labels.seen.extend(rule.parameters.iter().zip(parameters).map(seen));
    }

    /// Checks that the shortest texts of rules with parameters end, whatever these stand for, and are not too deep.
    pub(super) fn check_calls(&mut self) {
        if !self.ir.has_parameters() {
            return;
        }
        let (rule, message, help) = match shortest::sizes(&self.ir) {
            Err(rule) => {
                let message = "this rule has itself as many times as a number says, which may follow from a parameter";
                (rule, message.to_string(), "let it end in another way, such as an alternative without itself".into())
            }
            Ok(sizes) => {
                let most = shortest::most_calls(&self.ir, &sizes);
                if most > MAX_CALLS {
                    self.failed = true;
                    let message = "a shortest text has too many references to rules with parameters";
                    let help = format!("the bound is {MAX_CALLS}; let some be optional, or leave parameters out");
                    return self.diagnostics.push(Diagnostic::error(Code::TooLarge, None, message).help(help));
                }
                let rules = self.ir.rule_ids().zip(sizes).filter(|&(rule, _)| !self.ir.parameters(rule).is_empty());
                let depths = rules.map(|(rule, size)| (rule, size.depth));
                let Some((rule, depth)) =
                    depths.max_by_key(|(_, depth)| *depth).filter(|(_, depth)| *depth > MAX_DEPTH)
                else {
                    return;
                };
                let message = format!("the shortest text of this rule is {depth} rules deep");
                (rule, message, format!("the bound is {MAX_DEPTH} for a rule with parameters; take some together"))
            }
        };
        self.failed = true;
        let span = self.checked.grammar.rules[rule.index()].name.span;
        self.diagnostics.push(Diagnostic::error(Code::TooLarge, span, message).help(help));
    }

    /// Returns the node of a reference to a rule whose parameters stand for the parts with these labels. `None` if it
    /// derives no finite string.
    pub(super) fn call(&mut self, place: u32, arguments: &[Name], reference: &Expr) -> Option<NodeId> {
        let body = self.expr(reference)?;
        let rule = self.ir.node(body).instance()?;
        if arguments.is_empty() {
            return Some(body);
        }
        arguments.iter().for_each(|label| self.reach_label(label));
        let arguments = arguments.iter().map(|label| self.seen(label)).collect::<Option<Vec<Known>>>()?;
        let labels: Box<[LabelId]> = self.ir.parameters(rule).into();
        let given = labels.iter().zip(&arguments).map(|(&parameter, argument)| (parameter, argument.label));
        self.labels.calls.given.extend(given);
        let place = (self.rule, place);
        let longer = self.calls.get(&place).copied().unwrap_or(0);
        let scope = Scope { labels, arguments: arguments.into(), longer, fields: [].into(), role: Role::Plain, body };
        let node = self.ir.scope(scope);
        self.labels.calls.references.push((place, node));
        Some(node)
    }
}

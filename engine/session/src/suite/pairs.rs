//! Texts that together have every pair of options of two sites of a rule, in one instance of it (pairwise testing).

use std::collections::{BTreeMap, BTreeSet};

use gramjet::choices::SpanKind;
use gramjet_compiler::Compiled;
use gramjet_compiler::ir::{Ir, NodeId, RuleId};
use gramjet_compiler::limits::Limits;

use super::case::Case;
use super::lead::{Demands, Lead, Led};
use super::paths::{TooMany, step_of};
use super::steps::{FEWEST, MORE, Place};
use super::walk::Otherwise;

/// The most pairs of options.
const MOST: usize = 1 << 20;

/// Texts, and the pairs that they have.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// The texts, rule by rule.
    pub cases: Vec<Case>,
    /// The number of pairs that the texts have.
    pub covered: usize,
    /// The number of pairs that can stand together.
    pub all: usize,
    /// The pairs of which no text was found within the limits.
    pub missing: Vec<String>,
}

/// A choice or repetition of a rule, with the options around it that lead to it.
struct Site {
    node: u32,
    options: u32,
    needs: BTreeMap<u32, u32>,
}

/// Two steps of a rule, the lower number first.
type Pair = (u32, u32);

/// Returns texts of a grammar that have every pair, as far as the limits allow.
///
/// # Errors
///
/// If there are too many pairs.
pub fn pairs(compiled: &Compiled, limits: Limits, seed: u64) -> Result<Pairs, TooMany> {
    let mut lead = Lead::new(compiled, 1, limits, seed)?;
    let mut made = Pairs::default();
    for (rule, body) in compiled.lowered.bodies() {
        let sites = sites(&lead, body);
        let mut open = pairs_of(&lead, &sites);
        made.all += open.len();
        if made.all > MOST {
            return Err(TooMany { most: MOST, longest: 2 });
        }
        let mut missing = BTreeSet::new();
        while let Some(&pair) = open.iter().find(|pair| !missing.contains(*pair)) {
            let options = lead_to(&mut lead, &sites, pair, &open);
            let (led, found) = text_with(&mut lead, (rule, body), &options);
            let new: Vec<Pair> = found.intersection(&open).copied().collect();
            if !new.contains(&pair) {
                missing.insert(pair);
            }
            if !new.is_empty() {
                open.retain(|pair| !new.contains(pair));
                made.covered += new.len();
                made.cases.push(case(&lead, pair, &new, led));
            }
        }
        made.missing.extend(open.iter().map(|&pair| told(&lead, pair)));
    }
    Ok(made)
}

/// Returns the sites of a rule that have steps which the start reaches.
fn sites(lead: &Lead<'_>, body: NodeId) -> Vec<Site> {
    let ir = lead.ir;
    let (mut sites, mut open) = (Vec::new(), vec![(body, BTreeMap::new())]);
    while let Some((node, needs)) = open.pop() {
        let number = node.index() as u32;
        let Some(first) = lead.steps.of_node(number, FEWEST) else {
            open.extend(ir.children(node).iter().rev().map(|&child| (child, needs.clone())));
            continue;
        };
        if lead.ways[0].cost[first as usize] == u64::MAX {
            continue;
        }
        let with = |option: u32| {
            let mut needs: BTreeMap<u32, u32> = needs.clone();
            needs.insert(number, option);
            needs
        };
        let options = match (ir.node(node).choice(), ir.node(node).rounds()) {
            (Some(choice), _) => {
                let within = choice.options.iter().enumerate().rev();
                open.extend(within.map(|(option, &child)| (child, with(option as u32))));
                choice.options.len() as u32
            }
            (None, rounds) => {
                open.extend(
                    rounds.map(|rounds| (rounds.item, if rounds.min == 0 { with(MORE) } else { needs.clone() })),
                );
                2
            }
        };
        sites.push(Site { node: number, options, needs });
    }
    sites
}

impl Site {
    /// Returns the options that stand around an option of the site, and itself.
    fn with(&self, option: u32) -> BTreeMap<u32, u32> {
        let mut all = self.needs.clone();
        all.insert(self.node, option);
        all
    }
}

/// Returns both together, if they do not contradict each other.
fn together(a: &BTreeMap<u32, u32>, b: &BTreeMap<u32, u32>) -> Option<BTreeMap<u32, u32>> {
    let agrees = b.iter().all(|(node, option)| a.get(node).is_none_or(|other| other == option));
    agrees.then(|| a.iter().chain(b).map(|(&node, &option)| (node, option)).collect())
}

/// Returns the pairs of options that can stand together.
fn pairs_of(lead: &Lead<'_>, sites: &[Site]) -> BTreeSet<Pair> {
    let mut pairs = BTreeSet::new();
    for (number, one) in sites.iter().enumerate() {
        for other in &sites[number + 1..] {
            let options = (0..one.options).flat_map(|a| (0..other.options).map(move |b| (a, b)));
            let possible = options.filter(|&(a, b)| together(&one.with(a), &other.with(b)).is_some());
            pairs.extend(possible.filter_map(|(a, b)| {
                let steps = [lead.steps.of_node(one.node, a)?, lead.steps.of_node(other.node, b)?];
                Some((steps[0].min(steps[1]), steps[0].max(steps[1])))
            }));
        }
        if pairs.len() > MOST {
            break;
        }
    }
    pairs
}

/// Returns options for the sites of a rule that have a pair, and many others that are open.
fn lead_to(lead: &mut Lead<'_>, sites: &[Site], (a, b): Pair, open: &BTreeSet<Pair>) -> BTreeMap<u32, u32> {
    let of = |step: u32| {
        let step = lead.steps.get(step);
        let site = sites.iter().find(|site| step.place == Place::Node(site.node));
        site.map(|site| site.with(step.option)).unwrap_or_default()
    };
    let mut options = together(&of(a), &of(b)).unwrap_or_default();
    for site in sites {
        let is_here = site.needs.iter().all(|(node, option)| options.get(node) == Some(option));
        if !is_here || options.contains_key(&site.node) {
            continue;
        }
        let taken: Vec<u32> = options.iter().filter_map(|(&node, &option)| lead.steps.of_node(node, option)).collect();
        let gain = |option: &u32| {
            let own = lead.steps.of_node(site.node, *option).unwrap_or_default();
            let new = taken.iter().filter(|&&step| open.contains(&(step.min(own), step.max(own)))).count();
            // Of those that gain as much, the first makes the shortest text.
            (new, std::cmp::Reverse(*option))
        };
        if let Some(best) = (0..site.options).max_by_key(gain) {
            options.insert(site.node, best);
        }
    }
    options
}

/// Returns a text with an instance of a rule that has these options, and the pairs of all its instances.
fn text_with(
    lead: &mut Lead<'_>,
    (rule, body): (RuleId, NodeId),
    options: &BTreeMap<u32, u32>,
) -> (Led, BTreeSet<Pair>) {
    let of_body = options.get(&(body.index() as u32)).copied().unwrap_or(0);
    let own = lead.steps.of_rule(rule.index() as u32);
    let entry = own.or_else(|| lead.steps.of_node(body.index() as u32, of_body));
    let spine = entry.map_or(Vec::new(), |entry| lead.ways[0].to(entry));
    let demands =
        Demands { spine: &spine, covered: &[], beside: 0, near: &[], forced: options, otherwise: Otherwise::Shortest };
    let led = lead.derive(&demands);
    let found = if led.is_led { found(lead, &led, rule) } else { BTreeSet::new() };
    (led, found)
}

/// Returns the pairs in the instances of a rule in a text.
fn found(lead: &Lead<'_>, led: &Led, rule: RuleId) -> BTreeSet<Pair> {
    let (derivation, deriver) = (&led.derivation, &lead.deriver);
    let is_instance = |number: usize| derivation.parts[number].kind == SpanKind::Rule;
    let own = |number: &usize| {
        let part = &derivation.parts[*number];
        part.kind == SpanKind::Rule && deriver.rule_of(part.symbol) == Some(rule.index())
    };
    let mut pairs = BTreeSet::new();
    for instance in (0..derivation.parts.len()).filter(own) {
        let end = derivation.parts[instance].next as usize;
        let (mut steps, mut at) = (BTreeSet::new(), instance + 1);
        while at < end {
            if is_instance(at) {
                at = derivation.parts[at].next as usize;
                continue;
            }
            steps.extend(step_of(&lead.steps, derivation, deriver, at));
            at += 1;
        }
        let steps: Vec<u32> = steps.into_iter().collect();
        let pair = |(number, &a): (usize, &u32)| steps[number + 1..].iter().map(move |&b| (a, b)).collect::<Vec<_>>();
        pairs.extend(steps.iter().enumerate().flat_map(pair));
    }
    pairs
}

fn told(lead: &Lead<'_>, (a, b): Pair) -> String {
    format!("{} & {}", lead.steps.get(a).name, lead.steps.get(b).name)
}

fn case(lead: &Lead<'_>, aim: Pair, new: &[Pair], led: Led) -> Case {
    let about = if new.contains(&aim) { aim } else { new[0] };
    let name = told(lead, about);
    let rule = lead.rule_name(lead.steps.get(about.0).rule);
    let why = format!("no text before it has {name} in one instance of {rule}");
    let covers = new.iter().map(|&pair| told(lead, pair)).collect();
    Case { covers, rule: Some(rule), ..Case::valid(&name.replace(" & ", "-"), led.derivation.text, why) }
}

/// Returns the classes that stand in a node before any further step.
pub(super) fn classes_in(ir: &Ir, lead: &Lead<'_>, nodes: Vec<NodeId>) -> Vec<NodeId> {
    let (mut classes, mut open) = (Vec::new(), nodes);
    while let Some(node) = open.pop() {
        if ir.node(node).class().is_some() {
            classes.push(node);
        } else if lead.steps.of_node(node.index() as u32, 0).is_none() && ir.node(node).instance().is_none() {
            open.extend(ir.children(node).iter().rev());
        }
    }
    classes
}

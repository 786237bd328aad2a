//! Finds the rungs of operator rules.

use std::collections::VecDeque;

use super::{Alternative, Binding, Body, End, Ladder, Rule, Rung};
use crate::ordered::{Map, Set};

/// The most alternatives that are looked at to find the families of a grammar.
const MAX_WORK: usize = 1 << 22;
/// The most pairs of a rung and an alternative, before rungs that allow the same are one.
const MAX_STEPS: usize = 1 << 16;
/// The most nodes of the rungs of a grammar.
const MAX_NODES: usize = 1 << 18;

/// Returns the rungs of the operator rules among `rules`. `fresh` makes a name for another rung of a rule. Rules with
/// too many rungs get none.
pub(crate) fn ladder<B: Body>(rules: &[Rule<B>], mut fresh: impl FnMut(&B::Rule) -> B::Rule) -> Ladder<B> {
    let index: Map<B::Rule, usize> =
        rules.iter().enumerate().map(|(number, rule)| (rule.name.clone(), number)).collect();
    let operands: Set<B::Rule> = rules.iter().flat_map(operands).collect();
    let (mut ladder, mut nodes, mut work) = (Ladder::<B>::new(), 0, MAX_WORK);
    for (root, rule) in rules.iter().enumerate().filter(|(_, rule)| operands.contains(&rule.name)) {
        if ladder.contains_key(&rule.name) {
            continue;
        }
        let Some(family) = Family::of(root, rules, &index, &mut work) else { continue };
        if family.members.iter().any(|&member| ladder.contains_key(&rules[member].name)) {
            continue;
        }
        let Some(states) = States::reach(&family) else { continue };
        let Some(classes) = states.classes(&family) else { continue };
        nodes += states.size(&family, rules, &classes);
        if nodes > MAX_NODES {
            return ladder;
        }
        states.write(&family, rules, &classes, &mut fresh, &mut ladder);
    }
    ladder
}

/// Returns the rules that alternatives of a rule begin or end with, beside something else.
fn operands<B: Body>(rule: &Rule<B>) -> impl Iterator<Item = B::Rule> {
    let operators = rule.alternatives.iter().filter(|one| one.body.only().is_none());
    operators.flat_map(|one| [End::First, End::Last].into_iter().filter_map(|end| one.body.edge(end)))
}

/// The use that an alternative makes of the rules of its family.
enum Shape {
    /// Nothing but a reference to a member.
    Unit(usize),
    /// Operands at the first end, at the last end, or at both.
    Operator { first: bool, last: bool },
    /// An alternative without operands at its ends.
    Closed,
}

/// An operator rule, and the rules that stand for some of its alternatives.
struct Family {
    /// The rules, by their numbers. The first is the operator rule.
    members: Vec<usize>,
    /// The shapes of the alternatives of each member.
    shapes: Vec<Vec<(Shape, Binding)>>,
}

impl Family {
    /// Returns the family of an operator rule. `None` if the rule is none, or if no two of its operators can compete.
    fn of<B: Body>(root: usize, rules: &[Rule<B>], index: &Map<B::Rule, usize>, work: &mut usize) -> Option<Family> {
        let name = &rules[root].name;
        let has = |rule: usize, end| {
            let mut alternatives = rules[rule].alternatives.iter();
            alternatives.any(|one| one.body.only().is_none() && one.body.edge(end).as_ref() == Some(name))
        };
        let units =
            |rule: usize| rules[rule].alternatives.iter().filter_map(|one| index.get(&one.body.only()?).copied());
        let mut reached = vec![root];
        let mut known = Set::from([root]);
        let mut next = 0;
        while let Some(&rule) = reached.get(next) {
            next += 1;
            *work = work.checked_sub(1 + rules[rule].alternatives.len())?;
            for unit in units(rule) {
                // A rule that derives itself has endless derivations, whatever the levels are.
                if unit == root {
                    return None;
                }
                if known.insert(unit) {
                    reached.push(unit);
                }
            }
        }
        let any = |end| reached.iter().any(|&rule| has(rule, end));
        if !any(End::First) || !any(End::Last) {
            return None;
        }
        // Only rules that lead to operators are members.
        let mut leads: Set<usize> = Set::from([root]);
        leads.extend(reached.iter().copied().filter(|&rule| has(rule, End::First) || has(rule, End::Last)));
        loop {
            let before = leads.len();
            for &rule in reached.iter().rev() {
                *work = work.checked_sub(1 + rules[rule].alternatives.len())?;
                if units(rule).any(|unit| leads.contains(&unit)) {
                    leads.insert(rule);
                }
            }
            if leads.len() == before {
                break;
            }
        }
        let members: Vec<usize> = reached.into_iter().filter(|rule| leads.contains(rule)).collect();
        let place: Map<usize, usize> = members.iter().enumerate().map(|(place, &rule)| (rule, place)).collect();
        let shape = |one: &Alternative<B>| {
            let is_operand = |end| one.body.edge(end).as_ref() == Some(name);
            let shape = match one.body.only().and_then(|unit| place.get(index.get(&unit)?)) {
                Some(&unit) => Shape::Unit(unit),
                None => match (is_operand(End::First), is_operand(End::Last)) {
                    (false, false) => Shape::Closed,
                    (first, last) => Shape::Operator { first, last },
                },
            };
            (shape, one.binding)
        };
        let shapes = members.iter().map(|&rule| rules[rule].alternatives.iter().map(shape).collect()).collect();
        Some(Family { members, shapes })
    }

    /// Returns true if each operator between two operands has one level.
    fn is_even(&self) -> bool {
        self.shapes.iter().flatten().all(|(shape, binding)| match shape {
            Shape::Operator { first: true, last: true } => binding.operator == binding.operand,
            Shape::Operator { .. } | Shape::Unit(_) | Shape::Closed => true,
        })
    }

    /// Returns the state that allows the same and has the highest least operator. An operator below it that the
    /// follower excludes could only come back before an operator of a lower level, which is excluded likewise.
    fn raised(&self, state: State) -> State {
        let allowed = self.shapes.iter().flatten().filter_map(|(shape, binding)| match shape {
            Shape::Operator { first: true, .. } => state.ends(shape, *binding).map(|_| binding.operator),
            Shape::Operator { .. } | Shape::Unit(_) | Shape::Closed => None,
        });
        State { least: allowed.min().unwrap_or(u32::MAX), ..state }
    }
}

/// The place of an instance, as far as it is known: the member, the least operator that the operand takes, and the
/// operator that follows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    member: usize,
    least: u32,
    follower: Option<u32>,
}

impl State {
    /// Returns the state of an instance of which nothing is known.
    fn free(member: usize) -> State {
        State { member, least: 0, follower: None }
    }

    /// Returns the states of the instances at the ends of an alternative. `None` if it cannot stand here.
    fn ends(self, shape: &Shape, binding: Binding) -> Option<[Option<State>; 2]> {
        match *shape {
            Shape::Unit(member) => Some([Some(State { member, ..self }), None]),
            Shape::Closed => Some([None, None]),
            Shape::Operator { first, last } => {
                let is_taken = !first || binding.operator >= self.least;
                let lets_pass = !last || self.follower.is_none_or(|follower| binding.lets_pass(follower));
                let before = State { member: 0, least: self.least, follower: Some(binding.operator) };
                let behind = State { member: 0, least: binding.least(), follower: self.follower };
                (is_taken && lets_pass).then_some([first.then_some(before), last.then_some(behind)])
            }
        }
    }
}

/// An alternative that can stand in a state, and the numbers of the states of its ends.
struct Step {
    alternative: usize,
    ends: [Option<usize>; 2],
}

/// The states that are reached, each with its alternatives.
struct States {
    states: Vec<State>,
    steps: Vec<Vec<Step>>,
}

impl States {
    /// Finds the states that are reached from anywhere in a grammar. `None` if there are too many.
    fn reach(family: &Family) -> Option<States> {
        let mut states: Vec<State> = (0..family.members.len()).map(State::free).collect();
        let mut numbers: Map<State, usize> =
            states.iter().enumerate().map(|(number, &state)| (state, number)).collect();
        let (mut steps, mut count, is_even) = (Vec::new(), 0, family.is_even());
        while let Some(&state) = states.get(steps.len()) {
            let mut own = Vec::new();
            for (alternative, (shape, binding)) in family.shapes[state.member].iter().enumerate() {
                count += 1;
                let Some(ends) = state.ends(shape, *binding) else { continue };
                let ends = ends.map(|end| {
                    end.map(|end| {
                        let end = if is_even { family.raised(end) } else { end };
                        *numbers.entry(end).or_insert_with(|| {
                            states.push(end);
                            states.len() - 1
                        })
                    })
                });
                own.push(Step { alternative, ends });
            }
            steps.push(own);
            if count > MAX_STEPS {
                return None;
            }
        }
        let mut reached = States { states, steps };
        reached.keep_productive();
        // A member of which nothing is left could no longer be referred to.
        (0..family.members.len()).all(|member| !reached.steps[member].is_empty()).then_some(reached)
    }

    /// Removes the alternatives with an end that derives nothing: a least fixpoint.
    fn keep_productive(&mut self) {
        let mut derives = vec![false; self.states.len()];
        let is_able = |derives: &[bool], step: &Step| step.ends.iter().flatten().all(|&end| derives[end]);
        let mut is_done = false;
        while !is_done {
            is_done = true;
            for (state, steps) in self.steps.iter().enumerate().rev() {
                if !derives[state] && steps.iter().any(|step| is_able(&derives, step)) {
                    derives[state] = true;
                    is_done = false;
                }
            }
        }
        self.steps.iter_mut().for_each(|steps| steps.retain(|step| is_able(&derives, step)));
    }

    /// Returns for each state the number of its class: states of one class allow the same. `None` if that takes too
    /// long.
    fn classes(&self, family: &Family) -> Option<Vec<usize>> {
        const MAX_ROUNDS: usize = 64;
        let mut classes: Vec<usize> = self.states.iter().map(|state| state.member).collect();
        let mut count = family.members.len();
        for _ in 0..MAX_ROUNDS {
            let mut known = Map::new();
            let finer: Vec<usize> = (0..self.states.len())
                .map(|state| {
                    let steps = self.steps[state].iter();
                    let steps: Vec<_> = steps
                        .map(|step| (step.alternative, step.ends.map(|end| end.map(|end| classes[end]))))
                        .collect();
                    let next = known.len();
                    *known.entry((self.states[state].member, steps)).or_insert(next)
                })
                .collect();
            classes = finer;
            if known.len() == count {
                return Some(classes);
            }
            count = known.len();
        }
        None
    }

    /// Returns the first state of each class that the members lead to, in the order in which they are met.
    fn rungs(&self, family: &Family, classes: &[usize]) -> Vec<usize> {
        let mut known = Set::new();
        let mut pending: VecDeque<usize> = (0..family.members.len()).collect();
        let mut rungs = Vec::new();
        while let Some(state) = pending.pop_front() {
            if known.insert(classes[state]) {
                rungs.push(state);
                pending.extend(self.steps[state].iter().flat_map(|step| step.ends).flatten());
            }
        }
        rungs
    }

    /// Returns the number of nodes of the rungs.
    fn size<B: Body>(&self, family: &Family, rules: &[Rule<B>], classes: &[usize]) -> usize {
        let of_rung = |&state: &usize| {
            let alternatives = &rules[family.members[self.states[state].member]].alternatives;
            self.steps[state].iter().map(|step| 1 + alternatives[step.alternative].body.size()).sum::<usize>()
        };
        self.rungs(family, classes).iter().map(of_rung).sum()
    }

    /// Adds the rungs to `ladder`.
    fn write<B: Body>(
        &self,
        family: &Family,
        rules: &[Rule<B>],
        classes: &[usize],
        fresh: &mut impl FnMut(&B::Rule) -> B::Rule,
        ladder: &mut Ladder<B>,
    ) {
        let rule = |state: usize| &rules[family.members[self.states[state].member]];
        let rungs = self.rungs(family, classes);
        let mut names: Map<usize, B::Rule> = Map::new();
        for (number, &state) in rungs.iter().enumerate() {
            let own = &rule(state).name;
            let is_first = number < family.members.len();
            names.insert(classes[state], if is_first { own.clone() } else { fresh(own) });
        }
        for &state in &rungs {
            let body = |step: &Step| {
                let mut body = rule(state).alternatives[step.alternative].body.clone();
                for (end, side) in step.ends.iter().zip([End::First, End::Last]) {
                    if let Some(end) = end {
                        body.set_edge(side, &names[&classes[*end]]);
                    }
                }
                (step.alternative, body)
            };
            let alternatives = self.steps[state].iter().map(body).collect();
            let rung = Rung { name: names[&classes[state]].clone(), alternatives };
            ladder.entry(rule(state).name.clone()).or_default().push(rung);
        }
    }
}

//! Two choices, one branch: where an option begins with another choice, both choice bytes are looked at before the
//! first branch. The branches are then wrongly predicted as often as the most probable of all outcomes is missed, not
//! once a choice.

use dynasmrt::x64::Rq;
use dynasmrt::{DynamicLabel, DynasmApi};
use gramjet_compiler::ir::{Choice, NodeId, RuleId};

use super::choices::{Grouped, Stretch};
use super::picks::Picked;
use super::{Assembler, Flow, asm};

/// At most this number of stretches is compared one after the other.
const MAX_STRETCHES: usize = 16;

/// The number of wrong predictions that a joint branch must save on average.
const MIN_GAIN: f64 = 0.1;

/// A choice with the choice that one of its options begins with.
pub(super) struct Joint<'g> {
    outer: Grouped<'g>,
    inner: Grouped<'g>,
    /// The group of the option that begins with the inner choice.
    arm: usize,
    /// The choice bytes that lead to it.
    bytes: (i32, i32),
    /// The rules of the instances around the inner choice, from the outside in.
    instances: Vec<RuleId>,
    /// The nodes after the inner choice.
    rest: Vec<NodeId>,
}

impl<'g> Assembler<'g> {
    /// Returns the choice with an inner one, if one branch for both pays.
    pub(super) fn joint(&self, node: NodeId, choice: &'g Choice) -> Option<Joint<'g>> {
        // Under a length limit options may be left out.
        if self.kept.length || choice.options.len() > 256 {
            return None;
        }
        let outer = self.grouped(node, choice, false);
        if outer.decision.bits() != 8 || outer.alike.groups.len() < 2 {
            return None;
        }
        let joints = (0..outer.alike.groups.len()).filter_map(|arm| self.joint_at(&outer, arm));
        let best = joints.max_by(|(a, ..), (b, ..)| a.total_cmp(b))?;
        let (gain, arm, inner, instances) = best;
        let bytes = outer.bytes_of(arm)?;
        let option = outer.alike.groups[arm][0];
        let rest = outer.alike.options[option][1..].to_vec();
        (gain >= MIN_GAIN).then_some(Joint { outer, inner, arm, bytes, instances, rest })
    }

    /// Returns the gain of deciding the choice at the beginning of a group together with the outer one.
    fn joint_at(&self, outer: &Grouped<'g>, arm: usize) -> Option<(f64, usize, Grouped<'g>, Vec<RuleId>)> {
        let [option] = outer.alike.groups[arm][..] else { return None };
        let (inner, instances) = self.choice_in(*outer.alike.options[option].first()?)?;
        let choice = self.ir.node(inner).choice()?;
        let is_data = choice.options.iter().all(|&option| self.forms.is_strings(option));
        let is_data = is_data || self.forms.chain(inner).is_some();
        if choice.options.len() > 256 || is_data {
            return None;
        }
        let inner = self.grouped(inner, choice, false);
        if inner.decision.bits() != 8 || inner.alike.groups.len() < 2 {
            return None;
        }
        let (low, high) = outer.bytes_of(arm)?;
        let share = f64::from(high - low) / 256.0;
        let (outer_most, inner_most) = (outer.most(), inner.most());
        let others = outer.weights().filter(|&(other, _)| other != arm).map(|(_, weight)| weight).fold(0.0, f64::max);
        let apart = (1.0 - outer_most) + share * (1.0 - inner_most);
        let together = 1.0 - others.max(share * inner_most);
        let few = outer.stretches().len() + inner.stretches().len() <= MAX_STRETCHES;
        few.then_some((apart - together, arm, inner, instances))
    }

    /// Returns the choice that a node is, within instances.
    fn choice_in(&self, mut node: NodeId) -> Option<(NodeId, Vec<RuleId>)> {
        let mut instances = Vec::new();
        loop {
            if self.ir.node(node).choice().is_some() {
                return Some((node, instances));
            }
            let (rule, body) = self.instance(node).filter(|&(rule, body)| !self.forms.is_loop(rule, body))?;
            instances.push(rule);
            node = body;
        }
    }

    pub(super) fn joint_branches(&mut self, joint: &Joint<'g>, offset: i32) {
        let Joint { outer, inner, instances, .. } = joint;
        let depth_of_inner = offset + instances.len() as i32;
        self.need(4, 0);
        self.bound_displacements();
        let before = self.flow;
        // The arms of the outer groups, then those of the inner ones.
        let arms: Vec<DynamicLabel> =
            (0..outer.alike.groups.len() + inner.alike.groups.len()).map(|_| self.label()).collect();
        let (rest, end) = (self.label(), self.label());
        let near = (self.kept.depth && !instances.is_empty()).then(|| self.label());
        if let Some(near) = near {
            self.jump_if_beyond(depth_of_inner, near);
        }
        let first = self.look_at_both(joint, &arms);
        let mut after = None;
        if first < outer.alike.groups.len() {
            self.outer_arms(joint, first, before, offset, &arms, end, &mut after);
        }
        let mut after_inner = None;
        let inner_first = first.saturating_sub(outer.alike.groups.len());
        let order = std::iter::once(inner_first).chain((0..inner.alike.groups.len()).filter(|&arm| arm != inner_first));
        for (position, arm) in order.enumerate() {
            self.flow = Flow { choice: before.choice + 2, ..before };
            self.place(arms[outer.alike.groups.len() + arm]);
            let ops = &mut self.ops;
            // Merged options need the choice byte in their group.
            asm!(ops ; mov eax, ecx);
            self.group(inner, Picked::Byte, arm, depth_of_inner);
            self.arrive(rest, &mut after_inner, position + 1 == inner.alike.groups.len());
        }
        self.end_of_arms(rest, after_inner);
        if let Some(near) = near {
            self.near_the_limit(joint, near, before, (rest, self.flow), offset, &arms);
            // The label may be reached from there even if no arm arrives.
            self.frame.is_dead = false;
        }
        joint.rest.iter().for_each(|&item| self.node(item, offset));
        let is_last = first < outer.alike.groups.len();
        self.arrive(end, &mut after, is_last);
        if !is_last {
            self.outer_arms(joint, first, before, offset, &arms, end, &mut after);
        }
        self.end_of_arms(end, after);
    }

    /// Decides both sites and jumps; returns the arm that it falls into. The choice byte of an outer arm is in eax,
    /// that of an inner one in ecx.
    fn look_at_both(&mut self, joint: &Joint<'g>, arms: &[DynamicLabel]) -> usize {
        let Joint { outer, inner, arm, bytes: (low, high), .. } = joint;
        let at = self.flow.choice as i8;
        self.used(2, 0);
        let (low, high) = (*low, *high);
        let ops = &mut self.ops;
        // The inner byte where the outer one leads to it, else the outer one above all inner ones.
        asm!(ops ; movzx eax, BYTE [BYTE choice + at] ; movzx ecx, BYTE [BYTE choice + at + 1] ; lea edx, [rax + 256]);
        match (low, high) {
            (_, 256) => asm!(ops ; cmp eax, low ; cmovb ecx, edx),
            (0, _) => asm!(ops ; cmp eax, high ; cmovae ecx, edx),
            _ => asm!(ops ; lea r8d, [rax - low] ; cmp r8d, high - low ; cmovae ecx, edx),
        }
        let groups = outer.alike.groups.len();
        let share = (high - low) as u32;
        let inner_values = inner.stretches().into_iter().map(|(options, arm)| {
            let (from, to) = (inner.decision.threshold(options.0), inner.decision.threshold(options.1));
            Stretch { from, weight: (to - from) as u32 * share, arm: groups + arm }
        });
        let outer_values = outer.stretches().into_iter().filter(|(_, group)| group != arm).map(|(options, arm)| {
            let (from, to) = (outer.decision.threshold(options.0), outer.decision.threshold(options.1));
            Stretch { from: 256 + from, weight: (to - from) as u32 * 256, arm }
        });
        let values: Vec<Stretch> = inner_values.chain(outer_values).collect();
        self.compare(Rq::RCX, &values, arms)
    }

    /// Emits the outer arms but for that of the inner choice, beginning with `first`, if it is an outer one.
    #[allow(clippy::too_many_arguments)]
    fn outer_arms(
        &mut self,
        joint: &Joint<'g>,
        first: usize,
        before: Flow,
        offset: i32,
        arms: &[DynamicLabel],
        end: DynamicLabel,
        after: &mut Option<Flow>,
    ) {
        let groups = joint.outer.alike.groups.len();
        let others = (0..groups).filter(|&arm| arm != first && arm != joint.arm);
        let order: Vec<usize> = (first < groups).then_some(first).into_iter().chain(others).collect();
        for (position, &arm) in order.iter().enumerate() {
            self.flow = Flow { choice: before.choice + 1, ..before };
            self.place(arms[arm]);
            self.group(&joint.outer, Picked::Byte, arm, offset);
            // The inner arms follow the outer ones if the first arm is an outer one.
            self.arrive(end, after, first >= groups && position + 1 == order.len());
        }
    }

    /// Emits the outer choice alone, where an instance around the inner one is beyond the depth limit.
    fn near_the_limit(
        &mut self,
        joint: &Joint<'g>,
        near: DynamicLabel,
        before: Flow,
        rest: (DynamicLabel, Flow),
        offset: i32,
        arms: &[DynamicLabel],
    ) {
        let mut arms = arms[..joint.outer.alike.groups.len()].to_vec();
        let pooled = self.label();
        arms[joint.arm] = pooled;
        let values: Vec<Stretch> = joint.outer.compared();
        let instances = joint.instances.clone();
        self.cold_at(near, before, move |assembler| {
            assembler.load_choice();
            let first = assembler.compare(Rq::RAX, &values, &arms);
            if arms[first] != pooled {
                assembler.jump(arms[first]);
            }
            assembler.place(pooled);
            assembler.pool_near(&instances, offset, rest.0, rest.1);
        });
    }
}

impl Grouped<'_> {
    /// Returns the stretches as choice bytes are compared.
    fn compared(&self) -> Vec<Stretch> {
        let stretch = |((first, end), arm)| {
            let (from, to) = (self.decision.threshold(first), self.decision.threshold(end));
            Stretch { from, weight: (to - from) as u32, arm }
        };
        self.stretches().into_iter().map(stretch).collect()
    }

    /// Returns the probability of each stretch, with its group.
    fn weights(&self) -> impl Iterator<Item = (usize, f64)> {
        self.compared().into_iter().map(|stretch| (stretch.arm, f64::from(stretch.weight) / 256.0))
    }

    /// Returns the probability of the most probable stretch.
    fn most(&self) -> f64 {
        self.weights().map(|(_, weight)| weight).fold(0.0, f64::max)
    }

    /// Returns the choice bytes that lead to a group, if they follow each other.
    fn bytes_of(&self, arm: usize) -> Option<(i32, i32)> {
        let mut found = self.stretches().into_iter().filter(|&(_, other)| other == arm);
        let (options, _) = found.next()?;
        let bytes = (self.decision.threshold(options.0), self.decision.threshold(options.1));
        found.next().is_none().then_some(bytes)
    }
}

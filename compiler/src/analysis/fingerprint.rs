//! The fingerprint of a choice map. Equal fingerprints mean that the same choice bytes have the same meaning, on every
//! machine and in every version.
//!
//! It covers the part of the lowered form that the start rule reaches: literals, classes, options with their slots,
//! bounds of repetitions, sizes of pools. The names of rules, their order in the file and the way to this form don't
//! matter.

use crate::analysis::pools::Pools;
use crate::derived::{Derived, Value};
use crate::fnv::Fnv;
use crate::ir::{Composition, Ir, Known, NodeId, RuleId};

/// Returns the fingerprint of a lowered grammar with these pools.
pub fn fingerprint(ir: &Ir, pools: &Pools) -> u64 {
    let order = Order::new(ir);
    let labels = labels(ir, &order);
    let mut nodes = vec![0u64; ir.node_count()];
    // Children stand before their parents.
    for index in (0..ir.node_count()).filter(|&index| order.is_reached[index]) {
        nodes[index] = of_node(ir, &order, &labels, &nodes, NodeId::new(index));
    }
    let mut hash = Fnv::new();
    for &(rule, body) in &order.rules {
        hash.number(nodes[body.index()]);
        if let Some(pool) = pools.get(rule) {
            hash.number(pool.strings.len() as u64);
            hash.number(pool.strings.iter().map(|string| string.len() as u64).sum());
        }
    }
    hash.finish()
}

/// Returns a number for each label that depends on its rule alone.
fn labels(ir: &Ir, order: &Order) -> Vec<u64> {
    let mut numbers = vec![0; ir.label_count()];
    for &(rule, body) in &order.rules {
        let (mut stack, mut next) = (vec![body], 0);
        for parameter in ir.parameters(rule) {
            numbers[parameter.index()] = next;
            next += 1;
        }
        while let Some(node) = stack.pop().filter(|_| ir.has_labels()) {
            if let Composition::Label(label, ..) = ir.node(node).composition() {
                numbers[label.index()] = next;
                next += 1;
            }
            stack.extend(ir.children(node).iter().rev());
        }
    }
    numbers
}

fn value(hash: &mut Fnv, labels: &[u64], value: &Value<Known>) {
    for term in &value.terms {
        hash.number(term.times.into());
        term.measure.name().bytes().for_each(|byte| hash.byte(byte));
        hash.number(labels[term.label.label.index()]);
    }
    hash.number(value.plus.cast_unsigned());
    // Sums have the fingerprints that they had before there were quotients.
    if value.divisor != 1 {
        hash.number(value.divisor.into());
    }
    if let Some(blank) = &value.blank {
        hash.byte(blank.byte);
        hash.number(blank.part.map_or(u64::MAX, |known| labels[known.label.index()]));
    }
}

fn of_node(ir: &Ir, order: &Order, labels: &[u64], nodes: &[u64], node: NodeId) -> u64 {
    let mut hash = Fnv::new();
    match ir.node(node).composition() {
        Composition::Bytes(bytes) => {
            hash.byte(0);
            bytes.iter().for_each(|&byte| hash.byte(byte));
        }
        Composition::Class(set) => {
            hash.byte(1);
            hash.number(set.unit().max().into());
            for &(low, high) in set.ranges() {
                hash.number(low.into());
                hash.number(high.into());
            }
        }
        Composition::Instance(rule, body) => {
            hash.byte(if body.is_some() { 6 } else { 2 });
            hash.number(order.numbers[rule.index()]);
        }
        Composition::All(_) => hash.byte(3),
        Composition::One(choice) => {
            hash.byte(4);
            if let Some(slots) = &choice.slots {
                hash.number(slots.bits().into());
                slots.ends().iter().for_each(|&end| hash.number(end.into()));
            }
        }
        Composition::Rounds { min, max, .. } => {
            hash.byte(5);
            hash.number(min.into());
            hash.number(max.map_or(u64::MAX, u64::from));
        }
        Composition::Derived(leaf) => match &leaf.derived {
            Derived::Copy(known) => {
                hash.byte(7);
                hash.number(labels[known.label.index()]);
            }
            Derived::Number(number, form) => {
                hash.byte(8);
                form.name().bytes().for_each(|byte| hash.byte(byte));
                hash.number(form.width_of_digits().map_or(0, u64::from));
                value(&mut hash, labels, number);
            }
            Derived::Bits(bits) => {
                hash.byte(14);
                bits.word().bytes().for_each(|byte| hash.byte(byte));
                for (width, number) in &bits.fields {
                    hash.byte(*width);
                    value(&mut hash, labels, number);
                }
            }
            Derived::Padding(known, padding) => {
                hash.byte(13);
                hash.number(labels[known.label.index()]);
                hash.byte(padding.is_exact.into());
                hash.number(padding.to.into());
                hash.byte(padding.filler);
            }
        },
        Composition::Times { rounds, .. } => {
            hash.byte(9);
            value(&mut hash, labels, rounds);
        }
        Composition::Label(label, ..) => {
            hash.byte(10);
            hash.number(labels[label.index()]);
        }
        Composition::Scope(scope) => {
            hash.byte(11);
            if let Some(label) = scope.mirrored() {
                hash.byte(15);
                hash.number(labels[label.index()]);
            }
            for argument in &scope.arguments {
                hash.byte(16);
                hash.number(labels[argument.label.index()]);
            }
        }
        Composition::Coded(codec, _) => {
            hash.byte(13);
            codec.coding.name().bytes().for_each(|byte| hash.byte(byte));
            hash.byte(codec.growth);
        }
        Composition::Naming(naming, _) => {
            hash.byte(12);
            naming.word().bytes().for_each(|byte| hash.byte(byte));
            // Kinds have no order: their names tell them apart.
            let names = naming.kinds().iter().filter_map(|kind| ir.kinds().get(kind.index()));
            names.flat_map(|name| name.bytes().chain([0])).for_each(|byte| hash.byte(byte));
        }
    }
    ir.children(node).iter().for_each(|child| hash.number(nodes[child.index()]));
    hash.finish()
}

/// The rules in the order in which they are met from the start rule on.
struct Order {
    /// The number of each rule. It is unspecified for rules that are not reachable.
    numbers: Vec<u64>,
    rules: Vec<(RuleId, NodeId)>,
    is_reached: Vec<bool>,
}

impl Order {
    fn new(ir: &Ir) -> Order {
        let mut order = Order {
            numbers: vec![u64::MAX; ir.rules().len()],
            rules: Vec::new(),
            is_reached: vec![false; ir.node_count()],
        };
        order.meet(ir, ir.start());
        let mut next = 0;
        while let Some(&(_, body)) = order.rules.get(next) {
            next += 1;
            let mut stack = vec![body];
            while let Some(node) = stack.pop() {
                if std::mem::replace(&mut order.is_reached[node.index()], true) {
                    continue;
                }
                if let Composition::Instance(rule, None) = ir.node(node).composition() {
                    order.meet(ir, rule);
                }
                stack.extend(ir.children(node).iter().rev());
            }
        }
        order
    }

    fn meet(&mut self, ir: &Ir, rule: RuleId) {
        if let (u64::MAX, Some(body)) = (self.numbers[rule.index()], ir.body(rule)) {
            self.numbers[rule.index()] = self.rules.len() as u64;
            self.rules.push((rule, body));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, SourceFile, compile};

    fn of(text: &str) -> u64 {
        let file = SourceFile::new("g.ebnf", text);
        compile(&file, &Options::default()).expect("the grammar compiles").0.fingerprints.choices
    }

    /// The fingerprint must not change: it identifies files of choice bytes.
    #[test]
    fn it_is_the_same_in_every_version() {
        assert_eq!(format!("{:016x}", of("a ::= 'x' @ 3 | '(' a* ')' | [a-z]{2,5}")), "ca0e81e7fef7ecab");
    }

    #[test]
    fn names_order_and_comments_do_not_matter() {
        let one = of("a ::= 'x' | '(' b ')'\nb ::= a+ | c\nc ::= [0-9]");
        let other = "start ::= 'x' | '(' list ')'\nlist ::= start+ | digit\ndigit ::= [0-9] /* one */\nunused ::= 'u'";
        assert_eq!(one, of(other));
    }

    #[test]
    fn everything_in_the_choice_map_matters() {
        let grammars = [
            "a ::= 'x' | '(' a ')'",
            "a ::= 'y' | '(' a ')'",
            "a ::= 'x' | '(' a a ')'",
            "a ::= 'x' @ 2 | '(' a ')'",
            "a ::= 'x' @ 3 | '(' a ')'",
            "a ::= 'x' | '(' a* ')'",
            "a ::= 'x' | '(' a{0,9} ')'",
            "a ::= [xy] | '(' a ')'",
            "a ::= [xz] | '(' a ')'",
        ];
        let found: crate::ordered::Set<u64> = grammars.iter().map(|text| of(text)).collect();
        assert_eq!(found.len(), grammars.len());
    }
}

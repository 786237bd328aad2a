//! Labels from whose parts nothing follows but copies. What such a part leaves of the slack is an even share, so
//! engines that emit code need not look at the grammar while they run.
//!
//! Law: the shares and costs are those of [`crate::labels::Labels`], which computes them for all labels.

use crate::derived::Derived;
use crate::ir::{Count, First, Ir, Known, LabelId, NodeId, Scope};
use crate::naming::Naming;

/// The labels of a grammar from whose parts nothing follows but copies.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// The labels, by number.
    labels: Vec<Option<Copied>>,
    /// Flag for each node: true if it is a scope of such labels.
    scopes: Vec<bool>,
    /// Whether all labels are such, and the grammar has neither names nor codings.
    are_all: bool,
}

/// A label from whose part nothing follows but copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The least length of the part in bytes.
    pub least: u64,
    /// The number of copies in the shortest text of its scope.
    pub copies: u32,
}

/// The greatest number of copies of a label, and the greatest least length of its part.
const MAX_COPIES: u64 = 1 << 16;
const MAX_LEAST: u64 = 1 << 24;

impl Copies {
    /// Returns the labels of a grammar.
    pub fn new(ir: &Ir) -> Copies {
        let only_copies = |node| ir.node(node).leaf().is_none_or(|leaf| copied(&leaf.derived).is_some());
        let nodes = || (0..ir.node_count()).map(NodeId::new);
        // Parts with numbers, which can be filled in at the end, get longer, and so do coded parts. Mirrors see rounds.
        if !ir.has_labels() || ir.has_codes() || ir.has_mirrors() || !nodes().all(only_copies) {
            return Copies::default();
        }
        let mut copies = Copies {
            labels: vec![None; ir.label_count()],
            scopes: vec![false; ir.node_count()],
            are_all: ir.kinds().is_empty(),
        };
        // Children stand before their parents.
        for node in nodes() {
            let Some(scope) = ir.node(node).scope() else { continue };
            match copies.of_scope(ir, scope) {
                Some(found) => {
                    copies.scopes[node.index()] = true;
                    found.into_iter().for_each(|(label, copied)| copies.labels[label.index()] = Some(copied));
                }
                None => copies.are_all = false,
            }
        }
        copies
    }

    /// Returns true if all labels are such, and nothing else follows from other parts of a text.
    pub fn are_all(&self) -> bool {
        self.are_all
    }

    /// Returns true if a node is a scope of such labels.
    pub fn has_scope(&self, node: NodeId) -> bool {
        self.scopes.get(node.index()) == Some(&true)
    }

    /// Returns a label, if it is such.
    pub fn label(&self, label: LabelId) -> Option<Copied> {
        self.labels.get(label.index()).copied().flatten()
    }

    /// Returns the one label that a node refers to, if it is such.
    pub fn label_in(&self, ir: &Ir, node: NodeId) -> Option<(LabelId, Copied)> {
        let &[label] = ir.free(node) else { return None };
        Some((label, self.label(label)?))
    }

    /// Returns the labels of a scope; `None` if something else follows from one of their parts.
    fn of_scope(&self, ir: &Ir, scope: &Scope) -> Option<Vec<(LabelId, Copied)>> {
        let whole = [scope.body];
        let items = ir.node(scope.body).items().unwrap_or(&whole);
        let mut found = Vec::new();
        for (place, &item) in items.iter().enumerate() {
            match ir.node(item).label() {
                Some((label, Count::Unused | Count::Fixed(_), body)) if scope.labels.contains(&label) => {
                    let is_plain = ir.free(body).is_empty() && !ir.node(body).has_labels();
                    let copies = items[place + 1..]
                        .iter()
                        .fold(0, |sum: u64, &item| sum.saturating_add(number_of_copies(ir, item, label)));
                    let is_seen_before = items[..place].iter().any(|&item| ir.free(item).contains(&label));
                    let least = ir.facts(body).min_len;
                    if !is_plain || is_seen_before || copies > MAX_COPIES || least > MAX_LEAST {
                        return None;
                    }
                    found.push((label, Copied { least, copies: copies as u32 }));
                }
                _ => self.only_copies(ir, scope, item).then_some(())?,
            }
        }
        (scope.fields.is_empty() && found.len() == scope.labels.len()).then_some(found)
    }

    /// Returns true if nothing in a node follows from the parts of a scope but copies, and sites of one label each.
    fn only_copies(&self, ir: &Ir, scope: &Scope, node: NodeId) -> bool {
        if !ir.free(node).iter().any(|label| scope.labels.contains(label)) {
            return true;
        }
        let kind = ir.node(node);
        if let Some(leaf) = kind.leaf() {
            return matches!(leaf.derived, Derived::Copy(_));
        }
        let is_site = kind.choice().is_some() || kind.rounds().is_some();
        let is_simple = !is_site || (ir.free(node).len() == 1 && ir.most_uniques(node) == 0);
        let is_other = kind.label().is_some() || kind.times().is_some() || kind.coded().is_some();
        let is_named = kind.naming().is_some_and(|(naming, _)| matches!(naming, Naming::Use(_)));
        let is_scope = kind.scope().is_none() || self.has_scope(node);
        let children = || ir.children(node).iter().all(|&child| self.only_copies(ir, scope, child));
        is_simple && !is_other && !is_named && is_scope && children()
    }
}

/// Returns the label whose part bytes copy.
fn copied(derived: &Derived<Known>) -> Option<LabelId> {
    match derived {
        Derived::Copy(known) => Some(known.label),
        Derived::Number(..) | Derived::Bits(_) | Derived::Padding(..) => None,
    }
}

/// Returns the number of copies of a label in the shortest text of a node; saturates.
pub fn number_of_copies(ir: &Ir, node: NodeId, label: LabelId) -> u64 {
    if !ir.free(node).contains(&label) {
        return 0;
    }
    let kind = ir.node(node);
    if let Some(leaf) = kind.leaf() {
        return u64::from(copied(&leaf.derived) == Some(label));
    }
    match kind.first() {
        First::Times(items, times) => {
            let once = items.iter().fold(0u64, |sum, &item| sum.saturating_add(number_of_copies(ir, item, label)));
            once.saturating_mul(times.into())
        }
        First::Bytes(_) | First::Member(_) | First::Instance(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, SourceFile, compile};

    /// Returns the least lengths and the copies of the labels of a grammar that are such, and whether nothing else
    /// follows from parts.
    fn found(grammar: &str) -> (Vec<(u64, u32)>, bool) {
        let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", grammar), &Options::default()) else {
            panic!("{grammar} does not compile")
        };
        let ir = &compiled.residual;
        let copies = Copies::new(ir);
        let labels = (0..ir.label_count() as u32).filter_map(|label| copies.label(LabelId::new(label)));
        (labels.map(|copied| (copied.least, copied.copies)).collect(), copies.are_all())
    }

    #[test]
    fn copies_in_the_shortest_text_are_counted() {
        assert_eq!(found("e ::= '<' n:[a-z]+ ('/>' | '>' e* '</' $n '>')"), (vec![(1, 0)], true));
        assert_eq!(found("s ::= n:('ab' | 'c'+) $n ($n | 'xyz' $n) ($n 'x'){2,} ('' | $n)"), (vec![(1, 4)], true));
        assert_eq!(found("s ::= a:[ab]+ b:[cd]* ('x' | '.' $a) $b ('' | $b)"), (vec![(1, 0), (0, 1)], true));
        assert_eq!(found("s ::= n:[ab]+ $scope(k, $define(k, [cd]) $n $use(k, 'y'))"), (vec![(1, 1)], false));
    }

    #[test]
    fn what_follows_otherwise_is_left_to_others() {
        for grammar in [
            "s ::= n:[ab]+ $n $dec(len(n))",
            "s ::= n:[ab]+ ('x'){count(n)}",
            "s ::= n:[ab]+ m:('<' $n) $m",
            "s ::= n:[ab]+ $base64($n)",
            "s ::= n:[ab]+ m:[cd]+ ('' | $n $m)",
            "s ::= $scope(k, n:[ab]+ $define(k, 'x') $use(k, $n))",
            "s ::= $scope(k, n:[ab]+ ($unique(k, 'x') $n)*)",
        ] {
            assert_eq!(found(grammar), (vec![], false), "{grammar}");
        }
    }
}

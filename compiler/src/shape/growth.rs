//! The mean matrix of a grammar as a branching process. It says whether derivations end, and gives their mean length.
//!
//! Harris, *The Theory of Branching Processes* (1963), chapter II: entry (a, b) is the mean number of instances of rule
//! b that the right-hand side of rule a derives by itself. The expected length is finite if the spectral radius is
//! below 1.

use crate::ir::RuleId;

use super::flat::Means;
use super::model::{Laws, Model};

/// Components up to this size are solved by elimination, larger ones by iteration.
const DENSE: usize = 96;
/// The most additions in one iteration to a fixpoint.
const WORK: usize = 20_000_000;
/// A radius this near to 1 counts as 1.
const CRITICAL: f64 = 1e-9;

/// The mean matrix, and the mean number of bytes that each rule emits by itself.
pub(crate) struct Growth<'m> {
    model: &'m Model,
    means: Means,
}

impl<'m> Growth<'m> {
    pub fn new(model: &'m Model, laws: &Laws) -> Growth<'m> {
        model.work(model.flat.terms());
        let means = model.flat.means(laws, |decision| model.mean_rounds(decision, laws));
        Growth { model, means }
    }

    /// Returns the rules that a rule derives by itself, ascending, each with its mean number of instances.
    #[inline]
    fn row(&self, rule: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let flat = &self.model.flat;
        flat.row(rule).map(|entry| (flat.target(entry), self.means.entries[entry]))
    }

    /// Returns the number of rules and of entries.
    fn size(&self) -> usize {
        self.means.bytes.len() + self.means.entries.len()
    }

    /// Returns the spectral radius of a component: in the long run, the number of instances of its rules that follow
    /// from one.
    pub fn radius_of(&self, component: &[RuleId]) -> f64 {
        let [only] = component else { return self.power_iteration(component) };
        self.row(only.index()).filter(|entry| entry.0 == only.index()).map(|entry| entry.1).sum()
    }

    /// Returns the greatest spectral radius of any component.
    pub fn radius(&self) -> f64 {
        self.model.components().map(|component| self.radius_of(component)).fold(0.0, f64::max)
    }

    /// Makes a power iteration on (M + I) / 2, which has no other eigenvalue of the greatest magnitude. The quotients
    /// enclose the radius (Collatz 1942).
    fn power_iteration(&self, component: &[RuleId]) -> f64 {
        let rows: Vec<Vec<(usize, f64)>> = component.iter().map(|rule| self.row_inside(*rule, component)).collect();
        let mut vector = vec![1.0; rows.len()];
        let work: usize = rows.iter().map(|row| row.len() + 1).sum();
        let mut radius = 0.0;
        for _ in 0..(WORK / work).clamp(10, 20_000) {
            self.model.work(work);
            let (mut low, mut high, mut greatest) = (f64::INFINITY, 0.0f64, 0.0f64);
            let next: Vec<f64> = rows
                .iter()
                .zip(&vector)
                .map(|(row, own)| {
                    let sum: f64 = row.iter().map(|&(to, mean)| mean * vector[to]).sum();
                    (low, high) = (low.min(sum / own), high.max(sum / own));
                    greatest = greatest.max((sum + own) / 2.0);
                    (sum + own) / 2.0
                })
                .collect();
            radius = (low + high) / 2.0;
            if high - low <= 1e-10 * high || !high.is_finite() {
                break;
            }
            // No entry may vanish: the next quotient divides by it.
            vector = next.iter().map(|value| (value / greatest).max(f64::MIN_POSITIVE)).collect();
        }
        radius
    }

    /// Returns the row of a rule with the rules of its component alone, by their places in the component.
    fn row_inside(&self, rule: RuleId, component: &[RuleId]) -> Vec<(usize, f64)> {
        let inside = self.row(rule.index()).filter(|entry| self.is_inside(entry.0, component));
        inside.map(|(rule, mean)| (self.model.place(rule), mean)).collect()
    }

    fn is_inside(&self, rule: usize, component: &[RuleId]) -> bool {
        self.model.recursion.same_component(RuleId::new(rule), component[0])
    }

    /// Returns the expected length in bytes of each rule's strings without a depth limit. Infinite if the radius is 1
    /// or more. Unreachable rules count as 0.
    pub fn lengths(&self) -> Vec<f64> {
        let mut lengths = vec![0.0; self.means.bytes.len()];
        for component in self.model.components() {
            let outside = |rule: &RuleId| -> f64 {
                let others = self.row(rule.index()).filter(|entry| !self.is_inside(entry.0, component));
                let terms = others.filter(|entry| entry.1 > 0.0).map(|(other, mean)| mean * lengths[other]);
                self.means.bytes[rule.index()] + terms.sum::<f64>()
            };
            let constants: Vec<f64> = component.iter().map(outside).collect();
            let solved = match component {
                [only] if !self.model.recursion.is_recursive(*only) => constants,
                _ if self.radius_of(component) >= 1.0 - CRITICAL => vec![f64::INFINITY; component.len()],
                _ if constants.iter().any(|constant| !constant.is_finite()) => vec![f64::INFINITY; component.len()],
                _ if component.len() <= DENSE => self.eliminate(component, constants),
                _ => self.iterate(component, constants),
            };
            component.iter().zip(solved).for_each(|(rule, length)| lengths[rule.index()] = length);
        }
        lengths
    }

    /// Returns the expected length of an input.
    pub fn length(&self) -> f64 {
        self.lengths()[self.model.start]
    }

    /// Solves (I - M) x = constants by Gaussian elimination. I - M is an M-matrix: no pivot vanishes.
    fn eliminate(&self, component: &[RuleId], mut values: Vec<f64>) -> Vec<f64> {
        let size = component.len();
        let mut matrix = vec![vec![0.0; size]; size];
        for (at, rule) in component.iter().enumerate() {
            matrix[at][at] = 1.0;
            for (other, mean) in self.row(rule.index()).filter(|entry| self.is_inside(entry.0, component)) {
                matrix[at][self.model.place(other)] -= mean;
            }
        }
        self.model.work(size * size * size / 8);
        for pivot in 0..size {
            let (above, below) = matrix.split_at_mut(pivot + 1);
            let pivot_row = &above[pivot];
            for (row, at) in below.iter_mut().zip(pivot + 1..) {
                let factor = row[pivot] / pivot_row[pivot];
                if factor != 0.0 {
                    let entries = row.iter_mut().zip(pivot_row).skip(pivot);
                    entries.for_each(|(entry, above)| *entry -= factor * above);
                    values[at] -= factor * values[pivot];
                }
            }
        }
        for pivot in (0..size).rev() {
            let known: f64 = (pivot + 1..size).map(|column| matrix[pivot][column] * values[column]).sum();
            values[pivot] = (values[pivot] - known) / matrix[pivot][pivot];
        }
        values
    }

    /// Solves (I - M) x = constants by Gauss and Seidel's iteration, from below.
    fn iterate(&self, component: &[RuleId], constants: Vec<f64>) -> Vec<f64> {
        let rows: Vec<Vec<(usize, f64)>> = component.iter().map(|rule| self.row_inside(*rule, component)).collect();
        let mut lengths = vec![0.0; component.len()];
        let work: usize = component.iter().map(|rule| self.model.flat.row(rule.index()).len() + 1).sum();
        for _ in 0..(WORK / work).clamp(10, 100_000) {
            self.model.work(work);
            let mut change = 0.0f64;
            for (at, (row, constant)) in rows.iter().zip(&constants).enumerate() {
                let next = constant + row.iter().map(|&(other, mean)| mean * lengths[other]).sum::<f64>();
                change = change.max((next - lengths[at]).abs() / next.max(1e-300));
                lengths[at] = next;
            }
            if change < 1e-12 {
                break;
            }
        }
        lengths
    }

    /// Returns the expected length of an input, if instances deeper than `depth` are strings of their rule's pool.
    /// `pools` are the mean lengths of these strings.
    pub fn length_within(&self, depth: u32, pools: &[f64]) -> f64 {
        let mut lengths = pools.to_vec();
        let rounds = u32::try_from(WORK / self.size().max(1)).unwrap_or(u32::MAX).max(64);
        let mut next = Vec::with_capacity(lengths.len());
        for _ in 0..=depth.min(rounds) {
            self.model.work(self.size());
            let bytes = self.means.bytes.iter().enumerate();
            next.clear();
            next.extend(
                bytes.map(|(rule, bytes)| bytes + self.row(rule).map(|(rule, mean)| mean * lengths[rule]).sum::<f64>()),
            );
            let settled = next.iter().zip(&lengths).all(|(new, old)| (new - old).abs() <= 1e-13 * new.abs());
            std::mem::swap(&mut lengths, &mut next);
            // An infinite length with weight 0 gives no number, so infinite sums end the iteration.
            if settled || !lengths[self.model.start].is_finite() {
                break;
            }
        }
        let length = lengths[self.model.start];
        if length.is_finite() { length } else { f64::INFINITY }
    }
}

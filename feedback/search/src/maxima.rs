//! The greatest count of each edge over all runs, and the classes of counts that were seen.

/// An edge and how often it was executed.
pub type Edge = (u32, u64);

/// Coverage that a run has added, as AFL classifies it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// None.
    #[default]
    Known,
    /// A new class of counts of an edge that was known.
    Class,
    /// A new edge.
    Edge,
}

/// The novelty of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Novelty {
    /// New coverage.
    pub coverage: Coverage,
    /// The number of edges whose greatest count was raised, those of new edges included.
    pub raised: usize,
}

impl Novelty {
    /// Returns true if there is new coverage or a new maximum.
    pub fn is_any(self) -> bool {
        self.coverage > Coverage::Known || self.raised > 0
    }
}

/// The greatest count of each edge, and the classes of counts that were seen.
#[derive(Clone, Debug, Default)]
pub struct Maxima {
    /// By edge: the greatest count, and the classes.
    seen: Vec<(u64, u8)>,
    /// Number of edges that were executed.
    edges: usize,
}

impl Maxima {
    /// Returns the maxima before anything was executed.
    pub fn new() -> Maxima {
        Maxima::default()
    }

    /// Adds a run.
    pub fn add(&mut self, edges: &[Edge]) -> Novelty {
        self.add_each(edges.iter().copied())
    }

    /// Adds the edges of a run.
    pub fn add_each(&mut self, edges: impl Iterator<Item = Edge>) -> Novelty {
        let mut novelty = Novelty::default();
        for (edge, count) in edges {
            let number = edge as usize;
            if number >= self.seen.len() {
                self.seen.resize(number + 1, (0, 0));
            }
            let class = count_class(count);
            let (greatest, known) = &mut self.seen[number];
            // Mostly nothing is new.
            if count <= *greatest && *known & class == class {
                continue;
            }
            if *known == 0 && class != 0 {
                novelty.coverage = Coverage::Edge;
                self.edges += 1;
            } else if *known & class != class {
                novelty.coverage = novelty.coverage.max(Coverage::Class);
            }
            *known |= class;
            if *greatest < count {
                *greatest = count;
                novelty.raised += 1;
            }
        }
        novelty
    }

    /// Returns the greatest count of an edge.
    pub fn of(&self, edge: u32) -> u64 {
        self.seen.get(edge as usize).map_or(0, |seen| seen.0)
    }

    /// Returns the number of edges that were executed.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// Forgets all runs.
    pub fn clear(&mut self) {
        self.seen.clear();
        self.edges = 0;
    }
}

/// Returns a bit for the class of a count, as in AFL: 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, 128 and more.
pub fn count_class(count: u64) -> u8 {
    CLASSES[count.min(128) as usize]
}

/// The classes of the counts up to 128.
const CLASSES: [u8; 129] = {
    let mut classes = [0; 129];
    let mut count = 1;
    while count < classes.len() {
        classes[count] = match count {
            1..=3 => 1 << (count - 1),
            4..=31 => 1 << (count.ilog2() + 1),
            32..=127 => 1 << 6,
            _ => 1 << 7,
        };
        count += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_afl() {
        let classes: Vec<u32> =
            [1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 127, 128, 1 << 40].map(|count| count_class(count).ilog2()).into();
        assert_eq!(classes, [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]);
        assert_eq!(count_class(0), 0);
    }

    #[test]
    fn a_run_adds_edges_classes_and_maxima() {
        let mut maxima = Maxima::new();
        assert_eq!(maxima.add(&[(1, 1), (4, 5)]), Novelty { coverage: Coverage::Edge, raised: 2 });
        assert_eq!(maxima.add(&[(1, 1), (4, 7)]), Novelty { coverage: Coverage::Known, raised: 1 });
        assert_eq!(maxima.add(&[(1, 2)]), Novelty { coverage: Coverage::Class, raised: 1 });
        assert!(!maxima.add(&[(1, 1), (4, 6)]).is_any());
        assert_eq!((maxima.of(4), maxima.of(9), maxima.edges()), (7, 0, 2));
        maxima.clear();
        assert_eq!(maxima.add(&[(4, 1)]).coverage, Coverage::Edge);
    }
}

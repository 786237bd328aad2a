//! How much the greatest counts of edges have grown lately.
//!
//! A loop that is executed ten times as often for each digit more is on the way to a costly text, though the texts with
//! it cost little for long. Where a count has just doubled, it may double again.

/// Growth counts half as much after this many texts.
const HALVED: f32 = 500.0;
/// The share of its growth that an edge keeps when its champion is varied for it.
const KEPT: f32 = 0.9;
/// An edge that has grown less, in doublings, has not grown.
const LEAST: f32 = 0.1;

/// The growth of each edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Growths {
    edges: Vec<Growth>,
    /// The number of texts so far.
    texts: u64,
}

/// How many times the count of an edge has doubled, as it counted when this many texts had run.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    doublings: f32,
    texts: u64,
}

impl Growths {
    /// Counts a text.
    pub(super) fn add_text(&mut self) {
        self.texts += 1;
    }

    /// Learns that the greatest count of an edge has become another one. Both are taken as greater by one, as an edge
    /// that was not executed before has a count of 0.
    pub(super) fn add(&mut self, edge: u32, before: u64, count: u64) {
        let doublings = ((count as f32 + 1.0) / (before as f32 + 1.0)).log2();
        let place = edge as usize;
        if place >= self.edges.len() {
            self.edges.resize(place + 1, Growth::default());
        }
        self.edges[place] = Growth { doublings: self.doublings(edge) + doublings, texts: self.texts };
    }

    /// Of some edges the one that has grown most, if any has. It counts less from now on.
    pub(super) fn take_greatest(&mut self, edges: impl Iterator<Item = u32>) -> Option<u32> {
        let grown = edges.map(|edge| (self.doublings(edge), edge)).filter(|grown| grown.0 > LEAST);
        let edge = grown.max_by(|one, other| one.0.total_cmp(&other.0))?.1;
        self.edges[edge as usize].doublings *= KEPT;
        Some(edge)
    }

    fn doublings(&self, edge: u32) -> f32 {
        let Some(growth) = self.edges.get(edge as usize) else { return 0.0 };
        growth.doublings * (-((self.texts - growth.texts) as f32) / HALVED).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_spent_and_forgotten() {
        let mut growths = Growths::default();
        assert_eq!(growths.take_greatest([0, 1, 2].into_iter()), None);
        growths.add(1, 0, 1);
        growths.add(2, 3, 15);
        growths.add(2, 15, 15);
        assert_eq!([0, 1, 2, 3].map(|edge| growths.doublings(edge)), [0.0, 1.0, 2.0, 0.0]);
        // Twice what the other one has is spent in seven steps, as 0.9^7 is less than a half.
        for _ in 0..7 {
            assert_eq!(growths.take_greatest([0, 1, 2].into_iter()), Some(2));
        }
        assert_eq!(growths.take_greatest([0, 1, 2].into_iter()), Some(1));
        assert_eq!(growths.take_greatest([0].into_iter()), None);
        (0..500).for_each(|_| growths.add_text());
        assert!((growths.doublings(1) - 0.45).abs() < 1e-3, "{}", growths.doublings(1));
        growths.add(1, 1, 3);
        assert!((growths.doublings(1) - 1.45).abs() < 1e-3, "{}", growths.doublings(1));
        (0..5000).for_each(|_| growths.add_text());
        assert_eq!(growths.take_greatest([0, 1, 2].into_iter()), None);
        growths.add(3, u64::MAX, u64::MAX);
        growths.add(4, 0, u64::MAX);
        assert_eq!((growths.doublings(3), growths.doublings(4)), (0.0, 64.0));
    }
}

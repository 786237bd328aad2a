//! The recent growth of the greatest counts of edges.
//!
//! A loop that is executed ten times as often for each digit more is on the way to a costly text, though the texts with
//! it cost little for long. A count that has just doubled may double again.

/// Growth counts half as much after this many texts.
const HALVED: f32 = 500.0;
/// Growth counts half as much once its champion has been varied this often.
const TRIED: f32 = 16.0;
/// An edge that has grown less, in doublings, has not grown.
const LEAST: f32 = 0.1;

/// The growth of each edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Growths {
    edges: Vec<Growth>,
    /// The number of texts that were offered to the archive.
    texts: u64,
    /// No edge has grown more than this. It may be that of an edge which was forgotten.
    most: Growth,
}

/// Number of times that the count of an edge had doubled when this many texts had been offered.
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

    /// Learns the greatest count of an edge, and the one before it. A first count is one doubling.
    pub(super) fn add(&mut self, edge: u32, before: u64, count: u64) {
        let place = edge as usize;
        if place >= self.edges.len() {
            self.edges.resize(place + 1, Growth::default());
        }
        let doublings = if before == 0 { 1.0 } else { (count as f32 / before as f32).log2() };
        let grown = Growth { doublings: self.doublings(edge) + doublings, texts: self.texts };
        self.edges[place] = grown;
        if grown.doublings >= self.left_of(self.most) {
            self.most = grown;
        }
    }

    /// Forgets the growth of an edge.
    pub(super) fn forget(&mut self, edge: u32) {
        if let Some(growth) = self.edges.get_mut(edge as usize) {
            *growth = Growth::default();
        }
    }

    /// Returns true if an edge may have grown.
    pub(super) fn has_grown(&self) -> bool {
        self.left_of(self.most) > LEAST
    }

    /// Returns the edge that has grown most among some edges, if any has. `picks` tells how many times the champion of
    /// an edge has been varied; `None` if it is of no use.
    pub(super) fn greatest(&self, edges: impl Iterator<Item = u32>, picks: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        // Most have not grown lately, so their champions are not looked at.
        let grown = edges.map(|edge| (self.doublings(edge), edge)).filter(|grown| grown.0 > LEAST);
        let tried =
            grown.filter_map(|(doublings, edge)| Some((doublings * TRIED / (TRIED + picks(edge)? as f32), edge)));
        let greatest = tried.filter(|tried| tried.0 > LEAST).max_by(|one, other| one.0.total_cmp(&other.0));
        greatest.map(|(_, edge)| edge)
    }

    fn doublings(&self, edge: u32) -> f32 {
        self.edges.get(edge as usize).map_or(0.0, |&growth| self.left_of(growth))
    }

    /// Returns what a growth counts by now.
    fn left_of(&self, growth: Growth) -> f32 {
        if growth.doublings == 0.0 {
            return 0.0;
        }
        growth.doublings * (-((self.texts - growth.texts) as f32) / HALVED).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_forgotten_and_counts_less_the_more_it_was_tried() {
        let mut growths = Growths::default();
        let greatest =
            |growths: &Growths, picks| growths.greatest(0..3, |edge| Some(if edge == 2 { picks } else { 0 }));
        assert_eq!(greatest(&growths, 0), None);
        assert!(!growths.has_grown());
        growths.add(1, 0, 1_000_000);
        assert!(growths.has_grown());
        growths.add(2, 4, 16);
        growths.add(2, 16, 16);
        assert_eq!([0, 1, 2, 3].map(|edge| growths.doublings(edge)), [0.0, 1.0, 2.0, 0.0]);
        assert_eq!([0, 15, 17].map(|picks| greatest(&growths, picks)), [Some(2), Some(2), Some(1)]);
        assert_eq!(growths.greatest(0..1, |_| Some(0)), None);
        assert_eq!(growths.greatest(0..3, |edge| (edge != 2).then_some(0)), Some(1));
        (0..500).for_each(|_| growths.add_text());
        assert!((growths.doublings(2) - 1.0).abs() < 1e-3, "{}", growths.doublings(2));
        growths.add(2, 2, 4);
        assert!((growths.doublings(2) - 2.0).abs() < 1e-3, "{}", growths.doublings(2));
        (0..5000).for_each(|_| growths.add_text());
        assert_eq!(greatest(&growths, 0), None);
        assert!(!growths.has_grown());
        growths.add(3, u64::MAX, u64::MAX);
        growths.add(4, 1, u64::MAX);
        assert_eq!([3, 4].map(|edge| growths.doublings(edge)), [0.0, 64.0]);
        assert!(growths.has_grown());
        growths.forget(4);
        growths.forget(5);
        assert_eq!(growths.doublings(4), 0.0);
        growths.add(6, 0, 1);
        (0..2000).for_each(|_| growths.add_text());
        growths.add(7, 0, 1);
        assert_eq!((growths.has_grown(), growths.greatest(0..8, |_| Some(0))), (true, Some(7)));
    }
}

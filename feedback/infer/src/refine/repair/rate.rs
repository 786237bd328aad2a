//! Whether a share of texts is smaller than a usual one by more than chance.

use crate::refine::report::Share;

/// The chance at which a smaller share counts as no accident.
const LEVEL: f64 = 0.02;

/// Returns true if a share of accepted texts is significantly smaller than the usual one, by Fisher's exact test
/// (one-sided).
pub(super) fn is_smaller(share: Share, usual: Share) -> bool {
    let (refused, usually) = (share.of - share.part, usual.of - usual.part);
    let (all, all_refused) = (share.of + usual.of, refused + usually);
    // The chance that at least as many of the refused ones are among the first texts.
    let logs = logs_of_factorials(all);
    let choose = |of: usize, part: usize| logs[of] - logs[part] - logs[of - part];
    let most = share.of.min(all_refused);
    let chance = |refused: usize| {
        let others = all_refused - refused;
        if others > usual.of {
            return 0.0;
        }
        (choose(share.of, refused) + choose(usual.of, others) - choose(all, all_refused)).exp()
    };
    refused > 0 && (refused..=most).map(chance).sum::<f64>() < LEVEL
}

fn logs_of_factorials(most: usize) -> Vec<f64> {
    let mut logs = vec![0.0];
    logs.extend((1..=most).scan(0.0, |log: &mut f64, number| {
        *log += (number as f64).ln();
        Some(*log)
    }));
    logs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_smaller_if_chance_does_not_explain_it() {
        let is = |(part, of), (usual, among)| is_smaller(Share { part, of }, Share { part: usual, of: among });
        assert!(!is((40, 40), (375, 375)) && !is((39, 40), (375, 375)) && is((38, 40), (375, 375)));
        assert!(is((0, 3), (375, 375)) && !is((0, 0), (375, 375)) && !is((0, 3), (0, 3)));
        assert!(!is((36, 40), (320, 375)) && is((28, 40), (320, 375)));
    }
}

//! Fits of laws to formulas, to noise and to algorithms that count their steps.

use super::*;

mod algorithms;
mod honest;
mod noise;
mod searched;

/// Results that a fit must have.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Constant,
    Logarithmic,
    Linearithmic,
    /// An exponent, within 0.1.
    Power(f64),
    /// A base, within a tenth.
    Base(f64),
}

fn measured(sizes: &[u64], cost: impl Fn(u64) -> f64) -> Vec<Measurement> {
    sizes.iter().map(|&size| Measurement::new(size as f64, cost(size))).collect()
}

fn growth(sizes: &[u64], cost: impl Fn(u64) -> f64) -> Growth {
    Growth::of(&measured(sizes, cost)).unwrap()
}

fn assert_law(name: &str, growth: &Growth, expected: Expected) {
    let right = match (growth.best().law, expected) {
        (Law::Constant, Expected::Constant) | (Law::Logarithmic, Expected::Logarithmic) => true,
        (Law::Linearithmic, Expected::Linearithmic) => true,
        (Law::Polynomial { exponent }, Expected::Power(expected)) => (exponent.value - expected).abs() < 0.1,
        (Law::Exponential { base }, Expected::Base(expected)) => (base.value / expected - 1.0).abs() < 0.1,
        _ => false,
    };
    assert!(right, "{name}: {growth}, not {expected:?}");
    let fit = growth.best();
    assert!((0.0..=1.0).contains(&fit.r_squared) && fit.aicc.is_finite(), "{name}: {fit:?}");
}

const DOUBLING: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const FINE: [u64; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

#[test]
fn formulas_with_terms_of_lower_order() {
    use Expected::{Base, Constant, Linearithmic, Logarithmic, Power};
    type Formula = fn(f64) -> f64;
    let formulas: [(&str, Formula, Expected); 18] = [
        ("7", |_| 7.0, Constant),
        ("40 + lb n", |n| 40.0 + n.log2().floor(), Logarithmic),
        ("n", |n| n, Power(1.0)),
        ("100 + 7 n", |n| 100.0 + 7.0 * n, Power(1.0)),
        ("5000 + n", |n| 5000.0 + n, Power(1.0)),
        ("n lb n - n + 1", |n| n * n.log2() - n + 1.0, Linearithmic),
        ("n^1.5", |n| n.powf(1.5).round(), Power(1.5)),
        ("5000 + 20 n + n^1.5", |n| 5000.0 + 20.0 * n + n.powf(1.5).floor(), Power(1.5)),
        ("n (n - 1) / 2", |n| n * (n - 1.0) / 2.0, Power(2.0)),
        ("n (n + 1) / 2", |n| n * (n + 1.0) / 2.0, Power(2.0)),
        ("5000 + 30 n + 2 n^2", |n| 5000.0 + 30.0 * n + 2.0 * n * n, Power(2.0)),
        ("50000 + n^2", |n| 50000.0 + n * n, Power(2.0)),
        ("n (n - 1) (n - 2) / 6", |n| n * (n - 1.0) * (n - 2.0) / 6.0, Power(3.0)),
        ("500 + 5 n + 7 n^2 + n^3", |n| 500.0 + 5.0 * n + 7.0 * n * n + n.powi(3), Power(3.0)),
        ("900 + 100 n + 20 n^2 + 3 n^3 + n^4", |n| 900.0 + n * (100.0 + n * (20.0 + n * (3.0 + n))), Power(4.0)),
        ("2^n", |n| n.exp2(), Base(2.0)),
        ("500 + 100 n + 10 * 2^n", |n| 500.0 + 100.0 * n + 10.0 * n.exp2(), Base(2.0)),
        ("n 2^n", |n| n * n.exp2(), Base(2.0)),
    ];
    for (name, formula, expected) in formulas {
        for sizes in [&DOUBLING[..], &DOUBLING[..8], &FINE] {
            // What takes longer would be stopped.
            let sizes: Vec<u64> = sizes.iter().copied().filter(|&size| formula(size as f64) < 1e12).collect();
            let growth = growth(&sizes, |size| formula(size as f64));
            // Few sizes can be too small for terms of lower order.
            if sizes == DOUBLING || !growth.is_unclear() {
                assert_law(name, &growth, expected);
            }
        }
    }
}

#[test]
fn the_rest_of_a_text_counts_as_copies_if_that_fits_better() {
    let texts = |cost: &dyn Fn(f64, f64) -> f64| -> Vec<(Measurement, usize)> {
        let members = [9, 10, 11, 12, 14, 16, 20, 24, 32, 40, 56, 72, 104];
        let text = |copies: usize| {
            let bytes = 40 + 12 * (copies - 9);
            (Measurement::new(copies as f64, 300.0 + cost(copies as f64, bytes as f64)), bytes)
        };
        members.map(text).to_vec()
    };
    let by_length = texts(&|_, bytes| (bytes.powi(3) - bytes) / 6.0);
    let growth = Growth::of_texts(&by_length).unwrap();
    assert_law("in the length", &growth, Expected::Power(3.0));
    let alone: Vec<Measurement> = by_length.iter().map(|text| text.0).collect();
    assert!(Growth::of(&alone).unwrap().best().aicc > growth.best().aicc + 2.0);
    // The curve is that of the measurements.
    assert!(alone.iter().all(|one| (growth.predict(one.size) / one.cost - 1.0).abs() < 0.01));
    let by_copies = texts(&|copies, _| copies * copies);
    assert_law("in the copies", &Growth::of_texts(&by_copies).unwrap(), Expected::Power(2.0));
}

#[test]
fn exponential_growth_is_told_apart_within_some_sizes() {
    let costs: [fn(f64) -> f64; 3] =
        [f64::exp2, |n| (30.0 * 1.6_f64.powf(n)).floor(), |n| 500.0 + 100.0 * n + 10.0 * n.exp2()];
    for cost in costs {
        // The last costs are the check, and five sizes are left.
        for sizes in [&[4, 6, 8, 10, 12, 14, 16, 18, 20][..], &[1, 2, 3, 4, 6, 8, 12, 16, 20]] {
            let growth = growth(sizes, |size| cost(size as f64));
            assert!(matches!(growth.best().law, Law::Exponential { .. }), "{growth}");
            assert!(growth.is_superlinear(9.0), "{growth}: {:?}", growth.supported().collect::<Vec<_>>());
        }
        assert!(!growth(&DOUBLING[..5], |size| cost(size as f64)).is_superlinear(1.5), "too few sizes");
    }
}

#[test]
fn n_log_n_is_not_taken_for_a_power_without_naming_both() {
    for sizes in [&DOUBLING[..], &DOUBLING[4..], &DOUBLING[..7], &FINE] {
        let cost = |size: u64| 3.0 + (size as f64 * (size as f64).log2()).floor() + size as f64;
        let growth = growth(sizes, cost);
        let linearithmic = growth.supported().any(|fit| fit.law == Law::Linearithmic);
        assert!(linearithmic && !growth.is_superlinear(1.3), "{growth:?}");
    }
    let power = growth(&DOUBLING, |size| 100.0 * (size as f64).powf(1.2));
    assert_law("100 n^1.2", &power, Expected::Power(1.2));
}

#[test]
fn five_sizes_show_a_start_up_cost() {
    let growth = growth(&DOUBLING[4..10], |size| (50000 + size * size) as f64);
    assert_law("50000 + n^2", &growth, Expected::Power(2.0));
    let lower = self::growth(&DOUBLING[4..10], |size| (5000 + 30 * size + 2 * size * size) as f64);
    assert_law("5000 + 30 n + 2 n^2", &lower, Expected::Power(2.0));
}

#[test]
fn the_cost_of_size_zero_is_a_point() {
    let sizes = [0, 1, 2, 4, 8, 16, 32, 64];
    assert_law("300 + n^2", &growth(&sizes, |size| (300 + size * size) as f64), Expected::Power(2.0));
    assert_law("300 + 9 n", &growth(&sizes, |size| (300 + 9 * size) as f64), Expected::Power(1.0));
    assert_law("300", &growth(&sizes, |_| 300.0), Expected::Constant);
}

#[test]
fn sizes_may_be_lengths_with_a_fixed_part() {
    let measurements: Vec<_> =
        DOUBLING.iter().map(|&k| Measurement::new(20.0 + 3.0 * k as f64, (70 + 5 * k + k * k) as f64)).collect();
    assert_law("length 20 + 3 k", &Growth::of(&measurements).unwrap(), Expected::Power(2.0));
}

#[test]
fn stopped_runs_and_costs_of_zero_are_left_out() {
    let mut measurements = measured(&DOUBLING, |size| (size * (size - 1)) as f64);
    measurements.push(Measurement { size: 1024.0, cost: 5.0, stopped: true });
    let growth = Growth::of(&measurements).unwrap();
    // Nine have a cost; the largest is the check.
    assert_eq!((growth.sizes(), growth.range(), growth.checked()), (8, (2.0, 256.0), Some(512.0)));
    assert_law("n (n - 1)", &growth, Expected::Power(2.0));
}

#[test]
fn no_growth_from_one_point_or_one_size() {
    assert!(Growth::of(&[]).is_none());
    assert!(Growth::of(&measured(&[5], |_| 3.0)).is_none());
    assert!(Growth::of(&measured(&[5; 8], |_| 3.0)).is_none());
    assert!(Growth::of(&measured(&[0; 8], |_| 3.0)).is_none());
    assert!(Growth::of(&measured(&DOUBLING, |_| 0.0)).is_none());
    assert!(Growth::of(&measured(&DOUBLING, |_| f64::NAN)).is_none());
    assert!(Growth::of(&measured(&DOUBLING, |_| -1.0)).is_none());
}

/// Numbers of every magnitude, in every order: no panic, and no number in the result that is none.
#[test]
fn hostile_measurements_give_finite_results() {
    let mut random = noise::Noise(7);
    for round in 0..400 {
        let points = 1 + round % 14;
        let size = |noise: &mut noise::Noise| (noise.share() * 10.0).exp2().floor().powi(1 + round % 7);
        let cost = |noise: &mut noise::Noise| match round % 4 {
            0 => (noise.share() * 600.0).exp(),
            1 => (noise.share() * -600.0).exp(),
            2 => (noise.share() * 4.0).floor(),
            _ => u64::MAX as f64 * noise.share(),
        };
        let measurements: Vec<_> =
            (0..points).map(|_| Measurement::new(size(&mut random), cost(&mut random))).collect();
        let Some(growth) = Growth::of(&measurements) else { continue };
        for fit in growth.supported() {
            let numbers = match fit.law {
                Law::Polynomial { exponent: estimate } | Law::Exponential { base: estimate } => {
                    vec![estimate.low, estimate.value, estimate.high]
                }
                _ => vec![],
            };
            let finite = numbers.iter().chain([&fit.r_squared, &fit.aicc]).all(|number| number.is_finite());
            assert!(finite && numbers.is_sorted(), "{fit:?} of {measurements:?}");
            assert!(fit.predict(growth.range().1).is_finite(), "{fit:?} of {measurements:?}");
        }
        assert!(!growth.to_string().contains("NaN"), "{growth}");
    }
}

#[test]
fn growth_is_proved_only_by_enough_sizes_that_lie_apart() {
    let square = |size: u64| (size * size) as f64;
    assert!(growth(&DOUBLING, square).is_superlinear(1.5));
    assert!(!growth(&DOUBLING, square).is_superlinear(2.0), "the exponent is 2, not more");
    assert!(!growth(&DOUBLING[..4], square).is_superlinear(1.5), "four sizes");
    assert!(!growth(&[100, 101, 102, 103, 104, 105, 106], square).is_superlinear(1.5), "sizes close to each other");
    assert!(!growth(&DOUBLING, |size| (9 + 7 * size) as f64).is_superlinear(1.0));
    assert!(growth(&DOUBLING, |size| size as f64 * (size as f64).log2() + 1.0).is_superlinear(1.0));
    assert!(growth(&[4, 6, 8, 10, 12, 14, 16], |size| (size as f64).exp2()).is_superlinear(9.0));
    let proved = growth(&DOUBLING, square).proved();
    assert!((1.9..2.0).contains(&proved), "{proved}");
    // A law that the largest size contradicts proves nothing.
    let jump = |size: u64| if size == 512 { 2.0 * square(size) } else { square(size) };
    assert!(!growth(&DOUBLING, jump).is_superlinear(1.0));
    assert_eq!(growth(&DOUBLING[..4], square).proved(), f64::NEG_INFINITY);
}

#[test]
fn results_are_shown_with_their_intervals() {
    let growth = |cost: fn(f64) -> f64| growth(&DOUBLING, |size| cost(size as f64)).to_string();
    let seen = ": 9 sizes from n = 1 to 256, checked at 512";
    assert_eq!(growth(|_| 4.0), format!("constant{seen}"));
    assert_eq!(growth(|n| 7.0 + n * n), format!("cost ~ n^2.0 (95 %: 2.00 to 2.00){seen}"));
    assert_eq!(growth(|n| 7.0 + n + n * n.log2()), format!("cost ~ n log n{seen}"));
    assert_eq!(growth(|n| 2.0 * n.exp2()), format!("cost ~ 2.0^n (95 %: 2.00 to 2.00){seen}"));
    assert_eq!(growth(|n| 2.0 * 1.05_f64.powf(n)), format!("cost ~ 1.050^n (95 %: 1.050 to 1.050){seen}"));
    let refuted = "no law is known: that of n = 1 to 256 does not hold at n = 512";
    assert_eq!(growth(|n| if n < 500.0 { n * n } else { 9.0 * n * n }), refuted);
    let few = self::growth(&DOUBLING[..4], |size| size as f64).to_string();
    assert_eq!(few, "no law is known: 4 sizes from n = 1 to 8 are too few");
}

#[test]
fn a_fit_predicts_costs_beyond_the_measured_sizes() {
    let growth = growth(&DOUBLING, |size| (5000 + 30 * size + 2 * size * size) as f64);
    let (predicted, cost) = (growth.best().predict(2000.0), 5000.0 + 60_000.0 + 8_000_000.0);
    assert!((predicted / cost - 1.0).abs() < 1e-3, "{predicted}, not {cost}");
}

#[test]
fn edges_are_ranked_by_growth_and_then_by_count() {
    let runs: Vec<(f64, Vec<(u32, u32)>)> = DOUBLING[..8]
        .iter()
        .map(|&size| {
            let n = size as u32;
            let mut counts = vec![(10, 1), (11, 30 + n), (12, n * n), (13, 3 * n * n), (14, n * (n + 1) * (n + 2) / 6)];
            counts.extend((n >= 64).then_some((15, n * n * n)));
            (f64::from(n), counts)
        })
        .collect();
    let runs: Vec<(f64, &[(u32, u32)])> = runs.iter().map(|(size, counts)| (*size, &counts[..])).collect();
    let edges = edges_by_growth(&runs, 5);
    let order: Vec<(u32, u64)> = edges.iter().map(|edge| (edge.edge, edge.count)).collect();
    assert_eq!(order, [(14, 357_760), (13, 49152), (12, 16384), (11, 158), (10, 1)]);
    assert_law("n (n + 1) (n + 2) / 6", &edges[0].growth, Expected::Power(3.0));
    assert_eq!(edges_by_growth::<u32>(&[], 5).len(), 0);
}

/// Returns the measurements of texts from their copies, bytes and costs.
fn texts(texts: &[(u64, usize, u64)]) -> Vec<(Measurement, usize)> {
    texts.iter().map(|&(copies, len, cost)| (Measurement::new(copies as f64, cost as f64), len)).collect()
}

/// Parsers that refuse deep texts: the crate toml 1.2 from 81 levels on, and SnakeYAML 1.33 from 51 on, whose scanner
/// goes on before the parser does not.
#[test]
fn the_law_of_larger_sizes_is_found_where_no_law_suits_all() {
    let toml = [
        (6, 40, 2457),
        (7, 46, 2819),
        (8, 52, 3181),
        (9, 58, 3543),
        (11, 70, 4267),
        (13, 82, 4991),
        (17, 106, 6439),
        (21, 130, 7887),
        (29, 178, 10783),
        (37, 226, 13679),
        (53, 322, 19471),
        (69, 418, 25263),
        (101, 610, 17824),
        (133, 802, 20064),
        (197, 1186, 24544),
        (261, 1570, 29024),
        (389, 2338, 37984),
        (517, 3106, 46944),
    ];
    let yaml = [
        (14, 40, 22129),
        (15, 42, 23607),
        (16, 44, 25117),
        (17, 46, 26659),
        (19, 50, 29839),
        (21, 54, 33147),
        (25, 62, 40147),
        (29, 70, 47659),
        (37, 86, 64219),
        (45, 102, 82827),
        (61, 134, 105_809),
        (77, 166, 146_145),
        (109, 230, 251_393),
        (141, 294, 389_409),
        (205, 422, 763_745),
        (269, 550, 1_269_153),
        (397, 806, 2_673_185),
        (525, 1062, 4_610_233),
    ];
    // Beyond what was measured, by the same law.
    let toml = [&toml[..], &[1029, 2053, 4101].map(|n| (n, 6 * n as usize + 4, 10_754 + 70 * n))].concat();
    let yaml = [&yaml[..], &[1037, 2061].map(|n| (n, 2 * n as usize + 12, 35_908 + 313 * n + 16 * n * n))].concat();
    for (name, measured, from, exponent) in [("toml", &toml, 101.0, 1.0), ("yaml", &yaml, 61.0, 2.0)] {
        let growth = Growth::of_texts(&texts(measured)).unwrap();
        assert_law(name, &growth, Expected::Power(exponent));
        assert_eq!(growth.from(), Some(from), "{name}: {growth}");
        assert!(growth.to_string().contains(&format!(" from n = {from} on: ")), "{growth}");
        assert_eq!(
            (growth.is_superlinear(1.0), growth.is_superlinear(1.9)),
            (name == "yaml", name == "yaml"),
            "{name}: {growth}"
        );
    }
    // Where one law suits all, it is that one.
    let squares: Vec<_> = DOUBLING.iter().map(|&n| (n, 3 * n as usize, 500 + 2 * n * n)).collect();
    assert_eq!(Growth::of_texts(&texts(&squares)).unwrap().from(), None);
}

#[test]
fn growth_that_ends_is_no_growth_without_end() {
    let sizes: Vec<u64> = (0..24).map(|step| [2, 3][step % 2] << (step / 2)).collect();
    let capped =
        |after: u64| growth(&sizes, |n| (500 + n.min(300) * n.min(300) + after * n.saturating_sub(300)) as f64);
    for (after, then) in [(0, "constant"), (400, "cost ~ n^1.0 (95 %: 1.00 to 1.00)")] {
        let growth = capped(after);
        assert!(!growth.is_superlinear(1.0) && growth.checked() == Some(6144.0), "{growth}");
        let shown = growth.to_string();
        assert!(
            shown.starts_with(then) && shown.contains("; bounded: below that, cost ~ n^2.0 (95 %: "),
            "{after}: {shown}"
        );
        let before = growth.bounded().expect("the growth of the smaller sizes");
        assert!(before.is_superlinear(1.5) && before.checked().is_some_and(|size| size <= 300.0), "{before}");
    }
    assert!(growth(&sizes, |n| (500 + n * n) as f64).bounded().is_none());
}

#[test]
fn a_law_is_unclear_if_it_predicts_nothing() {
    let scattered = [(10, 100), (12, 400), (14, 300), (17, 1500), (20, 900), (24, 4000)];
    let points: Vec<_> = scattered.iter().map(|&(size, cost)| Measurement::new(size.into(), cost.into())).collect();
    let unclear = Growth::of(&points).unwrap();
    assert!(unclear.is_unclear() && !unclear.is_superlinear(1.0), "{unclear}");
    // Costs that jump up and down are between many laws.
    let cubes = growth(&DOUBLING, |n| (n * n * n) as f64 * if n.ilog2() % 2 == 0 { 1.0 } else { 6.0 });
    assert!(cubes.is_unclear() && !cubes.is_superlinear(1.0), "{cubes}");
}

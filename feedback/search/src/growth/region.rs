//! The sizes for which a law holds: its fit leaves the largest ones out, and has to predict their costs.

use super::{
    APART, Growth, LEAST_RATIO, LEAST_RATIO_EXPONENTIAL, LEAST_SIZES, Law, Measurement, Standing, least_squares, powers,
};

/// A size beyond those of a fit is at least this many times its largest one.
const BEYOND: f64 = 2.0;

/// A cost beyond those of a fit of exponential growth is at least this many times its greatest one.
const BEYOND_COST: f64 = 8.0;

/// The least ratio of the greatest to the least cost in a fit of exponential growth over close sizes.
const LEAST_COSTS: f64 = 32.0;

/// Factor by which the law for all sizes has to err more before a law for the larger sizes alone is taken, and share of
/// the cost by which it has to err.
const LESS_WRONG: f64 = 5.0;
const WRONG: f64 = 0.02;

/// Errors of laws for larger sizes are alike up to this factor, or below this share of the cost.
const TWICE: f64 = 2.0;
const EXACT: f64 = 0.003;

/// If the law for all sizes errs by more than this share of the cost, a law for the larger sizes alone may say more.
const POOR: f64 = 0.1;

/// A cost is constant if that of the larger half of the sizes is at most this many times that of the smaller half.
const CONSTANT: f64 = 1.1;

/// Linear growth errs by more than this share of costs that are faster than linear, and by this factor more than their
/// own law, over the sizes up to the last factor below the largest.
const EVEN: f64 = 0.03;
const ALIKE: f64 = 1.5;
const LARGE: f64 = 16.0;

type Texts = [(Measurement, usize)];

/// Returns the growth of texts by their numbers of copies.
pub(super) fn growth(texts: &Texts) -> Option<Growth> {
    let mut texts: Vec<(Measurement, usize)> = texts.iter().filter(|text| text.0.point().is_some()).copied().collect();
    texts.sort_by(|one, other| one.0.size.total_cmp(&other.0.size));
    let origin = texts.first()?.0.size;
    let whole = of_all(&texts, origin)?;
    if whole.checked().is_some() && !whole.is_vague() && error(&whole, &texts) <= POOR {
        return Some(whole);
    }
    let late: Vec<(Growth, f64)> =
        (1..texts.len()).map_while(|first| late(&texts[first..], &whole, origin)).flatten().collect();
    // Of laws that are as near to the costs, that of most sizes.
    let nearest = late.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    let found = late.into_iter().find(|(_, error)| *error <= EXACT.max(TWICE * nearest));
    let found = found.map_or(whole, |(growth, _)| Growth { is_late: true, ..growth });
    let before = if found.is_late || found.checked().is_none() { before(&texts, &found, origin) } else { None };
    Some(Growth { before, ..found })
}

/// Returns the growth of the larger sizes with its error, if it is known and better than that of all sizes; `None` if
/// they are too few.
fn late(rest: &Texts, whole: &Growth, origin: f64) -> Option<Option<(Growth, f64)>> {
    let growth = of_all(rest, origin).filter(|growth| growth.sizes >= LEAST_SIZES)?;
    let own = error(&growth, rest);
    let is_less_wrong = || error(whole, rest) > WRONG.max(LESS_WRONG * own);
    let is_better = growth.checked().is_some() && (whole.checked().is_none() || !growth.is_vague() && is_less_wrong());
    Some(is_better.then_some((growth, own)))
}

/// Returns the growth of the smaller sizes, if it is faster than linear and than that of the larger ones.
fn before(texts: &Texts, after: &Growth, origin: f64) -> Option<Box<Growth>> {
    let speed = if after.checked().is_some() { powers(after.best().law).1 } else { 1.0 };
    let last = texts.last()?.0;
    let ends_low = |growth: &Growth| growth.interval(last.size).is_none_or(|(low, _)| last.cost < low);
    let is_faster = |growth: &Growth| growth.proved() > speed.max(1.0) && ends_low(growth);
    let ends = (LEAST_SIZES..texts.len()).rev();
    ends.filter_map(|end| of_all(&texts[..end], origin)).find(is_faster).map(Box::new)
}

/// Returns the growth of all sizes: that of the smaller ones, compared with the largest.
fn of_all(texts: &Texts, origin: f64) -> Option<Growth> {
    let last = texts.last()?.0;
    let by_size = texts.partition_point(|text| text.0.size * BEYOND <= last.size);
    let by_cost = texts.iter().position(|text| text.0.cost * BEYOND_COST > last.cost).unwrap_or(texts.len());
    let splits = [(by_size, false), (by_cost, true)];
    let tried = splits.into_iter().filter_map(|(fitted, is_exponential)| split(texts, origin, fitted, is_exponential));
    let mut refused = None;
    for growth in tried {
        if growth.checked().is_some() {
            return Some(growth);
        }
        refused.get_or_insert(growth);
    }
    refused.or_else(|| Growth::fitted(texts, origin))
}

/// Returns the growth of the first texts, compared with the others; `None` if they are too few.
fn split(texts: &Texts, origin: f64, fitted: usize, is_exponential: bool) -> Option<Growth> {
    let (seen, unseen) = texts.split_at(fitted);
    let growth = Growth::fitted(seen, origin).filter(|growth| growth.sizes >= LEAST_SIZES && !unseen.is_empty())?;
    let (is_wide, is_base) = (growth.largest / growth.least, matches!(growth.best().law, Law::Exponential { .. }));
    let least = if is_exponential { LEAST_RATIO_EXPONENTIAL } else { LEAST_RATIO };
    // Costs that double with each copy show it over a few sizes, also from a great one on.
    let has_room = is_exponential && cost_ratio(seen) >= LEAST_COSTS;
    ((is_wide >= least || has_room) && (is_base || !is_exponential)).then(|| compared(growth, texts, unseen))
}

/// Returns the ratio of the last cost to the first.
fn cost_ratio(texts: &Texts) -> f64 {
    texts.first().zip(texts.last()).map_or(1.0, |(first, last)| last.0.cost / first.0.cost)
}

/// Compares a law with costs that it has not seen. Other laws that these rule out are left out.
fn compared(mut growth: Growth, texts: &Texts, unseen: &Texts) -> Growth {
    let offset = growth.offset;
    let holds = |fit: &super::Fit| {
        let within = |text: &(Measurement, usize)| {
            let interval = fit.interval(text.0.size + offset)?;
            Some(((interval.0..=interval.1).contains(&text.0.cost), text.0.size))
        };
        unseen.iter().map(within).collect::<Option<Vec<_>>>()
    };
    let Some(results) = holds(growth.best()) else { return Growth { standing: Standing::Vague, ..growth } };
    if let Some(&(_, size)) = results.iter().find(|result| !result.0) {
        return Growth { standing: Standing::Refuted(size), ..growth };
    }
    let best = growth.fits.remove(0);
    growth.fits.retain(|fit| holds(fit).is_none_or(|results| results.iter().all(|result| result.0)));
    growth.fits.insert(0, best);
    let points: Vec<(f64, f64)> = texts.iter().filter_map(|text| text.0.point()).collect();
    let Some(all) = Growth::of_points(&points, offset) else { return growth };
    widen(&mut growth, &all);
    let standing = if is_vague(&growth, texts) {
        Standing::Vague
    } else if can_be_linear(&growth, &all, texts) {
        Standing::Linear
    } else {
        Standing::Checked(unseen.last().map_or(0.0, |text| text.0.size))
    };
    Growth { standing, ..growth }
}

/// Returns true if laws suit the costs whose exponents are far apart, or a cost is not constant that seems to be.
fn is_vague(growth: &Growth, texts: &Texts) -> bool {
    let known: Vec<(f64, f64)> = growth.supported().map(|fit| powers(fit.law)).collect();
    let least = known.iter().map(|power| power.0).fold(f64::INFINITY, f64::min);
    let most = known.iter().map(|power| power.1).fold(f64::NEG_INFINITY, f64::max);
    let are_apart = least < most && most - least > APART;
    let mean = |texts: &Texts| texts.iter().map(|text| text.0.cost).sum::<f64>() / texts.len() as f64;
    let (small, large) = texts.split_at(texts.len() / 2);
    let change = mean(large) / mean(small);
    are_apart || growth.best().law == Law::Constant && !(1.0 / CONSTANT..=CONSTANT).contains(&change)
}

/// Takes the exponent of a law from all sizes, now that it has predicted the largest. The interval holds those of both.
fn widen(growth: &mut Growth, all: &Growth) {
    let mut same = all.fits.iter().filter(|fit| !fit.is_kinked()).map(|fit| fit.law);
    let both = match (growth.best().law, same.find(|law| is_same(*law, growth.best().law))) {
        (Law::Polynomial { exponent }, Some(Law::Polynomial { exponent: other })) => {
            Law::Polynomial { exponent: exponent.with(other) }
        }
        (Law::Exponential { base }, Some(Law::Exponential { base: other })) => {
            Law::Exponential { base: base.with(other) }
        }
        (law, _) => law,
    };
    if !growth.best().is_kinked() {
        growth.fits[0].law = both;
    }
}

fn is_same(one: Law, other: Law) -> bool {
    std::mem::discriminant(&one) == std::mem::discriminant(&other)
}

/// Returns true if a law is faster than linear, and linear growth with a kink or with steps suits the costs, or this
/// law does not suit all of them. `all` is the growth of all costs, without a check.
fn can_be_linear(growth: &Growth, all: &Growth, texts: &Texts) -> bool {
    if growth.supported().all(|fit| powers(fit.law).0 <= 1.0) {
        return false;
    }
    let last = texts.last().map_or(0.0, |text| text.0.size);
    let large = &texts[texts.partition_point(|text| text.0.size * LARGE < last)..];
    if linear_error(large).is_some_and(|linear| linear <= EVEN.max(ALIKE * error(growth, large))) {
        return true;
    }
    let is_supported = all.supported().any(|fit| is_same(fit.law, growth.best().law) && !fit.is_kinked());
    !is_supported || all.supported().any(super::Fit::is_kinked)
}

/// Returns the mean error of a start-up cost with linear growth, as a share of the cost.
fn linear_error(texts: &Texts) -> Option<f64> {
    let column = |of: fn(&Measurement) -> f64| texts.iter().map(|text| of(&text.0) / text.0.cost).collect::<Vec<_>>();
    let (start, slope) = (column(|_| 1.0), column(|one| one.size));
    let solve = |columns: Vec<Vec<f64>>| least_squares::solve(columns, vec![1.0; texts.len()]);
    let both = solve(vec![start, slope.clone()]).filter(|found| found[0] >= 0.0);
    let found = both.or_else(|| Some(vec![0.0, solve(vec![slope])?[0]]))?;
    let squares = texts.iter().map(|text| ((found[0] + found[1] * text.0.size) / text.0.cost).ln().powi(2));
    let error = (squares.sum::<f64>() / texts.len() as f64).sqrt();
    (found[1] > 0.0 && error.is_finite()).then_some(error)
}

/// Returns the mean error of the law, as a share of the cost.
fn error(growth: &Growth, texts: &Texts) -> f64 {
    let points = texts.iter().filter_map(|text| text.0.point());
    let squares = points.map(|(size, cost)| (growth.predict(size) / cost).ln().powi(2));
    let (sum, count) = squares.fold((0.0, 0), |(sum, count), square| (sum + square, count + 1));
    if count == 0 { 0.0 } else { (sum / f64::from(count)).sqrt() }
}

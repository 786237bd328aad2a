//! The result of a search in one sentence: how fast the cost grows, with what, and where; or that nothing faster than
//! linear was found, and how far was looked; or that it was not measured.

use gramjet_search::report::{Bucket, Report};
use gramjet_search::{Growth, Law};

use super::hunt::Hunt;
use super::study::{Grown, Study, families};
use super::survey::Surveyed;
use super::totals::Totals;

/// Growth that is not proved to be faster than this power is called linear, as people do.
const LINEAR: f64 = 1.2;
/// An exponent this close to a whole number is called by its name.
const NEAR: f64 = 0.15;

impl Hunt {
    /// Returns the result of the studies in a sentence.
    pub fn verdict(&self, studies: &[Study]) -> String {
        let mut known = Report::default();
        if let Ok(Some(totals)) = Totals::read(self.state.view()) {
            totals.fill(&mut known);
        }
        verdict(studies, self.plan.objectives.unit(), &known.costs, self.surveyed())
    }
}

/// Returns the result of the studies of a search. `costs` are the costs of all its runs, in classes.
fn verdict(studies: &[Study], unit: &str, costs: &[Bucket], surveyed: Option<Surveyed>) -> String {
    let all: Vec<&Grown> = families(studies).map(|(_, grown)| grown).collect();
    let growth = fastest(&all).or_else(|| stopped(studies)).or_else(|| bounded(&all));
    let growth = growth.unwrap_or_else(|| none(studies, &all) + &looked(surveyed));
    let best = studies.first().map(|study| about(study, unit, median(costs)));
    [Some(growth), best.flatten()].into_iter().flatten().collect::<Vec<_>>().join("; ") + "."
}

/// Returns the fastest growth that is proved, if there is some: of what is counted, or of time that no count shows.
fn fastest(all: &[&Grown]) -> Option<String> {
    let proved = |grown: &&Grown| {
        let growth = grown.family.growth.as_ref().filter(|growth| growth.is_superlinear(LINEAR))?;
        let said = format!("{} in the number of {}{}: {}", name(growth), grown.what, place(grown), evidence(growth));
        Some((growth.proved(), said))
    };
    let hidden = |grown: &&Grown| {
        let (time, power) = (grown.family.time.as_ref()?, grown.family.hidden()?);
        let (name, place, evidence) = (name(time), place(grown), evidence(time));
        let what = &grown.what;
        // Where counts are not known, nothing is said of them.
        let counts = if grown.family.growth.is_some() { ", and not in what is counted" } else { "" };
        let said = format!("{name} in processor time{counts}, in the number of {what}{place}: {evidence}");
        Some((power, said))
    };
    // Counts are more exact: of equal growth they say more.
    let all = all.iter().filter_map(proved).chain(all.iter().filter_map(hidden));
    all.reduce(|one, other| if other.0 > one.0 { other } else { one }).map(|(_, said)| said)
}

/// Says how far the survey has looked.
fn looked(surveyed: Option<Surveyed>) -> String {
    let surveyed = surveyed.filter(|surveyed| surveyed.tried > 0);
    surveyed.map_or(String::new(), |Surveyed { tried, longest }| {
        format!(
            "; no faster growth of the time of longer texts was proved: {tried} were tried, of up to {longest} bytes"
        )
    })
}

/// Returns a part of which few copies stop the program, before any growth was measured that explains it.
fn stopped(studies: &[Study]) -> Option<String> {
    let grown = studies.iter().flat_map(|study| &study.families).find(|grown| grown.family.is_cut_short())?;
    let copies = grown.family.stopped_at()?;
    Some(format!("The program is stopped at n = {copies}, the number of {}: its growth is not known", grown.what))
}

/// Returns growth that ends.
fn bounded(all: &[&Grown]) -> Option<String> {
    let (grown, growth) = all
        .iter()
        .find_map(|grown| Some((grown, grown.family.growth.as_ref()?)).filter(|known| known.1.bounded().is_some()))?;
    let before = growth.bounded()?;
    let after = if growth.is_unclear() { "slower".to_string() } else { growth.law() };
    let (name, evidence, what) = (name(before), evidence(before), &grown.what);
    Some(format!("{name} at first in the number of {what}{}: {evidence}; then it ends: {after}", place(grown)))
}

/// Says that nothing faster than linear was found, and how far was looked, or that it was not measured.
fn none(studies: &[Study], all: &[&Grown]) -> String {
    if all.is_empty() {
        let why = if studies.iter().any(|study| study.is_foreign) { ", as the text is not of the grammar" } else { "" };
        return format!("Growth was not measured{why}");
    }
    let members = || all.iter().flat_map(|grown| &grown.family.members);
    let copies = members().map(|member| member.copies).max().unwrap_or(0);
    let bytes = members().map(|member| member.text.len()).max().unwrap_or(0);
    let unclear = all.iter().filter(|grown| grown.family.growth.as_ref().is_none_or(Growth::is_unclear)).count();
    let known = match unclear {
        0 => String::new(),
        number if number == all.len() => "; no law is known for any of them".to_string(),
        number => format!("; no law is known for {number} of them"),
    };
    let parts = if all.len() == 1 { "1 part was".to_string() } else { format!("{} parts were", all.len()) };
    format!(
        "Nothing faster than linear was found: {parts} repeated up to {copies} times, in up to {bytes} bytes{known}"
    )
}

fn name(growth: &Growth) -> String {
    match growth.best().law {
        Law::Exponential { .. } => "Exponential".to_string(),
        Law::Polynomial { exponent } if (exponent.value - 2.0).abs() <= NEAR => "Quadratic".to_string(),
        Law::Polynomial { exponent } if (exponent.value - 3.0).abs() <= NEAR => "Cubic".to_string(),
        Law::Polynomial { exponent } => format!("n^{:.1}", exponent.value),
        Law::Linearithmic => "n log n".to_string(),
        Law::Logarithmic => "Logarithmic".to_string(),
        Law::Constant => "Constant".to_string(),
    }
}

fn evidence(growth: &Growth) -> String {
    let (least, largest) = growth.range();
    let checked = growth.checked().map_or(String::new(), |size| format!(", checked at {size}"));
    format!("{}, proved by {} sizes from n = {least} to {largest}{checked}", growth.law(), growth.sizes())
}

fn place(grown: &Grown) -> String {
    let spot = grown.fastest.as_ref().and_then(|edge| edge.spot.as_ref());
    spot.map_or(String::new(), |spot| format!(", at {spot}"))
}

fn about(study: &Study, unit: &str, median: Option<f64>) -> Option<String> {
    let (bytes, cost) = (study.text.len(), study.cost);
    let times = median.filter(|&median| median > 0.0).map(|median| cost as f64 / median);
    let times = times
        .filter(|&times| times >= 1.5)
        .map_or(String::new(), |times| format!(", about {times:.0} times the median"));
    Some(format!("{bytes} bytes cost {cost} {unit}{times}"))
}

/// Returns about the median of costs in classes.
fn median(costs: &[Bucket]) -> Option<f64> {
    let runs: u64 = costs.iter().map(|bucket| bucket.runs).sum();
    let mut before = 0;
    for bucket in costs {
        if bucket.runs > 0 && 2 * (before + bucket.runs) >= runs {
            let share = (runs as f64 / 2.0 - before as f64) / bucket.runs as f64;
            return Some(bucket.least as f64 + share * (bucket.most - bucket.least) as f64);
        }
        before += bucket.runs;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_in_the_class_of_the_middle_run() {
        let bucket = |least, most, runs| Bucket { least, most, runs };
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[bucket(8, 15, 3), bucket(16, 31, 0), bucket(32, 63, 1)]).map(f64::round), Some(13.0));
        assert_eq!(median(&[bucket(8, 15, 1), bucket(32, 63, 9)]).map(f64::round), Some(46.0));
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let study = Study { text: b"abc".to_vec(), cost: 90, ..Study::default() };
        assert_eq!(verdict(&[], "edges", &[], None), "Growth was not measured.");
        let costs = [Bucket { least: 8, most: 10, runs: 4 }];
        let said = verdict(std::slice::from_ref(&study), "edges", &costs, None);
        assert_eq!(said, "Growth was not measured; 3 bytes cost 90 edges, about 10 times the median.");
        let foreign = Study { is_foreign: true, ..study };
        assert!(
            verdict(&[foreign], "edges", &[], None).starts_with("Growth was not measured, as the text is not of the")
        );
    }
}

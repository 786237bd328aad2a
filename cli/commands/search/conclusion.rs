//! The results of a search, for people.

use gramjet_search::{Family, Growth};

use crate::units::plural;
use gramjet_campaign::costly::{Found, Grown, Hunt, Study};
use gramjet_campaign::one_line;

/// Hot lines and causes that are shown in the terminal.
const SHOWN: usize = 3;
/// A part of the text that causes less of its cost is not shown.
const LEAST: f64 = 0.05;

/// Returns the result in a sentence, lines about the best text, the first that was studied, and one about each of the
/// others.
pub(super) fn lines(hunt: &Hunt, best: &Found, studies: &[Study]) -> Vec<String> {
    let unit = hunt.plan.objectives.unit();
    let mut lines = vec![hunt.verdict(studies), costly(best.cost, unit, &best.text)];
    if let Some(study) = studies.first() {
        lines.extend(about_best(study, unit));
    }
    lines.extend(studies.iter().skip(1).map(|study| about_other(study, unit)));
    lines
}

/// Returns a text with its cost.
fn costly(cost: u64, unit: &str, text: &[u8]) -> String {
    format!("{cost} {unit} by {}: {}", plural(text.len() as u64, "byte"), one_line(text, 200))
}

fn about_best(study: &Study, unit: &str) -> Vec<String> {
    let smaller = study.smaller.iter().map(|(text, cost)| format!("smaller: {}", costly(*cost, unit, text)));
    let mut lines: Vec<String> = smaller.collect();
    for hot in study.hot.iter().take(SHOWN) {
        if let Some(spot) = &hot.spot {
            lines.push(format!("hot: {spot}, {} ({:.0} %)", plural(hot.count, "time"), 100.0 * hot.share));
        }
    }
    for cause in study.causes.iter().filter(|cause| cause.share >= LEAST).take(SHOWN) {
        let part = one_line(&study.text[cause.bytes.clone()], 60);
        let spot = cause.spot.as_ref().map_or(String::new(), |spot| format!(", most of it at {spot}"));
        lines.push(format!("cause: `{part}` ({}), {:.0} % of the cost{spot}", cause.rule, 100.0 * cause.share));
    }
    lines.extend(growths(study).map(|growth| format!("growth: {growth}")));
    lines.extend(study.is_foreign.then(|| {
        "not studied: the best text is not of the grammar, so it has no parts to shorten or to repeat".to_string()
    }));
    lines
}

/// Returns a text of another behaviour, with its hottest edge and its fastest growth.
fn about_other(study: &Study, unit: &str) -> String {
    let spot = study.hot.first().and_then(|hot| hot.spot.as_ref());
    let spot = spot.map_or(String::new(), |spot| format!(" at {spot}"));
    let growth = growths(study).next().map_or(String::new(), |growth| format!("; growth: {growth}"));
    let foreign = if study.is_foreign { "; not of the grammar" } else { "" };
    format!("also hot{spot}: {}{growth}{foreign}", costly(study.cost, unit, &study.text))
}

/// Returns how the cost of a text grows, each law once.
fn growths(study: &Study) -> impl Iterator<Item = String> {
    let mut said = Vec::new();
    let growth = move |grown: &Grown| {
        let hidden = grown.family.time.as_ref().filter(|_| grown.family.hidden().is_some());
        let known = law(&grown.family);
        let law = known.clone().or_else(|| hidden.map(|time| time.to_string()))?;
        let is_linear = !grown.family.is_cut_short() && grown.family.growth.as_ref().is_some_and(is_linear);
        if grown.family.of.is_empty() || said.contains(&law) || is_linear && !said.is_empty() {
            return None;
        }
        let fastest = grown.fastest.as_ref().map_or(String::new(), |edge| format!("; fastest: {edge}"));
        let line = match hidden {
            Some(time) => {
                let spot = grown.fastest.as_ref().and_then(|edge| edge.spot.as_ref());
                let spot = spot.map_or(String::new(), |spot| format!(", at {spot}"));
                let known = known.map_or(String::new(), |known| format!(", which counts more than {known}"));
                format!("{time} in the number of {}{spot}; this is processor time{known}", grown.what)
            }
            None => format!("{law} in the number of {}{fastest}", grown.what),
        };
        said.push(law);
        Some(line)
    };
    study.families.iter().filter_map(growth).take(SHOWN)
}

/// Returns how cost grows in a family, or where the program was stopped if that says more; `None` if neither is known.
fn law(family: &Family) -> Option<String> {
    match family.stopped_at().filter(|_| family.is_cut_short()) {
        Some(copies) => Some(format!("stopped at n = {copies}")),
        None => {
            let is_known = |growth: &&Growth| !growth.is_unclear() || growth.bounded().is_some();
            family.growth.as_ref().filter(is_known).map(Growth::to_string)
        }
    }
}

fn is_linear(growth: &Growth) -> bool {
    !growth.is_superlinear(1.2)
}

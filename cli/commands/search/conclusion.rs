//! What a search has found, for people.

use gramjet_search::{Family, Growth};

use super::hunt::{Found, Hunt};
use super::study::Study;
use crate::seeds::one_line;
use crate::units::plural;

/// Hot lines and causes that are shown in the terminal.
const SHOWN: usize = 3;
/// A part of the text that causes less of its cost is not shown.
const LEAST: f64 = 0.05;

/// Lines about the best text.
pub(super) fn lines(hunt: &Hunt, best: &Found, study: &Study) -> Vec<String> {
    let unit = hunt.plan.objectives.unit();
    let mut lines = vec![format!(
        "{} {unit} by {}: {}",
        best.cost,
        plural(best.text.len() as u64, "byte"),
        one_line(&best.text, 200)
    )];
    if let Some((text, cost)) = &study.smaller {
        lines.push(format!("{cost} {unit} by {}: {}", plural(text.len() as u64, "byte"), one_line(text, 200)));
    }
    for hot in study.hot.iter().take(SHOWN) {
        if let Some(spot) = &hot.spot {
            lines.push(format!("hot: {spot}, {} ({:.0} %)", plural(hot.count, "time"), 100.0 * hot.share));
        }
    }
    for cause in study.causes.iter().filter(|cause| cause.share >= LEAST).take(SHOWN) {
        let part = one_line(&best.text[cause.bytes.clone()], 60);
        let spot = cause.spot.as_ref().map_or(String::new(), |spot| format!(", most of it at {spot}"));
        lines.push(format!("cause: `{part}` ({}), {:.0} % of the cost{spot}", cause.rule, 100.0 * cause.share));
    }
    let mut said = Vec::new();
    for grown in &study.families {
        let Some(law) = law(&grown.family) else { continue };
        let is_linear = !grown.family.is_cut_short() && grown.family.growth.as_ref().is_some_and(is_linear);
        if grown.family.pump.is_empty() || said.contains(&law) || is_linear && !said.is_empty() {
            continue;
        }
        let spot = grown.spot.as_ref().map_or(String::new(), |spot| format!("; fastest: {spot}"));
        lines.push(format!("growth: {law} in the number of {}{spot}", grown.what));
        said.push(law);
        if said.len() == SHOWN {
            break;
        }
    }
    lines
}

/// How cost grows in a family, or where the program was stopped if that says more; none if neither is known.
fn law(family: &Family) -> Option<String> {
    match family.stopped_at().filter(|_| family.is_cut_short()) {
        Some(copies) => Some(format!("stopped at n = {copies}")),
        None => family.growth.as_ref().filter(|growth| !growth.is_unclear()).map(Growth::to_string),
    }
}

fn is_linear(growth: &Growth) -> bool {
    !growth.is_superlinear(1.2)
}

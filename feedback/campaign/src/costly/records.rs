//! The files that a search leaves in the end: the texts that were studied, families of texts that show how cost grows,
//! with their replay, and texts with several costs.

use crate::state::{State, StateError, View};
use gramjet_search::Growth;

use super::hunt::Hunt;
use super::study::{EdgeLaw, Grown, Study, families};
use crate::error::Error;
use crate::words::one_line;

/// The folder of all families within that of the search.
pub const FAMILIES: &str = "growth";
/// The folder of the texts that were studied.
const STUDIED: &str = "studied";
/// In the folder of each: the text, and the one that was made of it.
const TEXT: &str = "text";
const SMALLER: &str = "smaller";
/// The folder of the texts with several costs.
const FRONT: &str = "front";
/// The file with the costs of a family, or of other texts.
const COSTS: &str = "costs.csv";
/// In place of a law.
pub const TOO_LITTLE: &str = "too little was measured";
/// The file that says what is repeated, and how cost grows.
pub const ABOUT: &str = "about";

/// A text in a file of the search, with its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub name: String,
    pub text: Vec<u8>,
    pub cost: u64,
}

/// Writes the texts that were studied, each to a folder of its own with its choice bytes, beside the smaller text that
/// costs nearly as much. They replace those of an earlier study.
pub fn write_studied(hunt: &Hunt, studies: &[Study]) -> Result<(), Error> {
    let state = &hunt.state;
    let written = state.replace(STUDIED, |own| {
        let mut costs = "text,bytes,cost\n".to_string();
        for (number, study) in (1..).zip(studies) {
            let texts = [
                Some((TEXT, &study.text, study.cost)),
                study.smaller.as_ref().map(|(text, cost)| (SMALLER, text, *cost)),
            ];
            for (name, text, cost) in texts.into_iter().flatten() {
                state.write_text(&format!("{own}/{number}/{name}"), text, hunt.choices_of(text).as_deref())?;
                costs += &format!("{number}/{name},{},{cost}\n", text.len());
            }
        }
        state.write(&format!("{own}/{COSTS}"), costs.as_bytes()).map(drop)
    });
    Ok(written?)
}

/// Returns the texts that were studied, the best one of that time first, and the smaller one of each.
pub fn studied(view: &View) -> Result<Vec<(Kept, Option<Kept>)>, StateError> {
    let costs = view.file(&format!("{STUDIED}/{COSTS}")).unwrap_or_default();
    let mut studied: Vec<(Kept, Option<Kept>)> = Vec::new();
    for line in String::from_utf8_lossy(&costs).lines().skip(1) {
        let mut fields = line.split(',');
        let name = format!("{STUDIED}/{}", fields.next().unwrap_or_default());
        let cost = fields.nth(1).and_then(|cost| cost.parse().ok());
        // Somebody may have removed a file.
        let (Some(text), Some(cost)) = (view.file(&name), cost) else { continue };
        let whole = name.strip_suffix(SMALLER).map(|folder| format!("{folder}{TEXT}"));
        let kept = Kept { name, text, cost };
        match whole {
            None => studied.push((kept, None)),
            Some(whole) => {
                if let Some(last) = studied.last_mut().filter(|last| last.0.name == whole) {
                    last.1 = Some(kept);
                }
            }
        }
    }
    Ok(studied)
}

/// Writes each family to a folder of its own: the text that it is of, a text for each number of copies, their costs,
/// and how these grow. They replace the families of an earlier study.
pub fn write_families(state: &State, studies: &[Study]) -> Result<(), Error> {
    if families(studies).next().is_none() {
        return Ok(());
    }
    let written = state.replace(FAMILIES, |own| {
        for (number, (study, grown)) in (1..).zip(families(studies)) {
            write_family(state, &format!("{own}/{number}"), &study.text, grown)?;
        }
        Ok(())
    });
    Ok(written?)
}

/// Writes the texts that no other beats in all costs, the one that costs most by the first measure first. They replace
/// those of before.
pub fn write_front(hunt: &Hunt) -> Result<(), Error> {
    let (state, front) = (&hunt.state, hunt.front());
    if front.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = hunt.plan.objectives.all().iter().map(|objective| objective.to_string()).collect();
    let written = state.replace(FRONT, |own| {
        // Commands may have commas in them.
        let mut costs = format!("text,{}\n", names.join(",").replace('\n', " "));
        for (number, (values, found)) in front.iter().enumerate() {
            state.write(&format!("{own}/{:05}", number + 1), &found.text)?;
            let values: Vec<String> = values.iter().map(u64::to_string).collect();
            costs += &format!("{:05},{}\n", number + 1, values.join(","));
        }
        state.write(&format!("{own}/{COSTS}"), costs.as_bytes()).map(drop)
    });
    Ok(written?)
}

fn write_family(state: &State, folder: &str, text: &[u8], grown: &Grown) -> Result<(), StateError> {
    let mut costs = "copies,bytes,cost,stopped\n".to_string();
    for member in &grown.family.members {
        let size = member.copies;
        state.write(&format!("{folder}/{size:05}"), &member.text)?;
        costs += &format!("{size},{},{},{}\n", member.text.len(), member.cost, member.is_stopped);
    }
    state.write(&format!("{folder}/{COSTS}"), costs.as_bytes())?;
    state.write(&format!("{folder}/{TEXT}"), text)?;
    // A place that samples show has the law of the time, which a replay does not measure.
    let hidden = grown.family.time.as_ref().filter(|_| grown.family.hidden().is_some());
    let fastest = grown.fastest.as_ref().filter(|_| hidden.is_none());
    let laws = Laws::of(grown.family.growth.as_ref(), fastest);
    let of = one_line(text, usize::MAX);
    let time = hidden.map_or(String::new(), |time| format!("; processor time: {time}"));
    let about = format!("{}{time}\n{}text: {of}\n", grown.what, laws.lines());
    state.write(&format!("{folder}/{ABOUT}"), about.as_bytes()).map(drop)
}

/// Growth of the cost of a family, and of the count that grows fastest, in words.
pub struct Laws {
    growth: String,
    fastest: Option<String>,
}

impl Laws {
    /// Returns the laws of a family and of its fastest edge.
    pub fn of(growth: Option<&Growth>, fastest: Option<&EdgeLaw>) -> Laws {
        let growth = growth.map_or_else(|| TOO_LITTLE.to_string(), Growth::to_string);
        Laws { growth, fastest: fastest.map(EdgeLaw::to_string) }
    }

    /// Returns a line for each.
    pub fn lines(&self) -> String {
        let fastest = self.fastest.as_ref().map_or_else(String::new, |edge| format!("fastest: {edge}\n"));
        format!("{}\n{fastest}", self.growth)
    }

    /// Returns the recorded lines that say something else, of a file about a family. Intervals and sizes alone make no
    /// difference.
    pub fn differences<'a>(&self, about: &'a str) -> Vec<&'a str> {
        let now: Vec<String> = self.lines().lines().map(without_intervals).collect();
        let recorded = about.lines().skip(1).take_while(|line| !line.starts_with("text: "));
        recorded.filter(|line| !now.contains(&without_intervals(line))).collect()
    }
}

/// Returns a law without the confidence intervals of its numbers, and without the sizes that it is of.
fn without_intervals(law: &str) -> String {
    let is_sizes = |rest: &str| rest.split(' ').nth(1) == Some("sizes");
    let law = law.rsplit_once(": ").filter(|(_, rest)| is_sizes(rest)).map_or(law, |(law, _)| law);
    let mut parts = law.split(" (95 %: ");
    let first = parts.next().unwrap_or_default();
    first.to_string() + &parts.filter_map(|part| Some(part.split_once(')')?.1)).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_differ_from_recorded_ones_in_more_than_their_intervals() {
        let growth = "cost ~ n^2.0 (95 %: 1.97 to 2.03) from n = 61 on".to_string();
        let laws = Laws { growth, fastest: Some("a.c:1 (f), n^2.0 (95 %: 2.00 to 2.00)".to_string()) };
        let lines = laws.lines();
        assert_eq!(lines.lines().nth(1), Some("fastest: a.c:1 (f), n^2.0 (95 %: 2.00 to 2.00)"));
        let differences = |recorded: &str| laws.differences(&format!("rounds\n{recorded}text: x\n")).join("; ");
        assert_eq!(differences(&lines), "");
        assert_eq!(differences(&lines.replace("1.97", "1.99").replace("2.00 to 2.00", "1.98 to 2.01")), "");
        assert_eq!(differences(&lines.replace("61", "31")), "cost ~ n^2.0 (95 %: 1.97 to 2.03) from n = 31 on");
        let other = lines.replace("a.c:1 (f), n^2.0 (95 %: 2.00 to 2.00)", "a.c:2 (g), constant");
        assert_eq!(differences(&other), "fastest: a.c:2 (g), constant");
        let sizes =
            |law: &str| laws.differences(&format!("rounds\n{law}: 9 sizes from n = 1 to 64, checked at 128\n")).len();
        assert_eq!((sizes(&laws.growth), sizes("cost ~ n^3.0 (95 %: 2.97 to 3.03)")), (0, 1));
        // A family of an earlier version has no record of it.
        assert_eq!(differences(&format!("{}\n", laws.growth)), "");
        assert_eq!(differences(""), "");
    }
}

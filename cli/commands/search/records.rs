//! The files that a search leaves in the end: families of texts that show how cost grows, with their replay, and texts
//! with several costs.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use gramjet_search::{Ending, Growth, Measurement, State, StateError};

use super::hunt::Hunt;
use super::meter::{Meter, Objectives};
use super::study::Grown;
use crate::failure::Failure;
use crate::files::{self, shown};

/// The folder of all families within that of the search.
pub(super) const FAMILIES: &str = "growth";
/// The folder of the texts with several costs.
const FRONT: &str = "front";
/// The file with the costs of a family.
const COSTS: &str = "costs.csv";
/// In place of a law.
pub(super) const TOO_LITTLE: &str = "too little was measured";
/// The file that says what is repeated, and how cost grows.
const ABOUT: &str = "about";

/// Writes each family to a folder of its own: a text for each number of copies, their costs, and how these grow.
/// They replace the families of an earlier study.
pub(super) fn write_families(state: &State, families: &[Grown]) -> Result<(), Failure> {
    let measured: Vec<&Grown> = families.iter().filter(|grown| grown.family.members.len() > 1).collect();
    if measured.is_empty() {
        return Ok(());
    }
    replace(state, FAMILIES, |own| {
        for (number, grown) in measured.into_iter().enumerate() {
            write_family(state, &format!("{own}/{}", number + 1), grown)?;
        }
        Ok(())
    })
}

/// Writes the texts that no other beats in all costs, the one that costs most by the first measure first. They replace
/// those of before.
pub(super) fn write_front(hunt: &Hunt) -> Result<(), Failure> {
    let (state, front) = (&hunt.state, hunt.front());
    if front.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = hunt.plan.objectives.all().iter().map(|objective| objective.to_string()).collect();
    replace(state, FRONT, |own| {
        // Commands may have commas in them.
        let mut costs = format!("text,{}\n", names.join(",").replace('\n', " "));
        for (number, (values, found)) in front.iter().enumerate() {
            state.write(&format!("{own}/{:05}", number + 1), &found.text)?;
            let values: Vec<String> = values.iter().map(u64::to_string).collect();
            costs += &format!("{:05},{}\n", number + 1, values.join(","));
        }
        state.write(&format!("{own}/{COSTS}"), costs.as_bytes())?;
        Ok(())
    })
}

/// Makes a folder of the search anew. The old one goes when the new one is complete.
fn replace(state: &State, name: &str, write: impl FnOnce(&str) -> Result<(), StateError>) -> Result<(), Failure> {
    let (own, old) = (format!(".{name}.{}", std::process::id()), format!(".{name}.old"));
    write(&own)?;
    let [own, old, folder] = [&own, &old, name].map(|name| state.folder().join(name));
    let swap = || {
        if folder.exists() {
            fs::rename(&folder, &old)?;
        }
        fs::rename(&own, &folder)?;
        if old.exists() { fs::remove_dir_all(&old) } else { Ok(()) }
    };
    swap().map_err(|source| Failure::writing(&folder, source))
}

fn write_family(state: &State, folder: &str, grown: &Grown) -> Result<(), StateError> {
    let mut costs = "copies,bytes,cost,stopped\n".to_string();
    for member in &grown.family.members {
        let size = member.copies;
        state.write(&format!("{folder}/{size:05}"), &member.text)?;
        costs += &format!("{size},{},{},{}\n", member.text.len(), member.cost, member.is_stopped);
    }
    state.write(&format!("{folder}/{COSTS}"), costs.as_bytes())?;
    let growth = grown.family.growth.as_ref().map_or_else(|| TOO_LITTLE.to_string(), Growth::to_string);
    state.write(&format!("{folder}/{ABOUT}"), format!("{}\n{growth}\n", grown.what).as_bytes())?;
    Ok(())
}

/// Runs the families of a search again, and prints their costs and how they grow.
pub(super) fn replay(folder: &Path, meter: &mut Meter, objectives: &Objectives) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    let mut print = |line: String| {
        let failed = |source| Failure::Write { what: "standard output".to_string(), source };
        writeln!(output, "{line}").map_err(failed)
    };
    let families = numbered(&folder.join(FAMILIES))?;
    if families.is_empty() {
        return Err(Failure::Usage(format!("{} has no families of texts to run again", shown(folder))));
    }
    for (_, family) in families {
        let about = fs::read_to_string(family.join(ABOUT)).unwrap_or_default();
        print(format!("{}: {}", shown(&family), about.lines().next().unwrap_or_default()))?;
        let mut measurements = Vec::new();
        for (size, file) in numbered(&family)? {
            let text = files::read_bytes(&file)?;
            let measured = meter.read(&text)?;
            let stopped = measured.ending != Ending::Done;
            let note = if stopped { ", stopped" } else { "" };
            let (bytes, cost, unit) = (text.len(), measured.cost, objectives.unit());
            print(format!("{size:>6} copies {bytes:>8} bytes {cost:>14} {unit}{note}"))?;
            let measurement = Measurement { stopped, ..Measurement::new(size as f64, measured.cost as f64) };
            measurements.push((measurement, bytes));
        }
        print(Growth::of_texts(&measurements).map_or_else(|| TOO_LITTLE.to_string(), |growth| growth.to_string()))?;
    }
    Ok(())
}

/// The entries of a folder whose names are numbers, in ascending order; none if there is no such folder.
fn numbered(folder: &Path) -> Result<Vec<(u64, PathBuf)>, Failure> {
    let failed = |source| Failure::Read { what: shown(folder).to_string(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed(source)),
    };
    let mut numbered = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let number = entry.file_name().to_string_lossy().parse().ok();
        numbered.extend(number.map(|number| (number, entry.path())));
    }
    numbered.sort_unstable();
    Ok(numbered)
}

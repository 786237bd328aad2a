//! Runs the families of texts again by which a search has proved growth.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use gramjet_campaign::costly::{ABOUT, FAMILIES, Laws, Meter, Objectives, fastest};
use gramjet_search::{Ending, Member};

use crate::failure::Failure;
use crate::files::{self, shown};

/// Runs the families of a search again, and prints their costs and how they grow.
pub(super) fn run(folder: &Path, meter: &mut Meter, objectives: &Objectives) -> Result<(), Failure> {
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
        let mut members = Vec::new();
        for (size, file) in numbered(&family)? {
            let text = files::read_bytes(&file)?;
            let measured = meter.read(&text)?;
            let note = match measured.ending {
                Ending::Done => "",
                Ending::Stopped => ", stopped",
                Ending::Failed => ", failed",
            };
            let (bytes, cost, unit) = (text.len(), measured.cost, objectives.unit());
            print(format!("{size:>6} copies {bytes:>8} bytes {cost:>14} {unit}{note}"))?;
            let (copies, is_stopped) = (u32::try_from(size).unwrap_or(u32::MAX), measured.ending == Ending::Stopped);
            // What a program does until it fails says nothing of those that end.
            if measured.ending != Ending::Failed {
                let edges = measured.edges.to_vec();
                members.push(Member { copies, text, cost, is_stopped, edges });
            }
        }
        let growth = Member::growth(&members);
        let fastest = fastest(meter, &Member::edges_by_growth(&members, growth.as_ref()));
        let laws = Laws::of(growth.as_ref(), fastest.as_ref());
        print(laws.lines().trim_end().to_string())?;
        for recorded in laws.differences(&about) {
            print(format!("differs from what the search has recorded: {recorded}"))?;
        }
    }
    Ok(())
}

/// Returns the entries of a folder whose names are numbers, in ascending order; none if there is no such folder.
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

//! Runs the families of texts again by which a search has proved growth.

use gramjet_campaign::costly::{ABOUT, FAMILIES, Laws, Meter, Objectives, fastest};
use gramjet_campaign::{Stop, StopReason, View, one_line};
use gramjet_search::{Ending, Member, REPEATS};

use crate::failure::Failure;
use crate::files::shown;
use crate::terminal::pass_on;

/// Runs the families of a search again, and prints their costs and how they grow.
pub(super) fn run(view: &View, meter: &mut Meter, objectives: &Objectives, stop: &Stop) -> Result<(), Failure> {
    // What the folder and the program say may be anything.
    let print = |line: String| {
        let printed = pass_on(&mut std::io::stdout(), format!("{line}\n").as_bytes());
        printed.map_err(|source| Failure::Write { what: "standard output".to_string(), source })
    };
    let families = view.numbered(FAMILIES)?;
    if families.is_empty() {
        return Err(Failure::Usage(format!("{} has no families of texts to run again", shown(view.path()))));
    }
    for (_, family) in families {
        let about = view.file(&format!("{family}/{ABOUT}")).unwrap_or_default();
        let about = String::from_utf8_lossy(&about).into_owned();
        let what = one_line(about.lines().next().unwrap_or_default().as_bytes(), usize::MAX);
        print(format!("{}: {what}", shown(&view.path().join(&family))))?;
        let mut members = Vec::new();
        for (size, file) in view.numbered(&family)? {
            let Some(text) = view.file(&file) else { continue };
            let mut least = u64::MAX;
            // A law is of costs that were measured as often.
            for _ in 1..REPEATS {
                let measured = meter.read(&text)?;
                if stop.is_cut() {
                    return ended(stop);
                }
                if measured.ending != Ending::Done {
                    break;
                }
                least = least.min(measured.cost);
            }
            let measured = meter.read(&text)?;
            if stop.is_cut() {
                return ended(stop);
            }
            let note = match measured.ending {
                Ending::Done => "",
                Ending::Stopped => ", stopped",
                Ending::Failed => ", failed",
            };
            let (bytes, cost, unit) = (text.len(), measured.cost.min(least), objectives.unit());
            print(format!("{size:>6} copies {bytes:>8} bytes {cost:>14} {unit}{note}"))?;
            let (copies, is_stopped) = (u32::try_from(size).unwrap_or(u32::MAX), measured.ending == Ending::Stopped);
            // What a program does until it fails says nothing of those that end.
            if measured.ending != Ending::Failed {
                let edges = measured.edges.clone();
                let (seconds, runs) = (measured.seconds, REPEATS);
                members.push(Member { copies, text, cost, seconds, runs, is_stopped, edges });
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
    view.left_alone().iter().for_each(|left| crate::failure::say!("gramjet: {left} is left alone"));
    Ok(())
}

/// Returns the failure of a replay that a signal has ended.
fn ended(stop: &Stop) -> Result<(), Failure> {
    match stop.reason() {
        Some(StopReason::Signal(name, signal)) => {
            Err(Failure::Stopped { name, signal, reached: "before all families were run again".to_string() })
        }
        _ => Ok(()),
    }
}

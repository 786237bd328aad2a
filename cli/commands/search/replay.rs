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
        let Some(members) = members(&view.numbered(&family)?, view, meter, stop)? else { return ended(stop) };
        for (member, ending) in &members {
            let note = match ending {
                Ending::Done => "",
                Ending::Stopped => ", stopped",
                Ending::Failed => ", failed",
            };
            let (copies, bytes, cost, unit) = (member.copies, member.text.len(), member.cost, objectives.unit());
            print(format!("{copies:>6} copies {bytes:>8} bytes {cost:>14} {unit}{note}"))?;
        }
        // What a program does until it fails says nothing of those that end.
        let ended = members.into_iter().filter(|(_, ending)| *ending != Ending::Failed);
        let members: Vec<Member> = ended.map(|(member, _)| member).collect();
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

/// Runs the texts of a family as its proof did: some times, each time in a new process if processes run on several
/// texts. There the first run loads what others find loaded, so the smallest text is no part of a law. Returns the
/// least cost of each, and how its last run ended; `None` if the replay is cut short.
fn members(
    files: &[(u64, String)],
    view: &View,
    meter: &mut Meter,
    stop: &Stop,
) -> Result<Option<Vec<(Member, Ending)>>, Failure> {
    let mut members: Vec<(Member, Ending)> = Vec::new();
    for (size, file) in files {
        let Some(text) = view.file(file) else { continue };
        let copies = u32::try_from(*size).unwrap_or(u32::MAX);
        let (cost, seconds, edges) = (u64::MAX, f64::INFINITY, Vec::new());
        members.push((Member { copies, text, cost, seconds, runs: 0, is_stopped: false, edges }, Ending::Done));
    }
    for _ in 0..REPEATS {
        let has_history = meter.renew()?;
        for (number, (member, ending)) in members.iter_mut().enumerate() {
            if *ending != Ending::Done {
                continue;
            }
            let measured = meter.read(&member.text)?;
            if stop.is_cut() {
                return Ok(None);
            }
            (*ending, member.is_stopped) = (measured.ending, measured.ending == Ending::Stopped);
            if measured.cost < member.cost {
                (member.cost, member.edges) = (measured.cost, measured.edges.clone());
            }
            member.seconds = member.seconds.min(measured.seconds);
            member.runs += u32::from(number > 0 || !has_history);
        }
    }
    // A run that was stopped is not repeated.
    members.iter_mut().filter(|(member, _)| member.is_stopped).for_each(|(member, _)| member.runs = REPEATS);
    Ok(Some(members))
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

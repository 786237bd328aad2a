//! The report on a search, from all that it has found.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::path::Path;

use gramjet_harness::Confinement;
use gramjet_search::report::{
    Command, Curve, Excerpt, Family, FamilyEdge, FamilyPoint, HotLine, Input, Report, Setting, Span, TradeOffs,
};
use gramjet_search::{Growth, Law};

use crate::arguments::run::{RunArgs, permission_options};
use gramjet_campaign::costly::{Cause, EdgeLaw, FAMILIES, Grown, Hot, Hunt, Plan, Study, TOO_LITTLE, families};
use gramjet_campaign::rerun;
use gramjet_campaign::subject::{Spot, Surroundings, function, quoted};

/// Greatest number of bytes of a file of sources that an excerpt is taken from.
const MOST_SOURCE: u64 = 16 << 20;
/// Lines of source around a hot one, before and after it.
const AROUND: u64 = 3;
/// Reason why a text has no marks, no tree and no families.
const FOREIGN: &str = "This text is not of the grammar, so its parts and its growth were not studied.";
/// A part of the text that causes less of its cost is not marked.
const LEAST: f64 = 0.05;

/// Returns the report without what the folder says. Of the texts that were studied the best one comes first. `grammar`
/// is the grammar's name; `resume` is the command of this search, and `replay` the one that runs its families again.
/// `earlier` is the report of the search that this one has resumed.
pub(super) fn page(
    hunt: &Hunt,
    studies: &[Study],
    (grammar, resume, replay): (&str, &str, &str),
    earlier: Option<Report>,
) -> Report {
    let plan = &hunt.plan;
    let mut report = Report {
        title: format!("Costly texts of {grammar}"),
        program: quoted(&plan.command).to_string_lossy().into_owned(),
        grammar: grammar.to_string(),
        unit: plan.objectives.unit().to_string(),
        verdict: hunt.verdict(studies),
        settings: settings(hunt),
        inputs: studies.iter().map(input).collect(),
        trade_offs: trade_offs(hunt),
        families: (1..).zip(families(studies)).map(|(number, known)| family(number, known)).collect(),
        lines: studies.first().map_or_else(Vec::new, lines),
        replay_families: replay.to_string(),
        on_file: on_file(plan, grammar, hunt.state.path(), false).unwrap_or_default(),
        on_stopped: on_file(plan, grammar, hunt.state.path(), true).unwrap_or_default(),
        commands: vec![Command { purpose: "Go on with this search".to_string(), command: resume.to_string() }],
        ..Report::default()
    };
    if let Some(earlier) = earlier {
        go_on(&mut report, earlier);
    }
    report
}

/// Adds to a report what was known before and is not known better now.
fn go_on(report: &mut Report, earlier: Report) {
    report.inputs.extend(earlier.inputs);
    // Of one text, the better known comes first.
    report.inputs.sort_by_key(|input| (input.spans.is_empty(), input.derivation.is_empty()));
    if report.families.is_empty() && !earlier.families.is_empty() {
        (report.families, report.verdict) = (earlier.families, earlier.verdict);
    }
    if report.lines.is_empty() {
        report.lines = earlier.lines;
    }
}

fn settings(hunt: &Hunt) -> Vec<Setting> {
    let plan = &hunt.plan;
    let setting = |name: &str, value: String| Setting { name: name.to_string(), value };
    let counted = match plan.surroundings.counted {
        [] => String::new(),
        modules => format!(", with {} of the standard library", modules.join(", ")),
    };
    let paper = if plan.strategy.is_paper() { ", as published" } else { "" };
    vec![
        setting("strategy", format!("{}{paper}", plan.strategy.name())),
        setting("cost", format!("{}{counted}", plan.objectives)),
        setting("greatest length", format!("{} bytes", plan.max_len)),
        setting("seed", plan.seed.to_string()),
        setting("threads", plan.jobs.to_string()),
        setting("timeout", format!("{:?}", plan.surroundings.limits.time)),
        setting("edge limit", plan.surroundings.limits.edges.map_or("none".to_string(), |edges| edges.to_string())),
    ]
}

/// Returns what is known of a text that was studied.
fn input(study: &Study) -> Input {
    let span = |cause: &Cause| Span {
        bytes: cause.bytes.clone(),
        place: cause.spot.as_ref().map_or_else(|| cause.rule.clone(), Spot::to_string),
        share: cause.share,
    };
    Input {
        text: study.text.clone(),
        spans: study.causes.iter().filter(|cause| cause.share >= LEAST).map(span).collect(),
        derivation: study.tree.clone(),
        lines: lines(study),
        note: if study.is_foreign && study.families.is_empty() { FOREIGN.to_string() } else { String::new() },
        ..Input::default()
    }
}

fn trade_offs(hunt: &Hunt) -> TradeOffs {
    let objectives = hunt.plan.objectives.all();
    TradeOffs {
        units: objectives.iter().map(|objective| objective.unit().to_string()).collect(),
        inputs: hunt.front().into_iter().map(|(costs, found)| (costs, found.text)).collect(),
    }
}

/// Returns the pieces of the command that runs the program on a file in the folder of the search; `None` if the command
/// is no text, which a page has to be. Where a limit has stopped the program, it gets limits again.
fn on_file(plan: &Plan, grammar: &str, folder: &Path, was_stopped: bool) -> Option<Vec<String>> {
    let is_function = plan.command.first().and_then(function).is_some();
    let pieces = if is_function || was_stopped {
        rerun::by_us(OsStr::new(grammar), &options(&plan.surroundings), &plan.command)
    } else {
        rerun::alone(&plan.command)
    };
    let mut pieces = pieces.into_iter().map(OsString::into_string).collect::<Result<Vec<_>, _>>().ok()?;
    let folder = quoted(&[folder.join("").into_os_string()]).into_string().ok()?;
    let (_, before) = pieces.split_last_mut()?;
    before.iter_mut().for_each(|piece| piece.push_str(&folder));
    Some(pieces)
}

/// Returns the options of `gramjet fuzz` that run a function as this search does.
fn options(surroundings: &Surroundings) -> Vec<OsString> {
    let &Surroundings { limits, confinement, allowed, text, counted, .. } = surroundings;
    let bound = |bound: Option<u64>, usual| {
        (bound != Some(usual)).then(|| bound.map_or("none".to_string(), |bytes| bytes.to_string()))
    };
    let valued = [
        ("--timeout", Some(format!("{}ms", limits.time.as_millis().max(1)))),
        ("--memory", bound(limits.memory, RunArgs::MEMORY)),
        ("--disk", bound(limits.disk, RunArgs::DISK)),
        ("--count-module", (!counted.is_empty()).then(|| counted.join(","))),
    ];
    let flags = [("--unconfined", confinement == Confinement::Unconfined), ("--text", text)];
    let valued = valued.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?).into()));
    let allowed = permission_options(allowed).map(OsString::from);
    valued.chain(allowed).chain(flags.into_iter().filter(|flag| flag.1).map(|flag| flag.0.into())).collect()
}

fn family(number: usize, (study, grown): (&Study, &Grown)) -> Family {
    let point = |member: &gramjet_search::Member| FamilyPoint {
        size: u64::from(member.copies),
        length: member.text.len() as u64,
        cost: member.cost,
    };
    // A cost of 0 is one that is not known.
    let ended = grown.family.members.iter().filter(|member| !member.is_stopped && member.cost > 0);
    let growth = grown.family.growth.as_ref();
    Family {
        part: grown.what.clone(),
        rule: String::new(),
        text: study.text.clone(),
        folder: format!("{FAMILIES}/{number}"),
        points: ended.map(point).collect(),
        fit: growth.map_or_else(|| TOO_LITTLE.to_string(), Growth::to_string),
        curve: growth.map(|growth| {
            let size = |member: Option<&gramjet_search::Member>| member.map_or(1.0, |member| f64::from(member.copies));
            let (first, last) = (size(grown.family.members.first()), size(grown.family.members.last()));
            let first = growth.from().unwrap_or(first);
            let sizes = (0..=60).map(|step| first * (last / first).powf(f64::from(step) / 60.0));
            // A file of JSON has no infinite numbers.
            let points = sizes.map(|size| (size, growth.predict(size))).filter(|point| point.1.is_finite()).collect();
            Curve { points, is_exponential: matches!(growth.best().law, Law::Exponential { .. }) }
        }),
        fastest: grown.fastest.as_ref().map_or(String::new(), EdgeLaw::to_string),
        edges: grown.hottest.iter().map(edge).collect(),
    }
}

fn edge(law: &EdgeLaw) -> FamilyEdge {
    let place = law.spot.as_ref().map_or(String::new(), Spot::to_string);
    FamilyEdge { place, count: law.count, law: law.law() }
}

/// Returns the lines that a text makes hot.
fn lines(study: &Study) -> Vec<HotLine> {
    study.hot.iter().filter_map(line).collect()
}

fn line(hot: &Hot) -> Option<HotLine> {
    let spot = hot.spot.as_ref()?;
    Some(HotLine {
        place: spot.place(),
        function: spot.function.clone(),
        count: hot.count,
        share: hot.share,
        excerpt: excerpt(spot),
    })
}

fn excerpt(spot: &Spot) -> Option<Excerpt> {
    // The program names the file.
    let data = fs::symlink_metadata(&spot.file).ok()?;
    if !data.is_file() || data.len() > MOST_SOURCE {
        return None;
    }
    let mut source = Vec::new();
    fs::File::open(&spot.file).ok()?.take(MOST_SOURCE).read_to_end(&mut source).ok()?;
    let source = String::from_utf8_lossy(&source);
    let hot = u64::from(spot.line);
    let first = hot.saturating_sub(AROUND).max(1);
    let lines = source.lines().skip(first as usize - 1).take((hot + AROUND + 1 - first) as usize);
    let lines: Vec<String> = lines.map(str::to_string).collect();
    (!lines.is_empty()).then_some(Excerpt { first, lines, hot })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gramjet_harness::{Limits, Permission};

    use super::*;

    #[test]
    fn functions_are_run_again_under_the_same_limits() {
        let limits = Limits::default().with_time(Duration::from_secs(10)).with_memory(Some(RunArgs::MEMORY));
        let usual = Surroundings { limits, ..Surroundings::default() };
        assert_eq!(options(&usual), ["--timeout=10000ms"]);
        let modules = Box::leak(Box::new(["html".to_string(), "json".to_string()]));
        let unusual = Surroundings { confinement: Confinement::Unconfined, text: true, ..usual.counting(modules) };
        let allowed = &[Permission::Network, Permission::Ipc];
        let unusual = Surroundings { limits: limits.with_memory(None).with_disk(Some(9)), allowed, ..unusual };
        let expected = [
            "--timeout=10000ms",
            "--memory=none",
            "--disk=9",
            "--count-module=html,json",
            "--allow=network",
            "--allow=ipc",
            "--unconfined",
            "--text",
        ];
        assert_eq!(options(&unusual), expected);
    }

    #[test]
    fn a_line_of_a_crate_is_shown_with_its_code() {
        let folder = std::env::temp_dir().join(format!("gramjet-page-{}", std::process::id()));
        let source = folder.join("registry/src/index.crates.io-1949cf8c6b5b557f/names-1.0.0/src");
        fs::create_dir_all(&source).expect("a folder");
        fs::write(source.join("lib.rs"), "pub fn one() {\n    two();\n}\n").expect("a source");
        let spot = Spot { file: source.join("lib.rs"), line: 2, function: "one".into() };
        let shown = line(&Hot { spot: Some(spot), count: 7, share: 0.5 }).expect("a line");
        fs::remove_dir_all(folder).expect("the folder");
        assert_eq!((&*shown.place, &*shown.function), ("names-1.0.0/src/lib.rs:2", "one"));
        assert_eq!(shown.excerpt.expect("an excerpt").lines, ["pub fn one() {", "    two();", "}"]);
    }
}

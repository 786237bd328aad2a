//! The report on a search, from all that it has found.

use std::fs;

use gramjet_search::report::{
    Bucket, Command, Curve, Excerpt, Failure, Family, FamilyPoint, HotLine, Input, Progress, ProgressPoint, Report,
    Setting, Span,
};
use gramjet_search::{Growth, Law, Place};

use super::hunt::{Found, Hunt};
use super::records::{FAMILIES, TOO_LITTLE};
use super::study::{Grown, Hot, Study};
use crate::subject::{Spot, quoted};

/// The best texts that the report shows.
const INPUTS: usize = 10;
/// Lines of source around a hot one, before and after it.
const AROUND: u64 = 3;
/// A part of the text that causes less of its cost is not marked.
const LEAST: f64 = 0.05;

/// The report. `grammar` is the grammar's name; `resume` is the command of this search, and `replay` the one that runs
/// its families again.
pub(super) fn page(hunt: &Hunt, study: &Study, grammar: &str, resume: &str, replay: &str) -> Report {
    let progress = hunt.progress();
    let plan = &hunt.plan;
    let program = quoted(&plan.command).to_string_lossy().into_owned();
    let history = hunt.history();
    let setting = |name: &str, value: String| Setting { name: name.to_string(), value };
    let paper = if plan.is_paper { ", as published" } else { "" };
    Report {
        title: format!("Costly texts of {grammar}"),
        program: program.clone(),
        grammar: grammar.to_string(),
        unit: plan.objective.unit().to_string(),
        seconds: progress.elapsed.as_secs_f64(),
        executions: progress.runs,
        settings: vec![
            setting("strategy", format!("{}{paper}", plan.strategy)),
            setting("greatest length", format!("{} bytes", plan.max_len)),
            setting("seed", plan.seed.to_string()),
            setting("threads", plan.jobs.to_string()),
            setting("timeout", format!("{:?}", plan.surroundings.limits.time)),
        ],
        progress: vec![Progress { strategy: plan.strategy.clone(), points: points(&history, &progress) }],
        inputs: history.iter().rev().take(INPUTS).enumerate().map(|(rank, found)| input(rank, found, study)).collect(),
        families: study
            .families
            .iter()
            .enumerate()
            .filter(|(_, grown)| grown.family.members.len() > 1)
            .map(|(number, grown)| family(number, grown, replay))
            .collect(),
        lines: study.hot.iter().filter_map(line).collect(),
        costs: hunt.costs().into_iter().map(|(least, most, runs)| Bucket { least, most, runs }).collect(),
        failures: failures(hunt),
        timeouts: timeouts(hunt),
        commands: vec![
            Command { purpose: "Go on with this search".to_string(), command: resume.to_string() },
            Command { purpose: format!("Run the families of texts in {FAMILIES} again"), command: replay.to_string() },
        ],
    }
}

fn points(history: &[Found], progress: &super::hunt::Progress) -> Vec<ProgressPoint> {
    let point =
        |found: &Found| ProgressPoint { seconds: found.after.as_secs_f64(), executions: found.runs, cost: found.cost };
    let mut points: Vec<ProgressPoint> = history.iter().map(point).collect();
    let end = points.last().map(|last| ProgressPoint {
        seconds: progress.elapsed.as_secs_f64(),
        executions: progress.runs,
        ..*last
    });
    points.extend(end);
    points
}

/// A text; what is known of the best one is shown with it.
fn input(rank: usize, found: &Found, study: &Study) -> Input {
    let is_best = rank == 0;
    let span = |cause: &super::study::Cause| Span {
        bytes: cause.bytes.clone(),
        place: cause.spot.as_ref().map_or_else(|| cause.rule.clone(), Spot::to_string),
        share: cause.share,
    };
    let causes = study.causes.iter().filter(|cause| is_best && cause.share >= LEAST);
    Input {
        name: format!("number {}", rank + 1),
        text: found.text.clone(),
        cost: found.cost,
        seconds: found.after.as_secs_f64(),
        strategy: found.operator.to_string(),
        spans: causes.map(span).collect(),
        derivation: if is_best { study.tree.clone() } else { String::new() },
        replay: String::new(),
    }
}

fn family(number: usize, grown: &Grown, replay: &str) -> Family {
    let point = |member: &gramjet_search::Member| FamilyPoint {
        size: u64::from(member.copies),
        length: member.text.len() as u64,
        cost: member.cost,
    };
    let ended = grown.family.members.iter().filter(|member| !member.is_stopped);
    let growth = grown.family.growth.as_ref();
    Family {
        part: grown.what.clone(),
        rule: String::new(),
        folder: format!("{FAMILIES}/{}", number + 1),
        points: ended.map(point).collect(),
        fit: growth.map_or_else(|| TOO_LITTLE.to_string(), Growth::to_string),
        curve: growth.map(|growth| {
            let size = |member: Option<&gramjet_search::Member>| member.map_or(1.0, |member| f64::from(member.copies));
            let (first, last) = (size(grown.family.members.first()), size(grown.family.members.last()));
            let sizes = (0..=60).map(|step| first * (last / first).powf(f64::from(step) / 60.0));
            let points = sizes.map(|size| (size, growth.predict(size))).collect();
            Curve { points, is_exponential: matches!(growth.best().law, Law::Exponential { .. }) }
        }),
        hottest: grown.spot.as_ref().map_or(String::new(), Spot::to_string),
        replay: if number == 0 { replay.to_string() } else { String::new() },
    }
}

fn line(hot: &Hot) -> Option<HotLine> {
    let spot = hot.spot.as_ref()?;
    Some(HotLine {
        place: format!("{}:{}", spot.file.display(), spot.line),
        function: spot.function.clone(),
        count: hot.count,
        share: hot.share,
        excerpt: excerpt(spot),
    })
}

fn excerpt(spot: &Spot) -> Option<Excerpt> {
    let source = fs::read(&spot.file).ok()?;
    let source = String::from_utf8_lossy(&source);
    let hot = u64::from(spot.line);
    let first = hot.saturating_sub(AROUND).max(1);
    let lines = source.lines().skip(first as usize - 1).take((hot + AROUND + 1 - first) as usize);
    let lines: Vec<String> = lines.map(str::to_string).collect();
    (!lines.is_empty()).then_some(Excerpt { first, lines, hot })
}

fn failures(hunt: &Hunt) -> Vec<Failure> {
    let keys = hunt.state.failures().unwrap_or_default();
    let one = |key: &String| Failure {
        outcome: key.replace('-', " "),
        text: hunt.state.failure(key, "input").unwrap_or_default(),
        ..Failure::default()
    };
    keys.iter().map(one).collect()
}

fn timeouts(hunt: &Hunt) -> Vec<Failure> {
    let texts = hunt.state.texts(Place::Timeouts).unwrap_or_default();
    let outcome = "stopped at a limit".to_string();
    texts.into_iter().map(|text| Failure { outcome: outcome.clone(), text, ..Failure::default() }).collect()
}

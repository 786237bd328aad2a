//! The report on a search: one HTML file that needs nothing else, neither scripts nor a network.
//!
//! The caller fills in a [`Report`], plain data, and [`html`] lays it out. Equal data give equal files. Texts may have
//! any bytes and numbers any value; lists that would make the page too large are cut, and the page says so.

mod data;
mod distribution;
mod failures;
mod growth;
mod inputs;
mod lines;
mod markup;
mod operators;
mod palette;
mod plot;
mod progress;
mod scale;
mod sparkline;
mod text;
mod trade_offs;

use std::fmt::Write as _;

pub use data::{
    Bucket, Command, Curve, Excerpt, Failure, Family, FamilyEdge, FamilyPoint, HotLine, Input, Operator, Progress,
    ProgressPoint, Report, Setting, Smaller, Span, TradeOffs,
};
pub use sparkline::sparkline;

use markup::{Column, count, escape, facts, seconds, table};

/// Returns the report as an HTML file.
pub fn html(report: &Report) -> String {
    let title = if report.title.is_empty() { "Report on a search" } else { &report.title };
    let sections = sections(report);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <meta name=color-scheme content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{}{}</style>\n",
        escape(title),
        include_str!("report/style.css"),
        palette::css(),
    );
    let _ = write!(
        page,
        "<header><h1>{}</h1>\n{}{}</header>\n<main>\n",
        text::line(title),
        summary(report),
        links(&sections)
    );
    for (id, heading, content) in &sections {
        let _ = write!(page, "<section id={id}><h2>{heading}</h2>\n{content}</section>\n");
    }
    if sections.is_empty() {
        page.push_str("<p>The search has found nothing yet.\n");
    }
    page + "</main>\n</html>\n"
}

/// Returns the sections that have content: name, heading, content.
fn sections(report: &Report) -> Vec<(&'static str, &'static str, String)> {
    let all = [
        ("progress", "Best cost over time", progress::section(report)),
        ("inputs", "Inputs of highest cost", inputs::section(report)),
        ("trade-offs", "Several costs", trade_offs::section(report)),
        ("growth", "Growth", growth::section(report)),
        ("lines", "Hot lines", lines::section(report)),
        ("costs", "Distribution of costs", distribution::section(report)),
        ("operators", "Operators", operators::section(report)),
        ("failures", "Failures", failures::section(&report.failures)),
        ("timeouts", "Timeouts", failures::section(&report.timeouts)),
        ("commands", "Commands", commands(&report.commands)),
        ("settings", "Settings", settings(&report.settings)),
    ];
    all.into_iter().filter_map(|(id, heading, content)| Some((id, heading, content?))).collect()
}

/// Returns what was searched, and the numbers that matter most.
fn summary(report: &Report) -> String {
    let subject = [("program", &report.program), ("grammar", &report.grammar)];
    let subject = subject.into_iter().filter(|(_, value)| !value.is_empty());
    let subject: Vec<_> =
        subject.map(|(name, value)| (name.to_string(), format!("<code>{}</code>", text::line(value)))).collect();
    let verdict = match report.verdict.as_str() {
        "" => String::new(),
        verdict => format!("<p class=verdict><strong>{}</strong>\n", text::line(verdict)),
    };
    format!("{verdict}{}<dl class=numbers>{}</dl>\n", facts(&subject), numbers(report).concat())
}

fn numbers(report: &Report) -> Vec<String> {
    let best = report.inputs.iter().map(|input| input.cost).max();
    let best = best.map_or_else(|| "none yet".to_string(), count);
    let unit = if report.unit.is_empty() {
        "best cost".to_string()
    } else {
        format!("best cost, {}", text::line(&report.unit))
    };
    let numbers = [
        (unit, best),
        ("time".to_string(), seconds(report.seconds)),
        ("runs".to_string(), count(report.executions)),
        ("failures".to_string(), count(report.failures.len() as u64)),
        ("timeouts".to_string(), count(report.timeouts.len() as u64)),
    ];
    numbers.map(|(name, value)| format!("<div><dt>{name}<dd>{value}</div>\n")).to_vec()
}

fn links(sections: &[(&str, &str, String)]) -> String {
    let links = sections.iter().map(|(id, heading, _)| format!("<a href=\"#{id}\">{heading}</a>\n"));
    format!("<nav>{}</nav>\n", links.collect::<String>())
}

fn commands(commands: &[Command]) -> Option<String> {
    let one = |command: &Command| {
        format!("<dt>{}<dd><pre>{}</pre>\n", text::line(&command.purpose), text::lines(&command.command))
    };
    (!commands.is_empty()).then(|| format!("<dl>{}</dl>\n", commands.iter().map(one).collect::<String>()))
}

fn settings(settings: &[Setting]) -> Option<String> {
    let row =
        |setting: &Setting| vec![text::line(&setting.name), format!("<code>{}</code>", text::line(&setting.value))];
    let columns = [Column::Text("Setting"), Column::Text("Value")];
    (!settings.is_empty()).then(|| table(&columns, settings.iter().map(row)))
}

/// Returns how a command is shown, if there is one.
fn replay(command: &str) -> String {
    if command.is_empty() { String::new() } else { format!("<pre class=command>{}</pre>\n", text::lines(command)) }
}

/// Says that a list is cut, if it is.
fn cut_note(shown: usize, all: usize, what: &str) -> String {
    if shown == all {
        return String::new();
    }
    format!("<p class=note>{} of {} {what} are shown.\n", count(shown as u64), count(all as u64))
}

#[cfg(test)]
mod tests;

//! The section on growth: how the cost rises when one part of a text is repeated.

use super::data::{Curve, Family, FamilyEdge, FamilyPoint, Report};
use super::markup::{Column, count, facts, folded, table};
use super::plot::{Plot, Shape};
use super::scale::Scale;
use super::text;

/// Families that are shown.
const FAMILIES: usize = 20;
/// Members of a family that are drawn and listed.
const POINTS: usize = 100;
/// Edges of a family that are listed.
const EDGES: usize = 20;
/// Bytes of the text of a family that are shown.
const TEXT: usize = 100;

/// Returns the content of the section, if there are families.
pub(super) fn section(report: &Report) -> Option<String> {
    let shown = &report.families[..report.families.len().min(FAMILIES)];
    let html: String = shown.iter().map(|family| article(report, family)).collect();
    let note = super::cut_note(shown.len(), report.families.len(), "families");
    (!shown.is_empty()).then(|| replay(&report.replay_families) + &note + &html)
}

/// Returns the command that runs all families again.
fn replay(command: &str) -> String {
    if command.is_empty() {
        return String::new();
    }
    format!("<p class=note>This runs the texts of all families again:\n{}", super::replay(command))
}

fn article(report: &Report, family: &Family) -> String {
    let points = thinned(&family.points);
    let note = super::cut_note(points.len(), family.points.len(), "members");
    format!(
        "<article class=family><h3>{}</h3>\n{}\n<div>{}{}{}</div></article>\n",
        heading(family),
        plot(report, family, &points),
        findings(family),
        edges(family),
        if points.is_empty() { String::new() } else { folded("Members of the family", &(note + &members(&points))) },
    )
}

/// Returns members at about equal distances in the list, in ascending order of size, with both ends.
fn thinned(points: &[FamilyPoint]) -> Vec<FamilyPoint> {
    let mut ordered = points.to_vec();
    ordered.sort_by_key(|point| (point.size, point.length, point.cost));
    if ordered.len() <= POINTS {
        return ordered;
    }
    (0..POINTS).map(|index| ordered[index * (ordered.len() - 1) / (POINTS - 1)]).collect()
}

fn heading(family: &Family) -> String {
    let part = format!("<code>{}</code>", text::line(&family.part));
    if family.rule.is_empty() { part } else { format!("{part} in <code>{}</code>", text::line(&family.rule)) }
}

fn findings(family: &Family) -> String {
    let known = [("fit", &family.fit), ("fastest edge", &family.fastest), ("texts", &family.folder)];
    let known = known.into_iter().filter(|(_, value)| !value.is_empty());
    let known = known.map(|(name, value)| (name.to_string(), text::line(value)));
    let of = format!("<code>{}</code>", text::start_of(&family.text, TEXT));
    let of = (!family.text.is_empty()).then(|| ("in".to_string(), of));
    facts(&known.chain(of).collect::<Vec<_>>())
}

/// Returns a table that shows how the counts of the hottest edges grow.
fn edges(family: &Family) -> String {
    if family.edges.is_empty() {
        return String::new();
    }
    // Places are long: they come last, where a narrow window hides them at first.
    let columns = [Column::Number("Times"), Column::Text("Growth"), Column::Text("Hottest edges")];
    let place = |edge: &FamilyEdge| match edge.place.as_str() {
        "" => "<span class=dim>not known</span>".to_string(),
        place => format!("<code>{}</code>", text::line(place)),
    };
    let row = |edge: &FamilyEdge| vec![count(edge.count), text::line(&edge.law), place(edge)];
    table(&columns, family.edges.iter().take(EDGES).map(row))
}

/// Returns the members as dots and the model as a line. Axes are chosen so that a model that fits is about straight.
fn plot(report: &Report, family: &Family, points: &[FamilyPoint]) -> String {
    if points.is_empty() {
        return "<p class=note>No member of this family was run.".to_string();
    }
    let dots: Vec<(f64, f64)> = points.iter().map(|point| (point.size as f64, point.cost as f64)).collect();
    let sizes: Vec<f64> = dots.iter().map(|dot| dot.0).collect();
    let costs: Vec<f64> = dots.iter().map(|dot| dot.1).collect();
    let exponential = family.curve.as_ref().is_some_and(|curve| curve.is_exponential);
    let x = if exponential { Scale::linear(&sizes) } else { Scale::log(&sizes) }.with_room();
    let y = Scale::log(&costs).with_room();
    let line = family.curve.as_ref();
    let line = line.map(|curve| Shape::Line { series: 1, points: within(curve, &x, &y), thin: false });
    let mut shapes: Vec<Shape> = line.into_iter().collect();
    shapes.push(Shape::Dots { series: 0, points: dots });
    let title = format!("Cost, in {}, by number of repetitions of {}", report.unit, family.part);
    let across = format!("repetitions of {}", shortened(&family.part));
    let svg = Plot { title, across, x, y, shapes }.svg();
    let fitted = "<span class=\"swatch series-1\"></span>fitted";
    let fitted = if family.curve.is_some() { fitted } else { "" };
    let caption = format!("<span class=\"swatch series-0\"></span>measured cost {fitted}");
    format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>")
}

/// Returns a name that fits on an axis.
fn shortened(name: &str) -> String {
    let plain: String = name.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    if plain.chars().count() > 24 { plain.chars().take(23).chain(['…']).collect() } else { plain }
}

/// Returns the points of a curve that lie within the plot.
fn within(curve: &Curve, x: &Scale, y: &Scale) -> Vec<(f64, f64)> {
    let is_within = |scale: &Scale, value: f64| (scale.value(scale.from)..=scale.value(scale.to)).contains(&value);
    let points = curve.points.iter().copied();
    points.filter(|&(size, cost)| is_within(x, size) && is_within(y, cost)).take(POINTS * 10).collect()
}

fn members(points: &[FamilyPoint]) -> String {
    let columns = [Column::Number("Repetitions"), Column::Number("Bytes"), Column::Number("Cost")];
    table(&columns, points.iter().map(|point| vec![count(point.size), count(point.length), count(point.cost)]))
}

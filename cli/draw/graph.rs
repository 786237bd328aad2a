//! The graph of rules: levels by the distance from the start rule, from top to bottom.

use std::fmt::Write as _;

use super::rules::Rules;
use super::svg::Drawn;
use super::words::{self, escape};

/// The most rules of a graph that is drawn with edges.
const MOST_RULES: usize = 60;
/// The most edges of a graph that is drawn.
const MOST_EDGES: usize = 150;
/// Space between rows, for the edges.
const BETWEEN: i32 = 46;
/// Height of a box.
const HEIGHT: i32 = 24;
/// Space between boxes.
const GAP: i32 = 14;
/// Space around the graph; edges may leave it at the bottom of the last row.
const MARGIN: i32 = 24;
/// The most columns of a name.
const COLUMNS: usize = 24;

/// The place of a rule in the graph.
struct Place {
    rule: usize,
    row: usize,
    /// The middle of its box.
    x: i32,
    width: i32,
}

/// Form of a graph, by the number of its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A drawing on screens of any width.
    AnyWidth,
    /// A drawing on wide screens.
    Wide,
    /// Levels of rules without edges.
    Levels,
}

/// Returns the form in which the graph of some rules can be read.
pub fn form(rules: &Rules<'_>, shown: &[usize]) -> Form {
    let edges: usize = shown.iter().map(|&rule| rules.uses[rule].len()).sum();
    match (shown.len(), edges) {
        (0..=14, 0..=20) => Form::AnyWidth,
        (0..=MOST_RULES, 0..=MOST_EDGES) => Form::Wide,
        _ => Form::Levels,
    }
}

/// Returns the levels of some rules: those at the same distance from the start rule, and at last the unreachable ones.
pub fn levels(rules: &Rules<'_>, shown: &[usize]) -> Vec<Vec<usize>> {
    let mut levels: Vec<Vec<usize>> = Vec::new();
    let farthest = shown.iter().filter_map(|&rule| rules.distances[rule]).max().map_or(0, |most| most + 1);
    levels.resize(farthest + 1, Vec::new());
    for &rule in shown {
        levels[rules.distances[rule].unwrap_or(farthest)].push(rule);
    }
    levels.retain(|level| !level.is_empty());
    levels
}

/// Draws the graph of some rules, at most `width` wide if it can be.
pub fn draw(rules: &Rules<'_>, shown: &[usize], width: i32, link: &dyn Fn(usize) -> Option<String>) -> Drawn {
    let places = places(rules, shown, width);
    let of = |rule: usize| places.iter().find(|place| place.rule == rule);
    let mut elements = String::new();
    for place in &places {
        for (number, &used) in rules.uses[place.rule].iter().enumerate() {
            let Some(target) = of(used) else { continue };
            let fraction = (number + 1, rules.uses[place.rule].len() + 1);
            let title = format!("{} \u{2192} {}", words::name(rules.name(place.rule)), words::name(rules.name(used)));
            let is_recursive = rules.are_recursive(place.rule, used);
            let (kind, path, head) = edge(place, target, fraction);
            let _ = writeln!(
                elements,
                "<g class=\"edge{kind}{}\"><title>{}</title><path d=\"{path}\"/><path class=\"head\" d=\"{head}\"/></g>",
                if is_recursive { " recursive" } else { "" },
                escape(&title)
            );
        }
    }
    for place in &places {
        node(rules, place, link, &mut elements);
    }
    let right = places.iter().map(|place| place.x + place.width / 2).max().unwrap_or(0);
    let rows = places.iter().map(|place| place.row + 1).max().unwrap_or(0) as i32;
    Drawn { elements, width: right.max(width - GAP) + GAP, height: 2 * MARGIN + rows * (HEIGHT + BETWEEN) - BETWEEN }
}

/// Returns the top of the boxes of a row.
fn top(row: usize) -> i32 {
    MARGIN + row as i32 * (HEIGHT + BETWEEN)
}

fn label(rules: &Rules<'_>, rule: usize) -> String {
    let name = words::name(rules.name(rule));
    let fitting = words::fitting(&name, COLUMNS);
    let dots = if fitting.len() < name.len() { "\u{2026}" } else { "" };
    let mark = if rules.is_recursive(rule) { " \u{21BB}" } else { "" };
    format!("{fitting}{dots}{mark}")
}

/// Returns the places of rules, level by level. A level that is too wide has several rows. Rules stand near those that
/// refer to them.
fn places(rules: &Rules<'_>, shown: &[usize], width: i32) -> Vec<Place> {
    let (mut places, mut next_row) = (Vec::<Place>::new(), 0);
    for mut level in levels(rules, shown) {
        let wanted = |rule: &usize| {
            let parents = places.iter().filter(|place| rules.used_by[*rule].contains(&place.rule));
            let (sum, count) = parents.fold((0, 0), |(sum, count), place| (sum + place.x, count + 1));
            sum / count.max(1)
        };
        level.sort_by_key(wanted);
        for row in rows(rules, &level, width) {
            let total: i32 = row.iter().map(|&(_, width)| width + GAP).sum::<i32>() - GAP;
            let mut x = ((width - total) / 2).max(GAP);
            for (rule, width) in row {
                places.push(Place { rule, row: next_row, x: x + width / 2, width });
                x += width + GAP;
            }
            next_row += 1;
        }
    }
    places
}

/// Returns the rows of a level: rules and the widths of their boxes.
fn rows(rules: &Rules<'_>, level: &[usize], width: i32) -> Vec<Vec<(usize, i32)>> {
    let mut rows: Vec<Vec<(usize, i32)>> = Vec::new();
    let mut taken = width;
    for &rule in level {
        let own = words::columns(&label(rules, rule)) as i32 * 8 + 16;
        if taken + GAP + own > width - 2 * GAP {
            rows.push(Vec::new());
            taken = 0;
        }
        taken += own + GAP;
        rows.last_mut().into_iter().for_each(|row| row.push((rule, own)));
    }
    rows
}

/// Returns the class of an edge, its path, and the path of its head. It leaves its box at a fraction of the width.
fn edge(from: &Place, to: &Place, (part, of): (usize, usize)) -> (&'static str, String, String) {
    let begin = from.x - from.width / 2 + (from.width * part as i32) / of as i32;
    // Edges from the left end on the left.
    let end =
        to.x + ((from.x - to.x) * to.width / 3 / (from.x - to.x).abs().max(60)).clamp(-to.width / 3, to.width / 3);
    match from.row.cmp(&to.row) {
        _ if from.rule == to.rule => {
            let (x, y) = (from.x + from.width / 2, top(from.row) + HEIGHT / 2);
            (" back", format!("M{x} {}c14-8 14 16 1 10", y - 5), format!("M{x} {}l7-2v7z", y + 5))
        }
        std::cmp::Ordering::Less => {
            let (y, until) = (top(from.row) + HEIGHT, top(to.row));
            let bend = (until - y) / 2;
            let path = format!("M{begin} {y}C{begin} {} {end} {} {end} {until}", y + bend, until - bend);
            ("", path, format!("M{end} {until}l-4-7h8z"))
        }
        std::cmp::Ordering::Equal => {
            let y = top(from.row) + HEIGHT;
            let path = format!("M{begin} {y}c0 26 {0} 26 {0} 0", end - begin);
            ("", path, format!("M{end} {y}l-4 7h8z"))
        }
        std::cmp::Ordering::Greater => {
            let (y, until) = (top(from.row), top(to.row) + HEIGHT);
            let bend = (y - until) / 2;
            let path = format!("M{begin} {y}C{begin} {} {end} {} {end} {until}", y - bend, until + bend);
            (" back", path, format!("M{end} {until}l-4 7h8z"))
        }
    }
}

fn node(rules: &Rules<'_>, place: &Place, link: &dyn Fn(usize) -> Option<String>, elements: &mut String) {
    let rule = place.rule;
    let mut class = String::from("rule");
    class += if rules.is_recursive(rule) { " recursive" } else { "" };
    class += if rules.is_reached(rule) { "" } else { " unreachable" };
    class += if rule == rules.start { " start" } else { "" };
    let (open, close) = match link(rule) {
        Some(link) => (format!("<a class=\"{class}\" href=\"{}\">", escape(&link)), "</a>"),
        None => (format!("<g class=\"{class}\">"), "</g>"),
    };
    let y = top(place.row);
    let _ = writeln!(
        elements,
        "{open}<title>{}</title><rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{HEIGHT}\" rx=\"3\"/>\
         <text x=\"{}\" y=\"{}\">{}</text>{close}",
        escape(&words::name(rules.name(rule))),
        place.x - place.width / 2,
        place.width,
        place.x,
        y + 16,
        escape(&label(rules, rule))
    );
}

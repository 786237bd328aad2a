//! The section on the best cost over time.

use super::data::{Progress, ProgressPoint, Report};
use super::markup::{Column, count, escape, seconds, table};
use super::palette::SERIES;
use super::plot::{Plot, Shape};
use super::scale::Scale;
use super::text;

/// Points of a line, at most: about as many as the plot has pixels.
const COLUMNS: usize = 400;

/// Returns the content of the section, if there are points.
pub(super) fn section(report: &Report) -> Option<String> {
    let mut strategies: Vec<&Progress> =
        report.progress.iter().filter(|progress| !progress.points.is_empty()).collect();
    strategies.sort_by_key(|progress| std::cmp::Reverse(best(progress)));
    if strategies.is_empty() {
        return None;
    }
    let drawn = &strategies[..strategies.len().min(SERIES.len())];
    let over_time = plot(report, drawn, "seconds", |point| point.seconds, report.seconds);
    let over_runs = plot(report, drawn, "runs of the strategy", |point| point.executions as f64, 0.0);
    let mut html = format!("<div class=plots>{over_time}{over_runs}</div>\n");
    if drawn.len() < strategies.len() {
        html += &format!("<p class=note>The plots have the best {} of {} strategies.\n", drawn.len(), strategies.len());
    }
    Some(html + &summary(&strategies))
}

/// Returns the best cost of a strategy.
fn best(progress: &Progress) -> u64 {
    progress.points.iter().map(|point| point.cost).max().unwrap_or(0)
}

/// Returns a plot of the best cost over `measure`, with lines that go on to `end`.
fn plot(
    report: &Report,
    drawn: &[&Progress],
    across: &str,
    measure: impl Fn(&ProgressPoint) -> f64,
    end: f64,
) -> String {
    let lines: Vec<Vec<(f64, f64)>> = drawn.iter().map(|progress| steps(&progress.points, &measure, end)).collect();
    let values = |pick: fn(&(f64, f64)) -> f64| lines.iter().flatten().map(pick).collect::<Vec<f64>>();
    let plot = Plot {
        title: format!("Best cost, in {}, over {across}", report.unit),
        across: across.to_string(),
        x: Scale::linear(&values(|point| point.0)),
        y: Scale::fitting(&values(|point| point.1)).with_room(),
        shapes: lines
            .iter()
            .enumerate()
            .rev()
            .map(|(series, points)| Shape::Line { series, points: points.clone(), thin: false })
            .collect(),
    };
    format!("<figure><figcaption>Best cost over {}</figcaption>{}</figure>\n", escape(across), plot.svg())
}

/// Returns the corners of a line that rises at each improvement.
fn steps(points: &[ProgressPoint], measure: impl Fn(&ProgressPoint) -> f64, end: f64) -> Vec<(f64, f64)> {
    let known = points.iter().map(|point| (measure(point), point.cost));
    let mut known: Vec<(f64, u64)> = known.filter(|(at, _)| at.is_finite() && *at >= 0.0).collect();
    known.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let mut corners: Vec<(f64, f64)> = Vec::new();
    let mut highest = 0;
    for (at, cost) in thinned(&known) {
        corners.extend(corners.last().map(|(_, before)| (at, *before)));
        highest = cost.max(highest);
        corners.push((at, highest as f64));
    }
    let last = corners.last().copied();
    corners.extend(last.filter(|(at, _)| end.is_finite() && end > *at).map(|(_, cost)| (end, cost)));
    corners
}

/// Returns the highest of the points in each column of the plot, where it has one.
fn thinned(points: &[(f64, u64)]) -> Vec<(f64, u64)> {
    if points.len() <= COLUMNS {
        return points.to_vec();
    }
    let width = points.last().map_or(0.0, |last| last.0) / COLUMNS as f64;
    let column = |point: &(f64, u64)| (point.0 / width) as usize;
    let columns = points.chunk_by(|one, other| column(one) == column(other));
    columns.filter_map(|chunk| chunk.iter().max_by_key(|point| point.1).copied()).collect()
}

/// Returns the table of strategies, which is the legend of the plots.
fn summary(strategies: &[&Progress]) -> String {
    use Column::{Number, Text};
    let columns = [Text("Strategy"), Number("Best cost"), Number("Found after"), Number("Runs until then")];
    table(&columns, strategies.iter().enumerate().map(|(index, progress)| row(index, progress)))
}

fn row(index: usize, progress: &Progress) -> Vec<String> {
    let swatch =
        if index < SERIES.len() { format!("<span class=\"swatch series-{index}\"></span>") } else { String::new() };
    let highest = best(progress);
    let first = progress.points.iter().filter(|point| point.cost == highest);
    let first = first.min_by(|one, other| one.seconds.total_cmp(&other.seconds)).copied().unwrap_or_default();
    vec![
        format!("{swatch}{}", text::line(&progress.strategy)),
        count(highest),
        seconds(first.seconds),
        count(first.executions),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(seconds: f64, cost: u64) -> ProgressPoint {
        ProgressPoint { seconds, executions: 0, cost }
    }

    #[test]
    fn lines_rise_in_steps() {
        let points = [point(2.0, 30), point(1.0, 10), point(f64::NAN, 99), point(3.0, 20)];
        let corners = steps(&points, |point| point.seconds, 5.0);
        assert_eq!(corners, [(1.0, 10.0), (2.0, 10.0), (2.0, 30.0), (3.0, 30.0), (3.0, 30.0), (5.0, 30.0)]);
        assert_eq!(steps(&[], |point| point.seconds, 5.0), []);
    }

    #[test]
    fn many_points_are_thinned() {
        let points: Vec<ProgressPoint> = (0..100_000).map(|index| point(f64::from(index), index as u64)).collect();
        let corners = steps(&points, |point| point.seconds, 0.0);
        assert!((COLUMNS..=2 * COLUMNS + 2).contains(&corners.len()), "{}", corners.len());
        assert_eq!(corners.last(), Some(&(99_999.0, 99_999.0)));
        let at_once = vec![point(0.0, u64::MAX); 100_000];
        assert!(steps(&at_once, |point| point.seconds, 0.0).len() < 3);
    }
}

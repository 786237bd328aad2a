//! The section on inputs with several costs.

use super::data::{Report, TradeOffs};
use super::markup::{Column, count, escape, table};
use super::plot::{Plot, Shape};
use super::scale::Scale;
use super::text;

/// Inputs that are listed.
const INPUTS: usize = 200;
/// Bytes of a text that are shown.
const TEXT: usize = 200;

/// Returns the content of the section, if there are inputs.
pub(super) fn section(report: &Report) -> Option<String> {
    let TradeOffs { units, inputs } = &report.trade_offs;
    let whole: Vec<_> = inputs.iter().filter(|(costs, _)| costs.len() == units.len()).collect();
    if whole.is_empty() || units.len() < 2 {
        return None;
    }
    let shown = &whole[..whole.len().min(INPUTS)];
    let columns: Vec<Column<'_>> =
        units.iter().map(|unit| Column::Number(unit)).chain([Column::Text("Text")]).collect();
    let row = |(costs, bytes): &&(Vec<u64>, Vec<u8>)| {
        let text = format!("<code>{}</code>", text::block(&bytes[..bytes.len().min(TEXT)], &[]));
        costs.iter().map(|&cost| count(cost)).chain([text]).collect()
    };
    let plot = plot(units, &whole);
    let note = super::cut_note(shown.len(), whole.len(), "inputs");
    Some(format!("<div class=plots>{plot}</div>\n{note}{}", table(&columns, shown.iter().map(row))))
}

/// Returns a plot of the first two costs of all inputs.
fn plot(units: &[String], inputs: &[&(Vec<u64>, Vec<u8>)]) -> String {
    let points: Vec<(f64, f64)> = inputs.iter().map(|(costs, _)| (costs[0] as f64, costs[1] as f64)).collect();
    let axis =
        |pick: fn(&(f64, f64)) -> f64| Scale::fitting(&points.iter().map(pick).collect::<Vec<f64>>()).with_room();
    let (across, up) = (&units[0], &units[1]);
    let plot = Plot {
        title: format!("{up} and {across} of the inputs that no other beats in all costs"),
        across: across.clone(),
        x: axis(|point| point.0),
        y: axis(|point| point.1),
        shapes: vec![Shape::Dots { series: 0, points }],
    };
    format!("<figure><figcaption>{} over {}</figcaption>{}</figure>\n", escape(up), escape(across), plot.svg())
}

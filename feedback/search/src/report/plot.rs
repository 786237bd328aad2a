//! Plots as SVG elements within the page. They have no size of their own: the page makes them as wide as it can.

use plotters::prelude::*;

use super::markup::escape;
use super::palette::{self, SERIES};
use super::scale::Scale;

/// Places of a plot are whole numbers, so that it is drawn larger than it is seen.
const FINE: i32 = 4;
/// Width and height, in units of about a pixel.
const SIZE: (i32, i32) = (480, 300);

/// A plot: two axes, and what is drawn between them.
pub(super) struct Plot {
    /// What the plot shows, for readers who cannot see it.
    pub(super) title: String,
    /// What the axis at the bottom has, with its unit.
    pub(super) across: String,
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) shapes: Vec<Shape>,
}

/// What a plot shows, in values, not in places.
pub(super) enum Shape {
    /// A line through points, in the colour of a series.
    Line { series: usize, points: Vec<(f64, f64)>, thin: bool },
    /// A dot at each point.
    Dots { series: usize, points: Vec<(f64, f64)> },
    /// Bars, each from one value to another, as high as a third.
    Bars { series: usize, bars: Vec<(f64, f64, f64)> },
}

impl Plot {
    /// The SVG element.
    pub(super) fn svg(&self) -> String {
        let mut drawing = String::new();
        // Drawing into a string fails only if the area is too small for the axes, and it has one size.
        if self.draw(&mut drawing).is_err() {
            return String::new();
        }
        // The start tag of the crate has a fixed size and the address of the namespace, which HTML does not need.
        let (_, content) = drawing.split_once('>').unwrap_or_default();
        let (width, height) = (SIZE.0 * FINE, SIZE.1 * FINE);
        let title = escape(&self.title);
        format!("<svg viewBox=\"0 0 {width} {height}\" role=img aria-label=\"{title}\"><title>{title}</title>{content}")
    }

    fn draw(&self, drawing: &mut String) -> Result<(), Box<dyn std::error::Error + '_>> {
        let size = ((SIZE.0 * FINE) as u32, (SIZE.1 * FINE) as u32);
        let root = SVGBackend::with_string(drawing, size).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin_top(8 * FINE)
            .margin_right(20 * FINE)
            .x_label_area_size(52 * FINE)
            .y_label_area_size(54 * FINE)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        chart
            .configure_mesh()
            .bold_line_style(palette::GRID.rgb().stroke_width(FINE as u32))
            .light_line_style(TRANSPARENT)
            .axis_style(palette::AXIS.rgb().stroke_width(FINE as u32))
            .label_style(("sans-serif", 18 * FINE).into_font().color(&palette::TEXT.rgb()))
            .axis_desc_style(("sans-serif", 18 * FINE).into_font().color(&palette::TEXT.rgb()))
            .set_all_tick_mark_size(4 * FINE)
            .x_label_formatter(&|place| self.x.label(*place))
            .y_label_formatter(&|place| self.y.label(*place))
            .x_desc(&self.across)
            .draw()?;
        let area = chart.plotting_area();
        for shape in &self.shapes {
            match shape {
                Shape::Line { series, points, thin } => {
                    let width = if *thin { 1 } else { 2 };
                    let style = colour(*series).stroke_width((width * FINE) as u32);
                    area.draw(&PathElement::new(self.places(points), style))?;
                }
                Shape::Dots { series, points } => {
                    for place in self.places(points) {
                        area.draw(&Circle::new(place, 4 * FINE, colour(*series).filled()))?;
                    }
                }
                Shape::Bars { series, bars } => {
                    for bar in bars.iter().filter_map(|bar| self.bar(*bar)) {
                        area.draw(&Rectangle::new(bar, colour(*series).filled()))?;
                    }
                }
            }
        }
        root.present()?;
        drop(chart);
        drop(root);
        Ok(())
    }

    /// Where points lie, without those that have no place.
    fn places(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        points.iter().filter_map(|(x, y)| Some((self.x.place(*x)?, self.y.place(*y)?))).collect()
    }

    /// The corners of a bar, which stands on the lower end of the axis, with a gap to the next.
    fn bar(&self, (left, right, height): (f64, f64, f64)) -> Option<[(f64, f64); 2]> {
        let (left, right) = (self.x.place(left)?, self.x.place(right)?);
        let gap = (right - left) * 0.06;
        Some([(left + gap, self.y.place(height)?), (right - gap, self.y.from)])
    }
}

fn colour(series: usize) -> RGBColor {
    SERIES[series % SERIES.len()].rgb()
}

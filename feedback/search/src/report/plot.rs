//! Plots as SVG elements within the page. They have no size of their own: the page makes them as wide as it can.

use std::fmt::{self, Write as _};

use super::markup::escape;
use super::palette::{AXIS, Colour, GRID, SERIES, TEXT};
use super::scale::Scale;

/// Coordinates are whole numbers, so a plot is drawn larger than it is seen: one unit is a quarter of a pixel.
const FINE: i32 = 4;
/// Width and height of a plot, in these units.
const SIZE: (i32, i32) = (480 * FINE, 300 * FINE);
/// The first and last coordinates of the area between the axes.
const LEFT: i32 = 54 * FINE;
const RIGHT: i32 = 460 * FINE - 1;
const TOP: i32 = 8 * FINE;
const BOTTOM: i32 = 248 * FINE - 1;
/// The length of the mark of a labelled line, outside of the area.
const MARK: i32 = 4 * FINE;
/// Distance of labels from an axis.
const GAP: i32 = 2 * MARK;
/// The size of letters.
const LETTERS: i32 = 58;

/// A plot: two axes, and what is drawn between them.
pub(super) struct Plot {
    /// Title that says what the plot shows, for readers who cannot see it.
    pub(super) title: String,
    /// Name of what the axis at the bottom has, with its unit.
    pub(super) across: String,
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) shapes: Vec<Shape>,
}

/// Shapes that a plot shows, in values, not in places.
pub(super) enum Shape {
    /// A line through points, in the colour of a series.
    Line { series: usize, points: Vec<(f64, f64)>, thin: bool },
    /// A dot at each point.
    Dots { series: usize, points: Vec<(f64, f64)> },
    /// Bars, each from one value to another, as high as a third.
    Bars { series: usize, bars: Vec<(f64, f64, f64)> },
}

impl Plot {
    /// Returns the SVG element.
    pub(super) fn svg(&self) -> String {
        let title = escape(&self.title);
        let (width, height) = SIZE;
        let mut svg =
            format!("<svg viewBox=\"0 0 {width} {height}\" role=img aria-label=\"{title}\"><title>{title}</title>\n");
        // Writing to a string cannot fail.
        let _ = self.draw(&mut svg);
        svg.push_str("</svg>");
        svg
    }

    fn draw(&self, svg: &mut String) -> fmt::Result {
        for x in self.x.ticks.iter().map(|tick| self.across_at(*tick)) {
            line(svg, GRID, [(x, TOP), (x, BOTTOM)])?;
        }
        for y in self.y.ticks.iter().map(|tick| self.up_at(*tick)) {
            line(svg, GRID, [(LEFT, y), (RIGHT, y)])?;
        }
        line(svg, AXIS, [(LEFT, TOP), (LEFT, BOTTOM)])?;
        line(svg, AXIS, [(LEFT, BOTTOM), (RIGHT, BOTTOM)])?;
        for tick in &self.x.ticks {
            let x = self.across_at(*tick);
            line(svg, AXIS, [(x, BOTTOM), (x, BOTTOM + MARK)])?;
            text(svg, (x, BOTTOM + GAP), "dy=\"0.76em\" text-anchor=middle", &self.x.label(*tick))?;
        }
        for tick in &self.y.ticks {
            let y = self.up_at(*tick);
            line(svg, AXIS, [(LEFT - MARK, y), (LEFT, y)])?;
            text(svg, (LEFT - GAP, y), "dy=\"0.5ex\" text-anchor=end", &self.y.label(*tick))?;
        }
        text(svg, (i32::midpoint(LEFT, RIGHT), SIZE.1), "dy=\"-0.5ex\" text-anchor=middle", &self.across)?;
        self.shapes.iter().try_for_each(|shape| self.draw_shape(svg, shape))
    }

    fn draw_shape(&self, svg: &mut String, shape: &Shape) -> fmt::Result {
        match shape {
            Shape::Line { series, points, thin } => {
                let width = if *thin { FINE } else { 2 * FINE };
                write!(svg, "<polyline fill=none stroke=\"{}\" stroke-width={width} points=\"", colour(*series))?;
                for (x, y) in self.places(points) {
                    write!(svg, "{x},{y} ")?;
                }
                svg.push_str("\"/>\n");
            }
            Shape::Dots { series, points } => {
                for (x, y) in self.places(points) {
                    let radius = 4 * FINE;
                    writeln!(svg, "<circle cx={x} cy={y} r={radius} fill=\"{}\" />", colour(*series))?;
                }
            }
            Shape::Bars { series, bars } => {
                for (left, right, top) in bars.iter().filter_map(|bar| self.bar(*bar)) {
                    let (width, height) = (right - left, BOTTOM - top);
                    writeln!(
                        svg,
                        "<rect x={left} y={top} width={width} height={height} fill=\"{}\" />",
                        colour(*series)
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Returns the coordinate of a place of the axis at the bottom.
    fn across_at(&self, place: f64) -> i32 {
        LEFT + self.x.share(place, RIGHT - LEFT)
    }

    /// Returns the coordinate of a place of the axis at the left; coordinates grow downwards.
    fn up_at(&self, place: f64) -> i32 {
        BOTTOM - self.y.share(place, BOTTOM - TOP)
    }

    /// Returns the coordinates of points, without those that have no place.
    fn places(&self, points: &[(f64, f64)]) -> impl Iterator<Item = (i32, i32)> {
        let places = points.iter().filter_map(|(x, y)| Some((self.x.place(*x)?, self.y.place(*y)?)));
        places.map(|(x, y)| (self.across_at(x), self.up_at(y)))
    }

    /// Returns the left, right and upper end of a bar, which stands on the lower end of the axis, with a gap to the
    /// next.
    fn bar(&self, (left, right, height): (f64, f64, f64)) -> Option<(i32, i32, i32)> {
        let (left, right) = (self.x.place(left)?, self.x.place(right)?);
        let gap = (right - left) * 0.06;
        Some((self.across_at(left + gap), self.across_at(right - gap), self.up_at(self.y.place(height)?)))
    }
}

fn line(svg: &mut String, colour: Colour, [(x1, y1), (x2, y2)]: [(i32, i32); 2]) -> fmt::Result {
    writeln!(svg, "<line stroke=\"{colour}\" stroke-width={FINE} x1={x1} y1={y1} x2={x2} y2={y2} />")
}

fn text(svg: &mut String, (x, y): (i32, i32), place: &str, text: &str) -> fmt::Result {
    writeln!(svg, "<text x={x} y={y} {place} font-size={LETTERS} fill=\"{TEXT}\">{}</text>", escape(text))
}

fn colour(series: usize) -> Colour {
    SERIES[series % SERIES.len()]
}

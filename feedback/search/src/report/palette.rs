//! The colours of plots and marks. A plot is drawn in the light ones; the stylesheet replaces them for dark screens.

use std::fmt::{self, Write as _};

/// A colour for light screens, and the one that stands for it on dark screens.
#[derive(Clone, Copy)]
pub(super) struct Colour {
    light: u32,
    dark: u32,
}

impl fmt::Display for Colour {
    /// Writes the colour for light screens, as `#RRGGBB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:06X}", self.light)
    }
}

/// Text of a plot.
pub(super) const TEXT: Colour = Colour { light: 0x4A5560, dark: 0xB4BDC7 };
/// Axes of a plot.
pub(super) const AXIS: Colour = Colour { light: 0x8B96A2, dark: 0x66717D };
/// The grid of a plot.
pub(super) const GRID: Colour = Colour { light: 0xE1E6EB, dark: 0x323A43 };
/// Series of a plot, and marks in a text.
pub(super) const SERIES: [Colour; 8] = [
    Colour { light: 0x1F6FB4, dark: 0x6CB2F0 },
    Colour { light: 0xC4570A, dark: 0xF5A05A },
    Colour { light: 0x2B8A3E, dark: 0x6FCF7F },
    Colour { light: 0x7A4FB5, dark: 0xB79AF0 },
    Colour { light: 0xC92A5A, dark: 0xF2789B },
    Colour { light: 0x0B7A83, dark: 0x4FC7D0 },
    Colour { light: 0x7D6608, dark: 0xD9C14A },
    Colour { light: 0x5F6B76, dark: 0xA9B3BD },
];

/// Returns rules of the stylesheet: the variables `--series-0` and so on, and the colours of plots on dark screens.
pub(super) fn css() -> String {
    let mut css = String::from(":root{");
    for (index, colour) in SERIES.iter().enumerate() {
        let _ = write!(css, "--series-{index}:#{:06X};", colour.light);
    }
    css.push_str("}\n@media(prefers-color-scheme:dark){\n:root{");
    for (index, colour) in SERIES.iter().enumerate() {
        let _ = write!(css, "--series-{index}:#{:06X};", colour.dark);
    }
    css.push_str("}\n");
    for colour in SERIES.iter().chain(&[TEXT, AXIS, GRID]) {
        let Colour { light, dark } = colour;
        let _ = writeln!(
            css,
            "svg [fill=\"#{light:06X}\"]{{fill:#{dark:06X}}}svg [stroke=\"#{light:06X}\"]{{stroke:#{dark:06X}}}"
        );
    }
    css.push_str("}\n");
    for index in 0..SERIES.len() {
        let _ = writeln!(css, ".series-{index}{{--own:var(--series-{index})}}");
    }
    css
}

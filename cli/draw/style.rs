//! The stylesheet of diagrams. Colours are written out, because not all that reads SVG knows variables.

/// Colours: the name in the stylesheet, the colour on light screens, and the one on dark screens.
const COLOURS: [(&str, &str, &str); 15] = [
    ("page", "#fff", "#14181d"),
    ("text", "#1d252d", "#e3e8ed"),
    ("dim", "#5b6671", "#9aa5b1"),
    ("rail", "#53606d", "#8b98a5"),
    ("link", "#0b5cad", "#78b8f5"),
    ("literal", "#e6f4e8", "#173322"),
    ("literal-line", "#2b8a3e", "#58b26b"),
    ("class", "#fdf0dc", "#3a2a10"),
    ("class-line", "#b86a00", "#e0a458"),
    ("rule", "#e4eefb", "#14304d"),
    ("rule-line", "#1f6fb4", "#5fa8ea"),
    ("derived", "#f1e9fb", "#2d2143"),
    ("derived-line", "#7a4fb5", "#b79af0"),
    ("recursive", "#c92a5a", "#f2789b"),
    ("off", "#b3123a", "#ff8aa5"),
];

/// Returns the stylesheet: its rules in light colours, and again those with colours, in dark ones.
pub fn of_diagrams() -> String {
    let rules = include_str!("svg.css");
    let (mut light, mut dark) = (rules.to_string(), String::new());
    for rule in rules.split_inclusive("}\n").filter(|rule| rule.contains("var(--")) {
        dark += rule;
    }
    for (name, on_light, on_dark) in COLOURS {
        let variable = format!("var(--{name})");
        light = light.replace(&variable, on_light);
        dark = dark.replace(&variable, on_dark);
    }
    format!("{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_colours_are_known() {
        let style = of_diagrams();
        assert!(!style.contains("var("), "{style}");
        assert_eq!(style.matches('{').count(), style.matches('}').count());
    }
}

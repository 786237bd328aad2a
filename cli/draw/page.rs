//! Drawings as files: a page with all of them, or diagrams alone as SVG.

use std::fmt::Write as _;

use gramjet_compiler::ast;

use super::block::Block;
use super::corpus::Usage;
use super::diagram::{Marks, diagram, visible};
use super::graph;
use super::rules::Rules;
use super::style;
use super::svg::{self, Drawn};
use super::words::{self, escape};

/// Width of diagrams on narrow screens, in pixels.
pub const NARROW: i32 = 346;
/// Width of diagrams on wide screens, and in files of their own.
pub const WIDE: i32 = 1000;
/// The most names in a list of rules.
const MOST_NAMES: usize = 40;
/// The most characters of a rule as text.
const MOST_TEXT: usize = 4000;
/// The most rules that are drawn at once.
pub const MOST_RULES: usize = 5000;
/// The most bytes of a drawing.
pub const MOST_BYTES: usize = 64 << 20;

/// The drawing would have more bytes than a reader can open.
#[derive(Debug)]
pub struct TooLarge;

/// A drawing in the making: the rules that it shows, and how.
pub struct Drawing<'a> {
    /// The rules of the grammar.
    pub rules: &'a Rules<'a>,
    /// The rules that are drawn, by number.
    pub shown: &'a [usize],
    /// The parts that a corpus uses, and the description of the corpus.
    pub usage: Option<(&'a Usage, String)>,
    /// Whether weights are shown from the beginning.
    pub has_weights: bool,
}

impl Drawing<'_> {
    /// Returns the name of a rule, as the user wrote it and in characters that can be seen.
    pub fn name(&self, rule: usize) -> String {
        words::name(self.rules.name(rule))
    }

    /// Returns the address of a rule in the drawing, if it is drawn.
    pub fn link(&self, rule: usize) -> Option<String> {
        self.shown.binary_search(&rule).ok().map(|_| format!("#{}", self.id(rule)))
    }

    fn id(&self, rule: usize) -> String {
        let name = self.rules.name(rule);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        match !name.is_empty() && name.chars().all(is_plain) {
            true => format!("rule-{name}"),
            // No plain name has a colon.
            false => format!("rule:{rule}"),
        }
    }

    fn diagram(&self, rule: usize, width: i32, has_weights: bool) -> Vec<Block> {
        let usage = self.usage.as_ref().map(|(usage, _)| *usage);
        diagram(self.rules, rule, width, Marks { usage, has_weights })
    }

    /// Returns true if the corpus uses a rule; `None` without a corpus.
    fn is_used(&self, rule: usize) -> Option<bool> {
        self.usage.as_ref().map(|(usage, _)| usage.rule(rule))
    }

    /// Returns the diagrams as an SVG file, one below the other; with their names, if there are several.
    pub fn svg(&self) -> Result<String, TooLarge> {
        let (mut elements, mut width, mut height) = (String::new(), 0, 0);
        for &rule in self.shown {
            let drawn =
                svg::draw(&self.diagram(rule, WIDE, self.has_weights), self.is_used(rule), &|rule| self.link(rule));
            let head = if self.shown.len() > 1 { 30 } else { 0 };
            let _ = write!(elements, "<g id=\"{}\" transform=\"translate(0 {height})\">", escape(&self.id(rule)));
            if head > 0 {
                let name = escape(&self.name(rule));
                let _ = writeln!(elements, "<text class=\"heading\" x=\"6\" y=\"22\">{name}</text>");
            }
            let _ = writeln!(elements, "<g transform=\"translate(0 {head})\">\n{}</g></g>", drawn.elements);
            width = width.max(drawn.width);
            height += head + drawn.height;
            within(&elements)?;
        }
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<style>\n{}</style>\n\
             <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n{elements}</svg>\n",
            style::of_diagrams()
        ))
    }

    /// Returns a page with all drawings, and with samples, which are HTML.
    pub fn html(&self, title: &str, samples: &str) -> Result<String, TooLarge> {
        let mut page = head(&escape(&visible(title)));
        page += &self.summary();
        page += &self.links(!samples.is_empty());
        page += &self.switch();
        page += "<main>\n<section id=\"rules\">\n<h2>Rules</h2>\n";
        page += &legend(self.usage.is_some());
        for &rule in self.shown {
            self.rule(rule, &mut page);
            within(&page)?;
        }
        page += "</section>\n<section id=\"graph\">\n<h2>Graph</h2>\n";
        self.graph(&mut page);
        page += "</section>\n";
        if !samples.is_empty() {
            page += "<section id=\"samples\">\n<h2>Samples</h2>\n<p class=\"dim\">Inputs of the grammar, each with its \
                     tree. A part of a text names its rules when the pointer is on it.</p>\n";
            page += samples;
            page += "</section>\n";
        }
        page += "</main>\n</body>\n</html>\n";
        within(&page).map(|()| page)
    }

    /// Returns the box that shows weights, if there are some. What its state changes must follow it.
    fn switch(&self) -> String {
        if !self.shown.iter().any(|&rule| self.is_weighted(rule)) {
            return String::new();
        }
        let checked = if self.has_weights { " checked=\"checked\"" } else { "" };
        format!(
            "<input type=\"checkbox\" id=\"show-weights\"{checked}/><label for=\"show-weights\">Show the weights of \
             alternatives</label>\n"
        )
    }

    fn summary(&self) -> String {
        let (rules, shown) = (self.rules, self.shown);
        let recursive = shown.iter().filter(|&&rule| rules.is_recursive(rule)).count();
        let unreachable = shown.iter().filter(|&&rule| !rules.is_reached(rule)).count();
        let of = match rules.count() - shown.len() {
            0 => String::new(),
            _ => format!(" of {}", rules.count()),
        };
        let noun = if rules.count() == 1 { "rule" } else { "rules" };
        let mut summary = format!("<p class=\"dim\">{}{of} {noun}", shown.len());
        if rules.count() > 0 {
            let _ = write!(summary, ", from <code>{}</code>", self.linked(rules.start));
        }
        let _ = write!(summary, "; {recursive} recursive, {unreachable} unreachable");
        if let Some((usage, corpus)) = &self.usage {
            let (used, all) = usage.totals();
            let _ = write!(
                summary,
                "; <span class=\"off\">{} of {all} alternatives</span> are not used by {}",
                all - used,
                escape(&visible(corpus))
            );
        }
        summary + "</p>\n"
    }

    fn links(&self, has_samples: bool) -> String {
        let samples = if has_samples { "<a href=\"#samples\">Samples</a>\n" } else { "" };
        let mut links = format!("<nav><a href=\"#rules\">Rules</a>\n<a href=\"#graph\">Graph</a>\n{samples}</nav>\n");
        if self.shown.len() > 3 {
            let open = if self.shown.len() <= MOST_NAMES { " open=\"open\"" } else { "" };
            let _ = write!(links, "<details{open}><summary>All rules</summary>\n<div class=\"names\">\n");
            let mut sorted: Vec<(String, usize)> = self.shown.iter().map(|&rule| (self.name(rule), rule)).collect();
            sorted.sort();
            sorted.into_iter().for_each(|(_, rule)| self.chip(rule, &mut links));
            links += "</div></details>\n";
        }
        links
    }

    /// Writes the name of a rule, with a link, marked if it is recursive or unreachable.
    fn chip(&self, rule: usize, html: &mut String) {
        let mut class = String::new();
        class += if self.rules.is_recursive(rule) { "recursive " } else { "" };
        class += if self.rules.is_reached(rule) { "" } else { "unreachable" };
        let _ = writeln!(html, "<span class=\"{}\">{}</span>", class.trim_end(), self.linked(rule));
    }

    /// Returns the name of a rule as HTML, with a link if it is drawn.
    fn linked(&self, rule: usize) -> String {
        let name = escape(&self.name(rule));
        match self.link(rule) {
            Some(link) => format!("<a href=\"{}\">{name}</a>", escape(&link)),
            None => name,
        }
    }

    fn is_weighted(&self, rule: usize) -> bool {
        let mut has_weights = false;
        self.rules.grammar.rules[rule].body.each(&mut |expr| {
            has_weights |= expr.as_choice().is_some_and(|all| all.iter().any(|one| one.weight.is_some()));
        });
        has_weights
    }

    /// Writes a rule: its name, its diagram, what uses it, its text.
    fn rule(&self, rule: usize, page: &mut String) {
        let rules = self.rules;
        let class = if rules.is_reached(rule) { "one" } else { "one unreachable" };
        let (id, name) = (escape(&self.id(rule)), self.linked(rule));
        let _ = write!(page, "<article class=\"{class}\" id=\"{id}\">\n<h3>{name}{}</h3>\n", self.badges(rule));
        *page += "<div class=\"scroll\">\n";
        let (wide, narrow) = (self.diagram(rule, WIDE, true), self.diagram(rule, NARROW, true));
        let draw =
            |is_wide| svg::draw(if is_wide { &wide } else { &narrow }, self.is_used(rule), &|rule| self.link(rule));
        self.both(&format!("Diagram of {}", self.name(rule)), &draw, page);
        *page += "</div>\n";
        if !rules.used_by[rule].is_empty() {
            let _ = writeln!(page, "<p class=\"dim\">Used by {}</p>", self.list(&rules.used_by[rule]));
        }
        let text = escape(&self.text(rule));
        let _ = writeln!(page, "<details><summary>As text</summary><pre>{text}</pre></details>\n</article>");
    }

    fn badges(&self, rule: usize) -> String {
        let badges = [
            (rule == self.rules.start, "start", "start"),
            (self.rules.is_recursive(rule), "recursive", "\u{21BB} recursive"),
            (!self.rules.is_reached(rule), "unreachable", "unreachable"),
            (self.is_used(rule) == Some(false), "unused", "never used"),
        ];
        let badges = badges.into_iter().filter(|(is_so, ..)| *is_so);
        badges.map(|(_, class, badge)| format!("<span class=\"badge {class}\">{badge}</span>")).collect()
    }

    /// Returns a rule in the notation of `gramjet dump ast`; its beginning, if it is long.
    fn text(&self, rule: usize) -> String {
        let text = visible(&ast::text(&self.rules.grammar.rules[rule].body));
        let cut = words::fitting(&text, MOST_TEXT);
        let dots = if cut.len() < text.len() { " \u{2026}" } else { "" };
        format!("{} ::= {cut}{dots}", self.name(rule))
    }

    /// Writes a drawing for narrow and for wide screens; once, if both are equal.
    fn both(&self, label: &str, draw: &dyn Fn(bool) -> Drawn, page: &mut String) {
        let (wide, narrow) = (draw(true), draw(false));
        match wide.elements == narrow.elements {
            true => embed("drawing", label, &wide, page),
            false => {
                embed("drawing narrow", label, &narrow, page);
                embed("drawing wide", label, &wide, page);
            }
        }
    }

    fn list(&self, rules: &[usize]) -> String {
        let mut names: Vec<String> = rules.iter().take(MOST_NAMES).map(|&rule| self.linked(rule)).collect();
        if rules.len() > MOST_NAMES {
            names.push(format!("{} more", rules.len() - MOST_NAMES));
        }
        names.join(", ")
    }

    fn graph(&self, page: &mut String) {
        let (rules, shown) = (self.rules, self.shown);
        let form = graph::form(rules, shown);
        let (edges, between) = match form {
            graph::Form::Levels => ("", ""),
            _ => (" Dashed edges go up.", ", and the edges between them"),
        };
        let _ = writeln!(
            page,
            "<p class=\"legend\"><span>From top to bottom: the start rule, the rules that it uses, and so on.{edges}</span>\
             <span class=\"off\">Red: recursive rules (\u{21BB}){between}.</span>\
             <span>Unreachable rules are last and dim.</span></p>"
        );
        if form != graph::Form::Levels {
            *page += "<div class=\"scroll\">\n";
            let draw =
                |is_wide| graph::draw(rules, shown, if is_wide { WIDE } else { NARROW }, &|rule| self.link(rule));
            match form {
                graph::Form::AnyWidth => self.both("Graph of rules", &draw, page),
                _ => embed("drawing wide", "Graph of rules", &draw(true), page),
            }
            *page += "</div>\n";
        }
        if form != graph::Form::AnyWidth {
            self.levels(if form == graph::Form::Levels { "" } else { " narrow" }, page);
        }
    }

    /// Writes the levels of the graph, where it has too many edges for a drawing.
    fn levels(&self, class: &str, page: &mut String) {
        let _ = writeln!(
            page,
            "<div class=\"levels{class}\"><p class=\"dim\">Its edges are too many to be drawn here. Each rule says what \
             uses it.</p>"
        );
        for level in graph::levels(self.rules, self.shown) {
            *page += "<div class=\"level names\">\n";
            level.into_iter().for_each(|rule| self.chip(rule, page));
            *page += "</div>\n";
        }
        *page += "</div>\n";
    }
}

/// Returns the beginning of a page. The title is HTML.
fn head(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{title}</title>\n\
         <style>\n{}{}</style>\n</head>\n<body>\n<h1>{title}</h1>\n",
        include_str!("page.css"),
        style::of_diagrams()
    )
}

fn within(text: &str) -> Result<(), TooLarge> {
    if text.len() > MOST_BYTES { Err(TooLarge) } else { Ok(()) }
}

fn embed(class: &str, label: &str, drawn: &Drawn, page: &mut String) {
    let Drawn { elements, width, height } = drawn;
    let _ = writeln!(
        page,
        "<svg class=\"{class}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"group\" \
         aria-label=\"{}\">\n{elements}</svg>",
        escape(label)
    );
}

fn legend(has_corpus: bool) -> String {
    let off = if has_corpus { "<span class=\"off\">Dashed red: the corpus never uses it.</span>" } else { "" };
    format!(
        "<p class=\"legend\"><span>Green: a literal.</span><span>Orange: one character of a class.</span>\
         <span>Blue: a rule.</span><span>Violet: labels, and what follows from them.</span>{off}</p>\n"
    )
}

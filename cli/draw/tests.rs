//! Tests of drawings: what diagrams are made of, their SVG, and that pages are well-formed whatever a grammar says.

use expect_test::{Expect, expect};
use gramjet_compiler::ast::Grammar;
use gramjet_compiler::formats::{self, FormatOptions};
use gramjet_compiler::{Diagnostics, Options, SourceFile, compile};
use gramjet_parse::{Budget, Parser};

use super::block::{AROUND, Block, Part};
use super::diagram::{Marks, caption, diagram};
use super::page::{Drawing, NARROW, WIDE};
use super::rules::Rules;
use super::{samples, svg};

fn read(format: &str, text: &str) -> Grammar {
    let mut diagnostics = Diagnostics::default();
    let format = formats::by_name(format).expect("a format");
    let grammar = format.parse(&SourceFile::new("g", text), &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{text}");
    grammar
}

/// Returns what a block is made of, as text.
fn outline(block: &Block) -> String {
    let all = |blocks: &[Block], between: &str| blocks.iter().map(outline).collect::<Vec<_>>().join(between);
    match &block.part {
        Part::Rail => "()".to_string(),
        Part::Leaf(leaf) => leaf.lines.join("\u{23CE}"),
        Part::Row(blocks) => all(blocks, " "),
        Part::Rows(rows) => format!("<{}>", all(rows, " / ")),
        Part::Choice(branches, _) => {
            let branch = |branch: &super::block::Branch| {
                let weight = branch.weight.as_ref().map_or(String::new(), |weight| format!("{weight} "));
                weight + &outline(&branch.block)
            };
            format!("({})", branches.iter().map(branch).collect::<Vec<_>>().join(" | "))
        }
        Part::Skip(inner, _) => format!("{{{}}}?", outline(inner)),
        Part::Loop(inner, remark) => format!("{{{}}}+ {remark}", outline(inner)).trim_end().to_string(),
        Part::Frame(inner, caption) => format!("{caption}[{}]", outline(inner)),
    }
}

fn blocks(grammar: &Grammar, rule: usize, width: i32) -> Vec<Block> {
    diagram(&Rules::new(grammar), rule, width, Marks { usage: None, has_weights: true })
}

fn check(text: &str, width: i32, expected: Expect) {
    let lines: Vec<String> = blocks(&read("ebnf", text), 0, width).iter().map(outline).collect();
    expected.assert_eq(&lines.join("\n").replace('\u{A0}', " "));
}

/// Returns a page without its stylesheet.
fn page(grammar: &Grammar, samples: &str) -> String {
    let rules = Rules::new(grammar);
    let shown: Vec<usize> = (0..rules.count()).collect();
    let drawing = Drawing { rules: &rules, shown: &shown, usage: None, has_weights: false };
    let page = drawing.html("Grammar g", samples).expect("it is small");
    let (before, after) = page.split_once("<style>").expect("a stylesheet");
    before.to_string() + after.split_once("</style>\n").expect("its end").1
}

/// Checks that a text is well-formed XML, whose elements are closed and whose attributes are quoted.
pub fn assert_well_formed(name: &str, text: &str) {
    let (mut open, mut rest) = (Vec::new(), text.strip_prefix("<!DOCTYPE html>\n").unwrap_or(text));
    let is_escaped = |text: &str| {
        let mut parts = text.split('&');
        let first = parts.next().unwrap_or_default();
        !first.contains(['<', '>']) && parts.all(|part| part.split_once(';').is_some_and(|(name, _)| name.len() < 6))
    };
    while let Some((before, tail)) = rest.split_once('<') {
        assert!(is_escaped(before), "{name}: {before}");
        assert!(before.chars().all(|character| character == '\n' || !character.is_control()), "{name}: {before:?}");
        let (tag, after) = tail.split_once('>').unwrap_or_else(|| panic!("{name}: <{tail}"));
        rest = after;
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{name}");
            continue;
        }
        let mut pieces = tag.trim_end_matches('/').split('"');
        let named: String = pieces.clone().step_by(2).collect();
        let words = named.split([' ', '\n']).filter(|word| !word.is_empty());
        assert!(words.clone().skip(1).all(|word| word.ends_with('=')), "{name}: <{tag}>");
        assert!(pieces.by_ref().skip(1).step_by(2).all(is_escaped), "{name}: <{tag}>");
        if !tag.ends_with('/') {
            open.extend(tag.split([' ', '\n']).take(1));
        }
        if tag == "style" {
            rest = &rest[rest.find("</style>").expect("its end")..];
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{name}: {open:?} {rest}");
}

#[test]
fn expressions_are_drawn_as_they_are_written() {
    check(
        "s ::= 'a' ('b' | [0-9a-f]){2,3} s? '' ('c' 'd')*",
        WIDE,
        expect![[r#""a" {("b" | [0-9 a-f])}+ 2 to 3 times {s}? () {{"c" "d"}+}?"#]],
    );
    check("s ::= 'a' @ 3 | 'b' @ 0.5 | () | 'c' @ 0", WIDE, expect![[r#"(@ 3 "a" | @ 0.5 "b" | () | @ 0 "c")"#]]);
    check(
        "s ::= 'x'+ 'y'{4} 'z'{2,} 'w'{0,5}",
        WIDE,
        expect![[r#"{"x"}+ {"y"}+ 4 times {"z"}+ 2 times or more {{"w"}+ at most 5 times}?"#]],
    );
    check(
        "s ::= n:$u8(len(body)) body:([a-z] k:[0-9] 'x'{count(k)}) $body",
        WIDE,
        expect![[r#"n:[$u8(len(body))] body:[[a-z] k:[[0-9]] {"x"}+ {count(k)}] $body"#]],
    );
    check(
        "s ::= 'a b\"\\n\\t\\\\' [^\"\\\\]",
        WIDE,
        expect![[r#""a b\"\n\t\\" [^ U+0000-U+0008 U+000B U+000C U+000E-U+001F " \\ U+FFFE U+FFFF]"#]],
    );
}

/// A kind of expression without a form of its own is a frame with such a caption around its parts.
#[test]
fn kinds_are_told_without_their_parts() {
    let told = |text: &str| {
        let grammar = read("ebnf", &format!("s ::= {text}"));
        caption(&grammar.rules[0].body)
    };
    assert_eq!(told("n:('a' 'b')"), "n:(\u{2026})");
    assert_eq!(told("('a' 'b'){3}"), "(\u{2026}){3}");
    assert_eq!(told(&format!("{}:'a'", "n".repeat(50))), "a labelled part");
}

#[test]
fn letters_of_either_case_are_one_literal() {
    check("s ::= [sS] [eE] [tT] ' ' [0-9] [xX]", WIDE, expect![[r#""set " any case [0-9] [X x]"#]]);
}

#[test]
fn narrow_diagrams_have_rows_and_parts() {
    let long = "s ::= 'one' 'two' 'three' 'four' 'five' 'six' 'seven' 'eight' 'nine' 'ten'";
    check(long, 300, expect![[r#"<"one" "two" "three" / "four" "five" "six" / "seven" "eight" / "nine" "ten">"#]]);
    check(long, WIDE, expect![[r#""one" "two" "three" "four" "five" "six" "seven" "eight" "nine" "ten""#]]);
    let deep = "s ::= 'a' | ('b' | ('c' | ('d' | ('e' | ('f' | 'g' s) s) s) s) s) s";
    check(
        deep,
        300,
        expect![[r#"
        ("a" | ("b" | part 1) s)
        ("c" | part 2 s) s
        ("d" | ("e" | part 3) s)
        ("f" | "g" s) s"#]],
    );
}

#[test]
fn what_is_left_out_is_said() {
    let many: Vec<String> = (0..3000).map(|number| format!("'k{number}' s")).collect();
    let grammar = read("ebnf", &format!("s ::= {} | 'x'", many.join(" | ")));
    let choice = outline(&blocks(&grammar, 0, WIDE)[0]);
    assert!(choice.ends_with("\"k119\" s | \u{2026} 2881 more alternatives are not drawn)"), "{choice}");
    let grammar = read("ebnf", &format!("s ::= {}", "'x' ".repeat(2000)));
    let sequence = outline(&blocks(&grammar, 0, WIDE)[0]);
    assert!(sequence.ends_with("\u{2026} 1700 more parts are not drawn>"), "{sequence}");
    let page = page(&read("ebnf", &format!("s ::= '{}'", "x".repeat(9000))), "");
    assert!(page.contains("x \u{2026}</pre>") && page.len() < 15_000, "{page}");
    let nested = (0..90).fold("'x'".to_string(), |inner, _| format!("('a' | {inner} 'y')"));
    let drawn = blocks(&read("ebnf", &format!("s ::= {nested}")), 0, NARROW);
    assert!((10..62).contains(&drawn.len()), "{}", drawn.len());
    check(
        &format!("s ::= '{}'", "long text ".repeat(100)),
        300,
        expect![[
            r#""long text long text long ⏎text long text long text ⏎long text long text long ⏎text long text long text …"#
        ]],
    );
}

#[test]
fn a_diagram_is_few_elements() {
    let grammar = read("ebnf", "s ::= 'a' s? | [0-9]+ @ 2");
    let drawn = svg::draw(&blocks(&grammar, 0, WIDE), None, &|rule| Some(format!("#r{rule}")));
    expect![[r##"
        <path class="rail" d="M6 18v16m4-16v16m0-8H24M24 26H65M167 26H181M105 26h10M115 26a7 7 0 0 0 7-7V15a7 7 0 0 1 7-7H153a7 7 0 0 1 7 7V19a7 7 0 0 0 7 7M115 26h14M153 26H167M24 26a7 7 0 0 1 7 7V51a7 7 0 0 0 7 7H65M135 58H167a7 7 0 0 0 7-7V33a7 7 0 0 1 7-7M65 58H72M128 58H135M128 58a7 7 0 0 1 7 7V69a7 7 0 0 1-7 7H72a7 7 0 0 1-7-7V65a7 7 0 0 1 7-7M181 26h14m0-8v16m4-16v16"/>
        <g class="literal"><rect x="65" y="14" width="40" height="24" rx="12"/>
        <text x="85" y="30">&quot;a&quot;</text>
        </g>
        <a class="rule" href="#r0"><rect x="129" y="14" width="24" height="24" rx="0"/>
        <text x="141" y="30">s</text>
        </a>
        <text class="weight" x="38" y="54">@ 2</text>
        <path class="arrow" d="M96 76l7-4v8z"/>
        <g class="class"><rect x="72" y="46" width="56" height="24" rx="12"/>
        <text x="100" y="62">[0-9]</text>
        </g>
    "##]].assert_eq(&drawn.elements);
}

#[test]
fn a_page_has_rules_graph_and_links() {
    let grammar = read("ebnf", "s ::= a s | 'x' @ 2\na ::= 'y'\nb ::= s");
    expect![[r##"
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <title>Grammar g</title>
        </head>
        <body>
        <h1>Grammar g</h1>
        <p class="dim">3 rules, from <code><a href="#rule-s">s</a></code>; 1 recursive, 1 unreachable</p>
        <nav><a href="#rules">Rules</a>
        <a href="#graph">Graph</a>
        </nav>
        <input type="checkbox" id="show-weights"/><label for="show-weights">Show the weights of alternatives</label>
        <main>
        <section id="rules">
        <h2>Rules</h2>
        <p class="legend"><span>Green: a literal.</span><span>Orange: one character of a class.</span><span>Blue: a rule.</span><span>Violet: labels, and what follows from them.</span></p>
        <article class="one" id="rule-s">
        <h3><a href="#rule-s">s</a><span class="badge start">start</span><span class="badge recursive">↻ recursive</span></h3>
        <div class="scroll">
        <svg class="drawing" width="161" height="68" viewBox="0 0 161 68" role="group" aria-label="Diagram of s">
        <path class="rail" d="M6 10v16m4-16v16m0-8H24M24 18H65M123 18H137M89 18h10M24 18a7 7 0 0 1 7 7V43a7 7 0 0 0 7 7H65M105 50H123a7 7 0 0 0 7-7V25a7 7 0 0 1 7-7M137 18h14m0-8v16m4-16v16"/>
        <a class="rule" href="#rule-a"><rect x="65" y="6" width="24" height="24" rx="0"/>
        <text x="77" y="22">a</text>
        </a>
        <a class="rule" href="#rule-s"><rect x="99" y="6" width="24" height="24" rx="0"/>
        <text x="111" y="22">s</text>
        </a>
        <text class="weight" x="38" y="46">@ 2</text>
        <g class="literal"><rect x="65" y="36" width="40" height="26" rx="12"/>
        <text x="85" y="52">&quot;x&quot;</text>
        </g>
        </svg>
        </div>
        <p class="dim">Used by <a href="#rule-s">s</a>, <a href="#rule-b">b</a></p>
        <details><summary>As text</summary><pre>s ::= a s | &quot;x&quot; @ 2</pre></details>
        </article>
        <article class="one" id="rule-a">
        <h3><a href="#rule-a">a</a></h3>
        <div class="scroll">
        <svg class="drawing" width="88" height="36" viewBox="0 0 88 36" role="group" aria-label="Diagram of a">
        <path class="rail" d="M6 10v16m4-16v16m0-8H24M64 18h14m0-8v16m4-16v16"/>
        <g class="literal"><rect x="24" y="6" width="40" height="24" rx="12"/>
        <text x="44" y="22">&quot;y&quot;</text>
        </g>
        </svg>
        </div>
        <p class="dim">Used by <a href="#rule-s">s</a></p>
        <details><summary>As text</summary><pre>a ::= &quot;y&quot;</pre></details>
        </article>
        <article class="one unreachable" id="rule-b">
        <h3><a href="#rule-b">b</a><span class="badge unreachable">unreachable</span></h3>
        <div class="scroll">
        <svg class="drawing" width="72" height="36" viewBox="0 0 72 36" role="group" aria-label="Diagram of b">
        <path class="rail" d="M6 10v16m4-16v16m0-8H24M48 18h14m0-8v16m4-16v16"/>
        <a class="rule" href="#rule-s"><rect x="24" y="6" width="24" height="24" rx="0"/>
        <text x="36" y="22">s</text>
        </a>
        </svg>
        </div>
        <details><summary>As text</summary><pre>b ::= s</pre></details>
        </article>
        </section>
        <section id="graph">
        <h2>Graph</h2>
        <p class="legend"><span>From top to bottom: the start rule, the rules that it uses, and so on. Dashed edges go up.</span><span class="off">Red: recursive rules (↻), and the edges between them.</span><span>Unreachable rules are last and dim.</span></p>
        <div class="scroll">
        <svg class="drawing narrow" width="346" height="212" viewBox="0 0 346 212" role="group" aria-label="Graph of rules">
        <g class="edge"><title>s → a</title><path d="M166 48C166 71 173 71 173 94"/><path class="head" d="M173 94l-4-7h8z"/></g>
        <g class="edge back recursive"><title>s → s</title><path d="M193 31c14-8 14 16 1 10"/><path class="head" d="M193 41l7-2v7z"/></g>
        <g class="edge back"><title>b → s</title><path d="M173 164C173 106 173 106 173 48"/><path class="head" d="M173 48l-4 7h8z"/></g>
        <a class="rule recursive start" href="#rule-s"><title>s</title><rect x="153" y="24" width="40" height="24" rx="3"/><text x="173" y="40">s ↻</text></a>
        <a class="rule" href="#rule-a"><title>a</title><rect x="161" y="94" width="24" height="24" rx="3"/><text x="173" y="110">a</text></a>
        <a class="rule unreachable" href="#rule-b"><title>b</title><rect x="161" y="164" width="24" height="24" rx="3"/><text x="173" y="180">b</text></a>
        </svg>
        <svg class="drawing wide" width="1000" height="212" viewBox="0 0 1000 212" role="group" aria-label="Graph of rules">
        <g class="edge"><title>s → a</title><path d="M493 48C493 71 500 71 500 94"/><path class="head" d="M500 94l-4-7h8z"/></g>
        <g class="edge back recursive"><title>s → s</title><path d="M520 31c14-8 14 16 1 10"/><path class="head" d="M520 41l7-2v7z"/></g>
        <g class="edge back"><title>b → s</title><path d="M500 164C500 106 500 106 500 48"/><path class="head" d="M500 48l-4 7h8z"/></g>
        <a class="rule recursive start" href="#rule-s"><title>s</title><rect x="480" y="24" width="40" height="24" rx="3"/><text x="500" y="40">s ↻</text></a>
        <a class="rule" href="#rule-a"><title>a</title><rect x="488" y="94" width="24" height="24" rx="3"/><text x="500" y="110">a</text></a>
        <a class="rule unreachable" href="#rule-b"><title>b</title><rect x="488" y="164" width="24" height="24" rx="3"/><text x="500" y="180">b</text></a>
        </svg>
        </div>
        </section>
        </main>
        </body>
        </html>
    "##]].assert_eq(&page(&grammar, ""));
}

/// A grammar whose names and literals are meant to break out of the page.
const HOSTILE: &str = r#"{"<start>": ["<a\"'&b>", "<b\u202ed>", "</style", "</title", "\u0000\u2066x", "<é→>"],
"<a\"'&b>": ["'\"&<script", "--> alert(1)"], "<b\u202ed>": ["<", "<!--", "]]>", "<start>\u200b"], "<é→>": ["\u0085\ud83d\ude00"]}"#;

#[test]
fn hostile_grammars_stay_text() {
    let grammar = read("fuzzingbook", HOSTILE);
    let compiled = compile(&SourceFile::new("g.json", HOSTILE), &Options::default()).expect("a grammar").0;
    let rules = Rules::new(&grammar);
    let number =
        |instance: &gramjet_compiler::reference::Instance| rules.number(&compiled.lowered.rule(instance.rule).name);
    let samples = samples::samples(&compiled, Some(8), 5, 0);
    assert_eq!(samples.len(), 5);
    let name = |rule| super::words::name(rules.name(rule));
    let trees: String = samples.iter().map(|sample| samples::html(sample, &number, &name, &|_| None)).collect();
    let page = page(&grammar, &trees);
    assert_well_formed("hostile", &page);
    assert!(!page.contains("<script") && !page.contains("<!--"), "{page}");
    for hidden in ['\u{202E}', '\u{2066}', '\u{200B}', '\u{85}', '\0'] {
        assert!(!page.contains(hidden), "{hidden:?}");
    }
    assert!(page.contains("a&quot;&#39;&amp;b") && page.contains("b\\u{202e}d"), "{page}");
}

/// Returns a diagram as an SVG file.
fn svg_file(grammar: &Grammar, shown: &[usize]) -> String {
    let rules = Rules::new(grammar);
    let drawing = Drawing { rules: &rules, shown, usage: None, has_weights: true };
    drawing.svg().expect("it is small")
}

#[test]
fn svg_files_conform_to_the_grammar_of_xml() {
    let xml = gramjet_grammars::by_name("xml").expect("it ships");
    let options = Options { reading: FormatOptions::of_others(), ..Options::default() };
    let xml = compile(&SourceFile::new("xml.ebnf", xml.text), &options).expect("a grammar").0;
    let parser = Parser::new(&xml.lowered);
    for (format, text) in [("fuzzingbook", HOSTILE), ("ebnf", "s ::= n:$u8(len(b)) b:[a-z]* @ 2 | 'x' s?\nt ::= s+")] {
        let grammar = read(format, text);
        for shown in [&[0][..], &[0, 1]] {
            let file = svg_file(&grammar, shown);
            assert_well_formed(text, &file);
            let parsed = parser.parse(file.as_bytes(), &Budget::default());
            assert!(parsed.is_ok(), "{:?}: {file}", parsed.err());
        }
    }
}

/// Some fonts have these characters in a width of their own.
#[test]
fn lines_of_unusual_characters_are_fitted() {
    let file = svg_file(&read("ebnf", "s ::= [\u{1F88}-\u{1F8F}\u{1F98}] 'plain'"), &[0]);
    assert!(
        file.contains("textLength=\"56\" lengthAdjust=\"spacingAndGlyphs\">[\u{1F88}-\u{1F8F} \u{1F98}]<"),
        "{file}"
    );
    assert_eq!(file.matches("textLength").count(), 1, "{file}");
}

#[test]
fn shipped_grammars_fit_into_their_pages() {
    for shipped in gramjet_grammars::SHIPPED {
        let grammar = read("ebnf", shipped.text);
        assert_well_formed(shipped.name, &page(&grammar, ""));
        for rule in 0..grammar.rules.len() {
            for width in [NARROW, WIDE] {
                let widest = blocks(&grammar, rule, width).iter().map(|block| block.size.width + AROUND).max();
                assert!(widest <= Some(width), "{}: {}: {widest:?}", shipped.name, grammar.rules[rule].name.text);
            }
        }
    }
}

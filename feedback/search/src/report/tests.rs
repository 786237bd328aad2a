//! Tests of whole reports.

use super::*;

fn small() -> Report {
    let point = |seconds, cost| ProgressPoint { seconds, executions: cost, cost };
    Report {
        title: "A & B".to_string(),
        program: "./p @@".to_string(),
        grammar: "g.ebnf".to_string(),
        unit: "edges".to_string(),
        verdict: "Quadratic in the number of <items>".to_string(),
        seconds: 60.0,
        executions: 1000,
        settings: vec![Setting { name: "--seed".to_string(), value: "1".to_string() }],
        progress: vec![Progress { strategy: "random".to_string(), points: vec![point(1.0, 10), point(9.0, 2000)] }],
        inputs: vec![Input {
            name: "best/1".to_string(),
            text: b"a<b\xff\n".to_vec(),
            cost: 2000,
            spans: vec![Span { bytes: 1..3, place: "a.c:1".to_string(), share: 0.5 }],
            derivation: "s\n  t".to_string(),
            smaller: Some(Smaller { name: "studied/1/smaller".to_string(), text: b"a<".to_vec(), cost: 1950 }),
            ..Input::default()
        }],
        trade_offs: TradeOffs {
            units: vec!["edges".to_string(), "bytes of output".to_string()],
            inputs: vec![(vec![2000, 1], b"a<b".to_vec()), (vec![7, 300], b"c".to_vec()), (vec![9], b"d".to_vec())],
        },
        families: vec![Family {
            part: "t".to_string(),
            rule: "s".to_string(),
            points: [1, 2, 4].map(|size| FamilyPoint { size, length: size, cost: size * size * 100 }).to_vec(),
            text: b"a<b".to_vec(),
            fit: "cost ~ n^2".to_string(),
            fastest: "a.c:1, n^2.0".to_string(),
            edges: vec![
                FamilyEdge { place: "a.c:1".to_string(), count: 1200, law: "n^2.0".to_string() },
                FamilyEdge { count: 16, law: "n^1.0".to_string(), ..FamilyEdge::default() },
            ],
            curve: Some(Curve {
                points: (1..=16).map(|size| (f64::from(size), f64::from(100 * size * size))).collect(),
                is_exponential: false,
            }),
            ..Family::default()
        }],
        lines: vec![HotLine {
            place: "a.c:1".to_string(),
            excerpt: Some(Excerpt { first: 1, lines: vec!["x < y;".to_string()], hot: 1 }),
            ..HotLine::default()
        }],
        costs: vec![Bucket { least: 0, most: 0, runs: 7 }, Bucket { least: 1, most: 3, runs: 2 }],
        operators: [("fresh", 30, 1), ("copy", 70, 4)]
            .map(|(operator, runs, better)| Operator {
                strategy: "portfolio".to_string(),
                operator: operator.to_string(),
                runs,
                better,
            })
            .to_vec(),
        failures: vec![Failure { outcome: "SIGSEGV".to_string(), count: 1, ..Failure::default() }],
        timeouts: vec![Failure { outcome: "10 s".to_string(), count: 2, ..Failure::default() }],
        replay_families: "gramjet --replay".to_string(),
        on_file: vec!["./p ".to_string(), String::new()],
        on_stopped: vec!["gramjet fuzz ".to_string(), " -- ./p".to_string()],
        commands: vec![Command { purpose: "Go on".to_string(), command: "gramjet".to_string() }],
    }
}

/// Returns the names of the sections of a page.
fn sections_of(page: &str) -> Vec<&str> {
    page.split("<section id=").skip(1).filter_map(|rest| rest.split('>').next()).collect()
}

#[test]
fn a_page_has_a_section_for_each_list() {
    let page = html(&small());
    let all = [
        "progress",
        "inputs",
        "trade-offs",
        "growth",
        "lines",
        "costs",
        "operators",
        "failures",
        "timeouts",
        "commands",
        "settings",
    ];
    assert_eq!(sections_of(&page), all);
    assert_eq!(page.matches("<svg viewBox=").count(), 5);
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert!(page.contains("<title>A &amp; B</title>"));
    let text = "<pre class=text>a<mark class=series-0 title=\"a.c:1: 50.0\u{A0}%\" data-number=1>&lt;b</mark>";
    assert!(page.contains(text), "{page}");
    assert!(page.contains("<span class=hot><b>    1 </b>x &lt; y;</span>"));
    assert!(page.contains("<dt>cost<dd>1\u{202F}950</div>") && page.contains("<pre class=text>a&lt;</pre>"), "{page}");
    assert!(
        page.contains("<dt>fastest edge<dd>a.c:1, n^2.0") && page.contains("<dt>in<dd><code>a&lt;b</code>"),
        "{page}"
    );
    let rows = [
        "<td class=number>1\u{202F}200<td>n^2.0<td><code>a.c:1</code>",
        "<td class=number>16<td>n^1.0<td><span class=dim>not known</span>",
    ];
    assert!(rows.iter().all(|row| page.contains(row)), "{page}");
    assert_eq!(page, html(&small()));
}

#[test]
fn each_input_has_its_hot_lines_once() {
    let mut report = small();
    report.inputs.push(Input { lines: report.lines.clone(), ..Input::default() });
    let other = HotLine { place: "b.c:7".to_string(), ..report.lines[0].clone() };
    report.inputs.push(Input { lines: vec![other], ..Input::default() });
    let page = html(&report);
    let inputs: Vec<&str> = page.split("<details class=input").skip(1).collect();
    assert!(!inputs[0].contains("Hot lines</summary>") && !inputs[1].contains("Hot lines</summary>"), "{page}");
    let own = inputs[2].split("</section>").next().expect("the last input");
    assert!(
        own.contains("Hot lines</summary>") && own.contains("b.c:7") && own.contains("<pre class=source>"),
        "{page}"
    );
    let section = page.split("<section id=lines>").nth(1).and_then(|rest| rest.split("</section>").next());
    let section = section.expect("a section");
    assert!(section.contains("These are of input 2.") && section.contains("a.c:1") && !section.contains("b.c:7"));
}

#[test]
fn the_command_for_all_families_is_said_once() {
    let mut report = small();
    report.families = vec![report.families[0].clone(); 3];
    let command = "<pre class=command>gramjet --replay\n</pre>";
    assert_eq!(html(&report).matches(command).count(), 1, "{}", html(&report));
    // Without families there is nothing to run.
    report.families.clear();
    assert!(!html(&report).contains(command));
}

#[test]
fn a_page_needs_nothing_else() {
    let page = html(&small());
    for word in ["<script", "http", "url(", "@import", "<link", "src="] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn an_empty_report_says_so() {
    let page = html(&Report::default());
    assert!(sections_of(&page).is_empty());
    assert!(page.contains("<h1>Report on a search</h1>") && page.contains("found nothing yet"));
}

#[test]
fn texts_cannot_add_markup() {
    let hostile = || "\"'><script>x</script><img src=x>".to_string();
    let mut report = small();
    report.title = hostile();
    report.program = hostile();
    report.grammar = hostile();
    report.unit = hostile();
    report.replay_families = hostile();
    report.settings = vec![Setting { name: hostile(), value: hostile() }];
    report.progress[0].strategy = hostile();
    let span = Span { bytes: 0..9, place: hostile(), share: f64::NAN };
    report.inputs = vec![Input {
        name: hostile(),
        text: hostile().into_bytes(),
        cost: 1,
        seconds: 1.0,
        strategy: hostile(),
        spans: vec![span],
        derivation: hostile(),
        lines: Vec::new(),
        note: hostile(),
        smaller: Some(Smaller { name: hostile(), text: hostile().into_bytes(), cost: 1 }),
        replay: hostile(),
    }];
    report.trade_offs = TradeOffs { units: vec![hostile(); 2], inputs: vec![(vec![1, 2], hostile().into_bytes())] };
    let family = &mut report.families[0];
    (family.part, family.rule, family.fit) = (hostile(), hostile(), hostile());
    (family.fastest, family.text) = (hostile(), hostile().into_bytes());
    family.edges = vec![FamilyEdge { place: hostile(), count: 1, law: hostile() }];
    let line = &mut report.lines[0];
    (line.place, line.function) = (hostile(), hostile());
    line.excerpt = Some(Excerpt { first: u64::MAX, lines: vec![hostile()], hot: 0 });
    report.inputs[0].lines = vec![HotLine { count: 1, ..line.clone() }];
    for operator in &mut report.operators {
        (operator.strategy, operator.operator) = (hostile(), hostile());
    }
    let failure = Failure {
        outcome: hostile(),
        place: hostile(),
        text: hostile().into_bytes(),
        replay: hostile(),
        ..Failure::default()
    };
    (report.failures, report.timeouts) = (vec![failure.clone()], vec![failure]);
    report.commands = vec![Command { purpose: hostile(), command: hostile() }];
    let page = html(&report);
    assert!(!page.contains("<script") && !page.contains("<img"));
    // The same elements as with other texts.
    let plain = page.replace("&lt;script&gt;", "").replace("&lt;/script&gt;", "");
    assert_eq!(plain.matches("</svg>").count(), 5);
}

#[test]
fn large_data_are_cut() {
    let mut report = small();
    let text: Vec<u8> = (0..1_000_000u32).map(|index| index as u8).collect();
    report.inputs = vec![Input { text, derivation: "é".repeat(100_000), ..report.inputs[0].clone() }; 60];
    let points = (0..100_000u64).map(|index| ProgressPoint { seconds: index as f64, executions: index, cost: index });
    report.progress = vec![Progress { strategy: "s".to_string(), points: points.collect() }; 20];
    let point = |size| FamilyPoint { size, length: size, cost: u64::MAX };
    report.families = vec![Family { points: (0..100_000).map(point).collect(), ..report.families[0].clone() }; 30];
    report.failures = vec![report.failures[0].clone(); 10_000];
    let page = html(&report);
    assert!(page.len() < 8_000_000, "{}", page.len());
    for note in [
        "50 of 60 inputs",
        "8 of 20 strategies",
        "100 of 100\u{202F}000 members",
        "4\u{202F}096 of 1\u{202F}000\u{202F}000 bytes",
    ] {
        assert!(page.contains(note), "{note}");
    }
}

#[test]
fn any_numbers_can_be_drawn() {
    let numbers = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE];
    for number in numbers {
        for cost in [0, 1, u64::MAX] {
            let mut report = small();
            report.seconds = number;
            report.progress[0].points = vec![ProgressPoint { seconds: number, executions: cost, cost }];
            report.families[0].points = vec![FamilyPoint { size: cost, length: cost, cost }];
            for curve in [
                Curve { points: vec![(number, number); 3], is_exponential: false },
                Curve { points: vec![(number, number), (1.0, number)], is_exponential: true },
            ] {
                report.families[0].curve = Some(curve);
                report.costs = vec![Bucket { least: cost, most: 0, runs: cost }; 3];
                report.lines[0].share = number;
                let page = html(&report);
                let plots = if cost == 0 { 4 } else { 5 };
                assert_eq!(page.matches("</svg>").count(), plots, "{number} {cost}");
                assert!(!page.contains("NaN") && !page.contains("inf\""), "{number} {cost}");
            }
        }
    }
}

#[test]
fn tables_of_failures_have_the_columns_that_are_known() {
    let columns = |failures: &[Failure]| {
        let page = html(&Report { failures: failures.to_vec(), ..Report::default() });
        let heading = page.split("<thead>").nth(1).and_then(|rest| rest.split("<tbody>").next()).expect("a table");
        heading.split("<th").skip(1).filter_map(|cell| cell.split('>').nth(1)).collect::<Vec<_>>().join(", ")
    };
    let known = Failure { outcome: "SIGSEGV".to_string(), text: b"[[".to_vec(), ..Failure::default() };
    assert_eq!(columns(std::slice::from_ref(&known)), "Outcome, Input, Bytes");
    let timed = Failure { seconds: Some(0.0), cost: Some(0), replay: "./p".to_string(), ..known.clone() };
    assert_eq!(columns(&[known.clone(), timed]), "Outcome, Input, Bytes, First after, Cost until then, Replay");
    let counted = [1, 2000].map(|count| Failure { count, place: "a.c:1".to_string(), ..known.clone() });
    assert_eq!(columns(&counted), "Outcome, Place, Input, Bytes, Found");
    let page = html(&Report { failures: counted.to_vec(), ..Report::default() });
    assert!(page.contains("<td class=number>once") && page.contains("<td class=number>2\u{202F}000 times"), "{page}");
}

//! Writes a report on an invented search, to see how a report looks: `cargo run -p gramjet-search --example report
//! FILE`.

use std::io;

use gramjet_search::report::{
    self, Bucket, Command, Curve, Excerpt, Failure, Family, FamilyEdge, FamilyPoint, HotLine, Input, Operator,
    Progress, ProgressPoint, Report, Setting, Smaller, Span, TradeOffs,
};

fn main() -> io::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "report.html".into());
    std::fs::write(path, report::html(&example()))
}

fn example() -> Report {
    Report {
        title: "Slow inputs of dot".to_string(),
        program: "./dot -Tsvg -o /dev/null @@".to_string(),
        grammar: "grammars/dot.ebnf".to_string(),
        unit: "edge executions".to_string(),
        verdict: "Quadratic in the number of `edge` in `graph`: n^2.0 (95 %: 1.97 to 2.03), checked at 256."
            .to_string(),
        seconds: 600.0,
        executions: 1_843_112,
        settings: settings(),
        progress: progress(),
        inputs: inputs(),
        trade_offs: trade_offs(),
        families: families(),
        lines: lines(),
        costs: costs(),
        operators: operators(),
        failures: failures(),
        timeouts: timeouts(),
        replay_families: "gramjet search grammars/dot.ebnf --max-len 60 -o OUT --replay -- ./dot -Tsvg -o /dev/null @@"
            .to_string(),
        on_file: vec!["./dot -Tsvg -o /dev/null OUT/".to_string(), String::new()],
        on_stopped: vec![
            "gramjet fuzz grammars/dot.ebnf --timeout=10s --replay OUT/".to_string(),
            " -- ./dot -Tsvg -o /dev/null @@".to_string(),
        ],
        commands: commands(),
    }
}

fn settings() -> Vec<Setting> {
    let all = [
        ("--max-len", "60"),
        ("--time", "10m"),
        ("--jobs", "2"),
        ("--seed", "1"),
        ("--strategy", "portfolio,slackline-mc,slackline,treeline,bias-only,bytes,random"),
        ("--cost", "edges"),
        ("version", "0.1.0"),
    ];
    all.map(|(name, value)| Setting { name: name.to_string(), value: value.to_string() }).to_vec()
}

fn operators() -> Vec<Operator> {
    let made = |(operator, runs, better): (&str, u64, u64)| Operator {
        strategy: "portfolio".to_string(),
        operator: operator.to_string(),
        runs,
        better,
    };
    [("next", 751_204, 31), ("copy", 402_339, 12), ("redraw", 198_733, 9)].map(made).to_vec()
}

fn progress() -> Vec<Progress> {
    let strategies = [
        ("portfolio", 58_000_000.0, 35.0),
        ("slackline-mc", 44_000_000.0, 70.0),
        ("slackline", 37_000_000.0, 80.0),
        ("treeline", 31_000_000.0, 120.0),
        ("bias-only", 9_100_000.0, 90.0),
        ("bytes", 2_300_000.0, 200.0),
        ("random", 410_000.0, 60.0),
    ];
    strategies.map(|(name, most, time)| Progress { strategy: name.to_string(), points: climb(most, time) }).to_vec()
}

/// Returns a cost that nears `most`, by two thirds of the way in each `time`.
fn climb(most: f64, time: f64) -> Vec<ProgressPoint> {
    let moments = (0..46).map(|index| 0.4 * 1.17f64.powi(index)).filter(|seconds| *seconds < 600.0);
    let point = |seconds: f64| ProgressPoint {
        seconds,
        executions: (seconds * 430.0) as u64,
        cost: (30_000.0 + most * (1.0 - (-seconds / time).exp())) as u64,
    };
    moments.map(point).collect()
}

fn span(bytes: std::ops::Range<usize>, place: &str, share: f64) -> Span {
    Span { bytes, place: place.to_string(), share }
}

/// The best text, and a smaller one.
const BEST: &[u8] = b"digraph{{i,H,r,3,9->F,O,b,0,_->v,u,h,3;}->p,O,q,v,J,t,u,T,P}";
const SMALLER: &[u8] = b"digraph{{i,H,r,3,9->F,O,b,0,_->v,u;}->p,O,q,v,J,t,u,T,P}";

fn inputs() -> Vec<Input> {
    let spans = vec![
        span(8..60, "rank.c:311 (rank2)", 0.21),
        span(9..40, "ns.c:642 (update)", 0.48),
        span(20..30, "mincross.c:1187 (ncross)", 0.17),
        span(42..59, "mincross.c:1187 (ncross)", 0.09),
    ];
    let second = "digraph \"a\tb\u{202e}\" {\n  <b&c> -> \u{0}é;\n}\n".as_bytes();
    let third: Vec<u8> = b"graph{\xff\xfe".iter().copied().chain((0..6000).map(|index| b"a--b;"[index % 5])).collect();
    let texts =
        [(BEST.to_vec(), 58_112_908), (second.to_vec(), 44_120_077), (third, 37_909_001), (b"digraph{a}".to_vec(), 12)];
    let name = |index: usize| format!("id:{:06},time:{},op:splice", 1042 - index * 17, 412_000 - index * 31_000);
    let input = |(index, (text, cost)): (usize, (Vec<u8>, u64))| Input {
        name: format!("best/{}", name(index)),
        text,
        cost,
        seconds: 412.0 - index as f64 * 31.3,
        strategy: ["portfolio", "slackline-mc", "slackline", "random"][index].to_string(),
        spans: if index == 0 { spans.clone() } else { vec![span(8..12, "scan.l:88 (yylex)", 0.7)] },
        derivation: derivation(),
        lines: if index < 2 { lines()[index..].to_vec() } else { Vec::new() },
        note: String::new(),
        smaller: (index == 0).then(|| Smaller {
            name: "studied/1/smaller".to_string(),
            text: SMALLER.to_vec(),
            cost: 55_940_312,
        }),
        replay: format!("./dot -Tsvg -o /dev/null OUT/best/{}", name(index)),
    };
    texts.into_iter().enumerate().map(input).collect()
}

/// Returns texts with two costs.
fn trade_offs() -> TradeOffs {
    let texts: [(u64, u64, &[u8]); 3] =
        [(58_112_908, 4_020, BEST), (55_940_312, 4_871, SMALLER), (120_400, 90_113, b"graph{a--{b,c,d}--a}")];
    TradeOffs {
        units: ["edge executions", "bytes of output"].map(str::to_string).to_vec(),
        inputs: texts.map(|(edges, output, text)| (vec![edges, output], text.to_vec())).to_vec(),
    }
}

fn derivation() -> String {
    let lines = [
        "graph",
        "  \"digraph\"",
        "  statements",
        "    edge",
        "      subgraph",
        "        node_list \"i,H,r,3,9\"",
        "        edge_rest \"->F,O,b,0,_\"",
        "        edge_rest \"->v,u,h,3\"",
        "      edge_rest \"->p,O,q,v,J,t,u,T,P\"",
    ];
    lines.join("\n")
}

fn families() -> Vec<Family> {
    let edge = |place: &str, count, law: &str| FamilyEdge { place: place.to_string(), count, law: law.to_string() };
    let sizes = [1u64, 2, 4, 8, 16, 32, 64, 128, 256, 512];
    let square = |size: u64| FamilyPoint { size, length: 14 + 4 * size, cost: 40_000 + 1210 * size * size + 97 * size };
    let double =
        |size: u64| FamilyPoint { size, length: 9 + 2 * size, cost: 5200 + (310.0 * 1.93f64.powi(size as i32)) as u64 };
    let squares = Family {
        folder: "growth/1".to_string(),
        part: "edge_rest".to_string(),
        rule: "edge".to_string(),
        points: sizes.map(square).to_vec(),
        fit: "cost ~ n^2.0 (95 %: 1.97 to 2.03), better than exponential by 41 (AICc)".to_string(),
        curve: Some(curve(false, |size| 39_800.0 + 1214.0 * size * size)),
        text: BEST.to_vec(),
        fastest: "rank.c:311 (rank2), n^2.0 (95 %: 1.99 to 2.01)".to_string(),
        edges: vec![
            edge("rank.c:311 (rank2)", 41_000_000, "n^2.0 (95 %: 1.99 to 2.01)"),
            edge("ns.c:92 (enter_edge)", 65_000, "n^1.0 (95 %: 0.99 to 1.01)"),
        ],
    };
    let doubles = Family {
        folder: "growth/2".to_string(),
        part: "subgraph".to_string(),
        rule: "statement".to_string(),
        points: (1..=18).map(double).collect(),
        fit: "cost ~ 1.93^n (95 %: 1.91 to 1.95)".to_string(),
        curve: Some(curve(true, |size| 5200.0 + 310.0 * 1.93f64.powf(size))),
        text: BEST.to_vec(),
        fastest: "class2.c:204 (class2), 1.9^n (95 %: 1.91 to 1.95)".to_string(),
        edges: vec![edge("class2.c:204 (class2)", 41_000_000, "1.9^n (95 %: 1.91 to 1.95)")],
    };
    vec![squares, doubles]
}

fn lines() -> Vec<HotLine> {
    let source = [
        "    while ((e = enter_edge(G))) {",
        "        f = leave_edge(e);",
        "        delta = SLACK(e);",
        "        for (i = 0; (f = ND_tree_out(v).list[i]); i++)",
        "            if (f != e && SLACK(f) < delta && !TREE_EDGE(f) && !SEQ(ND_low(v), ND_lim(aghead(f)), ND_lim(v)))",
        "                x_cutval(f);",
        "        update(e, f);",
        "\titer++;",
        "    }",
    ];
    let excerpt = Excerpt { first: 638, lines: source.map(str::to_string).to_vec(), hot: 642 };
    let line = |place: &str, function: &str, count: u64, share: f64, excerpt: Option<Excerpt>| HotLine {
        place: place.to_string(),
        function: function.to_string(),
        count,
        share,
        excerpt,
    };
    vec![
        line("lib/dotgen/ns.c:642", "update", 27_894_191, 0.48, Some(excerpt.clone())),
        line("lib/dotgen/rank.c:311", "rank2", 12_203_710, 0.21, Some(excerpt)),
        line("/usr/include/x86_64-linux-gnu/bits/stdlib-bsearch.h:33", "bsearch", 4_021_117, 0.069, None),
    ]
}

fn costs() -> Vec<Bucket> {
    let bucket = |index: u32| Bucket {
        least: 1 << index,
        most: (2 << index) - 1,
        runs: (900_000.0 * (-0.5 * ((f64::from(index) - 15.0) / 2.2).powi(2)).exp()) as u64,
    };
    (8..26).map(bucket).collect()
}

fn failures() -> Vec<Failure> {
    let failure = |outcome: &str, place: &str, text: &[u8], count| Failure {
        outcome: outcome.to_string(),
        place: place.to_string(),
        text: text.to_vec(),
        count,
        seconds: Some(88.4),
        cost: Some(190_233),
        replay: format!("./dot -Tsvg -o /dev/null OUT/failures/{}/input", outcome.replace(' ', "-")),
    };
    vec![
        failure("signal 11 (SIGSEGV)", "cgraph/edge.c:77 (agfindedge)", b"graph{a--{}--a}", 31),
        failure("exit status 3", "", b"digraph{\x00<script>alert(1)</script>\xf0\x28}", 1),
    ]
}

fn timeouts() -> Vec<Failure> {
    let text = b"digraph{{{{{{a}->b}->c}->d}->e}->f}";
    vec![Failure {
        outcome: "10 s".to_string(),
        place: "class2.c:204 (class2)".to_string(),
        text: text.to_vec(),
        count: 4,
        seconds: Some(231.0),
        cost: Some(4_102_993_441),
        replay: "./dot -Tsvg -o /dev/null OUT/timeouts/id:000000,time:231000,op:splice".to_string(),
    }]
}

fn commands() -> Vec<Command> {
    let command = |purpose: &str, command: &str| Command { purpose: purpose.to_string(), command: command.to_string() };
    let again = "gramjet search grammars/dot.ebnf --max-len 60 -o OUT -- ./dot -Tsvg -o /dev/null @@";
    vec![command("Go on with this search", again)]
}

/// Returns a fitted model, at a hundred sizes.
fn curve(is_exponential: bool, cost: impl Fn(f64) -> f64) -> Curve {
    let sizes = (1..=100).map(|step| 1.1f64.powi(step));
    Curve { points: sizes.map(|size| (size, cost(size))).collect(), is_exponential }
}

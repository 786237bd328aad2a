//! The facts of a search that its report shows: plain data, with every text as the search has it.
//!
//! Nothing here needs to be escaped, ordered or bounded in size. A list that is empty leaves its section out.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A search, its settings and its findings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The heading of the page.
    pub title: String,
    /// The command that runs the program under test.
    pub program: String,
    /// The grammar, by its name or path.
    pub grammar: String,
    /// Unit of a cost, in the plural, such as `edge executions`.
    pub unit: String,
    /// Time that the search has taken, in seconds.
    pub seconds: f64,
    /// Number of runs of the program.
    pub executions: u64,
    /// The result in a sentence; may be empty.
    #[serde(default)]
    pub verdict: String,
    /// The other settings of the search.
    pub settings: Vec<Setting>,
    /// The best cost over time, of each strategy.
    pub progress: Vec<Progress>,
    /// The inputs of the highest cost, the best one first.
    pub inputs: Vec<Input>,
    /// With several costs, the inputs that no other beats in all of them.
    pub trade_offs: TradeOffs,
    /// Families of texts, whose cost grows with the size of a repeated part.
    pub families: Vec<Family>,
    /// Source lines that were executed most, the hottest first.
    pub lines: Vec<HotLine>,
    /// Number of runs by their cost, in ascending order of cost.
    pub costs: Vec<Bucket>,
    /// Operators of each strategy with the numbers of their texts. The page leaves strategies with a single operator
    /// out.
    #[serde(default)]
    pub operators: Vec<Operator>,
    /// Inputs on which the program failed.
    pub failures: Vec<Failure>,
    /// Inputs that were stopped by a limit.
    pub timeouts: Vec<Failure>,
    /// The command that runs the texts of all families again; may be empty.
    #[serde(default)]
    pub replay_families: String,
    /// The command that runs the program on a file in the folder of the search, in pieces. The name of the file stands
    /// between them, as a shell takes it. Empty if there is no such command. The page does not show it.
    #[serde(default)]
    pub on_file: Vec<String>,
    /// Pieces of the command with the limits on time and memory, for texts on which the program was stopped.
    #[serde(default)]
    pub on_stopped: Vec<String>,
    /// Other commands, such as the one that resumes the search.
    pub commands: Vec<Command>,
}

/// A setting of the search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name, as the user knows it.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The best cost that a strategy has found, over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The name of the strategy.
    pub strategy: String,
    /// Each time that the best cost rose. If the last point is later than that, the line is drawn up to it.
    pub points: Vec<ProgressPoint>,
}

/// The best cost at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgressPoint {
    /// Time since the search began, in seconds.
    pub seconds: f64,
    /// Runs of the program up to then, those of the strategy.
    pub executions: u64,
    /// The best cost up to then.
    pub cost: u64,
}

/// An input of high cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Input {
    /// The file that has it, or another name.
    pub name: String,
    /// The text, any bytes.
    pub text: Vec<u8>,
    /// Its cost.
    pub cost: u64,
    /// Time when it was found, in seconds since the search began.
    pub seconds: f64,
    /// The strategy that found it; empty if neither that nor the time is known.
    pub strategy: String,
    /// The parts of the text that cause the cost. They may overlap.
    pub spans: Vec<Span>,
    /// The derivation tree, a node a line, indented by its depth; may be empty.
    pub derivation: String,
    /// The source lines that it executes most, the hottest first; may be empty. Those of the report have a section of
    /// their own and are not shown here.
    pub lines: Vec<HotLine>,
    /// A sentence that says why the text was not studied. Empty if it was.
    pub note: String,
    /// A smaller input that costs nearly as much, if there is one.
    pub smaller: Option<Smaller>,
    /// The command that runs the program on it; may be empty.
    pub replay: String,
}

/// An input that was made of another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Smaller {
    /// The file that has it, or another name.
    pub name: String,
    /// The text, any bytes.
    pub text: Vec<u8>,
    /// Its cost.
    pub cost: u64,
}

/// Inputs with several costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TradeOffs {
    /// Unit of each cost.
    pub units: Vec<String>,
    /// The costs of each input, as many as units, and its text.
    pub inputs: Vec<(Vec<u64>, Vec<u8>)>,
}

/// A part of an input that causes a part of its cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The bytes of the text.
    pub bytes: Range<usize>,
    /// The edge or source line that the part makes hot, such as `rank.c:311 (rank)`.
    pub place: String,
    /// Its share of the cost of the input, from 0 to 1.
    pub share: f64,
}

/// Inputs that are alike but for the number of times that one part is repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Family {
    /// The part that is repeated, such as the name of a symbol.
    pub part: String,
    /// The rule in which it is repeated; may be empty.
    pub rule: String,
    /// The input whose part is repeated, any bytes; may be empty.
    pub text: Vec<u8>,
    /// The folder with its texts; may be empty.
    pub folder: String,
    /// The members that were run.
    pub points: Vec<FamilyPoint>,
    /// The model that fits, in words, with its interval of confidence.
    pub fit: String,
    /// The curve of that model, if there is one.
    pub curve: Option<Curve>,
    /// The edge whose count grows fastest, by its source line, and how it grows; may be empty.
    #[serde(alias = "hottest")]
    pub fastest: String,
    /// The edges that the largest member executes most, the hottest first.
    pub edges: Vec<FamilyEdge>,
}

/// Edge that the texts of a family execute, and the growth of its count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FamilyEdge {
    /// Its source line, such as `rank.c:311 (rank)`; empty if it is not known.
    pub place: String,
    /// Number of times that the largest member executes it.
    pub count: u64,
    /// The model that fits, in words, with its interval of confidence.
    pub law: String,
}

/// One input of a family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FamilyPoint {
    /// Number of times that the part is repeated.
    pub size: u64,
    /// Length of the text, in bytes.
    pub length: u64,
    /// Its cost.
    pub cost: u64,
}

/// A model of the cost by the size of a family.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Sizes and the costs that the model predicts, in ascending order of size.
    pub points: Vec<(f64, f64)>,
    /// Whether the growth is exponential: its curve is straight over sizes that are not on a logarithmic scale.
    pub is_exponential: bool,
}

/// A source line that was executed often.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HotLine {
    /// The file and the line, such as `rank.c:311`.
    pub place: String,
    /// The function; may be empty.
    pub function: String,
    /// Number of times that it was executed.
    pub count: u64,
    /// Its share of the cost, from 0 to 1.
    pub share: f64,
    /// The source around it, if it can be read.
    pub excerpt: Option<Excerpt>,
}

/// Lines of a source file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The number of the first of them, from 1.
    pub first: u64,
    /// The lines, without their ends.
    pub lines: Vec<String>,
    /// The number of the hot one.
    pub hot: u64,
}

/// The runs whose cost lies in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// The least cost.
    pub least: u64,
    /// The greatest cost, which may be the least.
    pub most: u64,
    /// The number of runs.
    pub runs: u64,
}

/// Operator with the numbers of its texts: one of the ways in which a strategy makes texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operator {
    /// The name of the strategy.
    pub strategy: String,
    /// The name of the operator.
    pub operator: String,
    /// Number of its texts that were run.
    pub runs: u64,
    /// Number of its texts that cost more than all before, or as much with fewer bytes.
    pub better: u64,
}

/// An input on which the program failed, or was stopped by a limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Outcome of the run, such as `signal 11 (SIGSEGV)`, `exit status 3` or `10 s`.
    pub outcome: String,
    /// Place where it happened; may be empty.
    pub place: String,
    /// The smallest text that shows it, any bytes.
    pub text: Vec<u8>,
    /// Number of inputs that had this outcome there; 0 if they were not counted.
    pub count: u64,
    /// Time when it was found, in seconds since the search began, if that is known.
    pub seconds: Option<f64>,
    /// The cost up to the failure or the stop, if it is known.
    pub cost: Option<u64>,
    /// The command that runs the program on it; may be empty.
    pub replay: String,
}

/// A command that the reader may run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Purpose of the command, in a few words.
    pub purpose: String,
    /// The command.
    pub command: String,
}

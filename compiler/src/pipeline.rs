//! The stages from a source file to a compiled grammar, in order.

use std::cell::Cell;
use std::sync::Arc;

use crate::analysis::fingerprint::fingerprint;
use crate::analysis::pools::Pools;
use crate::analysis::shortest;
use crate::ast::Grammar;
use crate::check::{Checked, check, lints};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile};
use crate::formats::{self, Format, FormatOptions, Loader, NoFiles, Surroundings, ZeroWeights};
use crate::ir::{self, Ir, NodeId, RuleId};
use crate::limits::{AssumedLimits, Limits};
use crate::lower::are_too_many;
use crate::ordered::{Map, sort_by_key};
use crate::passes::{self, Budget, MAX_UNFOLDED_DEPTH, MAX_UNFOLDED_NODES, optimise};
use crate::residual::Residual;
use crate::shape::learn::{Counts, How};
use crate::shape::{self, ByDefault, Demands, DepthLimit, InForce, Shape, Weighting, Weights};
use crate::sources::Sources;

mod weighted;

/// The part of the name of a rule that derives only a part of another rule's texts.
const PART: &str = "part";

use weighted::{Lowered, lower_as_asked};

/// The user's options for a compilation.
#[derive(Clone, Default)]
pub struct Options {
    /// The format of the file. `None` detects it from the file's name and text.
    pub format: Option<&'static dyn Format>,
    /// The start rule, instead of the grammar's own.
    pub start: Option<String>,
    /// Limits on the code that supercompilation makes.
    pub budget: Budget,
    /// Options for reading the file.
    pub reading: FormatOptions,
    /// The name of a file for `loader` that defines tokens, for formats that leave these definitions out.
    pub tokens: Option<String>,
    /// Loads the other files that a grammar may name. `None` means that there are none.
    pub loader: Option<Arc<dyn Loader + Send + Sync>>,
    /// The source of the weights.
    pub weighting: Weighting,
    /// Gives each reference to a rule a rule of its own ([`crate::ast::Grammar::split_by_context`]). A file of weights
    /// with contexts asks for this by itself.
    pub contexts: bool,
    /// The limits that producers will have. [`Shape::TargetSize`] and [`Weighting::ByDefault`] consider inputs within
    /// these limits.
    pub limits: AssumedLimits,
}

impl Options {
    /// Returns [`ZeroWeights::Keep`] if alternatives of weight 0 belong to the language, else [`ZeroWeights::Drop`].
    pub fn zero_weights(&self) -> ZeroWeights {
        if demands(self).keeps_zero_weights { ZeroWeights::Keep } else { ZeroWeights::Drop }
    }
}

/// A grammar, ready for every engine.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The lowered form, which the reference interpreter runs.
    pub lowered: Arc<Ir>,
    /// The pools of its rules.
    pub pools: Pools,
    /// The residual form, which the other engines run.
    pub residual: Residual,
    /// The source of each choice in the lowered form.
    pub sources: Arc<Sources>,
    /// The depth limit that the grammar file asks for.
    pub max_depth: Option<u32>,
    /// The length limit in bytes that the grammar file asks for.
    pub max_len: Option<u64>,
    /// The user's names of rules that were derived from other rules, such as `a` for `a.2`.
    pub origins: Arc<Map<String, String>>,
    /// Fingerprints that identify the choice bytes for this grammar.
    pub fingerprints: Fingerprints,
    /// Whether its format has a lexer, so that separators and alphabet affect the choice map.
    pub has_lexer: bool,
    /// The source of its weights.
    pub weights: InForce,
    /// The decision on weights, if the user has asked for none and inputs with the grammar's own would be unsuitable.
    pub by_default: Option<ByDefault>,
}

/// Numbers that differ between different grammars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprints {
    /// The fingerprint of the choice map. If it is equal, the same choice bytes have the same meaning.
    pub choices: u64,
    /// The fingerprint of the grammar without its weights, of its start rule and of the options for reading it.
    pub grammar: u64,
}

impl Compiled {
    /// Returns the length in bytes of the shortest output.
    pub fn min_len(&self) -> u64 {
        self.lowered.rule(self.lowered.start()).facts.min_len
    }

    /// Returns the limits that the grammar file asks for.
    pub fn directives(&self) -> Limits {
        Limits { max_depth: self.max_depth, max_len: self.max_len }
    }

    /// Returns the first reachable rule without a pool. If there is one, no depth limit can be kept.
    pub fn rule_without_pool(&self) -> Option<&str> {
        self.pools.missing().map(|rule| self.told(rule))
    }

    /// Returns the user's name of a rule.
    pub fn told(&self, rule: RuleId) -> &str {
        let name = &self.lowered.rule(rule).name;
        self.origins.get(name).unwrap_or(name)
    }

    /// Returns true if a rule derives only parts of another rule's texts, and has no name of the user's.
    pub fn is_part(&self, rule: RuleId) -> bool {
        let name = &self.lowered.rule(rule).name;
        let behind = self.origins.get(name).and_then(|origin| name.strip_prefix(origin.as_str()));
        behind.is_some_and(|behind| behind.split('.').any(|made| made == PART))
    }
}

/// The greatest length in bytes of an alternative's shortest string, and the most steps of its shortest derivation.
/// Other grammars are refused: finishing an output would take unbounded time or memory.
pub const MAX_SHORTEST: u64 = 1 << 26;

fn unbounded_derivation(ir: &Ir, grammar: &Grammar) -> Option<Diagnostic> {
    let node_steps = shortest::node_steps(ir, &shortest::steps(ir));
    // The nodes of a rule's body follow those of the body before in the arena, up to the body itself.
    let mut bodies: Vec<(NodeId, RuleId)> = ir.bodies().map(|(rule, body)| (body, rule)).collect();
    sort_by_key(&mut bodies, |&body| body);
    let node = (0..ir.node_count())
        .map(NodeId::new)
        .find(|&node| ir.facts(node).min_len > MAX_SHORTEST || node_steps[node.index()] > MAX_SHORTEST)?;
    let (_, rule) = *bodies.get(bodies.partition_point(|&(body, _)| body < node))?;
    let name = grammar.told(&ir.rule(rule).name);
    // Counts saturate at this value.
    let shown = |count: u64| if count == u64::MAX { "2^64 or more".to_string() } else { count.to_string() };
    let message = match ir.facts(node).min_len {
        len if len > MAX_SHORTEST => format!("the shortest string of a part of rule `{name}` has {} bytes", shown(len)),
        _ => {
            let steps = shown(node_steps[node.index()]);
            format!("the shortest derivation of a part of rule `{name}` takes {steps} steps")
        }
    };
    let help = format!("outputs could not be completed in bounded time; the bound is {MAX_SHORTEST}");
    let span = grammar.rules.get(rule.index()).map(|rule| rule.name.span);
    Some(Diagnostic::error(Code::TooLarge, span, message).help(help))
}

/// Reports a limit of the grammar file that no output can keep.
fn impossible_limit(ir: &Ir, grammar: &Grammar) -> Option<Diagnostic> {
    let min_len = ir.rule(ir.start()).facts.min_len;
    let max_len = grammar.max_len.filter(|&max_len| max_len < min_len)?;
    let message = format!("the file asks for at most {max_len} bytes, but the shortest output has {min_len}");
    Some(Diagnostic::error(Code::ImpossibleLimit, None, message).help(format!("ask for {min_len} bytes or more")))
}

/// Compiles a grammar file. The diagnostics returned with the result are warnings.
///
/// # Errors
///
/// The diagnostics, with at least one error.
pub fn compile(file: &SourceFile, options: &Options) -> Result<(Compiled, Diagnostics), Diagnostics> {
    compile_observed(file, options, &mut |_, _| {})
}

/// The result of a stage, which [`dump`] prints.
enum Stage<'s> {
    Ast(&'s Grammar),
    Ir(&'s Ir),
    Pools(&'s Ir, &'s Pools),
}

fn compile_observed(
    file: &SourceFile,
    options: &Options,
    observe: &mut dyn FnMut(&'static str, Stage<'_>),
) -> Result<(Compiled, Diagnostics), Diagnostics> {
    compile_examined(file, options, observe, None)
}

/// Examines the checked grammar, before it is dropped.
type Examine<'e> = &'e mut dyn FnMut(&Checked<'_>, &Lowered, &Pools);

fn compile_examined(
    file: &SourceFile,
    options: &Options,
    observe: &mut dyn FnMut(&'static str, Stage<'_>),
    examine: Option<Examine<'_>>,
) -> Result<(Compiled, Diagnostics), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let loader: &dyn Loader = match &options.loader {
        Some(loader) => loader.as_ref(),
        None => &NoFiles,
    };
    let (start, tokens) = (options.start.as_deref(), options.tokens.as_deref());
    let surroundings = Surroundings { options: options.reading, start, tokens, loader };
    let (format, mut grammar) = formats::read_as(options.format, file, &surroundings, &mut diagnostics);
    let demands = demands(options);
    if demands.keeps_zero_weights {
        grammar.keep_zero_weights();
    }
    if demands.contexts && !diagnostics.has_errors() {
        grammar.split_by_context(start);
    }
    observe("ast", Stage::Ast(&grammar));
    // After syntax errors, the checks would only repeat them.
    let checked =
        if diagnostics.has_errors() { None } else { check(&grammar, options.start.as_deref(), &mut diagnostics) };
    let lowered =
        checked.as_ref().and_then(|checked| lower_as_asked(checked, options, format.has_weights(), &mut diagnostics));
    diagnostics.sort();
    let (Some(lowered), Some(checked)) = (lowered.filter(|_| !diagnostics.has_errors()), checked) else {
        return Err(diagnostics);
    };
    debug_assert_eq!(ir::verify(&lowered.ir), Ok(()));
    observe("ir", Stage::Ir(&lowered.ir));
    let refusal = unbounded_derivation(&lowered.ir, &grammar).or_else(|| impossible_limit(&lowered.ir, &grammar));
    if let Some(diagnostic) = refusal {
        diagnostics.push(diagnostic);
        return Err(diagnostics);
    }
    let (max_depth, max_len) = (grammar.max_depth, grammar.max_len);
    let origins = Arc::new(grammar.origins.clone());
    let of_grammar = shape::fingerprint_number(&grammar);
    let pools = match examine {
        Some(examine) => {
            let pools = lowered.pools();
            examine(&checked, &lowered, &pools);
            pools
        }
        None => {
            // A large grammar takes as much memory as its lowered form.
            drop(checked);
            drop(grammar);
            lowered.pools()
        }
    };
    let Lowered { ir: lowered, sources, in_force: weights, by_default, .. } = lowered;
    let fingerprints = Fingerprints { choices: fingerprint(&lowered, &pools), grammar: of_grammar };
    observe("pools", Stage::Pools(&lowered, &pools));
    let (lowered, sources) = (Arc::new(lowered), Arc::new(sources));
    let residual = Residual::of(&lowered, &pools, options.budget);
    let compiled = Compiled {
        lowered,
        pools,
        residual,
        sources,
        max_depth,
        max_len,
        origins,
        fingerprints,
        has_lexer: format.has_lexer_with(tokens, loader),
        weights,
        by_default,
    };
    Ok((compiled, diagnostics))
}

/// Returns what the options and the file of weights say about the grammar.
fn demands(options: &Options) -> Demands {
    let of_file = match &options.weighting {
        Weighting::File(file) => shape::demands(file.text()),
        _ => Demands::default(),
    };
    let keeps_zero_weights = match options.reading.zero_weights {
        ZeroWeights::Keep => true,
        ZeroWeights::Drop => false,
        ZeroWeights::Unsaid => of_file.keeps_zero_weights,
    };
    let contexts = options.contexts || of_file.contexts;
    Demands { contexts, start: options.start.clone().filter(|_| contexts), keeps_zero_weights }
}

/// Weights that are learned from samples.
#[derive(Clone, Debug)]
pub struct Learned {
    /// A file with them.
    pub weights: String,
    /// Whether they follow the samples less finely than they could, because finer ones would make the grammar too
    /// large.
    pub are_coarse: bool,
}

/// Learns weights from samples. The counts are those of derivations of the grammar that was
/// compiled with the same options, which ask for no weights of their own ([`Weighting::Own`]).
///
/// # Errors
///
/// The diagnostics, if the grammar does not compile.
pub fn learned(file: &SourceFile, options: &Options, counts: &Counts, how: &How) -> Result<Learned, Diagnostics> {
    let (mut found, are_coarse) = (String::new(), Cell::new(false));
    let mut write = |checked: &Checked<'_>, lowered: &Lowered, _: &Pools| {
        let fits = |weights: &_| {
            let fits = !are_too_many(checked, weights);
            are_coarse.set(are_coarse.get() || !fits);
            fits
        };
        let weights = shape::learn::weights(&lowered.ir, &lowered.sources, counts, how, &fits);
        found = shape::write(checked.grammar, file.name(), Some("learned"), &weights, demands(options));
    };
    compile_examined(file, options, &mut |_, _| {}, Some(&mut write))?;
    Ok(Learned { weights: found, are_coarse: are_coarse.get() })
}

/// A compiled grammar with further facts.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The grammar.
    pub compiled: Compiled,
    /// The growth of the grammar.
    pub growth: shape::Facts,
    /// The names of the recursive rules that grow the most.
    pub critical: Vec<String>,
    /// A file of weights with the weights of this compilation.
    pub weights: String,
}

/// Compiles a grammar file and computes further facts. The diagnostics include the lints.
///
/// # Errors
///
/// The diagnostics, with at least one error.
pub fn examine(file: &SourceFile, options: &Options) -> Result<(Examined, Diagnostics), Diagnostics> {
    let mut found = None;
    let mut more = Diagnostics::default();
    let result = compile_examined(
        file,
        options,
        &mut |_, _| {},
        Some(&mut |checked, lowered, pools| {
            let grammar = checked.grammar;
            let directives = grammar.directives();
            let depth = options.limits.or_default(directives).limits.max_depth;
            let limit = depth.and_then(|depth| DepthLimit::new(depth, &lowered.ir, pools));
            let growth = shape::facts(checked, &lowered.weights, limit.as_ref());
            // The lints examine the grammar with its own weights.
            let none = Weights::default();
            let own = lowered.by_default.map(|_| shape::facts(checked, &none, limit.as_ref()));
            let examined = if own.is_some() { &none } else { &lowered.weights };
            let is_limited = options.limits.over(directives) != Limits::default()
                || matches!(options.weighting, Weighting::Shape(Shape::TargetSize(_)));
            let depth = limit.map(|limit| limit.depth);
            let growth_examined = own.as_ref().unwrap_or(&growth);
            lints::lints(checked, (examined, growth_examined), is_limited, depth, &mut more);
            let mut critical: Vec<String> = Vec::new();
            for &rule in &growth.critical {
                let name = grammar.told(&grammar.rules[rule].name.text);
                if !critical.iter().any(|known| known == name) {
                    critical.push(name.to_string());
                }
            }
            let shape = lowered.shape.as_deref();
            let weights = shape::write(grammar, file.name(), shape, &lowered.weights, demands(options));
            found = Some((growth, critical, weights));
        }),
    );
    let (compiled, mut diagnostics) = result?;
    more.iter().for_each(|diagnostic| diagnostics.push(diagnostic.clone()));
    diagnostics.sort();
    let Some((growth, critical, weights)) = found else { return Err(diagnostics) };
    Ok((Examined { compiled, growth, critical, weights }, diagnostics))
}

/// Returns the names of the stages for [`dump`], in order, each with a description.
pub fn stages() -> Vec<(&'static str, &'static str)> {
    let front = [
        ("ast", "The grammar as it was read"),
        ("ir", "The lowered form, in canonical order, with facts; what the reference interpreter runs"),
        ("pools", "The strings that stand in for each rule beyond the depth limit"),
    ];
    let unfold =
        (UNFOLD, "The depth limit unfolded, as engines run it in place of the last one where limit and code are small");
    front.into_iter().chain(passes::NAMES.iter().copied()).chain([unfold]).collect()
}

/// A stage that not every grammar passes through.
const UNFOLD: &str = "unfold";

fn unfolded_text(compiled: &Compiled, asked: AssumedLimits) -> String {
    let Limits { max_depth, max_len } = asked.or_default(compiled.directives()).limits;
    if max_len.is_some() {
        return "not unfolded: there is a length limit\n".to_string();
    }
    let Some(depth) = max_depth else { return "not unfolded: there is no depth limit\n".to_string() };
    if depth > MAX_UNFOLDED_DEPTH {
        return format!("not unfolded: the depth limit is {depth}, and {MAX_UNFOLDED_DEPTH} is the bound\n");
    }
    match passes::optimise_unfolded(&compiled.lowered, &compiled.pools, depth, MAX_UNFOLDED_NODES) {
        Some(unfolded) => ir::print(&unfolded),
        None => format!(
            "not unfolded: with a depth limit of {depth} there were more than {MAX_UNFOLDED_NODES} nodes, 1 MiB of literals and \
             pools or 32 768 ranges of classes, or a rule has no pool\n"
        ),
    }
}

/// Returns the text of a stage and all diagnostics. The text is `None` if there is no such stage or if it is not
/// reached.
pub fn dump(file: &SourceFile, options: &Options, stage: &str) -> (Option<String>, Diagnostics) {
    let mut text = None;
    let result = compile_observed(file, options, &mut |name, object| {
        if name == stage {
            text = Some(match object {
                Stage::Ast(grammar) => crate::ast::dump(grammar),
                Stage::Ir(ir) => ir::print(ir),
                Stage::Pools(ir, pools) => pools_text(ir, pools),
            });
        }
    });
    if let Ok((compiled, _)) = &result {
        if stage == UNFOLD {
            text = Some(unfolded_text(compiled, options.limits));
        } else if passes::NAMES.iter().any(|&(name, _)| name == stage) {
            text = Some(text_after(stage, compiled, &options.budget));
        }
    }
    let (Ok((_, diagnostics)) | Err(diagnostics)) = result;
    (text, diagnostics)
}

/// Returns the text of the form that a pass makes.
fn text_after(pass: &str, compiled: &Compiled, budget: &Budget) -> String {
    let mut text = String::new();
    optimise(&compiled.lowered, &compiled.pools, budget, &mut |name, ir| {
        if name == pass {
            text = ir::print(ir);
        }
    });
    text
}

fn pools_text(ir: &Ir, pools: &Pools) -> String {
    let mut text = String::new();
    for (rule, _) in ir.bodies() {
        text += &format!("pool <{}>", ir.rule(rule).name);
        match pools.get(rule) {
            Some(pool) => pool.strings.iter().for_each(|string| text += &format!(" \"{}\"", string.escape_ascii())),
            None => text += " too long",
        }
        text.push('\n');
    }
    text
}

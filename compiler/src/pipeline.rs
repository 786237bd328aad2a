//! The way from a source file to a compiled grammar, read top to bottom.

use std::sync::Arc;

use crate::analysis::pools::{Pools, pools};
use crate::analysis::shortest;
use crate::ast::Grammar;
use crate::check::check;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile};
use crate::formats::{self, Format, FormatOptions, Loader, NoFiles, Surroundings};
use crate::ir::{self, Ir, NodeId, RuleId};
use crate::lower::lower;
use crate::passes::{self, Budget, optimise};

/// What the user may decide about a compilation.
#[derive(Clone, Default)]
pub struct Options {
    /// The format of the file; found from its name and text if not given.
    pub format: Option<&'static dyn Format>,
    /// The start rule, instead of the grammar's own.
    pub start: Option<String>,
    /// How much code supercompilation may make.
    pub budget: Budget,
    /// How the file is read.
    pub reading: FormatOptions,
    /// The name of a file, for `loader`, with a grammar of what tokens derive; for formats that leave that out.
    pub tokens: Option<String>,
    /// The other files that a grammar may name; none if not given.
    pub loader: Option<Arc<dyn Loader + Send + Sync>>,
}

/// A grammar, ready for every engine.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The lowered form, which the reference interpreter runs.
    pub lowered: Ir,
    /// The pools of its rules.
    pub pools: Pools,
    /// The residual form, which the other engines run.
    pub residual: Ir,
    /// The depth limit that the grammar file asks for.
    pub max_depth: Option<u32>,
    /// The length limit in bytes that the grammar file asks for.
    pub max_len: Option<u64>,
}

impl Compiled {
    /// The length in bytes of the shortest output.
    pub fn min_len(&self) -> u64 {
        self.lowered.rule(self.lowered.start()).facts.min_len
    }

    /// A reachable rule without a pool, if there is one: then no depth limit can be kept.
    pub fn rule_without_pool(&self) -> Option<&str> {
        self.lowered
            .bodies()
            .find(|&(rule, _)| self.pools.get(rule).is_none())
            .map(|(rule, _)| self.lowered.rule(rule).name.as_str())
    }
}

/// A grammar with an alternative whose shortest string has more bytes than this, or whose shortest derivation takes more
/// steps, is refused: finishing an output would take unbounded time or memory.
pub const MAX_SHORTEST: u64 = 1 << 26;

fn unbounded_derivation(ir: &Ir, grammar: &Grammar) -> Option<Diagnostic> {
    let node_steps = shortest::node_steps(ir, &shortest::steps(ir));
    // The nodes of a rule's body are the arena's up to the body, from the one behind the rule before on.
    let mut bodies: Vec<(NodeId, RuleId)> = ir.bodies().map(|(rule, body)| (body, rule)).collect();
    bodies.sort();
    let node = (0..ir.node_count())
        .map(NodeId::new)
        .find(|&node| ir.facts(node).min_len > MAX_SHORTEST || node_steps[node.index()] > MAX_SHORTEST)?;
    let (_, rule) = *bodies.get(bodies.partition_point(|&(body, _)| body < node))?;
    let name = &ir.rule(rule).name;
    // Counts saturate.
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

/// The limit of the grammar file that no output can keep.
fn impossible_limit(ir: &Ir, grammar: &Grammar) -> Option<Diagnostic> {
    let min_len = ir.rule(ir.start()).facts.min_len;
    let max_len = grammar.max_len.filter(|&max_len| max_len < min_len)?;
    let message = format!("the file asks for at most {max_len} bytes, but the shortest output has {min_len}");
    Some(Diagnostic::error(Code::UnknownDirective, None, message).help(format!("ask for {min_len} bytes or more")))
}

/// Compiles a grammar file. The diagnostics returned beside the result are warnings.
///
/// # Errors
///
/// The diagnostics, one of which at least is an error.
pub fn compile(file: &SourceFile, options: &Options) -> Result<(Compiled, Diagnostics), Diagnostics> {
    compile_observed(file, options, &mut |_, _| {})
}

/// A stage's object, as [`dump`] prints it.
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
    let mut diagnostics = Diagnostics::default();
    let format = options.format.unwrap_or_else(|| formats::detect(file));
    let loader: &dyn Loader = match &options.loader {
        Some(loader) => loader.as_ref(),
        None => &NoFiles,
    };
    let (start, tokens) = (options.start.as_deref(), options.tokens.as_deref());
    let surroundings = Surroundings { options: options.reading, start, tokens, loader };
    let grammar = format.parse_within(file, &surroundings, &mut diagnostics);
    observe("ast", Stage::Ast(&grammar));
    // Checks on a grammar that was not understood would only repeat the syntax errors.
    let checked = match diagnostics.has_errors() {
        true => None,
        false => check(&grammar, options.start.as_deref(), &mut diagnostics),
    };
    let lowered = checked.and_then(|checked| lower(&checked, &mut diagnostics));
    diagnostics.sort();
    let Some(lowered) = lowered.filter(|_| !diagnostics.has_errors()) else { return Err(diagnostics) };
    debug_assert_eq!(ir::verify(&lowered), Ok(()));
    observe("ir", Stage::Ir(&lowered));
    if let Some(diagnostic) = unbounded_derivation(&lowered, &grammar).or_else(|| impossible_limit(&lowered, &grammar))
    {
        diagnostics.push(diagnostic);
        return Err(diagnostics);
    }
    let (max_depth, max_len) = (grammar.max_depth, grammar.max_len);
    // Large grammars take as much memory as written as they do lowered.
    drop(grammar);
    let pools = pools(&lowered);
    observe("pools", Stage::Pools(&lowered, &pools));
    let residual = optimise(&lowered, &pools, &options.budget, &mut |name, ir| observe(name, Stage::Ir(ir)));
    let compiled = Compiled { lowered, pools, residual, max_depth, max_len };
    Ok((compiled, diagnostics))
}

/// The names of the stages that [`dump`] knows, in order, and what each shows.
pub fn stages() -> Vec<(&'static str, &'static str)> {
    let front = [
        ("ast", "The grammar as it was read"),
        ("ir", "The lowered form, in canonical order, with facts; what the reference interpreter runs"),
        ("pools", "The strings that stand in for each rule beyond the depth limit"),
    ];
    front.into_iter().chain(passes::NAMES.iter().copied()).collect()
}

/// The text of a stage of the compilation, if there is such a stage and it is reached, and all diagnostics.
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
    let (Ok((_, diagnostics)) | Err(diagnostics)) = result;
    (text, diagnostics)
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

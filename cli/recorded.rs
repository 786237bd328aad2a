//! Choice bytes in files: the settings in their header, where the command line leaves them open.

use gramjet::Limits;
use gramjet::choices::Header;
use gramjet_compiler::formats::ZeroWeights;
use gramjet_compiler::limits::AssumedLimits;
use gramjet_compiler::shape::{InForce, Weighting};
use gramjet_compiler::tokens::{Alphabet, SeparatorPolicy};
use gramjet_compiler::{Compiled, Fingerprints, Options};
use gramjet_engine::recorded::{Foreign, Recipe};
use gramjet_session::ReplayError;

use crate::arguments::grammar::{GrammarArgs, HowArgs};
use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::prepared::Prepared;
use crate::source::Source;
use crate::units::Bound;

/// Returns the header and the choice bytes of a file.
pub fn split(file: &[u8]) -> Result<(Option<Header>, &[u8]), Failure> {
    Header::split(file).map_err(|error| Failure::Usage(error.to_string()))
}

/// Returns limits as in a header of choice bytes that stand for their text whatever its depth and length.
pub fn unlimited() -> Limits {
    Limits::new().max_choices(u64::MAX)
}

/// Returns why choice bytes are refused.
pub fn refused(error: ReplayError) -> Failure {
    match error {
        ReplayError::Foreign(foreign) => of_others(&foreign),
        ReplayError::Header(_) | ReplayError::Limits(_) => Failure::Usage(error.to_string()),
    }
}

fn of_others(foreign: &Foreign) -> Failure {
    Failure::Usage(format!("{foreign}; give the grammar and the options that they were recorded with"))
}

/// Writes the headers of choice bytes of a grammar.
pub struct Recorder {
    recipe: Recipe,
    fingerprints: Fingerprints,
}

impl Recorder {
    /// Returns a recorder for a grammar that was compiled with these options.
    pub fn new(compiled: &Compiled, options: &Options) -> Recorder {
        Recorder { recipe: Recipe::new(compiled, options), fingerprints: compiled.fingerprints }
    }

    /// Returns the header, then the choice bytes.
    pub fn with_header(&self, choices: &[u8], limits: Limits) -> Vec<u8> {
        self.recipe.header(self.fingerprints, limits).before(choices)
    }

    /// Refuses a header of another grammar.
    pub fn check(&self, header: &Header) -> Result<(), Failure> {
        self.recipe.check(self.fingerprints, header).map_err(|foreign| of_others(&foreign))
    }
}

/// Returns the grammar, read as a header says where the arguments leave it open, under the limits of the header.
pub fn prepare(source: Source, args: &GrammarArgs, asked: &LimitArgs, header: &Header) -> Result<Prepared, Failure> {
    let recipe = Recipe::of(header);
    let limits = limits(asked, header);
    let mut prepared = Prepared::new(source, &adopt(args, &recipe), asked)?;
    prepared.limits = limits;
    if args.how.shape.shape.is_none() && args.how.shape.weights.is_none() {
        adopt_weights(&mut prepared.options, recipe.weights);
    }
    Ok(prepared)
}

/// Returns the arguments, completed by a header's settings.
fn adopt(args: &GrammarArgs, recipe: &Recipe) -> GrammarArgs {
    let mut args = args.clone();
    let HowArgs { start, reading, .. } = &mut args.how;
    *start = start.take().or_else(|| recipe.start.clone());
    let separators = SeparatorPolicy::ALL.iter().find(|(_, policy)| *policy == recipe.separators);
    reading.separator_policy = reading.separator_policy.take().or(separators.map(|(name, _)| name.to_string()));
    reading.indent = reading.indent.or(Some(recipe.indent));
    let zero_weights = ZeroWeights::ALL.iter().find(|(_, setting)| *setting == recipe.zero_weights);
    reading.zero_weights = reading.zero_weights.take().or(zero_weights.map(|(name, _)| name.to_string()));
    let alphabet = recipe.alphabet.and_then(|wanted| Alphabet::ALL.iter().find(|(_, alphabet)| *alphabet == wanted));
    reading.alphabet = reading.alphabet.take().or(alphabet.map(|(name, _)| name.to_string()));
    args
}

fn adopt_weights(options: &mut Options, weights: InForce) {
    match weights {
        InForce::Own => options.weighting = Weighting::Own,
        InForce::Shape { shape, depth } => {
            options.weighting = Weighting::Shape(shape);
            options.limits = AssumedLimits { max_depth: Some(depth), max_len: Some(None) };
        }
        // The file must be given; the fingerprint says so if it is not.
        InForce::File => {}
    }
}

/// Says that the start rule is the header's, where the grammar does not compile with it.
pub fn blame(failure: Failure, args: &GrammarArgs, header: &Header) -> Failure {
    match (failure, Recipe::of(header).start.filter(|_| args.how.start.is_none())) {
        (Failure::Grammar(problem), Some(start)) => Failure::Grammar(format!(
            "{problem}; the start rule `{}` is from the header of the choice bytes, which may be those of another grammar",
            start.escape_debug()
        )),
        (failure, _) => failure,
    }
}

/// Returns the limits of a header. Limits on the command line replace them; each that differs is reported.
fn limits(args: &LimitArgs, header: &Header) -> LimitArgs {
    fn bound<T>(limit: Option<T>) -> Bound<T> {
        limit.map_or(Bound::Unlimited, Bound::At)
    }
    fn shown<T: ToString>(limit: Option<T>) -> String {
        limit.map_or_else(|| "none".to_string(), |limit| limit.to_string())
    }
    fn compare<T: ToString + PartialEq>(option: &str, given: Option<T>, recorded: Option<T>) {
        if given != recorded {
            let (given, recorded) = (shown(given), shown(recorded));
            say!(
                "gramjet: warning: the choice bytes were recorded with `{option} {recorded}`, and `{option} {given}` is asked for: \
                 the text may be another one"
            );
        }
    }
    let recorded = header.limits;
    if let Some(given) = args.max_depth {
        compare("--max-depth", given.number(), recorded.depth());
    }
    if let Some(given) = args.max_len {
        compare("--max-len", given.number(), recorded.length());
    }
    if let Some(given) = args.max_choices.filter(|&given| given < recorded.choices()) {
        let unlimited = recorded.choices() == u64::MAX;
        compare("--max-choices", Some(given), (!unlimited).then_some(recorded.choices()));
    }
    LimitArgs {
        max_depth: Some(args.max_depth.unwrap_or(bound(recorded.depth()))),
        max_len: Some(args.max_len.unwrap_or(bound(recorded.length()))),
        max_choices: Some(args.max_choices.unwrap_or(recorded.choices())),
    }
}

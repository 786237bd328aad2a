//! A fuzzer in the process of the parser. A crash ends the process; under the launcher another goes on.

pub use libafl::corpus::{InMemoryCorpus, OnDiskCorpus};
pub use libafl::events::{EventFirer, EventReceiver, EventRestarter, ProgressReporter, SendExiting};
pub use libafl::executors::{ExitKind, InProcessExecutor};
pub use libafl::feedbacks::{CrashFeedback, MaxMapFeedback};
pub use libafl::fuzzer::{Evaluator, Fuzzer, StdFuzzer};
pub use libafl::inputs::BytesInput;
pub use libafl::mutators::{HavocScheduledMutator, Tokens, havoc_mutations, tokens_mutations};
pub use libafl::observers::{CanTrack, HitcountsMapObserver, StdMapObserver};
pub use libafl::schedulers::{IndexesLenTimeMinimizerScheduler, QueueScheduler};
pub use libafl::stages::StdMutationalStage;
pub use libafl::state::{HasCorpus, HasExecutions, HasMaxSize, HasSolutions, StdState};
pub use libafl::{Error, HasMetadata};
pub use libafl_bolts::rands::StdRand;
pub use libafl_bolts::tuples::{Merge, tuple_list};
pub use libafl_targets::{edges_map_mut_ptr, edges_max_num};

use super::*;

pub type State = StdState<InMemoryCorpus<BytesInput>, BytesInput, StdRand, OnDiskCorpus<BytesInput>>;

/// The common traits of both event managers.
pub trait Manager:
    EventFirer<BytesInput, State>
    + EventRestarter<State>
    + EventReceiver<BytesInput, State>
    + ProgressReporter<State>
    + SendExiting
{
}

impl<M> Manager for M where
    M: EventFirer<BytesInput, State>
        + EventRestarter<State>
        + EventReceiver<BytesInput, State>
        + ProgressReporter<State>
        + SendExiting
{
}

/// The most bytes, or choice bytes, of an input.
pub const MAX_SIZE: usize = 4096;
/// The number of inputs generated in the beginning if there are no seeds.
pub const GENERATED: usize = 16;

/// Returns the grammar, if inputs are choice bytes.
pub fn grammar(arguments: &Arguments) -> Result<Option<Grammar>, Error> {
    match &arguments.inputs {
        Inputs::Choices(path) => {
            Ok(Some(Grammar::load(path).map_err(|error| Error::illegal_argument(error.to_string()))?))
        }
        Inputs::Bytes(_) => Ok(None),
    }
}

/// Returns the seeds: their bytes, or the choice bytes of those that conform.
pub fn seeds(arguments: &Arguments, grammar: Option<&Grammar>) -> Result<Vec<BytesInput>, Error> {
    let Some(folder) = &arguments.seeds else { return Ok(Vec::new()) };
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, Error>>()?;
    paths.sort();
    let mut inputs = Vec::new();
    for path in paths {
        let text = fs::read(&path)?;
        match grammar.map(|grammar| grammar.import(&text)) {
            None => inputs.push(BytesInput::new(text)),
            Some(Ok(input)) => inputs.push(input),
            Some(Err(error)) => eprintln!("{}: {error}", path.display()),
        }
    }
    Ok(inputs)
}

/// Fuzzes until the bug is found or the time is over. The executor is what differs between the two ways.
macro_rules! fuzz_with {
    ($arguments:expr, $grammar:expr, $state:expr, $manager:expr, $edges:ident, $fuzzer:ident, $state_name:ident => $executor:expr) => {{
        let arguments: &Arguments = $arguments;
        let grammar: Option<&Grammar> = $grammar;
        let mut feedback = MaxMapFeedback::new(&$edges);
        let mut objective = CrashFeedback::new();
        let mut $state_name: State = match $state {
            Some(state) => state,
            None => StdState::new(
                StdRand::with_seed(arguments.seed),
                InMemoryCorpus::new(),
                OnDiskCorpus::new(&arguments.out)?,
                &mut feedback,
                &mut objective,
            )?,
        };
        if $state_name.solutions().count() > 0 {
            // Another process of this client found it. The broker ends with its last client.
            $manager.send_exiting()?;
            return Err(Error::shutting_down());
        }
        $state_name.set_max_size(MAX_SIZE);
        let scheduler = IndexesLenTimeMinimizerScheduler::new(&$edges, QueueScheduler::new());
        let mut $fuzzer = StdFuzzer::builder()
            .target_bytes_converter::<BytesInput, _>(Texts(grammar.map(Grammar::renderer)))
            .scheduler(scheduler)
            .feedback(feedback)
            .objective(objective)
            .build();
        let mut executor = $executor?;
        if $state_name.must_load_initial_inputs() {
            for input in seeds(arguments, grammar)? {
                $fuzzer.evaluate_input(&mut $state_name, &mut executor, $manager, &input)?;
            }
            if let Some(grammar) = grammar {
                let mut generator = grammar.generator(MAX_SIZE / 4);
                $state_name.generate_initial_inputs(
                    &mut $fuzzer,
                    &mut executor,
                    &mut generator,
                    $manager,
                    GENERATED,
                )?;
            }
            if $state_name.corpus().count() == 0 {
                $fuzzer.add_input(&mut $state_name, &mut executor, $manager, BytesInput::new(vec![b' ']))?;
            }
        }
        let end = libafl_bolts::current_time() + arguments.time;
        macro_rules! run {
            ($mutator:expr) => {{
                let mut stages = tuple_list!(StdMutationalStage::new($mutator));
                while libafl_bolts::current_time() < end && $state_name.solutions().count() == 0 {
                    $fuzzer.fuzz_one(&mut stages, &mut executor, &mut $state_name, $manager)?;
                    $manager.maybe_report_progress(&mut $state_name, Duration::from_secs(5))?;
                }
            }};
        }
        match (&arguments.inputs, grammar) {
            (_, Some(grammar)) => run!(grammar.mutator()),
            (Inputs::Bytes(Some(dictionary)), _) => {
                $state_name.add_metadata(Tokens::from_file(dictionary)?);
                run!(HavocScheduledMutator::new(havoc_mutations().merge(tokens_mutations())))
            }
            _ => run!(HavocScheduledMutator::new(havoc_mutations())),
        }
        println!("{} executions, {} found", $state_name.executions(), $state_name.solutions().count());
        $manager.send_exiting()?;
        Err(Error::shutting_down())
    }};
}
pub(crate) use fuzz_with;

/// Makes the target's texts: rendered choice bytes, or the input itself.
pub struct Texts(pub Option<gramjet_libafl::Renderer>);

impl<S> libafl::inputs::ToTargetBytesConverter<BytesInput, S> for Texts {
    fn convert_to_target_bytes<'a>(
        &mut self,
        state: &mut S,
        input: &'a BytesInput,
    ) -> libafl_bolts::ownedref::OwnedSlice<'a, u8> {
        match &mut self.0 {
            Some(renderer) => renderer.convert_to_target_bytes(state, input),
            None => libafl::inputs::HasTargetBytes::target_bytes(input),
        }
    }
}

pub fn fuzz<M: Manager>(arguments: &Arguments, state: Option<State>, manager: &mut M) -> Result<(), Error> {
    // SAFETY: the map is one for the whole process, and only this observer looks at it.
    let edges = unsafe { StdMapObserver::from_mut_ptr("edges", edges_map_mut_ptr(), edges_max_num()) };
    let edges = HitcountsMapObserver::new(edges).track_indices();
    let parser = arguments.parser;
    let grammar = grammar(arguments)?;
    let mut renderer = grammar.as_ref().map(Grammar::renderer);
    let mut harness = |input: &BytesInput| {
        let choices: &Vec<u8> = input.as_ref();
        match &mut renderer {
            Some(renderer) => parser(renderer.render(choices)),
            None => parser(choices),
        }
        ExitKind::Ok
    };
    fuzz_with!(arguments, grammar.as_ref(), state, manager, edges, fuzzer, state => InProcessExecutor::builder()
        .harness(&mut harness)
        .observers(tuple_list!(edges))
        .fuzzer(&mut fuzzer)
        .state(&mut state)
        .event_mgr(manager)
        .timeout(Duration::from_secs(5))
        .build())
}

//! Grammar probabilities that evolve, after EvoGFuzz (Eberlein, Noller, Vogel & Grunske, *Evolutionary Grammar-Based
//! Fuzzing*, SSBSE 2020).
//!
//! A generation of texts is drawn by the probabilities of options. The fittest texts are selected, the probabilities
//! are learned from the options that they use, a few sites are mutated, and the next generation is drawn.
//!
//! The first probabilities are those of seeds, or the grammar's own weights if there are none. The published ones are
//! those of samples.
//!
//! With the published constants: 100 texts in a generation; the 5 fittest are selected, and the winners of ten
//! tournaments of ten among the others; fitness is exp(x)^2 / len(x), and infinite if the program failed; learned
//! probabilities replace the earlier ones, with 0 for what no selected text uses; one site is mutated. Left open by the
//! paper, or other than there:
//!
//! - Contestants are drawn with replacement, and a text may win several tournaments; it counts once for each.
//! - The sites of the grammar stand for its rules: a choice, a class and the end of a repetition each have
//!   probabilities. The mutated site is one that the generation has decided; any other has no effect.
//! - An expansion is an instance of a rule.
//! - A failure is what the caller says: for `gramjet search` a signal or the like, for `gramjet evolve` an exception,
//!   too, if it is not allowed.
//! - A text on which the program was stopped at a limit has the fitness of its structure.
//! - An option of weight 0 in the grammar keeps it in a mutation, as no text has such an option.
//! - Each thread evolves a population of its own.
//! - Texts have a limit on length, as in all searches.
//!
//! Its baseline ("common") is to learn the probabilities of the seeds once, and to draw all texts by these.
//!
//! Otherwise:
//!
//! - In a search for cost, fitness is the cost as a share of the greatest one, and the gain in coverage: 1 for a new
//!   edge, and the share of the edges whose maximum is raised. Size says little about cost under a limit on length.
//!   Texts on which the program was stopped are not selected, and those on which it failed are for their gain alone.
//! - In a search for coverage, fitness is the sum over the edges of a text of 1 / n, where n texts have executed the
//!   edge; see `evolve/rarity.rs`. It guides where no text has a new edge, which is nearly always. Texts on which the
//!   program failed are as fit as others with their edges.
//! - Generations of 50 texts in turn on 3 islands with probabilities of their own, as one population settles on what it
//!   finds first. In a search for cost the islands weigh gains by 0, 1/2 and 1, so they settle on different texts.
//! - Each fifth generation the costliest (or the fittest) text of an island goes to the next one, rarely enough that
//!   islands differ.
//! - An elite remains until there are fitter texts. A gain counts half in each later generation.
//! - Learned probabilities do not forget at once, and have a share of the grammar's own; see `evolve/island.rs`.
//! - The more sites are mutated the longer an island makes no progress; after 20 generations it begins anew.
//! - Texts that were run before are not run again, and are not selected again. A generation of nothing else ends.
//! - Texts of other workers go to the island whose turn it is.

mod island;
mod population;
mod probabilities;
mod rarity;

use gramjet_session::decisions::{Decision, Derivation};

use gramjet_search::Maxima;
use gramjet_search::{Desk, Ending, Measured, Repeats, Strategy};
use island::Island;
use population::Member;
use probabilities::{Draw, Probabilities};
use rarity::{Rarity, executed};

/// The number of texts in a generation, as published and otherwise: half as many give twice the generations, and are
/// still several times those selected.
const PUBLISHED_POPULATION: usize = 100;
const POPULATION: usize = 50;
/// Weights of gains in coverage for the islands.
const WEIGHTS_OF_GAIN: [f64; 3] = [0.0, 0.5, 1.0];
/// Texts move between islands each time after this many generations of each.
const MIGRATION: usize = 5;
/// Against the uses in seeds, the grammar's own probabilities count as this many, so that a site which seeds decide
/// once is not decided by that. They keep this share, as seeds are few and do not show all that pays.
const PRIOR: f64 = 10.0;
const FLOOR_OF_PRIOR: f64 = 0.05;

/// Ways in which probabilities evolve, and the texts towards which they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// The published way.
    Published,
    /// The published baseline: not at all.
    Common,
    /// Towards costly texts.
    Cost,
    /// Towards texts that execute what few others do.
    Coverage,
}

/// Texts by probabilities that evolve.
#[derive(Debug)]
pub(super) struct Evolve {
    aim: Aim,
    /// Decisions of the texts that were adopted before the first generation, however their runs ended.
    samples: Vec<Vec<Decision>>,
    /// Adopted texts that can be selected.
    settlers: Vec<Member>,
    world: Option<World>,
    /// The texts of this generation.
    members: Vec<Member>,
    drawn: usize,
    repeated: usize,
    generations: usize,
    greatest: f64,
    maxima: Maxima,
    rarity: Rarity,
}

impl Aim {
    /// Returns true if the paper has this aim.
    fn is_of_paper(self) -> bool {
        matches!(self, Aim::Published | Aim::Common)
    }
}

/// The islands, and the probabilities that do not change.
#[derive(Debug)]
struct World {
    /// Probabilities of the grammar.
    own: Probabilities,
    /// The first ones.
    start: Probabilities,
    islands: Vec<Island>,
    turn: usize,
}

impl World {
    fn new(desk: &Desk, samples: &[Vec<Decision>], settlers: Vec<Member>, aim: Aim) -> World {
        let own = Probabilities::of_grammar(&desk.deriver);
        let mut start = own.clone();
        let texts: Vec<&[Decision]> = samples.iter().map(|sample| &sample[..]).collect();
        match () {
            () if texts.is_empty() => {}
            () if aim.is_of_paper() => start.replace(&own, &texts),
            () => start.adapt(&own, &texts, PRIOR, FLOOR_OF_PRIOR),
        }
        let weights = if aim.is_of_paper() { &WEIGHTS_OF_GAIN[..1] } else { &WEIGHTS_OF_GAIN[..] };
        let mut islands: Vec<Island> = weights.iter().map(|&weight| Island::new(&start, weight)).collect();
        for (number, settler) in settlers.into_iter().enumerate().filter(|_| !aim.is_of_paper()) {
            let count = islands.len();
            islands[number % count].settle(settler);
        }
        World { own, start, islands, turn: 0 }
    }

    /// Copies the costliest text of each island to the next one.
    fn migrate(&mut self) {
        let emigrants: Vec<Option<Member>> = self.islands.iter().map(Island::emigrant).collect();
        let count = self.islands.len();
        for (number, emigrant) in emigrants.into_iter().enumerate() {
            if let Some(member) = emigrant {
                self.islands[(number + 1) % count].settle(member);
            }
        }
    }
}

impl Evolve {
    pub(super) fn new(aim: Aim) -> Evolve {
        Evolve {
            aim,
            samples: Vec::new(),
            settlers: Vec::new(),
            world: None,
            members: Vec::new(),
            drawn: 0,
            repeated: 0,
            generations: 0,
            greatest: 0.0,
            maxima: Maxima::new(),
            rarity: Rarity::default(),
        }
    }

    /// Returns a text with its fitness. `None` if it is not to be selected.
    fn member(&mut self, text: &Derivation, measured: &Measured) -> Option<Member> {
        let decisions = text.decisions.clone();
        if self.aim.is_of_paper() {
            let fitness = population::published(text, measured.ending);
            return Some(Member { decisions, fitness, ..Member::default() });
        }
        let novelty = self.maxima.add(&measured.edges);
        let gain = population::gain(novelty, self.maxima.edges());
        let cost = if measured.ending == Ending::Done { measured.cost as f64 } else { 0.0 };
        self.greatest = self.greatest.max(cost);
        let mut edges = Vec::new();
        if self.aim == Aim::Coverage {
            self.rarity.add(&measured.edges);
            edges.extend(executed(&measured.edges));
        }
        (measured.ending != Ending::Stopped).then_some(Member { decisions, cost, gain, edges, fitness: 0.0 })
    }

    /// Returns the islands; the first call makes them from the samples.
    fn world(&mut self, desk: &Desk) -> &mut World {
        let (samples, settlers, aim) = (&mut self.samples, &mut self.settlers, self.aim);
        self.world.get_or_insert_with(|| World::new(desk, &std::mem::take(samples), std::mem::take(settlers), aim))
    }

    fn population(&self) -> usize {
        if self.aim.is_of_paper() { PUBLISHED_POPULATION } else { POPULATION }
    }

    fn end_generation(&mut self, desk: &mut Desk) {
        let Some(world) = &mut self.world else { return };
        let members = std::mem::take(&mut self.members);
        (self.drawn, self.repeated) = (0, 0);
        self.generations += 1;
        let island = &mut world.islands[world.turn];
        let (greatest, rarity) = (self.greatest.max(1.0), &self.rarity);
        match self.aim {
            Aim::Common => return,
            Aim::Published => return island.replace(&world.own, members, &mut desk.random),
            Aim::Cost => {
                let weight = island.weight_of_gain;
                let fitness = |member: &Member| member.cost / greatest + weight * member.gain;
                island.adapt((&world.own, &world.start), members, fitness, &mut desk.random);
            }
            Aim::Coverage => {
                let fitness = |member: &Member| rarity.of(&member.edges);
                island.adapt((&world.own, &world.start), members, fitness, &mut desk.random);
            }
        }
        world.turn = (world.turn + 1) % world.islands.len();
        if self.generations.is_multiple_of(MIGRATION * world.islands.len()) {
            world.migrate();
        }
    }
}

impl Strategy for Evolve {
    fn name(&self) -> &'static str {
        if self.aim == Aim::Common { "common" } else { "evolve" }
    }

    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        let world = self.world(desk);
        let probabilities = &world.islands[world.turn].drawn;
        let mut draw = Draw { probabilities, random: &mut desk.random };
        desk.deriver.derive(&[], &mut draw, candidate);
    }

    fn observe(&mut self, desk: &mut Desk, candidate: &Derivation, measured: &Measured) {
        if measured.is_repeat {
            self.repeated += 1;
        } else {
            self.drawn += 1;
            let member = self.member(candidate, measured);
            self.members.extend(member);
        }
        if self.drawn >= self.population() || self.repeated >= self.population() {
            self.end_generation(desk);
        }
    }

    /// Adds a text: before the first generation, it is a sample. The published search takes no others.
    fn adopt(&mut self, _desk: &mut Desk, derivation: &Derivation, measured: &Measured) {
        if derivation.decisions.is_empty() {
            return;
        }
        let member = self.member(derivation, measured).filter(|_| !self.aim.is_of_paper());
        match &mut self.world {
            None => {
                self.samples.push(derivation.decisions.clone());
                self.settlers.extend(member);
            }
            Some(world) => member.into_iter().for_each(|member| world.islands[world.turn].settle(member)),
        }
    }

    fn begin(&mut self, desk: &mut Desk) {
        self.world(desk);
    }

    fn repeats(&self) -> Repeats {
        if self.aim.is_of_paper() { Repeats::Run } else { Repeats::Remember }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit::{
        BRACKETS, best_of_five, count_of, language, measured, nesting, run, search, strategy,
    };
    use gramjet_search::Search;

    #[test]
    fn letters_that_pay_become_frequent() {
        let best = |name| best_of_five((name, false), "s ::= [a-d]*", 2000, count_of(b'a'));
        let (evolved, random) = (best("evolve"), best("random"));
        assert!(evolved >= 60 && random < 50, "{evolved} {random}");
    }

    #[test]
    fn equal_seeds_give_equal_searches() {
        let texts = |paper, seed| {
            let mut search = search(BRACKETS, strategy("evolve", paper), 30, seed);
            let texts: Vec<Vec<u8>> = (0..700)
                .map(|_| {
                    run(&mut search, 1, nesting);
                    search.propose().text.clone()
                })
                .collect();
            texts
        };
        for paper in [false, true] {
            assert_eq!(texts(paper, 5), texts(paper, 5));
            assert_ne!(texts(paper, 5), texts(paper, 6));
        }
    }

    /// Returns a search whose strategy has seen `seeds`.
    fn seeded(paper: bool, seeds: &[&str]) -> Search {
        let mut search = search("s ::= [a-d]*", strategy("evolve", paper), 30, 1);
        for text in seeds {
            let options: Vec<u32> = text.bytes().flat_map(|byte| [1, u32::from(byte - b'a')]).chain([0]).collect();
            let mut derivation = Derivation::default();
            search.desk().deriver.replay(&options, &mut derivation);
            assert_eq!(derivation.text, text.as_bytes());
            search.adopt(&derivation, &measured(1, &[]));
        }
        search
    }

    #[test]
    fn the_first_texts_are_like_the_seeds() {
        let count = |paper, seeds: &[&str]| {
            let mut search = seeded(paper, seeds);
            let mut letters = [0; 4];
            for _ in 0..50 {
                let text = search.propose().text.clone();
                text.iter().for_each(|byte| letters[usize::from(byte - b'a')] += 1);
                search.observe(&measured(0, &[]));
            }
            letters
        };
        let seeds = ["bbbbbbbbbbcbbbbbbbbb", "bbbbbbbbbcbbbbbbbbbb"];
        let published = count(true, &seeds);
        assert!(published[0] == 0 && published[3] == 0 && published[1] > 10 * published[2], "{published:?}");
        let smoothed = count(false, &seeds);
        assert!(smoothed[0] > 0 && smoothed[1] > 4 * smoothed[0], "{smoothed:?}");
        let even = count(true, &[]);
        assert!(even.iter().all(|count| *count > 0 && *count < 30), "{even:?}");
    }

    #[test]
    fn what_was_stopped_is_not_selected() {
        let deriver = language("s ::= [a-d]").deriver(Some(30));
        let mut desk = Desk::new(deriver, 30, gramjet_session::Random::new(1));
        let (mut evolve, mut text) = (Evolve::new(Aim::Cost), Derivation::default());
        evolve.propose(&mut desk, &mut text);
        let of = |ending| Measured { ending, ..measured(9, &[(1, 1)]) };
        assert_eq!(evolve.member(&text, &of(Ending::Stopped)), None);
        assert_eq!(evolve.member(&text, &of(Ending::Failed)).map(|member| member.cost), Some(0.0));
        assert_eq!(evolve.member(&text, &of(Ending::Done)).map(|member| member.cost), Some(9.0));
        assert_eq!(
            Evolve::new(Aim::Published).member(&text, &of(Ending::Failed)).map(|member| member.fitness),
            Some(f64::INFINITY)
        );
    }

    /// A search for coverage draws letters more often that few texts have; its baseline draws as it has begun.
    #[test]
    fn what_few_texts_execute_becomes_frequent() {
        let share = |aim| {
            let grammar = "s ::= t*  t ::= 'x' @ 50 | 'y'";
            let mut search = search(grammar, Box::new(Evolve::new(aim)), 20, 4);
            // The edges of y in n places are many, and each is rare.
            let subject = |text: &[u8]| {
                let places = (0..).zip(text).filter(|(_, byte)| **byte == b'y').map(|(place, _)| (place + 1, 1));
                (0, std::iter::once((0, 1)).chain(places).collect())
            };
            run(&mut search, 1500, subject);
            let mut texts = (0..200).map(|_| {
                let text = search.propose().text.clone();
                search.observe(&measured(0, &[]));
                (text.iter().filter(|byte| **byte == b'y').count(), text.len())
            });
            let (count, of) = texts.try_fold((0, 0), |sum, next| Some((sum.0 + next.0, sum.1 + next.1))).expect("sums");
            count as f64 / of as f64
        };
        let (coverage, common) = (share(Aim::Coverage), share(Aim::Common));
        assert!(coverage > 0.3 && common < 0.05, "{coverage} {common}");
    }

    #[test]
    fn samples_of_any_length_are_learned_from() {
        let mut search = search("s ::= [a-d]*", Box::new(Evolve::new(Aim::Common)), 30, 1);
        let options: Vec<u32> = std::iter::repeat_n([1, 1], 500).flatten().chain([0]).collect();
        let mut sample = Derivation::default();
        language("s ::= [a-d]*").deriver(None).replay(&options, &mut sample);
        assert_eq!(sample.text, b"b".repeat(500));
        search.learn(&sample, &measured(0, &[]));
        let text = search.propose().text.clone();
        assert!(text == b"b".repeat(30) || text.iter().all(|byte| *byte == b'b') && text.len() > 5, "{text:?}");
    }

    #[test]
    fn what_is_adopted_after_the_begin_is_no_sample() {
        let count = |paper, begins| {
            let mut search = seeded(paper, &["bbbbbbbbbb"]);
            if begins {
                search.begin();
            }
            let mut other = Derivation::default();
            let options: Vec<u32> = [1, 3].repeat(10).into_iter().chain([0]).collect();
            search.desk().deriver.replay(&options, &mut other);
            search.adopt(&other, &measured(1, &[]));
            let mut drawn = || {
                let text = search.propose().text.clone();
                search.observe(&measured(0, &[]));
                text.iter().filter(|byte| **byte == b'd').count()
            };
            (0..50).map(|_| drawn()).sum::<usize>()
        };
        assert!(count(true, false) > 100 && count(true, true) == 0);
        assert!(count(false, true) < count(false, false) / 2);
    }

    /// A sample says what texts look like, whatever the program does with it.
    #[test]
    fn samples_on_which_the_program_fails_or_is_stopped_are_learned_from() {
        for aim in [Aim::Published, Aim::Common, Aim::Coverage, Aim::Cost] {
            for ending in [Ending::Failed, Ending::Stopped] {
                let grammar = "s ::= [a-d] [a-d] [a-d] [a-d] [a-d] [a-d] [a-d] [a-d]";
                let mut search = search(grammar, Box::new(Evolve::new(aim)), 30, 1);
                let mut sample = Derivation::default();
                search.desk().deriver.replay(&[1; 8], &mut sample);
                for _ in 0..40 {
                    search.adopt(&sample, &Measured { ending, ..measured(0, &[]) });
                }
                let mut letters = 0;
                for _ in 0..40 {
                    letters += search.propose().text.iter().filter(|byte| **byte == b'b').count();
                    search.observe(&measured(0, &[]));
                }
                assert!(letters > 200, "{aim:?} {ending:?}: {letters} of 320");
            }
        }
    }

    #[test]
    fn a_generation_of_repeats_ends() {
        let mut search = search("s ::= 'a' | 'b'", strategy("evolve", false), 30, 1);
        run(&mut search, 40, count_of(b'a'));
        assert!(search.repeats() > 1000);
    }

    #[test]
    fn islands_take_turns_and_exchange_texts() {
        // The language has far more texts than are drawn here, so all of these differ.
        let deriver = language("s ::= [a-z] [a-z] [a-z] [a-z] [a-z] [a-z] [a-z]").deriver(Some(30));
        let mut desk = Desk::new(deriver, 30, gramjet_session::Random::new(1));
        let (mut evolve, mut text) = (Evolve::new(Aim::Cost), Derivation::default());
        let mut turns = Vec::new();
        for run in 0..MIGRATION * 3 * POPULATION {
            evolve.propose(&mut desk, &mut text);
            turns.push(evolve.world.as_ref().expect("islands").turn);
            evolve.observe(&mut desk, &text, &measured(run as u64, &[]));
        }
        assert!(turns.iter().enumerate().all(|(run, turn)| *turn == run / POPULATION % 3));
        // The last text of all costs most. It came from the last island, and is now on the first one as well.
        let islands = &evolve.world.as_ref().expect("islands").islands;
        let costliest: Vec<f64> = islands.iter().map(|island| island.emigrant().expect("a text").cost).collect();
        let greatest = (MIGRATION * 3 * POPULATION - 1) as f64;
        assert!(costliest[0] == greatest && costliest[1] < greatest && costliest[2] == greatest, "{costliest:?}");
    }
}

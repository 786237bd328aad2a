//! A process that runs attacks on one kind of target, so that an attack which ends the harness ends this process alone.
//! What it finds it prints, a line each.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gramjet_harness::Error;

use super::kinds::{Kind, Programs, Seen, Subjected};
use super::table::{ATTACKS, After, Attack};
use super::victims::{Victims, adopt, clear, files_left};

/// Beginning of lines for the parent.
pub(super) const MARK: &str = "hostile: ";
/// Attacks on one target, until there is a new one.
const ON_ONE_TARGET: usize = 12;
/// The limit on time of attacks that end with it, and of others: a busy machine may need long for a short run.
const SHORT: Duration = Duration::from_millis(1000);
const LONG: Duration = Duration::from_secs(20);

/// Task of the process.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) kind: Kind,
    pub(super) programs: PathBuf,
    /// A folder of its own.
    pub(super) folder: PathBuf,
    /// Every attack whose number in the table has this remainder, by this number, from this one on.
    pub(super) shard: usize,
    pub(super) shards: usize,
    pub(super) from: usize,
}

/// The variable that has the job.
pub(super) const JOB: &str = "GRAMJET_TEST_HOSTILE";

impl Job {
    pub(super) fn text(&self) -> String {
        let kind = format!("{:?}", self.kind);
        [
            kind,
            self.programs.display().to_string(),
            self.folder.display().to_string(),
            self.shard.to_string(),
            self.shards.to_string(),
            self.from.to_string(),
        ]
        .join("\n")
    }

    pub(super) fn parse(text: &str) -> Job {
        let lines: Vec<&str> = text.lines().collect();
        let kind = super::kinds::ALL.iter().find(|kind| format!("{kind:?}") == lines[0]).expect("a kind");
        let number = |line: usize| lines[line].parse().expect("a number");
        Job {
            kind: *kind,
            programs: lines[1].into(),
            folder: lines[2].into(),
            shard: number(3),
            shards: number(4),
            from: number(5),
        }
    }

    /// Returns the attacks with their numbers in the table: those that wait come last, as they need other limits.
    pub(super) fn attacks(&self) -> Vec<(usize, &'static Attack)> {
        let only = std::env::var("GRAMJET_TEST_ATTACK").ok();
        let is_asked = |attack: &Attack| only.as_ref().is_none_or(|only| attack.name.contains(only.as_str()));
        let applies = |attack: &&Attack| attack.kinds.contains(&self.kind) && is_asked(attack);
        let mut attacks: Vec<_> = ATTACKS.iter().filter(applies).collect();
        attacks.sort_by_key(|attack| attack.is_endless);
        attacks.into_iter().enumerate().filter(|(number, _)| number % self.shards == self.shard).collect()
    }
}

/// The target, its victims, and what a harmless input does.
pub(super) struct Scene {
    kind: Kind,
    programs: Programs,
    folder: PathBuf,
    pub(super) victims: Victims,
    /// Results of a harmless input as the first one of a process, and later.
    expected: Vec<Seen>,
}

/// Number of times that a harmless input is run until what an attack has left is gone.
const PATIENCE: usize = 500;
/// The guard looks at least as often, after a run.
pub(super) const SWEEP: Duration = Duration::from_millis(60);
/// Beginning of what is said of an input with other counts.
const OTHER_COUNTS: &str = "the next input has";
pub(super) const FIRST: &str = "benign 7";
pub(super) const SECOND: &str = "benign 31";

impl Scene {
    pub(super) fn new(kind: Kind, programs: &Path, folder: &Path) -> Result<Scene, Error> {
        adopt();
        let victims = Victims::new(folder);
        let mut scene = Scene {
            kind,
            programs: Programs::at(programs.to_path_buf()),
            folder: folder.to_path_buf(),
            victims,
            expected: Vec::new(),
        };
        for before in [&[][..], &[FIRST]] {
            let mut target = scene.target(LONG)?;
            for input in before {
                target.run(input)?;
            }
            scene.expected.extend(target.run_all(&[SECOND, SECOND])?);
        }
        Ok(scene)
    }

    pub(super) fn target(&self, time: Duration) -> Result<Subjected, Error> {
        let mut variables = self.victims.variables();
        variables.push(("HOSTILE_LIBRARY", OsString::from(self.programs.folder().join("library.so"))));
        self.kind.target(&self.programs, time, &variables, self.victims.folder())
    }

    /// Makes the victims anew.
    pub(super) fn restore(&mut self) {
        self.victims = Victims::new(&self.folder);
    }

    /// Returns what is wrong with a run of the harmless input, of which so much may be spoilt.
    pub(super) fn wrong(&self, seen: &Seen, spoilt: After) -> Option<String> {
        let is_it = |expected: &&Seen| {
            (spoilt >= After::Outcome || expected.outcome == seen.outcome)
                && (spoilt >= After::Counts || expected.edges == seen.edges)
                && (spoilt >= After::Output || (expected.stdout == seen.stdout && expected.stderr == seen.stderr))
        };
        if self.expected.iter().any(|expected| is_it(&expected)) {
            return None;
        }
        let expected = &self.expected[0];
        Some(match () {
            () if expected.outcome != seen.outcome => {
                format!("the next input ended with {}, {:?}", seen.outcome, seen.stderr)
            }
            () if expected.edges != seen.edges => {
                format!("{OTHER_COUNTS} {} edges, not {}", seen.edges.len(), expected.edges.len())
            }
            () => format!("the next input said {:?} and {:?}", seen.stdout, seen.stderr),
        })
    }

    /// Returns what an attack may spoil of the next input, and of later ones.
    pub(super) fn spoilt(&self, attack: &Attack) -> [After; 2] {
        match attack.after {
            // The guard looks after each run.
            After::Counts | After::Outcome if self.kind.is_plain() => [After::Nothing; 2],
            After::Output | After::Process if !self.kind.is_one_process() => [After::Nothing; 2],
            After::Output => [After::Output; 2],
            next => [next, After::Nothing],
        }
    }

    /// Waits until what an attack has left is gone.
    pub(super) fn settle(&self, target: &mut Subjected, later: After) -> Result<(), Error> {
        std::thread::sleep(SWEEP);
        // The guard looks after this one.
        target.run(SECOND)?;
        for _ in 0..PATIENCE {
            if self.wrong(&target.run_all(&[SECOND])?[0], later).is_none() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Runs an attack between two harmless inputs; what is wrong.
    fn attack(&mut self, target: &mut Subjected, attack: &Attack) -> Result<Vec<String>, Error> {
        let mut wrong = Vec::new();
        let input = attack.input();
        let [next, later] = self.spoilt(attack);
        let seen = target.run_all(&[FIRST, &input, SECOND])?;
        if !attack.is_right(self.kind, &seen[1].outcome) {
            let said: String = seen[1].stderr.chars().take(200).collect();
            wrong.push(format!("it ended with {}, {said:?}", seen[1].outcome));
        }
        wrong.extend(self.wrong(&seen[2], next));
        if next != later {
            self.settle(target, later)?;
        }
        // Nor may it come to light later, and what fails is found.
        let seen = target.run_all(&[SECOND, "finding", SECOND])?;
        wrong.extend(self.wrong(&seen[0], later));
        wrong.extend(self.wrong(&seen[2], later));
        if !is_found(&seen[1]) {
            wrong.push(format!("the finding ended with {}", seen[1].outcome));
        }
        wrong.extend(self.victims.harm());
        Ok(wrong)
    }
}

/// Returns true if the run is the one that a campaign must find.
pub(super) fn is_found(seen: &Seen) -> bool {
    use gramjet_harness::Outcome;
    match &seen.outcome {
        Outcome::Signal(number) => *number == libc::SIGABRT,
        Outcome::Exception(exception) => exception.class.contains("Finding"),
        _ => false,
    }
}

/// Tells the parent something.
pub(super) fn tell(what: &str) {
    use std::io::Write;
    // Not by `println`, which the test's output would capture.
    let _ = writeln!(std::io::stdout(), "{MARK}{}", what.replace('\n', " "));
}

/// Runs the job.
pub(super) fn run(job: &Job) {
    let mut scene = match Scene::new(job.kind, &job.programs, &job.folder) {
        Ok(scene) => scene,
        Err(error) => return tell(&format!("fail setup {error}")),
    };
    let attacks: Vec<_> = job.attacks().into_iter().filter(|&(number, _)| number >= job.from).collect();
    let mut rest = &attacks[..];
    while let Some(&(_, first)) = rest.first() {
        let is_alike = |(_, attack): &&(usize, &Attack)| attack.is_endless == first.is_endless;
        let count = rest.iter().take(ON_ONE_TARGET).take_while(is_alike).count();
        let done = on_one_target(&mut scene, &rest[..count]);
        rest = &rest[done..];
    }
    tell("end");
}

/// Runs attacks on a target until one succeeds; how many.
fn on_one_target(scene: &mut Scene, attacks: &[(usize, &Attack)]) -> usize {
    let time = if attacks[0].1.is_endless { SHORT } else { LONG };
    let mut target = match scene.target(time) {
        Ok(target) => target,
        Err(error) => {
            tell(&format!("begin {} {}", attacks[0].0, attacks[0].1.name));
            tell(&format!("fail {} no target: {error}", attacks[0].1.name));
            return 1;
        }
    };
    let (mut done, mut succeeded) = (0, None);
    for (number, attack) in attacks {
        tell(&format!("begin {number} {} {}", attack.name, attack.much));
        done += 1;
        let begin = Instant::now();
        let wrong = scene.attack(&mut target, attack).unwrap_or_else(|error| vec![format!("the harness: {error}")]);
        if wrong.is_empty() {
            tell(&format!("ok {} {} {:?}", begin.elapsed().as_millis(), attack.name, scene.kind));
            continue;
        }
        // On a busy machine what a run has left may count for longer than it is waited for. That happens once; what an
        // attack does to others never may.
        let is_about_counts = wrong.iter().all(|wrong| wrong.starts_with(OTHER_COUNTS));
        let again = |scene: &mut Scene| scene.target(time).and_then(|mut target| scene.attack(&mut target, attack));
        if is_about_counts && again(scene).is_ok_and(|wrong| wrong.is_empty()) {
            tell(&format!("ok {} {} {:?}", begin.elapsed().as_millis(), attack.name, scene.kind));
        } else {
            succeeded = Some((*attack, wrong));
        }
        break;
    }
    drop(target);
    let mut left = scene.victims.processes_left();
    left.extend(files_left());
    std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten().for_each(|entry| clear(&entry.path()));
    if let Some((attack, wrong)) = &succeeded {
        wrong.iter().for_each(|wrong| tell(&format!("fail {} {wrong}", attack.name)));
        scene.restore();
    }
    if !left.is_empty() {
        let names: Vec<&str> = attacks[..done].iter().map(|(_, attack)| attack.name).collect();
        left.iter().for_each(|left| tell(&format!("fail {} {left}", names.join(","))));
    }
    done
}

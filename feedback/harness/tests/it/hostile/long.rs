//! Many runs of random attacks among harmless inputs and inputs that fail: no process and no file is left, none that
//! fails is lost, and none that is harmless fails.

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::time::{Duration, Instant};

use gramjet_harness::{Error, Outcome};

use super::child::{FIRST, JOB, Job, SECOND, SWEEP, Scene, is_found, tell};
use super::kinds::{Kind, Programs, Subjected};
use super::table::{After, Attack};
use super::victims::files_left;
use super::{AT_A_TIME, NOBODY, at_once, is_offered, is_root, kinds_asked, own_folder, supervise, victims};

/// Runs in all, if `GRAMJET_TEST_RUNS` says nothing else.
const RUNS: u32 = 100_000;
/// Runs of one target.
const ON_ONE_TARGET: u32 = 400;
/// The limit on time. Attacks that end with it are drawn seldom.
const TIME: Duration = Duration::from_secs(3);

/// Not a test, but the process that the test below starts.
#[test]
fn child_of_a_long_run() {
    let Ok(text) = env::var(JOB) else { return };
    let lines: Vec<&str> = text.lines().rev().take(2).collect();
    let [seed, runs] = lines[..] else { return };
    let (runs, seed) = (runs.parse().expect("a number"), seed.parse().expect("a number"));
    let job = Job::parse(&text);
    match Scene::new(job.kind, &job.programs, &job.folder) {
        Ok(scene) => Long { scene, job, random: seed, counts: Counts::default(), last: VecDeque::new() }.run(runs),
        Err(error) => tell(&format!("fail setup {error}")),
    }
}

/// Number of times that each thing was run and found.
type Counts = BTreeMap<String, u64>;

#[test]
#[ignore = "run by ci/long"]
fn hostile_programs_harm_nobody_in_a_long_run() {
    if !is_offered() {
        return;
    }
    let runs: u32 = env::var("GRAMJET_TEST_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let programs = Programs::get();
    let users: &[Option<u32>] = if is_root() { &[None, Some(NOBODY)] } else { &[None] };
    let kinds = kinds_asked(programs).into_iter();
    let jobs: Vec<(Kind, Option<u32>)> = kinds.flat_map(|kind| users.iter().map(move |&user| (kind, user))).collect();
    let each = runs.div_ceil(jobs.len() as u32);
    let begin = Instant::now();
    let found = at_once(&jobs, AT_A_TIME, |&(kind, user)| long(programs, kind, user, each));
    let mut failed = Vec::new();
    let columns = ["attacks", "harmless", "findings", "wrong", "lost", "left", "harm", "ended"];
    println!("{:22} {}", "target", columns.map(|column| format!("{column:>9}")).join(" "));
    let mut all = 0;
    for (who, counts, lines) in found {
        let count = |column: &&str| counts.get(*column).copied().unwrap_or(0);
        println!("{who:22} {}", columns.map(|column| format!("{:>9}", count(&column))).join(" "));
        all += ["attacks", "harmless", "findings"].iter().map(count).sum::<u64>();
        failed.extend(lines);
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("{all} runs in {seconds:.0} s, {:.0} a second", all as f64 / seconds);
    assert!(failed.is_empty(), "{} times something is wrong:\n{}", failed.len(), failed.join("\n"));
}

/// Runs on one kind of target: what was counted, and what is wrong.
fn long(programs: &Programs, kind: Kind, user: Option<u32>, runs: u32) -> (String, Counts, Vec<String>) {
    let who = format!("{kind:?}{}", if user.is_some() { ", another user" } else { "" });
    // Each kind and user has other attacks.
    let mut seed = 1000 * (2 * kind as u64 + u64::from(user.is_some()));
    let (mut counts, mut lines, mut left) = (Counts::new(), Vec::new(), runs);
    while left > 0 {
        let folder = own_folder(user);
        let job =
            Job { kind, programs: programs.folder().into(), folder: folder.clone(), shard: 0, shards: 1, from: 0 };
        let text = format!("{}\n{left}\n{seed}", job.text());
        let mut at = String::new();
        let ended =
            supervise("hostile::long::child_of_a_long_run", &text, &folder, user, |line| match line.split_once(' ') {
                Some(("begin", attack)) => {
                    at = attack.to_string();
                    left = left.saturating_sub(1);
                }
                Some(("done", _)) => left = left.saturating_sub(1),
                Some(("fail", what)) => lines.push(format!("{who}: {what}")),
                Some(("count", count)) => {
                    let (name, count) = count.split_once(' ').expect("a count");
                    *counts.entry(name.into()).or_default() += count.parse::<u64>().expect("a number");
                }
                _ => {}
            });
        victims::clear(&folder);
        match ended {
            None => break,
            Some(how) => {
                *counts.entry("ended".into()).or_default() += 1;
                lines.push(format!("{who}: {at} the harness {how}"));
                seed += 1;
            }
        }
        if lines.len() > 1000 {
            break;
        }
    }
    (who, counts, lines)
}

struct Long {
    scene: Scene,
    job: Job,
    random: u64,
    counts: Counts,
    /// The last attacks.
    last: VecDeque<&'static str>,
}

/// Attacks that a line of what is wrong names.
const LAST: usize = 8;

/// Attacks for which later ones on the same target may pay with a limit on files or processes: what they leave counts.
const LEAVES_ROOM_TAKEN: [&str; 4] = ["disk_filled_by_one_left", "folders_deep", "shared_written_later", "fork_comet"];

impl Long {
    fn run(mut self, runs: u32) {
        let mut left = runs;
        while left > 0 {
            let now = left.min(ON_ONE_TARGET);
            if let Err(error) = self.on_one_target(now) {
                self.fail("ended", &format!("the harness: {error}"));
            }
            left -= now;
            let mut lost = self.scene.victims.processes_left();
            lost.extend(files_left());
            let entries = std::fs::read_dir(env::temp_dir()).into_iter().flatten().flatten();
            entries.for_each(|entry| victims::clear(&entry.path()));
            lost.iter().for_each(|lost| self.fail("left", lost));
        }
        for (name, count) in &self.counts {
            tell(&format!("count {name} {count}"));
        }
        tell("end");
    }

    fn fail(&mut self, kind: &str, what: &str) {
        self.count(kind);
        let last: Vec<&str> = self.last.iter().copied().collect();
        tell(&format!("fail {what}, after {}", last.join(" ")));
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    fn on_one_target(&mut self, runs: u32) -> Result<(), Error> {
        let attacks = self.job.attacks();
        let (endless, quick): (Vec<&'static Attack>, Vec<&'static Attack>) =
            attacks.into_iter().map(|(_, attack)| attack).partition(|attack| attack.is_endless);
        let mut target = self.scene.target(TIME)?;
        // What attacks on this target may have spoilt: for now, and for good.
        let (mut spoilt, mut until, mut for_good) = (After::Nothing, Instant::now(), After::Nothing);
        for _ in 0..runs {
            if spoilt != After::Nothing && until.elapsed() > SWEEP {
                target.run(FIRST)?;
                spoilt = After::Nothing;
            }
            match self.draw(100) {
                0..50 => {
                    tell("done harmless");
                    let seen = target.run_all(&[SECOND])?;
                    self.count("harmless");
                    if let Some(wrong) = self.scene.wrong(&seen[0], spoilt.max(for_good)) {
                        self.fail("wrong", &wrong);
                    }
                }
                50..65 => {
                    tell("done finding");
                    let seen = target.run("finding")?;
                    self.count("findings");
                    if !is_found(&seen) {
                        self.fail("lost", &format!("the finding ended with {}", seen.outcome));
                    }
                }
                _ => {
                    let is_endless = quick.is_empty() || self.draw(50) == 0 && !endless.is_empty();
                    let from = if is_endless { &endless } else { &quick };
                    let attack = from[self.draw(from.len() as u64) as usize];
                    self.last.push_back(attack.name);
                    if self.last.len() > LAST {
                        self.last.pop_front();
                    }
                    tell(&format!("begin {}", attack.name));
                    let [next, later] = self.scene.spoilt(attack);
                    if self.attack(&mut target, attack)? {
                        // Everything is new.
                        return Ok(());
                    }
                    for_good = for_good.max(later);
                    if next >= After::Outcome {
                        self.scene.settle(&mut target, for_good)?;
                    } else if next > later {
                        (spoilt, until) = (next, Instant::now());
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns true if the attack succeeded.
    fn attack(&mut self, target: &mut Subjected, attack: &Attack) -> Result<bool, Error> {
        let seen = target.run(&attack.input_in_long())?;
        self.count("attacks");
        let mut harm = self.scene.victims.harm();
        // Other processes may have had all time. A process that goes on may have a child that was stopped earlier.
        let is_late = matches!(seen.outcome, Outcome::Timeout | Outcome::Stopped);
        let is_paying = matches!(seen.outcome, Outcome::Disk | Outcome::Processes)
            && self.last.iter().any(|last| LEAVES_ROOM_TAKEN.contains(last));
        if !is_late && !is_paying && !attack.is_right(self.job.kind, &seen.outcome) {
            harm.push(format!("it ended with {}, {:?}", seen.outcome, seen.stderr));
        }
        harm.iter().for_each(|harm| self.fail("harm", &format!("{}: {harm}", attack.name)));
        if !harm.is_empty() {
            self.scene.restore();
        }
        Ok(!harm.is_empty())
    }

    /// Returns a number below a bound, by the generator of Steele, Lea and Flood (SplitMix64).
    fn draw(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}

//! A second implementation of the choice map, written from the design page and from the Ast, apart from the compiler's:
//! a machine that runs up to the next site and then takes the option that the caller names.
//!
//! Two drivers use it: [`replay`] reads choice bytes; [`crate::probability`] follows all options.

use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::ir::{RuleId, Slots};
use gramjet_compiler::reference::Limits;

use crate::form::{Form, Kind, System};

/// The options of a site.
#[derive(Clone, Debug)]
pub enum Offer<'f> {
    /// A number of equally probable options.
    Uniform(u64),
    /// A number of options, the first ones of those with these slots.
    Weighted(usize, &'f Slots),
}

/// The machine, between two sites. A clone goes its own way.
#[derive(Clone, Debug)]
pub struct Machine<'f> {
    system: &'f System,
    pools: &'f Pools,
    limits: Limits,
    slack: u64,
    tasks: Vec<Task<'f>>,
    /// The output so far.
    pub output: Vec<u8>,
    site: Option<Site<'f>>,
}

#[derive(Clone, Copy, Debug)]
enum Task<'f> {
    Derive(&'f Form, u32),
    Rounds(&'f Form, u32, u32),
}

#[derive(Clone, Copy, Debug)]
enum Site<'f> {
    Class(&'f Form),
    Choice(&'f Form, u32),
    Round(&'f Form, u32, u32),
    Pool(usize),
}

impl<'f> Machine<'f> {
    /// Returns a machine at the start of the start rule. The pools must be those of the same grammar.
    pub fn new(system: &'f System, pools: &'f Pools, limits: Limits) -> Machine<'f> {
        let slack = limits.max_len.map_or(u64::MAX, |bound| bound - system.facts(system.start).min_len);
        let start = system.variables[system.start].as_ref().expect("the start rule has a body");
        Machine { system, pools, limits, slack, tasks: vec![Task::Derive(start, 0)], output: Vec::new(), site: None }
    }

    /// Runs to the next site that has more than one option; `None` at the end.
    pub fn next_site(&mut self) -> Option<Offer<'f>> {
        while let Some(task) = self.tasks.pop() {
            let (site, offer) = match task {
                Task::Derive(form, depth) => match self.derive(form, depth) {
                    Some(found) => found,
                    None => continue,
                },
                Task::Rounds(form, done, depth) => {
                    let Kind::Repeat(item, min, max) = &form.kind else { continue };
                    if done < *min {
                        self.tasks.push(Task::Rounds(form, done + 1, depth));
                        self.tasks.push(Task::Derive(item, depth));
                        continue;
                    }
                    if max.is_some_and(|max| done >= max) {
                        continue;
                    }
                    let fits = item.facts.min_len <= self.slack;
                    (Site::Round(form, done, depth), Offer::Uniform(1 + u64::from(fits)))
                }
            };
            self.site = Some(site);
            match offer {
                Offer::Uniform(1) | Offer::Weighted(1, _) => self.take(0),
                _ => return Some(offer),
            }
        }
        None
    }

    /// Takes an option of the site that [`Machine::next_site`] found.
    pub fn take(&mut self, option: usize) {
        match self.site.take().expect("there is a site") {
            Site::Class(form) => {
                let Kind::Class(set) = &form.kind else { return };
                let member = set.iter().nth(option).expect("a member that was offered");
                self.emit(set.encode(member).as_ref(), form.facts.min_len);
            }
            Site::Choice(form, depth) => {
                let Kind::Choice(options, _) = &form.kind else { return };
                self.spend(options[option].facts.min_len - form.facts.min_len);
                self.tasks.push(Task::Derive(&options[option], depth));
            }
            Site::Round(form, done, depth) => {
                let Kind::Repeat(item, ..) = &form.kind else { return };
                if option == 1 {
                    self.spend(item.facts.min_len);
                    self.tasks.push(Task::Rounds(form, done + 1, depth));
                    self.tasks.push(Task::Derive(item, depth));
                }
            }
            Site::Pool(variable) => {
                let pool = self.pools.get(RuleId::new(variable)).expect("the site was made from it");
                let string = &pool.strings[option];
                self.emit(string, self.system.facts(variable).min_len);
            }
        }
    }

    fn spend(&mut self, cost: u64) {
        if self.limits.max_len.is_some() {
            self.slack -= cost;
        }
    }

    fn emit(&mut self, bytes: &[u8], min_len: u64) {
        self.spend(bytes.len() as u64 - min_len);
        self.output.extend_from_slice(bytes);
    }

    fn derive(&mut self, form: &'f Form, depth: u32) -> Option<(Site<'f>, Offer<'f>)> {
        match &form.kind {
            Kind::Bytes(bytes) => {
                self.output.extend_from_slice(bytes);
                None
            }
            Kind::Class(set) => {
                let most = self.slack.saturating_add(form.facts.min_len);
                // Longer members come later: the ones that fit end at the first that does not.
                let fitting = |&(low, high): &(u32, u32)| {
                    let fits = |member: u32| set.encode(member).as_ref().len() as u64 <= most;
                    let (mut below, mut above) = (low, high + 1);
                    while below < above {
                        let middle = below + (above - below) / 2;
                        (below, above) = if fits(middle) { (middle + 1, above) } else { (below, middle) };
                    }
                    u64::from(below - low)
                };
                let offered = set.ranges().iter().map(fitting).sum();
                Some((Site::Class(form), Offer::Uniform(offered)))
            }
            Kind::Variable(variable, _) => self.instance(*variable, depth + 1),
            Kind::Seq(items) => {
                self.tasks.extend(items.iter().rev().map(|item| Task::Derive(item, depth)));
                None
            }
            Kind::Choice(options, slots) => {
                let fits = |option: &Form| option.facts.min_len - form.facts.min_len <= self.slack;
                let offered = options.iter().filter(|option| fits(option)).count();
                let offer = match slots {
                    Some(slots) => Offer::Weighted(offered, slots),
                    None => Offer::Uniform(offered as u64),
                };
                Some((Site::Choice(form, depth), offer))
            }
            Kind::Repeat(_, _, Some(0)) => None,
            Kind::Repeat(..) => {
                self.tasks.push(Task::Rounds(form, 0, depth));
                None
            }
            Kind::Times(..)
            | Kind::Scope(..)
            | Kind::Label(..)
            | Kind::Derived(_)
            | Kind::Naming(..)
            | Kind::Coded(..) => {
                unreachable!("grammars with labels have a machine of their own")
            }
        }
    }

    fn instance(&mut self, variable: usize, depth: u32) -> Option<(Site<'f>, Offer<'f>)> {
        let body = self.system.variables[variable].as_ref().expect("a rule with a body");
        let rule = self.system.rule_of[variable];
        let beyond = self.limits.max_depth.is_some_and(|max_depth| depth > max_depth);
        match self.pools.get(RuleId::new(rule)).filter(|_| beyond) {
            None => self.tasks.push(Task::Derive(body, depth)),
            Some(pool) => {
                let fits = |string: &[u8]| string.len() as u64 - body.facts.min_len <= self.slack;
                let offered = pool.strings.iter().filter(|string| fits(string)).count();
                if offered > 0 {
                    return Some((Site::Pool(rule), Offer::Uniform(offered as u64)));
                }
                self.shortest(body);
            }
        }
        None
    }

    /// Emits the derivation with option 0 everywhere.
    fn shortest(&mut self, form: &Form) {
        match &form.kind {
            Kind::Bytes(bytes) => self.output.extend_from_slice(bytes),
            Kind::Class(set) => {
                let least = set.iter().next().expect("a class has members");
                self.output.extend_from_slice(set.encode(least).as_ref());
            }
            Kind::Variable(variable, _) => {
                let system = self.system;
                self.shortest(system.variables[*variable].as_ref().expect("a rule with a body"));
            }
            Kind::Seq(items) => items.iter().for_each(|item| self.shortest(item)),
            Kind::Choice(options, _) => self.shortest(&options[0]),
            Kind::Repeat(_, _, Some(0)) => {}
            Kind::Repeat(item, min, _) => (0..*min).for_each(|_| self.shortest(item)),
            Kind::Times(..)
            | Kind::Scope(..)
            | Kind::Label(..)
            | Kind::Derived(_)
            | Kind::Naming(..)
            | Kind::Coded(..) => {
                unreachable!("grammars with labels have a machine of their own")
            }
        }
    }
}

/// Returns the output and number of choice bytes read when the machine replays `choices`.
pub fn replay(system: &System, pools: &Pools, limits: Limits, choices: &[u8]) -> (Vec<u8>, u64) {
    let mut machine = Machine::new(system, pools, limits);
    let mut position = 0;
    while let Some(offer) = machine.next_site() {
        let option = read_option(&offer, choices, &mut position);
        machine.take(option);
    }
    (machine.output, position as u64)
}

/// Returns the option that the choice bytes from `position` on take, and moves the position beyond those read.
pub(crate) fn read_option(offer: &Offer<'_>, choices: &[u8], position: &mut usize) -> usize {
    let (width, map): (usize, Box<dyn Fn(u64) -> usize>) = match *offer {
        Offer::Uniform(count) => {
            let width = if count <= 1 << 8 {
                1
            } else if count <= 1 << 16 {
                2
            } else {
                3
            };
            (width, Box::new(move |value| ((value * count) >> (8 * width)) as usize))
        }
        Offer::Weighted(count, slots) => {
            let kept = u64::from(slots.ends()[count - 1]);
            let scaled = move |value: u64| (value * kept) >> slots.bits();
            let option = move |value| slots.ends().iter().filter(|&&end| u64::from(end) <= scaled(value)).count();
            (slots.bits() as usize / 8, Box::new(option))
        }
    };
    let present = &choices[*position..choices.len().min(*position + width)];
    let value = present.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
    *position += present.len();
    map(value)
}

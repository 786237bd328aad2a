//! The choice map of grammars with labels, by brute force: at each site, each option is tried out on a copy of the
//! machine, which finishes in the shortest way; then the text is measured.
//!
//! Written from the page of the choice map, apart from the compiler's implementation. It keeps no slack.

use std::rc::Rc;

use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::derived::{Derived, Measure, Term, Value};
use gramjet_compiler::ir::{Codec, RuleId};
use gramjet_compiler::naming::Naming;
use gramjet_compiler::reference::Limits;

use crate::form::{Form, Kind, System, digits};
use crate::naive::{Offer, read_option};
use crate::settled::Text;
use fields::{add_groups, group, has_fields, longest_text};

mod fields;

/// The machine, between two sites. A clone goes its own way.
#[derive(Clone, Debug)]
pub struct Machine<'f> {
    system: &'f System,
    pools: &'f Pools,
    limits: Limits,
    /// Whether options may be refused: there is a limit on the length, or the grammar has numbers of fixed width.
    is_bounded: bool,
    tasks: Vec<Task<'f>>,
    /// Whether each site takes option 0, without reading.
    finishes: bool,
    /// The sequences with labels that are open, or were begun since the text finishes.
    scopes: Vec<(&'f Form, Place<'f>)>,
    /// The names that were given and are seen, with their kinds.
    names: Vec<(&'f str, Vec<u8>)>,
    /// The open scopes of names: their kinds, and the number of names before them.
    name_scopes: Vec<(&'f [String], usize)>,
    /// The names and scopes of names outside each open coded part.
    outside: Vec<Outside<'f>>,
    /// The greatest length of a text within which offsets fit, if there are some.
    longest: Option<u64>,
    /// The text so far.
    pub text: Text,
    /// The rounds of repetitions: the part that is the repetition, the labels of the round, and its first part.
    rounds: Vec<(usize, &'f [String], usize)>,
    site: Option<Site<'f>>,
}

/// The names that are seen, with their kinds, and the open scopes of names.
type Outside<'f> = (Vec<(&'f str, Vec<u8>)>, Vec<(&'f [String], usize)>);

/// The labels that are seen, with their parts; the innermost sequence first.
#[derive(Debug)]
struct Seen<'f> {
    labels: &'f [String],
    first: usize,
    /// The parts that the parameters of the rule stand for, with their names.
    given: Vec<(&'f str, usize)>,
    outer: Option<Rc<Seen<'f>>>,
}

/// Circumstances of a derivation.
#[derive(Clone, Debug)]
struct Place<'f> {
    depth: u32,
    seen: Option<Rc<Seen<'f>>>,
    /// Whether it takes option 0 everywhere, without reading.
    is_shortest: bool,
    /// The parts that the derivation is, all of it.
    parts: Vec<usize>,
    /// The parts of which the derivation is a round, all of it.
    round_of: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Task<'f> {
    Derive(&'f Form, Place<'f>),
    /// Further rounds of a repetition after a number of rounds.
    Rounds(&'f Form, u32, Place<'f>),
    /// This number of further rounds of an item. A mirror sees the rounds of a part from this number on.
    Times(&'f Form, u64, Option<(usize, usize)>, Place<'f>),
    End(usize),
    EndScope,
    /// The end of a part that gives a name, and the number of plain bytes before it.
    EndName(&'f Naming<String>, usize),
    EndNames,
    EndCode(Codec),
}

#[derive(Clone, Debug)]
enum Site<'f> {
    Class(&'f Form),
    Choice(&'f Form, Place<'f>),
    Round(&'f Form, u32, Place<'f>),
    Pool(usize, Place<'f>),
    /// A part that takes a name.
    Use(&'f Form, Place<'f>),
}

impl<'f> Place<'f> {
    /// Returns the place of a part of the derivation.
    fn inner(&self) -> Place<'f> {
        Place { parts: Vec::new(), round_of: Vec::new(), ..self.clone() }
    }

    /// Returns the place of a round of the derivation.
    fn round(&self) -> Place<'f> {
        Place { round_of: self.parts.clone(), ..self.inner() }
    }

    /// Returns the place of the mirror of a round with these labels.
    fn mirror(&self, (labels, first): (&'f [String], usize)) -> Place<'f> {
        Place {
            seen: Some(Rc::new(Seen { labels, first, given: Vec::new(), outer: self.seen.clone() })),
            ..self.inner()
        }
    }

    fn part(&self, label: &str) -> usize {
        let mut seen = self.seen.as_deref();
        while let Some(scope) = seen {
            if let Some(number) = scope.labels.iter().position(|own| own == label) {
                return scope.first + number;
            }
            if let Some((_, part)) = scope.given.iter().find(|(own, _)| *own == label) {
                return *part;
            }
            seen = scope.outer.as_deref();
        }
        panic!("the check has found the part of each label");
    }
}

impl<'f> Machine<'f> {
    /// Returns a machine at the start of the start rule. The pools must be those of the same grammar.
    pub fn new(system: &'f System, pools: &'f Pools, limits: Limits) -> Machine<'f> {
        let start = system.variables[system.start].as_ref().expect("the start rule has a body");
        let place = Place { depth: 0, seen: None, is_shortest: false, parts: Vec::new(), round_of: Vec::new() };
        let longest = longest_text(system);
        let max_len = limits.max_len.into_iter().chain(longest).min();
        let limits = Limits { max_len, ..limits };
        Machine {
            system,
            pools,
            limits,
            is_bounded: limits.max_len.is_some() || system.variables.iter().flatten().any(has_fields),
            tasks: vec![Task::Derive(start, place)],
            finishes: false,
            scopes: Vec::new(),
            names: Vec::new(),
            name_scopes: Vec::new(),
            outside: Vec::new(),
            longest,
            text: Text::default(),
            rounds: Vec::new(),
            site: None,
        }
    }

    /// Runs to the next site that has more than one option; `None` at the end.
    pub fn next_site(&mut self) -> Option<Offer<'f>> {
        while let Some(task) = self.tasks.pop() {
            let Some(site) = self.run(task) else { continue };
            let offer = self.offer(&site);
            match (offer, site) {
                (Offer::Uniform(0), Site::Pool(variable, place)) => self.derive_shortest(variable, place),
                (Offer::Uniform(1) | Offer::Weighted(1, _), site) => self.take_at(site, 0),
                (offer, site) => {
                    self.site = Some(site);
                    return Some(offer);
                }
            }
        }
        None
    }

    /// Takes an option of the site that [`Machine::next_site`] found.
    pub fn take(&mut self, option: usize) {
        let site = self.site.take().expect("there is a site");
        self.take_at(site, option);
    }

    fn take_at(&mut self, site: Site<'f>, option: usize) {
        match site {
            Site::Class(form) => {
                let Kind::Class(set) = &form.kind else { return };
                let member = set.iter().nth(option).expect("a member that was offered");
                self.text.add_bytes(set.encode(member).as_ref());
            }
            Site::Choice(form, place) => {
                let Kind::Choice(options, _) = &form.kind else { return };
                self.tasks.push(Task::Derive(&options[option], place));
            }
            Site::Round(form, done, place) => {
                if option == 1 {
                    self.round(form, done, place);
                }
            }
            Site::Pool(variable, _) => {
                let pool = self.pools.get(RuleId::new(variable)).expect("the site was made from it");
                self.text.add_bytes(&pool.strings[option]);
            }
            Site::Use(form, place) => {
                let Kind::Naming(Naming::Use(kind), other) = &form.kind else { return };
                match self.names_of(kind).into_iter().rev().nth(option) {
                    Some(name) if self.can_write(&name) => self.text.add_bytes(&name),
                    _ => self.tasks.push(Task::Derive(other, place)),
                }
            }
        }
    }

    /// Returns the names of a kind that are seen, the nearest one last.
    fn names_of(&self, kind: &str) -> Vec<Vec<u8>> {
        self.names.iter().filter(|(own, _)| *own == kind).map(|(_, name)| name.clone()).collect()
    }

    /// Returns true if the text keeps its limits when it goes on with a name and finishes in the shortest way.
    fn can_write(&self, name: &[u8]) -> bool {
        if !self.is_bounded {
            return true;
        }
        let mut machine = self.clone();
        machine.text.add_bytes(name);
        machine.keeps_limits()
    }

    /// Ends a part that gives a name.
    fn end_name(&mut self, naming: &'f Naming<String>, from: usize) {
        let Some(kind) = naming.given() else { return };
        if naming.unique().is_some() {
            let scope = self.name_scopes.iter().rev().find(|(kinds, _)| kinds.contains(kind));
            let first = scope.map_or(0, |(_, first)| *first);
            let known = self.names[first..].iter().filter(|(own, _)| own == kind);
            let known: Vec<Vec<u8>> = known.map(|(_, name)| name.clone()).collect();
            if self.finishes {
                // As many digits as the number of names has are always enough.
                self.text.add_bytes(&vec![b'0'; digits(known.len() as u64) as usize]);
            } else {
                let name = self.text.plain()[from..].to_vec();
                let with = |number: usize| {
                    let digits = if number == 0 { String::new() } else { number.to_string() };
                    [&name, digits.as_bytes()].concat()
                };
                let number = (0..).find(|&number| !known.contains(&with(number))).expect("there are enough");
                self.text.add_bytes(&with(number)[name.len()..]);
            }
        }
        self.names.push((kind, self.text.plain()[from..].to_vec()));
    }

    /// Returns how many options are offered: the longest prefix of those with which the text can still end well.
    fn offer(&self, site: &Site<'f>) -> Offer<'f> {
        let prefix = |count: usize| (0..count).take_while(|&option| self.can_take(site, option)).count();
        match site {
            Site::Class(Form { kind: Kind::Class(set), .. }) => {
                let (mut tried, mut offered) = (0, 0);
                for (option, member) in set.iter().enumerate() {
                    // Members of one length do not differ.
                    let len = set.encode(member).as_ref().len();
                    if len != tried && !self.can_take(site, option) {
                        break;
                    }
                    (tried, offered) = (len, offered + 1);
                }
                assert!(offered > 0, "a class has no member that fits");
                Offer::Uniform(offered)
            }
            Site::Choice(Form { kind: Kind::Choice(options, slots), .. }, _) => {
                let offered = prefix(options.len());
                assert!(offered > 0, "a choice has no option that fits");
                match slots {
                    Some(slots) => Offer::Weighted(offered, slots),
                    None => Offer::Uniform(offered as u64),
                }
            }
            Site::Class(_) | Site::Choice(..) => unreachable!("these are no sites"),
            Site::Use(Form { kind: Kind::Naming(Naming::Use(kind), _), .. }, _) => {
                Offer::Uniform(self.names_of(kind).len() as u64 + 1)
            }
            Site::Use(..) => unreachable!("this is no site"),
            Site::Round(..) => {
                let offered = prefix(2);
                assert!(offered > 0, "a repetition can neither end nor go on");
                Offer::Uniform(offered as u64)
            }
            Site::Pool(variable, _) => {
                let pool = self.pools.get(RuleId::new(*variable)).expect("the site was made from it");
                Offer::Uniform(prefix(pool.strings.len()) as u64)
            }
        }
    }

    /// Returns true if the text keeps its limits when it takes the option and finishes in the shortest way.
    fn can_take(&self, site: &Site<'f>, option: usize) -> bool {
        if !self.is_bounded {
            return true;
        }
        let mut machine = self.clone();
        machine.take_at(site.clone(), option);
        machine.keeps_limits()
    }

    /// Returns true if the text keeps its limits when it finishes in the shortest way, which it does.
    fn keeps_limits(mut self) -> bool {
        if !self.finish_within() {
            return false;
        }
        let (len, fits) = self.text.measure(self.longest);
        fits && self.limits.max_len.is_none_or(|bound| len <= bound) && self.keeps_fields()
    }

    fn finish(&mut self) {
        while self.finish_task() {}
    }

    /// Finishes as long as the text is within its limit. Returns false if it is not: rounds of rounds would be many.
    fn finish_within(&mut self) -> bool {
        let Some(bound) = self.limits.max_len else {
            self.finish();
            return true;
        };
        // To measure the text takes as long as to make it. A short one may have a long copy whose length is a number of
        // rounds without text.
        let (mut tasks, mut measured_at) = (0, 256);
        while self.finish_task() {
            tasks += 1;
            let work = self.text.size().max(tasks);
            if work > measured_at {
                if self.text.least_len() > bound {
                    return false;
                }
                measured_at = 2 * work;
            }
        }
        true
    }

    /// Does the next task of a text that finishes; false if there is none.
    fn finish_task(&mut self) -> bool {
        self.finishes = true;
        let Some(task) = self.tasks.pop() else { return false };
        let site = self.run(task);
        assert!(site.is_none(), "there are no sites while the text finishes");
        true
    }

    /// Returns true if all numbers of fixed width fit that are in open sequences of the grammar, derived or not.
    fn keeps_fields(&self) -> bool {
        self.scopes.iter().all(|(items, place)| self.fit(items, place))
    }

    /// Returns true if the numbers in a form fit. Sequences in it count with their shortest text.
    fn fit(&self, form: &'f Form, place: &Place<'f>) -> bool {
        match &form.kind {
            Kind::Bytes(_) | Kind::Class(_) | Kind::Variable(..) | Kind::Derived(Derived::Copy(_)) => true,
            Kind::Derived(Derived::Bits(bits)) => bits.fields.iter().all(|(width, value)| {
                value.terms.iter().any(|term| term.measure.is_of_place())
                    || u128::from(self.text.value(&value.map(&mut |label| place.part(label)))) < 1 << width
            }),
            Kind::Derived(Derived::Padding(label, padding)) => {
                let length = Term { times: 1, measure: Measure::Len, label: place.part(label) };
                !padding.is_exact || self.text.value(&Value::sum(vec![length], 0)) <= padding.to.into()
            }
            Kind::Derived(Derived::Number(value, form)) => {
                value.terms.iter().any(|term| term.measure.is_of_content() || term.measure.is_of_place())
                    || form.fixed_width().is_none()
                    || self.text.value(&value.map(&mut |label| place.part(label))) <= form.greatest()
            }
            // An open group is looked at by itself.
            Kind::Seq(items) => items.iter().all(|item| self.is_open_group(item, place) || self.fit(item, place)),
            Kind::Choice(items, _) => items.iter().all(|item| self.fit(item, place)),
            Kind::Times(item, _, Some(mirror)) if mirror.sees_some() => {
                let part = place.part(&mirror.label);
                let mut rounds = self.rounds_of(part);
                rounds.all(|round| self.fit(item, &place.mirror(round)))
            }
            // There are never such rounds.
            Kind::Repeat(_, _, Some(0)) => true,
            Kind::Repeat(item, ..) | Kind::Times(item, ..) | Kind::Label(_, item) => self.fit(item, place),
            Kind::Naming(_, item) | Kind::Coded(_, item) => self.fit(item, place),
            Kind::Scope(..) if !has_fields(form) => true,
            Kind::Scope(..) => {
                let mut machine = self.clone();
                machine.scopes.clear();
                machine.tasks.push(Task::Derive(form, place.clone()));
                machine.finish();
                // Those of other rules fit by themselves.
                let mut own = Vec::new();
                add_groups(form, &mut own);
                machine.scopes.retain(|(items, _)| own.iter().any(|group| std::ptr::eq(*group, *items)));
                machine.keeps_fields()
            }
        }
    }

    /// Returns true if an item of a sequence is a group that is open, or was begun since the text finishes.
    fn is_open_group(&self, item: &Form, place: &Place<'f>) -> bool {
        let Some(group) = group(item) else { return false };
        let around = |place: &Place<'f>| place.seen.as_ref()?.outer.clone();
        let outer = place.seen.as_ref();
        self.scopes.iter().any(|(items, inner)| {
            std::ptr::eq(*items, group)
                && around(inner).zip(outer).is_some_and(|(inner, outer)| Rc::ptr_eq(&inner, outer))
        })
    }

    /// Does a task up to its first site.
    fn run(&mut self, task: Task<'f>) -> Option<Site<'f>> {
        let (site, is_shortest) = match task {
            Task::End(part) => {
                self.text.end(part);
                return None;
            }
            Task::EndScope => {
                if !self.finishes {
                    self.scopes.pop();
                }
                return None;
            }
            Task::EndCode(codec) => {
                // Until it is complete, it counts with the longest text of its length.
                self.text.end_code(codec, !self.finishes);
                (self.names, self.name_scopes) = self.outside.pop().expect("a coded part is open");
                return None;
            }
            Task::EndName(naming, from) => {
                self.end_name(naming, from);
                return None;
            }
            Task::EndNames => {
                let (kinds, first) = self.name_scopes.pop().expect("a scope is open");
                let mut number = 0;
                self.names.retain(|(kind, _)| {
                    number += 1;
                    number <= first || !kinds.iter().any(|own| own == kind)
                });
                return None;
            }
            Task::Times(item, left, mirrored, place) => {
                if left > 0 {
                    place.parts.iter().for_each(|&part| self.text.count(part));
                    let round = mirrored.and_then(|(part, number)| self.rounds_of(part).nth(number));
                    let inner = round.map_or_else(|| place.round(), |round| place.mirror(round));
                    let next = mirrored.map(|(part, number)| (part, number + 1));
                    self.tasks.push(Task::Times(item, left - 1, next, place));
                    self.tasks.push(Task::Derive(item, inner));
                }
                return None;
            }
            Task::Rounds(form, done, place) => {
                let Kind::Repeat(_, min, max) = &form.kind else { return None };
                if max.is_some_and(|max| done >= max) {
                    return None;
                }
                if done < *min {
                    self.round(form, done, place);
                    return None;
                }
                let is_shortest = place.is_shortest;
                (Site::Round(form, done, place), is_shortest)
            }
            Task::Derive(form, place) => {
                let is_shortest = place.is_shortest;
                (self.derive(form, place)?, is_shortest)
            }
        };
        match site {
            Site::Pool(variable, place) if is_shortest || self.finishes => self.derive_shortest(variable, place),
            site if is_shortest || self.finishes => self.take_at(site, 0),
            site => return Some(site),
        }
        None
    }

    /// Returns the rounds of a part that have labels: the labels, and the first part.
    fn rounds_of(&self, part: usize) -> impl Iterator<Item = (&'f [String], usize)> {
        let own = self.rounds.iter().filter(move |round| round.0 == part);
        own.map(|&(_, labels, first)| (labels, first))
    }

    fn round(&mut self, form: &'f Form, done: u32, place: Place<'f>) {
        let Kind::Repeat(item, ..) = &form.kind else { return };
        place.parts.iter().for_each(|&part| self.text.count(part));
        let inner = place.round();
        self.tasks.push(Task::Rounds(form, done + 1, place));
        self.tasks.push(Task::Derive(item, inner));
    }

    fn derive(&mut self, form: &'f Form, mut place: Place<'f>) -> Option<Site<'f>> {
        match &form.kind {
            Kind::Bytes(bytes) => self.text.add_bytes(bytes),
            Kind::Class(_) => return Some(Site::Class(form)),
            Kind::Variable(variable, given) => return self.instance(*variable, given, place),
            Kind::Seq(items) => self.tasks.extend(items.iter().rev().map(|item| Task::Derive(item, place.inner()))),
            Kind::Choice(..) => return Some(Site::Choice(form, place.inner())),
            Kind::Repeat(..) => self.tasks.push(Task::Rounds(form, 0, place)),
            Kind::Times(item, rounds, mirror) => {
                let rounds = self.text.add_times(rounds.map(&mut |label| place.part(label)));
                let mirrored = mirror.as_ref().map(|mirror| (place.part(&mirror.label), 0));
                self.tasks.push(Task::Times(item, rounds, mirrored, place));
            }
            Kind::Scope(items, labels) => {
                let first = self.text.add_parts(labels.len()).start;
                self.rounds.extend(place.round_of.iter().map(|&part| (part, labels.as_slice(), first)));
                let seen = Some(Rc::new(Seen { labels, first, given: Vec::new(), outer: place.seen.take() }));
                let place = Place { seen, ..place.inner() };
                self.scopes.push((&**items, place.clone()));
                self.tasks.push(Task::EndScope);
                self.tasks.push(Task::Derive(items, place));
            }
            Kind::Label(label, item) => {
                let part = place.part(label);
                // A group that has ended is derived once more to look at its numbers.
                if !self.text.has_begun(part) {
                    place.parts.push(part);
                    self.text.begin(part);
                    self.tasks.push(Task::End(part));
                }
                self.tasks.push(Task::Derive(item, place));
            }
            Kind::Coded(codec, item) => {
                self.text.begin_code();
                self.outside.push((std::mem::take(&mut self.names), std::mem::take(&mut self.name_scopes)));
                self.tasks.push(Task::EndCode(*codec));
                self.tasks.push(Task::Derive(item, place.inner()));
            }
            Kind::Derived(derived) => self.text.add_derived(derived.map(&mut |label| place.part(label))),
            Kind::Naming(naming @ (Naming::Define(_) | Naming::Unique(_)), item) => {
                self.tasks.push(Task::EndName(naming, self.text.plain().len()));
                self.tasks.push(Task::Derive(item, place.inner()));
            }
            Kind::Naming(Naming::Declare(kind), copy) => {
                let Kind::Derived(Derived::Copy(label)) = &copy.kind else { return None };
                self.names.push((kind, self.text.plain_of(place.part(label))));
            }
            // The shortest text takes no names.
            Kind::Naming(Naming::Use(_), item) if self.finishes => self.tasks.push(Task::Derive(item, place.inner())),
            Kind::Naming(Naming::Use(_), _) => return Some(Site::Use(form, place.inner())),
            Kind::Naming(Naming::Scope(kinds), item) => {
                self.name_scopes.push((kinds, self.names.len()));
                self.tasks.push(Task::EndNames);
                self.tasks.push(Task::Derive(item, place.inner()));
            }
        }
        None
    }

    fn instance(&mut self, variable: usize, given: &'f [(String, String)], place: Place<'f>) -> Option<Site<'f>> {
        let depth = place.depth + 1;
        let given: Vec<(&str, usize)> = given.iter().map(|(own, label)| (own.as_str(), place.part(label))).collect();
        let seen = (!given.is_empty()).then(|| Rc::new(Seen { labels: &[], first: 0, given, outer: None }));
        let place = Place { depth, seen, ..place.inner() };
        let is_beyond = self.limits.max_depth.is_some_and(|max_depth| depth > max_depth);
        if is_beyond && self.pools.get(RuleId::new(variable)).is_some() {
            return Some(Site::Pool(variable, place));
        }
        let body = self.system.variables[variable].as_ref().expect("a rule with a body");
        self.tasks.push(Task::Derive(body, place));
        None
    }

    fn derive_shortest(&mut self, variable: usize, place: Place<'f>) {
        let body = self.system.variables[variable].as_ref().expect("a rule with a body");
        self.tasks.push(Task::Derive(body, Place { is_shortest: true, ..place }));
    }
}

/// Returns the text and the number of choice bytes read when the machine replays `choices`.
pub fn replay(system: &System, pools: &Pools, limits: Limits, choices: &[u8]) -> (Text, u64) {
    let mut machine = Machine::new(system, pools, limits);
    let mut position = 0;
    while let Some(offer) = machine.next_site() {
        let option = read_option(&offer, choices, &mut position);
        machine.take(option);
    }
    (machine.text, position as u64)
}

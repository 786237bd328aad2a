//! A grammar in a form for counting: sequences are pairs, and repetitions are lists.

use gramjet_compiler::ir::{Ir, NodeId, Rounds, RuleId};

/// A part of the grammar, by the numbers of the parts that it is made of.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// Literal bytes.
    Bytes(Box<[u8]>),
    /// A member of the class that a node is; the number of members of one to four bytes.
    Class(NodeId, [u64; 4]),
    /// A rule.
    Rule(RuleId, u32),
    /// One part after the other.
    Pair(u32, u32),
    /// One of several parts.
    One(Box<[u32]>),
    /// Nothing, or a part that is not empty, and after it another form: itself, or one that has fewer rounds.
    More(u32, u32),
}

/// The forms of a grammar.
#[derive(Debug)]
pub(super) struct Forms {
    /// The forms. `None` only while they are made.
    pub forms: Vec<Form>,
    /// The length of each form's shortest text.
    pub min_lens: Vec<u64>,
    pub start: u32,
}

/// At most this many forms are made.
const MOST: usize = 1 << 20;
/// Repetitions of more rounds beyond their fewest count as endless; no text is so long.
pub(super) const LONGEST: u32 = 1 << 12;

impl Forms {
    /// Returns the forms of what a grammar's start rule reaches; `None` if they are too many.
    pub fn new(ir: &Ir) -> Option<Forms> {
        let mut making =
            Making { ir, forms: Forms { forms: Vec::new(), min_lens: Vec::new(), start: 0 }, rules: Vec::new() };
        making.rules = vec![None; ir.rules().len()];
        making.forms.start = making.rule(ir.start());
        let mut open = vec![ir.start()];
        while let Some(rule) = open.pop() {
            let (Some(body), Some(own)) = (ir.body(rule), making.rules[rule.index()]) else { continue };
            let before: Vec<bool> = making.rules.iter().map(Option::is_some).collect();
            let body = making.node(body)?;
            making.forms.forms[own as usize] = Form::Rule(rule, body);
            open.extend(ir.rule_ids().filter(|new| making.rules[new.index()].is_some() && !before[new.index()]));
        }
        Some(making.forms)
    }

    /// Returns the parts on whose texts of the same length those of a form depend.
    pub fn as_long(&self, form: u32) -> Vec<u32> {
        let is_nullable = |form: u32| self.min_lens[form as usize] == 0;
        match &self.forms[form as usize] {
            Form::Bytes(_) | Form::Class(..) => Vec::new(),
            Form::Rule(_, body) => vec![*body],
            Form::Pair(a, b) => {
                let sides = [(*a, is_nullable(*b)), (*b, is_nullable(*a))];
                sides.into_iter().filter(|&(_, depends)| depends).map(|(side, _)| side).collect()
            }
            Form::One(options) => options.to_vec(),
            Form::More(item, _) => vec![*item],
        }
    }

    /// Returns all parts that a form is made of.
    pub fn parts(&self, form: u32) -> Vec<u32> {
        match &self.forms[form as usize] {
            Form::Bytes(_) | Form::Class(..) => Vec::new(),
            Form::Rule(_, body) => vec![*body],
            Form::Pair(a, b) | Form::More(a, b) => vec![*a, *b],
            Form::One(options) => options.to_vec(),
        }
    }
}

struct Making<'i> {
    ir: &'i Ir,
    forms: Forms,
    /// The form of each rule that is reached.
    rules: Vec<Option<u32>>,
}

impl Making<'_> {
    fn add(&mut self, form: Form, min_len: u64) -> u32 {
        self.forms.forms.push(form);
        self.forms.min_lens.push(min_len);
        self.forms.forms.len() as u32 - 1
    }

    /// Returns the form of a rule, whose body may be made later.
    fn rule(&mut self, rule: RuleId) -> u32 {
        if let Some(form) = self.rules[rule.index()] {
            return form;
        }
        let form = self.add(Form::Rule(rule, 0), self.ir.rule(rule).facts.min_len);
        self.rules[rule.index()] = Some(form);
        form
    }

    /// Returns the form of a node. Nodes are nested within bounds.
    fn node(&mut self, id: NodeId) -> Option<u32> {
        if self.forms.forms.len() > MOST {
            return None;
        }
        let node = self.ir.node(id);
        if let Some(rounds) = node.rounds() {
            return self.rounds(rounds);
        }
        if let Some(rule) = node.instance() {
            return Some(self.rule(rule));
        }
        let min_len = self.ir.facts(id).min_len;
        if let Some(bytes) = node.literal() {
            return Some(self.add(Form::Bytes(bytes.into()), min_len));
        }
        if let Some(set) = node.class() {
            let within = [0, 1, 2, 3, 4].map(|bytes| u64::from(set.len_within(bytes)));
            let lens = [1, 2, 3, 4].map(|bytes| within[bytes] - within[bytes - 1]);
            return Some(self.add(Form::Class(id, lens), min_len));
        }
        let parts = node.children().iter().map(|&child| self.node(child)).collect::<Option<Vec<u32>>>()?;
        if node.choice().is_some() {
            return Some(self.add(Form::One(parts.into()), min_len));
        }
        Some(self.pairs(parts))
    }

    /// Returns the form of parts one after the other.
    fn pairs(&mut self, mut parts: Vec<u32>) -> u32 {
        let Some(mut form) = parts.pop() else { return self.add(Form::Bytes([].into()), 0) };
        while let Some(part) = parts.pop() {
            let min_len = self.forms.min_lens[part as usize].saturating_add(self.forms.min_lens[form as usize]);
            form = self.add(Form::Pair(part, form), min_len);
        }
        form
    }

    fn rounds(&mut self, Rounds { item, min, max }: Rounds) -> Option<u32> {
        let item = self.node(item)?;
        let further = max.map(|max| max - min).filter(|&further| further <= LONGEST);
        if self.forms.forms.len() + min as usize + further.unwrap_or(0) as usize > MOST {
            return None;
        }
        let mut form = match further {
            Some(_) => self.add(Form::Bytes([].into()), 0),
            None => {
                let own = self.forms.forms.len() as u32;
                self.add(Form::More(item, own), 0)
            }
        };
        for _ in 0..further.unwrap_or(0) {
            form = self.add(Form::More(item, form), 0);
        }
        let mut parts = vec![item; min as usize];
        parts.push(form);
        Some(self.pairs(parts))
    }
}

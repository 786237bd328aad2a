//! The findings on a grammar that compiles, as text for people.

use std::fmt;

use gramjet_compiler::Examined;
use gramjet_compiler::shape::Facts;

use super::sample::{Sample, describe_sample, sample};
use super::structure::Structure;
use super::texts::Texts;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::limits::Applied;
use crate::prepared::Prepared;
use crate::report;

/// The findings on a grammar that compiles.
pub struct Found<'a> {
    /// Its structure.
    pub structure: Structure,
    /// Facts about its growth.
    pub growth: &'a Facts,
    /// The rules that grow most.
    pub critical: &'a [String],
    /// The limits of the sample.
    pub limits: Applied,
    /// The decision on the weights, if the user asked for none and equal ones would not do.
    pub by_default: Option<String>,
    /// A sample of the inputs.
    pub sample: Sample,
    /// The number of texts of each length, if it is asked for.
    pub texts: Option<Texts>,
}

impl<'a> Found<'a> {
    /// Examines the grammar and its inputs. It fails if the limits cannot be kept.
    pub fn new(examined: &'a Examined, prepared: &Prepared) -> Result<Found<'a>, Failure> {
        let compiled = &examined.compiled;
        let wanted = Applied::wanted(&prepared.limits, compiled.directives());
        let mut engine = Engine::fastest(compiled, wanted)?;
        let (structure, limits, sample) = (Structure::new(compiled), engine.applied(), sample(&mut engine)?);
        let by_default = examined.compiled.by_default.as_ref().map(report::weights_by_default);
        let (growth, critical, texts) = (&examined.growth, &examined.critical, None);
        Ok(Found { structure, growth, critical, limits, by_default, sample, texts })
    }
}

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.structure)?;
        writeln!(f, "limits     {}", self.limits)?;
        if let Some(decision) = &self.by_default {
            writeln!(f, "weights    {decision}")?;
        }
        writeln!(f, "growth     {}", report::growth(self.growth))?;
        f.write_str(&describe_sample(&self.sample))?;
        self.texts.as_ref().map_or(Ok(()), |texts| write!(f, "{texts}"))
    }
}

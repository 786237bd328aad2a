//! The residual form of a grammar, made when it is first needed: whoever only reads texts has no use for it.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::analysis::pools::Pools;
use crate::ir::Ir;
use crate::passes::{Budget, optimise};

/// The residual form of a grammar, which engines run. A clone shares it.
#[derive(Clone, Debug)]
pub struct Residual(Arc<Making>);

#[derive(Debug)]
struct Making {
    lowered: Arc<Ir>,
    pools: Pools,
    budget: Budget,
    made: OnceLock<Arc<Ir>>,
}

impl Residual {
    /// Returns the residual form that the passes make of a lowered form when it is first asked for.
    pub(crate) fn of(lowered: &Arc<Ir>, pools: &Pools, budget: Budget) -> Residual {
        let (lowered, pools) = (Arc::clone(lowered), pools.clone());
        Residual(Arc::new(Making { lowered, pools, budget, made: OnceLock::new() }))
    }
}

impl From<Arc<Ir>> for Residual {
    /// Returns a form that is made already.
    fn from(made: Arc<Ir>) -> Residual {
        let (lowered, pools, budget) = (Arc::clone(&made), Pools::none(), Budget::default());
        Residual(Arc::new(Making { lowered, pools, budget, made: made.into() }))
    }
}

impl From<Ir> for Residual {
    fn from(made: Ir) -> Residual {
        Arc::new(made).into()
    }
}

impl Deref for Residual {
    type Target = Ir;

    #[inline]
    fn deref(&self) -> &Ir {
        let Making { lowered, pools, budget, made } = &*self.0;
        made.get_or_init(|| Arc::new(optimise(lowered, pools, budget, &mut |_, _| {})))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, SourceFile, compile, ir};

    #[test]
    fn it_is_made_once_and_when_it_is_needed() {
        let file = SourceFile::new("g.ebnf", "s ::= [ab] | '(' s s ')'");
        let Ok((compiled, _)) = compile(&file, &Options::default()) else { panic!("the grammar compiles") };
        assert!(compiled.residual.0.made.get().is_none());
        let clone = compiled.clone();
        assert!(ir::verify(&compiled.residual).is_ok());
        assert!(std::ptr::eq(&*compiled.residual, &*clone.residual));
    }
}

//! Test kit: random grammars, the engine-neutral suite, exact language enumeration.

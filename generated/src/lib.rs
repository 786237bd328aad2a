//! Producers for the grammars that ship with gramjet.

//! Engines that run a compiled grammar: the portable table interpreter.

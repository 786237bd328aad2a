//! The JSON form of the Fuzzing Book and of F1.

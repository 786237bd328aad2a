//! Random numbers of a search: one stream for each, from its seed.

pub(crate) use gramjet_session::Random;

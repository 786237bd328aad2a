//! Tests across crates, in one binary.

mod builds;
mod cli;
mod comments;
mod engines;
mod english;
mod imports;
mod kinds;
mod labelled;
mod limits;
mod locality;
mod packages;
mod pages;
mod promises;
mod rfc;
mod schemas;
mod shapes;
mod structs;
mod validity;

//! What generated producers and engines run on.

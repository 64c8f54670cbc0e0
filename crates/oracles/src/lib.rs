//! The judges: each is given a case and what happened, and says whether that may be. Pure: no I/O, no clock.

pub mod expectations;

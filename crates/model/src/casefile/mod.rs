//! The case file: how people read and write a case.

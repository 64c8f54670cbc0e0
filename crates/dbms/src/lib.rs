//! The clients of real databases, one folder per family, behind the traits of `execute`.

pub mod mysql;

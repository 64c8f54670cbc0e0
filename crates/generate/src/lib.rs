//! Makes cases from seeds.
//!
//! So far one kind: [`workload`], the small random cases with which the executor tests itself.

pub mod workload;

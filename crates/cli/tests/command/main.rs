//! The `isopod` command as its users meet it: what it prints, where, and with which exit code. Everything here runs
//! the real binary, and where a server is needed, a real server.

#[path = "../common/mod.rs"]
mod common;
mod corpus;
mod demo;
mod errors;
mod fmt;
mod foreign;
mod generate;
mod help;
mod hunting;
mod interrupts;
mod judging;
mod measuring;
mod old_runs;
mod reducing;
mod run;
mod selftests;
mod server;
mod tools;
mod triage;
mod versions;
mod where_else;

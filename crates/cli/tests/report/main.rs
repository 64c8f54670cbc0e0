//! `isopod report` as its users meet it: the pages in a real browser, the scripts with the real clients, and what is said of a folder
//! that is no run.

mod browser;
#[path = "../common/mod.rs"]
mod common;
mod folders;
mod own_commands;
mod ready;
mod scripts;
mod tested;
#[allow(dead_code)]
#[path = "../command/tools.rs"]
mod tools;

//! cli

use std::{env, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let args: Vec<_> = env::args_os().collect();
    // Not for people: how SQLite's child is started.
    if let [_, mode, folder] = &args[..]
        && mode == "__sqlite"
    {
        return dbms::sqlite::child::main(Path::new(folder));
    }
    ExitCode::SUCCESS
}

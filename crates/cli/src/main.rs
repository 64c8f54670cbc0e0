//! cli

use std::{env, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let args: Vec<_> = env::args_os().collect();
    match args.get(1).and_then(|mode| mode.to_str()) {
        Some("__keeper") => dbms::servers::keeper_main(),
        Some("__sqlite") if args.len() == 3 => dbms::sqlite::child::main(Path::new(&args[2])),
        _ => ExitCode::SUCCESS,
    }
}

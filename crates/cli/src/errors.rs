//! How errors look: what went wrong, and what to do next.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use execute::ConnectError;
use model::Case;

use crate::{secrets::hide, targets};

/// An error with advice below it.
#[derive(Debug)]
pub struct Advised {
    /// What went wrong.
    pub message: String,
    /// What is there, what to do; a line each.
    pub advice: Vec<String>,
}

impl std::fmt::Display for Advised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Advised {}

/// An error with a form of its own: the problems of a case file, with their lines.
#[derive(Debug)]
pub struct Rendered(pub String);

impl std::fmt::Display for Rendered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Rendered {}

/// Writes the error and its advice to standard error.
pub fn show(error: &anyhow::Error) {
    if let Some(Rendered(text)) = error.downcast_ref() {
        anstream::eprintln!("{}", hide(text));
        return;
    }
    let red = AnsiColor::Red.on_default().bold();
    let bold = Style::new().bold();
    let chain: Vec<String> = error.chain().map(|cause| hide(&cause.to_string())).collect();
    anstream::eprintln!("{red}error{red:#}{bold}: {}{bold:#}", chain[0]);
    for cause in &chain[1..] {
        anstream::eprintln!("  because: {cause}");
    }
    if let Some(advised) = error.downcast_ref::<Advised>() {
        advised.advice.iter().for_each(|line| anstream::eprintln!("  {}", hide(line)));
    }
}

/// A case could not be run. A statement of its setup that the server refuses is the file's fault, and is shown as such.
pub fn of_case(name: &str, case: &Case, error: execute::LaunchError) -> anyhow::Error {
    let error = match error.downcast::<dbms::launch::LaunchError>() {
        Ok(error) => return targets::advised(*error),
        Err(error) => error,
    };
    match error.downcast_ref::<ConnectError>() {
        Some(ConnectError::Own { statement, reason }) if case.setup.statements.contains(statement) => {
            Advised {
                message: format!("the setup of {name} failed"),
                advice: vec![format!("statement: {statement}"), format!("the server: {reason}")],
            }
            .into()
        }
        _ => anyhow::anyhow!(error).context(format!("{name} could not be run")),
    }
}

/// May standard output be coloured?
pub fn colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

//! How errors look: what went wrong, and what to do next.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use execute::ConnectError;
use lab::Nothing;
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

/// A server could not be brought up, in one line.
#[derive(Debug)]
pub struct NotLaunched(pub anyhow::Error);

impl std::fmt::Display for NotLaunched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let chain: Vec<String> = self.0.chain().map(ToString::to_string).collect();
        f.write_str(&chain.join(": "))?;
        match self.0.downcast_ref::<Advised>() {
            Some(advised) if !advised.advice.is_empty() => write!(f, " ({})", advised.advice.join("; ")),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for NotLaunched {}

/// An experiment could not be done.
pub fn of_lab(error: lab::LabError) -> anyhow::Error {
    let error = match error.downcast::<NotLaunched>() {
        Ok(error) => return error.0,
        Err(error) => error,
    };
    let error = match error.downcast::<lab::CaseFailed>() {
        Ok(failed) => return of_case(&format!("case {}", failed.number), &failed.case, failed.error),
        Err(error) => error,
    };
    let advice = match error.downcast_ref::<lab::Nothing>() {
        Some(Nothing::Findings) => {
            "isopod hunt TARGET --seed N --keep 50 --no-reduce --out DIR, for several N"
        }
        Some(Nothing::Traces(_) | Nothing::TraceFile(_)) => "traces are kept by: isopod hunt --keep-traces",
        Some(Nothing::RunFolder(_)) => "a run folder is what isopod hunt --out leaves behind",
        None => return anyhow::anyhow!(error),
    };
    Advised { message: error.to_string(), advice: vec![advice.into()] }.into()
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

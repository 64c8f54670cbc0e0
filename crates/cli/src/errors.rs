//! How errors look: what went wrong, and what to do next.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use dbms::attach::AttachError;
use dbms::attach::secrets::hide;
use execute::{ConnectError, LaunchError};
use lab::Nothing;
use model::Case;
use provision::ServerError;

use crate::output::tell;

/// An error with advice below it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Advised {
    pub message: String,
    /// What is there, what to do; a line each.
    pub advice: Vec<String>,
}

impl Advised {
    pub fn new(message: impl Into<String>, advice: impl IntoIterator<Item = impl Into<String>>) -> Advised {
        Advised { message: message.into(), advice: advice.into_iter().map(Into::into).collect() }
    }
}

impl From<LaunchError> for Advised {
    fn from(error: LaunchError) -> Advised {
        let message = error.to_string();
        match error {
            LaunchError::NotStarted { advice, .. } => Advised { message, advice },
            LaunchError::Connect(_) => Advised { message, advice: Vec::new() },
        }
    }
}

impl From<ServerError> for Advised {
    fn from(error: ServerError) -> Advised {
        Advised::new(error.title, error.help)
    }
}

impl From<AttachError> for Advised {
    fn from(error: AttachError) -> Advised {
        Advised::new(error.title, error.help)
    }
}

/// An error with a form of its own: the problems of a case file, with their lines.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Rendered(pub String);

/// Writes the error and its advice to standard error.
pub fn show(error: &anyhow::Error) {
    if let Some(Rendered(text)) = error.downcast_ref() {
        tell!("{}", hide(text));
        return;
    }
    let red = AnsiColor::Red.on_default().bold();
    let bold = Style::new().bold();
    // Colours are ours alone.
    let plain = |text: &str| report::text::lines(&hide(text));
    let chain: Vec<String> = error.chain().map(|cause| plain(&cause.to_string())).collect();
    tell!("{red}error{red:#}{bold}: {}{bold:#}", chain[0]);
    for cause in &chain[1..] {
        tell!("  because: {cause}");
    }
    if let Some(advised) = error.downcast_ref::<Advised>() {
        advised.advice.iter().for_each(|line| tell!("  {}", plain(line)));
    }
}

/// An experiment could not be done.
pub fn of_lab(error: lab::LabError) -> anyhow::Error {
    let error = match error.downcast::<LaunchError>() {
        Ok(error) => return Advised::from(*error).into(),
        Err(error) => error,
    };
    let error = match error.downcast::<lab::CaseFailed>() {
        Ok(failed) => return of_case(&failed.name, &failed.case, failed.error),
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
    Advised::new(error.to_string(), [advice]).into()
}

/// A case could not be run. A statement of its setup that the server refuses is the file's fault, and is shown as such.
pub fn of_case(name: &str, case: &Case, error: LaunchError) -> anyhow::Error {
    match error {
        LaunchError::NotStarted { .. } => Advised::from(error).into(),
        LaunchError::Connect(ConnectError::Own { statement, reason })
            if case.setup.statements.contains(&statement) =>
        {
            Advised::new(
                format!("the setup of {name} failed"),
                [format!("statement: {statement}"), format!("the server: {reason}")],
            )
            .into()
        }
        LaunchError::Connect(error) => anyhow::Error::from(error).context(format!("{name} could not be run")),
    }
}

/// Shows the error of the argument parser, which repeats arguments, without passwords; and ends.
pub fn exit(error: clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit(); // It is the help that was asked for.
    }
    tell!("{}", hide(&error.render().ansi().to_string()).trim_end());
    std::process::exit(error.exit_code())
}

/// How text for standard output looks.
pub fn style() -> report::Style {
    let usual = report::Style::default();
    report::Style { colour: colour(), width: columns().unwrap_or(usual.width), ..usual }
}

/// How wide the terminal is, or what COLUMNS says; none where the output goes somewhere else.
fn columns() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns: usize =
        said.or_else(|| Some(terminal_size::terminal_size_of(std::io::stdout())?.0.0.into()))?;
    Some(columns.clamp(60, 200))
}

/// May standard output be coloured?
pub fn colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

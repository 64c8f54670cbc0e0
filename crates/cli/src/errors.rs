//! How errors look: what went wrong, and what to do next.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

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

/// An error that has been shown already, in a form of its own.
#[derive(Debug)]
pub struct Shown;

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("see above")
    }
}

impl std::error::Error for Shown {}

/// Writes the error and its advice to standard error.
pub fn show(error: &anyhow::Error) {
    if error.is::<Shown>() {
        return;
    }
    let red = AnsiColor::Red.on_default().bold();
    let bold = Style::new().bold();
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    anstream::eprintln!("{red}error{red:#}{bold}: {}{bold:#}", chain[0]);
    for cause in &chain[1..] {
        anstream::eprintln!("  because: {cause}");
    }
    if let Some(advised) = error.downcast_ref::<Advised>() {
        advised.advice.iter().for_each(|line| anstream::eprintln!("  {line}"));
    }
}

/// May standard output be coloured?
pub fn colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

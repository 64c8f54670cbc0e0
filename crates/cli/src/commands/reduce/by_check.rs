//! What is kept is that a command ends with exit code 0 when it is given the case as a file.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context;
use model::{Case, Product};
use reduce::Scope;

use super::{Done, Search};
use crate::errors::Advised;

pub fn smaller(
    search: &mut Search<'_>,
    name: &str,
    case: &Case,
    product: Product,
    command: &str,
) -> anyhow::Result<Done> {
    let folder = provision::scratch::temporary().context("no place for the case can be made")?;
    let file = folder.path().join("case.iso");
    if !ends_well(command, &file, case)? {
        anyhow::bail!(Advised::new(
            format!("`{command}` does not end with exit code 0 for {name}"),
            ["it is given the path of a case file, and must say yes to the whole case"]
        ));
    }
    // That it could not be started was found out above.
    let mut holds = |case: &Case| ends_well(command, &file, case).unwrap_or(false);
    let (case, tried, finished) = search.without_oracle(case, product, Scope::Whole, &mut holds)?;
    let keeps = format!("`{command}` ends with exit code 0");
    Ok(Done { oracle: "check".into(), keeps, violation: None, case, tried, finished })
}

fn ends_well(command: &str, file: &Path, case: &Case) -> anyhow::Result<bool> {
    let text = model::casefile::print(case)?;
    std::fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))?;
    let mut shell = Command::new("sh");
    // The shell splits the command as the user wrote it, and the path is one more word of it.
    shell.args(["-c", &format!("{command} \"$1\""), "sh"]).arg(file);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(shell.status().with_context(|| format!("`{command}` could not be started"))?.success())
}

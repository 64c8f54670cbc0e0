//! Writes the files of a report: beside the old ones, which are then replaced at once.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use report::{BugReport, html, json, scripts};

use super::gather::ReportData;

/// Writes everything; gives the page of the run.
pub fn write(folder: &Path, data: &ReportData) -> anyhow::Result<PathBuf> {
    let new = folder.with_file_name(".report.new");
    let _ = fs::remove_dir_all(&new);
    fs::create_dir_all(&new).with_context(|| format!("cannot make {}", new.display()))?;
    let files: Vec<(&BugReport, Vec<scripts::Script>)> =
        data.bugs.iter().map(|bug| (bug, scripts::all(bug))).collect();
    for (bug, scripts) in &files {
        for script in scripts {
            let path = new.join(&script.name);
            put(&path, &script.text)?;
            if script.runs {
                runnable(&path)?;
            }
        }
        put(&new.join(format!("{}.html", bug.finding.id)), &html::finding(bug, scripts))?;
    }
    let listed: Vec<(&BugReport, &[scripts::Script])> =
        files.iter().map(|(bug, scripts)| (*bug, scripts.as_slice())).collect();
    put(&new.join("findings.json"), &json::json(&data.run, &listed))?;
    put(&new.join("index.html"), &html::index(&data.run))?;
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot replace {}", folder.display()))?;
    }
    fs::rename(&new, folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder.join("index.html"))
}

fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(unix)]
fn runnable(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} runnable", path.display()))
}

#[cfg(not(unix))]
fn runnable(_: &Path) -> anyhow::Result<()> {
    Ok(())
}

//! `isopod fmt`: puts case files in canonical form, comments included.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::{
    errors, files, loading,
    output::{say, tell},
    problems,
};

#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  isopod fmt lost-update.iso
  isopod fmt --check cases/     in CI

Comments stay. Exit codes: 0 fine, 1 files would change (--check), 2 a file is broken.")]
pub struct Args {
    /// Case files, or folders that are searched for *.iso
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change nothing; list the files that would change, and exit with 1 if there are any
    #[arg(long)]
    pub check: bool,
}

/// What one file came to.
enum Formatted {
    /// It is canonical already.
    Same,
    /// It was, or with `--check` would be, rewritten.
    Changed,
    /// It cannot be read as a case; here is what is wrong, ready to be shown.
    Broken(String),
}

/// Formats the files, and says how it went: 0 fine, 1 some would change (`--check`), 2 some are broken.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let colour = errors::colour();
    let (mut changed, mut broken) = (0, 0);
    for file in loading::files(&args.files)? {
        match format_file(&file, args.check, colour)? {
            Formatted::Same => {}
            Formatted::Changed => {
                changed += 1;
                let done = if args.check { "would change" } else { "formatted" };
                say!("{done}: {}", file.display());
            }
            Formatted::Broken(problems) => {
                if broken > 0 {
                    tell!("");
                }
                broken += 1;
                tell!("{problems}");
            }
        }
    }
    Ok(match (broken, changed) {
        (0, 0) => 0,
        (0, _) => u8::from(args.check),
        _ => 2,
    })
}

fn format_file(file: &Path, check: bool, colour: bool) -> anyhow::Result<Formatted> {
    let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    match notation::format(&file.to_string_lossy(), &text) {
        Ok(formatted) if formatted == text => Ok(Formatted::Same),
        Ok(formatted) => {
            if !check {
                // What a link points at is replaced, not the link.
                let replaced = file.canonicalize().and_then(|file| files::replace(&file, &formatted));
                replaced.with_context(|| format!("{} cannot be written", file.display()))?;
            }
            Ok(Formatted::Changed)
        }
        Err(problems) => {
            let shown = problems::render_all(&file.display().to_string(), &text, &problems, colour);
            Ok(Formatted::Broken(shown))
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    struct Folder(TempDir);

    impl Folder {
        fn new() -> Folder {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("inner")).unwrap();
            Folder(folder)
        }

        fn put(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.path().join(name);
            fs::write(&path, text).unwrap();
            path
        }

        fn run(&self, check: bool) -> u8 {
            run(&Args { files: vec![self.0.path().to_path_buf()], check }).unwrap()
        }
    }

    const MESSY: &str = "steps\nT1: SELECT 1; -- why\n";
    const CLEAN: &str = "steps\n  T1: SELECT 1;  -- why\n";

    #[test]
    fn files_are_rewritten_once_and_check_only_tells() {
        let folder = Folder::new();
        let deep = folder.put("inner/a.iso", MESSY);
        let other = folder.put("notes.txt", MESSY);
        assert_eq!(folder.run(true), 1);
        assert_eq!(fs::read_to_string(&deep).unwrap(), MESSY);
        assert_eq!(folder.run(false), 0);
        assert_eq!(fs::read_to_string(&deep).unwrap(), CLEAN);
        assert_eq!(fs::read_to_string(other).unwrap(), MESSY);
        assert_eq!(folder.run(true), 0);
        assert_eq!(
            fs::read_dir(folder.0.path().join("inner")).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_broken_file_is_left_alone_and_the_others_are_formatted() {
        let folder = Folder::new();
        let broken = folder.put("a.iso", "stesp\n");
        let fine = folder.put("b.iso", MESSY);
        assert_eq!(folder.run(false), 2);
        assert_eq!(fs::read_to_string(broken).unwrap(), "stesp\n");
        assert_eq!(fs::read_to_string(fine).unwrap(), CLEAN);
        assert!(run(&Args { files: vec![folder.0.path().join("none.iso")], check: true }).is_err());
    }
}

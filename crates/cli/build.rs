//! Lists the corpus and the other cases of bugs that were found, so that the binary carries them and `isopod corpus` works anywhere.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

fn main() -> Result<(), Box<dyn Error>> {
    let top = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let (corpus, found) = (top.join("corpus"), top.join("docs/found"));
    println!("cargo::rerun-if-changed={}", corpus.display());
    let groups = fs::read_dir(&corpus)?.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    write("corpus.rs", &corpus, groups)?;
    write("found.rs", &found, std::iter::once(found.clone()))
}

/// Writes the list of the cases in these folders, each by its name below `root`.
fn write(list: &str, root: &Path, folders: impl Iterator<Item = PathBuf>) -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for folder in folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in fs::read_dir(folder)?.flatten().map(|entry| entry.path()) {
            if notation::Format::of(&file).is_some() {
                files.push(file);
            }
        }
    }
    files.sort();
    let entries: Vec<String> = files
        .iter()
        .map(|file| {
            let name = file.strip_prefix(root).unwrap_or(file).with_extension("");
            format!("({:?}, include_str!({:?})),", name.display().to_string(), file.display().to_string())
        })
        .collect();
    let text = format!("&[\n{}\n]", entries.join("\n"));
    fs::write(Path::new(&env::var("OUT_DIR")?).join(list), text)?;
    Ok(())
}

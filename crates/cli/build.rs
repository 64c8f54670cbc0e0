//! Lists the corpus, so that the binary carries it and `isopod corpus` works anywhere.

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../corpus").canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    for group in fs::read_dir(&root)?.flatten().filter(|entry| entry.path().is_dir()) {
        println!("cargo::rerun-if-changed={}", group.path().display());
        for file in fs::read_dir(group.path())?.flatten().map(|entry| entry.path()) {
            if notation::Format::of(&file).is_some() {
                files.push(file);
            }
        }
    }
    files.sort();
    let entries: Vec<String> = files
        .iter()
        .map(|file| {
            let name = file.strip_prefix(&root).unwrap_or(file).with_extension("");
            format!("({:?}, include_str!({:?})),", name.display().to_string(), file.display().to_string())
        })
        .collect();
    let list = format!("&[\n{}\n]", entries.join("\n"));
    fs::write(Path::new(&env::var("OUT_DIR")?).join("corpus.rs"), list)?;
    Ok(())
}

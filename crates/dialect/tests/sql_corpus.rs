//! Every statement of the corpus has a tree, and every setup is data, in each dialect that the case is for.

use std::path::{Path, PathBuf};

use dialect::sql::{Parsed, parse, setup};
use model::{Product, casefile};

fn cases(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            cases(&path, found);
        } else if path.extension().is_some_and(|e| e == "iso") {
            found.push(path);
        }
    }
}

#[test]
fn the_corpus_is_read() {
    let mut files = Vec::new();
    cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus"), &mut files);
    assert!(!files.is_empty());
    let mut opaque = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a file");
        let case = casefile::parse(&text).expect("a case").into_case();
        let products = if case.products.is_empty() { Product::ALL.to_vec() } else { case.products.clone() };
        for product in products {
            // One case is about an index that was made after the rows.
            let mut defined_first = case.setup.statements.clone();
            defined_first.sort_by_key(|text| text.starts_with("INSERT"));
            if let Err(why) =
                setup(product, &case.setup.statements).or_else(|_| setup(product, &defined_first))
            {
                opaque.push(format!("{}: {product}: {why}", file.display()));
            }
            for step in &case.steps {
                if let Parsed::Opaque(why) = parse(product, &step.sql) {
                    opaque.push(format!("{}: {product}: {}: {why}", file.display(), step.sql));
                }
            }
        }
    }
    assert!(opaque.is_empty(), "{}", opaque.join("\n"));
}

//! The corpus on the reference engine: every phenomenon at every level as InnoDB promises it, and none of the known failures.

mod common;

use std::{fs, path::Path};

use model::{Level, Product};
use oracles::expectations::{CheckStatus, applies, check};

#[test]
fn every_phenomenon_comes_out_as_it_should() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut runner = common::runner("reference");
    let mut checks = 0;
    for group in ["phenomena", "seeds"] {
        for file in fs::read_dir(root.join(group)).unwrap().flatten().map(|entry| entry.path()) {
            let text = fs::read_to_string(&file).unwrap();
            let case = model::casefile::parse(&text).unwrap().into_case();
            if !applies(&case, Product::Reference) {
                continue;
            }
            for level in Level::ALL {
                let run = runner.run(&case, level).unwrap();
                let report = check(&case, &run.trace);
                let name = format!("{} at {level}", file.display());
                assert_eq!(report.status, CheckStatus::Pass, "{name}\n{}", common::show(&case, &run));
                assert_eq!(common::complaint(&run), None, "{name}");
                checks += 1;
            }
        }
    }
    assert!(checks > 200, "{checks}");
}

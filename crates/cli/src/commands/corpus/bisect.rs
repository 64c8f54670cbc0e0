//! `isopod corpus bisect`: in which version did the behaviour of a case change?
//!
//! Every installed version between the ends is run, oldest first. A true bisection would be faster and is right only if
//! there was one change; a bug that came with one release and went with another has two, and a version takes seconds.

use std::path::{Path, PathBuf};

use lab::corpus::{
    bisect::{self, Bisected, Plan},
    changes::{AtLevel, Behaviour},
};
use model::{Case, Place, Product, Target, Version, shell, target::Settings};
use oracles::expectations;
use serde::Serialize;

use crate::{
    arguments::{How, Levels, count, levels},
    choice::{Choices, choices},
    commands::lab::with,
    corpus,
    errors::{self, Advised},
    interrupt, loading,
    output::{self, plural, say, tell},
    targets,
};

#[derive(clap::Args)]
pub struct Args {
    /// A case of the corpus, or a file
    case: String,
    /// The oldest version, such as mysql@5.6; its settings hold for all
    #[arg(long, value_name = "TARGET")]
    from: Option<Target>,
    /// The newest version, such as mysql@9.7; its settings hold for all
    #[arg(long, value_name = "TARGET")]
    to: Option<Target>,
    /// The product, if no version is given; by default each that the case is for
    #[arg(long)]
    product: Option<Product>,
    /// The isolation level (RU, RC, RR, SER), or all
    #[arg(long, value_parser = levels, default_value = "all")]
    level: Levels,
    /// Run the case so many times on each version; one whose runs differ is named and not compared
    #[arg(long, value_name = "TIMES", default_value_t = 3, value_parser = count)]
    repeat: u64,
    #[command(flatten)]
    how: How,
    /// All behaviours and changes, as JSON
    #[arg(long)]
    json: bool,
}

/// The versions of one product.
struct ProductVersions {
    product: Product,
    targets: Vec<Target>,
    /// Names of versions in between that could be had.
    missing: Vec<String>,
}

#[derive(Serialize)]
struct Result {
    case: String,
    product: Product,
    repeat: u64,
    not_installed: Vec<String>,
    levels: Vec<AtLevel>,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    interrupt::listen();
    let (name, case) = find(&args.case)?;
    let mut results = Vec::new();
    let mut failed = false;
    for row in rows(args, &case)? {
        let (result, whole) = measure(args, &name, &case, row)?;
        failed |= !whole;
        if !args.json {
            show(&case, &result);
        }
        results.push(result);
    }
    if args.json {
        output::json(&results)?;
    }
    let all = || results.iter().flat_map(|result| &result.levels);
    failed |= all().flat_map(|at| &at.behaviours).any(|behaviour| !behaviour.stable());
    let changed = all().any(|at| !at.changes.is_empty());
    Ok(if interrupt::asked() || failed { 2 } else { u8::from(changed) })
}

/// The case: a file, or one of the corpus by its name, its short name, or a word that only it has.
fn find(word: &str) -> anyhow::Result<(String, Case)> {
    let path = Path::new(word);
    if word.ends_with(".iso") || path.is_file() {
        return Ok((word.to_string(), loading::load(&PathBuf::from(path))?));
    }
    let mut entries = corpus::matching(&[word.to_string()])?;
    let exact = |name: &str| name == word || name.rsplit('/').next() == Some(word);
    let at = entries.iter().position(|entry| exact(entry.name));
    if at.is_none() && entries.len() > 1 {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        anyhow::bail!(Advised::new(
            format!("{} cases have `{word}` in their name or link", names.len()),
            [format!("choose one of: {}", names.join(", "))]
        ));
    }
    let entry = entries.swap_remove(at.unwrap_or(0));
    Ok((entry.name.to_string(), entry.case))
}

/// Which versions of which products to run.
fn rows(args: &Args, case: &Case) -> anyhow::Result<Vec<ProductVersions>> {
    let ends: Vec<&Target> = [&args.from, &args.to].into_iter().flatten().collect();
    let mut products: Vec<Product> = ends.iter().map(|target| target.product).chain(args.product).collect();
    products.dedup();
    anyhow::ensure!(
        ends.is_empty() || products.len() == 1,
        "versions of one product can be compared, not different products"
    );
    if let Some(&product) = products.iter().find(|&&product| !expectations::applies(case, product)) {
        let names: Vec<&str> = case.products.iter().map(|product| product.name()).collect();
        anyhow::bail!(Advised::new(
            format!("the case is not for {product}"),
            [format!("it is for: {}", names.join(", "))]
        ));
    }
    if let (Some(from), Some(to)) = (&args.from, &args.to) {
        let ours = |target: &Target| target.place == Place::Cache;
        let settings = |target: &Target| !target.settings.is_empty();
        let two_ways = settings(from) && settings(to) && from.settings != to.settings;
        if two_ways || !ours(from) || !ours(to) {
            let targets = vec![from.clone(), to.clone()];
            return Ok(vec![ProductVersions { product: from.product, targets, missing: Vec::new() }]);
        }
    }
    if products.is_empty() {
        products = Product::databases().filter(|&p| expectations::applies(case, p)).collect();
    }
    let rows: Vec<ProductVersions> =
        products.into_iter().map(|product| installed(args, product)).collect::<anyhow::Result<_>>()?;
    // A product that has nothing to compare is not worth a word, unless none has.
    if rows.iter().all(|row| row.targets.len() < 2) {
        return Err(too_few(&rows));
    }
    Ok(rows.into_iter().filter(|row| row.targets.len() > 1).collect())
}

fn too_few(rows: &[ProductVersions]) -> anyhow::Error {
    let names = |targets: &[Target]| {
        let names: Vec<String> = targets.iter().map(Target::to_string).collect();
        if names.is_empty() { "none".to_string() } else { names.join(", ") }
    };
    let mut advice: Vec<String> = rows
        .iter()
        .map(|row| format!("{}: installed and between the ends: {}", row.product, names(&row.targets)))
        .collect();
    let more: Vec<&str> = rows.iter().flat_map(|row| &row.missing).map(String::as_str).collect();
    if !more.is_empty() {
        advice.push(format!(
            "more can be had: {}",
            shell::command(["isopod", "server", "install"].into_iter().chain(more))
        ));
    }
    Advised::new("there are no two versions to compare", advice).into()
}

/// The installed versions between the ends, under the ends' settings.
fn installed(args: &Args, product: Product) -> anyhow::Result<ProductVersions> {
    let end = |target: &Option<Target>| match target {
        Some(target) => targets::ensure_installed(target),
        None => Ok(None),
    };
    let (low, high) = (end(&args.from)?, end(&args.to)?);
    if let (Some(low), Some(high)) = (&low, &high) {
        anyhow::ensure!(low <= high, "{low} is newer than {high}: --from names the older one");
    }
    let between = |version: &Version| {
        low.as_ref().is_none_or(|low| version.cmp_prefix(low).is_ge())
            && high.as_ref().is_none_or(|high| version.cmp_prefix(high).is_le())
    };
    // Ends that both have settings have the same ones here.
    let ends = [&args.from, &args.to].into_iter().flatten();
    let settings: Settings = ends.flat_map(|end| end.settings.clone()).collect();
    let inside = |target: &Target| target.product == product && target.version.as_ref().is_none_or(between);
    let Choices { here, more } = choices()?;
    let mut targets = Vec::new();
    for target in here.into_iter().filter(inside) {
        match bisect::fitted(&settings, &target) {
            Ok(settings) => targets.push(Target { settings, ..target }),
            Err(without) => tell!("note: {target} does not have {without} and is left out"),
        }
    }
    let missing = more.into_iter().filter(|name| name.parse().is_ok_and(|target| inside(&target))).collect();
    Ok(ProductVersions { product, targets, missing })
}

/// Runs the case on each version. Also says whether all of them could be run.
fn measure(args: &Args, name: &str, case: &Case, row: ProductVersions) -> anyhow::Result<(Result, bool)> {
    let levels = &args.level.on(row.product)?;
    let plan = Plan { name, case, levels, repeat: args.repeat };
    let Bisected { levels, failed } = with(&args.how, |lab| Ok(bisect::measure(lab, &plan, &row.targets)))?;
    let whole = failed.is_empty();
    let errors = failed
        .into_iter()
        .map(|(target, error)| errors::of_lab(error).context(format!("{target} was left out")));
    let mut errors: Vec<anyhow::Error> = errors.collect();
    let last = if levels.iter().all(|at| at.behaviours.len() < 2) { errors.pop() } else { None };
    errors.iter().for_each(errors::show);
    match last {
        Some(error) => Err(error),
        None => {
            let (case, product, not_installed) = (name.to_string(), row.product, row.missing);
            Ok((Result { case, product, repeat: args.repeat, not_installed, levels }, whole))
        }
    }
}

fn show(case: &Case, result: &Result) {
    let title = if case.title.is_empty() { String::new() } else { format!(" · {}", case.title) };
    say!("{}{title} · {}", result.case, result.product);
    if !result.not_installed.is_empty() {
        say!("not installed, so not run: {}", result.not_installed.join(", "));
    }
    for at in &result.levels {
        say!("\n{}", at.level.sql());
        let groups: Vec<(String, String)> = at.groups().iter().map(|group| line(group)).collect();
        let width = groups.iter().map(|(versions, _)| versions.chars().count()).max().unwrap_or(0);
        for (versions, words) in &groups {
            say!("  {versions:width$}  {words}");
        }
        for change in &at.changes {
            say!("  changed between {} and {}", change.from, change.to);
            for difference in &change.differences {
                say!("    {}", difference.at);
                say!("      before  {}", difference.before);
                say!("      after   {}", difference.after);
            }
            if !change.settings.is_empty() {
                say!("    settings in force differ: {}", change.settings.join("; "));
            }
        }
    }
    say!("");
    say!("{}", closing(result));
}

fn line(group: &[Behaviour]) -> (String, String) {
    let versions: Vec<&str> = group.iter().map(|behaviour| behaviour.version.as_str()).collect();
    let words = match group {
        [one] if !one.stable() => format!("not stable: {} of {} runs alike", one.alike, one.runs),
        _ => group.first().map(|one| one.status.clone()).unwrap_or_default(),
    };
    (versions.join(", "), words)
}

fn closing(result: &Result) -> String {
    let changed: Vec<String> = result
        .levels
        .iter()
        .flat_map(|at| at.changes.iter().map(move |change| (at.level, change)))
        .map(|(level, change)| format!("{} between {} and {}", level.short(), change.from, change.to))
        .collect();
    let unstable = result.levels.iter().flat_map(|at| &at.behaviours).any(|behaviour| !behaviour.stable());
    let versions = result.levels.iter().map(|at| at.behaviours.len()).max().unwrap_or(0);
    match (interrupt::asked(), unstable, changed.is_empty()) {
        (true, ..) => "interrupted: not every version was run".into(),
        (false, true, true) => "no change between the versions whose own runs agree".into(),
        (false, false, true) => format!("no change over {}", plural(versions as u64, "version")),
        (false, _, false) => format!("changed at {}", changed.join(", at ")),
    }
}

//! `isopod selftest proxy`.

use campaign::Known;
use dialect::{Hosting, SqlFamily};
use lab::selftest::proxy::{
    Figures, Group, Outcome, Plan,
    lies::{self, HONEST, Lie, Often},
    planned, tell,
};
use model::{Level, Place, Target};
use provision::{Installed, Store};
use report::findings::{clock, thousands};

use super::super::{Form, Generated, code, with};
use crate::{
    arguments::{Levels, Where, levels},
    corpus,
    errors::{Advised, of_lab},
    installing,
    output::say,
    profiles,
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    on: Where,
    /// The cases of each hunt: one for each lie, level and frequency
    #[command(flatten)]
    cases: Generated<300>,
    /// Only these lies, with commas; by default all
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    lie: Vec<String>,
    /// Print the lies, a line each, and tell none
    #[arg(long)]
    list: bool,
    /// Isolation levels (RU, RC, RR, SER), with commas, or all
    #[arg(long, default_value = "RC,RR", value_delimiter = ',', value_parser = levels)]
    level: Vec<Levels>,
    /// At which statements: always, or 50 for one in 50, chosen by text and place; with commas
    #[arg(long, default_value = "always,50", value_name = "WHEN", value_delimiter = ',')]
    often: Vec<Often>,
    /// Reduce findings as a hunt does, which takes many times as long
    #[arg(long)]
    reduce: bool,
    #[command(flatten)]
    form: Form,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    if args.list {
        list();
        return Ok(0);
    }
    let lies = chosen(&args.lie)?;
    let Generated { of, profile } = &args.cases;
    let mut known = Known::default();
    known.entries.extend(corpus::known_to_fail()?);
    let plan = Plan {
        cases: of.cases,
        seed: of.seed,
        profile: &profiles::load(&profile.profile)?,
        known: &known,
        reduce: if args.reduce { reduce::Budget::default().candidates } else { 0 },
        exe: &std::env::current_exe()?,
    };
    let mut told = Vec::new();
    for target in args.on.targets(None)? {
        let installed = install(&target)?;
        let levels = at(&args.level, &target)?;
        let all: Vec<_> = planned(&lies, &levels, &args.often).collect();
        told.extend(all.into_iter().map(|lie| (target.clone(), installed.clone(), lie)));
    }
    if !args.form.json {
        say!("{}", head());
    }
    let figures = with(&args.on.how, |lab| {
        let one = |(target, installed, lie): (Target, Installed, (&'static Lie, Level, Often))| {
            tell(lab, &plan, &installed, &target, lie).map(Some).map_err(of_lab)
        };
        args.form.each(told, one, show)
    })?;
    let wrong = figures.iter().filter(|one| !one.outcome.is_right()).count();
    if !args.form.json {
        say!("\n{} of {} as they should be", figures.len() - wrong, figures.len());
    }
    Ok(code(wrong > 0))
}

fn list() {
    let width = lies::ALL.iter().map(|lie| lie.name.len()).max().unwrap_or(0);
    for lie in lies::ALL {
        let level = lie.level.map_or(String::new(), |level| format!(" ({level} only)"));
        let why = lie.not_judged.map_or(String::new(), |why| format!(" (not judged: {why})"));
        say!("{:width$}  {}{level}{why}", lie.name, lie.help);
    }
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Lie>> {
    if names.is_empty() {
        return Ok(lies::ALL.iter().collect());
    }
    let find = |name: &String| {
        lies::named(name).ok_or_else(|| {
            let advice =
                vec!["the lies: isopod selftest proxy --list".to_string(), format!("none: {HONEST}")];
            Advised { message: format!("`{name}` is not a lie"), advice }.into()
        })
    };
    names.iter().map(find).collect()
}

/// The proxy speaks MySQL's protocol, and a server of ours stands behind it.
fn install(target: &Target) -> anyhow::Result<Installed> {
    let dialect = dialect::of(target.product);
    let ours = matches!(target.place, Place::Cache | Place::Folder(_));
    if !ours || dialect.runs != Hosting::Server || dialect.family != SqlFamily::Mysql {
        return Err(Advised {
            message: format!("the proxy cannot stand before {}", target.bare()),
            advice: vec![
                "it speaks MySQL's protocol, to a throw-away server that Isopod starts".to_string(),
                "write --target mariadb@10.11 or --target mysql@9.7".to_string(),
            ],
        }
        .into());
    }
    let found = Store::open().and_then(|store| installing::shown(|told| store.ensure(target, told)));
    Ok(found.map_err(Advised::from)?)
}

fn at(asked: &[Levels], target: &Target) -> anyhow::Result<Vec<Level>> {
    let mut found = Vec::new();
    for levels in asked {
        found.extend(levels.on(target.product)?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn head() -> String {
    format!(
        "{:22} {:3} {:8} {:>6} {:>8} {:>6} {:>10} {:>10} {:>6} {:>9} {:>6} {:>8}  verdict",
        "lie",
        "at",
        "when",
        "cases",
        "lies",
        "first",
        "new",
        "hidden",
        "others",
        "undecided",
        "flaky",
        "time"
    )
}

/// How many, and in how many cases.
fn groups(groups: &[Group]) -> String {
    let cases: u64 = groups.iter().map(|group| group.cases).sum();
    if groups.is_empty() { "0".to_string() } else { format!("{} ({})", groups.len(), thousands(cases)) }
}

fn show(one: &Figures) {
    let first = one.first.map_or("-".to_string(), thousands);
    say!(
        "{:22} {:3} {:8} {:>6} {:>8} {first:>6} {:>10} {:>10} {:>6} {:>9} {:>6} {:>8}  {}",
        one.lie,
        one.level,
        one.often,
        thousands(one.cases),
        thousands(one.lies),
        groups(&one.new),
        groups(&one.hidden),
        one.others,
        thousands(one.undecided),
        thousands(one.flaky),
        clock(one.millis),
        one.outcome.words()
    );
    let shown = one.new.iter().filter(|_| one.outcome == Outcome::Noisy);
    for group in one.hidden.iter().chain(shown) {
        let Group { signature, first, known, .. } = group;
        let name = known.as_deref().unwrap_or("new");
        let at = group.lied_at.as_ref().map_or(String::new(), |sql| format!(" · lied at: {sql}"));
        say!("    {name}: {signature} · case {}{at}", thousands(*first));
    }
}

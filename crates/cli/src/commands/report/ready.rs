//! `isopod report --where` and `--ready`: the tables of other servers, and the checklist of what may be filed.

use lab::ready::{Plan, Which, elsewhere, fill};
use model::{Case, Target};
use provision::Store;

use super::gather::ReportData;
use crate::{
    arguments::How,
    clock,
    commands::{lab::with, where_else::places},
    errors::{Advised, of_lab},
    installing,
    output::say,
};

/// Fills them in; without `ready` only the tables.
pub fn run(told: &mut ReportData, how: &How, ready: Option<&Which>, tables: bool) -> anyhow::Result<()> {
    if let Some(Which::One(id)) = ready
        && !told.bugs.iter().any(|bug| bug.finding.id == *id)
    {
        let ids: Vec<&str> = told.run.groups.iter().map(|listed| listed.group.id.as_str()).collect();
        anyhow::bail!(Advised::new(
            format!("this run has no finding {id}"),
            [
                format!("its findings, one of each group: {}", ids.join(", ")),
                "--ready checks the new ones, --ready=all all of them".to_string()
            ]
        ));
    }
    let (exe, today) = (std::env::current_exe()?, clock::today());
    let places = |case: &Case| places(&[], case).map_err(anyhow::Error::into_boxed_dyn_error);
    let install = |target: &Target| {
        let found = Store::open().and_then(|store| installing::shown(|told| store.ensure(target, told)));
        found.map_err(|error| error.title)
    };
    let ReportData { run, bugs } = told;
    with(how, |lab| match ready {
        Some(which) => {
            let plan = Plan { which, tables, today: &today, places: &places, install: &install, exe: &exe };
            fill(lab, &plan, &mut run.groups, bugs).map_err(of_lab)
        }
        None => {
            let all =
                elsewhere::fill(lab, (&run.groups, bugs), &places, |listed| Some(listed.group.id.clone()));
            all.map(drop).map_err(of_lab)
        }
    })
}

/// The short list for the terminal.
pub fn show(told: &ReportData) {
    for listed in &told.run.groups {
        let Some(list) = &listed.ready else { continue };
        match &list.known {
            Some(name) => say!("known {name}: nothing to file"),
            None => say!("{}: {} · {}", list.checked, listed.title, list.verdict()),
        }
        for item in list.open() {
            say!("  {} {}: {}", item.state.sign(), item.asked.title(), item.words);
        }
    }
}

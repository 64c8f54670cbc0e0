//! What is kept is how two targets differ: the kind of the first statement that comes out differently, and in which way.

use campaign::{CleanRuns, CleanServer};
use execute::Reset;
use model::{Case, Level, Outcome, Reply, Target, Trace, sql::StatementKind};
use reduce::Scope;

use super::{Done, Search};
use crate::{
    errors::{self, Advised},
    targets,
};

/// Makes the case smaller.
pub fn smaller(
    search: &mut Search<'_>,
    (name, case): (&str, &Case),
    (server, target): (&mut CleanServer, &Target),
    other: &Target,
    level: Level,
) -> anyhow::Result<Done> {
    let how = &search.args.on.how;
    let other = targets::resolve(other)?;
    targets::check(name, case, &other, how)?;
    let mut second = targets::clean_server(&other, how)?;
    server.set_postchecks(false);
    second.set_postchecks(false);
    let failed = |error| errors::of_case(name, case, error);
    let one = server.run(case, level, Reset::Clean).map_err(failed)?;
    let two = second.run(case, level, Reset::Clean).map_err(failed)?;
    let product = target.product;
    let Some(wanted) = difference(product, case, &one.trace, &two.trace) else {
        return Err(Advised {
            message: format!("{name} comes out the same on {} and on {}", target.bare(), other.bare()),
            advice: vec!["what happened: isopod run CASE --target ONE --target OTHER".into()],
        }
        .into());
    };
    let mut holds = |case: &Case| {
        let one = server.rerun(case, level, Reset::Clean);
        let two = second.rerun(case, level, Reset::Clean);
        match (one, two) {
            (Some(one), Some(two)) => {
                difference(product, case, &one.trace, &two.trace).as_ref() == Some(&wanted)
            }
            (None, _) | (_, None) => false,
        }
    };
    let (case, tried, finished) = search.without_oracle(case, product, Scope::Whole, &mut holds)?;
    let oracle = format!("{} against {}", target.bare(), other.bare());
    Ok(Done { oracle, keeps: wanted, violation: None, case, tried, finished })
}

/// The first difference in one line; none if there is none.
fn difference(product: model::Product, case: &Case, one: &Trace, two: &Trace) -> Option<String> {
    for step in 0..case.steps.len() {
        let tree = dialect::sql::parse(product, &case.steps[step].sql).tree();
        let kind = StatementKind::label(tree.map(|tree| tree.kind()));
        let session = &case.sessions[case.steps[step].session];
        let level = session.level.unwrap_or(one.level).short();
        let waits = |trace: &Trace| if trace.waited(step) { "waits" } else { "does not wait" };
        if one.waited(step) != two.waited(step) {
            return Some(format!("{kind} at {level}: {} against {}", waits(one), waits(two)));
        }
        if let Some(how) = other_reply(&one.outcomes[step], &two.outcomes[step]) {
            return Some(format!("{kind} at {level}: {how}"));
        }
    }
    match (&one.final_state, &two.final_state) {
        (Some(one), Some(two)) => {
            let same = one.len() == two.len()
                && one
                    .iter()
                    .zip(two)
                    .all(|((name, rows), (other, more))| name == other && rows.same_rows(more));
            (!same).then(|| "other rows in the end".to_string())
        }
        (one, two) => {
            (one.is_some() != two.is_some()).then(|| "no rows in the end on one of them".to_string())
        }
    }
}

fn other_reply(one: &Outcome, two: &Outcome) -> Option<String> {
    match (&one.reply, &two.reply) {
        (Reply::Rows(one), Reply::Rows(two)) => (!one.same_rows(two)).then(|| "other rows".to_string()),
        (Reply::Done { affected: one, .. }, Reply::Done { affected: two, .. }) => {
            (one != two).then(|| "another count".to_string())
        }
        (one, two) => {
            let (one, two) = (word(one), word(two));
            (one != two).then(|| format!("{one} against {two}"))
        }
    }
}

fn word(reply: &Reply) -> String {
    match reply {
        Reply::Rows(_) => "rows".into(),
        Reply::Done { .. } => "done".into(),
        Reply::RolledBack => "rolled back".into(),
        Reply::Error(error) => format!("error {}", error.class.name()),
        Reply::ConnectionLost => "connection lost".into(),
        Reply::ServerDied => "server died".into(),
        Reply::Hung => "hung".into(),
        Reply::Killed => "killed".into(),
        Reply::NotSent => "not sent".into(),
    }
}

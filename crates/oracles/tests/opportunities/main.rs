//! Each case of the corpus that shows a known family, or a phenomenon, counts as an opportunity for it, at the levels where it can
//! exist; and a harmless case does not. The traces beside this file were recorded on MySQL 9.7 and PostgreSQL 18.

use std::path::Path;

use dialect::ParsedCase;
use expect_test::expect;
use history::History;
use model::{Case, Level, Product, Round, RoundCause, Trace, casefile};
use oracles::opportunities::{ALL, LevelSet, Opportunity, OpportunityKind};
use serde::Deserialize;

#[derive(Deserialize)]
struct Recorded {
    case: String,
    target: String,
    level: Level,
    trace: Trace,
}

fn recorded() -> Vec<Recorded> {
    let lines = include_str!("traces.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("a recorded trace")).collect()
}

fn load(file: &str) -> Case {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    casefile::parse(&text).unwrap_or_else(|problems| panic!("{problems:#?}")).into_case()
}

fn levels(opportunity: &Opportunity, case: &Case, trace: &Trace) -> LevelSet {
    let case = ParsedCase::new(trace.server.product, case.clone());
    let schema = case.parsed_setup.data.clone().unwrap_or_default();
    opportunity.levels(&History::new(&case, trace), &schema)
}

/// What a recorded run could have shown at the level that it ran at.
fn seen(run: &Recorded, sort: OpportunityKind) -> Vec<&'static str> {
    let product: Product = run.trace.server.product;
    let case = load(&run.case);
    let hits = ALL.iter().filter(|o| o.sort == sort && levels(o, &case, &run.trace).has(run.level));
    hits.filter(|o| (o.exists)(product).contains(&run.level)).map(|o| o.name).collect()
}

/// The names that each recorded run of these cases gives, a line each.
fn table(wanted: &str, sort: OpportunityKind) -> String {
    let runs = recorded();
    let lines = runs.iter().filter(|run| run.case.contains(wanted)).map(|run| {
        let file = run.case.rsplit('/').next().unwrap_or_default().trim_end_matches(".iso");
        let names = seen(run, sort);
        let names = if names.is_empty() { "-".to_string() } else { names.join(", ") };
        format!("{} {file} {}: {names}\n", run.target, run.level)
    });
    lines.collect()
}

#[test]
fn each_known_case_is_an_opportunity_for_its_family_where_that_can_exist() {
    expect![[r#"
        mysql@9.7 mdev-26642-range RU: -
        mysql@9.7 mdev-26642-range RC: -
        mysql@9.7 mdev-26642-range RR: mdev-26642
        mysql@9.7 mdev-26642-range SER: -
        mysql@9.7 mdev-26642-three-rows RU: -
        mysql@9.7 mdev-26642-three-rows RC: -
        mysql@9.7 mdev-26642-three-rows RR: mdev-26642
        mysql@9.7 mdev-26642-three-rows SER: -
        mysql@9.7 mdev-26642 RU: -
        mysql@9.7 mdev-26642 RC: -
        mysql@9.7 mdev-26642 RR: mdev-26642
        mysql@9.7 mdev-26642 SER: -
        mysql@9.7 mdev-26643-null-rows RU: mysql-104833
        mysql@9.7 mdev-26643-null-rows RC: mysql-104833
        mysql@9.7 mdev-26643-null-rows RR: -
        mysql@9.7 mdev-26643-null-rows SER: -
        mysql@9.7 mdev-27992 RU: mdev-27992, mdev-34106
        mysql@9.7 mdev-27992 RC: mdev-27992, mdev-34106
        mysql@9.7 mdev-27992 RR: -
        mysql@9.7 mdev-27992 SER: -
        mysql@9.7 mdev-32898 RU: -
        mysql@9.7 mdev-32898 RC: -
        mysql@9.7 mdev-32898 RR: mdev-32898
        mysql@9.7 mdev-32898 SER: -
        mysql@9.7 mdev-33802-for-update RU: mdev-33802
        mysql@9.7 mdev-33802-for-update RC: mdev-33802
        mysql@9.7 mdev-33802-for-update RR: mdev-33802
        mysql@9.7 mdev-33802-for-update SER: mdev-33802
        mysql@9.7 mdev-33802 RU: -
        mysql@9.7 mdev-33802 RC: -
        mysql@9.7 mdev-33802 RR: -
        mysql@9.7 mdev-33802 SER: mdev-33802
        mysql@9.7 mdev-34108 RU: mysql-104833, mdev-34106
        mysql@9.7 mdev-34108 RC: mysql-104833, mdev-34106
        mysql@9.7 mdev-34108 RR: -
        mysql@9.7 mdev-34108 SER: -
        mysql@9.7 mdev-36639 RU: -
        mysql@9.7 mdev-36639 RC: -
        mysql@9.7 mdev-36639 RR: -
        mysql@9.7 mdev-36639 SER: -
        mysql@9.7 mysql-104833 RU: mysql-104833
        mysql@9.7 mysql-104833 RC: mysql-104833
        mysql@9.7 mysql-104833 RR: -
        mysql@9.7 mysql-104833 SER: -
        mysql@9.7 mysql-93806 RU: -
        mysql@9.7 mysql-93806 RC: -
        mysql@9.7 mysql-93806 RR: -
        mysql@9.7 mysql-93806 SER: -
        postgres@18 mdev-26642-range RC: -
        postgres@18 mdev-26642 RC: -
        postgres@18 mdev-27992 RC: mdev-27992, mdev-34106
        postgres@18 mdev-32898 RC: -
        postgres@18 mdev-33802 RC: -
        postgres@18 mdev-34108 RC: mysql-104833, mdev-34106
        postgres@18 mdev-36639 RC: -
        postgres@18 mysql-104833 RC: mysql-104833
        postgres@18 mdev-26642-range RR: mdev-26642
        postgres@18 mdev-26642 RR: mdev-26642
        postgres@18 mdev-27992 RR: -
        postgres@18 mdev-32898 RR: mdev-26642, mdev-32898
        postgres@18 mdev-33802 RR: -
        postgres@18 mdev-34108 RR: -
        postgres@18 mdev-36639 RR: -
        postgres@18 mysql-104833 RR: -
        postgres@18 mdev-26642-range SER: mdev-26642
        postgres@18 mdev-26642 SER: mdev-26642
        postgres@18 mdev-27992 SER: -
        postgres@18 mdev-32898 SER: mdev-26642, mdev-32898
        postgres@18 mdev-33802 SER: -
        postgres@18 mdev-34108 SER: -
        postgres@18 mdev-36639 SER: -
        postgres@18 mysql-104833 SER: -
    "#]]
    .assert_eq(&table("seeds/", OpportunityKind::Family));
}

#[test]
fn each_phenomenon_is_an_opportunity_for_itself() {
    expect![[r#"
        mysql@9.7 aborted-read RC: dirty-read, aborted-read
        mysql@9.7 aborted-read SER: dirty-read, aborted-read
        mysql@9.7 dirty-read RC: dirty-read
        mysql@9.7 dirty-read SER: dirty-read
        mysql@9.7 dirty-write RC: dirty-write
        mysql@9.7 dirty-write SER: dirty-write
        mysql@9.7 intermediate-read RC: dirty-read, intermediate-read, non-repeatable-read, read-skew
        mysql@9.7 intermediate-read SER: dirty-read, intermediate-read
        mysql@9.7 lost-update RC: dirty-write, lost-update, write-skew
        mysql@9.7 lost-update SER: write-skew
        mysql@9.7 non-repeatable-read RC: non-repeatable-read
        mysql@9.7 non-repeatable-read SER: -
        mysql@9.7 own-writes-visible RC: dirty-read, aborted-read
        mysql@9.7 own-writes-visible SER: dirty-read, aborted-read
        mysql@9.7 phantom-insert RC: phantom
        mysql@9.7 phantom-insert SER: -
        mysql@9.7 phantom-update RC: non-repeatable-read, phantom
        mysql@9.7 phantom-update SER: -
        mysql@9.7 read-skew RC: non-repeatable-read, read-skew
        mysql@9.7 read-skew SER: -
        mysql@9.7 write-cycle RC: dirty-write
        mysql@9.7 write-cycle SER: dirty-write
        mysql@9.7 write-skew RC: dirty-write, write-skew
        mysql@9.7 write-skew SER: write-skew
    "#]]
    .assert_eq(&table("phenomena/", OpportunityKind::Phenomenon));
}

/// The families at these levels need a statement that waits, or a write under a view that is older than what it meets.
#[test]
fn phenomena_without_a_wait_involve_no_known_family() {
    let waits = |run: &Recorded| run.trace.rounds.iter().any(|round| !round.waiting.is_empty());
    for run in recorded().iter().filter(|run| run.case.contains("phenomena/") && !waits(run)) {
        assert_eq!(seen(run, OpportunityKind::Family), Vec::<&str>::new(), "{} {}", run.case, run.level);
    }
}

/// The same statements one transaction after the other can show nothing.
#[test]
fn transactions_one_after_the_other_are_no_opportunity() {
    for run in recorded().iter().filter(|run| run.trace.rounds.iter().all(|round| round.waiting.is_empty())) {
        let mut case = load(&run.case);
        let mut trace = run.trace.clone();
        // In the order of the sessions; nobody waited, so each answer can stay what it was.
        let mut order: Vec<usize> = (0..case.steps.len()).collect();
        order.sort_by_key(|&step| case.steps[step].session);
        case.steps = order.iter().map(|&step| case.steps[step].clone()).collect();
        trace.outcomes = order.iter().map(|&step| run.trace.outcomes[step].clone()).collect();
        for (step, round) in trace.rounds.iter_mut().take(order.len()).enumerate() {
            *round = Round { cause: RoundCause::Sent(step), answered: vec![step], waiting: Vec::new() };
        }
        for opportunity in &ALL {
            assert!(
                levels(opportunity, &case, &trace).is_empty(),
                "{} in {} at {}",
                opportunity.name,
                run.case,
                run.level
            );
        }
    }
}

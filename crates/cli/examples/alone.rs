//! scratch
use dbms::launch::Launcher;
use execute::{Options, Placement, Reset, Runner};
use generate::{Generator, Profile};
use model::{Case, Seed, Step, Target};
use std::collections::BTreeMap;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let target: Target = args[1].parse().unwrap();
    let sets: u64 = args[2].parse().unwrap();
    let profile = args.get(3).map_or("wide", |s| s.as_str()).to_string();
    let seed: Seed = args.get(4).map_or("150D-0000-0001", |s| s.as_str()).parse().unwrap();
    let exe = std::path::PathBuf::from("target/debug/isopod").canonicalize().unwrap();
    let mut launcher = Launcher::new(target.clone(), None, exe, &mut |_| {}).unwrap();
    let options = Options { reset: Reset::Fast, ..Options::default() };
    let mut runner = Runner::new(
        Box::new(move || Ok(launcher.launch()?)),
        options,
        Placement { pin: false, realtime: false },
    )
    .unwrap();
    let version = runner.info().unwrap().version.clone();
    let mut g = Generator::with(
        seed,
        target.product,
        &version,
        dialect::of(target.product).levels,
        Profile::named(&profile).unwrap(),
    );
    let per = g.profile().cases.orders_per_set;
    let mut errors: BTreeMap<String, (u64, Vec<String>)> = BTreeMap::new();
    let (mut n, mut bad, mut setups) = (0u64, 0u64, 0u64);
    let start = std::time::Instant::now();
    for set in 0..sets {
        let made = g.case(set * 3 * per);
        // each session alone
        for s in 0..made.case.sessions.len() {
            let steps: Vec<Step> = made
                .case
                .steps
                .iter()
                .filter(|st| st.session == s)
                .cloned()
                .map(|mut st| {
                    st.session = 0;
                    st
                })
                .collect();
            let case = Case { sessions: vec![made.case.sessions[s].clone()], steps, ..made.case.clone() };
            let level = case.sessions[0].level.unwrap();
            match runner.run(&case, level) {
                Ok(run) => {
                    for (i, o) in run.trace.outcomes.iter().enumerate() {
                        n += 1;
                        if let model::Reply::Error(e) = &o.reply {
                            bad += 1;
                            let key = format!(
                                "{} {}",
                                e.code,
                                e.message
                                    .chars()
                                    .filter(|c| !c.is_ascii_digit())
                                    .take(50)
                                    .collect::<String>()
                            );
                            let entry = errors.entry(key).or_default();
                            entry.0 += 1;
                            if entry.1.len() < 3 {
                                entry.1.push(format!(
                                    "case {}: {}   [{}]",
                                    set * 3 * per,
                                    case.steps[i].sql.chars().take(300).collect::<String>(),
                                    e.message
                                ));
                            }
                        }
                    }
                }
                Err(e) => {
                    setups += 1;
                    if setups < 6 {
                        println!(
                            "SETUP case {} {e:#}\n{}",
                            set * 3 * per,
                            case.setup.statements.join(";\n").chars().take(1500).collect::<String>()
                        );
                    }
                }
            }
        }
    }
    println!(
        "{target}: {n} statements, {bad} failed = {:.2}%, setups failed {setups}, {:?}",
        bad as f64 * 100.0 / n as f64,
        start.elapsed()
    );
    for (k, (c, ex)) in errors {
        println!("{c:6} {k}");
        for e in ex {
            println!("         {e}");
        }
    }
}

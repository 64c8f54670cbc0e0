//! What is said before and after a hunt.

use campaign::{Budget, Campaign, record::replay_command};
use model::{Chance, Ending, FindingGroup, Fresh, RunSummary, Target, TargetSummary, shell};
use oracles::OracleInfo;
use report::findings::{self, Line, Story, What, clock, share, thousands};

use super::resolve::resume_command;
use crate::{
    errors::style,
    judged,
    output::{plural, say},
};

/// Of so many new findings the five lines are shown.
const SHOWN: usize = 5;

/// Says what is about to happen.
pub fn head(campaign: &Campaign<'_>, by_default: bool) {
    let settings = &campaign.settings;
    say!(
        "isopod {} · seed {} · {} · out: {}",
        settings.isopod,
        settings.seed,
        plural(settings.workers as u64, "worker"),
        campaign.folder.path().display()
    );
    let time = match settings.budget {
        Budget::Seconds(seconds) => format!("for {}", clock(seconds * 1000)),
        Budget::Cases(cases) => format!("{} for each target", plural(cases, "case")),
    };
    let hash =
        if settings.profile_hash.is_empty() { String::new() } else { format!(" {}", settings.profile_hash) };
    say!("profile {}{hash} · oracles: {} · {time}", settings.profile, judges(campaign));
    if settings.strategy() != reduce::strategy::Kind::InOrder {
        let learned = settings.learned.as_ref();
        let learned = learned.map_or(String::new(), |learned| format!(", begins with {}", learned.hash));
        say!("cases are reduced by the strategy {}{learned}", settings.strategy);
    }
    if !settings.judge_as.is_empty() {
        say!("the oracles are told {} instead of what is true", settings.judge_as);
    }
    if by_default {
        say!("nothing was named, so this is a short hunt on embedded SQLite; Ctrl-C ends it early");
    }
    say!("");
}

/// Who judges, and where there is no contract to judge by.
fn judges(campaign: &Campaign<'_>) -> String {
    let names = &campaign.settings.oracles;
    if names.is_empty() {
        return "none, cases only run".to_string();
    }
    let products = campaign.settings.targets.iter().map(|hunted| hunted.target.product);
    let mut without: Vec<&str> = products
        .filter(|product| !dialect::contract::exists(*product))
        .map(|product| product.name())
        .collect();
    without.sort_unstable();
    without.dedup();
    let infos: Vec<OracleInfo> = campaign.panel.judges().map(|judge| judge.oracle.info()).collect();
    let blind = |name: &String| infos.iter().any(|info| info.needs_contract && info.name == name);
    let all = names.join(", ");
    match (names.iter().any(blind), without.as_slice()) {
        (true, [_, ..]) => {
            let rest: Vec<&str> = names.iter().filter(|name| !blind(name)).map(String::as_str).collect();
            let rest = if rest.is_empty() { "nobody".to_string() } else { rest.join(" and ") };
            format!("{all} ({}: no contract, {rest} only)", without.join(", "))
        }
        _ => all,
    }
}

/// Says what came of it.
pub fn show(campaign: &Campaign<'_>, summary: &RunSummary, by_default: bool) {
    for hunted in &summary.targets {
        let tally = &hunted.tally;
        let version = hunted.version.as_ref().map_or("never came up".to_string(), |version| version.clone());
        let rate = tally.cases * 1000 / summary.elapsed_ms.max(1);
        say!(
            "{} ({version})  {}  {} cases  {}/s  {} conflict  {} undecided",
            hunted.target,
            clock(summary.elapsed_ms),
            thousands(tally.cases),
            thousands(rate),
            share(tally.conflicts, tally.cases),
            share(tally.undecided, tally.cases)
        );
        wrapped(&format!(
            "{} sets of transactions in {} · {} statements, {} waited, {} failed ({} by the other's doing)",
            thousands(tally.sets),
            plural(tally.schemas, "schema"),
            thousands(tally.statements),
            share(tally.waits, tally.statements),
            share(tally.failed, tally.statements),
            share(tally.failed_by_others, tally.statements)
        ));
        chances(hunted, &summary.findings);
        super::verdicts::lines(&hunted.quality.verdicts).iter().for_each(|line| wrapped(line));
        if hunted.quality.waits_told > 0 {
            say!(
                "  waits: {} of {} looked at were over-restrictive: nothing demands them",
                share(hunted.quality.waits_extra, hunted.quality.waits_told),
                thousands(hunted.quality.waits_told)
            );
        }
        if tally.refused > 0 {
            say!("  {} could not be run; events.jsonl says why", plural(tally.refused, "case"));
        }
        if tally.flaky > 0 {
            say!("  {} did not reproduce (flaky)", plural(tally.flaky, "suspicion"));
        }
    }
    say!("");
    if summary.findings.is_empty() {
        say!("nothing found");
    } else {
        let shown = summary.findings.iter().filter(|row| row.not_reproduced().is_none());
        let lines: Vec<Line> = shown.map(|row| line(summary, row)).collect();
        if !lines.is_empty() {
            say!("{}", findings::table(&lines, &style()).trim_end());
        }
        for line in summary.findings.iter().filter_map(not_reproduced) {
            say!("{line}");
        }
        for row in summary.new_ones().take(SHOWN) {
            say!("\n{}", findings::story(&story(campaign, row), &style()).trim_end());
        }
        let more = summary.new_ones().count().saturating_sub(SHOWN);
        if more > 0 {
            say!("\n{} more new ones are in the folder", more);
        }
    }
    known(summary);
    say!("\nfolder: {}", summary.folder);
    if !summary.findings.is_empty() {
        say!("report: {}", shell::command(["isopod", "report", &summary.folder, "--open"]));
    }
    next(summary, by_default);
}

/// A line below that of its target, over several where it is long.
fn wrapped(text: &str) {
    for (at, line) in report::text::wrap(text, style().width.saturating_sub(4)).iter().enumerate() {
        say!("{}{line}", if at == 0 { "  " } else { "    " });
    }
}

/// What is said of the entries of the user's folder, and of comparing with them.
fn known(summary: &RunSummary) {
    if !summary.stale.is_empty() {
        say!("");
    }
    for stale in &summary.stale {
        let (name, target, runs) = (&stale.name, &stale.target, stale.runs);
        say!("stale: {name} did not come back on {target} in {runs} runs");
    }
    if summary.cut_short {
        say!("\nnot everything was compared with what is known: what was not is called new");
    }
}

/// What to do next.
fn next(summary: &RunSummary, by_default: bool) {
    match summary.ending {
        Some(Ending::Asked) => {
            say!("to go on: {}", resume_command(summary.folder.as_ref()));
        }
        Some(Ending::Budget | Ending::Nothing) | None => {}
    }
    if by_default {
        say!(
            "next, a real server:  isopod hunt mariadb@10.11 --for 1m      (it is fetched when it is missing)"
        );
        say!("which there are:      isopod server list");
        let (seed, cases) = (summary.seed.to_string(), summary.total().cases.to_string());
        let again = ["isopod", "hunt", "sqlite", "--seed", &seed, "--cases", &cases];
        say!("the same hunt again:  {}", shell::command(again));
    }
}

/// How often a known family of bugs could have shown: the least often, and what that bounds.
fn chances(hunted: &TargetSummary, found: &[FindingGroup]) {
    let families = || hunted.chances.iter().filter(|chance| chance.family);
    let came = families().filter(|chance| chance.cases > 0);
    // What did show has a rate that is known.
    let shown = |chance: &&Chance| {
        let known = found.iter().filter_map(|group| group.known.as_ref());
        let name = |known: &String| known.to_ascii_lowercase().replace('#', "-");
        known.map(name).any(|known| known.split(", ").any(|name| name == chance.name))
    };
    let silent = came.clone().filter(|chance| !shown(chance));
    let Some(least) = silent.min_by_key(|chance| chance.cases) else { return };
    let below = least.below.as_ref().map_or(String::new(), |below| format!(" (a rate below {below})"));
    wrapped(&format!(
        "{} of {} known kinds of bugs, each at each level, could have shown; least often {} at {}: {}{below}",
        came.count(),
        families().count(),
        least.name,
        least.level,
        plural(least.cases, "case"),
    ));
}

/// What it is: under the name that we gave it, if it has one and no tracker does.
pub fn what(row: &FindingGroup) -> String {
    let print = &row.smallest.violation.fingerprint;
    let shows = format!("{} in {}", print.symptom, print.statement);
    match print.deviations() {
        Some(_) if row.known.is_none() => format!("{}, {shows}", print.cause),
        Some(_) | None => shows,
    }
}

/// The line of what did not come back. A kind that is known needs no second look because of that.
fn not_reproduced(row: &FindingGroup) -> Option<String> {
    let (on, cases) = (row.not_reproduced()?, plural(row.cases, "case"));
    let kind = relative(row).map_or(String::new(), |kind| format!(", {kind}"));
    Some(format!("not reproduced on {}: {} {} ({cases}){kind}", on.words(), row.id, what(row)))
}

/// Of what is known it is one, or like what.
pub fn relative(row: &FindingGroup) -> Option<String> {
    let known = row.known.as_ref().map(|name| format!("known {name}"));
    known.or_else(|| row.resembles.as_ref().map(|name| format!("behaves like {name}")))
}

/// What replaying a group came to, where there is something to say.
fn after_replay(row: &FindingGroup) -> String {
    let replayed = match row.fresh.map(|replay| replay.on) {
        Some(Fresh::Server) => String::new(),
        Some(on @ Fresh::Sessions) => format!(", replayed on {}", on.words()),
        None => ", suspected: not replayed on a fresh server".to_string(),
    };
    let gone = row.gone_in.as_ref().map_or(String::new(), |version| format!(", gone in {version}"));
    replayed + &gone
}

fn line(summary: &RunSummary, row: &FindingGroup) -> Line {
    let targets = || row.targets.iter().map(Target::to_string).collect::<Vec<_>>().join(", ");
    let resembles = row.resembles.as_ref().map_or(String::new(), |name| format!(", behaves like {name}"));
    Line {
        known: row.known.clone(),
        id: row.id.clone(),
        what: format!("{}{resembles}{}", what(row), after_replay(row)),
        target: (summary.targets.len() > 1).then(targets),
        first_at: row.found_after_ms,
        cases: row.cases,
        levels: row.levels.keys().map(|level| level.short()).collect(),
    }
}

fn story(campaign: &Campaign<'_>, row: &FindingGroup) -> Story {
    let first = &row.smallest;
    Story {
        known: row.known.clone(),
        id: row.id.clone(),
        server: first.server.clone(),
        level: first.shown_at().sql(),
        runs: first.runs,
        what: What::of(&judged::words(&first.violation, first.target.product)),
        oracle: first.oracle.clone(),
        condition: first.condition.words().to_string(),
        statements: first.statements,
        reduced_from: first.reduced_from,
        replay: replay_command(first, campaign.folder.path()),
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Finding, Fingerprint, FreshReplay, Level, RuleId, ShownBy, Signature, Symptom, Violation,
        sql::StatementKind, verdict::Cause,
    };

    use super::*;

    #[test]
    fn what_did_not_come_back_says_of_which_known_kind_it_is() {
        let fingerprint = Fingerprint {
            symptom: Symptom::WrongRows,
            cause: Cause::Rule(RuleId::NewestForChanges),
            statement: ShownBy::Statement(Some(StatementKind::LockingSelect)),
            level: Some(Level::ReadCommitted),
        };
        let signature = Signature::bare(&fingerprint);
        let violation = Violation { fingerprint, step: Some(0), evidence: Box::default() };
        let mut row = FindingGroup {
            id: "427ade8c".into(),
            signature,
            known: None,
            resembles: None,
            targets: Default::default(),
            servers: Default::default(),
            levels: Default::default(),
            found_after_ms: 0,
            cases: 1,
            findings: Vec::new(),
            smallest: Finding::bare("427ade8c", "mariadb@10.11".parse().unwrap(), violation),
            fresh: Some(FreshReplay { on: Fresh::Server, shown: false }),
            gone_in: None,
        };
        let line = "not reproduced on a fresh server: 427ade8c wrong-rows in locking-select (1 case)";
        assert_eq!(not_reproduced(&row).as_deref(), Some(line));
        row.resembles = Some("corpus/found/x".into());
        assert_eq!(not_reproduced(&row), Some(format!("{line}, behaves like corpus/found/x")));
        row.known = Some("MDEV-34106".into());
        assert_eq!(not_reproduced(&row), Some(format!("{line}, known MDEV-34106")));
        row.fresh = None;
        assert_eq!(not_reproduced(&row), None);
    }
}

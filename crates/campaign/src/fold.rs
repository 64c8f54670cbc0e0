//! Findings folded by their signature, over all targets and levels: what the summary of a hunt and its report show.

use std::collections::BTreeMap;

use model::{Finding, FindingGroup, Fingerprint, Level, Signature, Target, verdict::Deviations};

use crate::triage::{Comparison, Triage};

/// Cases that were only counted, because enough of their kind are filed: how many of each fingerprint on each target.
pub type Again = BTreeMap<(Target, Fingerprint), u64>;

/// Findings of one signature that are called the same.
struct Members<'a> {
    signature: Signature,
    known: Option<String>,
    resembles: Option<String>,
    /// First found first.
    findings: Vec<&'a Finding>,
    /// Further cases, by level.
    again: BTreeMap<Option<Level>, u64>,
}

impl Members<'_> {
    fn group(self) -> FindingGroup {
        let all = || self.findings.iter().copied();
        // The one with the fewest statements stands for the others. By the number of the case, not by the clock: another number of
        // workers gives the same.
        let size = |one: &&Finding| {
            (one.signature() != self.signature, one.statements, one.target.clone(), one.case, one.id.clone())
        };
        let smallest = all().min_by_key(size).unwrap_or(self.findings[0]).clone();
        let mut levels: BTreeMap<Level, u64> = BTreeMap::new();
        let counted = self.again.iter().filter_map(|(level, count)| Some(((*level)?, *count)));
        for (level, count) in all().map(|one| (one.shown_at(), 1)).chain(counted) {
            *levels.entry(level).or_default() += count;
        }
        FindingGroup {
            id: smallest.id.clone(),
            targets: all().map(|one| one.target.clone()).collect(),
            servers: all().map(|one| one.server.clone()).collect(),
            levels,
            found_after_ms: all().map(|one| one.found_after_ms).min().unwrap_or(0),
            cases: self.findings.len() as u64 + self.again.values().sum::<u64>(),
            findings: all().map(|one| one.id.clone()).collect(),
            signature: self.signature,
            known: self.known,
            resembles: self.resembles,
            smallest,
            fresh: None,
            gone_in: None,
        }
    }
}

/// Adds what came of replaying: a group came back if one of its findings did, and that one stands for it then.
pub fn add_replays(groups: &mut [FindingGroup], findings: &[&Finding], triage: &Triage) {
    for group in groups {
        let replayed = || group.findings.iter().filter_map(|id| Some((id, *triage.replays.get(id)?)));
        let came = replayed().find(|(_, replay)| replay.shown);
        let Some((id, replay)) = came.or_else(|| replayed().next()) else { continue };
        let version = triage.gone_in.get(id).cloned();
        if let Some(shows) = findings.iter().find(|one| one.id == *id && replay.shown) {
            (group.id, group.smallest) = (shows.id.clone(), (*shows).clone());
        }
        (group.fresh, group.gone_in) = (Some(replay), version);
    }
}

/// Folds findings, which are given first found first, by what each is called.
pub fn fold<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    again: &Again,
    name: &dyn Fn(&Finding) -> Comparison,
) -> Vec<FindingGroup> {
    let mut all: Vec<Members<'a>> = Vec::new();
    for one in findings {
        let (known, resembles) = match name(one) {
            Comparison::Known(name) => (Some(name), None),
            Comparison::Resembles(name) => (None, Some(name)),
            Comparison::New => (None, None),
        };
        let signature = one.signature();
        // What has a cause needs nothing that it behaves like; where there is none, that may tell two bugs apart.
        let explained = matches!(signature, Signature::Explained(_));
        let same = |group: &&mut Members<'_>| {
            let alike = explained || group.resembles == resembles;
            group.signature == signature && group.known == known && alike
        };
        match all.iter_mut().find(same) {
            Some(group) => {
                group.resembles = group.resembles.take().or(resembles);
                group.findings.push(one);
            }
            None => {
                let (findings, again) = (vec![one], BTreeMap::new());
                all.push(Members { signature, known, resembles, findings, again });
            }
        }
    }
    fold_together(&mut all);
    for ((target, print), count) in again {
        let same = |one: &&&Finding| one.target == *target && one.suspected() == print;
        // What is only counted goes with most of those that looked the same when they were found. If a new one is among them,
        // it goes there: what nobody has looked at is not called known.
        let looked = |group: &&mut Members<'_>| {
            let count = group.findings.iter().filter(same).count();
            (count > 0, group.known.is_none() && count > 0, count)
        };
        if let Some(group) = all.iter_mut().max_by_key(looked)
            && group.findings.iter().any(|one| same(&one))
        {
            *group.again.entry(print.level).or_default() += count;
        }
    }
    all.into_iter().map(Members::group).collect()
}

/// What several deviations explain, one of which has a group of its own that is as new, shows nothing that this group does not show.
fn fold_together(all: &mut Vec<Members<'_>>) {
    let causes = |group: &Members<'_>| match &group.signature {
        Signature::Explained(by) if group.known.is_none() => Some(by.clone()),
        _ => None,
    };
    let sets: Vec<Option<Deviations>> = all.iter().map(causes).collect();
    for at in (0..all.len()).rev() {
        let Some(set) = &sets[at] else { continue };
        let part = |other: &usize| {
            sets[*other].as_ref().is_some_and(|part| part.len() < set.len() && part.is_subset(set))
        };
        // The one with the fewest causes is not folded into another itself.
        let fewest = |other: &usize| sets[*other].as_ref().map_or(0, |part| part.len());
        let Some(into) = (0..sets.len()).filter(part).min_by_key(fewest) else { continue };
        let joined = all[at].findings.clone();
        all[into].findings.extend(joined);
        all[at].findings.clear();
    }
    all.retain(|group| !group.findings.is_empty());
}

#[cfg(test)]
pub(crate) mod tests {
    use model::{ShownBy, Symptom, Violation, sql::StatementKind, verdict::Cause};

    use super::*;

    /// One that this explains; `rows` is what nothing does.
    pub(crate) fn finding(
        id: &str,
        by: &str,
        kind: StatementKind,
        level: Level,
        statements: usize,
    ) -> Finding {
        let cause = match by {
            "rows" => Cause::Alone { after_wait: false },
            by => Cause::Deviations([by.into()].into()),
        };
        let fingerprint = Fingerprint {
            symptom: Symptom::WrongRows,
            cause,
            statement: ShownBy::Statement(Some(kind)),
            level: Some(level),
        };
        let violation = Violation { fingerprint, step: None, evidence: Box::default() };
        Finding {
            case: 1,
            statements,
            found_after_ms: statements as u64 * 10,
            ..Finding::bare(id, "mariadb@10.11".parse().unwrap(), violation)
        }
    }

    fn known(one: &Finding) -> Comparison {
        oracles::signature::known(&one.signature()).map_or(Comparison::New, Comparison::Known)
    }

    #[test]
    fn one_cause_is_one_group_at_every_level_and_on_every_target() {
        let noop = "noop-without-version";
        let mut all = [
            finding("a", noop, StatementKind::Select, Level::RepeatableRead, 9),
            finding("b", noop, StatementKind::Update, Level::RepeatableRead, 4),
            finding("c", noop, StatementKind::Select, Level::ReadCommitted, 6),
            finding("d", "rows", StatementKind::Select, Level::RepeatableRead, 3),
        ];
        all[1].target = "mysql@9.7".parse().unwrap();
        let print = all[0].violation.fingerprint.clone();
        let again: Again = [((all[0].target.clone(), print), 10)].into();
        let folded = fold(&all, &again, &known);
        let [first, second] = &folded[..] else { panic!("{folded:?}") };
        assert_eq!((first.id.as_str(), first.cases, first.found_after_ms), ("b", 13, 40));
        assert_eq!(first.levels, [(Level::ReadCommitted, 1), (Level::RepeatableRead, 12)].into());
        assert_eq!((first.targets.len(), first.known.as_deref()), (2, Some("MDEV-26642")));
        assert_eq!((second.cases, second.known.as_deref()), (1, None));
    }

    #[test]
    fn what_a_finding_behaves_like_parts_only_what_has_no_cause() {
        let found = "conflict-by-inner-read";
        let all: Vec<Finding> = [("a", found), ("b", found), ("c", "rows"), ("d", "rows")]
            .map(|(id, rule)| finding(id, rule, StatementKind::Update, Level::ReadUncommitted, 3))
            .into();
        let like = |one: &Finding| {
            let alike = ["b", "d"].contains(&one.id.as_str());
            if alike { Comparison::Resembles("corpus/x".to_string()) } else { Comparison::New }
        };
        let folded = fold(&all, &Again::new(), &like);
        let likes: Vec<(usize, Option<&str>)> =
            folded.iter().map(|group| (group.findings.len(), group.resembles.as_deref())).collect();
        assert_eq!(likes, [(2, Some("corpus/x")), (1, None), (1, Some("corpus/x"))]);
    }

    #[test]
    fn two_causes_are_no_group_beside_that_of_one_of_them() {
        let found = "conflict-by-inner-read";
        let mut all: Vec<Finding> = [("a", found, 2), ("b", found, 5), ("c", "changed-during-wait", 9)]
            .map(|(id, by, size)| finding(id, by, StatementKind::Update, Level::ReadCommitted, size))
            .into();
        let both = Cause::Deviations([found.into(), "changed-during-wait".into()].into());
        all[0].violation.fingerprint.cause = both;
        let folded = fold(&all, &Again::new(), &known);
        let groups: Vec<(&str, u64, bool)> =
            folded.iter().map(|group| (group.id.as_str(), group.cases, group.known.is_some())).collect();
        // The smaller case is not the one that stands for the group: it shows something else, too.
        assert_eq!(groups, [("b", 2, false), ("c", 1, true)]);
        let folded = fold(&all[..1], &Again::new(), &known);
        assert_eq!(folded.len(), 1, "alone it is a group");
    }

    #[test]
    fn a_group_is_new_until_none_of_it_comes_back_on_a_fresh_server() {
        use model::{Fresh, FreshReplay, Version};
        let all: Vec<Finding> = [("a", 2), ("b", 5)]
            .map(|(id, size)| finding(id, "rows", StatementKind::Update, Level::ReadCommitted, size))
            .into();
        let told = |replays: &[(&str, bool)]| {
            let replay = |shown: bool| FreshReplay { on: Fresh::Server, shown };
            let triage = Triage {
                replays: replays.iter().map(|(id, shown)| (id.to_string(), replay(*shown))).collect(),
                gone_in: [("b".to_string(), Version(vec![10, 2, 13]))].into(),
                ..Triage::default()
            };
            let mut groups = fold(&all, &Again::new(), &|_| Comparison::New);
            add_replays(&mut groups, &all.iter().collect::<Vec<_>>(), &triage);
            let group = groups.remove(0);
            (group.is_new(), group.id, group.gone_in.map(|version| version.to_string()))
        };
        assert_eq!(told(&[]), (true, "a".into(), None));
        assert_eq!(told(&[("a", true)]), (true, "a".into(), None));
        assert_eq!(told(&[("a", false)]), (false, "a".into(), None));
        // Another one of the group comes back, and stands for it.
        assert_eq!(told(&[("a", false), ("b", true)]), (true, "b".into(), Some("10.2.13".into())));
    }

    #[test]
    fn what_is_only_counted_is_called_new_where_one_like_it_is() {
        // Three looked the same; two of them turned out to be known.
        let print =
            finding("", "rows", StatementKind::Select, Level::RepeatableRead, 1).violation.fingerprint;
        let mut all: Vec<Finding> = ["a", "b"]
            .map(|id| finding(id, "noop-without-version", StatementKind::Select, Level::RepeatableRead, 4))
            .into();
        all.iter_mut().for_each(|one| one.first_fingerprint = Some(print.clone()));
        let again: Again = [((all[0].target.clone(), print), 5)].into();
        let folded = fold(&all, &again, &known);
        assert_eq!((folded.len(), folded[0].cases), (1, 7));
        all.push(finding("c", "rows", StatementKind::Select, Level::RepeatableRead, 5));
        let folded = fold(&all, &again, &known);
        assert_eq!(folded.iter().map(|group| group.cases).collect::<Vec<_>>(), [2, 6]);
    }
}

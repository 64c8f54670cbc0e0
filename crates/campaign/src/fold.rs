//! Findings folded by their signature, over all targets and levels: what the summary of a hunt and its report show.

use std::collections::{BTreeMap, BTreeSet};

use model::{Fingerprint, Level, Signature, Target};

use crate::filing::Filed;

/// Cases that were only counted, because enough of their kind are filed: how many of each fingerprint on each target.
pub type Again = BTreeMap<(Target, Fingerprint), u64>;

/// What is known about a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The name under which it is known.
    pub known: Option<String>,
    /// What it behaves like, if it is new.
    pub like: Option<String>,
}

/// Findings of one signature that are known under one name, or under none.
#[derive(Clone, Debug)]
pub struct Folded<'a> {
    /// The signature.
    pub signature: Signature,
    /// What is known about it.
    pub name: Name,
    /// The findings, first found first.
    pub members: Vec<&'a Filed>,
    /// Further cases, by level.
    pub again: BTreeMap<Option<Level>, u64>,
}

impl<'a> Folded<'a> {
    /// The one with the fewest statements stands for the others; of several that of the first case.
    pub fn smallest(&self) -> &'a Filed {
        // By the number of the case, not by the clock: another number of workers gives the same.
        let size = |one: &&&'a Filed| (one.statements, &one.target, one.case, &one.id);
        self.members.iter().min_by_key(size).copied().unwrap_or(self.members[0])
    }

    /// All cases that showed it.
    pub fn cases(&self) -> u64 {
        self.members.len() as u64 + self.again.values().sum::<u64>()
    }

    /// How many cases at which level, as far as that is known.
    pub fn levels(&self) -> BTreeMap<Level, u64> {
        let mut levels: BTreeMap<Level, u64> = BTreeMap::new();
        for one in &self.members {
            *levels.entry(one.violation.fingerprint.level.unwrap_or(one.level)).or_default() += 1;
        }
        for (level, count) in &self.again {
            if let Some(level) = level {
                *levels.entry(*level).or_default() += count;
            }
        }
        levels
    }

    /// Where it was seen.
    pub fn targets(&self) -> BTreeSet<&'a Target> {
        self.members.iter().map(|one| &one.target).collect()
    }

    /// Milliseconds of hunting before the first one.
    pub fn first_at(&self) -> u64 {
        self.members.iter().map(|one| one.at).min().unwrap_or(0)
    }
}

/// Folds findings, which are given first found first.
pub fn fold<'a>(filed: &[&'a Filed], again: &Again, name: &dyn Fn(&Filed) -> Name) -> Vec<Folded<'a>> {
    let mut all: Vec<Folded<'a>> = Vec::new();
    for &one in filed {
        let (signature, name) = (one.signature(), name(one));
        // What has a cause needs nothing that it behaves like; where there is none, that may tell two bugs apart.
        let explained = matches!(signature, Signature::Explained(_));
        let same = |group: &&mut Folded<'_>| {
            let alike = explained || group.name.like == name.like;
            group.signature == signature && group.name.known == name.known && alike
        };
        match all.iter_mut().find(same) {
            Some(group) => {
                group.name.like = group.name.like.take().or(name.like);
                group.members.push(one);
            }
            None => all.push(Folded { signature, name, members: vec![one], again: BTreeMap::new() }),
        }
    }
    for ((target, print), count) in again {
        // What is only counted goes with most of those that looked the same when they were found. If a new one is among them,
        // it goes there: what nobody has looked at is not called known.
        let looked = |group: &&mut Folded<'_>| {
            let same = |one: &&&Filed| one.target == *target && one.suspected() == print;
            let count = group.members.iter().filter(same).count();
            (count > 0, group.name.known.is_none() && count > 0, count)
        };
        let home = all.iter_mut().max_by_key(looked);
        if let Some(group) = home
            && group.members.iter().any(|one| one.target == *target && one.suspected() == print)
        {
            *group.again.entry(print.level).or_default() += count;
        }
    }
    all
}

#[cfg(test)]
pub(crate) mod tests {
    use model::{Seed, ShownBy, Symptom, Violation, sql::StatementKind, verdict::Cause};

    use super::*;
    use crate::confirm::Condition;

    /// One that this explains; `rows` is what nothing does.
    pub(crate) fn filed(id: &str, by: &str, kind: StatementKind, level: Level, statements: usize) -> Filed {
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
        Filed {
            format: crate::filing::FORMAT,
            id: id.into(),
            seed: Seed(1),
            target: "mariadb@10.11".parse().unwrap(),
            drawn: Default::default(),
            case: 1,
            level,
            server: String::new(),
            oracle: "vote".into(),
            signature: None,
            was: None,
            like: None,
            violation: Violation { fingerprint, step: None, evidence: Box::default() },
            judged_as: Default::default(),
            condition: Condition::Clean,
            runs: [3, 3],
            statements,
            reduced_from: None,
            strategy: String::new(),
            at: statements as u64 * 10,
            known: None,
        }
    }

    fn known(one: &Filed) -> Name {
        Name { known: oracles::signature::known(&one.signature()), like: None }
    }

    #[test]
    fn one_cause_is_one_group_at_every_level_and_on_every_target() {
        let noop = "noop-without-version";
        let mut all = [
            filed("a", noop, StatementKind::Select, Level::RepeatableRead, 9),
            filed("b", noop, StatementKind::Update, Level::RepeatableRead, 4),
            filed("c", noop, StatementKind::Select, Level::ReadCommitted, 6),
            filed("d", "rows", StatementKind::Select, Level::RepeatableRead, 3),
        ];
        all[1].target = "mysql@9.7".parse().unwrap();
        let print = all[0].violation.fingerprint.clone();
        let again: Again = [((all[0].target.clone(), print), 10)].into();
        let folded = fold(&all.iter().collect::<Vec<_>>(), &again, &known);
        let [first, second] = &folded[..] else { panic!("{folded:?}") };
        assert_eq!((first.smallest().id.as_str(), first.cases(), first.first_at()), ("b", 13, 40));
        assert_eq!(first.levels(), [(Level::ReadCommitted, 1), (Level::RepeatableRead, 12)].into());
        assert_eq!((first.targets().len(), first.name.known.as_deref()), (2, Some("MDEV-26642")));
        assert_eq!((second.cases(), second.name.known.as_deref()), (1, None));
    }

    #[test]
    fn what_a_finding_behaves_like_parts_only_what_has_no_cause() {
        let found = "judges-uncommitted";
        let all: Vec<Filed> = [("a", found), ("b", found), ("c", "rows"), ("d", "rows")]
            .map(|(id, rule)| filed(id, rule, StatementKind::Update, Level::ReadUncommitted, 3))
            .into();
        let like = |one: &Filed| {
            let like = ["b", "d"].contains(&one.id.as_str()).then(|| "corpus/x".to_string());
            Name { known: None, like }
        };
        let folded = fold(&all.iter().collect::<Vec<_>>(), &Again::new(), &like);
        let likes: Vec<(usize, Option<&str>)> =
            folded.iter().map(|group| (group.members.len(), group.name.like.as_deref())).collect();
        assert_eq!(likes, [(2, Some("corpus/x")), (1, None), (1, Some("corpus/x"))]);
    }

    #[test]
    fn what_is_only_counted_is_called_new_where_one_like_it_is() {
        // Three looked the same; two of them turned out to be known.
        let print = filed("", "rows", StatementKind::Select, Level::RepeatableRead, 1).violation.fingerprint;
        let mut all: Vec<Filed> = ["a", "b"]
            .map(|id| filed(id, "noop-without-version", StatementKind::Select, Level::RepeatableRead, 4))
            .into();
        all.iter_mut().for_each(|one| one.was = Some(print.clone()));
        let again: Again = [((all[0].target.clone(), print), 5)].into();
        let folded = fold(&all.iter().collect::<Vec<_>>(), &again, &known);
        assert_eq!((folded.len(), folded[0].cases()), (1, 7));
        all.push(filed("c", "rows", StatementKind::Select, Level::RepeatableRead, 5));
        let folded = fold(&all.iter().collect::<Vec<_>>(), &again, &known);
        assert_eq!(folded.iter().map(Folded::cases).collect::<Vec<_>>(), [2, 6]);
    }
}

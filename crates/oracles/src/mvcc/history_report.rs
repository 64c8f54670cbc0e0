//! The history of the rows for people: the versions of each, and which of them each read could see.
//!
//! It is read off one sequence of hypotheses: what is new in a hypothesis was written in that round, what has a time of
//! commit now was committed in it, what is gone was undone. Where two statements of a round may have written a version, nobody is
//! named. If the strict rules explain everything before the statement that is wrong, they alone are told, up to it: what it should
//! have seen follows from them, and not from the deviation that explains what it saw.

use dialect::{Execution, contract::Visibility};
use model::{
    Account, Reason, Reply, RoundCause,
    account::{Read, RowVersion, TableChains, View, Writer},
    sql::Statement,
};

use super::{
    Mvcc, Use,
    allowed_outcome::show,
    hypothesis::{Chain, Hypothesis, SETUP, TxnId, Version},
    judgement::each_once,
    replay::{ExplainingPath, Replay},
};

impl Mvcc {
    /// What happened to the rows of a run in which this step is wrong; none, and why, where the model cannot follow it at all.
    pub fn told_for_people(&self, seen: &Execution, wrong: Option<usize>) -> Result<Account, Reason> {
        self.read(seen, &[], None, |read| {
            let path = |lenient: bool| {
                let replay = read.replay(lenient, None);
                let path = replay.explaining_path();
                (replay, path)
            };
            let strict = path(false);
            let answered =
                |step: usize| seen.trace.rounds.iter().position(|round| round.answered.contains(&step));
            let told = strict.1.whole
                || wrong.and_then(answered).is_some_and(|round| round <= strict.1.hypotheses.len());
            let (replay, path) = match told {
                true => strict,
                false => {
                    let lenient = path(true);
                    let further = lenient.1.whole || lenient.1.hypotheses.len() > strict.1.hypotheses.len();
                    if further { lenient } else { strict }
                }
            };
            Teller::new(&replay).tell(&path)
        })
    }
}

/// Follows a sequence of hypotheses from round to round.
struct Teller<'a> {
    replay: &'a Replay<'a>,
    account: Account,
    /// For each row of each table, which of its told versions are in the hypothesis now.
    now: Vec<Vec<Vec<usize>>>,
    /// In which round the snapshot of each session's transaction was taken, and by which transaction.
    taken: Vec<Option<(TxnId, usize)>>,
}

impl<'a> Teller<'a> {
    fn new(replay: &'a Replay<'a>) -> Teller<'a> {
        let tables = replay.schema.tables.iter().map(|table| TableChains {
            table: table.name.clone(),
            columns: table.columns.iter().map(|column| column.name.clone()).collect(),
            rows: Vec::new(),
        });
        let tables: Vec<TableChains> = tables.collect();
        let sessions = replay.seen.case.sessions.len();
        Teller {
            now: vec![Vec::new(); tables.len()],
            taken: vec![None; sessions],
            account: Account { tables, ..Account::default() },
            replay,
        }
    }

    fn tell(mut self, path: &ExplainingPath) -> Account {
        let begin = self.replay.beginning();
        self.changes(&begin, &begin, None);
        let mut before = begin;
        for (round, hypothesis) in path.hypotheses.iter().enumerate() {
            self.snapshots(hypothesis, round);
            before = self.reads(before, Some(hypothesis), round);
            self.changes(&before, hypothesis, Some(round));
            before = hypothesis.clone();
        }
        let told = path.hypotheses.len();
        // The read that nothing explains should have seen something, too: by the rules, what was there when it was judged.
        before = self.reads(before, None, told);
        self.account.rounds = told;
        self.account.whole = path.whole;
        let mut used: Vec<Use> = before.used.clone();
        used.sort_unstable();
        self.account.by = each_once(&used).iter().map(|by| by.name.to_string()).collect();
        self.account
    }

    /// Notes the transactions whose snapshot was taken in this round.
    fn snapshots(&mut self, hypothesis: &Hypothesis, round: usize) {
        for (session, state) in hypothesis.sessions.iter().enumerate() {
            let Some(txn) = &state.txn else { continue };
            if txn.view.is_some() && self.taken[session].is_none_or(|(of, _)| of != txn.id) {
                self.taken[session] = Some((txn.id, round));
            }
        }
    }

    /// What the reads that answered in a round could see; gives the hypothesis that the last of them met.
    fn reads(&mut self, mut before: Hypothesis, after: Option<&Hypothesis>, round: usize) -> Hypothesis {
        let trace = &self.replay.seen.trace;
        let answered = trace.rounds.get(round).map_or(&[][..], |round| &round.answered);
        for &step in answered {
            let Some(Statement::Query(query)) = self.replay.seen.case.tree(step) else { continue };
            let reach = self.replay.footprints[step].tables;
            if !matches!(trace.outcomes[step].reply, Reply::Rows(_)) || reach == 0 {
                continue;
            }
            let session = self.replay.seen.case.steps[step].session;
            let Some(rules) = self.replay.rules(session) else { continue };
            let met = self.replay.met_by(&before, round, step);
            if let Some(met) = &met {
                self.changes(&before, met, Some(round));
                before = met.clone();
            }
            let open = [Some(&before), after].into_iter().flatten();
            let open =
                open.filter_map(|hypothesis| hypothesis.sessions[session].txn.as_ref()).find(|txn| txn.lasts);
            let sees = match (query.locks.is_empty(), open) {
                (false, _) => rules.change.is,
                (true, Some(_)) => rules.read.is,
                (true, None) => rules.single_read.is,
            };
            let sent = trace.rounds.iter().position(|round| round.cause == RoundCause::Sent(step));
            let me = open.map_or(TxnId::MAX, |txn| txn.id);
            let own = self.taken[session].filter(|(of, _)| *of == me);
            let (view, taken) = match sees {
                Visibility::Newest => (View::Newest, round),
                Visibility::Committed => (View::Committed, round),
                Visibility::Fresh => (View::Fresh, sent.unwrap_or(round)),
                Visibility::Snapshot => (View::Snapshot, own.map_or(round, |(_, round)| round)),
            };
            self.account.reads.push(Read { step, view, taken });
            let clock = match sees {
                Visibility::Snapshot => open.and_then(|txn| txn.view).unwrap_or(before.clock),
                Visibility::Fresh => before.clock,
                Visibility::Newest | Visibility::Committed => u32::MAX,
            };
            // Which of several commits came before it is not said, and a read that waited began earlier than it answered.
            let certain = met.is_some() && (sees != Visibility::Fresh || sent == Some(round));
            for table in (0..before.tables.len()).filter(|table| certain && reach & 1 << table.min(&63) != 0)
            {
                for (row, chain) in before.tables[table].iter().enumerate() {
                    if let Some(at) = visible(chain, sees, me, clock) {
                        let id = self.now[table][row][at];
                        self.account.tables[table].rows[row][id].seen.push(step);
                    }
                }
            }
        }
        before
    }

    /// What became of the rows in a round; without one, what they began as.
    fn changes(&mut self, before: &Hypothesis, after: &Hypothesis, round: Option<usize>) {
        for (table, rows) in after.tables.iter().enumerate() {
            for (row, chain) in rows.iter().enumerate() {
                if self.now[table].len() <= row {
                    self.now[table].push(Vec::new());
                    self.account.tables[table].rows.push(Vec::new());
                }
                let old = before.tables[table].get(row).filter(|_| round.is_some());
                let old = old.map_or(&[][..], |chain| &chain.versions);
                self.row((table, row), old, chain, (before, after), round);
            }
        }
    }

    fn row(
        &mut self,
        (table, row): (usize, usize),
        old: &[Version],
        chain: &Chain,
        (before, after): (&Hypothesis, &Hypothesis),
        round: Option<usize>,
    ) {
        let mut now = Vec::new();
        let mut left: Vec<(usize, &Version)> = self.now[table][row].iter().copied().zip(old).collect();
        for version in chain.versions.iter() {
            let same = |(_, known): &(usize, &Version)| {
                known.writer == version.writer && known.data == version.data && known.noop == version.noop
            };
            let id = match left.iter().position(same) {
                Some(at) => {
                    let (id, known) = left.remove(at);
                    if known.at.is_none() && version.at.is_some() {
                        self.account.tables[table].rows[row][id].committed = round;
                    }
                    id
                }
                None => {
                    let told = &mut self.account.tables[table].rows[row];
                    told.push(RowVersion {
                        by: Writer::Unknown,
                        values: version.data.as_ref().map(|values| values.iter().map(show).collect()),
                        same: version.noop,
                        committed: version.at.and(round),
                        undone: None,
                        seen: Vec::new(),
                    });
                    let id = told.len() - 1;
                    self.account.tables[table].rows[row][id].by =
                        self.writer(version.writer, before, after, round);
                    id
                }
            };
            now.push(id);
        }
        for (id, _) in left {
            self.account.tables[table].rows[row][id].undone = round;
        }
        self.now[table][row] = now;
    }

    /// The step that wrote a version of this transaction in this round.
    fn writer(&self, writer: TxnId, before: &Hypothesis, after: &Hypothesis, round: Option<usize>) -> Writer {
        let Some(round) = round.filter(|_| writer != SETUP) else { return Writer::Setup };
        let case = &self.replay.seen.case;
        let answered = &self.replay.seen.trace.rounds[round].answered;
        let has = |hypothesis: &Hypothesis, session: usize| {
            hypothesis.sessions[session].txn.as_ref().is_some_and(|txn| txn.id == writer)
        };
        let sessions = 0..case.sessions.len();
        let known = sessions.into_iter().find(|&session| has(before, session) || has(after, session));
        let mut steps = answered.iter().copied().filter(|&step| {
            let session = case.steps[step].session;
            let changes = matches!(
                self.replay.seen.case.tree(step),
                Some(Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_))
            );
            changes && known.is_none_or(|known| known == session)
        });
        match (steps.next(), steps.next()) {
            (Some(step), None) => Writer::Step(step),
            _ => Writer::Unknown,
        }
    }
}

/// Which version of a row somebody sees; it may say that the row is deleted.
fn visible(chain: &Chain, sees: Visibility, me: TxnId, clock: u32) -> Option<usize> {
    let of = |version: &Version| match sees {
        Visibility::Newest => true,
        Visibility::Committed | Visibility::Fresh | Visibility::Snapshot => {
            version.writer == me && version.at.is_none() || version.at.is_some_and(|at| at <= clock)
        }
    };
    chain.versions.iter().rposition(of)
}

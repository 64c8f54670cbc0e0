//! What timelines look like, with traces built by hand.

use expect_test::{Expect, expect};
use model::{
    Case, DbError, Ends, ErrorClass, Kind, Level, Open, Outcome, Reply, Round, RoundCause, RowSet,
    SessionSpec, Setup, Step, Trace, Wait, rows::Column,
};
use report::{Mark, Marks, Style, timeline};

/// A case and its trace, written down together.
struct Run {
    case: Case,
    trace: Trace,
    marks: Marks,
}

impl Run {
    fn new(sessions: usize) -> Run {
        Run {
            case: Case {
                title: "A case".into(),
                sessions: (1..=sessions).map(|n| SessionSpec::plain(format!("T{n}"))).collect(),
                setup: Setup::default(),
                ..Case::default()
            },
            trace: Trace {
                final_state: Some(Vec::new()),
                ..Trace::empty(notation::server("mysql@9.7.4"), Level::RepeatableRead)
            },
            marks: Marks { name: "a-case.iso".into(), ..Marks::default() },
        }
    }

    /// A step that is not sent (yet).
    fn step(&mut self, session: usize, sql: &str) -> usize {
        self.case.steps.push(Step { session: session - 1, sql: sql.into(), expect: Vec::new() });
        self.trace.outcomes.push(Outcome::bare(Reply::NotSent));
        self.case.steps.len() - 1
    }

    fn round(&mut self, cause: RoundCause, answers: Vec<(usize, Reply)>, waiting: Vec<Wait>) {
        let answered = answers.iter().map(|(step, _)| *step).collect();
        self.trace.rounds.push(Round { cause, answered, waiting });
        for (step, reply) in answers {
            self.trace.outcomes[step] = Outcome { reply, warnings: Vec::new(), transaction: Open::Unknown };
        }
    }

    /// Sent and answered at once.
    fn now(&mut self, session: usize, sql: &str, reply: Reply) -> usize {
        let step = self.step(session, sql);
        self.round(RoundCause::Sent(step), vec![(step, reply)], Vec::new());
        step
    }

    /// Sent, and it waits.
    fn waits(&mut self, session: usize, sql: &str, blockers: &[usize]) -> usize {
        let step = self.step(session, sql);
        let blockers = blockers.iter().map(|session| session - 1).collect();
        self.round(RoundCause::Sent(step), Vec::new(), vec![Wait { step, blockers }]);
        step
    }

    /// Sent and answered at once, and others wake.
    fn wakes(&mut self, session: usize, sql: &str, reply: Reply, woken: Vec<(usize, Reply)>) {
        let step = self.step(session, sql);
        self.round(RoundCause::Sent(step), [vec![(step, reply)], woken].concat(), Vec::new());
    }

    fn last(&mut self, rows: &[&[i64]]) {
        let Reply::Rows(rows) = self::rows(rows) else { unreachable!() };
        self.trace.final_state = Some(vec![("t".into(), rows)]);
    }

    fn missed(&mut self, step: usize, expected: &str) {
        self.marks.steps.resize(self.case.steps.len(), Mark::Met);
        self.marks.steps[step] = Mark::Missed { expected: expected.into() };
    }

    fn check(&self, style: &Style, expect: Expect) {
        let text = timeline(&self.case, &self.trace, &self.marks, style);
        expect.assert_eq(&text);
        if style.width >= 60 && !style.colour {
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= style.width, "{widest}");
        }
    }

    fn shows(&self, expect: Expect) {
        self.check(&Style::default(), expect);
    }
}

fn rows(rows: &[&[i64]]) -> Reply {
    let column = |i| Column { name: format!("c{i}"), kind: Kind::Integer, type_name: "INT".into() };
    let mut set = RowSet::new((0..rows.first().map_or(1, |row| row.len())).map(column).collect());
    rows.iter().flat_map(|row| *row).for_each(|cell| set.push(Some(cell.to_string().as_bytes())));
    Reply::Rows(set)
}

fn done(affected: u64) -> Reply {
    Reply::Done { affected, matched: None }
}

fn error(class: ErrorClass, code: u32, ends: Ends) -> Reply {
    Reply::Error(DbError { code, sqlstate: String::new(), class, ends, message: String::new() })
}

/// The case of the manual: a key change leaves the old row in the snapshot.
fn key_change() -> Run {
    let mut run = Run::new(2);
    run.marks.name = "key-change.iso".into();
    run.now(1, "BEGIN", done(0));
    run.now(2, "BEGIN", done(0));
    run.now(2, "SELECT * FROM t", rows(&[&[1, 1], &[2, 2]]));
    run.now(1, "UPDATE t SET a = 3 WHERE b = 2", done(1));
    run.now(1, "COMMIT", done(0));
    run.now(2, "UPDATE t SET b = 3", done(2));
    run.now(2, "SELECT * FROM t", rows(&[&[1, 3], &[2, 2], &[3, 3]]));
    run.now(2, "COMMIT", done(0));
    run.last(&[&[1, 3], &[3, 3]]);
    run
}

fn lost_update() -> Run {
    let mut run = Run::new(2);
    run.now(1, "BEGIN", done(0));
    run.now(1, "UPDATE t SET b = 2 WHERE a = 1", done(1));
    let waits = run.waits(2, "UPDATE t SET b = 3 WHERE a = 1", &[1]);
    run.wakes(1, "COMMIT", done(0), vec![(waits, done(1))]);
    run.last(&[&[1, 3]]);
    run
}

#[test]
fn nothing_waits() {
    let mut run = key_change();
    run.trace.outcomes[6].reply = rows(&[&[1, 3], &[3, 3]]);
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · key-change.iso

             T1                                       T2
         1   BEGIN
         2                                            BEGIN
         3                                            SELECT * FROM t      (1, 1) (2, 2)
         4   UPDATE t SET a = 3 WHERE b = 2   1 row
         5   COMMIT
         6                                            UPDATE t SET b = 3   2 rows
         7                                            SELECT * FROM t      (1, 3) (3, 3)
         8                                            COMMIT

        final t: (1, 3) (3, 3)
    "#]]);
}

#[test]
fn a_deviation_that_is_known() {
    let mut run = key_change();
    run.missed(6, "(1, 3) (3, 3)");
    run.marks.steps[3] = Mark::Unspecified;
    run.marks.known = vec!["MDEV-32898".into(), "MySQL#113228".into()];
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · key-change.iso

             T1                                       T2
         1   BEGIN
         2                                            BEGIN
         3                                            SELECT * FROM t      (1, 1) (2, 2)
         4   UPDATE t SET a = 3 WHERE b = 2   1 row
         5   COMMIT
         6                                            UPDATE t SET b = 3   2 rows
         7                                            SELECT * FROM t    ✗ (1, 3) (2, 2) (3, 3)
                                                                expected   (1, 3) (3, 3)
         8                                            COMMIT

        final t: (1, 3) (3, 3)                                  known: MDEV-32898, MySQL#113228
        unspecified: step 4
    "#]]);
}

#[test]
fn a_final_state_that_differs() {
    let mut run = key_change();
    run.marks.tables = vec![("t".into(), Mark::Missed { expected: "(1, 3) (2, 3)".into() })];
    run.missed(4, "waits");
    run.marks.closing = Some("failed: 2 of 5 expectations".into());
    run.trace.false_decisions = 1;
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · key-change.iso

             T1                                       T2
         1   BEGIN
         2                                            BEGIN
         3                                            SELECT * FROM t      (1, 1) (2, 2)
         4   UPDATE t SET a = 3 WHERE b = 2   1 row
         5   COMMIT                         ✗ ok
                                   expected   waits
         6                                            UPDATE t SET b = 3   2 rows
         7                                            SELECT * FROM t      (1, 3) (2, 2) (3, 3)
         8                                            COMMIT

        final t: ✗ (1, 3) (3, 3)
        expected   (1, 3) (2, 3)
        no evidence: an answer came after the server had been called settled
        failed: 2 of 5 expectations
    "#]]);
}

#[test]
fn one_waits_and_wakes() {
    lost_update().shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                                       T2
         1   BEGIN
         2   UPDATE t SET b = 2 WHERE a = 1   1 row
         3                                            UPDATE t SET b = 3 WHERE a = 1   waits for T1
         4   COMMIT                                   ↳ 1 row (after T1's COMMIT)

        final t: (1, 3)
    "#]]);
}

#[test]
fn a_woken_statement_that_differs() {
    let mut run = lost_update();
    run.missed(2, "0 rows");
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                                       T2
         1   BEGIN
         2   UPDATE t SET b = 2 WHERE a = 1   1 row
         3                                            UPDATE t SET b = 3 WHERE a = 1   waits for T1
         4   COMMIT                                   ✗ ↳ 1 row (after T1's COMMIT)
                                                        expected 0 rows

        final t: (1, 3)
    "#]]);
}

#[test]
fn two_woken_by_one_commit() {
    let mut run = Run::new(3);
    run.now(1, "UPDATE t SET b = 0", done(2));
    let two = run.waits(2, "UPDATE t SET b = 2 WHERE a = 1", &[1]);
    let three = run.waits(3, "SELECT * FROM t WHERE a = 2 FOR UPDATE", &[]);
    run.wakes(1, "COMMIT", done(0), vec![(three, rows(&[&[2, 0]])), (two, done(1))]);
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                            T2                                T3
         1   UPDATE t SET b = 0   2 rows
         2                                 UPDATE t SET b = 2 WHERE a = 1
                                             waits for T1
         3                                                                   SELECT * FROM t WHERE a = 2 FOR
                                                                             UPDATE
                                                                               waits
         4   COMMIT                        ↳ 1 row (after T1's COMMIT)       ↳ (2, 0) (after T1's COMMIT)
    "#]]);
}

#[test]
fn a_queued_statement_shows_where_it_was_sent() {
    let mut run = Run::new(2);
    run.now(1, "UPDATE t SET b = 2", done(1));
    let waits = run.waits(2, "UPDATE t SET b = 3", &[1]);
    let queued = run.step(2, "SELECT b FROM t");
    run.wakes(1, "COMMIT", done(0), vec![(waits, done(1))]);
    run.round(RoundCause::Sent(queued), vec![(queued, rows(&[&[3]]))], Vec::new());
    run.round(RoundCause::RolledBack(1), Vec::new(), Vec::new());
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                           T2
         1   UPDATE t SET b = 2   1 row
         2                                UPDATE t SET b = 3   waits for T1
         4   COMMIT                       ↳ 1 row (after T1's COMMIT)
         3                                SELECT b FROM t      (3)
                                          (rolled back by isopod: it was left open)
    "#]]);
}

#[test]
fn a_deadlock() {
    let mut run = Run::new(2);
    run.now(1, "UPDATE t SET b = 2 WHERE a = 1", done(1));
    run.now(2, "UPDATE t SET b = 2 WHERE a = 2", done(1));
    let waits = run.waits(1, "UPDATE t SET b = 3 WHERE a = 2", &[2]);
    let victim = error(ErrorClass::Deadlock, 1213, Ends::Transaction);
    run.wakes(2, "UPDATE t SET b = 3 WHERE a = 1", victim, vec![(waits, done(1))]);
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                                              T2
         1   UPDATE t SET b = 2 WHERE a = 1   1 row
         2                                                   UPDATE t SET b = 2 WHERE a = 2   1 row
         3   UPDATE t SET b = 3 WHERE a = 2   waits for T2
         4   ↳ 1 row (after T2's UPDATE)                     UPDATE t SET b = 3 WHERE a = 1
                                                               error deadlock (1213), transaction over
    "#]]);
}

#[test]
fn a_stalled_case() {
    let mut run = Run::new(3);
    run.now(1, "UPDATE t SET b = 2", done(2));
    let waits = run.waits(2, "UPDATE t SET b = 3", &[1]);
    run.step(2, "COMMIT");
    let stuck = run.waits(3, "SELECT get_lock('x')", &[]);
    run.trace.stalled = true;
    run.round(RoundCause::RolledBack(0), vec![(waits, done(2))], Vec::new());
    run.round(RoundCause::Killed(2), vec![(stuck, Reply::Killed)], Vec::new());
    run.trace.final_state = None;
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                               T2                               T3
         1   UPDATE t SET b = 2   2 rows
         2                                    UPDATE t SET b = 3
                                                waits for T1
         4                                                                     SELECT get_lock('x')   waits
             (rolled back by isopod: the      ↳ 2 rows (after T1's rollback)
             case had stalled)
                                                                               (killed by isopod: nothing
                                                                               else ended its wait)
                                                                               ↳ still waiting at the end
         3                                    COMMIT   not sent

        final: the server could not be asked
    "#]]);
}

#[test]
fn a_wait_that_is_wrong_is_marked_where_it_begins() {
    let mut run = Run::new(2);
    run.now(1, "UPDATE t SET b = 2", done(2));
    let waits = run.waits(2, "UPDATE t SET b = 3", &[1]);
    run.trace.stalled = true;
    run.round(RoundCause::RolledBack(0), vec![(waits, done(2))], Vec::new());
    run.trace.final_state = None;
    run.marks.steps = vec![Mark::Met, Mark::Waits { expected: "error deadlock".into() }];
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                                              T2
         1   UPDATE t SET b = 2   2 rows
         2                                                   UPDATE t SET b = 3 ✗ waits for T1
                                                                       expected   error deadlock
             (rolled back by isopod: the case had stalled)   ↳ 2 rows (after T1's rollback)

        final: the server could not be asked
    "#]]);
}

#[test]
fn a_wait_that_times_out_and_a_server_that_dies() {
    let mut run = Run::new(2);
    run.case.sessions[0].level = Some(Level::Serializable);
    run.case.sessions[1].autocommit = false;
    run.now(1, "UPDATE t SET b = 2", done(2));
    let waits = run.waits(2, "UPDATE t SET b = 3", &[1]);
    let late = error(ErrorClass::LockTimeout, 1205, Ends::Statement);
    run.round(RoundCause::Timeout, vec![(waits, late)], Vec::new());
    let lost = run.waits(2, "UPDATE t SET b = 4", &[1]);
    run.now(1, "COMMIT", Reply::ServerDied);
    run.trace.outcomes[lost] = Outcome::bare(Reply::ServerDied);
    run.shows(expect![[r#"
        mysql 9.7.4 · mixed levels · a-case.iso

             T1 (SER)                           T2 (RR, autocommit off)
         1   UPDATE t SET b = 2   2 rows
         2                                      UPDATE t SET b = 3   waits for T1
                                                ↳ error lock-timeout (1205) (its time was over)
         3                                      UPDATE t SET b = 4   waits for T1
         4   COMMIT               server died
                                                ↳ server died
    "#]]);
}

fn long() -> Run {
    let mut run = Run::new(3);
    let many: Vec<[i64; 2]> = (1..=20).map(|n| [n, n * 10]).collect();
    let many: Vec<&[i64]> = many.iter().map(|row| &row[..]).collect();
    run.now(
        1,
        "SELECT t.a, u.b FROM t JOIN u ON t.a = u.a WHERE t.b IN (SELECT b FROM u)\n  ORDER BY 1",
        rows(&many),
    );
    run.now(
        2,
        "INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four'), (5, 'five')",
        done(5),
    );
    let waits = run.waits(3, "UPDATE t SET b = 3 WHERE a = 1", &[1, 2]);
    run.wakes(2, "COMMIT", done(0), vec![(waits, error(ErrorClass::Deadlock, 1213, Ends::Transaction))]);
    run.last(&many);
    run
}

#[test]
fn three_sessions_and_long_texts_fit() {
    let mut run = long();
    run.missed(0, "(1, 10) (2, 20)");
    run.shows(expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                               T2                               T3
         1   SELECT t.a, u.b FROM t JOIN u
             ON t.a = u.a WHERE t.b IN
             (SELECT b FROM u) ORDER BY 1
             ✗ (1, 10) (2, 20) (3, 30)
               (4, 40) (5, 50) (6, 60)
               (7, 70) (8, 80) (9, 90)
               (10, 100) (11, 110)
               (12, 120) … 8 more
               expected (1, 10) (2, 20)
         2                                    INSERT INTO t VALUES
                                              (1, 'one'), (2, 'two'),
                                              (3, 'three'), (4, 'four'),
                                              (5, 'five')
                                                5 rows
         3                                                                     UPDATE t SET b = 3 WHERE a =
                                                                               1
                                                                                 waits for T1, T2
         4                                    COMMIT                           ↳ error deadlock (1213),
                                                                               transaction over
                                                                               (after T2's COMMIT)

        final t: (1, 10) (2, 20) (3, 30) (4, 40) (5, 50) (6, 60) (7, 70) (8, 80) (9, 90) (10, 100) (11, 110)
                 (12, 120) … 8 more
    "#]]);
}

#[test]
fn narrow() {
    let mut run = long();
    run.missed(0, "(1, 10) (2, 20)");
    run.check(
        &Style { width: 66, rows: 4, ..Style::default() },
        expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                    T2                   T3
         1   SELECT t.a, u.b
             FROM t JOIN u ON
             t.a = u.a WHERE t.b
             IN…
             ✗ (1, 10) (2, 20)
               (3, 30) (4, 40)
               … 16 more
               expected (1, 10)
               (2, 20)
         2                         INSERT INTO t
                                   VALUES (1, 'one'),
                                   (2, 'two'),
                                   (3, 'three'),…
                                     5 rows
         3                                              UPDATE t SET b = 3
                                                        WHERE a = 1
                                                          waits for T1, T2
         4                         COMMIT               ↳ error deadlock
                                                        (1213),
                                                        transaction over
                                                        (after T2's
                                                        COMMIT)

        final t: (1, 10) (2, 20) (3, 30) (4, 40) … 16 more
    "#]],
    );
}

#[test]
fn wide() {
    long().check(&Style { width: 200, rows: 3, ..Style::default() }, expect![[r#"
        mysql 9.7.4 · REPEATABLE READ · a-case.iso

             T1                                                                 T2                                                                 T3
         1   SELECT t.a, u.b FROM t JOIN u ON t.a = u.a WHERE t.b IN
             (SELECT b FROM u) ORDER BY 1
               (1, 10) (2, 20) (3, 30) … 17 more
         2                                                                      INSERT INTO t VALUES (1, 'one'), (2, 'two'),              5 rows
                                                                                (3, 'three'), (4, 'four'), (5, 'five')
         3                                                                                                                                         UPDATE t SET b = 3 WHERE a = 1   waits for T1, T2
         4                                                                      COMMIT                                                             ↳ error deadlock (1213), transaction over (after T2's COMMIT)

        final t: (1, 10) (2, 20) (3, 30) … 17 more
    "#]]);
}

#[test]
fn colours_do_not_move_anything() {
    let mut run = key_change();
    run.missed(6, "(1, 3) (3, 3)");
    run.marks.tables = vec![("t".into(), Mark::Missed { expected: "(1, 3)".into() })];
    run.marks.known = vec!["MDEV-32898".into()];
    let plain = timeline(&run.case, &run.trace, &run.marks, &Style::default());
    let style = Style { colour: true, ..Style::default() };
    let coloured = timeline(&run.case, &run.trace, &run.marks, &style);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31m✗"), "{coloured:?}");
    let mut stripped = String::new();
    let mut escape = false;
    for c in coloured.chars() {
        match c {
            '\u{1b}' => escape = true,
            'm' if escape => escape = false,
            c if !escape => stripped.push(c),
            _ => {}
        }
    }
    assert_eq!(stripped, plain);
}

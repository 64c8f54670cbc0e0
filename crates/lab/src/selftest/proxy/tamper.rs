//! Lies about an answer: each is a change of what the server said, and says whether there was anything to change.

use model::sql::{Query, Statement, StatementKind};

use super::answer::{Answer, Failure, ResultSet, Row, column_type};

/// A lie about the answer to a statement.
pub type Tamper = fn(&mut Answer, &Statement) -> bool;

/// The errors that are invented.
pub fn deadlock() -> Failure {
    Failure::new(1213, "40001", "Deadlock found when trying to get lock; try restarting transaction")
}

pub fn lock_timeout() -> Failure {
    Failure::new(1205, "HY000", "Lock wait timeout exceeded; try restarting transaction")
}

pub fn internal() -> Failure {
    Failure::new(1815, "HY000", "Internal error: none")
}

pub fn no_record() -> Failure {
    Failure::new(1032, "HY000", "Can't find record")
}

/// Moves the count of affected rows.
fn count(answer: &mut Answer, statement: &Statement, change: fn(u64) -> Option<u64>) -> bool {
    match answer {
        Answer::Done(done) if statement.kind().writes() => match change(done.affected) {
            Some(count) => {
                done.affected = count;
                true
            }
            None => false,
        },
        Answer::Done(_) | Answer::Rows(_) | Answer::Failed(_) => false,
    }
}

pub fn count_more(answer: &mut Answer, statement: &Statement) -> bool {
    count(answer, statement, |count| Some(count + 1))
}

pub fn count_less(answer: &mut Answer, statement: &Statement) -> bool {
    count(answer, statement, |count| count.checked_sub(1))
}

/// Moves the count of matched rows, which an UPDATE tells in words.
fn matched(answer: &mut Answer, change: fn(u64) -> Option<u64>) -> bool {
    const LABEL: &str = "Rows matched: ";
    let Answer::Done(done) = answer else { return false };
    // Before the words stands their length.
    let Some(at) = done.info.windows(LABEL.len()).position(|window| window == LABEL.as_bytes()) else {
        return false;
    };
    let (head, tail) = done.info.split_at(at + LABEL.len());
    let digits = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&tail[..digits]).ok().and_then(|digits| digits.parse().ok());
    let Some(number) = number.and_then(change) else { return false };
    let words = [&head[at..], number.to_string().as_bytes(), &tail[digits..]].concat();
    let mut info = head[..at].to_vec();
    if let [length] = info.as_mut_slice() {
        *length = words.len() as u8;
    }
    info.extend_from_slice(&words);
    done.info = info;
    true
}

pub fn matched_more(answer: &mut Answer, _: &Statement) -> bool {
    matched(answer, |count| Some(count + 1))
}

pub fn matched_less(answer: &mut Answer, _: &Statement) -> bool {
    matched(answer, |count| count.checked_sub(1))
}

/// The rows of a query on tables.
fn queried<'a>(answer: &'a mut Answer, statement: &Statement) -> Option<&'a mut Vec<Row>> {
    match statement.kind() {
        StatementKind::Select | StatementKind::LockingSelect => answer.rows_mut(),
        _ => None,
    }
}

pub fn row_dropped(answer: &mut Answer, statement: &Statement) -> bool {
    queried(answer, statement).is_some_and(|rows| rows.pop().is_some())
}

pub fn row_doubled(answer: &mut Answer, statement: &Statement) -> bool {
    queried(answer, statement).is_some_and(|rows| {
        let last = rows.last().cloned();
        rows.extend(last.clone());
        last.is_some()
    })
}

/// Changes the first cell that can be changed.
fn cell(answer: &mut Answer, statement: &Statement, change: fn(&mut Option<Vec<u8>>) -> bool) -> bool {
    queried(answer, statement).is_some_and(|rows| rows.iter_mut().flatten().any(change))
}

pub fn null_as_zero(answer: &mut Answer, statement: &Statement) -> bool {
    cell(answer, statement, |cell| {
        let null = cell.is_none();
        if null {
            *cell = Some(b"0".to_vec());
        }
        null
    })
}

pub fn value_more(answer: &mut Answer, statement: &Statement) -> bool {
    cell(answer, statement, |cell| {
        let text = cell.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok());
        let more = text.and_then(|text| text.parse::<i64>().ok()).and_then(|number| number.checked_add(1));
        match more {
            Some(number) => {
                *cell = Some(number.to_string().into_bytes());
                true
            }
            None => false,
        }
    })
}

/// Under ORDER BY only: without it rows come in any order.
pub fn order_reversed(answer: &mut Answer, statement: &Statement) -> bool {
    let Statement::Query(Query { order_by, .. }) = statement else { return false };
    !order_by.is_empty()
        && answer.rows_mut().is_some_and(|rows| {
            let before = rows.clone();
            rows.reverse();
            *rows != before
        })
}

/// INT and BIGINT change places; other numbers become text.
pub fn type_changed(answer: &mut Answer, statement: &Statement) -> bool {
    const INT: u8 = 3;
    const BIGINT: u8 = 8;
    const VARCHAR: u8 = 253;
    if queried(answer, statement).is_none() {
        return false;
    }
    let Answer::Rows(ResultSet { columns, .. }) = answer else { return false };
    let changed = columns.iter_mut().find_map(|definition| {
        let (code, text) = column_type(definition)?;
        let other = match *code {
            INT => BIGINT,
            BIGINT => INT,
            _ if text => return None,
            _ => VARCHAR,
        };
        *code = other;
        Some(())
    });
    changed.is_some()
}

pub fn warning_added(answer: &mut Answer, _: &Statement) -> bool {
    answer.end_mut().is_some_and(|end| {
        end.warnings = end.warnings.saturating_add(1);
        true
    })
}

pub fn warnings_lost(answer: &mut Answer, _: &Statement) -> bool {
    answer.end_mut().is_some_and(|end| std::mem::take(&mut end.warnings) > 0)
}

/// Nothing yet: what the client asks for next is changed.
pub fn has_warnings(answer: &mut Answer, _: &Statement) -> bool {
    answer.end().is_some_and(|end| end.warnings > 0)
}

/// One row of the first that has another version in the second, or is missing from it, as the second has it.
pub fn one_row_of(rows: &[Row], newer: &[Row]) -> Option<Vec<Row>> {
    let key = |row: &Row| row.first().cloned();
    let news: Vec<&Row> = newer.iter().filter(|row| !rows.contains(row)).collect();
    let mut mixed = rows.to_vec();
    for new in &news {
        if let Some(at) = rows.iter().position(|row| key(row) == key(new) && !newer.contains(row)) {
            mixed[at] = (*new).clone();
            return Some(mixed);
        }
    }
    // One that was inserted, or deleted, since.
    if let Some(new) = news.first() {
        mixed.push((*new).clone());
        return Some(mixed);
    }
    let gone = rows.iter().position(|row| !newer.contains(row))?;
    mixed.remove(gone);
    Some(mixed)
}

#[cfg(test)]
mod tests {
    use super::{
        super::answer::tests::{changed, rows},
        *,
    };

    fn parsed(sql: &str) -> Statement {
        dialect::sql::parse(model::Product::Mariadb, sql).tree().unwrap()
    }

    fn texts(answer: &Answer) -> Vec<Vec<String>> {
        let cell = |cell: &Option<Vec<u8>>| {
            cell.as_ref().map_or("NULL".to_string(), |bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        answer.rows().unwrap().iter().map(|row| row.iter().map(cell).collect()).collect()
    }

    /// What a lie makes of an answer; none where it changes nothing.
    fn told(lie: Tamper, sql: &str, answer: &Answer) -> Option<Answer> {
        let mut changed = answer.clone();
        let told = lie(&mut changed, &parsed(sql));
        assert_eq!(told, changed != *answer, "{sql}");
        told.then_some(changed)
    }

    #[test]
    fn rows_are_changed_and_nothing_else() {
        let (sql, answer) =
            ("SELECT a, b FROM t ORDER BY a", rows(&[&[Some("1"), None], &[Some("2"), Some("x")]]));
        let shown = |lie: Tamper| told(lie, sql, &answer).map(|answer| texts(&answer).concat().join(" "));
        assert_eq!(shown(row_dropped).as_deref(), Some("1 NULL"));
        assert_eq!(shown(row_doubled).as_deref(), Some("1 NULL 2 x 2 x"));
        assert_eq!(shown(null_as_zero).as_deref(), Some("1 0 2 x"));
        assert_eq!(shown(value_more).as_deref(), Some("2 NULL 2 x"));
        assert_eq!(shown(order_reversed).as_deref(), Some("2 x 1 NULL"));
        let none = rows(&[]);
        for lie in [row_dropped as Tamper, row_doubled, null_as_zero, value_more, order_reversed] {
            assert_eq!(told(lie, sql, &none), None);
        }
        assert_eq!(told(order_reversed, "SELECT a, b FROM t", &answer), None);
    }

    #[test]
    fn counts_are_moved_by_one() {
        let sql = "UPDATE t SET a = 1";
        let words = "Rows matched: 10  Changed: 2  Warnings: 0";
        let answer = changed(2, &format!("{}{words}", words.len() as u8 as char));
        let affected = |lie: Tamper| match told(lie, sql, &answer) {
            Some(Answer::Done(done)) => (done.affected, String::from_utf8(done.info).unwrap()),
            other => panic!("{other:?}"),
        };
        assert_eq!(affected(count_more).0, 3);
        assert_eq!(affected(count_less).0, 1);
        let (same, info) = affected(matched_less);
        assert_eq!((same, &info[1..]), (2, "Rows matched: 9  Changed: 2  Warnings: 0"));
        assert_eq!(usize::from(info.as_bytes()[0]), info.len() - 1);
        assert!(affected(matched_more).1.contains("matched: 11 "));
        assert_eq!(told(count_less, sql, &changed(0, "")), None);
        assert_eq!(told(matched_more, sql, &changed(1, "")), None);
        assert_eq!(told(count_more, "BEGIN", &changed(0, "")), None);
    }

    #[test]
    fn a_type_is_changed_in_one_column() {
        let answer = rows(&[&[Some("1"), Some("2")]]);
        let Some(Answer::Rows(set)) = told(type_changed, "SELECT a, b FROM t", &answer) else { panic!() };
        let code = |mut column: Vec<u8>| *column_type(&mut column).unwrap().0;
        assert_eq!(set.columns.into_iter().map(code).collect::<Vec<u8>>(), [8, 3]);
    }

    #[test]
    fn warnings_are_counted_otherwise() {
        let answer = changed(1, "");
        let Some(more) = told(warning_added, "DELETE FROM t", &answer) else { panic!() };
        assert_eq!(more.end().unwrap().warnings, 1);
        assert_eq!(told(warnings_lost, "DELETE FROM t", &more), Some(answer.clone()));
        assert_eq!(told(warnings_lost, "DELETE FROM t", &answer), None);
    }

    #[test]
    fn one_row_of_a_later_state() {
        let of = |answer: Answer| answer.rows().unwrap().clone();
        let old = of(rows(&[&[Some("1"), Some("a")], &[Some("2"), Some("b")]]));
        let new = of(rows(&[&[Some("1"), Some("c")], &[Some("2"), Some("d")], &[Some("3"), Some("e")]]));
        let mixed = of(rows(&[&[Some("1"), Some("c")], &[Some("2"), Some("b")]]));
        assert_eq!(one_row_of(&old, &new), Some(mixed));
        let inserted = of(rows(&[&[Some("1"), Some("a")], &[Some("2"), Some("b")], &[Some("3"), None]]));
        assert_eq!(one_row_of(&old, &inserted), Some(inserted.clone()));
        assert_eq!(one_row_of(&inserted, &old), Some(old.clone()));
        assert_eq!(one_row_of(&old, &old), None);
    }
}

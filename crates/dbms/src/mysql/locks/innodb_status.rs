//! Reads `SHOW ENGINE INNODB STATUS`: which transactions wait, for which lock, and who holds it. Pure.
//!
//! The text lists every transaction with the connection that it belongs to. With
//! `innodb_status_output_locks=ON` it lists up to ten locks of each, too:
//!
//! ```text
//! ---TRANSACTION 24, ACTIVE 0 sec starting index read
//! LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s)
//! MariaDB thread id 4, OS thread handle 140433155729088, query id 20 localhost root Updating
//! UPDATE t SET b=12 WHERE a=1
//! ------- TRX HAS BEEN WAITING 53485 us FOR THIS LOCK TO BE GRANTED:
//! RECORD LOCKS space id 5 page no 3 n bits 320 index PRIMARY of table `s`.`t` trx id 24 lock_mode X locks rec but not gap waiting
//! Record lock, heap no 2 PHYSICAL RECORD: n_fields 11; compact format; info bits 0
//! ```
//!
//! The text does not say who blocks whom. That follows from the locks: same record, another transaction, and
//! modes that exclude each other by InnoDB's rules. A request also waits for an earlier request in the same
//! queue; earlier is whoever has waited longer. The statement's own text stands in the middle and could look
//! like anything; what matters is read before it or begins a line in a way that no SQL does by accident.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::locks::waits::{LockRequest, ServerTransactionId, WaitGraph};

/// A lock that is held or asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lock {
    place: LockedObject,
    mode: Mode,
    /// Locks the record but not the gap before it.
    record_only: bool,
    gap: bool,
    insert_intention: bool,
    waiting: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LockedObject {
    Table(String),
    Records { space: u64, page: u64, heaps: BTreeSet<u64> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    IntentionShared,
    IntentionExclusive,
    Shared,
    Exclusive,
    AutoIncrement,
}

#[derive(Debug, Default)]
struct Entry {
    transaction: ServerTransactionId,
    session: Option<u64>,
    waits: bool,
    /// How long, in microseconds.
    waited: u64,
    /// The lock that it waits for, in the server's words.
    request: String,
    locks: Vec<Lock>,
}

/// Who was seen waiting first. Old versions tell only the seconds for which somebody has waited, so that of two who
/// began within the same second it is not known who came first; whoever looked in between knows.
#[derive(Debug, Default)]
pub struct WaitOrder {
    /// The first look at which each waiting transaction was seen.
    first: BTreeMap<ServerTransactionId, u64>,
    looks: u64,
}

impl WaitOrder {
    /// Takes note of who waits now.
    fn look(&mut self, entries: &[Entry]) {
        self.looks += 1;
        let waiting: Vec<ServerTransactionId> =
            entries.iter().filter(|entry| entry.waits).map(|entry| entry.transaction).collect();
        self.first.retain(|transaction, _| waiting.contains(transaction));
        for transaction in waiting {
            self.first.entry(transaction).or_insert(self.looks);
        }
    }

    fn of(&self, entry: &Entry) -> u64 {
        self.first.get(&entry.transaction).copied().unwrap_or(u64::MAX)
    }
}

/// Reads the text.
pub fn parse(text: &str, order: &mut WaitOrder) -> WaitGraph {
    let entries = entries(text);
    order.look(&entries);
    let mut waits = WaitGraph::default();
    for entry in &entries {
        waits.owners.extend(entry.session.map(|session| (entry.transaction, session)));
        if !entry.waits {
            continue;
        }
        waits.waiting.insert(entry.transaction);
        let request =
            LockRequest { lock: entry.request.clone(), waited: Duration::from_micros(entry.waited) };
        waits.requests.insert(entry.transaction, request);
        for other in entries.iter().filter(|other| other.transaction != entry.transaction) {
            if blocks(other, entry, order) {
                waits.edges.insert((entry.transaction, other.transaction));
            }
        }
    }
    waits
}

/// Begins the lock that a transaction waits for; a line of hyphens ends it.
const WAITING: &str = "------- TRX HAS BEEN WAITING ";
/// The lines that say which lock it is.
const REQUEST: [&str; 3] = ["RECORD LOCKS space id ", "TABLE LOCK table ", "Record lock, heap no "];

fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // Before the list there may be the latest deadlock and foreign key error, told in the same words.
    let list = text.split_once("\nLIST OF TRANSACTIONS FOR EACH SESSION:").map_or("", |(_, list)| list);
    let mut in_request = false;
    for line in list.lines() {
        if let Some(head) = line.strip_prefix("---TRANSACTION ") {
            entries.push(Entry { transaction: transaction(head), ..Entry::default() });
        } else if line == "FILE I/O" {
            break;
        }
        let Some(entry) = entries.last_mut() else { continue };
        if line.starts_with('-') {
            in_request = line.starts_with(WAITING);
        } else if in_request && REQUEST.iter().any(|start| line.starts_with(start)) {
            entry.request += line;
        }
        if line.starts_with("LOCK WAIT ") {
            entry.waits |= entry.session.is_none();
        } else if line.starts_with("MariaDB thread id ") || line.starts_with("MySQL thread id ") {
            entry.session = entry.session.or(number_after(line, "thread id "));
        } else if line.starts_with(WAITING) {
            let waited = number_after(line, "WAITING ").unwrap_or(0);
            entry.waited = if line.contains(" us ") { waited } else { waited.saturating_mul(1_000_000) };
        } else if line.starts_with("RECORD LOCKS space id ") || line.starts_with("TABLE LOCK table ") {
            entry.locks.extend(lock(line));
        } else if line.starts_with("Record lock, heap no ") {
            let heap = number_after(line, "heap no ");
            if let Some(Lock { place: LockedObject::Records { heaps, .. }, .. }) = entry.locks.last_mut() {
                heaps.extend(heap);
            }
        }
    }
    entries
}

/// A number, or for one that has written nothing the address of its object.
fn transaction(head: &str) -> ServerTransactionId {
    let word = head.split([',', ' ']).next().unwrap_or("").trim_matches(['(', ')']);
    match word.strip_prefix("0x") {
        Some(hex) => ServerTransactionId::from_str_radix(hex, 16).unwrap_or(0),
        None => word.parse().unwrap_or(0),
    }
}

fn number_after(line: &str, label: &str) -> Option<u64> {
    let rest = &line[line.find(label)? + label.len()..];
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

fn lock(line: &str) -> Option<Lock> {
    // A table may be called anything, so the mode is looked for from the end.
    let (place, mode) = line.rsplit_once(" trx id ")?;
    let mode = &mode[mode.find(' ')? + 1..];
    let words = mode.strip_prefix("lock_mode ").or_else(|| mode.strip_prefix("lock mode "))?;
    let mode = match words.split(' ').next()? {
        "IS" => Mode::IntentionShared,
        "IX" => Mode::IntentionExclusive,
        "S" => Mode::Shared,
        "X" => Mode::Exclusive,
        "AUTO-INC" => Mode::AutoIncrement,
        _ => return None,
    };
    let place = match place.strip_prefix("TABLE LOCK table ") {
        Some(table) => LockedObject::Table(table.to_string()),
        None => LockedObject::Records {
            space: number_after(place, "space id ")?,
            page: number_after(place, "page no ")?,
            heaps: BTreeSet::new(),
        },
    };
    Some(Lock {
        place,
        mode,
        record_only: words.contains(" rec but not gap"),
        gap: words.contains(" gap before rec"),
        insert_intention: words.contains(" insert intention"),
        waiting: words.ends_with(" waiting"),
    })
}

/// Does one transaction's lock, or its earlier request, stand in the way of the other's request?
fn blocks(other: &Entry, waiter: &Entry, order: &WaitOrder) -> bool {
    let earlier = other.waits && (other.waited, order.of(waiter)) > (waiter.waited, order.of(other));
    waiter
        .locks
        .iter()
        .filter(|request| request.waiting)
        .any(|request| other.locks.iter().any(|lock| (!lock.waiting || earlier) && excludes(lock, request)))
}

fn excludes(held: &Lock, request: &Lock) -> bool {
    if compatible(request.mode, held.mode) {
        return false;
    }
    match (&held.place, &request.place) {
        (LockedObject::Table(held), LockedObject::Table(asked)) => held == asked,
        (
            LockedObject::Records { space, page, heaps },
            LockedObject::Records { space: space2, page: page2, heaps: asked },
        ) => {
            (space, page) == (space2, page2)
                && heaps.intersection(asked).any(|&heap| records_exclude(held, request, heap == SUPREMUM))
        }
        _ => false,
    }
}

/// The place behind the last record of a page, which has a gap but is no record.
const SUPREMUM: u64 = 1;

/// InnoDB's rules for two record locks of modes that are not compatible.
fn records_exclude(held: &Lock, request: &Lock, supremum: bool) -> bool {
    if !request.insert_intention && (supremum || request.gap || held.gap) {
        return false; // Only an insert waits for a gap.
    }
    if (request.gap || request.insert_intention) && held.record_only {
        return false; // And it does not wait for a record.
    }
    !held.insert_intention // Nobody waits for an insert that is still only intended.
}

fn compatible(a: Mode, b: Mode) -> bool {
    use Mode::{AutoIncrement, Exclusive, IntentionExclusive, Shared};
    !matches!(
        (a, b),
        (Exclusive, _)
            | (_, Exclusive)
            | (AutoIncrement, AutoIncrement | Shared)
            | (Shared, AutoIncrement | IntentionExclusive)
            | (IntentionExclusive, Shared)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From MariaDB 10.11.19, without the dumps of the records: session 3 has changed row 1; sessions 4
    /// (UPDATE) and then 5 (LOCK IN SHARE MODE) wait for it. Session 5 has written nothing.
    const QUEUE: &str = "\
------------
TRANSACTIONS
------------
Trx id counter 25
Purge done for trx's n:o < 23 undo n:o < 0 state: running but idle
History list length 0
LIST OF TRANSACTIONS FOR EACH SESSION:
---TRANSACTION (0x7fb925b45180), ACTIVE 0 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)
MariaDB thread id 5, OS thread handle 140433155421888, query id 22 localhost root Statistics
SELECT a FROM t WHERE a=1 LOCK IN SHARE MODE
------- TRX HAS BEEN WAITING 53261 us FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 n bits 320 index PRIMARY of table `isopod_w`.`t` trx id 0 lock mode S locks rec but not gap waiting
Record lock, heap no 2 PHYSICAL RECORD: n_fields 11; compact format; info bits 0
 0: len 4; hex 80000001; asc     ;;
 10: len 1; hex 78; asc x;;

------------------
TABLE LOCK table `isopod_w`.`t` trx id 0 lock mode IS
RECORD LOCKS space id 5 page no 3 n bits 320 index PRIMARY of table `isopod_w`.`t` trx id 0 lock mode S locks rec but not gap waiting
Record lock, heap no 2 PHYSICAL RECORD: n_fields 11; compact format; info bits 0
 0: len 4; hex 80000001; asc     ;;

---TRANSACTION 24, ACTIVE 0 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s)
MariaDB thread id 4, OS thread handle 140433155729088, query id 20 localhost root Updating
UPDATE t SET b=12 WHERE a=1
------- TRX HAS BEEN WAITING 53485 us FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 n bits 320 index PRIMARY of table `isopod_w`.`t` trx id 24 lock_mode X locks rec but not gap waiting
Record lock, heap no 2 PHYSICAL RECORD: n_fields 11; compact format; info bits 0
 0: len 4; hex 80000001; asc     ;;

------------------
TABLE LOCK table `isopod_w`.`t` trx id 24 lock mode IX
RECORD LOCKS space id 5 page no 3 n bits 320 index PRIMARY of table `isopod_w`.`t` trx id 24 lock_mode X locks rec but not gap
Record lock, heap no 3 PHYSICAL RECORD: n_fields 11; compact format; info bits 0
 0: len 4; hex 80000002; asc     ;;

---TRANSACTION 23, ACTIVE 0 sec
2 lock struct(s), heap size 1128, 1 row lock(s), undo log entries 1
MariaDB thread id 3, OS thread handle 140433156036288, query id 17 localhost root 
TABLE LOCK table `isopod_w`.`t` trx id 23 lock mode IX
RECORD LOCKS space id 5 page no 3 n bits 320 index PRIMARY of table `isopod_w`.`t` trx id 23 lock_mode X locks rec but not gap
Record lock, heap no 2 PHYSICAL RECORD: n_fields 11; compact format; info bits 0
 0: len 4; hex 80000001; asc     ;;

--------
FILE I/O
--------
";

    fn read(text: &str) -> WaitGraph {
        parse(text, &mut WaitOrder::default())
    }

    /// The same as old versions tell it: in seconds, and the one that came second first.
    #[test]
    fn of_two_within_a_second_the_one_seen_first_was_first() {
        let old = QUEUE.replace("53261 us", "0 SEC").replace("53485 us", "0 SEC");
        assert_eq!(read(&old).blockers(5), [3], "who came first is not known");
        let mut order = WaitOrder::default();
        let first = old.replace("LOCK WAIT 2 lock struct(s)", "2 lock struct(s)");
        assert_eq!(parse(&first, &mut order).blockers(4), [3]);
        let both = parse(&old, &mut order);
        assert_eq!((both.blockers(4), both.blockers(5)), (vec![3], vec![3, 4]));
    }

    #[test]
    fn waiters_and_their_blockers_are_found() {
        let waits = read(QUEUE);
        assert_eq!(waits.waiting, [24, 0x7fb9_25b4_5180].into());
        assert!(waits.waits(4) && waits.waits(5) && !waits.waits(3));
        assert_eq!(waits.blockers(4), [3]);
        assert_eq!(waits.blockers(5), [3, 4], "behind the one that came first");
    }

    #[test]
    fn what_a_waiter_asks_for_is_kept() {
        let waits = read(QUEUE);
        let request = &waits.requests[&24];
        assert_eq!(request.waited, Duration::from_micros(53_485));
        assert!(request.lock.starts_with("RECORD LOCKS space id 5 page no 3"), "{}", request.lock);
        assert!(request.lock.contains("rec but not gap waitingRecord lock, heap no 2 "), "{}", request.lock);
        assert!(!request.lock.contains("heap no 3"), "a lock that it holds: {}", request.lock);
        assert!(!waits.requests.contains_key(&23));
        // A server that does not list its locks tells this one all the same.
        let later = QUEUE.replace("53485 us", "60000 us");
        assert!(read(&later).same_wait(&waits, 4) && !waits.same_wait(&read(&later), 4));
    }

    #[test]
    fn the_latest_deadlock_is_history() {
        let old = QUEUE.replace("LIST OF TRANSACTIONS FOR EACH SESSION:", "LATEST DETECTED DEADLOCK");
        assert!(read(&old).waiting.is_empty());
        assert!(read("").waiting.is_empty());
    }

    #[test]
    fn without_the_list_of_locks_the_waiters_remain() {
        let short: Vec<&str> = QUEUE.lines().filter(|line| !line.starts_with("RECORD LOCKS")).collect();
        let waits = read(&short.join("\n"));
        assert!(waits.waits(4) && waits.waits(5));
        assert!(waits.edges.is_empty());
    }

    #[test]
    fn a_statement_cannot_pretend() {
        let text = QUEUE.replace("UPDATE t SET b=12", "LOCK WAIT 1\nMySQL thread id 99, UPDATE t SET b=12");
        assert_eq!(read(&text), read(QUEUE));
    }

    fn record(words: &str, heap: u64) -> Lock {
        let line =
            format!("RECORD LOCKS space id 5 page no 3 n bits 72 index kb of table `a`.`b` trx id 7 {words}");
        let mut lock = lock(&line).unwrap();
        let LockedObject::Records { heaps, .. } = &mut lock.place else { panic!("no records") };
        heaps.insert(heap);
        lock
    }

    #[test]
    fn gaps_exclude_inserts_only() {
        let insert = record("lock_mode X locks gap before rec insert intention waiting", 4);
        let gap = record("lock mode S locks gap before rec", 4);
        let next_key = record("lock_mode X", 4);
        let row = record("lock_mode X locks rec but not gap", 4);
        assert!(excludes(&gap, &insert) && excludes(&next_key, &insert));
        assert!(!excludes(&row, &insert));
        assert!(!excludes(&insert, &gap) && !excludes(&insert, &next_key));
        assert!(excludes(&row, &next_key) && excludes(&next_key, &row));
        assert!(!excludes(&record("lock_mode X", 5), &row), "another record");
        let end = record("lock_mode X", SUPREMUM);
        assert!(!excludes(&end, &record("lock_mode X waiting", SUPREMUM)));
        assert!(excludes(&end, &record("lock_mode X insert intention waiting", SUPREMUM)));
    }

    #[test]
    fn tables_exclude_by_mode() {
        let table = |mode: &str| {
            lock(&format!("TABLE LOCK table `a`.`x trx id 9 y` trx id 7 lock mode {mode}")).unwrap()
        };
        assert_eq!(table("IX").place, LockedObject::Table("`a`.`x trx id 9 y`".to_string()));
        assert!(excludes(&table("AUTO-INC"), &table("AUTO-INC waiting")));
        assert!(!excludes(&table("IX"), &table("AUTO-INC waiting")));
        assert!(excludes(&table("X"), &table("IS waiting")));
        assert!(excludes(&table("IX"), &table("S waiting")));
    }
}

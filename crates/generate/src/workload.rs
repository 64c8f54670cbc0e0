//! Small random cases for the self-tests: two to four sessions that get in each other's way on a few rows.
//!
//! The same seven tables serve every case (a primary key; one with a key beside it; none at all; a key only; a
//! unique key beside the primary; one that counts up; a unique key only), so that a reset is enough between
//! cases. About one statement in ten waits on InnoDB.

use model::{Case, Product, Rng, Seed, SessionSpec, Setup, Step};

/// A table: name, its columns, the column that identifies a row, and whether that one counts up by itself.
struct Shape {
    name: &'static str,
    columns: &'static str,
    sqlite: &'static str,
    id: &'static str,
    counts: bool,
}

const SHAPES: [Shape; 7] = [
    shape("p", "id INT PRIMARY KEY, v INT", "id INT PRIMARY KEY, v INT", "id"),
    shape("pk", "id INT PRIMARY KEY, v INT, KEY kv(v)", "id INT PRIMARY KEY, v INT", "id"),
    shape("nk", "id INT, v INT", "id INT, v INT", "id"),
    shape("ko", "id INT, v INT, KEY ki(id)", "id INT, v INT", "id"),
    shape("pu", "id INT PRIMARY KEY, v INT, UNIQUE KEY uv(v)", "id INT PRIMARY KEY, v INT UNIQUE", "id"),
    Shape {
        name: "ai",
        columns: "id INT AUTO_INCREMENT PRIMARY KEY, v INT",
        sqlite: "id INTEGER PRIMARY KEY, v INT",
        id: "id",
        counts: true,
    },
    shape("un", "id INT, v INT, UNIQUE KEY ui(id)", "id INT UNIQUE, v INT", "id"),
];

const fn shape(name: &'static str, columns: &'static str, sqlite: &'static str, id: &'static str) -> Shape {
    Shape { name, columns, sqlite, id, counts: false }
}

/// Case number `number` of a seed: always the same one.
pub fn case(seed: Seed, number: u64, product: Product) -> Case {
    let mut rng = seed.rng("workload", number);
    let locking = match product {
        Product::Mysql | Product::Mariadb => true,
        Product::Postgres | Product::Sqlite => false,
    };
    let mut statements: Vec<String> = SHAPES.iter().map(|shape| create(shape, product)).collect();
    let mut shapes: Vec<&Shape> = SHAPES.iter().collect();
    rng.shuffle(&mut shapes);
    shapes.truncate(rng.between(1, 3));
    statements.extend(shapes.iter().filter_map(|shape| fill(&mut rng, shape)));

    let sessions = rng.between(2, 4);
    let mut scripts: Vec<Vec<String>> =
        (0..sessions).map(|_| transaction(&mut rng, &shapes, locking)).collect();
    scripts.iter_mut().for_each(|script| script.reverse());
    let mut steps = Vec::new();
    while scripts.iter().any(|script| !script.is_empty()) {
        let open: Vec<usize> = (0..sessions).filter(|&i| !scripts[i].is_empty()).collect();
        let session = *rng.pick(&open);
        if let Some(sql) = scripts[session].pop() {
            steps.push(Step { session, sql, expect: Vec::new() });
        }
    }
    Case {
        title: format!("workload {seed} {number}"),
        sessions: (1..=sessions).map(|i| SessionSpec::plain(format!("T{i}"))).collect(),
        setup: Setup { statements },
        steps,
        ..Case::default()
    }
}

fn create(shape: &Shape, product: Product) -> String {
    let columns = match product {
        Product::Mysql | Product::Mariadb => shape.columns,
        Product::Postgres | Product::Sqlite => shape.sqlite,
    };
    format!("CREATE TABLE {}({columns})", shape.name)
}

fn fill(rng: &mut Rng, shape: &Shape) -> Option<String> {
    let mut ids: Vec<usize> = (1..=10).collect();
    rng.shuffle(&mut ids);
    ids.truncate(rng.below(11));
    // Distinct values too, for the tables whose value is unique.
    let rows: Vec<String> = ids.iter().map(|id| format!("({id}, {})", id * 10)).collect();
    (!rows.is_empty()).then(|| format!("INSERT INTO {} VALUES {}", shape.name, rows.join(", ")))
}

fn transaction(rng: &mut Rng, shapes: &[&Shape], locking: bool) -> Vec<String> {
    let mut script = vec!["BEGIN".to_string()];
    for _ in 0..rng.between(2, 6) {
        let shape = *rng.pick(shapes);
        script.push(statement(rng, shape, locking));
    }
    script.push(if rng.ratio(3, 4) { "COMMIT" } else { "ROLLBACK" }.to_string());
    script
}

fn statement(rng: &mut Rng, shape: &Shape, locking: bool) -> String {
    let Shape { name, id, .. } = shape;
    let value = rng.between(1, 12) * 10;
    match rng.below(10) {
        0 | 1 => format!("SELECT * FROM {name} {}", filter(rng, shape)),
        2 => {
            format!("SELECT * FROM {name} {}{}", filter(rng, shape), if locking { " FOR UPDATE" } else { "" })
        }
        3 => {
            format!(
                "SELECT * FROM {name} {}{}",
                filter(rng, shape),
                if locking { " LOCK IN SHARE MODE" } else { "" }
            )
        }
        4 | 5 => format!("UPDATE {name} SET v = {value} {}", filter(rng, shape)),
        6 => format!("UPDATE {name} SET v = v + 1 {}", filter(rng, shape)),
        7 => format!("DELETE FROM {name} {}", filter(rng, shape)),
        _ if shape.counts => format!("INSERT INTO {name}(v) VALUES ({value})"),
        _ => format!("INSERT INTO {name}({id}, v) VALUES ({}, {value})", rng.between(1, 12)),
    }
}

fn filter(rng: &mut Rng, shape: &Shape) -> String {
    let id = shape.id;
    let n = rng.between(1, 12);
    match rng.below(8) {
        0..=3 => format!("WHERE {id} = {n}"),
        4 => format!("WHERE {id} >= {n}"),
        5 => format!("WHERE {id} BETWEEN {n} AND {}", n + 2),
        6 => format!("WHERE v = {}", n * 10),
        _ => format!("WHERE v < {}", n * 5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_is_the_same_case() {
        for number in 0..50 {
            assert_eq!(case(Seed(7), number, Product::Mysql), case(Seed(7), number, Product::Mysql));
        }
        assert_ne!(case(Seed(7), 1, Product::Mysql), case(Seed(7), 2, Product::Mysql));
    }
}

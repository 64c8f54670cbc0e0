//! Small changes of inputs, at random.

use model::Rng;
use serde_json::Value;

/// How inputs are made of seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes are changed, put in and taken out.
    Bytes,
    /// The seeds are JSON, and so are three quarters of what is made of them: parts are changed, put in and taken out.
    Json,
}

/// Longer inputs say nothing new.
const LONGEST: usize = 1 << 14;

/// What parsers look for.
const WORDS: [&str; 52] = [
    "'",
    "\"",
    "`",
    ";",
    "--",
    "/*",
    "*/",
    "#",
    "\\",
    "\\'",
    "$$",
    "(",
    ")",
    ",",
    "=>",
    "@",
    "?",
    "&",
    "=",
    "://",
    "%2F",
    "[",
    "]",
    "{",
    "}",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{feff}",
    "\u{1b}[2J",
    "\u{202e}",
    "é",
    "日本",
    "NULL",
    "SELECT ",
    " FROM t",
    "BEGIN",
    "COMMIT",
    "setup\n",
    "steps\n",
    "final\n",
    "T1: ",
    "0",
    "-1",
    "18446744073709551616",
    "1e999",
    "0x",
    "null",
    "[]",
    "{}",
    "true",
];

impl Change {
    pub fn of(self, rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = rng.pick(seeds).clone();
        let (times, by_parts) = (rng.between(1, 6), self == Change::Json && !rng.ratio(1, 4));
        if by_parts && let Ok(mut value) = serde_json::from_slice(&input) {
            let other = serde_json::from_slice(rng.pick(seeds).as_slice()).unwrap_or(Value::Null);
            (0..times).for_each(|_| part(rng, &mut value, &other));
            return serde_json::to_vec(&value).unwrap_or_default();
        }
        (0..times).for_each(|_| bytes(rng, &mut input, seeds));
        input.truncate(if self == Change::Json { usize::MAX } else { LONGEST });
        input
    }
}

fn bytes(rng: &mut Rng, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let place = rng.below(input.len() + 1);
    let end = input.len().min(place + rng.between(1, 16));
    match rng.below(8) {
        0 if place < input.len() => input[place] ^= 1 << rng.below(8),
        1 if place < input.len() => input[place] = rng.bits() as u8,
        2 => drop(input.drain(place..end)),
        3 => {
            let copied = input[place..end].to_vec();
            let to = rng.below(input.len() + 1);
            input.splice(to..to, copied);
        }
        4 => {
            let other = rng.pick(seeds);
            let from = rng.below(other.len() + 1);
            let to = other.len().min(from + rng.between(1, 64));
            input.splice(place..place, other[from..to].iter().copied());
        }
        5 => input.truncate(place),
        6 => {
            let other = rng.pick(seeds);
            input.truncate(place);
            input.extend_from_slice(&other[rng.below(other.len() + 1)..]);
        }
        _ => {
            let word = rng.pick(&WORDS).bytes();
            input.splice(place..place, word);
        }
    }
}

/// Changes one part of a tree.
fn part(rng: &mut Rng, value: &mut Value, other: &Value) {
    let new = leaf(rng, other);
    let at = somewhere(rng, value);
    match at {
        Value::Array(items) if !items.is_empty() && rng.ratio(1, 2) => {
            let place = rng.below(items.len());
            match rng.below(3) {
                0 => drop(items.remove(place)),
                1 => items.push(items[place].clone()),
                _ => items.insert(place, new),
            }
        }
        Value::Object(fields) if !fields.is_empty() && rng.ratio(1, 2) => {
            let name = fields.keys().nth(rng.below(fields.len())).cloned().unwrap_or_default();
            match rng.ratio(1, 2) {
                true => drop(fields.remove(&name)),
                false => drop(fields.insert(name, new)),
            }
        }
        Value::String(text) if rng.ratio(2, 3) => {
            let mut changed = std::mem::take(text).into_bytes();
            bytes(rng, &mut changed, &[new.to_string().into_bytes()]);
            *text = String::from_utf8_lossy(&changed).into_owned();
        }
        Value::Number(number) if rng.ratio(2, 3) => {
            let near = number.as_u64().unwrap_or(0);
            *at = rng
                .pick(&[near.wrapping_add(1), near.wrapping_sub(1), 0, u64::MAX, 1 << 32, near ^ 4])
                .to_owned()
                .into();
        }
        _ => *at = new,
    }
}

/// Something else to be put in: a word, a number, or a part of another input.
fn leaf(rng: &mut Rng, other: &Value) -> Value {
    match rng.below(4) {
        0 => rng.pick(&WORDS).to_string().into(),
        1 => rng.pick(&[0, 1, 2, 99, u64::MAX]).to_owned().into(),
        2 => Value::Null,
        _ => somewhere(rng, &mut other.clone()).clone(),
    }
}

/// A part of a tree, the deeper ones more often.
fn somewhere<'a>(rng: &mut Rng, value: &'a mut Value) -> &'a mut Value {
    let mut at = value;
    loop {
        let below = match &*at {
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            _ => 0,
        };
        if below == 0 || rng.ratio(1, 8) {
            return at;
        }
        let place = rng.below(below);
        at = match at {
            Value::Array(items) => &mut items[place],
            Value::Object(fields) => match fields.values_mut().nth(place) {
                Some(value) => value,
                None => unreachable!("there are so many"),
            },
            _ => unreachable!("it has nothing below it"),
        };
    }
}

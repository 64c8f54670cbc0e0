//! Where there is no tree: drops tokens of a step, many in a row first. Parentheses go in pairs.

use dialect::sql;

use crate::{
    edit::{pieces, with_text},
    view::{Candidate, View},
};

/// At most this many tokens are looked at; a longer text is not worth the runs.
const MOST: usize = 80;

/// Without some tokens of one step that has no tree.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for at in 0..view.case.steps.len() {
        if view.step(at).is_some() {
            continue;
        }
        let Ok(tokens) = sql::split_tokens(view.product(), &view.case.steps[at].sql) else { continue };
        if tokens.len() > MOST {
            continue;
        }
        for piece in pieces(tokens.len(), 1).into_iter().chain(groups(&tokens)) {
            // What a statement begins with says what it is.
            if piece.start == 0 || !balanced(&tokens[piece.clone()]) {
                continue;
            }
            let text = without(&view.case.steps[at].sql, &tokens, piece);
            let case = with_text(view.case, at, text);
            found.push(Candidate { operation: "drop tokens", case });
        }
    }
    found
}

/// The text without a piece of its tokens; what stood before each of the others stays.
fn without(text: &str, tokens: &[String], piece: std::ops::Range<usize>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    for (at, token) in tokens.iter().enumerate() {
        let Some(start) = rest.find(token.as_str()) else { break };
        let end = start + token.len();
        if !piece.contains(&at) {
            out.push_str(&rest[..end]);
        }
        rest = &rest[end..];
    }
    out
}

/// What stands in parentheses, with them.
fn groups(tokens: &[String]) -> Vec<std::ops::Range<usize>> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" => open.push(at),
            ")" => found.extend(open.pop().map(|start| start..at + 1)),
            _ => {}
        }
    }
    found.reverse();
    found
}

fn balanced(tokens: &[String]) -> bool {
    let mut depth = 0i32;
    for token in tokens {
        match token.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

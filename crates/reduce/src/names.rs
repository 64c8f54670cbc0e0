//! Which names a statement mentions, by its tokens: enough to know that nobody mentions one.

use dialect::sql;
use model::Product;

/// May the statement mention this name? A text that has no tokens may mention anything.
pub fn mentions(product: Product, text: &str, name: &str) -> bool {
    match sql::split_tokens(product, text) {
        Ok(tokens) => tokens.iter().any(|token| {
            let bare = token.trim_matches(['`', '"', '[', ']']);
            bare.eq_ignore_ascii_case(name)
        }),
        Err(_) => true,
    }
}

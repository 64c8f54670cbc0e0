//! String constants: from what they mean to how they are written, and back.

use model::Product;

use super::rules::Rules;

/// How a string is written as a constant.
pub fn text_literal(product: Product, value: &str) -> String {
    let doubled = value.replace('\'', "''");
    let escaped = if Rules::of(product).backslash { doubled.replace('\\', "\\\\") } else { doubled };
    format!("'{escaped}'")
}

/// What a string constant means, given as written, with its quotes; none if it is not one.
pub fn text_value(product: Product, literal: &str) -> Option<String> {
    let rules = Rules::of(product);
    if let Some(escaped) = literal.strip_prefix(['e', 'E']).filter(|_| rules.escape_strings) {
        return escape_string(escaped);
    }
    let quote = literal.chars().next().filter(|c| *c == '\'' || (*c == '"' && rules.double_quoted_text))?;
    let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c == quote {
            // Doubled; the lexer lets no single one through.
            chars.next();
            value.push(c);
        } else if c == '\\' && rules.backslash {
            match chars.next()? {
                '0' => value.push('\0'),
                'b' => value.push('\x08'),
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                'Z' => value.push('\x1a'),
                // These two keep their backslash, for LIKE.
                wild @ ('%' | '_') => value.extend(['\\', wild]),
                other => value.push(other),
            }
        } else {
            value.push(c);
        }
    }
    Some(value)
}

/// What PostgreSQL's `E'..'` means, given from its quote on; none with escapes by number, which we do not read.
fn escape_string(literal: &str) -> Option<String> {
    let inner = literal.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                // Doubled; the lexer lets no single one through.
                chars.next();
                value.push(c);
            }
            '\\' => match chars.next()? {
                'b' => value.push('\x08'),
                'f' => value.push('\x0c'),
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                'x' | 'u' | 'U' | '0'..='7' => return None,
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    Some(value)
}

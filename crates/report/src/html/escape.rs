//! Makes text from elsewhere harmless in HTML and SVG, in elements and in attributes alike.

/// Escaped. Characters that a page cannot show, or that would change the direction of what stands around them, are written out.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\n' | '\t' => out.push(c),
            c if c.is_control() || turns(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Marks that turn the direction of writing.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_element() {
        assert_eq!(escape("<script>'\"&\u{0}\u{202e}"), "&lt;script&gt;&#39;&quot;&amp;\\u{0}\\u{202e}");
        assert_eq!(escape("a\n\tb"), "a\n\tb");
    }
}

//! Makes text from elsewhere harmless in HTML and SVG, in elements and in attributes alike.

use std::fmt::{self, Write};

use askama::filters::Escaper;

use crate::text::obeyed;

/// The escaper of all templates (see `askama.toml`). Characters that a page cannot show, or that would change the direction of what
/// stands around them, are written out.
#[derive(Clone, Copy)]
pub struct Page;

impl Escaper for Page {
    fn write_escaped_str<W: Write>(&self, mut to: W, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| match c {
            '&' => to.write_str("&amp;"),
            '<' => to.write_str("&lt;"),
            '>' => to.write_str("&gt;"),
            '"' => to.write_str("&quot;"),
            '\'' => to.write_str("&#39;"),
            '\n' | '\t' => to.write_char(c),
            c if obeyed(c) => write!(to, "{}", c.escape_unicode()),
            c => to.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    #[derive(askama::Template)]
    #[template(source = "<a title=\"{{ text }}\">{{ text }}</a>", ext = "html")]
    struct Link<'a> {
        text: &'a str,
    }

    #[test]
    fn nothing_gets_out_of_its_element() {
        let escaped = "&lt;script&gt;&#39;&quot;&amp;\\u{0}\\u{202e}";
        let link = Link { text: "<script>'\"&\u{0}\u{202e}" };
        assert_eq!(crate::html::render(link), format!("<a title=\"{escaped}\">{escaped}</a>"));
        assert_eq!(crate::html::render(Link { text: "a\n\tb" }), "<a title=\"a\n\tb\">a\n\tb</a>");
    }
}

//! What every page has: its head, its foot, and nothing from elsewhere.

use super::{
    escape::escape,
    style::{CSS, SCRIPT},
};

/// A whole page. `body` is HTML already.
pub fn page(title: &str, body: &str, foot: &str) -> String {
    // The policy lets the browser itself see to it that nothing is fetched.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
    let css: String = CSS.lines().collect::<Vec<_>>().join("\n");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>{css}</style>\n</head>\n<body>\n<main>\n{body}\n\
         <footer>{}</footer>\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        escape(title),
        escape(foot),
    )
}

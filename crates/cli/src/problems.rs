//! Shows what is wrong with a case file, with the line that it is about.
//!
//! ```text
//! error: a COMMIT without a BEGIN
//!   --> lost-update.iso:14:3
//!    |
//! 14 |   T3: COMMIT;
//!    |   ^^ T3 has no open transaction here; T1 and T2 do
//! ```

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use model::casefile::Problem;

/// One problem of a file, ready to be printed. It ends without a line feed.
pub fn render(file: &str, text: &str, problem: &Problem, colour: bool) -> String {
    // A byte order mark is no column of the file.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let marked = AnnotationKind::Primary.span(span(text, problem)).label(problem.label.as_str());
    let snippet = Snippet::source(text).path(file).annotation(marked);
    let mut group: Group<'_> = Level::ERROR.primary_title(problem.message.as_str()).element(snippet);
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// All problems of a file, one below the other with a blank line between them.
pub fn render_all(file: &str, text: &str, problems: &[Problem], colour: bool) -> String {
    let all: Vec<String> = problems.iter().map(|problem| render(file, text, problem, colour)).collect();
    all.join("\n\n")
}

/// The bytes of the text that a problem is about. A place behind the end of the text is its end.
fn span(text: &str, problem: &Problem) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(problem.line.saturating_sub(1)).map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or("");
    let byte = |column: usize| line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let first = problem.column.saturating_sub(1);
    start + byte(first)..start + byte(first + problem.length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let problems = model::casefile::parse(text).expect_err("the text is wrong");
        render_all("lost-update.iso", text, &problems, false)
    }

    #[test]
    fn the_line_is_shown_with_the_place_and_the_reason() {
        let steps = "  T1: SELECT 1;\n".repeat(10);
        let text = format!("steps\n{steps}  T1: BEGIN;\n  T2: BEGIN;\n  T3: COMMIT;\n");
        assert_eq!(
            shown(&text),
            "\
error: a COMMIT without a BEGIN
  --> lost-update.iso:14:3
   |
14 |   T3: COMMIT;
   |   ^^ T3 has no open transaction here; T1 and T2 do"
        );
    }

    #[test]
    fn several_problems_with_help_in_any_alphabet() {
        assert_eq!(
            shown("\u{feff}titel  é\r\nsteps\r\n  T1: SELECT 'é'"),
            "\
error: unknown key `titel`
 --> lost-update.iso:1:1
  |
1 | titel  é
  | ^^^^^ not known here
  |
  = help: did you mean `title`?

error: `;` is missing
 --> lost-update.iso:3:17
  |
3 |   T1: SELECT 'é'
  |                 ^ the statement has no end
  |
  = help: every statement ends with `;`, also the last one"
        );
    }

    #[test]
    fn colour_only_where_it_is_wanted() {
        let problems = model::casefile::parse("stesp").expect_err("the text is wrong");
        assert!(render("a.iso", "stesp", &problems[0], true).contains('\u{1b}'));
        assert!(!render("a.iso", "stesp", &problems[0], false).contains('\u{1b}'));
    }
}

//! Expected against actual, side by side.

use super::escape::escape;
use crate::{
    compare::{About, Compared, Side},
    finding::Finding,
    text,
};

/// The section.
pub fn section(finding: &Finding, compared: &Compared) -> String {
    let about = match &compared.about {
        About::Step(step) => format!(
            "Step {} of {}: <code>{}</code>",
            step + 1,
            escape(finding.session(finding.case.steps[*step].session)),
            escape(&text::clean(&finding.case.steps[*step].sql))
        ),
        About::Table(table) => format!("The rows of <code>{}</code> in the end", escape(table)),
        About::Run => "The run as a whole".to_string(),
    };
    let expected = match &compared.expected {
        Some(side) => self::side(side, &compared.columns),
        None => {
            "<p class=\"soft\">No oracle says what should have come; what came is impossible by itself.</p>"
                .to_string()
        }
    };
    format!(
        "<section id=\"compared\">\n<h2>Expected and actual</h2>\n<p class=\"lead\">{about}</p>\n<div class=\"pair\">\n\
         <div class=\"card expected\"><h3>Expected</h3>{expected}</div>\n\
         <div class=\"card bad actual\"><h3>Actual</h3>{}</div>\n</div>\n</section>\n",
        self::side(&compared.actual, &compared.columns)
    )
}

fn side(side: &Side, columns: &[String]) -> String {
    match side {
        Side::Words(words) => format!("<p class=\"mono\">{}</p>", escape(words)),
        Side::Rows(rows) if rows.is_empty() => "<p class=\"soft\">no rows</p>".to_string(),
        Side::Rows(rows) => {
            let head: String = columns.iter().map(|name| format!("<th>{}</th>", escape(name))).collect();
            let body: String = rows
                .iter()
                .map(|row| {
                    let cells: String =
                        row.cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
                    format!("<tr{}>{cells}</tr>", if row.odd { " class=\"odd\"" } else { "" })
                })
                .collect();
            format!(
                "<div class=\"scroll\"><table class=\"rows\"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            )
        }
    }
}

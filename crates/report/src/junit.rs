//! JUnit XML, which most build servers read: a suite per target, a failure per kind of finding.

/// A suite.
pub struct Suite {
    /// Its name: the target.
    pub name: String,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// What was tried.
    pub cases: Vec<Tried>,
}

/// Something that was tried.
pub struct Tried {
    /// Its name.
    pub name: String,
    /// What came of it.
    pub result: Came,
}

/// What came of it.
pub enum Came {
    /// Nothing was found.
    Well,
    /// Something was found: one line, and the rest.
    Failed(String, String),
    /// It could not be done.
    Broken(String),
    /// Found, and known already.
    Known(String),
}

/// The file.
pub fn junit(suites: &[Suite]) -> String {
    let mut out =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"isopod hunt\">\n");
    for suite in suites {
        let count = |of: fn(&Came) -> bool| suite.cases.iter().filter(|case| of(&case.result)).count();
        out += &format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}.{:03}\">\n",
            escaped(&suite.name),
            suite.cases.len(),
            count(|came| matches!(came, Came::Failed(..))),
            count(|came| matches!(came, Came::Broken(_))),
            count(|came| matches!(came, Came::Known(_))),
            suite.millis / 1000,
            suite.millis % 1000,
        );
        for case in &suite.cases {
            let (suite, name) = (escaped(&suite.name), escaped(&case.name));
            out += &format!("    <testcase classname=\"{suite}\" name=\"{name}\">");
            out += &match &case.result {
                Came::Well => String::new(),
                Came::Failed(line, rest) => {
                    format!("<failure message=\"{}\">{}</failure>", escaped(line), escaped(rest))
                }
                Came::Broken(why) => format!("<error message=\"{}\"/>", escaped(why)),
                Came::Known(name) => format!("<skipped message=\"known: {}\"/>", escaped(name)),
            };
            out += "</testcase>\n";
        }
        out += "  </testsuite>\n";
    }
    out + "</testsuites>\n"
}

/// XML has no way to write most control characters at all.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' => out += "&#10;",
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_written_otherwise() {
        let suite = Suite {
            name: "mysql@9.7?a=1&b=2".into(),
            millis: 61_007,
            cases: vec![
                Tried { name: "crash".into(), result: Came::Failed("a < b".into(), "one\ntwo\u{1}".into()) },
                Tried { name: "rest".into(), result: Came::Well },
            ],
        };
        expect_test::expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="isopod hunt">
              <testsuite name="mysql@9.7?a=1&amp;b=2" tests="2" failures="1" errors="0" skipped="0" time="61.007">
                <testcase classname="mysql@9.7?a=1&amp;b=2" name="crash"><failure message="a &lt; b">one&#10;two�</failure></testcase>
                <testcase classname="mysql@9.7?a=1&amp;b=2" name="rest"></testcase>
              </testsuite>
            </testsuites>
        "#]]
        .assert_eq(&junit(&[suite]));
    }
}

//! Random cases: what is written is read back as it was, formatting twice changes nothing, and no comment is lost.

use model::{
    Case, ErrorClass, Expectation, Expected, FinalState, KnownFailure, Level, Product, Selector, SessionSpec,
    Setup, Step, Version,
    casefile::{format, parse, print},
    expect::{ErrorMatch, ExpectedReply, Literal, ServerMatch},
};
use proptest::{collection::vec, option, prelude::*, sample::select};

fn literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        Just(Literal::Null),
        "-?[0-9]{1,4}(\\.[0-9]{1,3})?(e-?[0-9]{1,2})?".prop_map(Literal::Number),
        "[a-z'\";,()=>\\\\ é\n-]{0,8}".prop_map(Literal::Text),
        vec(any::<u8>(), 0..4).prop_map(Literal::Bytes),
    ]
}

fn rows() -> impl Strategy<Value = Vec<Vec<Literal>>> {
    (1usize..4).prop_flat_map(|width| vec(vec(literal(), width), 0..9))
}

fn table_rows() -> impl Strategy<Value = Expected> {
    rows().prop_map(|rows| Expected {
        waits: false,
        answer: Some(ExpectedReply::Rows { ordered: false, rows }),
    })
}

fn expected() -> impl Strategy<Value = Expected> {
    let what = prop_oneof![
        select(ErrorClass::ALL).prop_map(ErrorMatch::Class),
        any::<u32>().prop_map(ErrorMatch::Code),
        "([0-9][0-9A-Z][A-Z][0-9]{2}|0[0-9]{4}|XX[0-9]{3})".prop_map(ErrorMatch::State),
    ];
    let answer = prop_oneof![
        Just(ExpectedReply::Ok),
        Just(ExpectedReply::RolledBack),
        any::<(u64, Option<u64>)>().prop_map(|(count, of)| ExpectedReply::Affected { count, of }),
        (any::<bool>(), rows()).prop_map(|(ordered, rows)| ExpectedReply::Rows { ordered, rows }),
        (what, any::<Option<bool>>()).prop_map(|(what, over)| ExpectedReply::Error { what, over }),
    ];
    prop_oneof![
        1 => Just(Expected { waits: true, answer: None }),
        9 => (any::<bool>(), answer).prop_map(|(waits, answer)| Expected { waits, answer: Some(answer) }),
    ]
}

fn server() -> impl Strategy<Value = ServerMatch> {
    let version = || vec(0u32..12, 1..4).prop_map(Version);
    let range = prop_oneof![
        Just((None, None)),
        version().prop_map(|v| (Some(v.clone()), Some(v))),
        version().prop_map(|v| (Some(v), None)),
        version().prop_map(|v| (None, Some(v))),
        (version(), version()).prop_map(|(a, b)| (Some(a.clone().min(b.clone())), Some(a.max(b)))),
    ];
    let settings = proptest::collection::btree_map("[a-z_]{1,6}", "[A-Za-z0-9_.,:'\\] =-]{0,6}", 0..3);
    (select(&Product::ALL[..]), range, settings).prop_map(|(product, (from, to), settings)| ServerMatch {
        product,
        from,
        to,
        settings,
    })
}

fn selector() -> impl Strategy<Value = Selector> {
    let levels = proptest::sample::subsequence(Level::ALL.to_vec(), 0..=4).prop_shuffle();
    (levels, vec(server(), 0..3)).prop_map(|(levels, servers)| Selector { levels, servers })
}

/// Those that do not contradict each other; that is another test's matter.
fn expectations(then: impl Strategy<Value = Expected>) -> impl Strategy<Value = Vec<Expectation>> {
    let one = (selector(), then).prop_map(|(when, then)| Expectation { when, then });
    vec(one, 0..4).prop_map(|all| {
        let mut kept: Vec<Expectation> = Vec::new();
        for next in all {
            if !kept.iter().any(|have| have.when.overlaps(&next.when)) {
                kept.push(next);
            }
        }
        kept
    })
}

/// Statements with everything that can mislead a reader: quotes, comments, further lines, odd indentation.
fn sql() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z(),=<>*é:]{1,8}",
        "'([a-z;:\"\n =>]|''|--|\\\\')*'",
        "\"[a-z;' \n]*\"",
        "`[a-z;' ]*`",
        "/\\*[a-z;' \n]*\\*/",
        Just("\n".to_string()),
        "\n {1,9}",
        "-- [a-z;'=>]{0,5}\n",
    ];
    (vec(piece, 0..6), option::of("-- [a-z;' ]{0,5}[a-z]")).prop_map(|(pieces, comment)| {
        // The first letters keep it from beginning with a keyword, the `.` keeps lines from looking like steps.
        let pieces: Vec<String> = pieces.into_iter().map(|piece| piece.replace('\n', "\n.")).collect();
        let text = format!("SELECT {} .{}", pieces.join(" "), comment.unwrap_or_default());
        text.replace("\n. ", "\n ").replace("\n ", "\n .")
    })
}

fn session(index: usize) -> impl Strategy<Value = SessionSpec> {
    (option::of(select(&Level::ALL[..])), any::<bool>()).prop_map(move |(level, autocommit)| SessionSpec {
        name: format!("T{index}"),
        level,
        autocommit,
    })
}

const TABLES: [&str; 3] = ["t", "other", "a b`c"];

fn known_failure(steps: usize) -> impl Strategy<Value = KnownFailure> {
    let steps = proptest::collection::btree_map(0..steps, expected(), 1..3)
        .prop_map(|steps| steps.into_iter().collect::<Vec<_>>());
    let tables =
        proptest::collection::btree_map(select(&TABLES[..]), table_rows(), 0..3).prop_map(|tables| {
            tables.into_iter().map(|(table, rows)| (table.to_string(), rows)).collect::<Vec<_>>()
        });
    (selector(), steps, tables).prop_map(|(at, steps, final_state)| KnownFailure { at, steps, final_state })
}

fn case() -> impl Strategy<Value = Case> {
    (1usize..5, 1usize..8).prop_flat_map(|(sessions, steps)| {
        let sessions_all: Vec<_> = (1..=sessions).map(session).collect();
        let step = (0..sessions, sql(), expectations(expected())).prop_map(|(session, sql, expect)| Step {
            session,
            sql,
            expect,
        });
        let states = proptest::collection::btree_map(select(&TABLES[..]), expectations(table_rows()), 0..3)
            .prop_map(|states| {
                let all = states.into_iter().filter(|(_, expect)| !expect.is_empty());
                all.map(|(table, expect)| FinalState { table: table.to_string(), expect }).collect::<Vec<_>>()
            });
        let fails = vec(known_failure(steps), 0..3).prop_map(|all| {
            let mut kept: Vec<KnownFailure> = Vec::new();
            for next in all {
                if !kept.iter().any(|have| have.at.overlaps(&next.at)) {
                    kept.push(next);
                }
            }
            kept
        });
        (
            "([A-Za-z][A-Za-z',;:]{0,9}( [a-z'é-]{0,9}[a-z]){0,3})?",
            vec("[A-Za-z#0-9-]{3,9}", 0..3),
            vec("[A-Za-z][a-z,;:']{0,9}( [a-z0-9]{1,9}){0,2}", 0..3),
            proptest::sample::subsequence(Product::ALL.to_vec(), 0..=3),
            sessions_all.prop_shuffle(),
            vec(sql(), 0..3),
            vec(step, steps),
            states,
            fails,
        )
            .prop_map(
                |(title, links, notes, products, sessions, statements, steps, final_state, fails)| Case {
                    title,
                    links: links.into_iter().map(|link| format!("L{link}")).collect(),
                    notes,
                    products,
                    sessions,
                    setup: Setup { statements },
                    steps,
                    final_state,
                    fails,
                },
            )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_case_is_read_back_as_it_was(case in case()) {
        let text = print(&case).map_err(|error| TestCaseError::fail(format!("{error}\n{case:#?}")))?;
        let file = parse(&text).map_err(|problems| TestCaseError::fail(format!("{problems:#?}\n{text}")))?;
        prop_assert_eq!(file.case(), &case);
        prop_assert_eq!(file.format(), text);
    }

    #[test]
    fn comments_survive_and_formatting_twice_is_formatting_once(
        case in case().prop_map(one_line),
        spots in vec((any::<prop::sample::Index>(), 0usize..4, any::<bool>()), 0..12),
    ) {
        let text = print(&case).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let messy = with_comments(&text, &spots);
        let formatted = format(&messy)
            .map_err(|problems| TestCaseError::fail(format!("{problems:#?}\n{messy}")))?;
        let again = parse(&formatted).unwrap();
        prop_assert_eq!(again.case(), &case);
        prop_assert_eq!(comments(&formatted), comments(&messy));
        prop_assert_eq!(format(&formatted).unwrap(), formatted);
    }
}

/// The same without statements and values of several lines: there a comment would be part of the text.
fn one_line(mut case: Case) -> Case {
    fn flatten(expected: &mut Expected) {
        if let Some(ExpectedReply::Rows { rows, .. }) = &mut expected.answer {
            for literal in rows.iter_mut().flatten() {
                if let Literal::Text(text) = literal {
                    *text = text.replace('\n', " ");
                }
            }
        }
    }
    let statements = case.setup.statements.iter_mut().chain(case.steps.iter_mut().map(|step| &mut step.sql));
    for sql in statements.filter(|sql| sql.contains('\n') || sql.contains("--")) {
        *sql = format!("SELECT {}", sql.len());
    }
    let by_step = case.steps.iter_mut().flat_map(|step| &mut step.expect);
    let by_table = case.final_state.iter_mut().flat_map(|state| &mut state.expect);
    by_step.chain(by_table).for_each(|expectation| flatten(&mut expectation.then));
    for group in &mut case.fails {
        group.steps.iter_mut().for_each(|(_, expected)| flatten(expected));
        group.final_state.iter_mut().for_each(|(_, expected)| flatten(expected));
    }
    case
}

/// Puts numbered comments and blank lines between lines and behind them.
fn with_comments(text: &str, spots: &[(prop::sample::Index, usize, bool)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for (number, (spot, indentation, behind)) in spots.iter().enumerate() {
        let at = spot.index(lines.len() + 1);
        if *behind && at > 0 && !lines[at - 1].contains("-- #") {
            lines[at - 1].push_str(&format!(" -- #{number}"));
        } else {
            lines.insert(at, format!("\n\n{}-- #{number}\n", " ".repeat(*indentation)));
        }
    }
    lines.join("\n")
}

fn comments(text: &str) -> Vec<&str> {
    text.match_indices("-- #").map(|(at, _)| text[at..].split([' ', '\n']).nth(1).unwrap_or("")).collect()
}

//! A shell script that drives the product's own command-line client, one for each session, in the real order.
//!
//! Each client reads from a pipe. Behind each statement stands a command of the client itself (`\!`), which writes the number of
//! the step into a file: so it is known when the answer is there, and nothing is sent to the server that is not in the case. A
//! statement that waited when it was found is not waited for; the script goes on when the server says that it waits. An answer that takes longer than
//! LIMIT is another one: a lock wait that runs into its timeout must not pass for one that somebody ended.

use dialect::Client;
use model::{Reply, RowSet, shell::quoted, verdict::Response};

use super::{
    STILL, UNBLOCKED,
    client::{comment, ended, greeting, name, one_line, schema},
    harmless::{self, Withheld},
    order::{Act, acts, came_after_stall},
    stalled,
};
use crate::{bug_report::BugReport, text};

/// The script; none where there is no server.
pub fn script(bug: &BugReport) -> Result<Option<String>, Withheld> {
    let dialect = dialect::of(bug.product());
    let (Some(client), Some(terminal)) = (&dialect.client, &dialect.terminal) else { return Ok(None) };
    harmless::check(bug, &terminal.commands)?;
    let mut out = head(bug, client);
    let mut heredoc = Heredocs(0);
    out += "# The tables.\n";
    let setup: Vec<String> = bug.execution.case.setup.statements.iter().map(|sql| ended(sql)).collect();
    out += &heredoc.feed("setup", &setup.join("\n"));
    for session in 0..bug.execution.case.sessions.len() {
        out += &format!("\nopen_session {} {}\n", quoted(&name(bug, session)), session + 10);
    }
    for session in 0..bug.execution.case.sessions.len() {
        for sql in greeting(bug, session) {
            out += &format!("quietly {} {}\n", quoted(&name(bug, session)), quoted(&ended(&sql)));
        }
    }
    out += "\n";
    let acts = acts(bug);
    let mut rollbacks = 0;
    let ends_in_stall = matches!(acts.last(), Some(Act::Stall(_)));
    for act in acts {
        let session = |step: usize| quoted(&name(bug, bug.execution.case.steps[step].session));
        let sql = |step: usize| quoted(&ended(&one_line(&bug.execution.case.steps[step].sql)));
        match act {
            Act::Run(step) => out += &format!("step {} {} {}\n", step + 1, session(step), sql(step)),
            Act::Begin(step, count) => {
                out += &format!("step_that_waits {} {} {count} {}\n", step + 1, session(step), sql(step));
            }
            Act::Back(step) => out += &format!("comes_back {} {}\n", step + 1, session(step)),
            Act::RollBack(session) => {
                out += &format!("quietly {} 'ROLLBACK;'\n", quoted(&name(bug, session)));
            }
            Act::Unblock(session) => {
                let name = quoted(&name(bug, session));
                rollbacks += 1;
                out += &format!("# {UNBLOCKED}\nstep r{rollbacks} {name} 'ROLLBACK;'\n");
            }
            Act::Stall(steps) => {
                out += &format!("# {}\n", comment(&stalled(bug, &steps)));
                out += &format!("echo {}\n", quoted(&stalled(bug, &steps)));
                let circle = bug.finding.violation.circle().iter();
                let waits: Vec<String> =
                    circle.map(|&step| format!(" {} {}", session(step), step + 1)).collect();
                if !waits.is_empty() {
                    out += &format!("still_wait {STILL}{}\n", waits.concat());
                }
            }
        }
    }
    let tables = bug.execution.trace.final_state.as_deref().unwrap_or_default();
    // While somebody waits it is not the end.
    for (table, _) in tables.iter().filter(|_| !ends_in_stall) {
        let sql = format!("SELECT * FROM {};", dialect.quoted(table));
        out += &format!("afterwards {} {}\n", quoted(table), quoted(&sql));
    }
    out += &check(bug, client, tables);
    Ok(Some(out))
}

fn head(bug: &BugReport, client: &Client) -> String {
    let own = schema(bug);
    let in_own = |text: &str| text.replace("{schema}", &own);
    format!(
        r##"#!/usr/bin/env bash
# {title}
# {server}
#
# Usage: bash {id}.sh [options of {program}, such as -h HOST -u USER]
# The client is the one that CLIENT names, by default {program}. Passwords belong into its own files or variables.
# It makes the schema {own}, and drops it in the end. LIMIT: so many seconds an answer may take, by default 30.
#
# Exit code: 0 the wrong answer came again, 1 another one came, 2 it could not be run, 3 what came is not checked.
set -u
client=${{CLIENT:-{program}}}
options="{options}"
limit=${{LIMIT:-30}}
args=("$@")
{enter}
work=$(mktemp -d) || exit 2
finish() {{
    for pid in "${{pids[@]:-}}"; do [ -n "$pid" ] && kill "$pid" 2>/dev/null; done
    wait 2>/dev/null
{end_sessions}    [ -n "${{made:-}}" ] && "$client" "${{args[@]}}" <<<{drop} >/dev/null 2>&1
    rm -rf "$work"
}}
pids=()
made=
trap finish EXIT
"$client" "${{args[@]}}" <<<{make} >"$work/made" 2>&1
if [ $? != 0 ] || grep -q '^ERROR' "$work/made"; then cat "$work/made"; exit 2; fi
made=1

# A client that reads from a pipe; its number is that of the file descriptor.
declare -A fd
open_session() {{
    mkfifo "$work/$1.in" && : >"$work/$1.done"
    # The client itself, not a shell around it: it must be gone when it is killed.
    run=exec in_schema "${{args[@]}}" <"$work/$1.in" >"$work/$1.out" 2>&1 &
    pids+=($!)
    eval "exec $2>\"\$work/$1.in\""
    fd[$1]=$2
}}
# The client itself notes when it is done with what came before: no statement is sent for that.
say() {{ printf '%s\n\\! echo %s >>"%s"\n' "$3" "$2" "$work/$1.done" >&"${{fd[$1]}}"; }}
until_done() {{
    local last=$((SECONDS + limit))
    until grep -qx -- "$2" "$work/$1.done"; do
        if [ "$SECONDS" -gt "$last" ]; then
            echo "        no answer within $limit seconds"; echo "another answer came: $1 waits"; exit 1
        fi
        sleep 0.05
    done
}}
show() {{
    # What came since the last look.
    local seen; seen=$(cat "$work/$1.seen" 2>/dev/null || echo 0)
    tail -c "+$((seen + 1))" "$work/$1.out" >"$work/answer-$2"
    wc -c <"$work/$1.out" | tr -d ' ' >"$work/$1.seen"
    tidy "$work/answer-$2"
}}
# Without what the client says of itself.
tidy() {{ sed -e '/^--------------$/,/^--------------$/d' -e '/^$/d' -e '/^Bye$/d' -e '/unknown variable .loose-/d' -e 's/^/        /' "$1"; }}
quiet=0
quietly() {{ quiet=$((quiet + 1)); say "$1" "q$quiet" "$2"; until_done "$1" "q$quiet"; show "$1" quiet >/dev/null; }}
step() {{ echo "$1  $2: $3"; say "$2" "$1" "$3"; until_done "$2" "$1"; show "$2" "$1"; }}
step_that_waits() {{
    echo "$1  $2: $4"
    say "$2" "$1" "$4"
    local left=100
    while [ "$("$client" "${{args[@]}}" {plain} <<<{waiting} 2>/dev/null | tr -dc 0-9)" -lt "$3" ] 2>/dev/null; do
        left=$((left - 1))
        if [ "$left" = 0 ]; then echo "        it does not wait, or the server does not let us see it"; return; fi
        sleep 0.05
    done
    echo "        waits"
    : >"$work/waits-$1"
}}
# Have these steps not answered so many seconds later? Each is a session and a number.
stands=
still_wait() {{
    local seconds=$1; shift
    sleep "$seconds"
    while [ $# != 0 ]; do
        if grep -qx -- "$2" "$work/$1.done"; then comes_back "$2" "$1"; return; fi
        echo "$2  $1 still waits after $seconds seconds"
        shift 2
    done
    stands=1
}}
comes_back() {{ echo "$1  $2 goes on"; until_done "$2" "$1"; show "$2" "$1"; }}
afterwards() {{ echo "in the end, $1:"; in_schema "${{args[@]}}" <<<"$2" >"$work/answer-end-$1" 2>&1; tidy "$work/answer-end-$1"; }}
rows_of() {{ <"$work/answer-$1" {rows} | LC_ALL=C sort; }}

"##,
        title = comment(&bug.title()),
        server = comment(&bug.server_text()),
        id = bug.finding.id,
        program = client.program,
        options = client.options,
        enter = in_own(client.in_schema),
        make = quoted(&in_own(client.create_schema)),
        drop = quoted(&in_own(client.drop_schema)),
        rows = client.rows,
        end_sessions = client.end_sessions.map_or(String::new(), |sql| format!(
            "    # Those that wait do not see that their clients are gone.\n    \"$client\" \"${{args[@]}}\" {} <<<{} 2>/dev/null | \
             \"$client\" \"${{args[@]}}\" >/dev/null 2>&1\n",
            client.plain,
            quoted(&in_own(sql))
        )),
        waiting = quoted(&format!("{};", client.waiting)),
        plain = client.plain,
    )
}

/// Says whether the wrong answer came again.
fn check(bug: &BugReport, client: &Client, tables: &[(String, RowSet)]) -> String {
    let violation = &bug.finding.violation;
    if !violation.circle().is_empty() {
        return exit(bug, "[ -n \"$stands\" ]");
    }
    if let (Some(step), true) = (violation.step, violation.waits_wrongly()) {
        return exit(bug, &format!("[ -e \"$work/waits-{}\" ]", step + 1));
    }
    if came_after_stall(bug) && matches!(acts(bug).last(), Some(Act::Stall(_))) {
        return format!(
            "\necho {}\nexit 3\n",
            quoted("what was wrong came after Isopod had killed a statement that waited")
        );
    }
    let mut heredoc = Heredocs(100);
    let (answer, rows) = match violation.step {
        Some(step) => match &bug.execution.trace.outcomes[step].reply {
            Reply::Rows(rows) => ((step + 1).to_string(), rows),
            Reply::Done { affected, matched } => {
                return by_words(bug, step, &(client.done)(*affected, *matched));
            }
            Reply::Error(error) => {
                return by_words(bug, step, &(client.error)(error.code, &error.sqlstate));
            }
            _ => return unchecked(),
        },
        None => {
            let table = match &violation.evidence.expected {
                Some(Response::FinalState(of)) => tables.iter().find(|(table, _)| *table == of.table),
                _ => None,
            };
            match table {
                Some((table, rows)) => (format!("end-{table}"), rows),
                None => return unchecked(),
            }
        }
    };
    let Some(mut lines) = lines(client, rows) else { return unchecked() };
    lines.sort();
    let came = heredoc.text(&lines.join("\n"));
    let rows = format!("[ \"$(rows_of {})\" = \"$({came})\" ]", quoted(&answer));
    format!("\n# The rows that came when it was found.{}", exit(bug, &rows))
}

fn by_words(bug: &BugReport, step: usize, words: &str) -> String {
    exit(bug, &format!("grep -q {} \"$work/answer-{}\"", quoted(words), step + 1))
}

/// The end of the script: the condition says whether the wrong answer came again.
fn exit(bug: &BugReport, condition: &str) -> String {
    let expected = bug.expected().map_or(String::new(), |told| format!("; expected {}", comment(&told)));
    format!(
        "\nif {condition}; then\n    echo {}\n    exit 0\nfi\necho 'another answer came'\nexit 1\n",
        quoted(&format!("the wrong answer came again{expected}"))
    )
}

fn unchecked() -> String {
    "\necho 'look at the answers above: this script does not check them'\nexit 3\n".to_string()
}

/// The rows as the client writes them; none where that cannot be told from the lines of others.
fn lines(client: &Client, rows: &RowSet) -> Option<Vec<String>> {
    let cell = |row: usize, column: usize| -> Option<String> {
        let Some(bytes) = rows.cell(row, column) else { return Some("NULL".into()) };
        let text = std::str::from_utf8(bytes).ok()?;
        let plain = !text.chars().any(|c| c.is_control() || c == '|' || c == '\'') && !text.contains("  ");
        plain.then(|| text.to_string())
    };
    (0..rows.len())
        .map(|row| {
            let cells: Option<Vec<String>> =
                (0..rows.columns().len()).map(|column| cell(row, column)).collect();
            let cells = cells?;
            if !client.boxes {
                return Some(cells.join("|"));
            }
            let cells: Vec<String> = cells.iter().map(|cell| format!(" {cell} ")).collect();
            // Blanks in a row are written once, whatever the width of the column.
            Some(text::squeeze(&format!("|{}|", cells.join("|"))))
        })
        .collect()
}

/// Texts that stand in the script as they are.
struct Heredocs(usize);

impl Heredocs {
    /// Feeds a text to a client of its own.
    fn feed(&mut self, what: &str, text: &str) -> String {
        let end = self.end(text);
        format!(
            "in_schema \"${{args[@]}}\" >\"$work/{what}\" 2>&1 <<'{end}'\n{text}\n{end}\n\
             if [ $? != 0 ] || grep -q '^ERROR' \"$work/{what}\"; then cat \"$work/{what}\"; exit 2; fi\n"
        )
    }

    /// Prints a text.
    fn text(&mut self, text: &str) -> String {
        let end = self.end(text);
        format!("cat <<'{end}'\n{text}\n{end}\n")
    }

    /// An end that the text does not hold.
    fn end(&mut self, text: &str) -> String {
        loop {
            self.0 += 1;
            let end = format!("END_{}", self.0);
            if !text.contains(&end) {
                return end;
            }
        }
    }
}

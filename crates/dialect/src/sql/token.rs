//! Text to tokens. Comments and blanks go; whatever a server would read in a way of its own (a comment with
//! an exclamation mark, a character set before a string) is refused rather than guessed at.

use model::sql::Quote;

use super::{Opaque, rules::Rules};

/// What kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes.
    Quoted(Quote),
    /// A number without sign.
    Number,
    /// A string.
    Text,
    /// `x'32'`
    Bytes,
    /// `@x`, `@@x`
    Variable,
    /// An operator or a mark.
    Symbol,
    /// `/*+ ... */`: an optimizer hint, whole.
    Hint,
}

/// A token: a piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    /// As written, quotes included.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub at: usize,
    /// Does it follow the token before it without a blank?
    pub tight: bool,
}

/// The tokens of a text.
pub(super) fn tokens<'a>(rules: &Rules, text: &'a str) -> Result<Vec<Token<'a>>, Opaque> {
    let mut lexer = Lexer { rules, text, at: 0 };
    let mut found: Vec<Token<'a>> = Vec::with_capacity(text.len() / 3);
    loop {
        let before = lexer.at;
        lexer.skip_blanks()?;
        let start = lexer.at;
        if start == text.len() {
            return Ok(found);
        }
        let after_name = found
            .last()
            .is_some_and(|t| matches!(t.kind, TokenKind::Word | TokenKind::Quoted(_)) && before == start);
        let kind = lexer.token(after_name)?;
        found.push(Token { kind, text: &text[start..lexer.at], at: start, tight: before == start });
    }
}

/// The name in a quoted identifier, its quotes taken off.
pub(super) fn unquote(text: &str) -> String {
    let Some(first) = text.chars().next() else { return String::new() };
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    if first == '[' {
        inner.to_string()
    } else {
        inner.replace(&format!("{first}{first}"), &first.to_string())
    }
}

struct Lexer<'r, 'a> {
    rules: &'r Rules,
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'_, 'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take_while(&mut self, test: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !test(c)).unwrap_or(rest.len());
    }

    fn refuse<T>(&self, reason: &str) -> Result<T, Opaque> {
        Err(Opaque { reason: reason.to_string(), at: self.at })
    }

    fn skip_blanks(&mut self) -> Result<(), Opaque> {
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c'));
            let rest = self.rest();
            let dashes = rest.strip_prefix("--").is_some_and(|after| {
                let next = after.chars().next();
                !self.rules.hash_comments
                    || next.is_none_or(|c| c.is_ascii_whitespace() || c.is_ascii_control())
            });
            if dashes || (self.rules.hash_comments && rest.starts_with('#')) {
                let ends = self.rules.line_ends;
                self.take_while(|c| !ends.contains(&c));
            } else if self.rules.hint.is_some_and(|hint| rest.starts_with(hint)) {
                return Ok(());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                if self.rules.live_comments.iter().any(|live| rest.starts_with(live)) {
                    return self.refuse("a comment that the server reads");
                }
                match comment_end(comment, self.rules.nested_comments) {
                    Some(end) => self.at += end + 2,
                    None => return self.refuse("a comment without an end"),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self, after_name: bool) -> Result<TokenKind, Opaque> {
        let rest = self.rest();
        let Some(first) = self.peek() else { return self.refuse("nothing here") };
        let second = rest[first.len_utf8()..].chars().next();
        match first {
            '/' if self.rules.hint.is_some_and(|hint| rest.starts_with(hint)) => match rest.find("*/") {
                Some(end) => {
                    self.at += end + 2;
                    Ok(TokenKind::Hint)
                }
                None => self.refuse("a comment without an end"),
            },
            '\'' => self.text(first),
            '"' if self.rules.double_quoted_text => self.text(first),
            '`' => self.quoted('`', Quote::Backtick),
            '"' => self.quoted('"', Quote::Double),
            '[' => self.quoted(']', Quote::Bracket),
            '@' => self.variable(),
            'e' | 'E' if self.rules.escape_strings && second == Some('\'') => {
                self.at += 1;
                self.string('\'', true)
            }
            // `U&'..'` and `U&".."`: a string and a name with escapes of their own.
            'u' | 'U' if self.rules.escape_strings && second == Some('&') => match rest.as_bytes().get(2) {
                Some(b'\'' | b'"') => self.refuse("a string with a word before it"),
                Some(_) | None => {
                    self.at += 1;
                    Ok(TokenKind::Word)
                }
            },
            '0'..='9' => self.number(),
            '.' if second.is_some_and(|c| c.is_ascii_digit()) && !after_name => self.number(),
            c if second == Some('\'') && self.rules.byte_prefixes.contains(c) => {
                self.at += 1;
                self.text('\'')?;
                Ok(TokenKind::Bytes)
            }
            c if is_name(c) && c != '$' => {
                self.take_while(is_name);
                if matches!(self.peek(), Some('\'')) {
                    return self.refuse("a string with a word before it");
                }
                Ok(TokenKind::Word)
            }
            c if self.rules.operator_runs && RUNS.contains(c) => self.operator_run(),
            c if "+-*/%=<>!|&^~(),.;:".contains(c) => {
                let long = self.rules.symbols.iter().find(|s| rest.starts_with(**s));
                self.at += long.map_or(1, |s| s.len());
                let sticky = |c: char| self.rules.sticky.contains(c);
                if sticky(first) && self.peek().is_some_and(sticky) {
                    return self.refuse("marks that the server may read as one");
                }
                Ok(TokenKind::Symbol)
            }
            c => self.refuse(&format!("the character {c:?}")),
        }
    }

    /// All marks that stand together, as PostgreSQL reads them: a run ends before a comment, and gives back `+` and `-`
    /// at its end unless it holds a mark that no standard operator has.
    fn operator_run(&mut self) -> Result<TokenKind, Opaque> {
        let rest = self.rest();
        let mut run = &rest[..rest.find(|c| !RUNS.contains(c)).unwrap_or(rest.len())];
        for comment in ["--", "/*"] {
            run = run.find(comment).map_or(run, |at| &run[..at]);
        }
        if !run.contains(|c| "~!@#%^&|`?".contains(c)) {
            while run.len() > 1 && run.ends_with(['+', '-']) {
                run = &run[..run.len() - 1];
            }
        }
        let known = self.rules.symbols.contains(&run)
            || self.rules.infixes.iter().any(|infix| infix.text == run)
            || self.rules.prefixes.iter().any(|prefix| prefix.text == run);
        if !known {
            return self.refuse(&format!("the operator {run}"));
        }
        self.at += run.len();
        Ok(TokenKind::Symbol)
    }

    fn text(&mut self, quote: char) -> Result<TokenKind, Opaque> {
        self.string(quote, self.rules.backslash)
    }

    fn string(&mut self, quote: char, backslash: bool) -> Result<TokenKind, Opaque> {
        self.at += 1;
        loop {
            let Some(c) = self.peek() else { return self.refuse("a string without an end") };
            self.at += c.len_utf8();
            if c == '\\' && backslash {
                self.at += self.peek().map_or(0, char::len_utf8);
            } else if c == quote {
                if self.peek() != Some(quote) {
                    return Ok(TokenKind::Text);
                }
                self.at += 1;
            }
        }
    }

    fn quoted(&mut self, end: char, quote: Quote) -> Result<TokenKind, Opaque> {
        if !self.rules.quotes.contains(&quote) {
            return self.refuse("quotes that this dialect does not have");
        }
        self.at += 1;
        loop {
            let Some(c) = self.peek() else { return self.refuse("a quoted name without an end") };
            self.at += c.len_utf8();
            if c == end {
                if end == ']' || self.peek() != Some(end) {
                    return Ok(TokenKind::Quoted(quote));
                }
                self.at += 1;
            }
        }
    }

    fn variable(&mut self) -> Result<TokenKind, Opaque> {
        if !self.rules.clauses.mysql_control {
            return self.refuse("a parameter");
        }
        self.take_while(|c| c == '@');
        let name = self.at;
        self.take_while(|c| is_name(c) || c == '.');
        if self.at == name {
            return self.refuse("an at-sign without a name");
        }
        Ok(TokenKind::Variable)
    }

    fn number(&mut self) -> Result<TokenKind, Opaque> {
        let rest = self.rest();
        let based = |p: &str, test: fn(char) -> bool| {
            rest.strip_prefix(p).is_some_and(|after| after.starts_with(test)).then_some(test)
        };
        let base = based("0x", |c| c.is_ascii_hexdigit())
            .or_else(|| based("0X", |c| c.is_ascii_hexdigit()))
            .or_else(|| {
                if self.rules.byte_prefixes.contains('b') {
                    based("0b", |c| matches!(c, '0' | '1'))
                } else {
                    None
                }
            });
        if let Some(test) = base.filter(|_| self.rules.based_numbers) {
            self.at += 2;
            self.take_while(test);
        } else {
            self.take_while(|c| c.is_ascii_digit());
            if self.peek() == Some('.') {
                self.at += 1;
                self.take_while(|c| c.is_ascii_digit());
            }
            self.exponent();
        }
        if self.peek().is_some_and(is_name) {
            return self.refuse("a name that begins with a digit");
        }
        Ok(TokenKind::Number)
    }

    fn exponent(&mut self) {
        let rest = self.rest();
        if let Some(after) = rest.strip_prefix(['e', 'E']) {
            let digits = after.strip_prefix(['+', '-']).unwrap_or(after);
            if digits.starts_with(|c: char| c.is_ascii_digit()) {
                self.at += rest.len() - digits.len();
                self.take_while(|c| c.is_ascii_digit());
            }
        }
    }
}

/// The marks of PostgreSQL's operators.
const RUNS: &str = "+-*/<>=~!@#%^&|`?";

/// Where a comment ends, given what follows its `/*`.
pub(super) fn comment_end(comment: &str, nested: bool) -> Option<usize> {
    let mut depth = 1;
    let mut at = 0;
    while depth > 0 {
        let rest = &comment[at..];
        let close = rest.find("*/")?;
        match rest.find("/*").filter(|open| nested && *open < close) {
            Some(open) => {
                depth += 1;
                at += open + 2;
            }
            None => {
                depth -= 1;
                at += close + 2;
            }
        }
    }
    Some(at)
}

/// May this character be in a name without quotes?
pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

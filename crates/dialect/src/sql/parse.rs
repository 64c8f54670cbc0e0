//! The parser's hands: looking at the next token, taking it, names and lists. What is read with them is in
//! the `parse_*` files.
//!
//! The parser reads what the printers print and the everyday SQL around it. It is not a validator: it may
//! read what a server would refuse, since the server is asked anyway. It must never read a text differently
//! from the server, and where that is not certain it refuses.

use model::sql::{Alias, ColumnRef, Ident, Keyword, Literal, ObjectName, Quote, Statement};

use super::{
    Opaque,
    rules::Rules,
    token::{self, Token, TokenKind},
};

/// Expressions and queries may be nested so deeply; the limit keeps a hostile text from exhausting the stack.
const DEEPEST: usize = 100;

/// What reading gives.
pub(super) type ParseResult<T> = Result<T, Opaque>;

/// A text being read.
pub(super) struct Parser<'a> {
    pub rules: &'static Rules,
    tokens: &'a [Token<'a>],
    at: usize,
    end: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub fn new(rules: &'static Rules, text: &str, tokens: &'a [Token<'a>]) -> Parser<'a> {
        Parser { rules, tokens, at: 0, end: text.len(), depth: 0 }
    }

    /// One statement and nothing after it.
    pub fn whole_statement(&mut self) -> ParseResult<Statement> {
        let statement = self.statement()?;
        match self.peek(0) {
            None => Ok(statement),
            Some(_) => self.refuse("the end"),
        }
    }

    fn statement(&mut self) -> ParseResult<Statement> {
        let Some(first) = self.peek(0) else { return self.refuse("a statement") };
        let word = first.text.to_ascii_uppercase();
        match word.as_str() {
            "SELECT" | "(" => self.query().map(Statement::Query),
            "INSERT" | "REPLACE" => self.insert().map(Statement::Insert),
            "UPDATE" => self.update().map(Statement::Update),
            "DELETE" => self.delete().map(Statement::Delete),
            "CREATE" => self.create(),
            "DROP" => self.drop(),
            "ALTER" => self.alter(),
            "TRUNCATE" => self.truncate(),
            "BEGIN" | "START" => self.begin().map(Statement::Begin),
            "COMMIT" | "END" => self.commit().map(Statement::Commit),
            "ROLLBACK" | "ABORT" => self.rollback().map(Statement::Rollback),
            "SAVEPOINT" => {
                self.at += 1;
                self.ident().map(Statement::Savepoint)
            }
            "RELEASE" => self.release(),
            "SET" => self.set(),
            "LOCK" => self.lock_table().map(Statement::LockTable),
            "PRAGMA" => self.pragma().map(Statement::Pragma),
            _ => self.refuse("a statement that we know"),
        }
    }

    /// Runs `read` one level deeper.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        self.deeper()?;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Counts a level; the caller gives it back with [`Parser::shallower`].
    pub fn deeper(&mut self) -> ParseResult<()> {
        if self.depth >= DEEPEST {
            return Err(Opaque { reason: format!("nested more than {DEEPEST} deep"), at: self.offset() });
        }
        self.depth += 1;
        Ok(())
    }

    /// Gives levels back.
    pub fn shallower(&mut self, levels: usize) {
        self.depth -= levels;
    }

    pub fn peek(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.at + ahead).copied()
    }

    pub fn skip(&mut self, count: usize) {
        self.at += count;
    }

    fn offset(&self) -> usize {
        self.peek(0).map_or(self.end, |t| t.at)
    }

    /// Says what was expected instead of what is there.
    pub fn refuse<T>(&self, expected: &str) -> ParseResult<T> {
        let found = self.peek(0).map_or("the end".to_string(), |t| format!("`{}`", t.text));
        Err(Opaque { reason: format!("expected {expected}, found {found}"), at: self.offset() })
    }

    /// Goes on only if the dialect has this clause.
    pub fn needs(&self, has: bool, what: &str) -> ParseResult<()> {
        if has {
            return Ok(());
        }
        Err(Opaque { reason: format!("this dialect has no {what}"), at: self.offset() })
    }

    /// Is this word next (or later)? In capitals.
    pub fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        self.peek(ahead).is_some_and(|t| t.kind == TokenKind::Word && t.text.eq_ignore_ascii_case(word))
    }

    /// Are these words next?
    pub fn is(&self, words: &str) -> bool {
        // Most often not even the first letter is.
        let first = |text: &str| text.as_bytes().first().map(u8::to_ascii_uppercase);
        self.peek(0).is_some_and(|next| first(next.text) == first(words))
            && words.split(' ').enumerate().all(|(i, word)| self.is_word_at(i, word))
    }

    /// Takes these words if they are next.
    pub fn eat(&mut self, words: &str) -> bool {
        let found = self.is(words);
        if found {
            self.at += words.split(' ').count();
        }
        found
    }

    /// Takes these words or refuses.
    pub fn expect(&mut self, words: &str) -> ParseResult<()> {
        if self.eat(words) { Ok(()) } else { self.refuse(words) }
    }

    pub fn is_symbol_at(&self, ahead: usize, symbol: &str) -> bool {
        self.peek(ahead).is_some_and(|t| t.kind == TokenKind::Symbol && t.text == symbol)
    }

    pub fn is_symbol(&self, symbol: &str) -> bool {
        self.is_symbol_at(0, symbol)
    }

    pub fn eat_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    pub fn expect_symbol(&mut self, symbol: &str) -> ParseResult<()> {
        if self.eat_symbol(symbol) { Ok(()) } else { self.refuse(&format!("`{symbol}`")) }
    }

    /// Does a query begin here? In parentheses only where a query may be.
    pub fn is_query(&self) -> bool {
        let mut ahead = 0;
        while self.is_symbol_at(ahead, "(") {
            ahead += 1;
        }
        self.is_word_at(ahead, "SELECT")
    }

    /// Takes these words if they are next; refuses them where the dialect does not have them.
    pub fn clause(&mut self, words: &str, has: bool) -> ParseResult<bool> {
        self.needs(has || !self.is(words), words)?;
        Ok(self.eat(words))
    }

    /// What follows these words, or nothing.
    pub fn optional<T>(
        &mut self,
        words: &str,
        read: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Option<T>> {
        if self.eat(words) { read(self).map(Some) } else { Ok(None) }
    }

    /// The list that follows these words; empty without them.
    pub fn listed<T>(
        &mut self,
        words: &str,
        read: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        if self.eat(words) { self.list(read) } else { Ok(Vec::new()) }
    }

    /// One of a choice of words.
    pub fn keyword<K: Keyword>(&mut self) -> Option<K> {
        K::ALL.iter().copied().find(|word| self.eat(word.sql()))
    }

    /// One of several words, each with its meaning.
    pub fn choice<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        choices.iter().find(|(words, _)| self.eat(words)).map(|(_, meaning)| *meaning)
    }

    /// `x, x, x`: at least one.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> ParseResult<T>) -> ParseResult<Vec<T>> {
        let mut list = vec![read(self)?];
        while self.eat_symbol(",") {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// `(x)`
    pub fn parens<T>(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        self.expect_symbol("(")?;
        let inner = read(self)?;
        self.expect_symbol(")")?;
        Ok(inner)
    }

    /// `(x, x)`: at least one.
    pub fn paren_list<T>(&mut self, read: impl FnMut(&mut Self) -> ParseResult<T>) -> ParseResult<Vec<T>> {
        self.parens(|p| p.list(read))
    }

    /// `()`: the dialect must have it.
    pub fn empty_parens(&mut self, has: bool, what: &str) -> ParseResult<bool> {
        let empty = self.is_symbol("(") && self.is_symbol_at(1, ")");
        self.needs(has || !empty, what)?;
        self.skip(if empty { 2 } else { 0 });
        Ok(empty)
    }

    /// Is a name next?
    pub fn is_ident_at(&self, ahead: usize) -> bool {
        self.peek(ahead).is_some_and(|t| match t.kind {
            TokenKind::Word => !self.rules.is_reserved(t.text),
            TokenKind::Quoted(_) => true,
            _ => false,
        })
    }

    pub fn ident(&mut self) -> ParseResult<Ident> {
        if self.is_ident_at(0) { self.any_word() } else { self.refuse("a name") }
    }

    /// A name or any keyword, as written.
    pub fn any_word(&mut self) -> ParseResult<Ident> {
        let Some(token) = self.peek(0) else { return self.refuse("a word") };
        let ident = match token.kind {
            TokenKind::Word => Ident { name: token.text.to_string(), quote: Quote::Bare },
            TokenKind::Quoted(quote) => Ident { name: token::unquote(token.text), quote },
            _ => return self.refuse("a word"),
        };
        self.at += 1;
        Ok(ident)
    }

    /// A word without quotes, as written.
    pub fn bare_word(&mut self) -> ParseResult<String> {
        self.token(TokenKind::Word, "a word")
    }

    /// A number, as written.
    pub fn number(&mut self) -> ParseResult<String> {
        self.token(TokenKind::Number, "a number")
    }

    fn token(&mut self, kind: TokenKind, what: &str) -> ParseResult<String> {
        match self.peek(0) {
            Some(t) if t.kind == kind => {
                self.at += 1;
                Ok(t.text.to_string())
            }
            _ => self.refuse(what),
        }
    }

    /// A constant other than NULL, TRUE and FALSE.
    pub fn constant(&mut self) -> Option<Literal> {
        let token = self.peek(0)?;
        let text = token.text.to_string();
        let literal = match token.kind {
            TokenKind::Number => Literal::Number(text),
            TokenKind::Text => Literal::Text(text),
            TokenKind::Bytes => Literal::Bytes(text),
            _ => return None,
        };
        self.at += 1;
        Some(literal)
    }

    /// `t` or `db.t`
    pub fn object(&mut self) -> ParseResult<ObjectName> {
        let first = self.ident()?;
        // After the dot MySQL takes reserved words too. We take only names: the printer would have to quote the others.
        if self.eat_symbol(".") {
            return Ok(ObjectName { schema: Some(first), name: self.ident()? });
        }
        Ok(ObjectName { schema: None, name: first })
    }

    /// `a`, `t.a` or `db.t.a`
    pub fn column(&mut self) -> ParseResult<ColumnRef> {
        let mut parts = self.dotted()?;
        let name = parts.pop().unwrap_or_default();
        let table = parts.pop().map(|table| ObjectName { schema: parts.pop(), name: table });
        Ok(ColumnRef { table, name })
    }

    /// `a`, `t.a`, `db.t.a`: one to three parts.
    pub fn dotted(&mut self) -> ParseResult<Vec<Ident>> {
        let mut parts = vec![self.ident()?];
        while parts.len() < 3 && self.is_symbol(".") && !self.is_symbol_at(1, "*") {
            self.at += 1;
            parts.push(self.ident()?);
        }
        Ok(parts)
    }

    /// `AS x` or `x`, or nothing.
    pub fn alias(&mut self) -> ParseResult<Option<Alias>> {
        if self.eat("AS") {
            return Ok(Some(Alias { as_word: true, name: self.ident()? }));
        }
        if self.is_ident_at(0) {
            return Ok(Some(Alias { as_word: false, name: self.ident()? }));
        }
        Ok(None)
    }
}

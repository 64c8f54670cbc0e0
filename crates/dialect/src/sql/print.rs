//! The printer's hands: pieces of text, each a token, and the blanks between them. What is written with them
//! is in the `print_*` files.
//!
//! A keyword is printed in capitals and may be compared without regard to case; everything else is printed as
//! the tree holds it. That difference is why the printer keeps its pieces and does not write a string at once.

use model::sql::{Alias, ColumnRef, Ident, Keyword, Literal, ObjectName, Quote, Statement};

use super::{rules::Rules, token};

#[derive(Debug)]
pub(super) struct PrintedToken {
    /// As printed.
    pub text: String,
    /// Is it a keyword?
    pub keyword: bool,
    /// No blank before it?
    glued: bool,
}

/// What has been printed so far.
pub(super) struct Out {
    pub rules: &'static Rules,
    pub pieces: Vec<PrintedToken>,
    glue_next: bool,
}

impl Out {
    pub fn new(rules: &'static Rules) -> Out {
        Out { rules, pieces: Vec::new(), glue_next: false }
    }

    /// The pieces as one text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut before: Option<&PrintedToken> = None;
        for piece in &self.pieces {
            let tight = piece.glued
                || before.is_none_or(|b| matches!(b.text.as_str(), "(" | "."))
                || matches!(piece.text.as_str(), ")" | "," | ".");
            if !tight {
                text.push(' ');
            }
            text.push_str(&piece.text);
            before = Some(piece);
        }
        text
    }

    fn push(&mut self, text: String, keyword: bool) {
        let glued = std::mem::take(&mut self.glue_next);
        self.pieces.push(PrintedToken { text, keyword, glued });
    }

    /// Keywords, with blanks between them.
    pub fn kw(&mut self, words: &str) {
        words.split(' ').for_each(|word| self.push(word.to_string(), true));
    }

    /// Keywords, if so.
    pub fn kw_if(&mut self, condition: bool, words: &str) {
        if condition {
            self.kw(words);
        }
    }

    /// One of a choice of words, or nothing.
    pub fn keyword(&mut self, word: Option<impl Keyword>) {
        word.into_iter().for_each(|word| self.kw(word.sql()));
    }

    /// What stands after these words.
    pub fn after<T: ?Sized>(&mut self, words: &str, item: &T, print: impl FnOnce(&mut Out, &T)) {
        self.kw(words);
        print(self, item);
    }

    /// The same, or nothing.
    pub fn optional<T>(&mut self, words: &str, item: &Option<T>, print: impl FnOnce(&mut Out, &T)) {
        if let Some(item) = item {
            self.after(words, item, print);
        }
    }

    /// A list after these words; nothing if it is empty.
    pub fn listed<T>(&mut self, words: &str, list: &[T], print: impl FnMut(&mut Out, &T)) {
        if !list.is_empty() {
            self.kw(words);
            self.list(list, print);
        }
    }

    /// An operator or a mark.
    pub fn symbol(&mut self, symbol: &str) {
        self.push(symbol.to_string(), false);
    }

    /// An operator, be it a word or a mark.
    pub fn operator(&mut self, text: &str) {
        if text.starts_with(|c: char| c.is_ascii_alphabetic()) { self.kw(text) } else { self.symbol(text) }
    }

    /// The next piece follows without a blank.
    pub fn glue(&mut self) {
        self.glue_next = true;
    }

    /// A token as the tree holds it.
    pub fn exact(&mut self, text: &str) {
        self.push(text.to_string(), false);
    }

    /// `(` right after a name.
    pub fn open_call(&mut self) {
        self.glue();
        self.symbol("(");
    }

    pub fn list<T>(&mut self, list: &[T], mut print: impl FnMut(&mut Out, &T)) {
        for (i, item) in list.iter().enumerate() {
            if i > 0 {
                self.symbol(",");
            }
            print(self, item);
        }
    }

    pub fn parens(&mut self, print: impl FnOnce(&mut Out)) {
        self.symbol("(");
        print(self);
        self.symbol(")");
    }

    pub fn paren_list<T>(&mut self, list: &[T], print: impl FnMut(&mut Out, &T)) {
        self.parens(|out| out.list(list, print));
    }

    /// A name, in quotes where it has them or needs them.
    pub fn ident(&mut self, ident: &Ident) {
        let quote = match ident.quote {
            Quote::Bare if !is_plain(&ident.name) || self.rules.is_reserved(&ident.name) => {
                self.rules.quotes[0]
            }
            Quote::Bare => Quote::Bare,
            other if self.rules.quotes.contains(&other) => other,
            _ => self.rules.quotes[0],
        };
        self.exact(&quoted(&ident.name, quote));
    }

    /// A word that may be reserved, because of where it stands: a function's name, the value of an option.
    pub fn word(&mut self, ident: &Ident) {
        if ident.quote == Quote::Bare && is_plain(&ident.name) {
            self.exact(&ident.name)
        } else {
            self.ident(ident)
        }
    }

    pub fn object(&mut self, name: &ObjectName) {
        if let Some(schema) = &name.schema {
            self.ident(schema);
            self.symbol(".");
        }
        self.ident(&name.name);
    }

    pub fn column(&mut self, column: &ColumnRef) {
        if let Some(table) = &column.table {
            self.object(table);
            self.symbol(".");
        }
        self.ident(&column.name);
    }

    pub fn alias(&mut self, alias: &Option<Alias>) {
        if let Some(alias) = alias {
            self.kw_if(alias.as_word, "AS");
            self.ident(&alias.name);
        }
    }

    pub fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Null => self.kw("NULL"),
            Literal::Bool(true) => self.kw("TRUE"),
            Literal::Bool(false) => self.kw("FALSE"),
            Literal::Number(text) | Literal::Text(text) | Literal::Bytes(text) => self.exact(text),
        }
    }

    pub fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(q) => self.query(q),
            Statement::Insert(i) => self.insert(i),
            Statement::Update(u) => self.update(u),
            Statement::Delete(d) => self.delete(d),
            Statement::CreateTable(c) => self.create_table(c),
            Statement::CreatePartition(c) => self.create_partition(c),
            Statement::CreateIndex(c) => self.create_index(c),
            Statement::AlterTable(a) => self.alter_table(a),
            Statement::DropTable(d) => {
                self.kw("DROP TABLE");
                self.kw_if(d.if_exists, "IF EXISTS");
                self.list(&d.names, Out::object);
                self.keyword(d.behaviour);
            }
            Statement::DropIndex(d) => {
                self.kw("DROP INDEX");
                self.kw_if(d.if_exists, "IF EXISTS");
                self.object(&d.name);
                self.optional("ON", &d.table, Out::object);
                self.keyword(d.behaviour);
            }
            Statement::Truncate(t) => {
                self.kw("TRUNCATE");
                self.kw_if(t.table_word, "TABLE");
                self.list(&t.names, Out::object);
                match t.restart_identity {
                    Some(true) => self.kw("RESTART IDENTITY"),
                    Some(false) => self.kw("CONTINUE IDENTITY"),
                    None => {}
                }
                self.keyword(t.behaviour);
            }
            Statement::Begin(b) => self.begin(b),
            Statement::Commit(c) => self.commit(c),
            Statement::Rollback(r) => self.rollback(r),
            Statement::Savepoint(name) => self.after("SAVEPOINT", name, Out::ident),
            Statement::Release(target) => self.after("RELEASE", target, Out::savepoint),
            Statement::Set(items) => self.set(items),
            Statement::SetTransaction(s) => self.set_transaction(s),
            Statement::LockTable(l) => self.lock_table(l),
            Statement::Pragma(p) => self.pragma(p),
        }
    }
}

/// May the name stand without quotes, as far as its characters go?
fn is_plain(name: &str) -> bool {
    name.chars().all(token::is_name) && name.starts_with(|c: char| !c.is_ascii_digit() && c != '$')
}

fn quoted(name: &str, quote: Quote) -> String {
    match quote {
        Quote::Bare => name.to_string(),
        Quote::Backtick => format!("`{}`", name.replace('`', "``")),
        Quote::Double => format!("\"{}\"", name.replace('"', "\"\"")),
        Quote::Bracket => format!("[{name}]"),
    }
}

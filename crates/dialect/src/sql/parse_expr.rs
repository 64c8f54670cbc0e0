//! Reading expressions, by the levels in [`super::rules`].

use model::sql::{
    BinaryOp, BoolTest, CastSpelling, Expr, FunctionArgs, Ident, InList, Keyword, LikeOp, Literal,
    NullSpelling, UnaryOp, When,
};

use super::{
    parse::{ParseResult, Parser},
    rules::{ANY, Binding, OperatorBinding},
    shape::level,
    token::TokenKind,
    words,
};

/// What may follow an operand.
#[derive(Clone, Copy)]
enum OperandSuffix {
    Binary(BinaryOp, usize),
    Is,
    IsNull(NullSpelling, bool, usize),
    In(bool),
    Between(bool),
    Like(LikeOp, bool),
    Collate,
    Cast,
}

impl Parser<'_> {
    /// Any expression.
    pub fn expr(&mut self) -> ParseResult<Expr> {
        self.expr_at(ANY)
    }

    /// An expression that binds at least so tightly.
    fn expr_at(&mut self, least: Binding) -> ParseResult<Expr> {
        self.deeper()?;
        let mut levels = 1;
        let mut left = self.operand(least)?;
        while let Some((tail, shape)) = self.tail() {
            if shape.own < least {
                break;
            }
            if level(self.rules, &left) < shape.left {
                return self.refuse("parentheses before this operator");
            }
            // Each round makes the tree one deeper, so it counts like nesting.
            self.deeper()?;
            levels += 1;
            left = self.apply(Box::new(left), tail, shape)?;
        }
        self.shallower(levels);
        Ok(left)
    }

    /// A constant, a call, something in parentheses or a signed one of these: what may stand after DEFAULT,
    /// where `NOT NULL` belongs to the column.
    pub fn simple_value(&mut self) -> ParseResult<Expr> {
        for (symbol, op) in [("-", UnaryOp::Neg), ("+", UnaryOp::Plus)] {
            if self.eat_symbol(symbol) {
                return Ok(Expr::Unary { op, expr: Box::new(self.primary()?) });
            }
        }
        self.primary()
    }

    /// What follows the operand just read, and how it binds.
    fn tail(&self) -> Option<(OperandSuffix, OperatorBinding)> {
        let token = self.peek(0)?;
        let rules = self.rules;
        let is_word = token.kind == TokenKind::Word;
        if !is_word && token.kind != TokenKind::Symbol {
            return None;
        }
        if is_word {
            if self.is("COLLATE") {
                return Some((OperandSuffix::Collate, rules.collate));
            }
            if self.is("IS") {
                let after = 1 + usize::from(self.is_word_at(1, "NOT"));
                let shape = if self.is_word_at(after, "NULL") { rules.is_null } else { rules.is_bool };
                return Some((OperandSuffix::Is, shape));
            }
            if let Some((words, spelling, negated)) = rules.null_words.iter().find(|(w, _, _)| self.is(w)) {
                return Some((
                    OperandSuffix::IsNull(*spelling, *negated, words.split(' ').count()),
                    rules.is_null,
                ));
            }
            let negated = self.is("NOT");
            let ahead = usize::from(negated);
            if self.is_word_at(ahead, "IN") {
                return Some((OperandSuffix::In(negated), rules.in_list));
            }
            if self.is_word_at(ahead, "BETWEEN") {
                return Some((OperandSuffix::Between(negated), rules.between));
            }
            if let Some((op, shape)) = rules.likes.iter().find(|(op, _)| self.is_word_at(ahead, op.sql())) {
                return Some((OperandSuffix::Like(*op, negated), *shape));
            }
        }
        if token.text == "::" && rules.cast.own > ANY {
            return Some((OperandSuffix::Cast, rules.cast));
        }
        let infix = rules.infixes.iter().find(|i| i.text.eq_ignore_ascii_case(token.text))?;
        Some((OperandSuffix::Binary(infix.op, 1), infix.shape()))
    }

    fn apply(&mut self, left: Box<Expr>, tail: OperandSuffix, shape: OperatorBinding) -> ParseResult<Expr> {
        match tail {
            OperandSuffix::Binary(op, tokens) => {
                self.skip(tokens);
                let right = Box::new(self.expr_at(shape.right)?);
                Ok(Expr::Binary { left, op, right })
            }
            OperandSuffix::Is => self.is_test(left, shape),
            OperandSuffix::IsNull(spelling, negated, tokens) => {
                self.skip(tokens);
                Ok(Expr::IsNull { expr: left, negated, spelling })
            }
            OperandSuffix::In(negated) => {
                self.skip(1 + usize::from(negated));
                let list = if self.is_symbol("(") && self.is_word_at(1, "SELECT") {
                    InList::Query(Box::new(self.parens(|p| p.nested(Self::query))?))
                } else {
                    let list = self.paren_list(Self::expr)?;
                    // `IN ((SELECT ...))` is one value to some servers and a whole query to others.
                    if self.rules.clauses.paren_queries && matches!(&list[..], [only] if only.is_query()) {
                        return self.refuse("no second parentheses around a query after IN");
                    }
                    InList::Exprs(list)
                };
                Ok(Expr::In { expr: left, negated, list })
            }
            OperandSuffix::Between(negated) => {
                self.skip(1 + usize::from(negated));
                let low = Box::new(self.expr_at(shape.right)?);
                self.expect("AND")?;
                let high = Box::new(self.expr_at(shape.right)?);
                Ok(Expr::Between { expr: left, negated, low, high })
            }
            OperandSuffix::Like(op, negated) => {
                self.skip(1 + usize::from(negated));
                let pattern = Box::new(self.expr_at(shape.right)?);
                let escape = if matches!(op, LikeOp::Like | LikeOp::Ilike) && self.eat("ESCAPE") {
                    Some(Box::new(self.expr_at(shape.right)?))
                } else {
                    None
                };
                Ok(Expr::Like { expr: left, negated, op, pattern, escape })
            }
            OperandSuffix::Collate => {
                self.skip(1);
                // A collation may have a reserved name: `binary`.
                Ok(Expr::Collate { expr: left, collation: self.ident()? })
            }
            OperandSuffix::Cast => {
                self.skip(1);
                Ok(Expr::Cast { expr: left, ty: self.type_name()?, spelling: CastSpelling::Colons })
            }
        }
    }

    /// After an operand and before `IS`.
    fn is_test(&mut self, expr: Box<Expr>, shape: OperatorBinding) -> ParseResult<Expr> {
        self.expect("IS")?;
        let negated = self.eat("NOT");
        if self.rules.is_any {
            if self.is("DISTINCT") {
                return self.refuse("an operand");
            }
            // NULL and TRUE are ordinary operands here: `a IS NULL < 3` compares NULL with 3 first.
            return Ok(match self.expr_at(shape.right)? {
                Expr::Literal(Literal::Null) => Expr::IsNull { expr, negated, spelling: NullSpelling::Is },
                Expr::Literal(Literal::Bool(b)) => {
                    Expr::IsBool { expr, negated, test: if b { BoolTest::True } else { BoolTest::False } }
                }
                right => {
                    let op = if negated { BinaryOp::IsNot } else { BinaryOp::Is };
                    Expr::Binary { left: expr, op, right: Box::new(right) }
                }
            });
        }
        if self.eat("DISTINCT FROM") {
            let op = if negated { BinaryOp::IsNotDistinct } else { BinaryOp::IsDistinct };
            let Some(infix) = self.rules.infix(op) else {
                return self.refuse("an operator that this dialect has");
            };
            let right = Box::new(self.expr_at(infix.shape().right)?);
            return Ok(Expr::Binary { left: expr, op, right });
        }
        if self.eat("NULL") {
            return Ok(Expr::IsNull { expr, negated, spelling: NullSpelling::Is });
        }
        match self.keyword() {
            Some(test) => Ok(Expr::IsBool { expr, negated, test }),
            None => self.refuse("NULL, TRUE, FALSE or UNKNOWN"),
        }
    }

    /// An operand with the operators before it.
    fn operand(&mut self, least: Binding) -> ParseResult<Expr> {
        let prefix = self
            .peek(0)
            .filter(|t| matches!(t.kind, TokenKind::Symbol | TokenKind::Word))
            .and_then(|t| self.rules.prefixes.iter().find(|p| p.text.eq_ignore_ascii_case(t.text)));
        if let Some(prefix) = prefix {
            if prefix.level < least {
                return self.refuse("parentheses around what this operator begins");
            }
            self.skip(1);
            let expr = Box::new(self.expr_at(prefix.operand)?);
            return Ok(Expr::Unary { op: prefix.op, expr });
        }
        self.primary()
    }

    fn primary(&mut self) -> ParseResult<Expr> {
        if let Some(literal) = self.constant() {
            return Ok(Expr::Literal(literal));
        }
        let Some(token) = self.peek(0) else { return self.refuse("a value") };
        match token.kind {
            TokenKind::Variable => {
                self.skip(1);
                return Ok(Expr::Variable(token.text.to_string()));
            }
            TokenKind::Symbol if token.text == "(" => return self.parenthesised(),
            TokenKind::Word => {
                if let Some(expr) = self.keyword_primary()? {
                    return Ok(expr);
                }
            }
            _ => {}
        }
        self.column().map(Expr::Column)
    }

    /// What begins with a word and is no column.
    fn keyword_primary(&mut self) -> ParseResult<Option<Expr>> {
        let word = self.peek(0).map(|t| t.text).unwrap_or_default();
        let called = self.is_symbol_at(1, "(");
        let simple = [
            ("NULL", Expr::Literal(Literal::Null)),
            ("TRUE", Expr::Literal(Literal::Bool(true))),
            ("FALSE", Expr::Literal(Literal::Bool(false))),
        ];
        if let Some((_, expr)) = simple.into_iter().find(|(w, _)| w.eq_ignore_ascii_case(word)) {
            self.skip(1);
            return Ok(Some(expr));
        }
        if self.is("DEFAULT") && !called {
            self.skip(1);
            return Ok(Some(Expr::Default));
        }
        if self.is("CASE") {
            return self.nested(Self::case).map(Some);
        }
        if self.is("CAST") && called {
            return self.nested(Self::cast).map(Some);
        }
        if self.is("EXISTS") && called {
            self.skip(1);
            let query = self.parens(|p| p.nested(Self::query))?;
            return Ok(Some(Expr::Exists(Box::new(query))));
        }
        let reserved = self.rules.is_reserved(word);
        if called && (!reserved || self.rules.reserved_functions.has(word)) {
            return self.nested(Self::function).map(Some);
        }
        if reserved && words::BARE_FUNCTIONS.has(word) {
            return self.any_word().map(|name| Some(Expr::BareFunction(name)));
        }
        Ok(None)
    }

    fn function(&mut self) -> ParseResult<Expr> {
        let name: Ident = self.any_word()?;
        if self.rules.odd_functions.has(&name.name) {
            return self.refuse("a function that takes a plain list");
        }
        if self.rules.tight_calls && !self.peek(0).is_some_and(|t| t.tight) {
            return self.refuse("`(` without a blank before it");
        }
        self.expect_symbol("(")?;
        if self.eat_symbol(")") {
            return Ok(Expr::Function { name, quantifier: None, args: FunctionArgs::List(Vec::new()) });
        }
        if self.is_symbol("*") && self.is_symbol_at(1, ")") {
            self.skip(2);
            return Ok(Expr::Function { name, quantifier: None, args: FunctionArgs::Star });
        }
        let quantifier = self.keyword();
        let args = FunctionArgs::List(self.list(Self::expr)?);
        self.expect_symbol(")")?;
        Ok(Expr::Function { name, quantifier, args })
    }

    fn case(&mut self) -> ParseResult<Expr> {
        self.expect("CASE")?;
        let operand = if self.is("WHEN") { None } else { Some(Box::new(self.expr()?)) };
        let mut whens = Vec::new();
        while self.eat("WHEN") {
            let when = self.expr()?;
            self.expect("THEN")?;
            whens.push(When { when, then: self.expr()? });
        }
        if whens.is_empty() {
            return self.refuse("WHEN");
        }
        let otherwise = if self.eat("ELSE") { Some(Box::new(self.expr()?)) } else { None };
        self.expect("END")?;
        Ok(Expr::Case { operand, whens, otherwise })
    }

    fn cast(&mut self) -> ParseResult<Expr> {
        self.skip(1);
        self.parens(|p| {
            let expr = Box::new(p.expr()?);
            p.expect("AS")?;
            Ok(Expr::Cast { expr, ty: p.type_name()?, spelling: CastSpelling::Call })
        })
    }

    /// `(x)`, `(x, y)` or `(SELECT ...)`
    fn parenthesised(&mut self) -> ParseResult<Expr> {
        self.nested(|p| {
            if p.is_word_at(1, "SELECT") {
                return p.parens(Self::query).map(|query| Expr::Subquery(Box::new(query)));
            }
            let mut list = p.paren_list(Self::expr)?;
            let first = if list.len() == 1 { list.pop() } else { None };
            Ok(first.map_or_else(|| Expr::Row(list), |e| Expr::Paren(Box::new(e))))
        })
    }
}

//! Writing expressions, with the parentheses that the levels in [`super::rules`] ask for.

use model::sql::{CastSpelling, Expr, FunctionArgs, InList, Keyword, NullSpelling, TypeName, UnaryOp};

use super::{
    print::Out,
    rules::{self, ANY, Binding, PRIMARY, shape},
    shape::level,
};

impl Out {
    /// An expression where any may stand.
    pub fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Literal(literal) => self.literal(literal),
            Expr::Column(column) => self.column(column),
            Expr::Variable(name) => self.exact(name),
            Expr::Default => self.kw("DEFAULT"),
            Expr::BareFunction(name) => self.word(name),
            Expr::Unary { op, expr } => self.unary(*op, expr),
            Expr::Binary { left, op, right } => {
                // The server will refuse one that it does not have.
                let unknown = shape(ANY, PRIMARY, PRIMARY);
                let shape = self.rules.infix(*op).map_or(unknown, |infix| infix.shape());
                self.operand(left, shape.left);
                self.operator(rules::spelling(self.rules, *op));
                self.operand(right, shape.right);
            }
            Expr::IsNull { expr, negated, spelling } => {
                self.operand(expr, self.rules.is_null.left);
                self.kw(match (spelling, negated) {
                    (NullSpelling::Is, false) | (NullSpelling::NotNull, false) => "IS NULL",
                    (NullSpelling::Is, true) => "IS NOT NULL",
                    (NullSpelling::OneWord, false) => "ISNULL",
                    (NullSpelling::OneWord, true) => "NOTNULL",
                    (NullSpelling::NotNull, true) => "NOT NULL",
                });
            }
            Expr::IsBool { expr, negated, test } => {
                self.operand(expr, self.rules.is_bool.left);
                self.kw("IS");
                self.kw_if(*negated, "NOT");
                self.kw(test.sql());
            }
            Expr::In { expr, negated, list } => {
                self.operand(expr, self.rules.in_list.left);
                self.kw_if(*negated, "NOT");
                self.kw("IN");
                match list {
                    InList::Exprs(list) => self.paren_list(list, Out::expr),
                    InList::Query(query) => self.paren_query(query),
                }
            }
            Expr::Between { expr, negated, low, high } => {
                let shape = self.rules.between;
                self.operand(expr, shape.left);
                self.kw_if(*negated, "NOT");
                self.kw("BETWEEN");
                let bare = self.rules.collate_in_between || !shows_collate(low);
                self.operand(low, if bare { shape.right } else { PRIMARY });
                self.kw("AND");
                self.operand(high, shape.right);
            }
            Expr::Like { expr, negated, op, pattern, escape } => {
                let shape = self.rules.like(*op).unwrap_or(shape(ANY, PRIMARY, PRIMARY));
                self.operand(expr, shape.left);
                self.kw_if(*negated, "NOT");
                self.kw(op.sql());
                self.operand(pattern, shape.right);
                self.optional("ESCAPE", escape, |out, escape| out.operand(escape, shape.right));
            }
            Expr::Collate { expr, collation } => {
                self.operand(expr, self.rules.collate.left);
                self.kw("COLLATE");
                self.ident(collation);
            }
            Expr::Case { operand, whens, otherwise } => {
                self.kw("CASE");
                operand.iter().for_each(|e| self.expr(e));
                for w in whens {
                    self.after("WHEN", &w.when, Out::expr);
                    self.after("THEN", &w.then, Out::expr);
                }
                self.optional("ELSE", otherwise, |out, otherwise| out.expr(otherwise));
                self.kw("END");
            }
            Expr::Cast { expr, ty, spelling: CastSpelling::Colons } => {
                self.operand(expr, self.rules.cast.left);
                self.glue();
                self.symbol("::");
                self.glue();
                self.type_name(ty);
            }
            Expr::Cast { expr, ty, spelling: CastSpelling::Call } => {
                self.kw("CAST");
                self.open_call();
                self.expr(expr);
                self.kw("AS");
                self.type_name(ty);
                self.symbol(")");
            }
            Expr::Function { name, quantifier, args } => {
                self.word(name);
                self.open_call();
                self.keyword(*quantifier);
                match args {
                    FunctionArgs::Star => self.symbol("*"),
                    FunctionArgs::List(list) => self.list(list, Out::expr),
                }
                self.symbol(")");
            }
            Expr::Row(list) => self.paren_list(list, Out::expr),
            Expr::Subquery(query) => self.paren_query(query),
            Expr::Exists(query) => self.after("EXISTS", &**query, Out::paren_query),
            Expr::Paren(inner) => self.paren_expr(inner),
        }
    }

    /// Whatever it is, in parentheses.
    pub fn paren_expr(&mut self, expr: &Expr) {
        self.parens(|out| out.expr(expr));
    }

    /// An expression where one that binds at least so tightly must stand.
    pub fn operand(&mut self, expr: &Expr, least: Binding) {
        if level(self.rules, expr) < least { self.paren_expr(expr) } else { self.expr(expr) }
    }

    fn unary(&mut self, op: UnaryOp, expr: &Expr) {
        let least = self.rules.prefix(op).map_or(ANY, |p| p.operand);
        self.operator(op.sql());
        // Two minus signs without a blank between them begin a comment, MySQL takes two `!` for one, and
        // PostgreSQL takes any marks that stand together for one operator, and its `~` may stand before a sum that
        // begins with a sign.
        let sign = match expr {
            Expr::Unary { op: UnaryOp::Neg | UnaryOp::Plus | UnaryOp::Bang, .. } => true,
            inner => self.rules.operator_runs && level(self.rules, inner) < PRIMARY,
        };
        if op != UnaryOp::Not && !sign {
            self.glue();
        }
        self.operand(expr, least);
    }

    /// What may stand after DEFAULT.
    pub fn simple_value(&mut self, expr: &Expr) {
        match expr {
            Expr::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr: inner }
                if level(self.rules, inner) == PRIMARY =>
            {
                self.expr(expr);
            }
            other => self.operand(other, PRIMARY),
        }
    }

    pub fn type_name(&mut self, ty: &TypeName) {
        ty.words.iter().for_each(|w| self.exact(w));
        if !ty.args.is_empty() {
            self.open_call();
            self.list(&ty.args, Out::literal);
            self.symbol(")");
        }
        ty.suffix.iter().for_each(|w| self.exact(w));
    }
}

/// Is there a COLLATE that no parentheses hide?
fn shows_collate(expr: &Expr) -> bool {
    match expr {
        Expr::Collate { .. } => true,
        Expr::Unary { expr, .. } | Expr::Cast { expr, spelling: CastSpelling::Colons, .. } => {
            shows_collate(expr)
        }
        Expr::Binary { left, right, .. } => shows_collate(left) || shows_collate(right),
        // All others bind less than a bound of BETWEEN, or hide what they hold.
        _ => false,
    }
}

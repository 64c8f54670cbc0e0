//! How tables are emptied, listed, dropped and looked into.

/// How tables are emptied, listed, dropped and looked into.
pub struct Tables {
    /// Leaves nothing of the old rows behind; the name stands at `{}`.
    pub empty_clean: &'static str,
    /// Does `empty_clean` take several names at once?
    pub lists: bool,
    /// May several statements be sent as one, with semicolons between them? They are one transaction then.
    pub joins: bool,
    /// The word in a definition that makes a counter which `empty_clean` does not set back.
    pub counter: Option<&'static str>,
    /// Cheap; old versions and counters may stay behind.
    pub empty_fast: &'static str,
    /// Lists the tables and views of our own schema: name, and whether it is a view (`VIEW`).
    pub list: &'static str,
    /// Lists what else a schema of ours may hold: name, its kind as DROP names it, and what DROP wants behind the
    /// name (the arguments of a function, where several may have one name).
    pub list_more: Option<&'static str>,
    /// Drops one of them; its kind stands at `{kind}` and its name at `{name}`. Where dropping one can take others with
    /// it, it does not mind what is gone already.
    pub drop: &'static str,
    /// Before dropping tables in any order.
    pub before_drop: Option<&'static str>,
    pub after_drop: Option<&'static str>,
    /// Is there ALTER TABLE?
    pub alter: bool,
    /// The first version with columns that `*` does not show.
    pub invisible_columns: Option<&'static [u32]>,
    /// Writes any value as the constant that gives it again, the column at `{}`; none where results show values whole, but for
    /// single-precision numbers.
    pub constant_of: Option<&'static str>,
}

impl Tables {
    /// The statement that drops something of this kind. The name is in quotes already.
    pub fn drop(&self, kind: &str, name: &str) -> String {
        self.drop.replace("{kind}", kind).replace("{name}", name)
    }
}

//! What a statement is made of, as far as it may be why its answer is wrong.

crate::named! {
    /// An operator, a clause, a kind of literal, or a way to the rows. Part of the signature of findings about a single statement, of
    /// which nothing else tells the cause.
    pub enum Feature {
        Comparison = "comparison",
        NullSafeComparison = "null-safe-comparison",
        NullTest = "null-test",
        TruthTest = "truth-test",
        InList = "in-list",
        NotInList = "not-in-list",
        InQuery = "in-query",
        NotInQuery = "not-in-query",
        Exists = "exists",
        Between = "between",
        /// LIKE and its kin.
        Pattern = "pattern",
        /// OR and XOR.
        Or = "or",
        Not = "not",
        Arithmetic = "arithmetic",
        Bits = "bits",
        Concatenation = "concatenation",
        Conditional = "case",
        Cast = "cast",
        Collation = "collation",
        Aggregate = "aggregate",
        Function = "function",
        RowValue = "row-value",
        Variable = "variable",
        Null = "null",
        /// A number with a point or an exponent.
        Fraction = "fraction",
        Text = "text",
        Subquery = "subquery",
        DerivedTable = "derived-table",
        Join = "join",
        OuterJoin = "outer-join",
        Union = "union",
        Distinct = "distinct",
        Grouping = "group-by",
        Sorting = "order-by",
        Limit = "limit",
        IndexHint = "index-hint",
        /// An UPDATE or DELETE of several tables.
        SeveralTables = "several-tables",
        Ignore = "ignore",
        Upsert = "upsert",
        InsertedQuery = "insert-select",
        /// A condition names the first column of the primary key, or of another one.
        ByPrimaryKey = "by-primary-key",
        ByIndex = "by-index",
        GeneratedColumn = "generated-column",
        Partitions = "partitions",
    }
}

//! Words that a dialect reserves, so that they name a table or a column only in quotes.
//!
//! The lists lean towards too many: a word that is listed and not reserved costs a tree (or gets quotes
//! that it could do without); the other way round a clause would be read as an alias.

use std::sync::OnceLock;

/// A list of words, written with blanks between them. It is asked for every word of every statement, so it is
/// split once, by first letters.
#[derive(Debug)]
pub(crate) struct ReservedWords {
    text: &'static str,
    by_letter: OnceLock<[Vec<&'static str>; 26]>,
}

impl ReservedWords {
    /// These words, in capitals.
    pub const fn new(text: &'static str) -> ReservedWords {
        ReservedWords { text, by_letter: OnceLock::new() }
    }

    /// Is the word in the list, in whatever case?
    pub fn has(&self, word: &str) -> bool {
        let by_letter = self.by_letter.get_or_init(|| {
            let words = |letter: u8| {
                self.text.split_ascii_whitespace().filter(move |word| word.as_bytes()[0] == letter)
            };
            std::array::from_fn(|at| words(b'A' + at as u8).collect())
        });
        let letter =
            word.bytes().next().map_or(u8::MAX, |first| first.to_ascii_uppercase().wrapping_sub(b'A'));
        let words = by_letter.get(usize::from(letter));
        words.is_some_and(|words| words.iter().any(|known| known.eq_ignore_ascii_case(word)))
    }
}

/// Reserved everywhere.
pub(super) static COMMON: ReservedWords = ReservedWords::new(
    "\
    ADD ALL ALTER AND AS BETWEEN CASE CHECK COLLATE CONSTRAINT CREATE CROSS CURRENT_DATE CURRENT_TIME \
    CURRENT_TIMESTAMP DEFAULT DELETE DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FALSE FOREIGN FROM GROUP \
    HAVING IN INDEX INNER INSERT INTERSECT INTO IS JOIN LEFT LIKE LIMIT NATURAL NOT NULL ON OR ORDER \
    OUTER PRIMARY REFERENCES REGEXP RETURNING RIGHT SELECT SET TABLE THEN TO TRUE UNION UNIQUE UPDATE \
    USING VALUES WHEN WHERE WINDOW WITH",
);

/// Reserved by MySQL and MariaDB.
pub(super) static MYSQL_FAMILY: ReservedWords = ReservedWords::new(
    "\
    ACCESSIBLE ANALYZE ASC ASENSITIVE BEFORE BIGINT BINARY BLOB BOTH BY CALL CASCADE CHANGE CHAR \
    CHARACTER COLUMN CONDITION CONTINUE CONVERT CURRENT_USER CURSOR DATABASE DATABASES DAY_HOUR \
    DAY_MICROSECOND DAY_MINUTE DAY_SECOND DEC DECIMAL DECLARE DELAYED DESC DESCRIBE DETERMINISTIC \
    DISTINCTROW DIV DOUBLE DUAL EACH ELSEIF ENCLOSED ESCAPED EXIT EXPLAIN FETCH FLOAT FLOAT4 FLOAT8 FOR \
    FORCE FULLTEXT GENERAL GRANT HIGH_PRIORITY HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND IF IGNORE INFILE \
    INOUT INSENSITIVE INT INT1 INT2 INT3 INT4 INT8 INTEGER INTERVAL ITERATE KEY KEYS KILL LEADING LEAVE \
    LINEAR LINES LOAD LOCALTIME LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP LOW_PRIORITY MATCH \
    MAXVALUE MEDIUMBLOB MEDIUMINT MEDIUMTEXT MIDDLEINT MINUTE_MICROSECOND MINUTE_SECOND MOD MODIFIES \
    NO_WRITE_TO_BINLOG NUMERIC OPTIMIZE OPTION OPTIONALLY OUT OUTFILE OVER PARTITION PRECISION PROCEDURE \
    PURGE RANGE READ READS READ_WRITE REAL RECURSIVE RELEASE RENAME REPEAT REPLACE REQUIRE RESIGNAL \
    RESTRICT RETURN REVOKE RLIKE ROWS SCHEMA SCHEMAS SECOND_MICROSECOND SENSITIVE SEPARATOR SHOW SIGNAL \
    SMALLINT SPATIAL SPECIFIC SQL SQLEXCEPTION SQLSTATE SQLWARNING SQL_BIG_RESULT SQL_CALC_FOUND_ROWS \
    SQL_SMALL_RESULT SSL STARTING STRAIGHT_JOIN TERMINATED TINYBLOB TINYINT TINYTEXT TRAILING TRIGGER \
    UNDO UNLOCK UNSIGNED USAGE USE UTC_DATE UTC_TIME UTC_TIMESTAMP VARBINARY VARCHAR VARCHARACTER \
    VARYING WHILE WRITE XOR YEAR_MONTH ZEROFILL",
);

/// Reserved by MySQL only, in any version.
pub(super) static MYSQL: ReservedWords = ReservedWords::new(
    "\
    CUBE CUME_DIST DENSE_RANK EMPTY FIRST_VALUE FUNCTION GENERATED GET GROUPING GROUPS IO_AFTER_GTIDS \
    IO_BEFORE_GTIDS JSON_TABLE LAG LAST_VALUE LATERAL LEAD LIBRARY MANUAL NTH_VALUE NTILE OF \
    OPTIMIZER_COSTS PARALLEL PERCENT_RANK QUALIFY RANK ROW ROW_NUMBER SETS STORED SYSTEM TABLESAMPLE \
    VIRTUAL",
);

/// Reserved by MariaDB only, in any version.
pub(super) static MARIADB: ReservedWords = ReservedWords::new(
    "\
    CURRENT_ROLE DELETE_DOMAIN_ID DO_DOMAIN_IDS IGNORE_DOMAIN_IDS IGNORE_SERVER_IDS OFFSET PAGE_CHECKSUM \
    PARSE_VCOL_EXPR REF_SYSTEM_ID ROWNUM STATS_AUTO_RECALC STATS_PERSISTENT STATS_SAMPLE_PAGES VECTOR",
);

/// Reserved words of MySQL and MariaDB that are functions when `(` follows.
pub(super) static MYSQL_FUNCTIONS: ReservedWords = ReservedWords::new(
    "\
    CHAR CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DATABASE IF INSERT LEFT LOCALTIME \
    LOCALTIMESTAMP MOD REPEAT REPLACE RIGHT SCHEMA UTC_DATE UTC_TIME UTC_TIMESTAMP VALUES",
);

/// Functions of MySQL and MariaDB whose parentheses hold more than a list.
pub(super) static MYSQL_ODD_FUNCTIONS: ReservedWords = ReservedWords::new(
    "\
    ADDDATE CONVERT DATE_ADD DATE_SUB EXTRACT GET_FORMAT POSITION SUBDATE TIMESTAMPADD TIMESTAMPDIFF",
);

/// Words that are functions without parentheses, everywhere.
pub(super) static BARE_FUNCTIONS: ReservedWords = ReservedWords::new(
    "\
    CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP UTC_DATE UTC_TIME UTC_TIMESTAMP",
);

/// Reserved by SQLite, and those that its grammar takes for names only in some places.
pub(super) static SQLITE: ReservedWords = ReservedWords::new(
    "\
    AUTOINCREMENT COMMIT DEFERRABLE FULL GLOB INDEXED ISNULL MATCH NOTHING NOTNULL OVER FILTER RAISE \
    TRANSACTION",
);

/// Reserved words of SQLite that are functions when `(` follows.
pub(super) static SQLITE_FUNCTIONS: ReservedWords = ReservedWords::new(
    "\
    GLOB LIKE",
);

/// Functions of SQLite whose parentheses hold more than a list.
pub(super) static SQLITE_ODD_FUNCTIONS: ReservedWords = ReservedWords::new("RAISE");

/// Functions of MySQL and MariaDB that do more than compute: they read files, act on replication, plugins and other
/// sessions, or take the next value of a sequence, whose schema may stand before it.
pub(super) static MYSQL_ACTING_FUNCTIONS: ReservedWords = ReservedWords::new(
    "\
    LOAD_FILE MASTER_POS_WAIT SOURCE_POS_WAIT SYS_EVAL SYS_EXEC WAIT_FOR_EXECUTED_GTID_SET \
    WAIT_UNTIL_SQL_THREAD_AFTER_GTIDS NEXTVAL SETVAL LASTVAL SET_FIREWALL_MODE READ_FIREWALL_USERS \
    READ_FIREWALL_WHITELIST READ_FIREWALL_GROUPS READ_FIREWALL_GROUP_ALLOWLIST LOAD_REWRITE_RULES \
    FLUSH_REWRITE_RULES SPIDER_DIRECT_SQL SPIDER_BG_DIRECT_SQL SPIDER_COPY_TABLES SPIDER_FLUSH_TABLE_MON_CACHE",
);

/// How more of them begin: those that plugins and components bring along.
pub(super) const MYSQL_ACTING_PREFIXES: &[&str] = &[
    "asynchronous_connection_failover_",
    "audit_",
    "group_replication_",
    "keyring_",
    "masking_",
    "mysql_firewall_",
    "service_",
    "version_tokens_",
];

/// Functions of PostgreSQL that do more than compute: they run SQL given as text, change settings, or act on names that
/// are given as text.
pub(super) static POSTGRES_ACTING_FUNCTIONS: ReservedWords = ReservedWords::new(
    "\
    CURSOR_TO_XML CURSOR_TO_XMLSCHEMA DATABASE_TO_XML DATABASE_TO_XMLSCHEMA DATABASE_TO_XML_AND_XMLSCHEMA \
    NEXTVAL QUERY_TO_XML QUERY_TO_XMLSCHEMA QUERY_TO_XML_AND_XMLSCHEMA SCHEMA_TO_XML SCHEMA_TO_XMLSCHEMA \
    SCHEMA_TO_XML_AND_XMLSCHEMA SETVAL SET_CONFIG TABLE_TO_XML TABLE_TO_XMLSCHEMA TABLE_TO_XML_AND_XMLSCHEMA \
    TS_REWRITE TS_STAT CONNECTBY CROSSTAB LOREAD LOWRITE",
);

/// Those after which the server is not what it was for the sessions of others. No other product has functions of these
/// names.
pub(super) static SERVER_FUNCTIONS: ReservedWords = ReservedWords::new("PG_RELOAD_CONF PG_TERMINATE_BACKEND");

/// How more of them begin: server files, large objects, other sessions, other servers.
pub(super) const POSTGRES_ACTING_PREFIXES: &[&str] = &["pg_", "lo_", "dblink", "brin_", "gin_", "crosstab"];

/// Functions of SQLite that do more than compute.
pub(super) static SQLITE_ACTING_FUNCTIONS: ReservedWords =
    ReservedWords::new("EDIT FTS3_TOKENIZER LOAD_EXTENSION READFILE WRITEFILE");

/// Reserved by PostgreSQL, those that may name a function or a type included, and a few that follow a call or a table
/// there and would be read as an alias.
pub(super) static POSTGRES: ReservedWords = ReservedWords::new(
    "\
    ANALYSE ANALYZE ANY ARRAY ASC ASYMMETRIC AUTHORIZATION BINARY BOTH CAST COLLATION COLUMN CONCURRENTLY \
    CURRENT_CATALOG CURRENT_ROLE CURRENT_SCHEMA CURRENT_USER DEFERRABLE DESC DO END FETCH FILTER FOR FREEZE \
    FULL GRANT ILIKE INITIALLY ISNULL LATERAL LEADING LOCALTIME LOCALTIMESTAMP NOTNULL OFFSET ONLY OVER \
    OVERLAPS PLACING SESSION_USER SIMILAR SOME SYMMETRIC SYSTEM_USER TABLESAMPLE TRAILING USER VARIADIC VERBOSE \
    WITHIN",
);

/// Reserved words of PostgreSQL that are functions when `(` follows.
pub(super) static POSTGRES_FUNCTIONS: ReservedWords = ReservedWords::new("LEFT RIGHT");

/// Functions of PostgreSQL whose parentheses hold more than a list, and words that look like functions.
pub(super) static POSTGRES_ODD_FUNCTIONS: ReservedWords = ReservedWords::new(
    "\
    CUBE EXTRACT GROUPING JSON JSON_ARRAY JSON_ARRAYAGG JSON_EXISTS JSON_OBJECT JSON_OBJECTAGG JSON_QUERY \
    JSON_SCALAR JSON_SERIALIZE JSON_TABLE JSON_VALUE NORMALIZE OPERATOR OVERLAY POSITION ROLLUP ROW TREAT \
    XMLATTRIBUTES XMLCONCAT XMLELEMENT XMLEXISTS XMLFOREST XMLNAMESPACES XMLPARSE XMLPI XMLROOT XMLSERIALIZE \
    XMLTABLE",
);

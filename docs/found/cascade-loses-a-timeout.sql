-- MySQL 9.7.4, vendor's settings. Two sessions of any client; the second one waits for a second.
-- A cascade in the SQL layer that has changed a row of the child and then waits too long for the next is answered with OK and 0 rows, not with error 1205. What it has done stays: the child's rows
-- refer to no parent. Where the first row is the one that is locked, error 1205 comes, as it should. With innodb_native_foreign_keys=ON, and on 8.0.33: error 1205 in both.
CREATE DATABASE test_timeout;
USE test_timeout;
CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE);
CREATE TABLE u (c INT, FOREIGN KEY (c) REFERENCES t (b) ON UPDATE CASCADE);
INSERT INTO t VALUES (0, 2), (1, 1);
INSERT INTO u VALUES (2), (2);

-- Session 1:
BEGIN;
INSERT INTO u VALUES (2);

-- Session 2, while session 1 is open. OK, 0 rows affected, 1 matched, no warning:
SET innodb_lock_wait_timeout = 1;
UPDATE t SET b = 3 WHERE a = 0;
SHOW WARNINGS;

-- The parent as it was, (0, 2) (1, 1); the child (3) (3):
SELECT * FROM t;
SELECT * FROM u;

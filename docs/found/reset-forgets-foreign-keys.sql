-- MySQL 9.7.4, vendor's settings, binary log ON. For MySQL's own client, since a reset of the connection is a command of the protocol (COM_RESET_CONNECTION), no SQL:
--     mysql --commands --force -vv < reset-forgets-foreign-keys.sql
-- From 9.6 on foreign keys are enforced by the SQL layer unless innodb_native_foreign_keys is ON, so that cascades are in the binary log. After a reset the session
-- enforces them in InnoDB, although the variable still says OFF: the DELETE that was carried out before it is refused, and the child's change is not in the binary log.
DROP DATABASE IF EXISTS test_reset;
CREATE DATABASE test_reset;
USE test_reset;
SELECT VERSION(), @@global.innodb_native_foreign_keys;
CREATE TABLE t (a VARCHAR(5) PRIMARY KEY);
CREATE TABLE u (b VARCHAR(5), KEY k (b(2)), FOREIGN KEY (b) REFERENCES t (a));
INSERT INTO t VALUES ('b2a'), ('c2a');
INSERT INTO u VALUES ('b2a'), ('c2a');
CREATE TABLE p (a INT PRIMARY KEY);
CREATE TABLE c (a INT PRIMARY KEY, g INT, FOREIGN KEY (g) REFERENCES p (a) ON UPDATE CASCADE);
INSERT INTO p VALUES (1), (2);
INSERT INTO c VALUES (1, 1), (2, 2);

-- Deleted, though a child refers to it (corpus/found/foreign-key-by-a-prefix.iso).
DELETE FROM t WHERE a = 'b2a';
-- In the binary log: Table_map p, Table_map c, Update_rows c (USE_SQL_FOREIGN_KEY_F), Update_rows p (USE_SQL_FOREIGN_KEY_F).
UPDATE p SET a = 11 WHERE a = 1;

\x
USE test_reset;

-- ERROR 1451.
DELETE FROM t WHERE a = 'c2a';
-- In the binary log: Table_map p, Update_rows p; nothing of c, and the flag is missing.
UPDATE p SET a = 12 WHERE a = 2;
SELECT * FROM c;
SHOW BINLOG EVENTS;

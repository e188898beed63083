-- @case 1
-- MDEV-28140: an UPDATE whose condition is an empty BLOB must not fail. DT², Listing 3: MariaDB reports a truncated DOUBLE. Not
-- about transactions: one statement is enough. A bug of MariaDB; for engines with MySQL's language only.
/*init*/ CREATE TABLE t (c1 BLOB NOT NULL, c2 TEXT);
/*init*/ INSERT IGNORE INTO t VALUES (NULL, NULL), (NULL, 'aa');
/*a*/ UPDATE t SET c2 = 'test' WHERE c1;

-- @case 1
-- MDEV-28140: an UPDATE whose condition is an empty BLOB must not fail. DT², Listing 3. Not about transactions: one statement is
-- enough. A bug of MariaDB, open in 10.5, 10.11 and 11.8; for engines with MySQL's language only.
/*init*/ CREATE TABLE t (c1 BLOB NOT NULL, c2 TEXT);
/*init*/ INSERT IGNORE INTO t VALUES (NULL, NULL), (NULL, 'aa');
/*a*/ UPDATE t SET c2 = 'test' WHERE c1;
-- > [mariadb] error conversion
-- > [mysql] affected 0
-- @final t (X'', NULL) (X'', 'aa')

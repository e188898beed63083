-- @case 1
-- MDEV-27992: an UPDATE of a primary key must be atomic. b's DELETE waits for a, and must then delete the row under its new
-- key. DT², Figure 3. A bug of MariaDB before 10.8.3, where b still found the row; MySQL calls the same behaviour
-- expected (bug 106629).
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 2;
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
/*a*/ UPDATE t SET c1 = 1;
/*a*/ COMMIT;
/*b*/ SELECT c1 FROM t;
/*b*/ COMMIT;

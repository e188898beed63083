-- @case 1
-- A savepoint that comes before the first statement: ROLLBACK TO it ends the transaction of InnoDB, with its snapshot and its locks, and the
-- transaction goes on with new ones. So one transaction sees two values of a row that it has not written, at REPEATABLE READ and at
-- SERIALIZABLE. With a query before the savepoint it does not. Found by `storm mariadb --level serializable --profile tpcc` and `hunt mysql`; the
-- manual of MySQL says that locks that were taken after the savepoint are kept.
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ SAVEPOINT s;
/*a*/ SELECT v FROM t;
-- > rows (0)
/*a*/ ROLLBACK TO SAVEPOINT s;
/*b*/ UPDATE t SET v = 7;
/*a*/ SELECT v FROM t;
-- > [mariadb repeatable read, mariadb serializable, mysql repeatable read, mysql serializable] rows (7)
-- > [postgres repeatable read, postgres serializable] rows (0)
/*a*/ COMMIT;
-- @final t (1, 7)

-- @case 1
-- Two that wait for each other: the statement that closes the circle is the victim, every time.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*init*/ INSERT INTO t VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
/*b*/ UPDATE t SET v = 22 WHERE id = 2;
-- > [sqlite] blocked
/*a*/ UPDATE t SET v = 21 WHERE id = 2;
-- > [postgres, model, mariadb, mysql] blocked
-- > affected 1
/*b*/ UPDATE t SET v = 12 WHERE id = 1;
-- > [postgres, model, mariadb, mysql] error deadlock
-- > [postgres, model, mariadb, mysql] resumes a
-- > [sqlite] affected 1
/*a*/ COMMIT;
-- > ok
-- > [sqlite] resumes b
/*b*/ COMMIT;
-- > [postgres] tag ROLLBACK
-- @final t (1, 11) (2, 21)
-- @final [sqlite] t (1, 12) (2, 22)

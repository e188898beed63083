-- @case 1
-- Not the lock point: InnoDB makes b wait because a has locked the gap in which b's row would be.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0), (9, 0);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 1 WHERE k > 4;
-- > affected 1
/*b*/ INSERT INTO t VALUES (5, 0);
-- > [mariadb, mysql] blocked
-- > affected 1
/*a*/ COMMIT;
-- > [mariadb, mysql] resumes b
-- @final t (1, 0) (5, 0) (9, 1)

-- @case 1
-- A row that does not match b's condition before a's change and matches after it. Engines that lock every row they look at make b wait;
-- those that look at the last committed version first do not.
-- @isolation repeatable read
/*init*/ CREATE TABLE t (k INT, v INT);
/*init*/ INSERT INTO t VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 1;
-- > affected 1
/*b*/ UPDATE t SET k = 2 WHERE v = 1;
-- > [mariadb, mysql] blocked
-- > [mariadb, mysql] affected 1
-- > [postgres] affected 0
/*a*/ COMMIT;
-- > [mariadb, mysql] resumes b
-- @final [mariadb, mysql] t (2, 1)
-- @final [postgres] t (1, 1)

-- @case 1
-- Not MDEV-27992: a does not change the key of a row, but deletes one and inserts another. PostgreSQL's DELETE does not see the new row,
-- InnoDB's does.
-- @isolation read committed
/*init*/ CREATE TABLE t (k INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ DELETE FROM t WHERE k = 3;
-- > affected 1
/*a*/ INSERT INTO t VALUES (1);
-- > affected 1
/*b*/ DELETE FROM t;
-- > blocked
-- > [mariadb, mysql] affected 1
-- > [postgres] affected 0
/*a*/ COMMIT;
-- > resumes b
-- @final [mariadb, mysql] t (empty)
-- @final [postgres] t (1)

-- @case 1
-- MySQL 106655: a has read the row, so b waits for a; then a writes it. There is no circle, since b holds nothing that a needs, but
-- MariaDB 10.5 and 10.11 and the MySQL of 2022 choose b as the victim of a deadlock.
-- @isolation serializable
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 1), (2, 2);
/*a*/ BEGIN;
/*a*/ SELECT k FROM t;
-- > rows (1) (2)
/*b*/ BEGIN;
/*b*/ DELETE FROM t WHERE k = 1;
-- > [mariadb, mysql] blocked
-- > [mariadb=10.11, mariadb=10.5] error deadlock
-- > [postgres] affected 1
-- > [mysql] affected 0
-- > [mariadb=11.8] error serialization-failure
/*a*/ DELETE FROM t;
-- > [mariadb=10.11, mariadb=10.5] resumes b
-- > [mariadb, mysql] affected 2
-- > [postgres] blocked
-- > [postgres] error serialization-failure
/*a*/ COMMIT;
-- > [postgres] tag ROLLBACK
-- > [mysql, mariadb=11.8] resumes b
/*b*/ COMMIT;
-- > [postgres] resumes a
-- @final [mariadb, mysql] t (empty)
-- @final [postgres] t (2, 2)

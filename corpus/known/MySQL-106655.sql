-- @case 1
-- MySQL 106655: a has read the row, so b waits for a; then a writes it. There is no circle, since b holds nothing that a needs, but
-- MariaDB before 11.6 and the MySQL of 2022 choose b as the victim of a deadlock.
-- @isolation serializable
/*init*/ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 1), (2, 2);
/*a*/ BEGIN;
/*a*/ SELECT k FROM t;
/*b*/ BEGIN;
/*b*/ DELETE FROM t WHERE k = 1;
/*a*/ DELETE FROM t;
/*a*/ COMMIT;
/*b*/ COMMIT;

-- @case 1
-- b selects rows by a condition, then updates rows by the same condition: it must choose the same rows. MySQL did not
-- (Jiang et al., OSDI 2023, Figure 1, rebuilt from their words; a is T0, b is T1, a2 is T0.S1).
-- On PostgreSQL both see the snapshot. InnoDB's UPDATE reads what is committed by now, and so depends on a2.
-- edge a3 b4 item-anti
-- edge a3 b4 predicate-anti
-- edge b2 a2 predicate-anti
-- edge b3 a2 predicate-anti
-- edge b3 b4 item-anti
-- edge b3 b4 predicate-anti
-- edge [postgres] b4 a2 predicate-anti
-- edge [mariadb] a2 b4 predicate-read
-- @isolation repeatable read
/*init*/ CREATE TABLE t0 (id INT PRIMARY KEY, c INT, ver INT NOT NULL DEFAULT 0);
/*init*/ CREATE TABLE t1 (id INT PRIMARY KEY, c0 INT, c1 INT, ver INT NOT NULL DEFAULT 0);
/*init*/ INSERT INTO t0 (id, c) VALUES (1, 20);
/*init*/ INSERT INTO t1 (id, c0, c1) VALUES (1, 43, 8), (2, 43, 53);
/*a*/ BEGIN;
/*a*/ UPDATE t0 SET c = 60 WHERE id = 1;
/*a*/ SELECT * FROM t1 WHERE c1 < 30;
/*b*/ BEGIN;
/*b*/ SELECT count(*) FROM t0;
/*a*/ COMMIT;
/*b*/ SELECT * FROM t1 WHERE c1 < (SELECT min(t0.c) FROM t0);
/*b*/ UPDATE t1 SET c0 = 1 WHERE c1 < (SELECT min(t0.c) FROM t0);
/*b*/ COMMIT;

-- @case 1
-- b's UPDATE waits for a, and the read before it saw what was there before a committed (Jiang et al., OSDI 2023,
-- Figure 11). So it is moved to where it really ran, behind a's COMMIT, and its reads with it.
-- edge [mariadb] a2 b2 predicate-write
-- @isolation repeatable read
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT, ver INT NOT NULL DEFAULT 0);
/*init*/ INSERT INTO t (id, v) VALUES (0, 0);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE t SET v = 1 WHERE v = 0;
/*b*/ UPDATE t SET v = 2 WHERE v = 0;
/*a*/ COMMIT;
/*b*/ COMMIT;

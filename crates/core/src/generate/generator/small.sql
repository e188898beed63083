-- @case 1
-- Generated: profile small, seed 1, group 1, case 0 (transactions 0).
-- @isolation read committed
/*init*/ CREATE TABLE t0 (c0 BIGINT NOT NULL PRIMARY KEY CHECK (c0 <= 8), c1 DATE, c2 BIGINT NOT NULL DEFAULT 0 CHECK (c2 <> 8), c3 DATE DEFAULT '2024-01-01');
/*init*/ CREATE INDEX t0_i0 ON t0 (c3, c1);
/*init*/ INSERT INTO t0 (c0, c1, c2, c3) VALUES (8, '2024-01-02', 0, '2024-01-01'), (3, '2024-01-04', 6, '2024-01-05');
/*b*/ BEGIN;
/*b*/ UPDATE t0 SET c2 = c2 + 3 WHERE c1 IN ('2024-01-04');
/*b*/ DELETE FROM t0 WHERE c0 < 8;
/*b*/ COMMIT;
/*a*/ BEGIN;
/*a*/ SELECT * FROM t0 WHERE c0 = 3 FOR SHARE;
/*a*/ SELECT SUM(c2) FROM t0 WHERE c0 = 8;
/*a*/ ROLLBACK;

-- @case 1
-- Generated: profile small, seed 1, group 1, case 1 (transactions 1).
-- @isolation read committed
/*init*/ CREATE TABLE t0 (c0 BIGINT NOT NULL PRIMARY KEY CHECK (c0 <= 8), c1 DATE, c2 BIGINT NOT NULL DEFAULT 0 CHECK (c2 <> 8), c3 DATE DEFAULT '2024-01-01');
/*init*/ CREATE INDEX t0_i0 ON t0 (c3, c1);
/*init*/ INSERT INTO t0 (c0, c1, c2, c3) VALUES (8, '2024-01-02', 0, '2024-01-01'), (3, '2024-01-04', 6, '2024-01-05');
/*a*/ BEGIN;
/*a*/ INSERT INTO t0 (c0, c2) VALUES (6, 2) ON CONFLICT (c0) DO UPDATE SET c3 = '2024-01-05';
/*a*/ UPDATE t0 SET c3 = '2024-01-04' WHERE c3 = '2024-01-01';
/*a*/ COMMIT;
/*a*/ INSERT INTO t0 (c0, c3) VALUES (4, '2024-01-01');
/*b*/ DELETE FROM t0 WHERE ((c3 IN ('2024-01-03', '2024-01-01')) AND (c1 IS NOT NULL)) OR ((c3 NOT IN ('2024-01-01')) AND (EXISTS (SELECT 1 FROM t0 AS s1)));
/*b*/ BEGIN;
/*b*/ SELECT * FROM t0 WHERE c3 NOT BETWEEN '2024-01-03' AND '2024-01-03' FOR UPDATE;
/*b*/ UPDATE t0 SET c2 = c2 + 7, c3 = '2024-01-05' WHERE (COALESCE(c0, 3) <= 0) OR (EXISTS (SELECT 1 FROM t0 AS s1));
/*b*/ COMMIT;
/*b*/ SELECT * FROM t0 WHERE (c3 > '2024-01-03') OR (COALESCE(c3, '2024-01-03') BETWEEN '2024-01-04' AND '2024-01-04') FOR UPDATE;

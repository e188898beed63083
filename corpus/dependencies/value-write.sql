-- @case 1
-- What b inserts is computed from a version that a wrote (Figure 3g). And a, which changed all rows, did not find it.
-- edge a2 b2 predicate-write
-- edge a2 b2 value-write
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT, ver INT NOT NULL DEFAULT 0);
/*init*/ INSERT INTO t (id, v) VALUES (0, 0);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 1;
/*a*/ COMMIT;
/*b*/ BEGIN;
/*b*/ INSERT INTO t (id, v) VALUES (1, (SELECT min(s.v) FROM t AS s));
/*b*/ COMMIT;

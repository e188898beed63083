-- @case 1
-- Each reads both rows and clears one, so that at least one stays set in every serial order: b, which commits second, fails. With
-- the bug both commit.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 1);
/*init*/ INSERT INTO t VALUES (2, 1);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT sum(v) FROM t;
-- > rows (2)
/*b*/ SELECT sum(v) FROM t;
-- > rows (2)
/*a*/ UPDATE t SET v = 0 WHERE id = 1;
-- > affected 1
/*b*/ UPDATE t SET v = 0 WHERE id = 2;
-- > affected 1
/*a*/ COMMIT;
-- > ok
/*b*/ COMMIT;
-- > error serialization-failure
-- @final t (1, 0) (2, 1)

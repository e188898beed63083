-- @case 1
-- Both read 10 before either writes. If both commit, the update of a is lost: b overwrote it without having seen it.
-- @anomaly P4
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT id, value FROM test WHERE id = 1;
-- > [anomaly] rows (1, 10)
/*b*/ SELECT id, value FROM test WHERE id = 1;
-- > [anomaly] rows (1, 10)
/*a*/ UPDATE test SET value = 11 WHERE id = 1;
-- > [anomaly] affected 1
/*b*/ UPDATE test SET value = 12 WHERE id = 1;
-- > [anomaly] affected 1
/*a*/ COMMIT;
-- > [anomaly] ok
/*b*/ COMMIT;
-- > [anomaly] ok
-- @final [anomaly] test (1, 12) (2, 20)

-- @case 1
-- Each reads both rows and writes one of them. If both commit, neither saw the other: write skew.
-- @anomaly G2-item
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT id, value FROM test WHERE id IN (1, 2);
-- > [anomaly] rows (1, 10) (2, 20)
/*b*/ SELECT id, value FROM test WHERE id IN (1, 2);
-- > [anomaly] rows (1, 10) (2, 20)
/*a*/ UPDATE test SET value = 11 WHERE id = 1;
-- > [anomaly] affected 1
/*b*/ UPDATE test SET value = 21 WHERE id = 2;
-- > [anomaly] affected 1
/*a*/ COMMIT;
-- > [anomaly] ok
/*b*/ COMMIT;
-- > [anomaly] ok

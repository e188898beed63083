-- @case 1
-- Each looks for rows that match a predicate, finds none, and inserts one. If both commit, neither saw the other's row.
-- @anomaly G2
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT id, value FROM test WHERE value % 3 = 0;
-- > [anomaly] rows (empty)
/*b*/ SELECT id, value FROM test WHERE value % 3 = 0;
-- > [anomaly] rows (empty)
/*a*/ INSERT INTO test VALUES (3, 30);
-- > [anomaly] affected 1
/*b*/ INSERT INTO test VALUES (4, 42);
-- > [anomaly] affected 1
/*a*/ COMMIT;
-- > [anomaly] ok
/*b*/ COMMIT;
-- > [anomaly] ok

-- @case 1
-- b reads the rows that match a predicate and then deletes by the same predicate: the DELETE must not act on other rows
-- than those that b has seen.
-- @anomaly PMP-write
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*b*/ SELECT id, value FROM test WHERE value = 20;
-- > [anomaly] rows (2, 20)
/*a*/ UPDATE test SET value = value + 10;
-- > [anomaly] affected 2
/*b*/ DELETE FROM test WHERE value = 20;
-- > [anomaly] ok
/*a*/ COMMIT;
-- > [anomaly] ok
/*b*/ SELECT id, value FROM test;
/*b*/ COMMIT;

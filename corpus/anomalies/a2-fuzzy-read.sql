-- @case 1
-- ANSI's non-repeatable read: a reads a row twice and finds another value the second time.
-- @anomaly A2
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT id, value FROM test WHERE id = 1;
-- > [anomaly] rows (1, 10)
/*b*/ UPDATE test SET value = 12 WHERE id = 1;
/*b*/ COMMIT;
/*a*/ SELECT id, value FROM test WHERE id = 1;
-- > [anomaly] rows (1, 12)
/*a*/ COMMIT;

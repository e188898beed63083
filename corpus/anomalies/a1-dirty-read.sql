-- @case 1
-- ANSI's dirty read: b sees a row that a has not committed.
-- @anomaly A1
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ INSERT INTO test VALUES (3, 30);
/*b*/ SELECT id, value FROM test WHERE id = 3;
-- > [anomaly] rows (3, 30)
/*a*/ ROLLBACK;
/*b*/ COMMIT;

-- @case 1
-- a asks twice with a predicate; what b inserts in between must not turn up in the second answer only.
-- @anomaly PMP
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT id, value FROM test WHERE value = 30;
-- > [anomaly] rows (empty)
/*b*/ INSERT INTO test VALUES (3, 30);
/*b*/ COMMIT;
/*a*/ SELECT id, value FROM test WHERE value % 3 = 0;
-- > [anomaly] rows (3, 30)
/*a*/ COMMIT;

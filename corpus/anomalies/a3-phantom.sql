-- @case 1
-- ANSI's phantom: a asks the same question twice, and a new row turns up in the second answer.
-- @anomaly A3
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT id FROM test WHERE value >= 20;
-- > [anomaly] rows (2)
/*b*/ INSERT INTO test VALUES (3, 30);
/*b*/ COMMIT;
/*a*/ SELECT id FROM test WHERE value >= 20;
-- > [anomaly] rows (2) (3)
/*a*/ COMMIT;

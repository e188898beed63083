-- @case 1
-- If a reads what b wrote and b reads what a wrote, each must come before the other.
-- @anomaly G1c
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE test SET value = 11 WHERE id = 1;
/*b*/ UPDATE test SET value = 22 WHERE id = 2;
/*a*/ SELECT id, value FROM test WHERE id = 2;
-- > [anomaly] rows (2, 22)
/*b*/ SELECT id, value FROM test WHERE id = 1;
-- > [anomaly] rows (1, 11)
/*a*/ COMMIT;
/*b*/ COMMIT;

-- @case 1
-- b must not see a value that a overwrote before it committed.
-- @anomaly G1b
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE test SET value = 101 WHERE id = 1;
/*b*/ SELECT id, value FROM test;
-- > [anomaly] rows (1, 101) (2, 20)
/*a*/ UPDATE test SET value = 11 WHERE id = 1;
/*a*/ COMMIT;
/*b*/ SELECT id, value FROM test;
/*b*/ COMMIT;

-- @case 1
-- b must not see what a wrote and then rolled back.
-- @anomaly G1a
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE test SET value = 101 WHERE id = 1;
/*b*/ SELECT id, value FROM test;
-- > [anomaly] rows (1, 101) (2, 20)
/*a*/ ROLLBACK;
/*b*/ SELECT id, value FROM test;
/*b*/ COMMIT;

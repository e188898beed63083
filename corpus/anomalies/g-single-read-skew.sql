-- @case 1
-- b changes both rows; a must not see one of them from before and the other from after.
-- @anomaly G-single
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT id, value FROM test WHERE id = 1;
-- > [anomaly] rows (1, 10)
/*b*/ UPDATE test SET value = 12 WHERE id = 1;
/*b*/ UPDATE test SET value = 18 WHERE id = 2;
/*b*/ COMMIT;
/*a*/ SELECT id, value FROM test WHERE id = 2;
-- > [anomaly] rows (2, 18)
/*a*/ COMMIT;

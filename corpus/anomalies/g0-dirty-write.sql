-- @case 1
-- Two transactions write the same two rows, each in the other's middle. If neither waits for the other, the rows end up
-- with one value of each: no serial order leaves them so.
-- @anomaly G0
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE test SET value = 11 WHERE id = 1;
/*b*/ UPDATE test SET value = 12 WHERE id = 1;
/*b*/ UPDATE test SET value = 22 WHERE id = 2;
/*a*/ UPDATE test SET value = 21 WHERE id = 2;
/*a*/ COMMIT;
/*b*/ COMMIT;
-- @final [anomaly] test (1, 12) (2, 21)

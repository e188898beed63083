-- @case 1
-- a has seen row 1 from before b. Its DELETE must then not look at row 2 from after b, which no longer matches.
-- @anomaly G-single-write
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
/*a*/ DELETE FROM test WHERE value = 20;
-- > [anomaly] affected 0
/*a*/ COMMIT;

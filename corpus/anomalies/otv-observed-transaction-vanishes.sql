-- @case 1
-- b overwrites what a wrote. Once c has seen a write of b, it must not see what a wrote to a row that b writes too: that
-- part of b would have vanished.
-- @anomaly OTV
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*c*/ BEGIN;
/*a*/ UPDATE test SET value = 11 WHERE id = 1;
/*a*/ UPDATE test SET value = 19 WHERE id = 2;
/*b*/ UPDATE test SET value = 12 WHERE id = 1;
/*a*/ COMMIT;
/*c*/ SELECT id, value FROM test WHERE id = 1;
-- > [anomaly] rows (1, 12)
/*c*/ SELECT id, value FROM test WHERE id = 2;
-- > [anomaly] rows (2, 19)
/*b*/ UPDATE test SET value = 18 WHERE id = 2;
/*b*/ COMMIT;
/*c*/ COMMIT;

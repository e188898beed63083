-- @case 1
-- The read-only-transaction anomaly: b deposits 20 into savings (row 2), c then reads both rows and sees the deposit, and a
-- withdraws from checking (row 1) as if there had been none. Without c the order a, b explains everything; c has seen b
-- without a, and so closes the circle.
-- @anomaly G2-read-only
/*init*/ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/*init*/ INSERT INTO test VALUES (1, 10);
/*init*/ INSERT INTO test VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT id, value FROM test;
-- > [anomaly] rows (1, 10) (2, 20)
/*b*/ SELECT id, value FROM test WHERE id = 2;
/*b*/ UPDATE test SET value = 40 WHERE id = 2;
-- > [anomaly] affected 1
/*b*/ COMMIT;
-- > [anomaly] ok
/*c*/ BEGIN;
/*c*/ SELECT id, value FROM test;
-- > [anomaly] rows (1, 10) (2, 40)
/*c*/ COMMIT;
/*a*/ UPDATE test SET value = -11 WHERE id = 1;
-- > [anomaly] affected 1
/*a*/ COMMIT;
-- > [anomaly] ok

-- @case 1
-- An aborted transaction has no effects: after a's ROLLBACK the row 2 was never there, so no id is one less than another, and b's
-- UPDATE hits row 1. With the bug the condition still sees row 2. After TxCheck (Jiang et al.), Figure 14, a bug of MySQL.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ INSERT INTO t VALUES (2, 20);
/*a*/ ROLLBACK;
/*b*/ UPDATE t SET v = 0 WHERE id NOT IN (SELECT id - 1 FROM t);
-- > affected 1
/*b*/ COMMIT;
-- > ok
-- @final t (1, 0)

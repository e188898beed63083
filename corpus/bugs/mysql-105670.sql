-- @case 1
-- MySQL 105670: at REPEATABLE READ a deletes two rows of which b has deleted one, and then still sees that one: it is in a's
-- snapshot, and a's DELETE did not find it any more. Found by Troc; a duplicate. By design of InnoDB, as MDEV-26671.
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);
/*init*/ INSERT INTO t VALUES (1, 1), (2, 2);
/*a*/ BEGIN;
/*a*/ SELECT c1, c2 FROM t;
/*b*/ BEGIN;
/*b*/ DELETE FROM t WHERE c1 = 1;
/*b*/ COMMIT;
/*a*/ SELECT c1, c2 FROM t;
/*a*/ DELETE FROM t WHERE c1 = 1 OR c1 = 2;
/*a*/ SELECT c1, c2 FROM t;
/*a*/ COMMIT;

-- @case 1
-- A deadlock ends the victim's transaction: b's INSERT is a transaction of its own, and there is nothing left for its ROLLBACK.
-- With the bug the INSERT is part of a transaction, and undone. After DT² (Cui et al.), Figure 1 (MDEV-27922).
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*init*/ INSERT INTO t VALUES (2, 20);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
/*b*/ UPDATE t SET v = 22 WHERE id = 2;
/*a*/ UPDATE t SET v = 21 WHERE id = 2;
-- > blocked
-- > affected 1
/*b*/ UPDATE t SET v = 12 WHERE id = 1;
-- > error deadlock
-- > resumes a
/*a*/ COMMIT;
-- > ok
/*b*/ INSERT INTO t VALUES (3, 30);
-- > affected 1
/*b*/ ROLLBACK;
-- > error other
-- @final t (1, 11) (2, 21) (3, 30)

-- @case 1
-- MDEV-27922: after b was chosen as the victim of a deadlock, its INSERT must not be undone by a ROLLBACK of a transaction
-- that is over. DT² (Cui et al.), Figure 1, rebuilt from its text: the paper's MariaDB stayed in the transaction. A bug,
-- critical. Since MariaDB 10.7.3 the case does not lead to a deadlock any more: b goes on when a commits.
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 5;
/*b*/ BEGIN;
/*b*/ DELETE FROM t;
/*a*/ INSERT INTO t VALUES (2);
/*a*/ COMMIT;
/*b*/ INSERT INTO t VALUES (1);
/*b*/ ROLLBACK;

-- @case 1
-- Two that change a row which both have read: one of them fails. With the bug both commit, and a's withdrawal is lost.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ SELECT v FROM t;
/*b*/ SELECT v FROM t;
/*a*/ UPDATE t SET v = v - 1;
/*b*/ UPDATE t SET v = v - 2;
-- > blocked
-- > error serialization-failure
/*a*/ COMMIT;
-- > ok
-- > resumes b
/*b*/ ROLLBACK;
-- @final t (1, 9)

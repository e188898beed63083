-- @case 1
-- An UPDATE of a key is atomic: b's DELETE waits for a, and then finds the row under its new key (or, if its snapshot holds the
-- old one, fails). With the bug it finds nothing, and the row survives. After DT² (Cui et al.), Figure 3 (MDEV-27992).
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (3);
/*a*/ BEGIN;
/*a*/ UPDATE t SET c1 = 2;
/*b*/ DELETE FROM t;
-- > blocked
-- > [model read committed] affected 1
-- > [model snapshot isolation, model serializable] error serialization-failure
/*a*/ UPDATE t SET c1 = 1;
/*a*/ COMMIT;
-- > resumes b
-- @final [model read committed] t (empty)
-- @final [model snapshot isolation, model serializable] t (1)

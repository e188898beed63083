-- @case 1
-- b returns nothing, because of a version that a wrote (Figure 3d).
-- edge a2 b2 predicate-read
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT, ver INT NOT NULL DEFAULT 0);
/*init*/ INSERT INTO t (id, v) VALUES (0, 0);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 1;
/*a*/ COMMIT;
/*b*/ BEGIN;
/*b*/ SELECT * FROM t WHERE v = 0;
/*b*/ COMMIT;

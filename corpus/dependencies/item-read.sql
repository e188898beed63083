-- @case 1
-- b returns a version that a wrote (Jiang et al., OSDI 2023, Figure 3a).
-- edge a2 b2 item-read
-- edge a2 b2 predicate-read
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT, ver INT NOT NULL DEFAULT 0);
/*init*/ INSERT INTO t (id, v) VALUES (0, 0);
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 1;
/*a*/ COMMIT;
/*b*/ BEGIN;
/*b*/ SELECT * FROM t;
/*b*/ COMMIT;

-- @case 1
-- b returns a version that a has already replaced: it reads an older snapshot (Figure 3c).
-- edge b3 a2 item-anti
-- edge b3 a2 predicate-anti
-- @isolation repeatable read
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT, ver INT NOT NULL DEFAULT 0);
/*init*/ INSERT INTO t (id, v) VALUES (0, 0);
/*init*/ CREATE TABLE u (id INT PRIMARY KEY, ver INT NOT NULL DEFAULT 0);
/*b*/ BEGIN;
/*b*/ SELECT * FROM u;
/*a*/ BEGIN;
/*a*/ UPDATE t SET v = 1;
/*a*/ COMMIT;
/*b*/ SELECT * FROM t;
/*b*/ COMMIT;

-- @case 1
-- A long fork: two independent writes, and of two readers each sees another one first.
-- @node a 1
-- @node b 2
-- @node c 1
-- @node d 2
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0), (2, 0);
-- @partition 1|2
/*a*/ UPDATE t SET v = 1 WHERE id = 1;
-- > affected 1
/*b*/ UPDATE t SET v = 1 WHERE id = 2;
-- > affected 1
/*c*/ SELECT v FROM t ORDER BY id;
-- > ordered (1) (0)
/*d*/ SELECT v FROM t ORDER BY id;
-- > ordered (0) (1)
-- @heal
/*c*/ SELECT v FROM t ORDER BY id;
-- > ordered (1) (1)
-- @final t (1, 1) (2, 1)

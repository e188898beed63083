-- @case 1
-- A change of the schema waits for transactions that use the table, and what comes after it waits behind it; locks by name
-- are waited for in the same way.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*a*/ SELECT GET_LOCK('x', 10);
-- > rows (1)
/*a*/ BEGIN;
/*a*/ SELECT v FROM t WHERE id = 1;
-- > rows (10)
/*b*/ ALTER TABLE t ADD COLUMN w INT NOT NULL DEFAULT 7;
-- > blocked
-- > ok
/*c*/ SELECT * FROM t;
-- > blocked
-- > rows (1, 10, 7)
/*d*/ SELECT GET_LOCK('x', 100);
-- > blocked
-- > rows (1)
/*a*/ SELECT v FROM t WHERE id = 1;
-- > rows (10)
/*a*/ COMMIT;
-- > resumes b c
/*a*/ SELECT RELEASE_LOCK('x');
-- > rows (1)
-- > resumes d
-- @final t (1, 10, 7)

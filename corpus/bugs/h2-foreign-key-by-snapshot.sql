-- @case 1
-- A foreign key that snapshots break: a's DELETE looks for references in its snapshot, in which b's row is not there yet, and removes the row
-- that b's row refers to. So does H2 2.1 at SNAPSHOT and at SERIALIZABLE; below them the DELETE fails as it should. Found by `hunt h2`.
/*init*/ CREATE TABLE t (a INT PRIMARY KEY);
/*init*/ INSERT INTO t VALUES (1);
/*init*/ CREATE TABLE u (a INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES t (a));
/*a*/ BEGIN;
/*a*/ SELECT a FROM t;
-- > rows (1)
/*b*/ INSERT INTO u VALUES (2, 1);
/*a*/ DELETE FROM t;
-- > [h2 snapshot isolation, h2 serializable] affected 1
-- > [h2 read committed, h2 repeatable read, postgres] error foreign-key
/*a*/ COMMIT;
-- @final [h2 snapshot isolation, h2 serializable] t (empty)
-- @final [h2 snapshot isolation, h2 serializable] u (2, 1)
-- @final [h2 read committed, h2 repeatable read, postgres] t (1)

-- @case 1
-- MySQL 106655: a holds shared locks on what it read and asks for exclusive ones, while b waits for one of the rows. DT²,
-- Listing 2: at SERIALIZABLE MySQL reports a deadlock where a could simply have gone on. A bug of MySQL; MariaDB does not
-- report it.
/*init*/ CREATE TABLE t (c1 INT PRIMARY KEY, c2 INT);
/*init*/ INSERT INTO t VALUES (1, 1), (2, 2);
/*a*/ BEGIN;
/*a*/ SELECT c1, c2 FROM t;
/*b*/ BEGIN;
/*b*/ DELETE FROM t WHERE c1 = 1;
/*a*/ DELETE FROM t;
/*a*/ COMMIT;
/*b*/ COMMIT;

-- @case 1
-- A circle of three: the victim is the one that closes it, and the two others finish.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 0);
/*init*/ INSERT INTO t VALUES (2, 0);
/*init*/ INSERT INTO t VALUES (3, 0);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*c*/ BEGIN;
/*a*/ UPDATE t SET v = 1 WHERE id = 1;
/*b*/ UPDATE t SET v = 2 WHERE id = 2;
/*c*/ UPDATE t SET v = 3 WHERE id = 3;
/*a*/ UPDATE t SET v = 1 WHERE id = 2;
/*b*/ UPDATE t SET v = 2 WHERE id = 3;
/*c*/ UPDATE t SET v = 3 WHERE id = 1;
-- > [postgres, model, mariadb, mysql] error deadlock
-- > [postgres, model, mariadb, mysql] resumes b
/*b*/ COMMIT;
-- > [postgres, model, mariadb, mysql] resumes a
/*a*/ COMMIT;
/*c*/ COMMIT;

-- @case 1
-- After the deadlock victim was rolled back, its later statements are still submitted. Where the server has ended the
-- transaction they are transactions of their own; where it has not, they are refused until it ends.
/*init*/ CREATE TABLE t (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO t VALUES (1, 10);
/*init*/ INSERT INTO t VALUES (2, 20);
/*init*/ INSERT INTO t VALUES (3, 30);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ UPDATE t SET v = 11 WHERE id = 1;
/*b*/ UPDATE t SET v = 22 WHERE id = 2;
/*a*/ UPDATE t SET v = 21 WHERE id = 2;
/*b*/ UPDATE t SET v = 12 WHERE id = 1;
-- > [postgres, model, mariadb, mysql] error deadlock
-- > [postgres, model, mariadb, mysql] resumes a
/*b*/ UPDATE t SET v = 33 WHERE id = 3;
-- > [postgres] error transaction-aborted
-- > [model, mariadb, mysql] affected 1
/*b*/ ROLLBACK;
/*a*/ COMMIT;
-- @final [postgres] t (1, 11) (2, 21) (3, 30)
-- @final [model, mariadb>=10.6, mysql>=8] t (1, 11) (2, 21) (3, 33)
-- @final [mariadb<10.6, mysql<8] t (1, 11) (2, 21) (3, 30)

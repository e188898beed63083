-- @case 1
-- An INSERT of two rows whose second key somebody else has inserted and not committed: others wait. H2 2.1 begins the statement again, meets
-- the first row, which it has just inserted itself, and says that its key is taken. Found by `hunt h2`.
/*init*/ CREATE TABLE t (a DECIMAL(2,1) PRIMARY KEY);
/*a*/ BEGIN;
/*a*/ INSERT INTO t VALUES (1);
-- > affected 1
/*b*/ INSERT INTO t VALUES (0), (1);
-- > [mariadb, mysql, postgres] blocked
-- > [h2] error unique
-- > [mariadb, mysql, postgres] affected 2
/*a*/ ROLLBACK;
-- > [mariadb, mysql, postgres] resumes b
-- @final [h2] t (empty)
-- @final [mariadb, mysql, postgres] t (0) (1)

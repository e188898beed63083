-- @case 1
-- Three wait for one: they go on one after the other, in the order in which they came.
/*init*/ CREATE TABLE log (id INT PRIMARY KEY, v INT);
/*init*/ INSERT INTO log VALUES (1, 0);
/*a*/ BEGIN;
/*a*/ UPDATE log SET v = v * 10 + 1 WHERE id = 1;
/*b*/ UPDATE log SET v = v * 10 + 2 WHERE id = 1;
-- > blocked
/*c*/ UPDATE log SET v = v * 10 + 3 WHERE id = 1;
-- > blocked
/*d*/ UPDATE log SET v = v * 10 + 4 WHERE id = 1;
-- > blocked
/*a*/ COMMIT;
-- > resumes b c d
-- @final log (1, 1234)
-- @final [mariadb>=11.6.2 serializable] log (1, 1)
-- @final [postgres repeatable read, postgres serializable, model snapshot isolation, model serializable] log (1, 1)

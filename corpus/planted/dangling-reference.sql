-- @case 1
-- A reference leads to a row: the row that b's new row refers to is deleted by a, and b finds out at COMMIT, if it did not have to
-- wait before. With the bug both commit, and the reference leads nowhere.
/*init*/ CREATE TABLE p (id INT PRIMARY KEY);
/*init*/ CREATE TABLE c (id INT PRIMARY KEY, p INT REFERENCES p (id));
/*init*/ INSERT INTO p VALUES (1);
/*a*/ BEGIN;
/*b*/ BEGIN;
/*a*/ DELETE FROM p WHERE id = 1;
-- > affected 1
/*b*/ INSERT INTO c VALUES (1, 1);
-- > affected 1
/*a*/ COMMIT;
-- > ok
/*b*/ COMMIT;
-- > error foreign-key
-- @final c (empty)

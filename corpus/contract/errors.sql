-- @case 1
-- Errors are classified alike everywhere.
/*init*/ CREATE TABLE parent (id INT PRIMARY KEY);
/*init*/ CREATE TABLE child (id INT PRIMARY KEY, parent INT REFERENCES parent (id), amount INT NOT NULL CHECK (amount > 0));
/*init*/ INSERT INTO parent VALUES (1);
/*init*/ INSERT INTO child VALUES (1, 1, 5);
/*a*/ INSERT INTO child VALUES (1, 1, 5);
-- > error unique
/*a*/ INSERT INTO child VALUES (2, 7, 5);
-- > error foreign-key
-- > [replicas] affected 1
/*a*/ DELETE FROM parent WHERE id = 1;
-- > error foreign-key
-- > [replicas] affected 1
/*a*/ INSERT INTO child VALUES (2, 1, -5);
-- > error check
/*a*/ INSERT INTO child VALUES (2, 1, NULL);
-- > error not-null
/*a*/ SELEKT 1;
-- > error syntax
/*a*/ SELECT * FROM nowhere;
-- > error unknown-object
/*a*/ SELECT missing FROM parent;
-- > error unknown-object
/*a*/ SELECT 1 / 0;
-- > [postgres] error division-by-zero
-- > [sqlite, model, replicas, mariadb, mysql] rows (NULL)
/*a*/ SELECT CAST('x' AS INTEGER);
-- > [postgres] error conversion
-- > [mysql] error syntax
-- > [sqlite, model, replicas, mariadb] rows (0)
/*a*/ SELECT id, parent, amount FROM child;
-- > rows (1, 1, 5)
-- > [replicas] rows (1, 1, 5) (2, 7, 5)
-- @final parent (1)
-- @final [replicas] parent (empty)
-- @final child (1, 1, 5)
-- @final [replicas] child (1, 1, 5) (2, 7, 5)

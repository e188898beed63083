-- @case 1
-- A foreign key that is not checked: where the index that serves it has more columns, and one of these is NULL in the new row, MySQL 9.7, which
-- checks foreign keys in its SQL layer, accepts a row that refers to nothing. With innodb_native_foreign_keys=ON it does not. One session
-- suffices. Found by `hunt mysql`.
/*init*/ CREATE TABLE t (a INT PRIMARY KEY);
/*init*/ CREATE TABLE u (b INT, c INT, UNIQUE (b, c), FOREIGN KEY (b) REFERENCES t (a));
/*a*/ INSERT INTO u VALUES (1, 2);
-- > error foreign-key
/*a*/ INSERT INTO u VALUES (1, NULL);
-- > [mysql>=9.7] affected 1
-- > error foreign-key
-- @final [mysql>=9.7] u (1, NULL)
-- @final [sqlite, model, postgres, mariadb] u (empty)

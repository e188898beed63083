-- @case 1
-- MySQL 107125: the same conversion is a warning or an error, depending on whether IS NULL or IS NOT NULL follows it. DT², Listing 4.
-- Closed as not a bug: by design of the optimizer, which knows that the first condition is false. For engines with
-- MySQL's language only.
/*init*/ CREATE TABLE t (c1 VARCHAR(10));
/*init*/ INSERT IGNORE INTO t (c1) VALUES ('try');
/*a*/ UPDATE t SET c1 = 'test' WHERE (CAST('a12' AS DOUBLE)) IS NULL;
-- > affected 0
/*a*/ UPDATE t SET c1 = 'test' WHERE (CAST('a12' AS DOUBLE)) IS NOT NULL;
-- > [mariadb] affected 1
-- > [mysql] error conversion
-- @final [mariadb] t ('test')
-- @final [mysql] t ('try')
